"""Dealing pairs to annotators, and the sheets on which they answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fcpair.errors import InputError
from fcpair.param_values import as_params, takes_params
from fcpair.params import Annotate, Assign, apart
from fcpair.records import Role, RunRecord, Status
from fcpair.steps.assignment import leases
from fcpair.steps.assignment.extra_labels import deal_more
from fcpair.steps.base.context import (
    Basis,
    OnGrid,
    OnStudy,
    as_done,
    begin_building,
    check_building,
    keep,
    note,
    note_run,
)
from fcpair.steps.base.recipe_options import by_recipe
from fcpair.steps.people import access, reassignment
from fcpair.steps.people.people import active, expected
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells


@takes_params
def assign(grid: OnGrid, options: Assign | None = None, *, redo: bool = False, more: bool = False) -> RunRecord:
    """Deal the grid to annotators in overlapping shards; `more` adds to what has been dealt (`extra_labels.deal_more`).

    Without options, as the recipe says. In open dealing (`options.open`, or with `more` where the study has it),
    whoever asks is given pairs instead. The rounds of a planned grid are dealt by `assign_round`.

    Raises ConflictError where pairs or people changed while the shards were worked out.
    """
    options = options or by_recipe(grid, Assign, more=more)
    with grid.store.read() as tx:
        is_open = as_done(tx, Assign).open
    if more and (options.open or is_open):
        return leases.open_more(grid, options)
    if more:
        return deal_more(grid, options)
    if options.open:
        return leases.open_up(grid, options, redo=redo)
    import pandas as pd

    from fcpair.stages.assignment.assign import deal, overlap_counts, shard_order

    with grid.store.read() as tx:
        check_building(tx, "assign", redo=redo)
        basis = Basis(tx, lambda tx: (expected(tx, Role.ANNOTATOR, options.annotators), cells.cells(tx)))
    names, pairs = basis.found
    hs, cn = pairs["hs_id"].to_numpy(), pairs["cn_id"].to_numpy()
    dealt = deal(hs, cn, len(names), options.overlap, _groups(options.groups, names), seed=options.seed)
    place = shard_order(dealt.annotator, hs[dealt.pair], options.seed, options.order)
    loads = np.bincount(dealt.annotator, minlength=len(names))
    counts = {
        "annotators": len(names),
        "assignments": len(dealt.pair),
        "load_min": int(loads.min()),
        "load_max": int(loads.max()),
        "pairs_by_labels": {
            str(n): n_pairs for n, n_pairs in overlap_counts(len(pairs), options.overlap).items() if n_pairs
        },
    }
    with grid.store.write() as tx:
        basis.check_unmoved(tx)
        begin_building(tx, "assign", redo=redo)
        ids = np.array([one.id for one in active(tx, Role.ANNOTATOR, options.annotators)])
        rows = {
            "cell_id": pairs["cell_id"].to_numpy()[dealt.pair],
            "person_id": ids[dealt.annotator],
            "position": place,
        }
        assignments.add_assignments(tx, pd.DataFrame({**rows, "status": Status.OPEN.value}), rounds.counting(tx))
        if access.withdraw_opted_out(tx, ids.tolist()):
            reassignment.refill(tx, options.seed)
        run = note_run(tx, options.stage, as_params(options), counts)
        keep(tx, replace(options, annotators=len(names)), run)
        return run


@takes_params
def note_annotate(study: OnStudy, options: Annotate) -> RunRecord:
    """Make this what the people who answer in the browser are told and asked."""
    with study.store.write() as tx:
        return note(tx, options, {"questions": len(options.demographics)})


def _groups(groups: tuple[tuple[str, ...], ...], annotators: list[str]) -> list[tuple[int, ...]]:
    at = {name: i for i, name in enumerate(annotators)}
    unknown = [name for group in groups for name in group if name not in at]
    if unknown:
        apart(unknown, at)
        raise InputError(f"`{unknown[0]}` in a group is no active annotator; there are {', '.join(at)}")
    return [tuple(at[name] for name in group) for group in groups]
