"""Figures in the log: what it lacks of them is said, and what they no longer rest on all of is noted anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fcpair.params import Adjudicate, Agree
from fcpair.steps.adjudication.agreement import note_agreement
from fcpair.study import Study
from steps.online import at_desk, give
from steps.small import labels_of, record

At = Callable[[str], Study]
HOW = "`fcpair recipe > study.toml` and `fcpair run study.toml`"


@pytest.fixture
def noted(at: At) -> Study:
    """A finished study whose figures are in the log."""
    study = at("checked")
    study.grid().adjudicate(Adjudicate("majority", "discard"))
    assert stages_of_walk(study) == ["agreement", "partition"]
    return study


def stages_of_walk(study: Study) -> list[str]:
    return [run.stage for run in study.walk(study.recipe())]


def outdated(what: str) -> str:
    return f"{what} noted before the newest answers or decisions; {HOW} note them anew, once all is answered"


def test_what_was_never_noted_is_missing(at: At) -> None:
    assert at("dealt").methods().notes == ()  # nothing to be measured yet
    study = at("labelled")
    assert study.methods().notes == (f"the log has no agreement and no tiers of grid main; {HOW} note them",)
    note_agreement(study.grid(), Agree())
    assert study.methods().notes == (f"the log has no tiers of grid main; {HOW} note them",)


def test_nothing_is_said_or_noted_anew_while_nothing_has_come(noted: Study) -> None:
    assert noted.methods().notes == ()
    assert stages_of_walk(noted) == []


def test_a_label_from_a_file_makes_them_outdated_until_they_are_noted_anew(noted: Study, tmp_path: Path) -> None:
    """Cleo, who dissents from two others, is no longer sure: the decision by majority and its verdict stand."""
    pairs = [number for number, _ in labels_of(noted)]
    pair = next(pair for pair, who in labels_of(noted) if who == "cleo" and not pair % 3 and pairs.count(pair) == 3)
    record(noted, tmp_path, [("cleo", pair, "not_sure")], supersede=True)
    assert noted.methods().notes == (outdated("agreement and partition of grid main were"),)
    before = noted.grid().agreement().pooled
    assert stages_of_walk(noted) == ["agreement", "partition"]
    assert noted.methods().notes == ()
    figure = next(iter(before))
    assert noted.log()[-2].counts[figure.name] == figure.value
    assert stages_of_walk(noted) == []


def test_a_decision_makes_tiers_outdated_and_agreement_not(noted: Study) -> None:
    grid = noted.grid()
    pair = int(grid.tier("gold")["pair"].iloc[0])
    grid.decide(pair, None, by="ada")
    assert noted.methods().notes == (outdated("partition of grid main was"),)


def test_an_answer_on_the_pages_makes_agreement_outdated(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    give(desk, ana, "appropriate")
    note_agreement(study.grid(), Agree())
    assert study.methods().notes == (f"the log has no tiers of grid main; {HOW} note them",)
    give(desk, ana, "appropriate")
    assert outdated("agreement of grid main was") in study.methods().notes
