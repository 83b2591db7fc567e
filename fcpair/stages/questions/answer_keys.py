"""The keys by which answers are chosen from a list: one rule for the pages, the dialogue and whatever else has keys."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any

Keys = tuple[str, ...]  # the ways to type one choice, of which a page shows the first; none: it has no key
MOST_PLACES = 9
DISCARD = "x"  # of whoever decides: the pair is irreconcilable
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?=$|[_ ])")


def keys_of(names: Sequence[str]) -> tuple[Keys, ...]:
    """The keys of each of several choices, in their order.

    A number is typed as it is written, in whatever digits that is: `3` is 3 wherever it stands, `1` `0` is 10, `-` `2`
    is -2. Where it is the only one between two whole numbers, the point alone stands for its decimals: `3` `.` is 3.5,
    and so is `3` `.` `5`. Names that all begin with a number (`5_stars`, `4_stars`) have that. Other names have their
    place, `1` to `9`; what comes after the ninth has no key. Where numbers and names stand side by side, the digits are
    the numbers', and the names have no key.

    No two choices have the same keys. One's may begin another's (`3` and `3.`): then what is typed may go on.
    """
    ascii_names = [_in_ascii(name) for name in names]
    numbers = [found[0] if (found := _NUMBER.match(word)) else "" for word in ascii_names]
    if not all(numbers):
        numbers = [number if number == word else "" for number, word in zip(numbers, ascii_names, strict=True)]
    if any(numbers):
        counts = Counter(filter(None, numbers))
        return tuple(_number_keys(word, counts) if counts[word] == 1 else () for word in numbers)
    return tuple((str(at),) if at <= MOST_PLACES else () for at, _ in enumerate(names, 1))


def choices_with_keys(names: Sequence[str]) -> dict[str, list[Any]]:
    """Names as a page lists them: the `choices`, and of each its `keys`."""
    return {"choices": list(names), "keys": [list(keys) for keys in keys_of(names)]}


def _in_ascii(name: str) -> str:
    """The name with digits of every script as 0 to 9, which is what any keyboard says."""
    return "".join(str(unicodedata.decimal(sign, sign)) for sign in name)


def _number_keys(number: str, numbers: Counter[str]) -> Keys:
    whole, point, _ = number.partition(".")
    begun = whole + point
    is_alone = point and sum(other.startswith(begun) for other in numbers) == 1
    return (begun, number) if is_alone else (number,)
