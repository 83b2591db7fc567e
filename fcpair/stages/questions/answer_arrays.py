"""Answers as arrays: the codes of the parts that agreement is measured on, and the numbers that codes stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.stages.questions.base import NO_CODE, Closed, Question
from fcpair.stages.questions.form import Form


def part_codes(question: Question[Any] | Form, stored: Sequence[Any]) -> Ints:
    """The codes of answers in each part of a question or a form, shape `(n_answers, n_parts)`.

    `stored` has the distinct answers of a round, as `asked.store` gave them; None stands for no answer, which has -1 in
    every part. A judgement points at one of them, so that `part_codes(asked, stored)[answers]` has a row for each.
    """
    parts = question.parts()
    nothing = (NO_CODE,) * len(parts)
    rows = [nothing if answer is None else question.part_codes(question.load(answer)) for answer in stored]
    return np.array(rows, dtype=np.int64).reshape(len(rows), len(parts))


def numbers(question: Closed, codes: Ints) -> Floats:
    """The number of each code of a closed question, of the shape of `codes`; NaN for -1.

    They are what the interval distance is taken from: the values of a scale, else the codes themselves.
    """
    place = np.searchsorted(question.codes, codes)
    return np.where(codes == NO_CODE, np.nan, np.asarray(question.numbers)[place])
