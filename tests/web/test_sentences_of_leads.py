"""Sentences that leads alone meet are said in the language of their pages, one or several, and so are their values."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stages.adjudication.test_partition import evidence_of

from fcpair.errors import InputError
from fcpair.params import Partition
from fcpair.records import Figure
from fcpair.stages.adjudication.partition import failed_demands, find_rule, tier_rules
from fcpair.stages.stats.intervals import with_note
from fcpair.stages.stats.jackknife_intervals import Cluster, Sides, Spread, note_basis
from fcpair.web.languages import LANGUAGES, Language
from fcpair.web.lead.people import parse_role
from fcpair.words import Noun
from web.messages import message_texts

PAIR = Noun.of("pair")


class Shouting(Language):
    """A language whose messages are the English ones in capitals."""

    def find(self, text: str) -> str:
        if text not in message_texts():
            return text
        return "".join(part if at % 2 else part.upper() for at, part in enumerate(re.split(r"(%\(\w+\)s)", text)))

    def _forms(self, one: str, many: str) -> tuple[str, ...]:
        return self.find(one), self.find(many)


SHOUTING = Shouting("it")


def shout(sentence: str) -> str:
    return SHOUTING.say(sentence, PAIR)


def test_each_part_of_a_note_is_said() -> None:
    figure = Figure("raw agreement", 0.5, 9, low=0.4, high=0.6, note="the distance of the question")
    spreads = {Cluster.HS: Spread(1, 1200), Cluster.ANNOTATOR: Spread(1, 9)}
    note = note_basis(figure, spreads).note
    assert note == (
        "the distance of the question; interval from 1200 HS, 9 annotators; wide, because of only 9 annotators"
    )
    assert shout(note) == note.upper()
    assert shout(with_note(figure, "nobody knows this").note) == "THE DISTANCE OF THE QUESTION; nobody knows this"


OWN_TIERS = st.fixed_dictionaries(
    {},
    optional={
        "labels": st.integers(1, 3),
        "counted": st.sampled_from(["all", "definite"]),
        "agreement": st.sampled_from(["any", "majority", "unanimous"]),
        "agreeing": st.sampled_from(["answer", "side"]),
        "verdict": st.sampled_from(["accepted", "any", "none"]),
        "answers": st.lists(st.sampled_from(["appropriate", "not_appropriate"]), min_size=1, max_size=2, unique=True),
        "within": st.sampled_from(["gold", "bronze"]),
    },
)
NAMES = re.compile(r"gold|bronze|(?:not )?appropriate", re.IGNORECASE)


@given(plan=OWN_TIERS, labels=st.lists(st.integers(0, 2), min_size=1, max_size=3), final=st.sampled_from([-1, 0, 2]))
def test_the_rule_of_an_own_tier_and_what_a_pair_lacks_are_said(
    plan: dict[str, Any], labels: list[int], final: int
) -> None:
    rule = find_rule(tier_rules(Partition(own_tiers={"mine": plan})), "mine")
    for sentence in (str(rule), *failed_demands(evidence_of((labels, final, -1)), rule, 0)):
        assert not re.search("[a-z]", NAMES.sub("", shout(sentence))), shout(sentence)


def test_a_rule_has_the_signs_of_the_language() -> None:
    plan = {"labels": 2, "answers": ["appropriate"], "within": "gold"}
    rule = str(find_rule(tier_rules(Partition(own_tiers={"mine": plan})), "mine"))
    assert rule == "2 labels or more; valid; final label appropriate; within gold"
    assert LANGUAGES["fr"].say(rule, PAIR) == (
        "2 étiquettes ou plus ; valide ; étiquette finale approprié ; parmi gold"
    )


@pytest.mark.parametrize("fixed", [None, Cluster.HS, Cluster.CN])
@pytest.mark.parametrize("names", [("HS", "CN"), ("row", "column")])
def test_what_intervals_are_for_is_said(names: tuple[str, str], fixed: Cluster | None) -> None:
    sides = Sides(names, fixed)
    for scope in (sides.new_texts, sides.interval_scope("texts"), sides.interval_scope("annotators")):
        assert shout(scope) == scope.upper()


def test_a_refused_role_is_said_with_those_that_there_are() -> None:
    with pytest.raises(InputError) as refusal:
        parse_role("boss")
    assert shout(str(refusal.value)).startswith("THERE IS NO ROLE `boss`; EXPECTED ONE OF ANNOTATOR, ADJUDICATOR, ")


def test_figures_in_notes_have_the_digits_of_the_language() -> None:
    note = note_basis(Figure("raw agreement", 0.5, 9, low=0.4, high=0.6), {Cluster.HS: Spread(1, 12)}).note
    assert "\u06f1\u06f2 HS" in LANGUAGES["fa"].say(note, PAIR)
