"""From rankings and labels to an Outcome: scores with bounds and intervals, tests, and the spread over tiers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fcpair.arrays import Bools, Floats, Ints
from fcpair.evaluate.judged_rankings import (
    NEGATIVE,
    POSITIVE,
    UNJUDGED,
    Grades,
    Judged,
    assume_relevant,
    drop_unjudged,
    highest_ndcg,
    label_ranking,
    lowest_ndcg,
    select_hs,
)
from fcpair.evaluate.measures import AVERAGED, JudgedAt, Measure
from fcpair.evaluate.outcome import (
    AVERAGE,
    NO_HS,
    Comparison,
    Concordance,
    Outcome,
    Score,
    Spread,
    SystemFacts,
    TierFacts,
    undefined_reason,
)
from fcpair.evaluate.systems import Random, Ranking, System
from fcpair.params import Evaluate, NoPositives
from fcpair.stages.stats.intervals import LEAST_HS, METHOD, mean_intervals
from fcpair.stages.stats.paired_tests import holm, kendall, randomisation


@dataclass(frozen=True)
class TierLabels:
    """The labels of a tier on the pool: POSITIVE, NEGATIVE or UNJUDGED, `(n_hs, n_cn)`; which HS the tier has, `there`,
    `(n_hs,)`; and how many of its pairs have a CN that is not in the pool (`outside`).
    """

    tier: str
    rule: str
    labels: NDArray[np.int8]
    there: Bools
    outside: int = 0
    grades: Grades | None = None


def evaluate(
    systems: Sequence[System],
    rankings: Sequence[Ranking],
    tiers: Sequence[TierLabels],
    measures: Sequence[Measure],
    options: Evaluate,
    pool: str,
) -> Outcome:
    """Measure each system's ranking, one for each over the same HS and `pool`, on each tier, the best first."""
    names = short_names(systems)
    ranked = zip(systems, names, rankings, strict=True)
    compared = [at for at, measure in enumerate(measures) if not isinstance(measure, JudgedAt)]
    scores: list[Score] = []
    comparisons: list[Comparison] = []
    concordances: list[Concordance] = []
    baselines: list[tuple[str, int, Floats]] = []
    facts: list[TierFacts] = []
    for tier in tiers:
        labels = tier.labels[tier.there]
        n_judged, n_positive = int((labels > UNJUDGED).sum()), int((labels == POSITIVE).sum())
        n_without = int((labels != POSITIVE).all(axis=1).sum())
        sizes = (*labels.shape, labels.size, n_judged, n_positive, tier.outside, n_without)
        facts.append(TierFacts(tier.tier, tier.rule, *sizes))
        judged, rows = _judge(tier, rankings, options.no_positives)
        n = len(rows)
        values = _values(judged, measures)
        scores += _scores(tier.tier, judged, values, names, measures, options)
        # Systems are ranked by these: a random order by its expectation. Tests take the draw: signs may be turned where
        # both of two scores could have been the other's, and an expectation could not. A measure that nearly every
        # order makes 1 is above its expectation in nearly every HS.
        baseline = values.copy()
        for row, (system, name) in enumerate(zip(systems, names, strict=True)):
            for at, measure in enumerate(measures) if isinstance(system, Random) else ():
                expected = Readings(measure.expected(judged[row]))
                if measure.bounded:
                    left_out, right = (measure.expected(read(judged[row])) for read in (drop_unjudged, assume_relevant))
                    expected = Readings(expected.score, left_out, right)
                baseline[:, row, at] = expected.score
                figures = {**_means(expected, n), "expected": True, "undefined": None if n else NO_HS}
                scores.append(Score(tier.tier, name, str(measure), n, **figures))
        baselines.append((tier.tier, n, baseline))
        for at in compared:
            comparisons += _comparisons(tier.tier, values[:, :, at], names, str(measures[at]), options)
    for at in compared:
        for (tier_a, n_a, a), (tier_b, n_b, b) in combinations(baselines, 2):
            means = (of_tier[:, :, at].mean(axis=0) for of_tier in (a, b))
            tau, why = kendall(*means) if n_a and n_b else (None, NO_HS)
            concordances.append(Concordance(str(measures[at]), tier_a, tier_b, len(systems), tau, why))
    return Outcome(
        pool=pool,
        no_positives=options.no_positives,
        resamples=options.resamples,
        seed=options.seed,
        measures=tuple(str(measure) for measure in measures),
        tiers=tuple(facts),
        systems=tuple(SystemFacts(str(system), name, of.notes, of.model) for system, name, of in ranked),
        scores=tuple(scores),
        spreads=tuple(tier_spreads(scores, [measures[at] for at in compared])),
        comparisons=tuple(comparisons),
        concordances=tuple(concordances),
        interval=METHOD,
    )


def short_names(systems: Sequence[System]) -> list[str]:
    """The short names of systems; the full one of those whose short name is not theirs alone."""
    short = [system.short_name for system in systems]
    return [name if short.count(name) == 1 else str(system) for name, system in zip(short, systems, strict=True)]


def _judge(tier: TierLabels, rankings: Sequence[Ranking], no_positives: NoPositives) -> tuple[list[Judged], Ints]:
    """Each system's ranking beside the labels of the tier, for the HS that count, and which these are."""
    is_counted = tier.there
    if no_positives == "leave_out":
        is_counted = is_counted & (tier.labels == POSITIVE).any(axis=1)
    labelled = (label_ranking(ranking.order, tier.labels, tier.grades) for ranking in rankings)
    return [select_hs(of_system, is_counted) for of_system in labelled], np.flatnonzero(is_counted)


def _values(judged: Sequence[Judged], measures: Sequence[Measure]) -> Floats:
    """The score of each HS, system and measure, shape `(n, n_systems, n_measures)`."""
    return np.stack([np.stack([measure(of_system) for measure in measures], axis=1) for of_system in judged], axis=1)


def score_each_hs(tier: TierLabels, rankings: Sequence[Ranking], measure: Measure, no_positives: NoPositives) -> Floats:
    """The score of each HS of a tier by each ranking, shape `(n, n_systems)`: what the tests of `evaluate` rest on."""
    return _values(_judge(tier, rankings, no_positives)[0], [measure])[:, :, 0]


def _scores(
    tier: str,
    judged: Sequence[Judged],
    values: Floats,
    names: Sequence[str],
    measures: Sequence[Measure],
    options: Evaluate,
) -> Iterator[Score]:
    n, reach = len(values), np.array([[measure.score_range(of) for measure in measures] for of in judged])
    flat = values.reshape(n, values.shape[1] * values.shape[2])
    bounds = mean_intervals(flat, reach.reshape(-1, 2).T, options.resamples, options.seed)
    low, high = tuple(bound.reshape(values.shape[1:]) for bound in bounds)
    for row, (name, of_system) in enumerate(zip(names, judged, strict=True)):
        for at, measure in enumerate(measures):
            means = _means(readings(measure, of_system), n)
            if n >= LEAST_HS:
                means |= {"low": float(low[row, at]), "high": float(high[row, at])}
            yield Score(tier, name, str(measure), n, **means, undefined=undefined_reason(n))


def _means(reading: Readings, n: int) -> dict[str, Any]:
    """The mean of each reading over the HS; None if there are none."""
    defined = {name: values for name, values in vars(reading).items() if values is not None}
    return {name: float(values.mean()) if n else None for name, values in defined.items()}


def _comparisons(
    tier: str, values: Floats, names: Sequence[str], measure: str, options: Evaluate
) -> Iterator[Comparison]:
    """The tests of every two systems on one tier and measure; `values` has the shape `(n, n_systems)`."""
    if not (pairs := list(combinations(range(len(names)), 2))) or not len(values):
        return
    firsts, seconds = zip(*pairs, strict=True)
    differences = values[:, list(firsts)] - values[:, list(seconds)]
    p = randomisation(differences, options.resamples, options.seed)
    for (a, b), *figures in zip(pairs, differences.mean(axis=0), p, holm(p), strict=True):
        yield Comparison(tier, measure, names[a], names[b], len(values), *map(float, figures))


ZERO_MEAN = "the mean is 0, so there is no coefficient of variation"


def tier_spreads(scores: Sequence[Score], measures: Sequence[Measure]) -> Iterator[Spread]:
    """The spread of each system and measure over the tiers, from all their scores; none for fewer than two tiers. Where
    HitRatio, MRR, NDCG and MAP are all among the measures at one cut, a last row averages over these four.
    """
    four = [measure for measure in measures if measure.word in AVERAGED and measure.short_name == measure.word]
    have_one_cut = len(four) == len(AVERAGED) and len({measure.depth for measure in four}) == 1
    averaged = [str(measure) for measure in four] if have_one_cut else []
    for system, expected in dict.fromkeys((score.system, score.expected) for score in scores):
        system_scores = [score for score in scores if (score.system, score.expected) == (system, expected)]
        rows = [
            _spread_over_tiers([score for score in system_scores if score.measure == str(measure)])
            for measure in measures
        ]
        if not rows or rows[0].n_tiers < 2:
            return
        yield from rows
        if averaged:
            used = [row for row in rows if row.measure in averaged]
            decimals = {"mean": 4, "minimum": 4, "maximum": 4, "cv": 3}
            means: dict[str, Any] = {of: _mean([getattr(row, of) for row in used], n) for of, n in decimals.items()}
            undefined = next((row.undefined for row in used if row.undefined), None)
            yield replace(used[0], measure=AVERAGE, **means, undefined=undefined)


def _spread_over_tiers(scores: Sequence[Score]) -> Spread:
    head, expected = (scores[0].system, scores[0].measure, len(scores)), scores[0].expected
    if undefined := [score.undefined for score in scores if score.score is None]:
        return Spread(*head, None, None, None, None, expected, undefined[0])
    values = np.array([score.score for score in scores], np.float64)
    mean, minimum, maximum = (round(float(value), 4) for value in (values.mean(), values.min(), values.max()))
    cv = round(100 * float(values.std()) / float(values.mean()), 1) if values.mean() else None
    return Spread(*head, mean, minimum, maximum, cv, expected, ZERO_MEAN if cv is None else None)


def _mean(column: Sequence[float | None], decimals: int) -> float | None:
    """The mean of rounded figures, rounded in decimal arithmetic, a half to the even digit: 0.17665 is 0.1766."""
    known = [Decimal(str(value)) for value in column if value is not None]
    return float(round(sum(known, Decimal()) / len(known), decimals)) if len(known) == len(column) else None


@dataclass(frozen=True)
class Readings:
    """A measure's values, each of shape `(n_hs,)`; all but `score` are None for a measure that is not `bounded`.

    `score`: every unjudged pair counts as not appropriate (the usual figure). `left_out`: unjudged pairs are taken out
    of the ranking. `right`: every unjudged pair of the pool counts as appropriate, and has the greatest grade. `lowest`
    and `highest`: the least and the greatest value that any labels of the unjudged pairs could give: `score` and
    `right` where a measure only `rises`; others fall with a positive below the cut.
    """

    score: Floats
    left_out: Floats | None = None
    right: Floats | None = None
    lowest: Floats | None = None
    highest: Floats | None = None


def readings(measure: Measure, judged: Judged) -> Readings:
    """The measure under every reading of the unjudged pairs."""
    score = measure(judged)
    if not measure.bounded:
        return Readings(score)
    right = measure(assume_relevant(judged))
    ends = (score, right) if measure.rises else _lowest_and_highest(measure, judged)
    return Readings(score, measure(drop_unjudged(judged)), right, *ends)


def _lowest_and_highest(measure: Measure, judged: Judged) -> tuple[Floats, Floats]:
    """The least and the greatest value that labels of the unjudged pairs could give, each of shape `(n_hs,)`. A new
    positive below the cut never helps. With a given number above it a measure is greatest when they stand highest, and
    least when they stand lowest and all pairs below the cut are positive; all numbers are tried.
    """
    unjudged = judged.labels[:, : measure.depth] == UNJUDGED
    below, none = judged.n_unjudged - unjudged.sum(axis=1), np.zeros_like(judged.n_unjudged)
    if judged.graded and measure.graded:
        k = measure.depth or judged.labels.shape[1]
        return lowest_ndcg(judged.graded, unjudged, below, k), highest_ndcg(judged.graded, unjudged, k)
    nth, nth_from_below = np.cumsum(unjudged, axis=1), np.cumsum(unjudged[:, ::-1], axis=1)[:, ::-1]
    n_new = range(int(unjudged.sum(axis=1).max(initial=0)) + 1)
    lowest = [_measure_turned(measure, judged, unjudged & (nth_from_below <= n), below) for n in n_new]
    highest = [_measure_turned(measure, judged, unjudged & (nth <= n), none) for n in n_new]
    return np.min(np.stack(lowest), axis=0), np.max(np.stack(highest), axis=0)


def narrowing(
    tier: TierLabels, rankings: Sequence[Ranking], measures: Sequence[Measure], no_positives: NoPositives
) -> Floats:
    """The amount by which bounds of mean scores narrow once a pair is judged, shape `(n_hs, n_cn)`, from 0 to 1.

    It is the mean over the pair's two possible labels, all systems, and the measures that are bounded and have a cut;
    0 for a pair that is judged, or that none of them reads. Of grades, only whether they are positive counts.
    """
    gains, measured = np.zeros(tier.labels.shape), [each for each in measures if each.bounded and each.depth]
    judged, rows = _judge(tier, rankings, no_positives)
    for ranking, of_system in zip(rankings, judged, strict=True):
        plain, order = replace(of_system, graded=None), ranking.order[rows]
        for measure in measured:
            width = _width(measure, plain)
            for rank in range(min(measure.depth or 0, plain.labels.shape[1])):
                is_open = plain.labels[:, rank] == UNJUDGED
                if is_open.any():
                    of_rank = np.zeros(plain.labels.shape, np.bool_)
                    of_rank[:, rank] = is_open
                    widths = [_width(measure, _settle(plain, of_rank, label)) for label in (POSITIVE, NEGATIVE)]
                    gained = (width - np.mean(widths, axis=0))[is_open]
                    np.add.at(gains, (rows[is_open], order[is_open, rank]), gained)
    return gains / max(len(rankings) * len(measured) * len(rows), 1)


def _width(measure: Measure, judged: Judged) -> Floats:
    of = readings(measure, judged)
    return np.zeros(len(judged.labels)) if of.lowest is None or of.highest is None else of.highest - of.lowest


def _settle(judged: Judged, is_settled: Bools, label: int) -> Judged:
    """The same where the pairs at some ranks, one of each HS at most, have this label after all."""
    n, labels = is_settled.sum(axis=1), np.where(is_settled, np.int8(label), judged.labels)
    counts = judged.n_positive + n * (label == POSITIVE), judged.n_negative + n * (label == NEGATIVE)
    return Judged(labels, *counts, judged.n_unjudged - n)


def _measure_turned(measure: Measure, judged: Judged, is_turned: Bools, below: Ints) -> Floats:
    """The measure when the ranks in `is_turned`, and so many pairs below the cut, are positive after all."""
    n_new = is_turned.sum(axis=1) + below
    labels = np.where(is_turned, np.int8(POSITIVE), judged.labels[:, : measure.depth])
    counts = {"n_positive": judged.n_positive + n_new, "n_unjudged": judged.n_unjudged - n_new}
    return measure(replace(judged, labels=labels, **counts))
