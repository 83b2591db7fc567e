"""Planning how many HS tell two systems apart, from what an evaluation of the study shows, or what is assumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from fcpair.errors import InputError
from fcpair.evaluate.outcome import ALPHA
from fcpair.params import Evaluate, Power
from fcpair.stages.stats.intervals import SAME
from fcpair.stages.stats.paired_tests import PowerPlan, describe_assumed, plan_hs
from fcpair.steps.base.context import GridContext
from fcpair.steps.base.keywords import takes_params
from fcpair.steps.base.recipe_options import by_recipe
from fcpair.steps.release.evaluate import score_each_hs
from fcpair.store.corpus import cells

MEASURE, CUTOFF = "NDCG", 10


@takes_params
def plan_power(
    grid: GridContext,
    options: Power | None = None,
    *,
    power: float = 0.8,
    difference: float = 0.05,
    sd: float | None = None,
    systems: Sequence[str] = (),
    comparisons: int = 1,
) -> PowerPlan:
    """Plan how many HS tell two systems apart by their NDCG@10, as often as wished.

    The standard deviation of the difference over HS is `sd`, or that of the `systems` (else of those that the study
    evaluates) on its largest tier; of more than two systems it is the greatest, and all pairs count as comparisons.

    Raises:
        InputError: there are fewer than two systems, they score alike, or no study finds the difference.
    """
    options = options or Power()
    if options.sd is not None:
        with grid._store.read() as tx:
            n_hs = cells.shape(tx)[0]
        return plan_hs(options, ALPHA, options.sd, describe_assumed(options.sd), n_hs or None)
    evaluation = by_recipe(grid, Evaluate)
    evaluation = replace(evaluation, systems=options.systems or evaluation.systems, cutoff=CUTOFF)
    if len(evaluation.systems) < 2:
        raise InputError(
            f"{len(evaluation.systems)} systems are named; give two or more as `systems`, or the standard deviation of "
            "their difference as `sd`"
        )
    tier, scores = score_each_hs(grid, evaluation, MEASURE)
    pairs = list(combinations(range(scores.shape[1]), 2))
    if len(scores) < 2:
        raise InputError(f"{tier} has {len(scores)} HS that count; a standard deviation needs 2 or more")
    sds = [float(np.std(scores[:, a] - scores[:, b], ddof=1)) for a, b in pairs]
    if max(sds) < SAME:
        raise InputError("the systems score alike on every HS, so their difference has no standard deviation")
    a, b = pairs[int(np.argmax(sds))]
    basis = (
        f"standard deviation {max(sds):.4f}: of {evaluation.systems[a]} and {evaluation.systems[b]} on the "
        f"{len(scores):,} HS of {tier}"
    )
    options = replace(options, comparisons=max(options.comparisons, len(pairs)))
    return plan_hs(options, ALPHA, max(sds), basis, len(scores))
