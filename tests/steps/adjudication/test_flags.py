"""Flags at sentences of the guidelines."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fcpair.errors import InputError
from fcpair.grid import AdjudicationQueue, DecisionRequest, Monitor
from fcpair.records import Role
from fcpair.steps.adjudication.discussion import split_sentences
from fcpair.study import Study
from steps.online import admit
from steps.small import assert_refused

At = Callable[[str], Study]
RULES = """# Be kind

A reply is fit when it
answers. Is it rude? Then not.

- Jokes count.
- Jokes count.
2. Links, too
"""


def test_sentences_are_those_of_headings_paragraphs_and_items() -> None:
    assert split_sentences(RULES) == [
        "Be kind",
        "A reply is fit when it answers.",
        "Is it rude?",
        "Then not.",
        "Jokes count.",
        "Links, too",
    ]
    assert split_sentences("") == []


@pytest.fixture
def flagged(at: At) -> tuple[Study, int]:
    """A study in which judy has flagged a decision, and its pair."""
    study = at("labelled")
    study.add_people(["lea"], Role.LEAD)
    study.add_people(["judy"], Role.ADJUDICATOR)
    study.edit_guidelines(RULES, by="lea")
    pair = study.grid().waiting_pairs()[0]
    judy = admit(study, "judy")
    AdjudicationQueue(study.grid()).decide(judy.id, DecisionRequest("r-1", pair, "appropriate", "Irony?", True))
    return study, pair


def test_a_flag_stays_at_its_sentence(flagged: tuple[Study, int]) -> None:
    study, pair = flagged
    grid = study.grid()
    assert [one.sentence for one in Monitor(grid).flags()] == [""]
    run = grid.desk.place_flag(pair, "Jokes count.")
    assert (run.stage, run.params["flag"], run.params["version"]) == ("guidelines", pair, 2)
    study.edit_guidelines("Be kind.", by="lea")
    assert [(one.cell_id, one.sentence) for one in Monitor(grid).flags()] == [(pair, "Jokes count.")]
    grid.desk.place_flag(pair, "")
    assert [one.sentence for one in Monitor(grid).flags()] == [""]


def test_a_flag_is_put_only_at_a_sentence_that_is_there(flagged: tuple[Study, int]) -> None:
    study, pair = flagged
    assert_refused(study, lambda: study.grid().desk.place_flag(pair, "Jokes."), InputError, "has no sentence `Jokes.`")
    assert_refused(study, lambda: study.grid().desk.place_flag(24, "Jokes count."), InputError, "pair 24 has no flag")
