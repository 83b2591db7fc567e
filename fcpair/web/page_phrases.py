"""Phrases of the pages that messages are made of: units of work in the forms that sentences need, and names of answers.

A noun has other articles, genders and plurals in every language, so each form of each noun is a message of its own.
"""

from __future__ import annotations

from typing import NamedTuple

from fcpair.sentences import mark, mark_plural


class NounPhrases(NamedTuple):
    """A unit of work as sentences have it."""

    counted: tuple[str, str]
    noun: str
    nouns: str
    this_noun: str
    first_noun: str
    next_noun: str
    last_noun: str


NOUN_PHRASES = {
    "pair": NounPhrases(
        mark_plural("%(n)s pair", "%(n)s pairs"),
        mark("pair"),
        mark("pairs"),
        mark("this pair"),
        mark("the first pair"),
        mark("the next pair"),
        mark("the last pair"),
    ),
    "statement": NounPhrases(
        mark_plural("%(n)s statement", "%(n)s statements"),
        mark("statement"),
        mark("statements"),
        mark("this statement"),
        mark("the first statement"),
        mark("the next statement"),
        mark("the last statement"),
    ),
    "text": NounPhrases(
        mark_plural("%(n)s text", "%(n)s texts"),
        mark("text"),
        mark("texts"),
        mark("this text"),
        mark("the first text"),
        mark("the next text"),
        mark("the last text"),
    ),
    "reply": NounPhrases(
        mark_plural("%(n)s reply", "%(n)s replies"),
        mark("reply"),
        mark("replies"),
        mark("this reply"),
        mark("the first reply"),
        mark("the next reply"),
        mark("the last reply"),
    ),
    "item": NounPhrases(
        mark_plural("%(n)s item", "%(n)s items"),
        mark("item"),
        mark("items"),
        mark("this item"),
        mark("the first item"),
        mark("the next item"),
        mark("the last item"),
    ),
    "question": NounPhrases(
        mark_plural("%(n)s question", "%(n)s questions"),
        mark("question"),
        mark("questions"),
        mark("this question"),
        mark("the first question"),
        mark("the next question"),
        mark("the last question"),
    ),
    "case": NounPhrases(
        mark_plural("%(n)s case", "%(n)s cases"),
        mark("case"),
        mark("cases"),
        mark("this case"),
        mark("the first case"),
        mark("the next case"),
        mark("the last case"),
    ),
}

ROLE_NAMES = (
    mark("annotator"),
    mark("validator"),
    mark("adjudicator"),
    mark("writer"),
    mark("rater"),
    mark("respondent"),
    mark("model"),
    mark("lead"),
)
"""Roles, as leads read them."""

RULE_NAMES = (mark("person"), mark("imported"), mark("reopened"), mark("validate"))
"""How pairs were decided, and the round that checks it, as leads read them, where these are no policies of theirs."""

ANSWER_NAMES = (
    mark("appropriate"),
    mark("not appropriate"),
    mark("not sure"),
    mark("agree"),
    mark("disagree"),
    mark("accept"),
    mark("edit"),
    mark("reject"),
    mark("irreconcilable"),
    mark("skip"),
    mark("skipped"),
    mark("yes"),
    mark("no"),
    mark("decline"),
    mark("label"),
    mark("own label"),
    mark("verdict"),
    mark("answer"),
)
"""Names of answers and questions that recipes use without a wording; those that a study thinks up stay as they are."""
