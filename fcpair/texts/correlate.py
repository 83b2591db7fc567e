"""Correlation of a measure of texts with their ratings: Pearson's and Spearman's, for new texts and raters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fcpair.params import RESAMPLES
from fcpair.records import Figure
from fcpair.stages.drawing import own_order
from fcpair.stages.stats.intervals import block_sizes, check_resamples, with_note
from fcpair.stages.stats.percentile_bootstrap import describe_sample, with_percentiles
from fcpair.stages.stats.rating_counts import ratio
from fcpair.texts.rating_table import RatedTexts
from fcpair.texts.selection_check import SelectionCheck, check_selection

Floats = npt.NDArray[np.float64]

LEAST_TEXTS = 3
FEW_RATERS = 4
DECIMALS = 9  # to which mean ratings, of 0 to 1, have the same rank
NO_VARIANCE = 1e-12


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

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values, ready for JSON."""
        return asdict(self)


def correlate(
    texts: RatedTexts,
    population: Mapping[str | None, Floats] | None = None,
    draws: int = RESAMPLES,
    seed: int = 0,
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
    return tuple(_correlate_group(of, texts, population or {}, draws, seed) for of in groups)


def _correlate_group(
    of: str | None, texts: RatedTexts, population: Mapping[str | None, Floats], draws: int, seed: int
) -> CorrelationFigures:
    selected = texts if of is None else texts.select(np.array(texts.kind) == of)
    rated = selected.rated_texts
    order = own_order(rated.measure, *np.nan_to_num(rated.ratings, nan=-np.inf).T)
    rated = replace(rated, measure=rated.measure[order], ratings=rated.ratings[order])
    more = selected.measure if len(selected.measure) > len(rated.measure) else None
    return CorrelationFigures(
        of=of,
        n=len(rated.measure),
        n_raters=len(rated.raters),
        n_ratings=int((~np.isnan(rated.ratings)).sum()),
        figures=_compute_figures(rated, draws, seed),
        picked=check_selection(rated.measure, population.get(of, more)),
    )


def _compute_figures(rated: RatedTexts, draws: int, seed: int) -> tuple[Figure, ...]:
    n = len(rated.measure)
    why = _undefined_reason(rated)
    if why:
        return tuple(Figure(name, None, n, undefined=why) for name in COEFFICIENTS)
    x, ratings, counts_once = _rescale(rated.measure), _rescale(rated.ratings), np.ones((1, n))
    mean, _ = _mean_ratings(ratings, np.ones((1, len(rated.raters))))
    drawn = list(_draw_means(ratings, draws, seed))
    figures = []
    for name, coefficient in COEFFICIENTS.items():
        figure = Figure(name, float(coefficient(x, mean, counts_once)[0]), n)
        figure = with_percentiles(
            figure, np.concatenate([coefficient(x, *one) for one in drawn]), _describe_basis(rated)
        )
        if figure.low is not None:
            figure = with_note(figure, _interval_scope(rated))
        if figure.low is not None and 1 < len(rated.raters) < FEW_RATERS:
            figure = with_note(figure, f"only {len(rated.raters)} raters: they say little about how raters differ")
        figures.append(figure)
    return tuple(figures)


def _describe_basis(rated: RatedTexts) -> str:
    n_raters = len(rated.raters)
    who = f"{n_raters:,} raters" if n_raters > 1 else "the same rater"
    return f"{who} and {describe_sample(len(rated.measure), 'text')}"


def _interval_scope(rated: RatedTexts) -> str:
    """Whose ratings an interval is about: the mean of few raters correlates less than that of all there could be."""
    n_raters = len(rated.raters)
    if n_raters < 2:
        return "it is for the ratings of this rater only"
    many = "as many raters a text" if np.isnan(rated.ratings).any() else f"{n_raters:,} raters"
    return f"it is for the mean of {many}, not of all possible raters, whose mean correlates more"


def _undefined_reason(rated: RatedTexts) -> str | None:
    n = len(rated.measure)
    if n < LEAST_TEXTS:
        return f"it needs at least {LEAST_TEXTS} texts with a measure and a rating, found {n}"
    mean, _ = _mean_ratings(rated.ratings, np.ones((1, len(rated.raters))))
    same = [name for name, of in (("measure", rated.measure), ("mean rating", mean)) if np.ptp(of) == 0]
    return f"the {same[0]} is the same on all texts" if same else None


def _rescale(values: Floats) -> Floats:
    """The same from 0 to 1, so that no sum of squares loses its digits."""
    low, high = np.nanmin(values), np.nanmax(values)
    standard: Floats = (values - low) / (high - low)
    return standard


def _mean_ratings(ratings: Floats, times: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """The mean rating of each text where each rater counts so many times, (n_draws, n_raters); and whether it has one.

    Both have shape (n_draws, n_texts); a text without a rating has 0.
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
        raters = _draw_counts(rng, n, n_raters) if n_raters > 1 else np.ones((n, 1))
        mean, is_rated = _mean_ratings(ratings, raters)
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
    correlation = np.divide(xy, np.sqrt(xx * yy), out=np.full(xy.shape, np.nan), where=varies)
    return np.asarray(np.clip(correlation, -1, 1))


def spearman(x: Floats, y: Floats, times: Floats) -> Floats:
    """Spearman's correlation: Pearson's of the ranks, ties at their middle; shapes and range as there.

    Source: Spearman (1904), DOI 10.2307/1412159.
    """
    return pearson(
        _middle_ranks(np.broadcast_to(x, times.shape), times), _middle_ranks(y.round(DECIMALS), times), times
    )


def _middle_ranks(values: Floats, times: Floats) -> Floats:
    """The middle rank of each value, 0 to 1, where each counts so many times; shape (n_draws, n_texts)."""
    order = np.argsort(values, axis=-1, kind="stable")
    ordered, n = (np.take_along_axis(one, order, axis=-1) for one in (values, times))
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
