"""The list of conflicts, kept in memory while a study is served, and brought up to date by what has happened since.

To compare all labels anew at each look would take a second of every half million. The list follows what the study
itself says, and not who wrote it: another process, the command line for instance, may have.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

from fcpair.steps.rules import rule_decisions
from fcpair.store import Tx
from fcpair.store.adjudication import disputes
from fcpair.store.adjudication.disputes import Disputed
from fcpair.store.answers import activity_log


class Conflicts:
    """What `rule_decisions.in_dispute` finds, at the newest state of the study that anybody has asked about."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._marks: activity_log.Marks = (0, 0, 0)
        self._places: list[tuple[int, int]] = []  # HS and number, in this order
        self.order: list[int] = []
        """The numbers of all, by HS and number."""
        self._found: dict[int, Disputed] = {}
        self._due: set[int] = set()
        self._again: set[int] = set()

    @contextmanager
    def as_of(self, tx: Tx) -> Iterator[Conflicts]:
        """The list at a read transaction, or a little later; it stays so until the end of the `with`."""
        with self._lock:
            self._follow(tx)
            yield self

    def __iter__(self) -> Iterator[Disputed]:
        return (self._found[cell_id] for cell_id in self.order)

    @property
    def due(self) -> set[int]:
        """Those that nobody has decided, or that wait for a second look, and whose labels are all in."""
        return self._due

    def n_again(self, others: set[int]) -> int:
        """How many are due for a second look, `others` left out."""
        return len((self._again & self._due) - others)

    def _follow(self, tx: Tx) -> None:
        marks = activity_log.marks(tx)
        if any(now < then for now, then in zip(marks, self._marks, strict=True)) or marks == self._marks:
            return  # nothing new, or an older view than another thread had
        judged, decided, ran = self._marks
        if self._marks == (0, 0, 0):
            self._put(rule_decisions.in_dispute(tx))
        else:
            touched = disputes.touched_since(tx, judged, decided)
            self._forget(touched)
            self._put(rule_decisions.in_dispute(tx, touched))
            if marks[2] > ran:  # whatever moves work, but for an answer to one pair, leaves a run
                self._look_for_open_labels(tx)
        self._marks = marks

    def _look_for_open_labels(self, tx: Tx) -> None:
        still = disputes.still_labelled(tx, list(self._found))
        self._put([one._replace(due=one.cell_id not in still) for one in self])

    def _forget(self, cell_ids: Sequence[int]) -> None:
        for one in (self._found.pop(cell_id) for cell_id in cell_ids if cell_id in self._found):
            at = bisect_left(self._places, (one.hs_id, one.cell_id))
            del self._places[at], self.order[at]
            for kept in (self._due, self._again):
                kept.discard(one.cell_id)

    def _put(self, found: Sequence[Disputed]) -> None:
        for one in found:
            if one.cell_id not in self._found:
                at = bisect_left(self._places, (one.hs_id, one.cell_id))
                self._places.insert(at, (one.hs_id, one.cell_id))
                self.order.insert(at, one.cell_id)
            self._found[one.cell_id] = one
            for kept, belongs in ((self._due, one.by is None and one.due), (self._again, one.again)):
                (kept.add if belongs else kept.discard)(one.cell_id)
