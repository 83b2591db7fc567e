"""Bins of a scale: ranges of its numbers that count as one class, for Cohen's kappa on ratings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fcpair.arrays import Ints
from fcpair.errors import InputError
from fcpair.params import Agree
from fcpair.stages.questions import Closed, Form, Scale

_BIN = re.compile(r"\s*\[?\s*([+-]?[\d.,٫]+)\s*[-–]\s*([+-]?[\d.,٫]+)\s*\]?\s*")


@dataclass(frozen=True)
class Bins:
    """The bins of a scale, ascending: what they are called, and for each code of the scale the bin that it is in.

    `bin_of` has shape (n_codes,), from 0.
    """

    names: tuple[str, ...]
    bin_of: Ints


def parse_bins(question: Closed, bin_texts: Sequence[str]) -> Bins:
    """The bins that are written `1-2`, each from its first number to its last, both of them in it.

    Raises:
        InputError: the question is no scale; fewer than two bins; one that cannot be read, is not on the scale or ends
            before it begins; two that overlap; a number of the scale that is in none.
    """
    if not isinstance(question, Scale):
        raise InputError(f"bins are for numbers on a scale, and this asks {question}")
    if len(bin_texts) < 2:
        raise InputError(f"{len(bin_texts)} bin; expected two or more, which cover the scale from {question.range}")
    ends = sorted(_parse_ends(question, bin_) for bin_ in bin_texts)
    bin_of = np.full(len(question.choices), -1, dtype=np.int64)
    for at, (first, last) in enumerate(ends):
        if (bin_of[first : last + 1] >= 0).any():
            raise InputError(f"bins {_bin_name(question, ends[at - 1])} and {_bin_name(question, ends[at])} overlap")
        bin_of[first : last + 1] = at
    if (bin_of < 0).any():
        missing = ", ".join(question[int(code)].name for code in np.flatnonzero(bin_of < 0)[:5])
        raise InputError(f"no bin has {missing}; expected bins that cover the scale from {question.range}")
    return Bins(tuple(_bin_name(question, bin_) for bin_ in ends), bin_of)


def check_bins(form: Form, bin_texts: Sequence[str]) -> None:
    """Raise InputError unless the bins, if there are any, are those of all scales of a form, and it has one."""
    scales = {name: question for name, question in form.questions if isinstance(question, Scale)}
    if bin_texts and not scales:
        raise InputError(f"bins are for numbers on a scale, and `{form}` asks for none")
    for name, question in scales.items() if bin_texts else ():
        try:
            parse_bins(question, bin_texts)
        except InputError as error:
            raise InputError(f"`{name}`: {error}") from None


def drop_unfit_bins(form: Form, options: Agree) -> Agree:
    """The same options without their bins where these are not for this form."""
    try:
        check_bins(form, options.bins)
    except InputError:
        return replace(options, bins=())
    return options


def _parse_ends(scale: Scale, bin_text: str) -> tuple[int, int]:
    match = _BIN.fullmatch(bin_text)
    if not match:
        raise InputError(f"bin `{bin_text}` cannot be read; expected its first and its last number, such as 1-2")
    try:
        first, last = (scale.read(end) for end in match.groups())
    except InputError as error:
        raise InputError(f"bin `{bin_text}`: {error}") from None
    if last < first:
        raise InputError(f"bin `{bin_text}` ends before it begins")
    return first, last


def _bin_name(scale: Scale, ends: tuple[int, int]) -> str:
    first, last = (scale[code].name for code in ends)
    return first if first == last else f"{first}-{last}"
