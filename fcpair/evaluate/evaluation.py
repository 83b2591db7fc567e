"""From rankings and labels to an Outcome: scores with bounds and intervals, tests, and the spread over tiers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fcpair.evaluate.bounds import Readings, readings
from fcpair.evaluate.judged_rankings import (
    NEGATIVE,
    POSITIVE,
    Grades,
    Judged,
    assume_relevant,
    drop_unjudged,
    label_ranking,
    select_hs,
)
from fcpair.evaluate.measure_base import Measure
from fcpair.evaluate.measures import JudgedAt
from fcpair.evaluate.outcome import Comparison, Concordance, Outcome, Score, SystemFacts, TierFacts
from fcpair.evaluate.random_baseline import expected_value
from fcpair.evaluate.ranking import Ranking, System
from fcpair.evaluate.summary import tier_spreads
from fcpair.evaluate.systems import Random
from fcpair.params import NoPositives
from fcpair.stages.stats.bayesian_bootstrap import LEAST_HS, METHOD, mean_intervals
from fcpair.stages.stats.paired_tests import holm, kendall, randomisation

NO_HS = "no HS of the tier has an appropriate CN in the pool"


@dataclass(frozen=True)
class TierLabels:
    """The labels of a tier on the pool.

    `labels` is POSITIVE, NEGATIVE or UNJUDGED, shape `(n_hs, n_cn)`; `there` says which HS the tier has, shape
    `(n_hs,)`; `outside` counts its pairs whose CN is not in the pool; `grades` are those of the labels, if they are
    grades.
    """

    tier: str
    rule: str
    labels: NDArray[np.int8]
    there: NDArray[np.bool_]
    outside: int = 0
    grades: Grades | None = None


@dataclass(frozen=True)
class Options:
    """Options for figures: what becomes of an HS without positives, the number of resamples, and their seed."""

    no_positives: NoPositives
    resamples: int
    seed: int


@dataclass(frozen=True)
class _MeasuredTier:
    """A tier as it is measured: each system's ranking beside its labels, for the HS that count."""

    tier: str
    judged: tuple[Judged, ...]
    n: int


def evaluate(
    systems: Sequence[System],
    rankings: Sequence[Ranking],
    tiers: Sequence[TierLabels],
    measures: Sequence[Measure],
    options: Options,
    pool: str,
) -> Outcome:
    """Measure each system's ranking on each tier.

    Args:
        systems: what ranked, at least one.
        rankings: one for each system, over the same HS and pool.
        tiers: best first.
        measures: what is measured.
        options: how.
        pool: what the pool is called.
    """
    names = short_names(systems)
    facts = [
        SystemFacts(str(system), name, ranking.notes, ranking.model)
        for system, name, ranking in zip(systems, names, rankings, strict=True)
    ]
    parts = [_measured_tier(tier, rankings, options.no_positives) for tier in tiers]
    values = [_values(part, measures) for part in parts]
    scores = [
        score
        for part, value in zip(parts, values, strict=True)
        for score in (
            *_scores(part, value, names, measures, options),
            *_expected_scores(part, systems, names, measures),
        )
    ]
    baselines = [
        _scores_without_draws(part, value, systems, measures) for part, value in zip(parts, values, strict=True)
    ]
    compared = [at for at, measure in enumerate(measures) if not isinstance(measure, JudgedAt)]
    return Outcome(
        pool=pool,
        no_positives=options.no_positives,
        resamples=options.resamples,
        seed=options.seed,
        measures=tuple(str(measure) for measure in measures),
        tiers=tuple(_tier_facts(tier) for tier in tiers),
        systems=tuple(facts),
        scores=tuple(scores),
        spreads=tuple(tier_spreads(scores, [measures[at] for at in compared])),
        comparisons=tuple(
            test
            for part, value in zip(parts, values, strict=True)
            for at in compared
            for test in _comparisons(part, value[:, :, at], names, str(measures[at]), options)
        ),
        concordances=tuple(_concordances(parts, baselines, measures, compared)),
        interval=METHOD,
    )


def short_names(systems: Sequence[System]) -> list[str]:
    """The short names of systems; the full one of those whose short name is not theirs alone."""
    short = [system.short_name for system in systems]
    return [name if short.count(name) == 1 else str(system) for name, system in zip(short, systems, strict=True)]


def _tier_facts(tier: TierLabels) -> TierFacts:
    labels = tier.labels[tier.there]
    positive = labels == POSITIVE
    return TierFacts(
        tier=tier.tier,
        rule=tier.rule,
        hs=len(labels),
        pool=labels.shape[1],
        cells=labels.size,
        judged=int(positive.sum() + (labels == NEGATIVE).sum()),
        positive=int(positive.sum()),
        outside=tier.outside,
        without_positives=int((~positive.any(axis=1)).sum()),
    )


def _measured_tier(tier: TierLabels, rankings: Sequence[Ranking], no_positives: NoPositives) -> _MeasuredTier:
    is_counted = tier.there
    if no_positives == "leave_out":
        is_counted = is_counted & (tier.labels == POSITIVE).any(axis=1)
    judged = tuple(
        select_hs(label_ranking(ranking.order, tier.labels, tier.grades), is_counted) for ranking in rankings
    )
    return _MeasuredTier(tier.tier, judged, int(is_counted.sum()))


def _values(part: _MeasuredTier, measures: Sequence[Measure]) -> NDArray[np.float64]:
    """The score of each HS, system and measure, shape `(n, n_systems, n_measures)`."""
    return np.stack([np.stack([measure(judged) for measure in measures], axis=1) for judged in part.judged], axis=1)


def score_each_hs(
    tier: TierLabels, rankings: Sequence[Ranking], measure: Measure, no_positives: NoPositives
) -> NDArray[np.float64]:
    """The score of each HS of a tier by each ranking, shape `(n, n_systems)`: what the tests of `evaluate` rest on."""
    return _values(_measured_tier(tier, rankings, no_positives), [measure])[:, :, 0]


def _scores(
    part: _MeasuredTier,
    values: NDArray[np.float64],
    names: Sequence[str],
    measures: Sequence[Measure],
    options: Options,
) -> Iterator[Score]:
    low, high = _intervals(part, values, measures, options)
    for row, (name, judged) in enumerate(zip(names, part.judged, strict=True)):
        for at, measure in enumerate(measures):
            means = _means(readings(measure, judged), part.n)
            ends: dict[str, Any] = (
                {"low": float(low[row, at]), "high": float(high[row, at])} if part.n >= LEAST_HS else {}
            )
            yield Score(part.tier, name, str(measure), part.n, **means, **ends, undefined=_undefined_reason(part.n))


def _intervals(
    part: _MeasuredTier, values: NDArray[np.float64], measures: Sequence[Measure], options: Options
) -> tuple[NDArray[np.float64], ...]:
    """The lower and the upper bounds, each of shape `(n_systems, n_measures)`."""
    reach = np.array([[measure.score_range(judged) for measure in measures] for judged in part.judged])
    flat = values.reshape(len(values), values.shape[1] * values.shape[2])
    bounds = mean_intervals(flat, reach.reshape(-1, 2).T, options.resamples, options.seed)
    return tuple(bound.reshape(values.shape[1:]) for bound in bounds)


def _undefined_reason(n: int) -> str | None:
    """Why a mean over so many HS, or its interval, is undefined."""
    if not n:
        return NO_HS
    if n == 1:
        return f"1 HS gives no interval; it takes {LEAST_HS} or more"
    return f"{n} HS give no interval; it takes {LEAST_HS} or more" if n < LEAST_HS else None


def _means(reading: Readings, n: int) -> dict[str, Any]:
    """The mean of each reading over the HS; None where there are none."""
    defined = {name: values for name, values in vars(reading).items() if values is not None}
    return {name: float(values.mean()) if n else None for name, values in defined.items()}


def _expected_scores(
    part: _MeasuredTier, systems: Sequence[System], names: Sequence[str], measures: Sequence[Measure]
) -> Iterator[Score]:
    """The exact expectation of a random order, once for each system that ranks so."""
    for system, name, pool in zip(systems, names, part.judged, strict=True):
        for measure in measures if isinstance(system, Random) else ():
            means = _means(_expected_readings(measure, pool), part.n)
            undefined = None if part.n else NO_HS
            yield Score(part.tier, name, str(measure), part.n, **means, expected=True, undefined=undefined)


def _scores_without_draws(
    part: _MeasuredTier, values: NDArray[np.float64], systems: Sequence[System], measures: Sequence[Measure]
) -> NDArray[np.float64]:
    """The scores that systems are ranked by, `(n, n_systems, n_measures)`: of a random order its expectation.

    Tests take the draw: signs may be turned where both of two scores could have been the other's, and an expectation
    could not. A measure that nearly every order makes 1 is above its expectation in nearly every HS.
    """
    expected_values = values.copy()
    for at, (system, pool) in enumerate(zip(systems, part.judged, strict=True)):
        if isinstance(system, Random):
            expected_values[:, at] = np.stack([expected_value(measure, pool) for measure in measures], axis=1)
    return expected_values


def _expected_readings(measure: Measure, pool: Judged) -> Readings:
    score = expected_value(measure, pool)
    if not measure.bounded:
        return Readings(score)
    return Readings(score, expected_value(measure, drop_unjudged(pool)), expected_value(measure, assume_relevant(pool)))


def _comparisons(
    part: _MeasuredTier, values: NDArray[np.float64], names: Sequence[str], measure: str, options: Options
) -> Iterator[Comparison]:
    """The tests of every two systems on one tier and measure; `values` has the shape `(n, n_systems)`."""
    pairs = list(combinations(range(len(names)), 2))
    if not pairs or not part.n:
        return
    firsts, seconds = zip(*pairs, strict=True)
    differences = values[:, list(firsts)] - values[:, list(seconds)]
    p = randomisation(differences, options.resamples, options.seed)
    for (a, b), mean, single, corrected in zip(pairs, differences.mean(axis=0), p, holm(p), strict=True):
        figures = (float(mean), float(single), float(corrected))
        yield Comparison(part.tier, measure, names[a], names[b], part.n, *figures)


def _concordances(
    parts: Sequence[_MeasuredTier],
    values: Sequence[NDArray[np.float64]],
    measures: Sequence[Measure],
    compared: Sequence[int],
) -> Iterator[Concordance]:
    for at in compared:
        for tier_a, tier_b in combinations(range(len(parts)), 2):
            if parts[tier_a].n and parts[tier_b].n:
                tau, why = kendall(*(values[tier][:, :, at].mean(axis=0) for tier in (tier_a, tier_b)))
            else:
                tau, why = None, NO_HS
            n_systems = values[tier_a].shape[1]
            yield Concordance(str(measures[at]), parts[tier_a].tier, parts[tier_b].tier, n_systems, tau, why)
