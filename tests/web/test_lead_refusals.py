"""Sentences that leads alone meet are known by their words, one or several, and so are the values in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stages.adjudication.test_partition import evidence_of

from fcpair.params import Partition
from fcpair.stages.adjudication.partition import failed_demands, find_rule, tier_rules
from fcpair.stages.stats.jackknife_intervals import Cluster, Sides
from fcpair.web.act_refusals import ACT_SENTENCES
from fcpair.web.languages import LANGUAGES, Language
from fcpair.web.lead_refusals import FIGURE_SENTENCES, LEAD_SENTENCES
from fcpair.web.refusals import translate
from fcpair.words import Noun
from web.messages import message_texts

PACKAGE = Path(__file__).parents[2] / "fcpair"
PAIR = Noun.of("pair")
VALUE = re.compile(r"%\((\w+)\)s")
VALUES = {
    **dict.fromkeys(("number", "least", "most", "all"), "12"),
    **dict.fromkeys(("figure", "total"), "0.5"),
    **dict.fromkeys(("percent", "share", "level"), "95 %"),
}


class Shouting(Language):
    """A language whose messages are the English ones in capitals."""

    def find(self, text: str) -> str:
        if text not in message_texts():
            return text
        return "".join(part if at % 2 else part.upper() for at, part in enumerate(re.split(r"(%\(\w+\)s)", text)))

    def _forms(self, one: str, many: str) -> tuple[str, ...]:
        return self.find(one), self.find(many)


SHOUTING = Shouting("it")


def say(sentence: str) -> str:
    return translate(sentence, SHOUTING, PAIR)


def fill(sentence: str) -> str:
    return sentence % {name: VALUES.get(name, "zoe") for name in VALUE.findall(sentence)}


@pytest.mark.parametrize("sentence", [*FIGURE_SENTENCES, *LEAD_SENTENCES, *ACT_SENTENCES])
def test_a_sentence_is_known_by_its_words(sentence: str) -> None:
    letters = re.sub(r"zoe|[^a-z]", "", say(fill(sentence)))
    assert letters == "", say(fill(sentence))


def test_each_part_of_a_note_is_known() -> None:
    used, interval = "overlap subsets: 3 used, 1 undefined and left out", "interval from 1,200 HS, 9 annotators"
    note = say(f"{used}; {interval}; wide, because of only 9 annotators")
    assert note == f"{used}; {interval}; wide, because of only 9 annotators".upper().replace("1,200", "1.200")
    assert say("the distance of the question; nobody knows this") == "THE DISTANCE OF THE QUESTION; nobody knows this"


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
def test_the_rule_of_an_own_tier_and_what_a_pair_lacks_are_known(
    plan: dict[str, Any], labels: list[int], final: int
) -> None:
    rule = find_rule(tier_rules(Partition(own_tiers={"mine": plan})), "mine")
    for sentence in (str(rule), *failed_demands(evidence_of((labels, final, -1)), rule, 0)):
        assert not re.search("[a-z]", NAMES.sub("", say(sentence))), say(sentence)


def test_a_rule_has_the_signs_of_the_language() -> None:
    rule = "2 labels or more; valid; final label appropriate; within gold"
    assert translate(rule, LANGUAGES["fr"], PAIR) == (
        "2 étiquettes ou plus ; valide ; étiquette finale approprié ; parmi gold"
    )


@pytest.mark.parametrize("fixed", [None, Cluster.HS, Cluster.CN])
@pytest.mark.parametrize("names", [("HS", "CN"), ("row", "column")])
def test_what_intervals_are_for_is_known(names: tuple[str, str], fixed: Cluster | None) -> None:
    sides = Sides(names, fixed)
    for scope in (sides.new_texts, sides.interval_scope("texts"), sides.interval_scope("annotators")):
        assert say(scope) == scope.upper()


def test_roles_and_answers_are_said_in_the_language() -> None:
    refused = say("there is no role `boss`; expected one of lead, writer")
    assert refused == "THERE IS NO ROLE `boss`; EXPECTED ONE OF LEAD, WRITER"
    caution = say(
        "93 % of the labels are not_sure, and kappas rest on the few others: 95 % intervals contained the true value "
        "in as few as 72 of 100 simulated studies like this"
    )
    assert caution.startswith("93% OF THE LABELS ARE NOT SURE, AND KAPPAS")


def test_figures_in_notes_have_the_digits_of_the_language() -> None:
    note = translate("interval from 12 HS", LANGUAGES["fa"], PAIR)
    assert "\u06f1\u06f2 HS" in note


def test_sentences_about_figures_are_those_that_the_floors_say() -> None:
    texts = [path.read_text("utf-8") for path in (PACKAGE / "stages").rglob("*.py")]
    source = re.sub(r'"\s*\n\s*f?"', "", "\n".join(texts))
    ends = re.compile(r"%\(\w+\)s|[.;:,] | on bins| exactly | two or more |class|bin\b")
    pieces = {sentence: max(ends.split(sentence), key=len) for sentence in FIGURE_SENTENCES}
    assert {sentence: piece for sentence, piece in pieces.items() if piece not in source} == {}
