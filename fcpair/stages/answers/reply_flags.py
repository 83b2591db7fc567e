"""Marks on what a model replied, for those who curate it: nothing is dropped or mended, only said."""

from __future__ import annotations

import re

from fcpair.stages.corpus.folding import fold_letters
from fcpair.stages.questions import Text, n_words
from fcpair.values import is_blank

EMPTY, TOO_LONG, TOO_SHORT, REFUSAL, SEVERAL, LANGUAGE, DUPLICATE_KEYS = (
    "empty",
    "too long",
    "too short",
    "refusal",
    "several replies",
    "wrong language",
    "duplicate keys",  # of a JSON object with an answer to each of several questions
)
MARKS = (EMPTY, TOO_LONG, TOO_SHORT, REFUSAL, SEVERAL, LANGUAGE, DUPLICATE_KEYS)
"""All marks, in the order in which a reply gets them."""
_BEGINNING = 200  # characters in which a refusal says so
_NO = r"(?:cannot|can't|can not|won't|will not|(?:am|'m) (?:not able|unable) to|must decline to)"
_DO = r"(?:assist|comply|fulfil|generate|provide|produce|create|write|help (?:you|with)|respond to|reply to)"
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
"""Patterns of what models say who do not answer, in English and in Persian, of texts as `_plain` folds them.

They name the help that is declined, or who speaks: "I'm sorry, but cyclists pay taxes" and "I can't help but wonder"
are what counter-narratives say. None of CrowdCounter's 3,435 and none of ParsCN's 1,100 is taken for a refusal.
"""
_REFUSAL = re.compile("|".join(REFUSALS))
_DIGIT = "[0-9۰-۹٠-٩]"
_LISTED = re.compile(rf"^\s*(?:\(?{_DIGIT}{{1,2}}\s?[.):-]|[-*•]\s)", re.MULTILINE)
_OPTION = re.compile(
    rf"^\W*(?:option|reply|response|version|گزینه|پاسخ|نسخه)\s*(?:{_DIGIT}{{1,2}}|[a-d])\b", re.I | re.M
)
_PARTED = re.compile(r"\n\s*\n")
_LETTERS = str.maketrans({"’": "'", "‘": "'", "ئ": "ی", "أ": "ا"})


def find_marks(reply: str, question: Text, language: str | None = None) -> tuple[str, ...]:
    """The marks of a reply to a question that asks for one text.

    Args:
        reply: what the model said, verbatim.
        question: its word limits say what is too long or too short.
        language: the language that the reply is in instead of the one that was asked for; None where it is not.

    Returns:
        Some of `MARKS`: `empty`; `too long` and `too short` by the words; `refusal` where it begins, within 200
        characters, by one of `REFUSALS`; `several replies` where it has two or more lines of a list, a line that begins
        as an option does ("Option 1"), or several paragraphs; `wrong language`. An empty reply has no other mark.
    """
    if is_blank(reply):
        return (EMPTY,)
    n = n_words(reply)
    is_marked = {
        TOO_LONG: question.max_words is not None and n > question.max_words,
        TOO_SHORT: n < question.min_words,
        REFUSAL: bool(_REFUSAL.search(_fold_text(reply)[:_BEGINNING])),
        SEVERAL: len(_LISTED.findall(reply)) > 1 or bool(_OPTION.search(reply) or _PARTED.search(reply.strip())),
        LANGUAGE: language is not None,
    }
    return tuple(name for name, is_so in is_marked.items() if is_so)


def _fold_text(text: str) -> str:
    """The text in small letters with plain quotes, one form of each Persian letter, and one space between words."""
    return " ".join(fold_letters(text.replace("\u200c", " ")).translate(_LETTERS).casefold().split())
