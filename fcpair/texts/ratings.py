"""Ratings in tables: the means of raters by source and criterion, as ParsCN has them; and their correlation with a
measure of the texts, Pearson's and Spearman's, for new texts and raters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Literal

import numpy as np

from fcpair.arrays import Bools, Floats
from fcpair.errors import Finding, InputError, reject
from fcpair.files.tables.tabular import LINE, lines_of, place_of, read_cells, read_table, require_columns
from fcpair.lazy import pd, scipy
from fcpair.params import RESAMPLES
from fcpair.records import Figure
from fcpair.stages.corpus.sample import own_order
from fcpair.stages.stats import intervals
from fcpair.stages.stats.rating_counts import ratio
from fcpair.values import with_point

KEYS = ("source", "criterion", "rater", "text")


def read_numbers(table: pd.DataFrame, place: str, column: str, findings: list[Finding]) -> Floats:
    """The numbers of a column (`with_point`), shape (n_rows,), NaN where a cell is empty; what is no finite number is
    found.
    """

    def read(cell: str) -> float:
        try:
            value = float(with_point(cell) or "nan")
        except ValueError:
            value = math.inf
        if math.isinf(value) or (math.isnan(value) and cell.strip()):
            raise InputError(f"`{column}` is `{cell}`; expected a number, or nothing")
        return value

    return np.array(read_cells(table[column], lines_of(table), place, read, findings, math.nan), dtype=np.float64)


@dataclass(frozen=True)
class SourceRatings:
    """Ratings of a source on a criterion: a figure for each rater, whose `n` counts texts, and the `mean` of their
    means, whose `n` are the texts that at least one of them rated.
    """

    source: str
    criterion: str
    raters: tuple[Figure, ...]
    mean: Figure


def read_ratings(
    table: pd.DataFrame,
    place: str,
    ratings: Sequence[str],
    *,
    source: str | None,
    rater: str,
    text: str | None = None,
    criterion: str | None = None,
) -> pd.DataFrame:
    """Ratings of a table of strings, one in each row: `source`, `criterion`, `rater`, `text` and `rating`.

    Each of the columns `ratings` is a criterion by its name, or all are about what the column `criterion` says. Without
    `source` all are of one, without `text` each row is about a text of its own. Empty ratings are left out. Raises
    InputError for a missing column; a cell that is no number; a text rated twice by a rater on a criterion; no rating.
    """
    require_columns(
        place, table.columns, [*ratings, *(column for column in (source, rater, text, criterion) if column)]
    )
    if criterion and len(ratings) > 1:
        raise InputError("with a column of criteria there is one column of ratings; name one, or no column of criteria")
    findings: list[Finding] = []
    parts = [
        pd.DataFrame(
            {
                "source": table[source] if source else "",
                "criterion": table[criterion] if criterion else name,
                "rater": table[rater],
                "text": table[text] if text else range(len(table)),
                "rating": read_numbers(table, place, name, findings),
                LINE: lines_of(table),
            },
            index=table.index,
        )
        for name in ratings
    ]
    long_table = pd.concat(parts, ignore_index=True).dropna(subset="rating")
    repeated = long_table[long_table.duplicated(list(KEYS))]
    for line, who in zip(repeated[LINE], repeated["rater"], strict=True):
        findings.append(Finding(place, line, f"{who} rates a text twice on the same criterion"))
    reject(place, findings)
    if long_table.empty:
        raise InputError(f"{place}: there is no rating in {', '.join(ratings)}")
    return long_table.drop(columns=LINE).reset_index(drop=True)


def average_ratings(table: pd.DataFrame, draws: int = RESAMPLES, seed: int = 0) -> tuple[SourceRatings, ...]:
    """The means of each source on each criterion, by rater and over raters, in alphabetical order.

    `table` has the columns of `read_ratings`. Intervals are percentiles over texts drawn with replacement, so they are
    for new texts of the same source, rated by the same people. Raises InputError for a number of draws that cannot be.
    """
    intervals.check_resamples(draws)
    averages = []
    for (source, criterion), part in table.groupby(["source", "criterion"], sort=True):
        grid = part.pivot(index="text", columns="rater", values="rating").sort_index(axis=1)
        ratings = grid.to_numpy(np.float64)  # NaN if there is none; every rater has at least one
        averages.append(_average_source(str(source), str(criterion), [*map(str, grid.columns)], ratings, draws, seed))
    return tuple(averages)


def _average_source(
    source: str, criterion: str, raters: Sequence[str], ratings: Floats, draws: int, seed: int
) -> SourceRatings:
    is_rated = ~np.isnan(ratings)
    sums = np.hstack([np.where(is_rated, ratings, 0.0), is_rated])
    n_each, n = is_rated.sum(axis=0).tolist(), len(ratings)

    def rater_means(sums: Floats) -> Floats:  # the mean of each rater, and the mean of these: (..., n_raters + 1)
        total, n_rated = np.split(sums, 2, axis=-1)
        each = ratio(total, n_rated)
        return np.concatenate([each, each.mean(axis=-1, keepdims=True)], axis=-1)

    means = rater_means(sums.sum(axis=0))
    resampled = [rater_means(sum_) for sum_ in intervals.resample_sums(sums, draws, seed)] if n > 1 else []

    def make_figure(name: str, at: int, n_texts: int, note: str = "") -> Figure:
        result = Figure(name, float(means[at]), n_texts, note=note)
        if not resampled:
            return intervals.with_note(result, f"no interval: it needs at least 2 texts, found {n}")
        return intervals.with_percentiles(
            result, np.concatenate([draw[:, at] for draw in resampled]), intervals.describe_sample(n, "text")
        )

    of_raters = tuple(make_figure(name, at, n_each[at]) for at, name in enumerate(raters))
    alone = "one rater only" if len(raters) == 1 else ""
    return SourceRatings(source, criterion, of_raters, make_figure("mean", len(raters), n, alone))


@dataclass(frozen=True)
class RatedTexts:
    """Texts: `measure` (n_texts,), and `ratings` (n_texts, n_raters), NaN where a rater did not rate a text; `kind` is
    the group of each, "" if there are none.
    """

    measure: Floats
    ratings: Floats
    kind: tuple[str, ...]
    raters: tuple[str, ...]

    def select(self, mask: Bools) -> RatedTexts:
        """Only these texts, and the raters who rated one of them."""
        ratings = self.ratings[mask]
        raters = np.asarray((~np.isnan(ratings)).any(axis=0))
        kind = tuple(one for one, is_in in zip(self.kind, mask, strict=True) if is_in)
        names = tuple(rater for rater, is_in in zip(self.raters, raters, strict=True) if is_in)
        return RatedTexts(self.measure[mask], ratings[:, raters], kind, names)


def read_rated_texts(
    table: pd.DataFrame,
    place: str,
    measure: str,
    rating: str,
    *,
    text: str | None = None,
    rater: str | None = None,
    by: str | None = None,
) -> RatedTexts:
    """The texts of a table of strings, in the order in which they come first.

    Without `text` each row is a text of its own, without `rater` one person rated all. An empty rating is none. Texts
    without a measure are left out. Raises InputError for a missing column; a cell that is no number; a text with two
    measures or two values of `by`, or rated twice by the same rater.
    """
    require_columns(place, table.columns, [column for column in (measure, rating, text, rater, by) if column])
    findings: list[Finding] = []
    values, rating_values = (read_numbers(table, place, column, findings) for column in (measure, rating))
    reject(place, findings)
    number, texts = pd.factorize(table[text] if text else pd.Series(range(len(table))))
    text_index = number.astype(np.int64)
    rater_index, raters = pd.factorize(table[rater] if rater else pd.Series([""] * len(table)), sort=True)
    first = pd.Series(range(len(table))).groupby(text_index).first().to_numpy().astype(np.int64)
    for name, column in [(measure, values)] + ([(by, table[by].to_numpy())] if by else []):
        # the rows that say something else of their text than its first row does
        cells, differs = table[name].to_numpy(), column != column[first[text_index]]
        if column.dtype.kind == "f":
            differs &= ~(np.isnan(column.astype(float)) & np.isnan(column[first[text_index]].astype(float)))
        cause = f"`{name}` of a text is not the same in all of its rows"
        for row in np.flatnonzero(differs).tolist():
            here, there = cells[row], cells[first[text_index[row]]]
            message = f"`{name}` of a text is `{here}` here and `{there}` in another of its rows"
            findings.append(Finding(place, lines_of(table)[row], message, cause=cause))
    is_given = ~np.isnan(rating_values)
    rated = pd.DataFrame({"text": text_index, "rater": rater_index, LINE: lines_of(table)})[is_given]
    message = "a text is rated twice by the same rater" if rater else "a text is rated twice; --rater says by whom"
    findings.extend(Finding(place, line, message) for line in rated[LINE][rated.duplicated(["text", "rater"])])
    reject(place, findings)
    ratings = np.full((len(texts), len(raters)), np.nan)
    ratings[text_index[is_given], rater_index[is_given]] = rating_values[is_given]
    kind = table[by].to_numpy()[first].tolist() if by else [""] * len(texts)
    whole = RatedTexts(values[first], ratings, tuple(map(str, kind)), tuple(map(str, raters)))
    return whole.select(~np.isnan(whole.measure))


def read_population(
    path: str | Path, measure: str, text: str | None, by: str | None, kinds: Sequence[str]
) -> dict[str | None, Floats]:
    """The measure of all texts in a file, for each of the groups, and under None for all of them.

    A group has the texts of its own in a file that has the column `by`, else all. In a file that has the column `text`,
    each text counts once, by its first row. Raises InputError for a missing column, a cell that is no number, no number
    at all.
    """
    table = read_table(path, [measure], optional=[group for group in (text, by) if group], verbatim=True)
    place, findings = place_of(table), list[Finding]()
    values = read_numbers(table, place, measure, findings)
    reject(place, findings)
    if text in table:
        is_first = ~table.duplicated(text).to_numpy()
        table, values = table[is_first], values[is_first]
    if not (has_value := ~np.isnan(values)).any():
        raise InputError(f"{place}: column `{measure}` has no number")
    groups = {group for group in kinds if group}
    is_of = {group: has_value & (table[by] == group).to_numpy() if by in table else has_value for group in groups}
    return {None: values[has_value], **{group: values[rows] for group, rows in is_of.items() if rows.any()}}


LEAST_TEXTS, FEW_RATERS = 3, 4
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

    Intervals are percentiles of draws with replacement of texts and, if there are several, of raters at the same
    time; a rating counts as often as its text and its rater are drawn (the pigeonhole bootstrap: Owen 2007, DOI
    10.1214/07-AOAS122). So they are for new texts and the mean of as many new raters, and rather too wide than too
    narrow for that; the mean of all raters there could be correlates more. A correlation is undefined with fewer than
    three texts, and where the measure or the ratings do not vary.

    `population` has the measure of all texts that could have been rated, by group (None: of all). Those of `texts`
    without a rating belong to it, too. Raises InputError for a number of draws that cannot be.
    """
    intervals.check_resamples(draws)
    groups: list[str | None] = [None, *(sorted(set(texts.kind)) if any(texts.kind) else [])]
    results = []
    for of in groups:
        selected = texts if of is None else texts.select(np.array(texts.kind) == of)
        rated = selected.select(np.asarray((~np.isnan(selected.ratings)).any(axis=1)))
        order = own_order(rated.measure, *np.nan_to_num(rated.ratings, nan=-np.inf).T)
        rated = replace(rated, measure=rated.measure[order], ratings=rated.ratings[order])
        more = selected.measure if len(selected.measure) > len(rated.measure) else None
        picked = check_selection(rated.measure, (population or {}).get(of, more))
        n = (len(rated.measure), len(rated.raters), int((~np.isnan(rated.ratings)).sum()))
        results.append(CorrelationFigures(of, *n, _compute_figures(rated, draws, seed), picked))
    return tuple(results)


def _compute_figures(rated: RatedTexts, draws: int, seed: int) -> tuple[Figure, ...]:
    n, n_raters = len(rated.measure), len(rated.raters)
    why = f"it needs at least {LEAST_TEXTS} texts with a measure and a rating, found {n}" if n < LEAST_TEXTS else ""
    if not why:
        mean, _ = _mean_ratings(rated.ratings, np.ones((1, n_raters)))
        same = [name for name, of in (("measure", rated.measure), ("mean rating", mean)) if np.ptp(of) == 0]
        why = f"the {same[0]} is the same on all texts" if same else ""
    if why:
        return tuple(Figure(name, None, n, undefined=why) for name in COEFFICIENTS)
    x, ratings, counts_once = _rescale(rated.measure), _rescale(rated.ratings), np.ones((1, n))
    mean, _ = _mean_ratings(ratings, np.ones((1, n_raters)))
    basis = f"{f'{n_raters:,} raters' if n_raters > 1 else 'the same rater'} and {intervals.describe_sample(n, 'text')}"
    # Whose ratings an interval is about: the mean of few raters correlates less than that of all there could be.
    many = "as many raters a text" if np.isnan(rated.ratings).any() else f"{n_raters:,} raters"
    scope = f"it is for the mean of {many}, not of all possible raters, whose mean correlates more"
    scope = scope if n_raters > 1 else "it is for the ratings of this rater only"
    rng, drawn = np.random.default_rng(seed), list[tuple[Floats, Floats]]()  # means, and how often each text counts
    for n_draws in intervals.block_sizes(draws, n):
        times = _draw_counts(rng, n_draws, n)
        of_raters = _draw_counts(rng, n_draws, n_raters) if n_raters > 1 else np.ones((n_draws, 1))
        draw_mean, is_rated = _mean_ratings(ratings, of_raters)
        drawn.append((draw_mean, times * is_rated))
    figures = []
    for name, coefficient in COEFFICIENTS.items():
        figure = Figure(name, float(coefficient(x, mean, counts_once)[0]), n)
        figure = intervals.with_percentiles(figure, np.concatenate([coefficient(x, *draw) for draw in drawn]), basis)
        if figure.low is not None:
            figure = intervals.with_note(figure, scope)
        if figure.low is not None and 1 < n_raters < FEW_RATERS:
            figure = intervals.with_note(figure, f"only {n_raters} raters: they say little about how raters differ")
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


def _draw_counts(rng: np.random.Generator, n_draws: int, n: int) -> Floats:
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
    until, begins = np.cumsum(n, axis=-1), np.ones(ordered.shape, dtype=np.bool_)
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
        first, third = np.quantile(population, [0.25, 0.75])
        share = float(((population >= first) & (population <= third)).mean())
        below, above = int((measure < first).sum()), int((measure > third).sum())
        n_middle = n - below - above
        if (p := float(scipy.special.bdtr(n_middle, n, share))) < ALPHA_POPULATION and min(below, above) >= SIDE * n:
            warning = (
                f"the texts look picked by the extremes of the measure: {n_middle} of {n} are in the middle half of "
                f"its population ({len(population):,} texts), which chance would leave so empty with p = {p:.1g}"
            )
        return SelectionCheck("population", n, p, ALPHA_POPULATION, warning)
    side, ordered = ceil(SIDE * n), np.sort(measure)
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
