"""The list of conflicts for the lead: the pairs that wait for a person's decision, with their labels and by whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from fcpair.files.tables.tabular import plain_rows
from fcpair.pair_filter import CONFLICT_ORDERS, CONFLICT_REASONS, PairFilter, check_name
from fcpair.records import UNDECIDED, Rule
from fcpair.sentences import mark
from fcpair.steps.adjudication.case_queues import current_conflicts
from fcpair.steps.base.context import GridContext, scheme_of
from fcpair.steps.oversight.pair_search import matching_cells
from fcpair.store import Tx, adjudications
from fcpair.store.answers import judgements
from fcpair.store.corpus import cells
from fcpair.store.corpus.grids import to_public_number

MOST_SPLITS = 30  # that are offered to be chosen from


@dataclass(frozen=True)
class WaitingConflict:
    """A pair that waits for a decision since a time: its `labels` are the rows `annotator`, `answer`, `note`.

    `split` has how often each answer was given, such as `2 appropriate, 1 not_appropriate`; `doubt` is from 0 to 1,
    None where no label model says any.
    """

    cell_id: int
    hs: str
    cn: str
    labels: tuple[dict[str, Any], ...]
    split: str
    since: str
    reason: str  # of CONFLICT_REASONS
    doubt: float | None


@dataclass(frozen=True)
class ConflictList:
    """Conflicts that match: `numbers` has all of them in order, `records` those from place `first` on.

    Of any kind `n_waiting` wait, and `n_not_due` more for their last labels; `splits` and `people` can be chosen.
    """

    numbers: list[int]
    records: list[WaitingConflict]
    first: int
    n_waiting: int
    n_not_due: int
    splits: tuple[str, ...]
    people: tuple[str, ...]


@dataclass(frozen=True)
class _Waiting:
    """What the list rests on: by pair its labels, their split, since when and why it waits."""

    labels: Mapping[int, tuple[dict[str, Any], ...]]
    split: Mapping[int, str]
    since: Mapping[int, str]
    reason: Mapping[int, str]
    n_not_due: int


def list_conflicts(
    grid: GridContext,
    *,
    split: str = "",
    reason: str = "",
    days: int = 0,
    person: str = "",
    words: str = "",
    order: str = "age",
    doubts: Mapping[int, float] | None = None,
    first: int = 0,
    n: int = 50,
) -> ConflictList:
    """List the pairs that wait for a person's decision and meet every condition that is given.

    Args:
        split: how their labels are divided, as `WaitingConflict.split` has it.
        reason: why they wait: `differ`, `again` (labels changed since it was decided), `requested` (by a lead).
        days: they have waited so many days or longer.
        person: who was given them, in any round.
        words: each must occur in the text of the row or of the column, whatever its capitals.
        order: `age` (the longest wait first), `doubt` or `number`.
        doubts: the doubt of pairs, as `AdjudicationQueue.doubts` has it.
        first: the place of the first of the `n` whose texts are read, from 0.

    Raises InputError for an unknown reason, order or person, with the nearest.
    """
    check_name(mark("there is no reason `%(name)s`; %(hint)s"), reason, CONFLICT_REASONS)
    check_name(mark("there is no order `%(name)s`; %(hint)s"), order, CONFLICT_ORDERS)
    doubts = doubts or {}
    with grid._store.read() as tx:
        waiting = grid._figures.at(tx, "waiting conflicts", partial(_load, grid))
        before = (datetime.now(UTC) - timedelta(days=days)).isoformat()
        cell_ids = [
            cell_id
            for cell_id, since in waiting.since.items()
            if (not split or waiting.split[cell_id] == split)
            and (not reason or waiting.reason[cell_id] == reason)
            and (not days or since <= before)
        ]
        if person or words:
            matching = set(matching_cells(grid, tx, PairFilter(words, person)).tolist())
            cell_ids = [cell_id for cell_id in cell_ids if cell_id in matching]
        if order == "age":
            cell_ids.sort(key=lambda cell_id: (waiting.since[cell_id], cell_id))
        elif order == "doubt":
            cell_ids.sort(key=lambda cell_id: (-doubts.get(cell_id, 1.0), cell_id))
        begin = min(max(first, 0), max(len(cell_ids) - 1, 0) // n * n)
        records = []
        for id_ in cell_ids[begin : begin + n]:
            hs, cn = (text["body"] for text in cells.texts_of(tx, id_))
            facts = waiting.labels[id_], waiting.split[id_], waiting.since[id_], waiting.reason[id_], doubts.get(id_)
            records.append(WaitingConflict(to_public_number(id_), hs, cn, *facts))
        return ConflictList(
            list(map(to_public_number, cell_ids)),
            records,
            begin,
            len(waiting.since),
            waiting.n_not_due,
            tuple(name for name, _ in Counter(waiting.split.values()).most_common(MOST_SPLITS)),
            tuple(sorted({row["annotator"] for rows in waiting.labels.values() for row in rows})),
        )


def _load(grid: GridContext, tx: Tx) -> _Waiting:
    conflicts, names = current_conflicts(grid, tx), {choice.code: choice.name for choice in scheme_of(tx)}
    due = sorted(conflicts.due_ids)
    labels: dict[int, list[dict[str, Any]]] = {cell_id: [] for cell_id in due}
    for row in plain_rows(judgements.current_labels(tx, "cell_id", "annotator", "code", "note", "at", cell_ids=due)):
        labels[row.pop("cell_id")].append({**row, "answer": names[row["code"]]})
    since = {cell_id: max((row["at"] for row in rows), default="") for cell_id, rows in labels.items()}
    requested = set[int]()
    for decision in plain_rows(adjudications.current_adjudications(tx, "cell_id", "rule", "at")):
        if decision["rule"] in UNDECIDED and (cell_id := decision["cell_id"]) in since:
            since[cell_id] = max(since[cell_id], decision["at"])
            requested |= {cell_id} if decision["rule"] == Rule.REQUESTED else set()
    reason = dict.fromkeys(due, "differ") | dict.fromkeys(requested, "requested")
    reason |= dict.fromkeys(conflicts.second_look_ids.intersection(due), "again")
    n_open = sum(conflict.by is None for conflict in conflicts.by_id.values())
    split = dict[int, str]()
    for cell_id, rows in labels.items():
        counts = Counter(names[code] for code in sorted(row["code"] for row in rows))
        split[cell_id] = ", ".join(f"{n} {name}" for name, n in counts.most_common())  # of as many, in their order
    return _Waiting({id_: tuple(rows) for id_, rows in labels.items()}, split, since, reason, n_open - len(due))
