"""Printed figures, held against a table: do they come out, over texts or over groups, and are they possible at all?"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Literal

from fcpair.errors import Finding, reject, suggest_name
from fcpair.files.tables.tabular import LINE, place_of, read_table
from fcpair.texts.describe import DescribedFigure, Description, round_half_up

FIGURE, OF, PRINTED, N = "figure", "of", "printed", "n"
ONLY_MEAN = "mean"  # of n whole numbers that the table does not hold
_NUMBER = re.compile(r"-?\d+(\.\d+)?|-?\d{1,3}(,\d{3})+(\.\d+)?")

Reading = Literal["texts", "groups", "both", "neither"]


@dataclass(frozen=True)
class PrintedFigure:
    """A figure as it was printed, with all its decimals; `n` where it is said how many whole numbers a mean is of."""

    figure: str
    of: str
    printed: Decimal
    n: int | None
    line: int

    @property
    def decimals(self) -> int:
        """Number of decimals that are printed."""
        return max(-int(self.printed.as_tuple().exponent), 0)


@dataclass(frozen=True)
class PrintedCheck:
    """Result of checking a printed figure, `told` in words.

    `value` is the figure of the table, over texts, None where the table does not have it; `over_groups` the mean of the
    means of the groups, where it is a mean of the whole table; `reading` which of the two the printed one is. `n` says
    of how many whole numbers it is a mean, and `possible` whether that can be printed so, None where it says nothing.
    `comes_out`: whether the printed figure is right by all that could be checked.
    """

    printed: PrintedFigure
    value: int | Fraction | float | None
    over_groups: Fraction | None
    reading: Reading | None
    n: int | None
    possible: bool | None
    comes_out: bool
    told: str

    def as_dict(self) -> dict[str, str | int | float | bool | None]:
        """As JSON and CSV have it; `printed` is text, with its decimals."""
        value, over_groups = (float(of) if isinstance(of, Fraction) else of for of in (self.value, self.over_groups))
        return {
            FIGURE: self.printed.figure,
            OF: self.printed.of,
            PRINTED: str(self.printed.printed),
            N: self.n,
            "value": value,
            "over_groups": over_groups,
            "reading": self.reading,
            "possible": self.possible,
            "comes_out": self.comes_out,
            "told": self.told,
        }


def read_printed(path: str | Path, description: Description) -> list[PrintedFigure]:
    """Read a table with the columns `figure` and `printed`, and `of` and `n` if it has them.

    `figure` and `of` are those of a description; an empty `of` is the whole table. `mean` is a mean that the table does
    not hold: `n` says of how many whole numbers, and `of` is free. Raises InputError for a figure that the description
    does not have, what is no number, `mean` without n; with lines.
    """
    frame, findings = read_table(path, (FIGURE, PRINTED), optional=(OF, N)), list[Finding]()
    figures = []
    for row in frame.to_dict("records"):
        cells = {name: str(row.get(name, "")).strip() for name in (FIGURE, OF, PRINTED, N)}
        problems = _row_problems(cells, description)
        findings += [Finding(place_of(frame), int(row[LINE]), message) for message in problems]
        if not problems:
            n = int(cells[N]) if cells[N] else None
            number = Decimal(cells[PRINTED].replace(",", ""))
            figures.append(PrintedFigure(cells[FIGURE], cells[OF], number, n, int(row[LINE])))
    reject(place_of(frame), findings)
    return figures


def _row_problems(cells: dict[str, str], description: Description) -> list[str]:
    problems = []
    if not _NUMBER.fullmatch(cells[PRINTED]):
        problems.append(f"printed `{cells[PRINTED]}` is not a number; expected one such as 28.94 or 1,100")
    if cells[N] and not (cells[N].isdecimal() and int(cells[N])):
        problems.append(f"n `{cells[N]}` is not a whole number above 0")
    if cells[FIGURE] == ONLY_MEAN:
        return problems if cells[N] else [*problems, "`mean` needs n: of how many whole numbers it is the mean"]
    names = dict.fromkeys(described.figure for described in description.figures)
    things = dict.fromkeys(described.of for described in description.figures if described.figure == cells[FIGURE])
    if cells[FIGURE] not in names:
        problems.append(f"unknown figure `{cells[FIGURE]}`; {suggest_name(cells[FIGURE], [*names, ONLY_MEAN])}")
    elif cells[OF] not in things:
        named = [described for described in things if described]
        hint = suggest_name(cells[OF], named) if named else "leave `of` empty: it is about the whole table"
        problems.append(f"no figure `{cells[FIGURE]}` of `{cells[OF]}`; {hint}")
    elif len(_figures_about(cells[FIGURE], cells[OF], description)) > 1:
        problems.append(f"`{cells[OF]}` is the name of several things with `{cells[FIGURE]}`; describe them one by one")
    return problems


def _figures_about(figure: str, of: str, description: Description) -> list[DescribedFigure]:
    return [entry for entry in description.figures if (entry.figure, entry.of) == (figure, of)]


def check_printed(printed: Sequence[PrintedFigure], description: Description) -> list[PrintedCheck]:
    """Hold each printed figure against what the table has; see `PrintedCheck`."""
    return [_check_figure(of, next(iter(_figures_about(of.figure, of.of, description)), None)) for of in printed]


def _check_figure(printed: PrintedFigure, described: DescribedFigure | None) -> PrintedCheck:
    value, over_groups = (described.value, described.over_groups) if described else (None, None)
    reading: Reading | None = None
    if over_groups is not None and value is not None:
        texts, groups = is_printed_as(value, printed), is_printed_as(over_groups, printed)
        reading = "both" if texts and groups else "texts" if texts else "groups" if groups else "neither"
    is_mean = printed.figure.startswith(ONLY_MEAN) and reading != "groups"  # that is no mean of n whole numbers
    n = (printed.n or (described.n if described else None)) if is_mean else None
    possible = grim(printed.printed, n) if n else None
    matches = described is None or is_printed_as(value, printed) or reading == "groups"
    remarks = [_explain(printed, described, reading)] if described else []
    if n and (described is None or possible is False):
        said = {
            None: f"any mean to {printed.decimals} decimals is possible with n = {n:,}: GRIM says nothing",
            True: f"possible: {n:,} whole numbers can have this mean (GRIM)",
            False: f"impossible: no {n:,} whole numbers have this mean (GRIM)",
        }
        remarks.append(said[possible])
    comes_out = matches and possible is not False
    return PrintedCheck(printed, value, over_groups, reading, n, possible, comes_out, "; ".join(remarks))


def is_printed_as(value: Fraction | float | None, printed: PrintedFigure) -> bool:
    """Return whether a value is rounded to the printed one, whichever way a half goes."""
    half = Fraction(1, 2 * 10**printed.decimals)
    return value is not None and abs(Fraction(value) - Fraction(printed.printed)) <= half


def _explain(printed: PrintedFigure, described: DescribedFigure, reading: Reading | None) -> str:
    if described.value is None:
        return f"undefined: {described.why}"

    def show(value: Fraction | float) -> str:
        return f"{round_half_up(value, max(printed.decimals, 0 if isinstance(value, int) else 2)):,}"

    value = show(described.value)
    if reading is None:
        return "matches" if is_printed_as(described.value, printed) else f"does not match: {value}"
    groups = show(described.over_groups or Fraction())
    return {
        "both": "matches, over texts (micro) and as the mean of group means (macro)",
        "texts": f"matches over texts (micro); the mean of group means (macro) is {groups}",
        "groups": f"is the mean of group means (macro); over texts (micro) it is {value}",
        "neither": f"does not match: {value} over texts (micro), {groups} as the mean of group means (macro)",
    }[reading]


def grim(printed: Decimal, n: int) -> bool | None:
    """Return whether the mean of `n` whole numbers can be printed so, a half rounded either way.

    None where n is 10 to the power of the decimals, or more: there every mean is possible. The GRIM test: N. J. L.
    Brown and J. A. J. Heathers (2017), Social Psychological and Personality Science 8(4), 363-369, DOI
    10.1177/1948550616673876. For a mean of ratings in steps of 0.5, n is twice as large.
    """
    unit = Fraction(1, 10 ** max(-int(printed.as_tuple().exponent), 0))
    if n * unit >= 1:
        return None
    low, high = ((Fraction(printed) + side * unit / 2) * n for side in (-1, 1))
    return math.ceil(low) <= math.floor(high)
