"""Dealing pairs to annotators, and the sheets on which they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from fcpair.errors import InputError
from fcpair.lazy import pd
from fcpair.param_values import as_params
from fcpair.params import Assign, ShardOrder, check_distinct_spelling
from fcpair.records import Role, RunRecord, Status
from fcpair.stages.assignment.assign import assign_pairs, overlap_counts, shard_order
from fcpair.steps.assignment import leases
from fcpair.steps.assignment.extra_labels import assign_more, plan_more
from fcpair.steps.assignment.rounds import carry_answers, counted_cells, with_calibration
from fcpair.steps.base.context import (
    Basis,
    GridContext,
    begin_building,
    check_building,
    note_run,
    options_as_done,
    save_options,
)
from fcpair.steps.base.keywords import own, takes_params
from fcpair.steps.base.recipe_options import by_recipe
from fcpair.steps.people import access, known_dealing, reassignment
from fcpair.steps.people.people import ensure_active, expected_names
from fcpair.store import Tx
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells
from fcpair.work_records import ExtraLabels


@takes_params
def assign(
    grid: GridContext,
    options: Assign | None = None,
    *,
    redo: bool = False,
    more: bool = False,
    pairs: Sequence[int] | None = None,
    expected: int | None = None,
    annotators: int | None = own(None),
    overlap: Mapping[int, float] = own({}),
    annotator_groups: Sequence[Sequence[str]] = own(()),
    order: ShardOrder = own("random"),
    seed: int = own(0),
    open: bool = own(False),
    lease_minutes: int = own(30),
) -> RunRecord:
    """Assign the grid in overlapping shards; `more` adds to what has been assigned (`extra_labels.assign_more`), with
    `pairs`, by number, one label more to each of these.

    `expected` is how many labels `more` adds, where somebody has seen that (`plan_more_labels`).
    Without options, as the recipe says. In open dealing (`options.open`, or with `more` where the study has it),
    whoever asks is given pairs instead. The rounds of a planned grid are dealt by `assign_round`.

    Raises ConflictError where pairs or people changed while the shards were worked out.
    """
    if pairs is not None and not more:
        raise InputError("`pairs` are for more labels once the grid is assigned; give `more=True` as well")
    options = options or by_recipe(grid, Assign, more=more)
    with grid._store.read() as tx:
        is_open = options_as_done(tx, Assign).open
    if more and (options.open or is_open):
        return leases.open_more_slots(grid, options, pairs, expected)
    if more:
        return assign_more(grid, options, pairs, expected)
    if options.open:
        return leases.open_assignment(grid, options, redo=redo)

    with grid._store.read() as tx:
        check_building(tx, "assign", redo=redo)
        basis = Basis(tx, lambda tx: _load_inputs(tx, options))
    names, grid_pairs, counted = basis.inputs
    hs, cn = grid_pairs["hs_id"].to_numpy(), grid_pairs["cn_id"].to_numpy()
    index_by_name = {name: i for i, name in enumerate(names)}
    unknown_names = [name for group in options.annotator_groups for name in group if name not in index_by_name]
    if unknown_names:
        check_distinct_spelling(unknown_names, index_by_name)
        raise InputError(
            f"`{unknown_names[0]}` in a group is not an active annotator; active annotators are "
            f"{', '.join(index_by_name)}"
        )
    shards = assign_pairs(
        hs,
        cn,
        len(names),
        options.overlap,
        [tuple(index_by_name[name] for name in group) for group in options.annotator_groups],
        seed=options.seed,
    )
    positions = shard_order(shards.annotator, hs[shards.pair], options.seed, options.order)
    loads = np.bincount(shards.annotator, minlength=len(names))
    counts = {
        "annotators": len(names),
        "assignments": len(shards.pair),
        "load_min": int(loads.min()),
        "load_max": int(loads.max()),
        "pairs_by_labels": {
            str(n): n_pairs for n, n_pairs in overlap_counts(len(grid_pairs), options.overlap).items() if n_pairs
        },
    }
    with grid._store.write() as tx:
        basis.check_unmoved(tx)
        begin_building(tx, "assign", redo=redo)
        ids = np.array([one.id for one in ensure_active(tx, Role.ANNOTATOR, options.annotators)])
        rows = {
            "cell_id": grid_pairs["cell_id"].to_numpy()[shards.pair],
            "person_id": ids[shards.annotator],
            "position": positions,
        }
        assignments.add_assignments(tx, pd.DataFrame({**rows, "status": Status.OPEN.value}), rounds.primary(tx))
        if access.withdraw_opted_out(tx, ids.tolist()):
            reassignment.reassign(tx, options.seed)
        by_row = options.order == "hs"
        counts |= known_dealing.assign_known_pairs(tx, rounds.primary(tx), strict=True, by_row=by_row)
        run = note_run(tx, options.stage, as_params(options), counts)
        save_options(tx, replace(options, annotators=len(names)), run)
        carry_answers(tx, rounds.primary(tx), run.id)
        return with_calibration(run, counted)


def _load_inputs(tx: Tx, options: Assign) -> tuple[list[str], pd.DataFrame, list[int]]:
    """The names of those to assign to, the pairs to assign, and those that have answers of a calibration instead."""
    counted, grid_pairs = counted_cells(tx, rounds.primary(tx)), cells.cells(tx)
    to_assign = grid_pairs[~grid_pairs["cell_id"].isin(counted)].reset_index(drop=True)
    return expected_names(tx, Role.ANNOTATOR, options.annotators), to_assign, counted


@takes_params
def plan_more_labels(
    grid: GridContext,
    options: Assign | None = None,
    *,
    pairs: Sequence[int] | None = None,
    annotators: int | None = own(None),
    overlap: Mapping[int, float] = own({}),
    annotator_groups: Sequence[Sequence[str]] = own(()),
    order: ShardOrder = own("random"),
    seed: int = own(0),
    open: bool = own(False),
    lease_minutes: int = own(30),
) -> ExtraLabels:
    """Work out what `assign` would add with `more`, of these `pairs` or all, and do nothing; raises what that does.

    Groups, which are for the first assignment, are ignored.
    """
    options = replace(options or by_recipe(grid, Assign, more=True), annotator_groups=())
    with grid._store.read() as tx:
        is_open = options_as_done(tx, Assign).open
    plan = leases.plan_more_slots if options.open or is_open else plan_more
    return plan(grid, options, pairs)
