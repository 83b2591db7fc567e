"""Replies of models: marks for those who curate them, which drop and mend nothing, and which answer was given to a
closed question; and whether a column of a file was sorted apart from its rows, as by a spreadsheet program.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from math import exp, lgamma, log
from typing import NamedTuple

from fcpair.errors import InputError
from fcpair.stages.corpus.text_identity import fold_letters
from fcpair.stages.questions import Text, n_words
from fcpair.values import is_blank, parse_json, with_point

# All marks, in the order in which a reply gets them.
EMPTY, TOO_LONG, TOO_SHORT, REFUSAL, SEVERAL, LANGUAGE, DUPLICATE_KEYS = MARKS = (
    "empty",
    "too long",
    "too short",
    "refusal",
    "several replies",
    "wrong language",
    "duplicate keys",  # of a JSON object with an answer to each of several questions
)
_BEGINNING = 200  # characters in which a refusal says so
_NO = r"(?:cannot|can't|can not|won't|will not|(?:am|'m) (?:not able|unable) to|must decline to)"
_DO = r"(?:assist|comply|fulfil|generate|provide|produce|create|write|help (?:you|with)|respond to|reply to)"
# Patterns of what models say who do not answer, in English and in Persian, of texts as `_plain` folds them. They
# name the help that is declined, or who speaks: "I'm sorry, but cyclists pay taxes" and "I can't help but wonder"
# are what counter-narratives say. None of CrowdCounter's 3,435 and none of ParsCN's 1,100 is taken for a refusal.
REFUSALS = (
    rf"\bi ?{_NO} {_DO}",
    rf"\bi(?:'m| am) sorry,? (?:but )?i ?{_NO}\b",
    r"\bas an? (?:ai|artificial intelligence|(?:large )?language model)\b",
    r"\bi(?:'m| am) (?:just |only )?an? (?:ai|artificial intelligence|(?:large )?language model)\b",
    r"\bi (?:do not|don't) feel comfortable\b",
    r"\b(?:against|violates?) (?:my|our) (?:guidelines|policy|policies|programming|principles)\b",
    "متاسفم،? (?:اما |ولی )?(?:من )?نمی ?توانم",
    "نمی ?توانم (?:به این درخواست|به این سوال|به این پیام|چنین|کمک|پاسخی? (?:ارایه|بدهم|دهم))",
    "قادر به (?:کمک|پاسخ|تولید|ارایه|انجام|نوشتن)[^.؟!]{0,40} نیستم",
    "به ?عنوان (?:یک )?(?:مدل زبانی|هوش مصنوعی|دستیار هوش مصنوعی)",
    "من (?:یک |فقط یک )?(?:مدل زبانی|هوش مصنوعی) هستم",
)
_REFUSAL = re.compile("|".join(REFUSALS))
_DIGIT = "[0-9۰-۹٠-٩]"
_LISTED = re.compile(rf"^\s*(?:\(?{_DIGIT}{{1,2}}\s?[.):-]|[-*•]\s)", re.MULTILINE)
_OPTION = re.compile(
    rf"^\W*(?:option|reply|response|version|گزینه|پاسخ|نسخه)\s*(?:{_DIGIT}{{1,2}}|[a-d])\b", re.I | re.M
)
_PARTED = re.compile(r"\n\s*\n")
_LETTERS = str.maketrans({"’": "'", "‘": "'", "ئ": "ی", "أ": "ا"})


def find_marks(reply: str, question: Text, language: str | None = None) -> tuple[str, ...]:
    """The marks of a reply to a question for one text, some of `MARKS`; an empty reply has no other.

    `language` is the one that the reply is in instead of what was asked for; None where it is not. `refusal`: it
    begins, within 200 characters, by one of `REFUSALS`. `several replies`: two or more lines of a list, a line that
    begins as an option does ("Option 1"), or several paragraphs.
    """
    if is_blank(reply):
        return (EMPTY,)
    n = n_words(reply)
    folded = " ".join(fold_letters(reply.replace("\u200c", " ")).translate(_LETTERS).casefold().split())
    is_marked = {
        TOO_LONG: question.max_words is not None and n > question.max_words,
        TOO_SHORT: n < question.min_words,
        REFUSAL: bool(_REFUSAL.search(folded[:_BEGINNING])),
        SEVERAL: len(_LISTED.findall(reply)) > 1 or bool(_OPTION.search(reply) or _PARTED.search(reply.strip())),
        LANGUAGE: language is not None,
    }
    return tuple(name for name, is_so in is_marked.items() if is_so)


ALL = "(all)"  # beside the options: the probability that they have together, among everything that could be said
TOLERANCE = 1e-3  # in which probabilities add up to 1: files round them
LEAST_MASS = 0.5
_LETTER = r"[(\[\"'*]*({names})[)\]\"'*]*(?:[.:,)\n].*)?\s*"


def read_choice(reply: str, names: Sequence[str], texts: Sequence[str] = ()) -> str | None:
    """The one of these names (such as `A`, `B`, `C`, which stand for `texts`) that a reply gives; None: it cannot be
    read.

    It is read if it is a name but for capitals, alone, in brackets, quotes or asterisks, or before a full stop, colon,
    comma, bracket or line break (`B`, `(b)`, `B. It is not said`); if it is the text of one option, but for capitals,
    spaces and a full stop; or if it holds the text of one option alone. `A night owl` is not read by its first letter.
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


def read_probabilities(reply: str, names: Sequence[str]) -> ProbabilityReading:
    """Read `parse_probabilities` and which answer is the likeliest; InputError also where several are."""
    shares, note = parse_probabilities(reply, names)
    if (n := shares.count(max(shares))) > 1:
        raise InputError(
            f"{n} answers tie as the likeliest, at {max(shares):g}; the probabilities count, but no answer does"
        )
    return ProbabilityReading(names[shares.index(max(shares))], shares, note)


def parse_probabilities(reply: str, names: Sequence[str]) -> tuple[tuple[float, ...], str]:
    """Read probabilities, in the order of `names`, and a remark: a JSON object with one for each name, and under `ALL`
    what they have among everything. Raises InputError for anything else, or probabilities that do not add up to 1.
    """
    try:
        probabilities = parse_json(reply)
    except (ValueError, RecursionError):
        probabilities = None
    if not isinstance(probabilities, Mapping) or not set(names) <= set(probabilities) <= {*names, ALL}:
        raise InputError(f"expected a JSON object with the probability of each of {', '.join(names)}")
    shares = tuple(float(probabilities[name]) if _is_number(probabilities[name]) else math.nan for name in names)
    if any(not 0 <= share <= 1 for share in shares) or abs(sum(shares) - 1) > TOLERANCE:
        raise InputError(f"the probabilities are {', '.join(map(str, shares))}; expected numbers that add up to 1")
    mass = probabilities.get(ALL, 1.0)
    is_low = _is_number(mass) and mass < LEAST_MASS
    return shares, f"all answers together have {mass:.3g} of the probability" if is_low else ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


RARE = 0.001  # how seldom chance would sort the cells so, for them to be called sorted


def is_ascending(places: Sequence[int]) -> bool:
    """Return whether rows stand in the order of their places, so that they were not sorted by anything else."""
    return all(one < other for one, other in pairwise(places))


def is_sorted(cells: Sequence[str]) -> bool:
    """Return whether the cells of a column, row by row, are sorted, and fewer than 0.1 % of all their orders would be.

    They are sorted where equal ones stand together, in whatever order of the words, or where all ascend or descend, as
    numbers if they are numbers. Empty cells are left out: a program moves them to one end. Cells that are all the same
    have one order only, so they are not sorted.
    """
    filled = [cell.strip().casefold() for cell in cells if cell.strip()]
    n_each = Counter(filled)
    log_alike = sum(lgamma(n + 1) for n in n_each.values()) - lgamma(len(filled) + 1)
    is_together = len(n_each) == sum(1 for _ in groupby(filled))
    if is_together and exp(log_alike + lgamma(len(n_each) + 1)) < RARE:
        return True
    if exp(log_alike + log(2)) >= RARE:
        return False
    try:
        ranks = [float(with_point(cell)) for cell in filled]
    except ValueError:  # texts that come before numbers in one program come after them in another
        places = {cell: float(rank) for rank, cell in enumerate(sorted(set(filled)))}
        ranks = [places[cell] for cell in filled]
    return sorted(ranks) in (ranks, ranks[::-1])
