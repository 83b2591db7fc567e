"""Which answer of a closed question a model gave: in what it wrote, or in how probable it holds each."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fcpair.errors import InputError
from fcpair.values import parse_json

TOLERANCE = 1e-3  # in which probabilities add up to 1: files round them
LEAST_MASS = 0.5
_LETTER = r"[(\[\"'*]*({names})[)\]\"'*]*(?:[.:,)\n].*)?\s*"


def read_choice(reply: str, names: Sequence[str], texts: Sequence[str] = ()) -> str | None:
    """The one of these names that a reply gives; None where it cannot be read.

    It is read if it is a name but for capitals, alone, in brackets, quotes or asterisks, or before a full stop, colon,
    comma, bracket or line break (`B`, `(b)`, `B. It is not said`); or if it is the text of one option, but for
    capitals, spaces and a full stop; or if it holds the text of one option, and of no other. `A night owl` is not read
    by its first letter.

    Args:
        reply: what was written.
        names: how answers are called, such as `A`, `B`, `C`.
        texts: what each of them stands for, where that is known.
    """
    names_by_folded = {name.casefold(): name for name in names}
    alternatives = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    if match := re.fullmatch(_LETTER.format(names=alternatives), reply.strip(), re.IGNORECASE | re.DOTALL):
        return names_by_folded[match[1].casefold()]
    folded_reply = _fold(reply)
    equal = [name for name, text in zip(names, texts, strict=False) if _fold(text) == folded_reply]
    contained = [name for name, text in zip(names, texts, strict=False) if _fold(text) and _fold(text) in folded_reply]
    readings = equal or contained
    return readings[0] if len(readings) == 1 else None


def _fold(text: str) -> str:
    return " ".join(text.split()).rstrip(".").casefold()


class ProbabilityReading(NamedTuple):
    """Probabilities that a model gives each answer: the likeliest, all probabilities in their order, and a remark."""

    likeliest: str
    shares: tuple[float, ...]
    note: str


def read_probabilities(reply: str, names: Sequence[str], all_: str = "(all)") -> ProbabilityReading:
    """Read probabilities as `parse_probabilities` has them, and which answer is the likeliest.

    Raises:
        InputError: what `parse_probabilities` raises, or several answers are the likeliest.
    """
    shares, note = parse_probabilities(reply, names, all_)
    if (n := shares.count(max(shares))) > 1:
        raise InputError(
            f"{n} answers tie as the likeliest, at {max(shares):g}; the probabilities count, but no answer does"
        )
    return ProbabilityReading(names[shares.index(max(shares))], shares, note)


def parse_probabilities(reply: str, names: Sequence[str], all_: str = "(all)") -> tuple[tuple[float, ...], str]:
    """Read probabilities: a JSON object with one for each name, and under `all_` what they have among everything.

    Returns:
        All in the order of `names`, which are tied where several are the highest; and a remark, mostly empty.

    Raises:
        InputError: no such object, a number below 0, or probabilities that do not add up to 1.
    """
    try:
        probabilities = parse_json(reply)
    except (ValueError, RecursionError):
        probabilities = None
    if not isinstance(probabilities, Mapping) or not set(names) <= set(probabilities) <= {*names, all_}:
        raise InputError(f"expected a JSON object with the probability of each of {', '.join(names)}")
    shares = tuple(float(probabilities[name]) if _is_number(probabilities[name]) else math.nan for name in names)
    if any(not 0 <= share <= 1 for share in shares) or abs(sum(shares) - 1) > TOLERANCE:
        raise InputError(f"the probabilities are {', '.join(map(str, shares))}; expected numbers that add up to 1")
    mass = probabilities.get(all_, 1.0)
    is_low = _is_number(mass) and mass < LEAST_MASS
    return shares, f"all answers together have {mass:.3g} of the probability" if is_low else ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
