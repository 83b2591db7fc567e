"""A recipe notes figures anew that no longer rest on all answers and decisions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fcpair.params import Adjudicate
from fcpair.study import Study
from steps.small import labels_of, record

At = Callable[[str], Study]


@pytest.fixture
def noted(at: At) -> Study:
    """A finished study whose figures are in the log."""
    study = at("checked")
    study.grid().adjudicate(Adjudicate("majority", "discard"))
    assert stages_of_walk(study) == ["agreement", "partition"]
    return study


def stages_of_walk(study: Study) -> list[str]:
    return [run.stage for run in study.walk(study.recipe())]


def test_nothing_is_noted_anew_while_nothing_has_come(noted: Study) -> None:
    assert stages_of_walk(noted) == []


def test_a_label_from_a_file_makes_them_outdated_until_they_are_noted_anew(noted: Study, tmp_path: Path) -> None:
    """Cleo, who dissents from two others, is no longer sure: the decision by majority and its verdict stand."""
    pairs = [number for number, _ in labels_of(noted)]
    pair = next(pair for pair, who in labels_of(noted) if who == "cleo" and not pair % 3 and pairs.count(pair) == 3)
    record(noted, tmp_path, [("cleo", pair, "not_sure")], supersede=True)
    figure = next(iter(noted.grid().agreement().pooled))
    assert stages_of_walk(noted) == ["agreement", "partition"]
    assert noted.log()[-2].counts[figure.name] == figure.value
    assert stages_of_walk(noted) == []


def test_a_decision_makes_tiers_outdated_and_agreement_not(noted: Study) -> None:
    grid = noted.grid()
    grid.decide(int(grid.tier("gold")["pair"].iloc[0]), None, by="ada")
    assert stages_of_walk(noted) == ["partition"]
