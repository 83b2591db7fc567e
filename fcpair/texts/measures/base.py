"""Measures of texts: a measure is a value with a name that gives a figure for each text, or one for a set of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fcpair.stages.questions.named_values import NamedValue
from fcpair.texts.measures.measured_texts import TextTable

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

    def select(self, rows: Rows) -> Values:
        """Those of some texts."""
        return Values(self.values[rows], tuple(self.why[row] for row in rows))


@dataclass(frozen=True)
class SetFigure:
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
class Measure(NamedValue):
    """A measure of texts.

    A class gives `score_each`, a figure for each text whose mean is that of a set, or `pool`, one for a set, or both,
    and has then the option `per_text`.
    """

    @property
    def is_pooled(self) -> bool:
        """Whether it gives one figure for a set, and none for a text."""
        return getattr(self, "per_text", True) is False

    @property
    def rule(self) -> str:
        """Rule by which the figure of a set comes from its texts."""
        return "pooled" if self.is_pooled else "mean over texts"

    @property
    def tokeniser(self) -> str:
        """How it splits texts into tokens, as its option `tokens` has it; empty where it does not, or a model does."""
        return str(getattr(self, "tokens", ""))

    def for_language(self, language: str | None) -> Measure:
        """The measure as it is for a language, by its code; raises InputError where it makes no sense there."""
        return self

    def check(self, table: TextTable) -> None:
        """Raise InputError where what the measure needs beside the texts is not there."""

    def unfit_reason(self, table: TextTable) -> str:
        """Why the measure cannot be right on these texts, and is undefined there; empty where nothing speaks for it."""
        return ""

    def notes(self, table: TextTable) -> Iterator[str]:
        """Yield what a reader of the figure must know; called when it has been computed, and reported with its name."""
        yield from ()

    def score_each(self, table: TextTable) -> Values:
        """The figure of each text."""
        raise NotImplementedError

    def pool(self, table: TextTable, rows: Rows) -> SetFigure:
        """The figure of a set of texts, by their rows."""
        raise NotImplementedError

    def set_figure(self, table: TextTable, rows: Rows) -> SetFigure:
        """The figure of a set of texts, by their rows: pooled, or the mean."""
        return self.pool(table, rows) if self.is_pooled else mean_figure(self.values(table).select(rows))

    def values(self, table: TextTable) -> Values:
        """The figure of each text, computed once for a table."""
        return table.compute_once(self, lambda: self.score_each(table))

    def undefined_everywhere(self, table: TextTable, why: str) -> Values:
        """No figure for any text, each for the same reason."""
        return Values(np.full(len(table.texts), np.nan), (why,) * len(table.texts))


def mean_figure(values: Values) -> SetFigure:
    """The mean over the texts that have a figure, and its standard deviation (n - 1)."""
    defined = values.values[~np.isnan(values.values)]
    left_out = count_reasons(values.why)
    if not len(defined):
        return SetFigure(None, 0, left_out=left_out, undefined="no text has a figure")
    sd = float(defined.std(ddof=1)) if len(defined) > 1 else None
    return SetFigure(float(defined.mean()), len(defined), sd, left_out)


def count_reasons(why: Sequence[str]) -> dict[str, int]:
    """Count the texts without a figure, by the reason."""
    return dict(sorted(Counter(filter(None, why)).items()))


def fill_defined(why: Sequence[str], values: Sequence[float] | Floats) -> Values:
    """The values of the texts that have no reason against them, in their place among all."""
    all_values = np.full(len(why), np.nan)
    all_values[[not reason for reason in why]] = values
    return Values(all_values, tuple(why))
