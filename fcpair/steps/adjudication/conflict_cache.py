"""The list of conflicts, kept in memory while a study is served, and brought up to date by what has happened since.

To compare all labels anew at each look would take a second of every half million. The list follows what the study
itself says, and not who wrote it: another process, the command line for instance, may have.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

from fcpair.steps.adjudication.doubts import DoubtRanking
from fcpair.steps.rules import rule_decisions
from fcpair.store import Tx
from fcpair.store.adjudication import disputes
from fcpair.store.adjudication.disputes import DisputedPair
from fcpair.store.answers import activity_log


class ConflictCache:
    """Conflicts that `rule_decisions.disputed_pairs` finds, at the newest state of the study that was asked about."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._marks: activity_log.ChangeMarks = (0, 0, 0)
        self.places: list[tuple[int, int]] = []
        """HS and number of each, in this order."""
        self.order: list[int] = []
        """The numbers of all, by HS and number."""
        self._conflicts: dict[int, DisputedPair] = {}
        self.due_ids: set[int] = set()
        """Those that nobody has decided, or that wait for a second look, and whose labels are all in."""
        self.second_look_ids: set[int] = set()
        self.unsure_ids: set[int] = set()
        """Those with a "not sure" label, or another that decides nothing."""
        self.flagged_ids: set[int] = set()
        """Those whose newest decision by a person said that the guidelines should say more."""
        self.ranking = DoubtRanking()
        """By doubt; nobody waits for it, so it may be older than the list."""

    @contextmanager
    def snapshot(self, tx: Tx) -> Iterator[ConflictCache]:
        """The list at a read transaction, or a little later; it stays so until the end of the `with`."""
        with self._lock:
            self._refresh(tx)
            yield self

    @property
    def newest_answer(self) -> int:
        """The last judgement that the list knows of."""
        return self._marks[0]

    def __iter__(self) -> Iterator[DisputedPair]:
        return (self._conflicts[cell_id] for cell_id in self.order)

    def row_of(self, cell_id: int) -> list[int]:
        """The conflicts in the row of one, in order; none where the pair is no conflict."""
        if cell_id not in self._conflicts:
            return []
        hs_id = self._conflicts[cell_id].hs_id
        first, last = (bisect_left(self.places, (row_id, 0)) for row_id in (hs_id, hs_id + 1))
        return self.order[first:last]

    def is_by(self, cell_id: int, person_id: int) -> bool:
        """Whether this person has decided a conflict."""
        return self._conflicts[cell_id].by == person_id

    def n_again(self, excluded: set[int]) -> int:
        """Number of pairs that are due for a second look, `excluded` left out."""
        return len((self.second_look_ids & self.due_ids) - excluded)

    def _refresh(self, tx: Tx) -> None:
        marks = activity_log.change_marks(tx)
        if any(now < then for now, then in zip(marks, self._marks, strict=True)) or marks == self._marks:
            return  # nothing new, or an older view than another thread had
        last_judgement, last_decision, last_run = self._marks
        if self._marks == (0, 0, 0):
            self._insert(rule_decisions.disputed_pairs(tx))
        else:
            changed_ids = disputes.pairs_changed_since(tx, last_judgement, last_decision)
            self._remove(changed_ids)
            self._insert(rule_decisions.disputed_pairs(tx, changed_ids))
            if marks[2] > last_run:  # whatever moves work, but for an answer to one pair, leaves a run
                self._refresh_due(tx)
        self._marks = marks

    def _refresh_due(self, tx: Tx) -> None:
        still_labelled = disputes.pairs_to_label(tx, list(self._conflicts))
        self._insert([conflict._replace(due=conflict.cell_id not in still_labelled) for conflict in self])

    def _remove(self, cell_ids: Sequence[int]) -> None:
        for conflict in (self._conflicts.pop(cell_id) for cell_id in cell_ids if cell_id in self._conflicts):
            index = bisect_left(self.places, (conflict.hs_id, conflict.cell_id))
            del self.places[index], self.order[index]
            for id_set in (self.due_ids, self.second_look_ids, self.unsure_ids, self.flagged_ids):
                id_set.discard(conflict.cell_id)

    def _insert(self, conflicts: Sequence[DisputedPair]) -> None:
        for conflict in conflicts:
            if conflict.cell_id not in self._conflicts:
                index = bisect_left(self.places, (conflict.hs_id, conflict.cell_id))
                self.places.insert(index, (conflict.hs_id, conflict.cell_id))
                self.order.insert(index, conflict.cell_id)
            self._conflicts[conflict.cell_id] = conflict
            for id_set, belongs in (
                (self.due_ids, conflict.by is None and conflict.due),
                (self.second_look_ids, conflict.again),
                (self.unsure_ids, conflict.unsure),
                (self.flagged_ids, conflict.flagged),
            ):
                (id_set.add if belongs else id_set.discard)(conflict.cell_id)
