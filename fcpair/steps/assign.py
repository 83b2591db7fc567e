"""Dealing pairs to annotators, and the sheets on which they answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fcpair.errors import InputError
from fcpair.params import Annotate, Assign, apart, as_params
from fcpair.records import Person, Role, Round, RunRecord, Status
from fcpair.steps import access, handover
from fcpair.steps.ground import begin_building, keep, note, note_run
from fcpair.steps.people import active
from fcpair.store import Store, grids, work

if TYPE_CHECKING:
    pass


def assign(store: Store, options: Assign, *, redo: bool = False) -> RunRecord:
    """Deal the grid to annotators in overlapping shards."""
    import pandas as pd

    from fcpair.stages.assign import deal, overlap_counts, shard_order

    with store.write() as tx:
        begin_building(tx, "assign", redo=redo)
        annotators = active(tx, Role.ANNOTATOR, options.annotators)
        pairs = grids.pairs(tx)
        hs, cn = pairs["hs_id"].to_numpy(), pairs["cn_id"].to_numpy()
        groups = _groups(options.groups, annotators)
        dealt = deal(hs, cn, len(annotators), options.overlap, groups, seed=options.seed)
        ids = np.array([one.id for one in annotators])
        assignments = pd.DataFrame(
            {
                "pair_id": pairs["pair_id"].to_numpy()[dealt.pair],
                "person_id": ids[dealt.annotator],
                "position": shard_order(dealt.annotator, hs[dealt.pair], options.seed, options.order),
                "status": Status.OPEN.value,
            }
        )
        work.add_assignments(tx, assignments, Round.LABEL)
        if access.withdraw_opted_out(tx, ids.tolist()):
            handover.refill(tx, options.seed)
        loads = np.bincount(dealt.annotator, minlength=len(annotators))
        labels = {str(n): count for n, count in overlap_counts(len(pairs), options.overlap).items() if count}
        counts = {
            "annotators": len(annotators),
            "assignments": len(assignments),
            "load_min": int(loads.min()),
            "load_max": int(loads.max()),
            "pairs_by_labels": labels,
        }
        run = note_run(tx, options.stage, as_params(options), counts)
        keep(tx, replace(options, annotators=len(annotators)), run)
        return run


def note_annotate(store: Store, options: Annotate) -> RunRecord:
    """Make this what the people who answer in the browser are told and asked."""
    with store.write() as tx:
        return note(tx, options, {"questions": len(options.demographics)})


def _groups(groups: tuple[tuple[str, ...], ...], annotators: list[Person]) -> list[tuple[int, ...]]:
    at = {one.name: i for i, one in enumerate(annotators)}
    unknown = [name for group in groups for name in group if name not in at]
    if unknown:
        apart(unknown, at)
        raise InputError(f"`{unknown[0]}` in a group is no active annotator; there are {', '.join(at)}")
    return [tuple(at[name] for name in group) for group in groups]
