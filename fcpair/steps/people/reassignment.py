"""New hands for work that was skipped, withdrawn or given up: who gets it, of those who may (`eligibility`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fcpair.arrays import Ints
from fcpair.errors import StageError
from fcpair.lazy import pd
from fcpair.records import Known, Person, Round, Status
from fcpair.stages.assignment.assign import shard_order
from fcpair.stages.assignment.slots import fill_rows, fill_slots
from fcpair.steps.base.calibration_state import is_closed
from fcpair.steps.base.context import lease_minutes
from fcpair.steps.people import eligibility
from fcpair.store import Tx
from fcpair.store.answers import authorship
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.assignment.open_slots import Candidate, Slot
from fcpair.store.corpus import cells, grids
from fcpair.store.database.statements import tentative


class Handover(NamedTuple):
    """Slots by who takes them over, as rows of `fill_slots`; those `vacant`; those `freed` for whoever asks."""

    rows: list[dict[str, Any]]
    vacant: int
    freed: list[tuple[Round, list[Slot]]]


def reassign(tx: Tx, seed: int, *, to: Person | None = None, slot: int | None = None) -> dict[str, int]:
    """Give slots that were skipped or withdrawn, all or one, to others, or `to` one person; returns how many."""
    rows, n_vacant, freed = plan_handover(tx, seed, to=to, slot=slot)
    open_slots.fill_slots(tx, rows)
    merge_doubled_controls(tx)
    for round_, slots in freed:
        open_slots.add(tx, round_, [(freed_slot.cell_id, freed_slot.id) for freed_slot in slots])
    n_freed = sum(len(slots) for _, slots in freed)
    return {"reassigned": len(rows), "vacant": n_vacant} | ({"free": n_freed} if n_freed else {})


def pass_on_skipped(tx: Tx, assignment_id: int, *, is_control: bool) -> None:
    """Give a pair that somebody has just skipped to somebody else; a control pair to nobody, by the same statements."""
    with tentative(tx, is_kept=not is_control):
        reassign(tx, assignment_id, slot=assignment_id)


def merge_doubled_controls(tx: Tx) -> None:
    """Make control pairs that people have come to have in their shards as well part of these."""
    for control_round in rounds.of_known_pairs(tx, use=Known.CONTROLS):
        assignments.merge_doubled(tx, control_round, rounds.by_name(tx, control_round.options.known_for))


def reassign_everywhere(tx: Tx, seed: int, *, to: Person | None = None) -> dict[str, int]:
    """Do what `reassign` does in every grid of the study; who has come is assigned what everybody answers (`dealt`)."""
    counts = Counter(reassigned=0, vacant=0)
    for _ in grids.for_each_grid(tx):
        counts.update(reassign(tx, seed, to=to))
        for round_ in rounds.of_grid(tx):
            is_for_newcomers = round_.options.asks_everybody and not round_.options.again
            if is_for_newcomers and not is_closed(tx, round_) and (n := _assign_newcomers(tx, round_)):
                counts["dealt"] += n
    return dict(counts)


def _assign_newcomers(tx: Tx, round_: Round) -> int:
    cell_id = np.array(assignments.assigned_cells(tx, round_), np.int64)
    candidates = open_slots.candidates(tx, round_.role)
    ids_assigned = set(assignments.ever_assigned(tx, round_, [entry.id for entry in candidates])[:, 1].tolist())
    newcomers = [entry for entry in candidates if entry.id not in ids_assigned]
    if not len(cell_id) or not newcomers:
        return 0
    person, cell = np.nonzero(~eligibility.ineligibility_matrix(tx, cell_id, newcomers, round_).T)
    seed = int(np.random.SeedSequence([round_.options.seed, newcomers[0].id]).generate_state(1)[0])
    row = cells.row_numbers(tx, cell_id[cell])
    within = cell_id[cell] if round_.options.in_order else None
    place = shard_order(person, row, seed, "hs" if round_.options.shows_whole_rows else "random", within)
    rows = [
        {"cell_id": one, "person_id": newcomers[at].id, "position": position, "round_id": round_.id, "replaces": None}
        for one, at, position in zip(cell_id[cell].tolist(), person.tolist(), place.tolist(), strict=True)
    ]
    open_slots.fill_slots(tx, rows)
    return len(cell)


def plan_handover(tx: Tx, seed: int, *, to: Person | None = None, slot: int | None = None) -> Handover:
    """Plan what `reassign` would do."""
    rows: list[dict[str, Any]] = []
    freed: list[tuple[Round, list[Slot]]] = []
    vacant = 0
    for round_ in rounds.of_grid(tx):
        seen = rounds.with_known_pairs(tx, round_) if slot else round_
        if not round_.reassigns_skipped or not (slots := open_slots.find_vacant(tx, seen, slot)):
            continue
        if slot:  # who would take a control pair over is told by another pair of the same person
            other_cell = open_slots.other_pair_of_holder(tx, round_, slot)
            slots = [
                earlier if earlier.round_id in round_.ids else Slot(slot, other_cell, round_.id) for earlier in slots
            ]
        if to is None and lease_minutes(tx, round_) is not None:
            freed.append((round_, slots))
        else:
            candidates = [item for item in open_slots.candidates(tx, round_.role) if to is None or item.id == to.id]
            cell_id = np.array([item.cell_id for item in slots])
            taker_index = choose_takers(tx, cell_id, candidates, round_, seed)
            taken_slots = [
                (item, candidates[at].id) for item, at in zip(slots, taker_index.tolist(), strict=True) if at >= 0
            ]
            rows += assignment_rows_at_end(tx, taken_slots, round_)
            vacant += len(slots) - len(taken_slots)
    return Handover(rows, vacant, freed)


def choose_takers(tx: Tx, cell_id: Ints, candidates: Sequence[Candidate], round_: Round, seed: int) -> Ints:
    """Choose who takes over each slot, as an index of `candidates`; -1 where nobody may."""
    fill_args = eligibility.ineligibility_matrix(tx, cell_id, candidates, round_), loads(candidates), seed
    if round_.options.keeps_sources_together:
        return fill_rows(row_sources(tx, cell_id), cell_id, *fill_args)
    if round_.options.shows_whole_rows:
        return fill_rows(cells.row_numbers(tx, cell_id), cell_id, *fill_args)
    return fill_slots(cells.row_numbers(tx, cell_id) if round_.options.once_per_row else cell_id, *fill_args)


def row_sources(tx: Tx, cell_id: Ints) -> Ints:
    """A number for the source of each cell's row; raises StageError where one has none."""
    source_by_cell = authorship.sources_of_rows(tx)
    source_names = [source_by_cell.get(cell, "") for cell in cell_id.tolist()]
    if n := len(set(cells.row_numbers(tx, cell_id[[not name for name in source_names]]).tolist())):
        raise StageError(
            f"{n:,} rows have no source, so it is unknown who should answer them; collect them from `sources`, or "
            "omit `together`"
        )
    return np.unique(source_names, return_inverse=True)[1]


def assignment_rows_at_end(tx: Tx, taken_slots: Sequence[tuple[Slot, int]], round_: Round) -> list[dict[str, Any]]:
    """The slots that people take over, each behind what its new hands have already."""
    person_ids = sorted({person_id for _, person_id in taken_slots})
    positions = Counter(assignments.last_positions(tx, rounds.with_known_pairs(tx, round_), person_ids))
    rows = []
    for slot, person_id in taken_slots:
        positions[person_id] += 1
        place = {"person_id": person_id, "position": positions[person_id]}
        rows.append({"cell_id": slot.cell_id, "round_id": slot.round_id, "replaces": slot.id, **place})
    return rows


def assign_missing(tx: Tx, pairs: pd.DataFrame, round_: Round) -> None:
    """Give people the cells (`cell_id`, `person_id`) that they do not have yet, behind what they have."""
    existing = assignments.assignments(tx, round_)[["cell_id", "person_id"]]
    new_rows = pairs[["cell_id", "person_id"]].drop_duplicates()
    new_rows = new_rows[~pd.MultiIndex.from_frame(new_rows).isin(pd.MultiIndex.from_frame(existing))]
    last_positions = new_rows["person_id"].map(assignments.last_positions(tx, round_, new_rows["person_id"].tolist()))
    position = last_positions.fillna(0).astype("int64") + new_rows.groupby("person_id").cumcount() + 1
    assignments.add_assignments(tx, new_rows.assign(position=position, status=Status.OPEN.value), round_)


def loads(candidates: Sequence[Candidate]) -> Ints:
    """Number of pairs that each of these people has done or has open, shape `(n_people,)`."""
    # Of open ones alone, the quick would have least.
    return np.array([candidate.load for candidate in candidates], np.int64)
