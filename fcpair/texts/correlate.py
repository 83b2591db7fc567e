"""Correlation of a measure of texts with their ratings: Pearson's and Spearman's, for new texts and raters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Literal

import numpy as np

from fcpair.arrays import Bools, Floats
from fcpair.params import RESAMPLES
from fcpair.records import Figure
from fcpair.stages.corpus.sample import own_order
from fcpair.stages.stats.intervals import block_sizes, check_resamples, describe_sample, with_note, with_percentiles
from fcpair.stages.stats.rating_counts import ratio
from fcpair.texts.ratings import RatedTexts

LEAST_TEXTS = 3
FEW_RATERS = 4
DECIMALS = 9  # to which mean ratings, of 0 to 1, have the same rank
NO_VARIANCE = 1e-12

SIDE = 0.25  # of the texts, which must be on either side of the middle
ALPHA_POPULATION, ALPHA_GAP = 0.001, 0.01
WIDE = 0.25  # of the range, which a gap must have at least
LEAST = 8  # texts, below which no gap is looked for
DISTINCT = 3  # values on either side of a gap: fewer are classes and not numbers


@dataclass(frozen=True)
class CorrelationFigures:
    """The correlations of some texts: those whose group is `of`, or all where it is None.

    `n` texts have a measure and a rating, by `n_raters` people who gave `n_ratings`. `picked` says whether the texts
    look picked by the extremes of the measure.
    """

    of: str | None
    n: int
    n_raters: int
    n_ratings: int
    figures: tuple[Figure, ...]
    picked: SelectionCheck


def correlate(
    texts: RatedTexts, population: Mapping[str | None, Floats] | None = None, draws: int = RESAMPLES, seed: int = 0
) -> tuple[CorrelationFigures, ...]:
    """Correlate the measure of each text with the mean of its ratings: over all texts, then for each group.

    Intervals are percentiles of draws with replacement of texts and, where there are several, of raters at the same
    time; a rating counts as often as its text and its rater are drawn (the pigeonhole bootstrap: Owen 2007, DOI
    10.1214/07-AOAS122). So they are for new texts and the mean of as many new raters, and rather too wide than too
    narrow for that; the mean of all raters there could be correlates more. A correlation is undefined with fewer than
    three texts, and where the measure or the ratings do not vary.

    `population` has the measure of all texts that could have been rated, by group (None: of all). Those of `texts`
    without a rating belong to it, too. Raises InputError for a number of draws that cannot be.
    """
    check_resamples(draws)
    groups: list[str | None] = [None, *(sorted(set(texts.kind)) if any(texts.kind) else [])]
    results = []
    for of in groups:
        selected = texts if of is None else texts.select(np.array(texts.kind) == of)
        rated = selected.rated_texts
        order = own_order(rated.measure, *np.nan_to_num(rated.ratings, nan=-np.inf).T)
        rated = replace(rated, measure=rated.measure[order], ratings=rated.ratings[order])
        more = selected.measure if len(selected.measure) > len(rated.measure) else None
        results.append(
            CorrelationFigures(
                of=of,
                n=len(rated.measure),
                n_raters=len(rated.raters),
                n_ratings=int((~np.isnan(rated.ratings)).sum()),
                figures=_compute_figures(rated, draws, seed),
                picked=check_selection(rated.measure, (population or {}).get(of, more)),
            )
        )
    return tuple(results)


def _compute_figures(rated: RatedTexts, draws: int, seed: int) -> tuple[Figure, ...]:
    n = len(rated.measure)
    n_raters = len(rated.raters)
    why = f"it needs at least {LEAST_TEXTS} texts with a measure and a rating, found {n}" if n < LEAST_TEXTS else ""
    if not why:
        mean, _ = _mean_ratings(rated.ratings, np.ones((1, n_raters)))
        same = [name for name, of in (("measure", rated.measure), ("mean rating", mean)) if np.ptp(of) == 0]
        why = f"the {same[0]} is the same on all texts" if same else ""
    if why:
        return tuple(Figure(name, None, n, undefined=why) for name in COEFFICIENTS)
    x, ratings, counts_once = _rescale(rated.measure), _rescale(rated.ratings), np.ones((1, n))
    mean, _ = _mean_ratings(ratings, np.ones((1, n_raters)))
    basis = f"{f'{n_raters:,} raters' if n_raters > 1 else 'the same rater'} and {describe_sample(n, 'text')}"
    # Whose ratings an interval is about: the mean of few raters correlates less than that of all there could be.
    many = "as many raters a text" if np.isnan(rated.ratings).any() else f"{n_raters:,} raters"
    scope = f"it is for the mean of {many}, not of all possible raters, whose mean correlates more"
    scope = scope if n_raters > 1 else "it is for the ratings of this rater only"
    drawn = list(_draw_means(ratings, draws, seed))
    figures = []
    for name, coefficient in COEFFICIENTS.items():
        figure = Figure(name, float(coefficient(x, mean, counts_once)[0]), n)
        figure = with_percentiles(figure, np.concatenate([coefficient(x, *draw) for draw in drawn]), basis)
        if figure.low is not None:
            figure = with_note(figure, scope)
        if figure.low is not None and 1 < n_raters < FEW_RATERS:
            figure = with_note(figure, f"only {n_raters} raters: they say little about how raters differ")
        figures.append(figure)
    return tuple(figures)


def _rescale(values: Floats) -> Floats:
    """The same from 0 to 1, so that no sum of squares loses its digits."""
    low, high = np.nanmin(values), np.nanmax(values)
    return np.asarray((values - low) / (high - low))


def _mean_ratings(ratings: Floats, times: Floats) -> tuple[Floats, Bools]:
    """The mean rating of each text where each rater counts so many times, (n_draws, n_raters), 0 without a rating; and
    whether it has one: both (n_draws, n_texts).
    """
    is_rated = ~np.isnan(ratings)
    total, n = times @ np.where(is_rated, ratings, 0.0).T, times @ is_rated.T.astype(np.float64)
    return ratio(total, n, 0.0), n > 0


def _draw_means(ratings: Floats, draws: int, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """The mean ratings of each draw, and how many times each text counts, (n_draws, n_texts)."""
    rng = np.random.default_rng(seed)
    n_texts, n_raters = ratings.shape
    for n in block_sizes(draws, n_texts):
        texts = _draw_counts(rng, n, n_texts)
        mean, is_rated = _mean_ratings(ratings, _draw_counts(rng, n, n_raters) if n_raters > 1 else np.ones((n, 1)))
        yield mean, texts * is_rated


def _draw_counts(rng: np.random.Generator, n_draws: int, n: int) -> Floats:
    """Draw `n` of `n` with replacement and count how often each is drawn, shape (n_draws, n)."""
    index = rng.integers(0, n, (n_draws, n)) + n * np.arange(n_draws)[:, None]
    return np.bincount(index.ravel(), minlength=n_draws * n).reshape(n_draws, n).astype(np.float64)


def pearson(x: Floats, y: Floats, times: Floats) -> Floats:
    """Pearson's correlation where each text counts so many times: shapes (..., n_texts) to (...), -1 to 1.

    NaN where one of the two does not vary. Source: Pearson (1895), DOI 10.1098/rspl.1895.0041.
    """
    n = np.maximum(times.sum(axis=-1, keepdims=True), 1)
    x, y = (side - (side * times).sum(axis=-1, keepdims=True) / n for side in (x, y))
    xx, yy, xy = ((times * one * other).sum(axis=-1) / n[..., 0] for one, other in ((x, x), (y, y), (x, y)))
    varies = (xx > NO_VARIANCE) & (yy > NO_VARIANCE)
    return np.asarray(np.clip(np.divide(xy, np.sqrt(xx * yy), out=np.full(xy.shape, np.nan), where=varies), -1, 1))


def spearman(x: Floats, y: Floats, times: Floats) -> Floats:
    """Spearman's (1904, DOI 10.2307/1412159): Pearson's of the ranks, ties at their middle; shapes as there."""
    x_ranks, y_ranks = (_middle_ranks(of, times) for of in (np.broadcast_to(x, times.shape), y.round(DECIMALS)))
    return pearson(x_ranks, y_ranks, times)


def _middle_ranks(values: Floats, times: Floats) -> Floats:
    """The middle rank of each value, 0 to 1, where each counts so many times; shape (n_draws, n_texts)."""
    order = np.argsort(values, axis=-1, kind="stable")
    ordered, n = (np.take_along_axis(column, order, axis=-1) for column in (values, times))
    until = np.cumsum(n, axis=-1)
    begins = np.ones(ordered.shape, dtype=np.bool_)
    begins[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    ends = np.roll(begins, -1, axis=-1)
    before = np.maximum.accumulate(np.where(begins, until - n, 0.0), axis=-1)
    after = np.minimum.accumulate(np.where(ends, until, np.inf)[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty_like(until)
    np.put_along_axis(ranks, order, (before + after + 1) / 2 / np.maximum(until[..., -1:], 1), axis=-1)
    return ranks


COEFFICIENTS: dict[str, Callable[[Floats, Floats, Floats], Floats]] = {
    "Pearson's correlation": pearson,
    "Spearman's correlation": spearman,
}


@dataclass(frozen=True)
class SelectionCheck:
    """Result of a test on `n` texts: `value` beyond `limit` gives the `warning`.

    By the `population`, `value` is the probability that so few of the texts are in its middle half, and must not be
    below the limit; by the `gap`, the share of the range of the measure that is empty, and must not be above it.
    `test` is None where nothing could be tested.
    """

    test: Literal["population", "gap"] | None
    n: int
    value: float | None = None
    limit: float | None = None
    warning: str | None = None


def check_selection(measure: Floats, population: Floats | None = None) -> SelectionCheck:
    """Return whether texts with this measure, shape (n_texts,), look picked by its extremes.

    With a `population` (n,), from which they were taken: of texts that are taken at random as many as binomially
    distributed are in its middle half (first to third quartile). The warning is given where so few have a probability
    below 0.001, and a quarter of the texts is on either side.

    Without one: it is given where the widest gap between neighbouring values, with a quarter of the texts on either
    side, takes more of the range than 1 - (0.01 / k)^(1 / (n - 2)), k the number of gaps that could, and more than a
    quarter. That much is exceeded with a probability of at most 0.01 where the measure is uniform: each of the n - 1
    spacings of n - 2 points is longer than g with probability (1 - g)^(n - 2) (Pyke 1965,
    DOI 10.1111/j.2517-6161.1965.tb00602.x), and the k are added up.
    """
    n, warning = len(measure), None
    if population is not None and len(population):
        from scipy.special import bdtr

        first, third = np.quantile(population, [0.25, 0.75])
        share = float(((population >= first) & (population <= third)).mean())
        below, above = int((measure < first).sum()), int((measure > third).sum())
        n_middle = n - below - above
        p = float(bdtr(n_middle, n, share))
        if p < ALPHA_POPULATION and min(below, above) >= SIDE * n:
            warning = (
                f"the texts look picked by the extremes of the measure: {n_middle} of {n} are in the middle half of "
                f"its population ({len(population):,} texts), which chance would leave so empty with p = {p:.1g}"
            )
        return SelectionCheck("population", n, p, ALPHA_POPULATION, warning)
    side = ceil(SIDE * n)
    ordered = np.sort(measure)
    if n < LEAST or ordered[0] == ordered[-1]:
        return SelectionCheck(None, n)
    gaps = np.diff(ordered)[side - 1 : n - side] / (ordered[-1] - ordered[0])
    at = int(gaps.argmax())
    if min(len(np.unique(part)) for part in np.split(ordered, [side + at])) < DISTINCT:
        return SelectionCheck(None, n)
    value, limit = float(gaps[at]), max(WIDE, 1 - (ALPHA_GAP / len(gaps)) ** (1 / (n - 2)))
    if value > limit:
        low, high = ordered[side + at - 1], ordered[side + at]
        warning = (
            f"the texts look picked by the extremes of the measure: none is between {low:.4g} and {high:.4g}, "
            f"{100 * value:.0f} % of its range (--population FILE tests this on all texts)"
        )
    return SelectionCheck("gap", n, value, limit, warning)
