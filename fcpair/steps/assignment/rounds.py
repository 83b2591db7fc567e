"""Dealing a round of a planned grid, by its options; a round of spot checks as batches of an earlier one are done."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from fcpair.arrays import Bools, Ints
from fcpair.errors import InputError, StageError
from fcpair.lazy import pd
from fcpair.params import Calibration
from fcpair.records import Origin, Role, Round, RunRecord, Status
from fcpair.stages.assignment.assign import AssignedPairs, shard_order
from fcpair.stages.assignment.rounds import (
    assign_cells,
    assign_rows,
    batches,
    draw_columns,
    draw_per_batch,
    order_by_batch,
)
from fcpair.steps.base.answer_values import answer_numbers, closed_question, form_of
from fcpair.steps.base.calibration_state import CalibrationState, Phase, latest_answers, load_calibration
from fcpair.steps.base.context import Basis, GridContext, find_grid, is_planned, need_cells, note_run, options_as_done
from fcpair.steps.people import access, eligibility, known_pairs, reassignment
from fcpair.steps.people.people import ensure_active, expected_names
from fcpair.steps.rules import rule_decisions, text_checks
from fcpair.steps.rules.tallies import check_done, round_progress
from fcpair.store import Tx
from fcpair.store.answers import authorship, judgements
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus import cells, grids

CARRIED = ("cell_id", "person_id", "answer_id", "note", "seconds", "origin", "at")


_RoundInputs = tuple[Round, "pd.DataFrame", list[str], Ints, Bools]
"""Input of assigning a round: the round, its cells (`cell_id`, `hs_id`, `cn_id`, `batch`, and `source`, a number for
where its row is from), the names of all whom it expects, the places of those who may have anything, and which of them
may not have which cell, `(n_cells, n_people)`.
"""


def assign_round(grid: GridContext, round: str | None = None, *, redo: bool = False) -> RunRecord:
    """Deal a round of a planned grid to the people in its role, by its options; without a name, the only round.

    Nobody is given a cell one of whose texts they wrote, or one that they answered in the round on which this one
    rests. Where the round `edits` an earlier one or comes `after` it, only cells with a current answer there
    are assigned, and to be edited only those with a text. A round that draws from each batch (`per_batch`) is assigned
    as batches are done.

    Raises:
        StageError: no cells yet, the round has been assigned, another comes first, nobody can answer, no further
            batch is done.
        InputError: several rounds and no name, or too few people for what is asked.
        UnknownIdError: no such round.
        ConflictError: what this rests on changed while it was worked out.
    """
    with grid._store.read() as tx:
        basis = Basis(tx, lambda tx: _load_inputs(tx, grid.grid.name, round, redo=redo))
    round_, grid_cells, _, persons, barred = basis.inputs
    text_checks.check_prerequisites(round_)
    cell_id, row, column, batch, source = (grid_cells[name].to_numpy(np.int64) for name in grid_cells)
    options, seed = round_.options, round_.options.seed
    if options.keeps_sources_together:
        shards = assign_rows(source, barred, options.answers, seed=seed, unit="sources")
    elif options.shows_whole_rows and options.answers:
        shards = assign_rows(row, barred, options.answers, seed=seed)
    else:
        shards = assign_cells(row, column, barred, options.answers, once_per_row=options.once_per_row, seed=seed)
    order: Literal["hs", "random"] = "hs" if options.shows_whole_rows else "random"
    within = cell_id[shards.pair] if options.in_order else None
    positions = shard_order(shards.annotator, row[shards.pair], seed, order, within)
    positions = order_by_batch(shards.annotator, batch[shards.pair], positions)
    loads = np.bincount(shards.annotator, minlength=barred.shape[1])
    with grid._store.write() as tx:
        basis.check_unmoved(tx)
        if not options.per_batch:
            for cleared_round in (round_, *rounds.of_known_pairs(tx, round_)):
                assignments.clear_assignments(tx, cleared_round)
        everybody = ensure_active(tx, round_.role, n_people_to_add(tx, round_))
        ids = np.array([everybody[index].id for index in persons.tolist()])
        last_positions = assignments.last_positions(tx, round_, ids.tolist())
        positions += np.array([last_positions.get(id_, 0) for id_ in ids.tolist()])[shards.annotator]
        deal(tx, round_, cell_id, ids, shards, positions, seed)
        counts = {
            "grid": grid.grid.name,
            "round": round_.name,
            "people": len(ids),
            "cells": len(cell_id),
            "assignments": len(shards.pair),
            "load_min": int(loads.min()),
            "load_max": int(loads.max()),
            **known_pairs.assign_known_pairs(tx, round_, strict=True, by_row=False),
        }
        run = note_run(tx, "assign", {"grid": grid.grid.name, "round": round_.name, **options.as_json()}, counts)
        return carry_answers(tx, round_, run)


def has_people(tx: Tx, round_: Round) -> bool:
    """Return whether somebody is there to be assigned a round, or its plan says how many are to be added."""
    return bool(open_slots.candidates(tx, round_.role)) or n_people_to_add(tx, round_) is not None


def _load_inputs(tx: Tx, grid: str, name: str | None, *, redo: bool) -> _RoundInputs:
    round_, *others = rounds.answer_rounds(tx) if name is None else [rounds.by_name(tx, name)]
    if others:
        names = [named_round.name for named_round in (round_, *others)]
        raise InputError.say("grid `%(grid)s` has several rounds; name one: %(names)s", grid=grid, names=names)
    _check_assignable(tx, grid, round_, redo=redo)
    counted, pairs = counted_cells(tx, round_), cells_to_assign(tx, grid, round_)
    pairs = pairs[~pairs["cell_id"].isin(counted)]
    cell_id, row = pairs["cell_id"].to_numpy(np.int64), pairs["hs_id"].to_numpy(np.int64)
    candidates = open_slots.candidates(tx, round_.role)
    names = expected_names(tx, round_.role, n_people_to_add(tx, round_))
    if candidates:
        ineligible = eligibility.ineligibility_matrix(tx, cell_id, candidates, round_, first_assignment=True)
    elif round_.options.author:
        ineligible = eligibility.authorship_matrix(tx, cell_id.tolist(), names, round_)
    else:  # who is yet to be added has had nothing to do with any cell
        ineligible = np.zeros((len(cell_id), len(names)), np.bool_)
    allowed_people, n_rows = np.flatnonzero(~ineligible.all(axis=0)), round_.options.batch
    batch = batches(row, n_rows, round_.options.seed) if n_rows else np.zeros(len(row), np.int64)
    source = reassignment.row_sources(tx, cell_id) if round_.options.keeps_sources_together else batch
    grid_cells = pairs[["cell_id", "hs_id", "cn_id"]].assign(batch=batch, source=source)
    return round_, grid_cells, names, allowed_people, ineligible[:, allowed_people]


def cells_to_assign(tx: Tx, grid: str, round_: Round) -> pd.DataFrame:
    """The cells that are assigned, in their order: all that can be, or those that are drawn of them."""
    seed, pairs = round_.options.seed, cells.cells(tx)
    if round_.options.per_batch:
        return cells_due(tx, round_, pairs)
    if round_.options.rests_on:
        earlier = rounds.by_name(tx, round_.options.rests_on)
        check_done(tx, grid, earlier)
        pairs = pairs[pairs["cell_id"].isin(authorship.cells_answered_before(tx, round_))]
        if pairs.empty:
            missing_part = "a text to edit" if round_.options.edits_round else "an answer"
            raise StageError(
                f"no cell has {missing_part} in round `{earlier.name}`, so there is none for `{round_.name}`"
            )
    if per_row := round_.options.columns_per_row:
        pairs = pairs[draw_columns(pairs["hs_id"].to_numpy(), pairs["cn_id"].to_numpy(), per_row, seed)]
    if round_.options.cells is None:
        return pairs
    if round_.options.cells > len(pairs):
        raise InputError(f"{round_.options.cells:,} cells cannot be drawn; there are {len(pairs):,}; lower `cells`")
    rng = np.random.default_rng([seed, round_.options.cells])
    return pairs.iloc[np.sort(rng.choice(len(pairs), round_.options.cells, replace=False))]


def _check_assignable(tx: Tx, grid: str, round_: Round, *, redo: bool) -> None:
    if not is_planned(tx):
        raise StageError.say(
            "the rounds of grid `%(grid)s` are assigned by `fcpair assign` and `fcpair validate assign`", grid=grid
        )
    if round_.checks:
        raise StageError.say(
            "round `%(name)s` of grid `%(grid)s` is assigned by `fcpair validate assign --grid %(grid)s`",
            name=round_.name,
            grid=grid,
        )
    if round_.role is Role.MODEL:
        raise StageError.say(
            "round `%(name)s` of grid `%(grid)s` is answered by models, so it is not assigned to people",
            name=round_.name,
            grid=grid,
        )
    need_cells(tx, grid)
    if round_.options.passed:  # in a pilot, which has to be judged
        with grids.on_grid(tx, find_grid(tx, round_.options.passed).id):
            check_done(tx, round_.options.passed, rounds.primary(tx))
        if not eligibility.who_passed(tx, round_):
            raise StageError.say(
                "nobody has passed grid `%(passed)s` (%(pass_at)s positive judgements) for round `%(name)s`; "
                "`fcpair people pilot --grid %(grid)s --round %(name)s` shows how everybody did",
                passed=round_.options.passed,
                pass_at=round_.options.pass_at,
                name=round_.name,
                grid=grid,
            )
    if round_.options.per_batch:
        return
    progress, answered_rounds = round_progress(tx, round_), (round_, *rounds.of_known_pairs(tx, round_))
    if progress.dealt and (n := sum(judgements.n_judgements(tx, answered) for answered in answered_rounds)):
        raise StageError.say(
            "round `%(name)s` cannot be assigned again: it has %(n)s answers, and answers are never discarded",
            name=round_.name,
            n=n,
        )
    if progress.dealt and not redo:
        raise StageError.say(
            "round `%(name)s` has been assigned; `--redo` would discard %(n_dealt)s assignments",
            name=round_.name,
            n_dealt=sum(progress.counts[status.value] for status in Status),
        )


def n_people_to_add(tx: Tx, round_: Round) -> int | None:
    """Number of people to add for a round; None if there are some already, or the round does not say how many."""
    return None if open_slots.candidates(tx, round_.role) else round_.options.people


def counted_cells(tx: Tx, target: Round) -> list[int]:
    """The cells that are not assigned in a round, as answers of its calibration, which has to be over, count for it."""
    state = load_calibration(tx)
    if state is None or state.target.id != target.id:
        return []
    if state.phase is not Phase.CLOSED:
        raise StageError.say(
            "people are calibrating themselves for round `%(name)s`; `fcpair calibrate close` ends that",
            name=target.name,
        )
    answers = _counted_answers(tx, state)
    return [] if answers is None else np.unique(answers["cell_id"].to_numpy(np.int64)).tolist()


def _counted_answers(tx: Tx, state: CalibrationState) -> pd.DataFrame | None:
    """The answers of a calibration that count: the first ones, or of each person the latest; None where none do."""
    counts = options_as_done(tx, Calibration).counts
    if counts == "first":
        return judgements.current_labels(tx, *CARRIED, of=state.first)
    return None if counts == "neither" else latest_answers(tx, state, *CARRIED)


def deal(tx: Tx, round_: Round, cell_id: Ints, ids: Ints, shards: AssignedPairs, position: Ints, seed: int) -> None:
    """Give people, by `ids`, the cells of their shards; what they have opted out of goes to others."""
    columns = {"cell_id": cell_id[shards.pair], "person_id": ids[shards.annotator], "position": position}
    assignments.add_assignments(tx, pd.DataFrame({**columns, "status": Status.OPEN.value}), round_)
    if access.withdraw_opted_out(tx, ids.tolist()):
        reassignment.reassign(tx, seed)


def carry_answers(tx: Tx, target: Round, run: RunRecord) -> RunRecord:
    """Carry answers of a calibration that count over into the round that it was for; returns the run with a note."""
    state = load_calibration(tx)
    answers = _counted_answers(tx, state) if state and state.target.id == target.id else None
    if answers is None or answers.empty:
        return run
    form, cell_ids = form_of(target.form), answers["cell_id"].tolist()
    values = rounds.answer_values(tx, answers["answer_id"].tolist())
    answers["answer_id"] = answer_numbers(tx, target, form, [form.load(value) for value in values], cell_ids)
    position = answers.groupby("person_id").cumcount() + 1
    rows = {"cell_id": answers["cell_id"], "person_id": answers["person_id"], "position": position}
    assignments.add_assignments(tx, pd.DataFrame({**rows, "status": Status.DONE.value}), target)
    assigned = assignments.assignments(tx, target)[["id", "cell_id", "person_id"]]
    answers = answers.merge(assigned.rename(columns={"id": "assignment_id"}), on=["cell_id", "person_id"])
    for origin, group in answers.groupby("origin"):
        columns = group[["assignment_id", "answer_id", "note", "seconds", "at"]]
        judgements.add_judgements(tx, columns.assign(skipped=False, run_id=run.id), Origin(str(origin)))
    if target.counts and closed_question(form):
        rule_decisions.apply_policy(tx, sorted(set(cell_ids)))
    note = f"{len(set(cell_ids)):,} pairs have the answers of the calibration that count, so they were not assigned"
    return replace(run, notes=(*run.notes, note))


def cells_due(tx: Tx, round_: Round, pairs: pd.DataFrame) -> pd.DataFrame:
    """The cells of `pairs` drawn from batches that are answered and not checked yet; StageError for no such batch."""
    earlier = rounds.by_name(tx, round_.options.rests_on)
    assigned_rows = assignments.assignments(tx, earlier)
    waiting_cells = set(assigned_rows["cell_id"][assigned_rows["status"] == Status.OPEN.value])
    waiting_cells |= {slot.cell_id for slot in open_slots.find_vacant(tx, earlier)}
    pairs = pairs[pairs["cell_id"].isin(assigned_rows["cell_id"])]
    batch = batches(pairs["hs_id"].to_numpy(np.int64), int(earlier.options.batch or 1), earlier.options.seed)
    is_waiting = pairs["cell_id"].isin(waiting_cells | set(assignments.assigned_cells(tx, round_))).to_numpy()
    is_answered = pairs["cell_id"].isin(judgements.answered_cells(tx, earlier)).to_numpy()
    is_ready = ~np.isin(batch, batch[is_waiting]) & is_answered
    if not is_ready.any():
        raise StageError(f"no further batch of round `{earlier.name}` is done, so there is nothing to check yet")
    return pairs[is_ready][draw_per_batch(batch[is_ready], int(round_.options.per_batch or 0), round_.options.seed)]


def is_due(tx: Tx, round_: Round) -> bool:
    """Return whether a batch is done that is not checked yet."""
    try:
        return not cells_due(tx, round_, cells.cells(tx)).empty
    except StageError:
        return False
