"""The words for what becomes of pairs, in the language of a page: states, outcomes, and classes of a map.

The floors below write them in English, for reports and commands too; here each is recognised by its words. Sentences
are in `lead_refusals`.
"""

from __future__ import annotations

import re
from functools import cache

from fcpair.web.languages import Language
from fcpair.web.page_phrases import ANSWER_NAMES, mark, mark_plural

WORDS = (
    # report/map_layers.py: layers, and the classes of each
    mark("State"),
    mark("Tier"),
    mark("Answer"),
    mark("Agreement"),
    mark("Number of labels"),
    mark("Median time"),
    mark("Skips"),
    mark("no label yet"),
    mark("labelled, waits for a person"),
    mark("labelled, waits for a policy"),
    mark("discarded"),
    mark("decided, not validated"),
    mark("valid"),
    mark("not valid"),
    mark("no answer yet"),
    mark("skipped, not answered"),
    mark("answered"),
    mark("in no tier"),
    mark("as many for one as for another"),
    mark("one label alone"),
    mark("half of the labels or fewer are the same"),
    mark("more than half are the same"),
    mark("all are the same"),
    mark("none"),
    mark("not known"),
    mark("never skipped"),
    # report/map_file.py: places without a cell
    mark("in the corpus already, so not in the grid"),
    mark("not in the grid"),
    # report/map_sides.py: orders
    mark("disagreement"),
    mark("cluster"),
    mark("likeness of answers"),
    # steps/release/partition.py: what was answered and decided
    mark("validate"),
    mark("unanimous"),
    mark("majority"),
    mark("no majority"),
    mark("median"),
    mark("no median"),
    mark("person"),
    mark("imported"),
    mark("reopened"),
    mark("taken back"),
    mark("waits for a person"),
    mark("withdrawn"),
    mark("asked by a command"),
    # web/lead/map_figures.py: heads of tables
    mark("Answers"),
    mark("Disagreement"),
)
WITH_VALUES = (
    mark("%(n)s labels or more"),
    mark("%(n)s skips or more"),
    mark("less than %(n)s s"),
    mark("%(low)s to %(high)s s"),
    mark("%(n)s s or more"),
    mark("share of %(answer)s"),
    mark("Share of %(answer)s"),
    mark("asked by %(name)s"),
)
COUNTED = (mark_plural("%(n)s label", "%(n)s labels"), mark_plural("%(n)s skip", "%(n)s skips"))
_TEXTS = {"answer", "name"}  # values that are no numbers
_VALUE = re.compile(r"%\\\((\w+)\\\)s")  # as re.escape leaves it


@cache
def _pattern(message: str) -> re.Pattern[str]:
    group = r"(?P<\1>.+)" if any(f"%({name})s" in message for name in _TEXTS) else r"(?P<\1>[\\d,]+)"
    return re.compile(_VALUE.sub(group, re.escape(message)), re.DOTALL)


def translate_words(words: str, language: Language) -> str:
    """Words of the floors below in a language; all others, such as names that a study gives, as they are."""
    if words in WORDS or words in ANSWER_NAMES:
        return language.find(words)
    for forms in COUNTED:
        if match := next(filter(None, (_pattern(form).fullmatch(words) for form in forms)), None):
            return language.ngettext(*forms, _number(match["n"]))
    for message in WITH_VALUES:
        if match := _pattern(message).fullmatch(words):
            values = {name: _value(name, value, language) for name, value in match.groupdict().items()}
            return language.gettext(message, **values)
    return words


def translate_counts(counts: str, language: Language) -> str:
    """The labels of a pair, as in `2 not_appropriate, 1 appropriate`."""
    parts = (part.partition(" ") for part in counts.split(", ") if part)
    names = (f"{language.number(_number(n))} {language.answer_name(name)}" for n, _, name in parts)
    return language.find(", ").join(names)


def _value(name: str, value: str, language: Language) -> str | int:
    if name not in _TEXTS:
        return _number(value)
    return language.answer_name(value) if name == "answer" else value


def _number(digits: str) -> int:
    return int(digits.replace(",", ""))
