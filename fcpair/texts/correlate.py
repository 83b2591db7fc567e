"""How a measure of texts goes with their ratings: Pearson's and Spearman's correlation, for new texts and raters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fcpair.params import RESAMPLES
from fcpair.records import Figure
from fcpair.stages.stats.percentile_bootstrap import basis_of, blocks, check_draws, noted, with_percentiles
from fcpair.texts.rating_table import Rated
from fcpair.texts.selection_check import Picked, picked_by_extremes

Floats = npt.NDArray[np.float64]

LEAST_TEXTS = 3
FEW_RATERS = 4
DECIMALS = 9  # to which mean ratings, of 0 to 1, have the same rank
NO_VARIANCE = 1e-12


@dataclass(frozen=True)
class Correlated:
    """The correlations of some texts: those whose group is `of`, or all where it is None.

    `n` texts have a measure and a rating, by `n_raters` people who gave `n_ratings`. `picked` says whether the texts
    look picked by the extremes of the measure.
    """

    of: str | None
    n: int
    n_raters: int
    n_ratings: int
    figures: tuple[Figure, ...]
    picked: Picked

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values, ready for JSON."""
        return asdict(self)


def correlate(
    given: Rated,
    population: Mapping[str | None, Floats] | None = None,
    draws: int = RESAMPLES,
    seed: int = 0,
) -> tuple[Correlated, ...]:
    """Correlate the measure of each text with the mean of its ratings: over all texts, then for each group.

    Intervals are percentiles of draws with replacement of texts and, where there are several, of raters at the same
    time; a rating counts as often as its text and its rater are drawn (the pigeonhole bootstrap: Owen 2007, DOI
    10.1214/07-AOAS122). So they are for new texts and the mean of as many new raters, and rather too wide than too
    narrow for that; the mean of all raters there could be correlates more. A correlation is undefined with fewer than
    three texts, and where the measure or the ratings do not vary.

    `population` has the measure of all texts that could have been rated, by group (None: of all). Texts of `given`
    without a rating belong to it, too. Raises InputError for a number of draws that cannot be.
    """
    check_draws(draws)
    groups: list[str | None] = [None, *(sorted(set(given.kind)) if any(given.kind) else [])]
    return tuple(_correlated(of, given, population or {}, draws, seed) for of in groups)


def _correlated(
    of: str | None, given: Rated, population: Mapping[str | None, Floats], draws: int, seed: int
) -> Correlated:
    every = given if of is None else given.only(np.array(given.kind) == of)
    rated = every.rated
    more = every.measure if len(every.measure) > len(rated.measure) else None
    return Correlated(
        of=of,
        n=len(rated.measure),
        n_raters=len(rated.raters),
        n_ratings=int((~np.isnan(rated.ratings)).sum()),
        figures=_figures(rated, draws, seed),
        picked=picked_by_extremes(rated.measure, population.get(of, more)),
    )


def _figures(rated: Rated, draws: int, seed: int) -> tuple[Figure, ...]:
    n = len(rated.measure)
    why = _undefined(rated)
    if why:
        return tuple(Figure(name, None, n, undefined=why) for name in KINDS)
    x, ratings, once = _standard(rated.measure), _standard(rated.ratings), np.ones((1, n))
    mean, _ = _means(ratings, np.ones((1, len(rated.raters))))
    drawn = list(_drawn(ratings, draws, seed))
    found = []
    for name, of in KINDS.items():
        figure = Figure(name, float(of(x, mean, once)[0]), n)
        figure = with_percentiles(figure, np.concatenate([of(x, *one) for one in drawn]), _basis(rated))
        if figure.low is not None:
            figure = noted(figure, _speaks_for(rated))
        if figure.low is not None and 1 < len(rated.raters) < FEW_RATERS:
            figure = noted(figure, f"only {len(rated.raters)} raters: they say little about how raters differ")
        found.append(figure)
    return tuple(found)


def _basis(rated: Rated) -> str:
    n_raters = len(rated.raters)
    who = f"{n_raters:,} raters" if n_raters > 1 else "the same rater"
    return f"{who} and {basis_of(len(rated.measure), 'text')}"


def _speaks_for(rated: Rated) -> str:
    """Whose ratings an interval is about: the mean of few raters correlates less than that of all there could be."""
    n_raters = len(rated.raters)
    if n_raters < 2:
        return "it is for the ratings of this rater, and of no other"
    many = "as many raters a text" if np.isnan(rated.ratings).any() else f"{n_raters:,} raters"
    return f"it is for the mean of {many}, not of all raters there could be, whose mean correlates more"


def _undefined(rated: Rated) -> str | None:
    n = len(rated.measure)
    if n < LEAST_TEXTS:
        return f"it takes at least {LEAST_TEXTS} texts with a measure and a rating, found {n}"
    mean, _ = _means(rated.ratings, np.ones((1, len(rated.raters))))
    same = [name for name, of in (("measure", rated.measure), ("mean rating", mean)) if np.ptp(of) == 0]
    return f"the {same[0]} is the same on all texts" if same else None


def _standard(values: Floats) -> Floats:
    """The same from 0 to 1, so that no sum of squares loses its digits."""
    low, high = np.nanmin(values), np.nanmax(values)
    standard: Floats = (values - low) / (high - low)
    return standard


def _means(ratings: Floats, times: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """The mean rating of each text where each rater counts so many times, (n_draws, n_raters); and whether it has one.

    Both have shape (n_draws, n_texts); a text without a rating has 0.
    """
    there = ~np.isnan(ratings)
    total, n = times @ np.where(there, ratings, 0.0).T, times @ there.T.astype(np.float64)
    mean = np.divide(total, n, out=np.zeros_like(total), where=n > 0)
    return mean, n > 0


def _drawn(ratings: Floats, draws: int, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """The mean ratings of each draw, and how many times each text counts, (n_draws, n_texts)."""
    rng = np.random.default_rng(seed)
    n_texts, n_raters = ratings.shape
    for n in blocks(draws, n_texts):
        texts = _times(rng, n, n_texts)
        raters = _times(rng, n, n_raters) if n_raters > 1 else np.ones((n, 1))
        mean, is_rated = _means(ratings, raters)
        yield mean, texts * is_rated


def _times(rng: np.random.Generator, n_draws: int, n: int) -> Floats:
    """How often each of `n` is drawn in `n` drawn with replacement, shape (n_draws, n)."""
    which = rng.integers(0, n, (n_draws, n)) + n * np.arange(n_draws)[:, None]
    return np.bincount(which.ravel(), minlength=n_draws * n).reshape(n_draws, n).astype(np.float64)


def pearson(x: Floats, y: Floats, times: Floats) -> Floats:
    """Pearson's correlation where each text counts so many times: shapes (..., n_texts) to (...), -1 to 1.

    NaN where one of the two does not vary. Source: Pearson (1895), DOI 10.1098/rspl.1895.0041.
    """
    n = np.maximum(times.sum(axis=-1, keepdims=True), 1)
    x, y = (side - (side * times).sum(axis=-1, keepdims=True) / n for side in (x, y))
    xx, yy, xy = ((times * one * other).sum(axis=-1) / n[..., 0] for one, other in ((x, x), (y, y), (x, y)))
    varies = (xx > NO_VARIANCE) & (yy > NO_VARIANCE)
    found = np.divide(xy, np.sqrt(xx * yy), out=np.full(xy.shape, np.nan), where=varies)
    return np.asarray(np.clip(found, -1, 1))


def spearman(x: Floats, y: Floats, times: Floats) -> Floats:
    """Spearman's correlation: Pearson's of the ranks, ties at their middle; shapes and range as there.

    Source: Spearman (1904), DOI 10.2307/1412159.
    """
    return pearson(_ranks(np.broadcast_to(x, times.shape), times), _ranks(y.round(DECIMALS), times), times)


def _ranks(values: Floats, times: Floats) -> Floats:
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


KINDS: dict[str, Callable[[Floats, Floats, Floats], Floats]] = {
    "Pearson's correlation": pearson,
    "Spearman's correlation": spearman,
}
