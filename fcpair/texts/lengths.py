"""Lengths of texts: words by white space, their mean and deviation, and numbers rounded as printed tables do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def count_words(texts: pd.Series[str]) -> pd.Series[int]:
    """Count the words of each text, separated by white space; a zero-width non-joiner separates none."""
    return texts.map(lambda text: len(text.split()))


def mean(numbers: Sequence[int] | pd.Series[int]) -> Fraction | None:
    """The exact mean of whole numbers; None where there is none."""
    return Fraction(int(sum(numbers)), len(numbers)) if len(numbers) else None


def standard_deviation(numbers: Sequence[int] | pd.Series[int]) -> float | None:
    """The standard deviation, with n - 1 below; None for fewer than two numbers."""
    n = len(numbers)
    if n < 2:
        return None
    total, squares = int(sum(numbers)), sum(int(number) ** 2 for number in numbers)
    return math.sqrt(Fraction(n * squares - total**2, n * (n - 1)))


def round_half_up(value: Fraction | float, decimals: int = 2) -> Decimal:
    """The number as printed tables round it: a half goes up (18.955 is 18.96), where Python's `round` is even.

    A float is taken for the number that it is, a Fraction is exact.
    """
    scaled = Fraction(value) * 10**decimals + Fraction(1, 2)
    return Decimal(math.floor(scaled)).scaleb(-decimals).quantize(Decimal(1).scaleb(-decimals), ROUND_FLOOR)
