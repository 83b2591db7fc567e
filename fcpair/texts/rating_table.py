"""Texts with a measure and ratings, read from a table with a row for each text and rater."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fcpair.errors import Finding, InputError, reject
from fcpair.files.tables.tabular import LINE, place_of, read_table, require_columns
from fcpair.texts.numbers import read_numbers

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RatedTexts:
    """Texts: `measure` (n_texts,), and `ratings` (n_texts, n_raters), NaN where a rater did not rate a text.

    `kind` has the group of each text, "" where there are none. `raters` are their names, in order.
    """

    measure: Floats
    ratings: Floats
    kind: tuple[str, ...]
    raters: tuple[str, ...]

    @property
    def rated_texts(self) -> RatedTexts:
        """Only the texts that somebody rated."""
        is_rated = np.asarray((~np.isnan(self.ratings)).any(axis=1))
        return self.select(is_rated)

    def select(self, mask: Bools) -> RatedTexts:
        """Only these texts, and the raters who rated one of them."""
        ratings = self.ratings[mask]
        raters = np.asarray((~np.isnan(ratings)).any(axis=0))
        kind = tuple(one for one, is_in in zip(self.kind, mask, strict=True) if is_in)
        names = tuple(one for one, is_in in zip(self.raters, raters, strict=True) if is_in)
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
    without a measure are left out.

    Raises:
        InputError: a missing column; a cell that is no number; a text with two measures or two values of `by`, or rated
            twice by the same rater.
    """
    import pandas as pd

    require_columns(place, table.columns, [one for one in (measure, rating, text, rater, by) if one])
    findings: list[Finding] = []
    values, rating_values = (read_numbers(table, place, column, findings) for column in (measure, rating))
    reject(place, findings)
    number, texts = pd.factorize(table[text] if text else pd.Series(range(len(table))))
    text_index = number.astype(np.int64)
    rater_index, raters = pd.factorize(table[rater] if rater else pd.Series([""] * len(table)), sort=True)
    first = pd.Series(range(len(table))).groupby(text_index).first().to_numpy().astype(np.int64)
    text_columns = [(measure, values)] + ([(by, table[by].to_numpy())] if by else [])
    for name, column in text_columns:
        findings.extend(_inconsistent_rows(table, place, name, column, text_index, first))
    is_given = ~np.isnan(rating_values)
    findings.extend(_repeated_ratings(table, place, text_index, rater_index, is_given, has_raters=rater is not None))
    reject(place, findings)
    ratings = np.full((len(texts), len(raters)), np.nan)
    ratings[text_index[is_given], rater_index[is_given]] = rating_values[is_given]
    kind = table[by].to_numpy()[first].tolist() if by else [""] * len(texts)
    whole = RatedTexts(values[first], ratings, tuple(map(str, kind)), tuple(map(str, raters)))
    return whole.select(~np.isnan(whole.measure))


def _line_numbers(table: pd.DataFrame) -> Sequence[int | None]:
    return table[LINE].tolist() if LINE in table else [None] * len(table)


def _inconsistent_rows(
    table: pd.DataFrame,
    place: str,
    name: str,
    column: npt.NDArray[np.generic],
    text_index: Ints,
    first: Ints,
) -> list[Finding]:
    """The rows that say something else of their text than its first row does."""
    cells = table[name].to_numpy()
    differs = column != column[first[text_index]]
    if column.dtype.kind == "f":
        differs &= ~(np.isnan(column.astype(float)) & np.isnan(column[first[text_index]].astype(float)))
    lines = _line_numbers(table)
    return [
        Finding(
            place,
            lines[row],
            f"`{name}` of a text is `{cells[row]}` here and `{cells[first[text_index[row]]]}` in another of its rows",
            cause=f"`{name}` of a text is not the same in all of its rows",
        )
        for row in np.flatnonzero(differs).tolist()
    ]


def _repeated_ratings(
    table: pd.DataFrame,
    place: str,
    text_index: Ints,
    rater_index: Ints,
    is_given: Bools,
    *,
    has_raters: bool,
) -> list[Finding]:
    """The rows in which somebody rates a text again."""
    pair_key = text_index * (int(rater_index.max(initial=0)) + 1) + rater_index
    rows = np.flatnonzero(is_given)
    _, firsts = np.unique(pair_key[rows], return_index=True)
    again = np.setdiff1d(np.arange(len(rows)), firsts)
    lines = _line_numbers(table)
    message = "a text is rated twice by the same rater" if has_raters else "a text is rated twice; --rater says by whom"
    return [Finding(place, lines[row], message) for row in rows[again].tolist()]


def read_population(
    path: str | Path, measure: str, text: str | None, by: str | None, kinds: Sequence[str]
) -> dict[str | None, Floats]:
    """The measure of all texts in a file, for each of the groups, and under None for all of them.

    A group has the texts of its own in a file that has the column `by`, else all. In a file that has the column `text`,
    each text counts once, by its first row.

    Raises:
        InputError: a missing column, a cell that is no number, no number at all.
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
