"""What a measure of texts is: a value with a name that gives a figure for each text, or one for a set of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fcpair.stages.questions.named_values import Named
from fcpair.texts.measures.measured_texts import Table

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
NO_TOKEN = "it has no token"
NO_REFERENCE = "it has no reference with a token"
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Values:
    """A figure for each text, shape `(n_texts,)`: NaN exactly where `why` says why it is undefined, else `""`."""

    values: Floats
    why: tuple[str, ...]

    def of(self, rows: Rows) -> Values:
        """Those of some texts."""
        return Values(self.values[rows], tuple(self.why[row] for row in rows))


@dataclass(frozen=True)
class Found:
    """A figure for a set: `value` is None exactly where `undefined` says why.

    `n` texts enter it; `left_out` counts the others by the reason. `sd` is the standard deviation over texts (n - 1)
    of a mean of two texts or more.
    """

    value: float | None
    n: int
    sd: float | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)
    undefined: str | None = None


@dataclass(frozen=True)
class Measure(Named):
    """A measure of texts.

    A class gives `each`, a figure for each text whose mean is that of a set, or `pool`, one for a set, or both, and
    has then the option `per_text`.
    """

    @property
    def pooled(self) -> bool:
        """Whether it gives one figure for a set, and none for a text."""
        return getattr(self, "per_text", True) is False

    @property
    def rule(self) -> str:
        """How the figure of a set comes from its texts."""
        return "pooled" if self.pooled else "mean over texts"

    def spoken(self, language: str | None) -> Measure:
        """The measure as it is for a language, by its code; raises InputError where it makes no sense there."""
        return self

    def check(self, table: Table) -> None:
        """Raise InputError where what the measure needs beside the texts is not there."""

    def unfit(self, table: Table) -> str:
        """Why the measure cannot be right on these texts, and is undefined there; empty where nothing speaks for it."""
        return ""

    def notes(self, table: Table) -> Iterator[str]:
        """What a reader of the figure must know; called when it has been computed, and told with its name."""
        yield from ()

    def each(self, table: Table) -> Values:
        """The figure of each text."""
        raise NotImplementedError

    def pool(self, table: Table, rows: Rows) -> Found:
        """The figure of a set of texts, by their rows."""
        raise NotImplementedError

    def found(self, table: Table, rows: Rows) -> Found:
        """The figure of a set of texts, by their rows: pooled, or the mean."""
        return self.pool(table, rows) if self.pooled else mean(self.values(table).of(rows))

    def values(self, table: Table) -> Values:
        """The figure of each text, computed once for a table."""
        return table.once(self, lambda: self.each(table))

    def nowhere(self, table: Table, why: str) -> Values:
        """No figure for any text, each for the same reason."""
        return Values(np.full(len(table.texts), np.nan), (why,) * len(table.texts))


def mean(values: Values) -> Found:
    """The mean over the texts that have a figure, and its standard deviation (n - 1)."""
    there = values.values[~np.isnan(values.values)]
    left_out = reasons(values.why)
    if not len(there):
        return Found(None, 0, left_out=left_out, undefined="no text has a figure")
    sd = float(there.std(ddof=1)) if len(there) > 1 else None
    return Found(float(there.mean()), len(there), sd, left_out)


def reasons(why: Sequence[str]) -> dict[str, int]:
    """How many texts have no figure, by the reason."""
    return dict(sorted(Counter(filter(None, why)).items()))


def filled(why: Sequence[str], values: Sequence[float] | Floats) -> Values:
    """The values of the texts that have no reason against them, in their place among all."""
    placed = np.full(len(why), np.nan)
    placed[[not reason for reason in why]] = values
    return Values(placed, tuple(why))
