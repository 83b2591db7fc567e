"""What was answered in a round, as a table: everybody's current answer, question by question."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fcpair.errors import UnknownIdError
from fcpair.params import Setup, Simulate, Validate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.study import Grid, Study
from steps.online import at_desk, give
from steps.small import labels_of

ROWS, COLUMNS = ("Tea is for cowards.", "Cats are cold."), ("facts", "humour")


@pytest.fixture
def written(tmp_path: Path) -> Grid:
    form = "text: text(min_words=4); also: any_of(facts,humour)"
    plan = GridPlan("write", SidePlan(names=ROWS), SidePlan(names=COLUMNS), (RoundPlan("write", form, people=2),))
    grid = Study.create(tmp_path / "study.db", Setup(title="t"), grids=[plan]).grid()
    grid.pair()
    grid.assign_round()
    grid.simulate(Simulate(skips=0.3, seed=0))
    return grid


def test_each_question_has_a_column_and_each_answer_a_row(written: Grid) -> None:
    table = written.answers()
    columns = ["cell", "row", "column", "by", "skipped", "text", "also", "seconds", "time", "note", "origin"]
    assert table.columns.tolist() == columns
    assert sorted(set(zip(table["row"], table["column"], strict=True))) == sorted(
        (row, column) for row in ROWS for column in COLUMNS
    )
    said, skipped = table[~table["skipped"]], table[table["skipped"]]
    assert len(said) == 4
    assert min(len(text.split()) for text in said["text"]) >= 4
    assert set("; ".join(said["also"]).split("; ")) <= {"facts", "humour", "none"}
    assert len(skipped)
    assert (skipped[["text", "also"]] == "").to_numpy().all()
    assert set(table["origin"]) == {"simulated"}


def test_a_round_that_there_is_not_is_refused_with_those_that_there_are(written: Grid) -> None:
    with pytest.raises(UnknownIdError, match=r"no round `rate` in this grid; its rounds: write"):
        written.answers("rate")


def test_the_labels_of_the_first_grid_are_answers_as_well(at: Callable[[str], Study]) -> None:
    study = at("labelled")
    table = study.grid().answers()
    said = dict(zip(zip(table["cell"], table["by"], strict=True), table["label"].replace("", "skip"), strict=True))
    assert said == labels_of(study)


def test_labels_that_validators_gave_blind_have_a_column_of_their_own(at: Callable[[str], Study]) -> None:
    study = at("decided")
    study.add_people(["vera"], Role.VALIDATOR)
    study.grid().assign_validation(Validate(pairs=2, blind=True))
    desk, vera = at_desk(study, "vera")
    for name in ("appropriate", "not_sure"):
        give(desk, vera, name)
    study.grid().assign_validation(Validate(pairs=2), more=True)
    give(desk, vera, "agree")
    table = study.grid().answers("validate")
    assert sorted(table["own_label"]) == ["", "appropriate", "not_sure"]
    assert sorted(table["verdict"]) == ["", "", "agree"]
