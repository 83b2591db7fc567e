"""Ratings in tables: the means of raters by source and criterion, as ParsCN has them; and texts with a measure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fcpair.arrays import Bools, Floats
from fcpair.errors import Finding, InputError, reject
from fcpair.files.tables.tabular import LINE, lines_of, place_of, read_cells, read_table, require_columns
from fcpair.lazy import pd
from fcpair.params import RESAMPLES
from fcpair.records import Figure
from fcpair.stages.stats.intervals import check_resamples, describe_sample, resample_sums, with_note, with_percentiles
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
    check_resamples(draws)
    averages = []
    for (source, criterion), part in table.groupby(["source", "criterion"], sort=True):
        grid = part.pivot(index="text", columns="rater", values="rating").sort_index(axis=1)
        ratings = grid.to_numpy(np.float64)  # NaN where there is none; every rater has at least one
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
    resampled = [rater_means(sum_) for sum_ in resample_sums(sums, draws, seed)] if n > 1 else []

    def make_figure(name: str, at: int, n_texts: int, note: str = "") -> Figure:
        result = Figure(name, float(means[at]), n_texts, note=note)
        if not resampled:
            return with_note(result, f"no interval: it needs at least 2 texts, found {n}")
        return with_percentiles(result, np.concatenate([draw[:, at] for draw in resampled]), describe_sample(n, "text"))

    of_raters = tuple(make_figure(name, at, n_each[at]) for at, name in enumerate(raters))
    alone = "one rater only" if len(raters) == 1 else ""
    return SourceRatings(source, criterion, of_raters, make_figure("mean", len(raters), n, alone))


@dataclass(frozen=True)
class RatedTexts:
    """Texts: `measure` (n_texts,), and `ratings` (n_texts, n_raters), NaN where a rater did not rate a text; `kind` is
    the group of each, "" where there are none.
    """

    measure: Floats
    ratings: Floats
    kind: tuple[str, ...]
    raters: tuple[str, ...]

    @property
    def rated_texts(self) -> RatedTexts:
        """Only the texts that somebody rated."""
        return self.select(np.asarray((~np.isnan(self.ratings)).any(axis=1)))

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
    place = place_of(table)
    findings: list[Finding] = []
    values = read_numbers(table, place, measure, findings)
    reject(place, findings)
    if text in table:
        is_first = ~table.duplicated(text).to_numpy()
        table, values = table[is_first], values[is_first]
    has_value = ~np.isnan(values)
    if not has_value.any():
        raise InputError(f"{place}: column `{measure}` has no number")
    groups = {group for group in kinds if group}
    is_of = {group: has_value & (table[by] == group).to_numpy() if by in table else has_value for group in groups}
    return {None: values[has_value], **{group: values[rows] for group, rows in is_of.items() if rows.any()}}
