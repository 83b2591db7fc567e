"""Refusals and remarks that people meet, in their language; `lead_refusals` and `act_refusals` have those of leads.

The floors below say them in English; here each is recognised by its words, alone or after others. What is not
recognised stays in English.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from fcpair.web.act_refusals import ACT_SENTENCES
from fcpair.web.languages import ENGLISH, Language
from fcpair.web.lead_refusals import FIGURE_SENTENCES, LEAD_SENTENCES
from fcpair.web.page_phrases import ROLE_NAMES, mark, mark_plural
from fcpair.words import Noun

SENTENCES = (
    # steps/answers/submissions.py
    mark("this pair is not assigned to you, or no longer is; somebody else has it now, and your answer was not needed"),
    mark("the label of this pair has changed since you saw it; please look at it again"),
    mark(
        "this verdict does not say which label you saw, probably because it was given on a page of an older fcpair; "
        "please look at the pair again"
    ),
    mark(
        "you have opted out of a topic of this pair since, here or on another device, so your answer was not stored; "
        "you can opt in again under Settings"
    ),
    mark(
        "you have just answered this pair in another window or on another device: that answer counts, and this one was "
        "not stored; press Undo to see it"
    ),
    mark(
        "you have just skipped this pair in another window or on another device: that answer counts, and this one was "
        "not stored; press Undo to see it"
    ),
    mark("this pair has been given to somebody else; your answer was not needed"),
    mark(
        "the discussion has begun, or is over, so your first answer stands; where people differed you can "
        "answer once more"
    ),
    mark("answers that an older version of this page kept can no longer be stored; please give them again"),
    mark("somebody else has this pair now, since you skipped it"),
    mark(
        "you have not qualified yet, so your answer was not stored; load the page again to go on with your "
        "qualification, or wait until the people who run the study have looked at it"
    ),
    mark("your qualification is over, so its answers can no longer be changed"),
    mark("please read what the study is about and agree to take part first"),
    mark("only people who answer rounds have open work"),
    # steps/adjudication/adjudication_queue.py
    mark("only invited adjudicators can decide here"),
    # steps/people/access.py
    mark("there are no pages in `%(code)s`; expected one of %(codes)s"),
    # steps/people/reading_limits.py
    mark("You have read %(n_nouns)s, as many as one person may read in this study. Thank you."),
    mark("You have read %(n_nouns)s today, as many as one person may read in a day. Please come back tomorrow."),
    mark(
        "You have read %(n_nouns)s today, as many as one person may read in a day. The recorded time of %(number)s of "
        "them is in the future: a clock was or is wrong. Please tell the people who run the study."
    ),
    # steps/rules/text_checks.py
    mark("Please write %(least)s words or more; this text has %(number)s."),
    mark("Please write %(most)s words or fewer; this text has %(number)s."),
    mark("This text seems to be in another language (`%(code)s`); please write it in `%(expected)s`."),
    mark(
        "This text is very much like one that you or many others have written (“%(text)s”); please say it in another "
        "way, or say something else."
    ),
    mark("The grammar cannot be checked right now; your text can be saved as it is."),
    # steps/rules/permissions.py
    mark("pair %(number)s has no label, so there is nothing to decide"),
    mark("pair %(number)s is still being labelled; it can be decided when all its labels are in"),
    mark("pair %(number)s is still being labelled; it can be checked when all its labels are in"),
    mark("`%(name)s` labelled pair %(number)s, so somebody else must decide it"),
    mark("`%(name)s` validates pair %(number)s, so somebody else must decide it"),
    mark("`%(name)s` opted out of a topic of pair %(number)s, so somebody else must decide it"),
    mark("the labels of pair %(number)s agree, so there is nothing to decide"),
    mark("pair %(number)s has been decided by a rule meanwhile"),
    mark("pair %(number)s has been decided by a file meanwhile"),
    mark("pair %(number)s has been decided by %(name)s meanwhile"),
    mark(
        "pair %(number)s has been decided by %(name)s meanwhile, and only the person who decided, or a lead, can take "
        "that back"
    ),
    mark("pair %(number)s has been decided by %(name)s meanwhile, and only a lead can take that back"),
    mark("pair %(number)s has been decided since it was shown; look at it again"),
    mark("pair %(number)s has been taken back since it was shown; look at it again"),
    mark("a label of pair %(number)s has changed since it was shown; look at it again"),
    mark("pair %(number)s has no current decision, so there is none to take back"),
    mark(
        "a rule has decided pair %(number)s: such a decision follows the labels, so there is nothing to take back; "
        "decide the pair yourself to replace it"
    ),
    # web
    mark("this is not for %(people)s"),
    mark("this form was not sent from a page of this study; open your invite link again"),
    mark("the form is out of date, or was not sent from a page of this study; load it again"),
    mark("there is nothing to decide in this study yet"),
    mark("there is nothing at this address"),
    mark("this address does not support this method"),
    mark("the form that was sent cannot be read"),
    mark("the form cannot be read: %(reason)s"),
    mark("the study cannot be read or written just now; try again, and if that does not help, tell those who run it"),
    mark("the server is busy just now; nothing was changed. Please try again in a moment"),
    mark("too many requests at once; what was shown or saved before is safe. Please try again"),
    mark("fcpair itself failed; what was saved before is safe. The log of the server says where"),
)
PEOPLE = (
    mark("annotators"),
    mark("validators"),
    mark("writers"),
    mark("raters"),
    mark("respondents"),
    mark("adjudicators"),
)
ALL_SENTENCES = (*SENTENCES, *LEAD_SENTENCES, *ACT_SENTENCES, *FIGURE_SENTENCES)
SIDES = (mark("row"), mark("rows"), mark("column"), mark("columns"))  # as planned grids call them
COUNTED = {
    "label": mark_plural("%(n)s label", "%(n)s labels"),
    "skip": mark_plural("%(n)s skip", "%(n)s skips"),
    "annotator": mark_plural("%(n)s annotator", "%(n)s annotators"),
    "row": mark_plural("%(n)s row", "%(n)s rows"),
    "column": mark_plural("%(n)s column", "%(n)s columns"),
}
_COUNTED = re.compile(rf"([\d,]+) ({'|'.join(COUNTED)})s?")
_JOINT = re.compile("|".join((r"(?<=[.!?]) ", mark("; "))))  # between two sentences
_VALUE = re.compile(r"%\\\((\w+)\\\)s")  # as re.escape leaves it
_NUMBERS = ("number", "least", "most", "all")
_VALUES = {
    **dict.fromkeys(_NUMBERS, r"[\d,]+"),
    "n_nouns": r"[\d,]+ pairs?",
    **dict.fromkeys(("answer", "answers"), "[^;]*"),
    **dict.fromkeys(("figure", "total"), r"-?[\d,.]+"),
    **dict.fromkeys(("percent", "share", "level"), r"[\d,.]+ %"),
}


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(_VALUE.sub(_to_group, re.escape(one)), re.DOTALL), one) for one in ALL_SENTENCES)


def _to_group(match: re.Match[str]) -> str:
    name = match[1]
    return f"(?P<{name}>{_VALUES.get(name, '.*')})"


def translate(sentence: str, language: Language, noun: Noun) -> str:
    """One or several sentences of fcpair's in a language, for people whose work comes in units of this noun."""
    if language is ENGLISH:
        return noun.replace_pairs(sentence)
    sentence = sentence.removesuffix("\n")
    if (whole := _translate_whole(sentence, language, noun)) is not None:
        return whole
    for joint in _JOINT.finditer(sentence):
        if (first := _translate_whole(sentence[: joint.start()], language, noun)) is not None:
            return f"{first}{language.find(joint[0])}{translate(sentence[joint.end() :], language, noun)}"
    return sentence


def _translate_whole(sentence: str, language: Language, noun: Noun) -> str | None:
    for pattern, message in _patterns():
        if match := pattern.fullmatch(sentence):
            values = {name: _translate_value(name, value, language, noun) for name, value in match.groupdict().items()}
            return language.gettext(message, **language.noun_phrases(noun), **values)
    if counted := _COUNTED.fullmatch(sentence):
        return language.ngettext(*COUNTED[counted[2]], _number(counted[1]))
    found = language.find(sentence)
    return None if found == sentence else found


def _translate_value(name: str, value: str, language: Language, noun: Noun) -> Any:
    if name in _NUMBERS:
        return language.digits(_number(value))
    if name in _LISTS:
        return language.find(", ").join(_LISTS[name](language, part) for part in value.split(", "))
    match name:
        case "n_nouns":
            return language.count(noun, _number(value))
        case "figure" | "total":
            return language.figure(value)
        case "percent" | "share" | "level":
            return language.percent(value)
    return language.find(value) if value in {*PEOPLE, *SIDES, *ROLE_NAMES} else value


def _translate_size(language: Language, size: str) -> str:
    """How many there are of a kind, such as `12 HS` or `9 annotators`."""
    if counted := _COUNTED.fullmatch(size):
        return language.ngettext(*COUNTED[counted[2]], _number(counted[1]))
    number, _, side = size.partition(" ")
    return f"{language.figure(number)} {side}"


def _number(written: str) -> int:
    return int(written.split(maxsplit=1)[0].replace(",", ""))


_LISTS: dict[str, Callable[[Language, str], str]] = {
    **dict.fromkeys(("answer", "answers", "question"), Language.answer_name),
    **dict.fromkeys(("sizes", "few"), _translate_size),
    "roles": lambda language, role: language.find(role),
}
"""Values that are one thing or several, separated by commas, and how each of them is said."""
