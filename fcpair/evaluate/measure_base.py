"""A measure: a value with a name that is called with a Judged and gives a figure for each HS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError
from fcpair.evaluate.judged_rankings import Judged
from fcpair.stages.questions.named_values import NamedValue

LARGEST_CUT = 10**18 - 1  # deeper than any pool, and a number that fits in every array


@dataclass(frozen=True)
class Measure(NamedValue):
    """A figure for each HS. It is called with a Judged and gives values of shape `(n_hs,)`.

    `rises`: whether the value can only rise when an unjudged pair turns out to be positive, wherever it stands.
    `bounded`: whether an unjudged pair can be read in more than one way; bpref and judged read it in one.
    `graded`: whether it reads the grades of a scheme that has some; all others read only what is positive.
    """

    rises: ClassVar[bool] = False
    bounded: ClassVar[bool] = True
    graded: ClassVar[bool] = False

    def __call__(self, judged: Judged) -> NDArray[np.float64]:
        """The value for each HS, shape `(n_hs,)`."""
        raise NotImplementedError

    @property
    def depth(self) -> int | None:
        """Number of ranks that the measure reads; None for all."""
        return None

    def score_range(self, judged: Judged) -> tuple[float, float]:
        """The least and the greatest value that rankings could give to these HS."""
        return 0.0, 1.0


@dataclass(frozen=True)
class CutMeasure(Measure):
    """A measure of the first `k` ranks."""

    outside_brackets: ClassVar[tuple[str, ...]] = ("k",)
    k: int = 10

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError(f"k is {self.k}; at least 1 rank is needed")
        if self.k > LARGEST_CUT:
            raise InputError(f"k is {self.k}; expected at most {LARGEST_CUT:,}")

    def __str__(self) -> str:
        return f"{self.short_name}@{self.k}"

    @property
    def depth(self) -> int | None:
        """The first `k` ranks."""
        return self.k
