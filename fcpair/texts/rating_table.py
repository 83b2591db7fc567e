"""Texts with a measure and ratings, read from a table with a row for each text and rater."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fcpair.errors import Finding, InputError, reject
from fcpair.files.tables.tabular import LINE, place_of, read_table, require
from fcpair.texts.numbers import read_numbers

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Rated:
    """Texts: `measure` (n_texts,), and `ratings` (n_texts, n_raters), NaN where a rater did not rate a text.

    `kind` has the group of each text, "" where there are none. `raters` are their names, in order.
    """

    measure: Floats
    ratings: Floats
    kind: tuple[str, ...]
    raters: tuple[str, ...]

    @property
    def rated(self) -> Rated:
        """Only the texts that somebody rated."""
        there = np.asarray((~np.isnan(self.ratings)).any(axis=1))
        return self.only(there)

    def only(self, there: Bools) -> Rated:
        """Only these texts, and the raters who rated one of them."""
        ratings = self.ratings[there]
        raters = np.asarray((~np.isnan(ratings)).any(axis=0))
        kind = tuple(one for one, is_in in zip(self.kind, there, strict=True) if is_in)
        names = tuple(one for one, is_in in zip(self.raters, raters, strict=True) if is_in)
        return Rated(self.measure[there], ratings[:, raters], kind, names)


def read_rated(
    table: pd.DataFrame,
    place: str,
    measure: str,
    rating: str,
    *,
    text: str | None = None,
    rater: str | None = None,
    by: str | None = None,
) -> Rated:
    """The texts of a table of strings, in the order in which they come first.

    Without `text` each row is a text of its own, without `rater` one person rated all. An empty rating is none. Texts
    without a measure are left out.

    Raises:
        InputError: a missing column; a cell that is no number; a text with two measures or two values of `by`, or rated
            twice by the same rater.
    """
    import pandas as pd

    require(place, table.columns, [one for one in (measure, rating, text, rater, by) if one])
    found: list[Finding] = []
    values, given = (read_numbers(table, place, column, found) for column in (measure, rating))
    reject(place, found)
    number, texts = pd.factorize(table[text] if text else pd.Series(range(len(table))))
    which = number.astype(np.int64)
    who, raters = pd.factorize(table[rater] if rater else pd.Series([""] * len(table)), sort=True)
    first = pd.Series(range(len(table))).groupby(which).first().to_numpy().astype(np.int64)
    said = [(measure, values)] + ([(by, table[by].to_numpy())] if by else [])
    for name, column in said:
        found.extend(_differing(table, place, name, column, which, first))
    is_given = ~np.isnan(given)
    found.extend(_twice(table, place, which, who, is_given, has_raters=rater is not None))
    reject(place, found)
    ratings = np.full((len(texts), len(raters)), np.nan)
    ratings[which[is_given], who[is_given]] = given[is_given]
    kind = table[by].to_numpy()[first].tolist() if by else [""] * len(texts)
    whole = Rated(values[first], ratings, tuple(map(str, kind)), tuple(map(str, raters)))
    return whole.only(~np.isnan(whole.measure))


def _lines(table: pd.DataFrame) -> Sequence[int | None]:
    return table[LINE].tolist() if LINE in table else [None] * len(table)


def _differing(
    table: pd.DataFrame,
    place: str,
    name: str,
    column: npt.NDArray[np.generic],
    which: Ints,
    first: Ints,
) -> list[Finding]:
    """The rows that say something else of their text than its first row does."""
    said = table[name].to_numpy()
    other = column != column[first[which]]
    if column.dtype.kind == "f":
        other &= ~(np.isnan(column.astype(float)) & np.isnan(column[first[which]].astype(float)))
    lines = _lines(table)
    return [
        Finding(
            place,
            lines[row],
            f"`{name}` of a text is `{said[row]}` here and `{said[first[which[row]]]}` in another of its rows",
            cause=f"`{name}` of a text is not the same in all of its rows",
        )
        for row in np.flatnonzero(other).tolist()
    ]


def _twice(
    table: pd.DataFrame,
    place: str,
    which: Ints,
    who: Ints,
    is_given: Bools,
    *,
    has_raters: bool,
) -> list[Finding]:
    """The rows in which somebody rates a text again."""
    place_of = which * (int(who.max(initial=0)) + 1) + who
    rows = np.flatnonzero(is_given)
    _, firsts = np.unique(place_of[rows], return_index=True)
    again = np.setdiff1d(np.arange(len(rows)), firsts)
    lines = _lines(table)
    said = "a text is rated twice by the same rater" if has_raters else "a text is rated twice; --rater says by whom"
    return [Finding(place, lines[row], said) for row in rows[again].tolist()]


def read_population(
    path: str | Path, measure: str, text: str | None, by: str | None, kinds: Sequence[str]
) -> dict[str | None, Floats]:
    """The measure of all texts in a file, for each of the groups, and under None for all of them.

    A group has the texts of its own in a file that has the column `by`, else all. In a file that has the column `text`,
    each text counts once, by its first row.

    Raises:
        InputError: a missing column, a cell that is no number, no number at all.
    """
    table = read_table(path, [measure], known=[one for one in (text, by) if one], verbatim=True)
    place = place_of(table)
    found: list[Finding] = []
    values = read_numbers(table, place, measure, found)
    reject(place, found)
    if text in table:
        is_first = ~table.duplicated(text).to_numpy()
        table, values = table[is_first], values[is_first]
    there = ~np.isnan(values)
    if not there.any():
        raise InputError(f"{place}: column `{measure}` has no number")
    groups = {one for one in kinds if one}
    is_of = {one: there & (table[by] == one).to_numpy() if by in table else there for one in groups}
    return {None: values[there], **{one: values[rows] for one, rows in is_of.items() if rows.any()}}
