"""Which lines of a table of texts are looked at: those that meet conditions, and of these so many that are drawn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fcpair.errors import Finding, InputError, reject, suggest_name
from fcpair.files.tables.tabular import LINE, read_cells
from fcpair.lazy import pd
from fcpair.stages.drawing import own_order
from fcpair.texts.aliases import split_cell

_CONDITION = re.compile(r"(?P<column>.+?)\s*(?:(?P<sign>!=|=)|\s(?P<has>has)\s)\s*(?P<value>.*)", re.DOTALL)


@dataclass(frozen=True)
class Condition:
    """Condition on a cell: that it equals a value (`=`), differs (`!=`), or holds it among several labels (`has`).

    White space around the cell makes no difference, capitals do.
    """

    column: str
    sign: str
    value: str

    def __str__(self) -> str:
        between = " has " if self.sign == "has" else self.sign
        return f"{self.column}{between}{self.value}"

    def meets(self, cell: str) -> bool:
        """Whether a cell is so; raises InputError for one of several labels that cannot be read."""
        if self.sign == "has":
            return self.value in split_cell(cell)
        return (cell.strip() == self.value) == (self.sign == "=")


def read_condition(text: str) -> Condition:
    """Read `COLUMN=VALUE`, `COLUMN!=VALUE` or `COLUMN has VALUE`; raises InputError for anything else."""
    match = _CONDITION.fullmatch(text.strip())
    if not match:
        raise InputError(
            f"`{text}` is not a condition; expected `COLUMN=VALUE`, `COLUMN!=VALUE`, or `COLUMN has VALUE` for a "
            "cell of several labels"
        )
    return Condition(match["column"].strip(), match["sign"] or match["has"], match["value"].strip())


def filter_rows(frame: pd.DataFrame, conditions: Sequence[Condition], lines: Sequence[int], place: str) -> pd.DataFrame:
    """The lines of a table of strings that meet all conditions, in their order.

    Raises:
        InputError: a column that is not there; a cell of several labels that cannot be read.
    """
    for condition in conditions:
        if condition.column not in frame.columns:
            columns = [str(name) for name in frame.columns]
            raise InputError(f"{place}: no column `{condition.column}`; {suggest_name(condition.column, columns)}")
    findings: list[Finding] = []
    is_kept = np.ones(len(frame), np.bool_)
    for condition in conditions:
        cells = frame[condition.column].astype(str)
        is_kept &= np.array(read_cells(cells, lines, place, condition.meets, findings, otherwise=False), np.bool_)
    reject(place, findings)
    return frame[is_kept]


def sample_rows(frame: pd.DataFrame, n: int, seed: int, place: str) -> pd.DataFrame:
    """`n` lines of a table, drawn without replacement by a seed, in their order; raises InputError for more."""
    if n > len(frame):
        raise InputError(f"{place}: {n:,} lines cannot be drawn of {len(frame):,}; ask for that many or fewer")
    order = own_order(*(frame[column] for column in frame.columns if column != LINE))
    return frame.iloc[np.sort(np.random.default_rng(seed).choice(order, n, replace=False))]
