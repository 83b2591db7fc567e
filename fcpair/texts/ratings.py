"""Ratings by source and criterion: the mean of each rater, and the mean of the raters, as ParsCN's tables have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fcpair.errors import Finding, InputError, reject
from fcpair.files.tables.tabular import LINE, require_columns
from fcpair.params import RESAMPLES
from fcpair.records import Figure
from fcpair.stages.stats.intervals import check_resamples, with_note
from fcpair.stages.stats.percentile_bootstrap import describe_sample, resample_sums, with_percentiles
from fcpair.stages.stats.rating_counts import ratio
from fcpair.texts.numbers import read_numbers

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]
KEYS = ("source", "criterion", "rater", "text")


@dataclass(frozen=True)
class SourceRatings:
    """Ratings of a source on a criterion: a figure for each rater, whose `n` counts texts, and `mean`, over raters.

    `mean` is the mean over raters of their means, each of which counts as much as any other; its `n` are the texts
    that at least one of them rated.
    """

    source: str
    criterion: str
    raters: tuple[Figure, ...]
    mean: Figure

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values, ready for JSON."""
        return asdict(self)


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
    `source` all are of one, without `text` each row is about a text of its own. Empty ratings are left out.

    Raises:
        InputError: a missing column; a cell that is no number; a text rated twice by a rater on a criterion; no rating.
    """
    import pandas as pd

    require_columns(place, table.columns, [*ratings, *(one for one in (source, rater, text, criterion) if one)])
    if criterion and len(ratings) > 1:
        raise InputError("with a column of criteria there is one column of ratings; name one, or no column of criteria")
    findings: list[Finding] = []
    lines = table[LINE] if LINE in table else pd.Series([0] * len(table))
    parts = [
        pd.DataFrame(
            {
                "source": table[source] if source else "",
                "criterion": table[criterion] if criterion else name,
                "rater": table[rater],
                "text": table[text] if text else range(len(table)),
                "rating": read_numbers(table, place, name, findings),
                LINE: lines.to_numpy(),
            },
            index=table.index,
        )
        for name in ratings
    ]
    long_table = pd.concat(parts, ignore_index=True).dropna(subset="rating")
    repeated = long_table[long_table.duplicated(list(KEYS))]
    for line, who in zip(repeated[LINE], repeated["rater"], strict=True):
        findings.append(Finding(place, line or None, f"{who} rates a text twice on the same criterion"))
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
        ratings = grid.to_numpy(np.float64)
        averages.append(
            _average_source(str(source), str(criterion), tuple(map(str, grid.columns)), ratings, draws, seed)
        )
    return tuple(averages)


def _average_source(
    source: str, criterion: str, raters: tuple[str, ...], ratings: Floats, draws: int, seed: int
) -> SourceRatings:
    """The figures of ratings (n_texts, n_raters), NaN where there is none; every rater has at least one."""
    is_rated = ~np.isnan(ratings)
    sums = np.hstack([np.where(is_rated, ratings, 0.0), is_rated])
    resampled = [_rater_means(one) for one in resample_sums(sums, draws, seed)] if len(sums) > 1 else []
    means = _rater_means(sums.sum(axis=0))
    n_each, n = is_rated.sum(axis=0).tolist(), len(ratings)

    def make_figure(name: str, at: int, n_texts: int, note: str = "") -> Figure:
        result = Figure(name, float(means[at]), n_texts, note=note)
        if not resampled:
            return with_note(result, f"no interval: it needs at least 2 texts, found {n}")
        return with_percentiles(result, np.concatenate([one[:, at] for one in resampled]), describe_sample(n, "text"))

    of_raters = tuple(make_figure(name, at, n_each[at]) for at, name in enumerate(raters))
    alone = "one rater only" if len(raters) == 1 else ""
    return SourceRatings(source, criterion, of_raters, make_figure("mean", len(raters), n, alone))


def _rater_means(sums: Floats) -> Floats:
    """The mean of each rater, and their mean, from sums (..., 2 n_raters): of ratings, and how many; (..., n + 1)."""
    total, n = np.split(sums, 2, axis=-1)
    each = ratio(total, n)
    return np.concatenate([each, each.mean(axis=-1, keepdims=True)], axis=-1)
