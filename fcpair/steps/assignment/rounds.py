"""Dealing a round of a planned grid, by its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError, StageError
from fcpair.records import Role, Round, RunRecord, Status
from fcpair.stages.assignment.assign import Dealing, shard_order
from fcpair.stages.assignment.rounds import batches, deal_round, deal_rows, draw_columns, in_batches
from fcpair.steps.assignment import spot_checks
from fcpair.steps.base.context import Basis, OnGrid, find_grid, is_planned, note_run
from fcpair.steps.people import access, qualification, reassignment
from fcpair.steps.people.people import active, expected
from fcpair.steps.rules import text_checks
from fcpair.steps.rules.round_progress import check_done, standing
from fcpair.store import Tx
from fcpair.store.answers import authorship, judgements
from fcpair.store.assignment import assignments, rounds, vacant_slots
from fcpair.store.corpus import cells, grids

if TYPE_CHECKING:
    import pandas as pd


class _Asked(NamedTuple):
    """What is to be dealt: the round, its cells by id and by row and column, and to whom.

    `people` are the places of those who may have anything, among all whom the round expects, whose names are in
    `names`; `barred`, `(n_cells, n_people)`, says which of them may not have which cell. `batch`, `(n_cells,)`, is the
    batch of each, and `source` a number for where its row is from, where that is asked for.
    """

    round: Round
    cell_id: NDArray[np.int64]
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    batch: NDArray[np.int64]
    source: NDArray[np.int64]
    names: list[str]
    people: NDArray[np.int64]
    barred: NDArray[np.bool_]


def assign_round(grid: OnGrid, name: str | None = None, *, redo: bool = False) -> RunRecord:
    """Deal a round of a planned grid to the people in its role, by its options; without a name, the only round.

    Nobody is given a cell one of whose texts they wrote, or one that they answered in the round on which this one
    rests. Where the round `edits` an earlier one or comes `after` it, only cells with a current answer there are dealt,
    and to be edited only those with a text. A round that draws from each batch (`per_batch`) is dealt as
    often as further batches are done.

    Raises:
        StageError: the cells are not made, the round has been dealt, another one comes first, nobody can answer, or no
            further batch is done.
        InputError: several rounds and no name, or too few people for what is asked.
        UnknownIdError: no such round.
        ConflictError: what this rests on changed while it was worked out.
    """
    import pandas as pd

    with grid.store.read() as tx:
        basis = Basis(tx, lambda tx: _asked(tx, grid.grid.name, name, redo=redo))
    asked = basis.found
    text_checks.prepare(asked.round)
    options = asked.round.options
    seed = options.seed
    dealt = _dealt(asked, options.answers, seed)
    order: Literal["hs", "random"] = "hs" if asked.round.options.by_row else "random"
    within = asked.cell_id[dealt.pair] if asked.round.options.in_order else None
    place = shard_order(dealt.annotator, asked.row[dealt.pair], seed, order, within)
    place = in_batches(dealt.annotator, asked.batch[dealt.pair], place)
    loads = np.bincount(dealt.annotator, minlength=asked.barred.shape[1])
    with grid.store.write() as tx:
        basis.check_unmoved(tx)
        if not asked.round.options.per_batch:
            assignments.clear_assignments(tx, asked.round)
        everybody = active(tx, asked.round.role, _number(tx, asked.round))
        ids = np.array([everybody[at].id for at in asked.people.tolist()])
        last = assignments.last_positions(tx, asked.round, ids.tolist())
        place += np.array([last.get(one, 0) for one in ids.tolist()])[dealt.annotator]
        given = {"cell_id": asked.cell_id[dealt.pair], "person_id": ids[dealt.annotator], "position": place}
        assignments.add_assignments(tx, pd.DataFrame({**given, "status": Status.OPEN.value}), asked.round)
        if access.withdraw_opted_out(tx, ids.tolist()):
            reassignment.refill(tx, seed)
        counts = {
            "grid": grid.grid.name,
            "round": asked.round.name,
            "people": len(ids),
            "cells": len(asked.cell_id),
            "assignments": len(dealt.pair),
            "load_min": int(loads.min()),
            "load_max": int(loads.max()),
        }
        return note_run(tx, "assign", {"grid": grid.grid.name, "round": asked.round.name, **options.as_json()}, counts)


def _dealt(asked: _Asked, answers: int, seed: int) -> Dealing:
    """Who gets what; of a round that shows a row on one screen, all its cells, and of one by sources, all of theirs."""
    if asked.round.options.by_source:
        return deal_rows(asked.source, asked.barred, answers, seed=seed, unit="sources")
    if asked.round.options.by_row and answers:
        return deal_rows(asked.row, asked.barred, answers, seed=seed)
    once = asked.round.options.once_per_row
    return deal_round(asked.row, asked.column, asked.barred, answers, once_per_row=once, seed=seed)


def has_people(tx: Tx, round_: Round) -> bool:
    """Whether somebody is there to be dealt a round, or its plan says how many are to be added."""
    return bool(vacant_slots.heirs(tx, round_.role)) or _number(tx, round_) is not None


def _asked(tx: Tx, grid: str, name: str | None, *, redo: bool) -> _Asked:
    round_ = _only(tx, grid) if name is None else rounds.named(tx, name)
    _check(tx, grid, round_, redo=redo)
    pairs = _drawn(tx, grid, round_)
    cell_id, row, column = (pairs[name].to_numpy(np.int64) for name in ("cell_id", "hs_id", "cn_id"))
    heirs = vacant_slots.heirs(tx, round_.role)
    names = expected(tx, round_.role, _number(tx, round_))
    if heirs:
        barred = reassignment.barred(tx, cell_id, heirs, round_, first=True)
    elif round_.options.author:
        barred = reassignment.by_authors(tx, cell_id.tolist(), names, round_)
    else:  # who is yet to be added has had nothing to do with any cell
        barred = np.zeros((len(cell_id), len(names)), np.bool_)
    able = np.flatnonzero(~barred.all(axis=0))
    batch = (
        batches(row, round_.options.batch, round_.options.seed)
        if round_.options.batch
        else np.zeros(len(row), np.int64)
    )
    source = reassignment.sources(tx, cell_id) if round_.options.by_source else batch
    return _Asked(round_, cell_id, row, column, batch, source, names, able, barred[:, able])


def _drawn(tx: Tx, grid: str, round_: Round) -> pd.DataFrame:
    """The cells that are dealt, in their order: all that can be, or those that are drawn of them."""
    seed, pairs = round_.options.seed, cells.cells(tx)
    if round_.options.per_batch:
        return spot_checks.due(tx, round_, pairs)
    if round_.options.rests_on:
        earlier = rounds.named(tx, round_.options.rests_on)
        check_done(tx, grid, earlier)
        pairs = pairs[pairs["cell_id"].isin(authorship.cells_before(tx, round_))]
        if pairs.empty:
            what = "a text to edit" if round_.options.edits_round else "an answer"
            raise StageError(f"no cell has {what} in round `{earlier.name}`, so there is none for `{round_.name}`")
    if per_row := round_.options.columns_per_row:
        pairs = pairs[draw_columns(pairs["hs_id"].to_numpy(), pairs["cn_id"].to_numpy(), per_row, seed)]
    return _some(pairs, round_.options.cells, seed)


def _some(pairs: pd.DataFrame, n: int | None, seed: int) -> pd.DataFrame:
    """So many of the cells, drawn by seed, in their order; all where no number is given."""
    if n is None:
        return pairs
    if n > len(pairs):
        raise InputError(f"{n:,} cells are to be drawn, but there are {len(pairs):,}; lower `cells`")
    return pairs.iloc[np.sort(np.random.default_rng([seed, n]).choice(len(pairs), n, replace=False))]


def _only(tx: Tx, grid: str) -> Round:
    """The only round of the grid; raises InputError where there are several."""
    there = rounds.asked(tx)
    if len(there) > 1:
        raise InputError(f"grid `{grid}` has several rounds; name one: {', '.join(one.name for one in there)}")
    return there[0]


def _check(tx: Tx, grid: str, round_: Round, *, redo: bool) -> None:
    """Raise StageError where the round cannot be dealt now."""
    if not is_planned(tx):
        raise StageError(f"the rounds of grid `{grid}` are dealt by `fcpair assign` and `fcpair validate assign`")
    if round_.checks:
        raise StageError(f"round `{round_.name}` of grid `{grid}` is dealt by `fcpair validate assign --grid {grid}`")
    if round_.role is Role.MODEL:
        raise StageError(f"round `{round_.name}` of grid `{grid}` is answered by models, so it is dealt to nobody")
    if not cells.number_range(tx)[1]:
        raise StageError(f"grid `{grid}` has no cells yet; run `fcpair pair --grid {grid}`")
    _check_pilot(tx, grid, round_)
    if round_.options.per_batch:
        return
    there = standing(tx, round_)
    if there.dealt and (n := judgements.n_judgements(tx, round_)):
        raise StageError(f"round `{round_.name}` cannot be dealt again: {n:,} answers are in it, and none is discarded")
    if there.dealt and not redo:
        n_dealt = sum(there.counts[one.value] for one in Status)
        raise StageError(f"round `{round_.name}` has been dealt; `--redo` would discard {n_dealt:,} assignments")


def _check_pilot(tx: Tx, grid: str, round_: Round) -> None:
    """Raise StageError unless the pilot that a round asks for is judged, and somebody has passed."""
    if not round_.options.passed:
        return
    with grids.about(tx, find_grid(tx, round_.options.passed).id):
        check_done(tx, round_.options.passed, rounds.counting(tx))
    if not qualification.who_passed(tx, round_):
        raise StageError(
            f"nobody has passed grid `{round_.options.passed}` ({round_.options.pass_at} positive judgements) for "
            f"round `{round_.name}`; `fcpair people pilot --grid {grid} --round {round_.name}` shows how everybody did"
        )


def _number(tx: Tx, round_: Round) -> int | None:
    """How many people are to be added for a round: none where there are some already."""
    there = vacant_slots.heirs(tx, round_.role)
    return None if there else round_.options.people
