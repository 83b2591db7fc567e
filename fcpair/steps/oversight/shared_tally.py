"""A tally that several figures share: each of them reads the study by itself, and most count the same pairs."""

from __future__ import annotations

from threading import Lock

from fcpair.steps.rules.pair_counts import Tally, tally
from fcpair.store import Tx
from fcpair.store.answers import activity_log


class SharedTally:
    """The tally of the pairs of one grid, counted once until something happens in the study."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counted: tuple[activity_log.ChangeMarks, Tally] | None = None

    def __call__(self, tx: Tx) -> Tally:
        """The tally as it is in a transaction that only reads: what one that writes takes back may come again."""
        marks = activity_log.change_marks(tx)
        with self._lock:
            if self._counted is None or self._counted[0] != marks:
                self._counted = marks, tally(tx)
            return self._counted[1]
