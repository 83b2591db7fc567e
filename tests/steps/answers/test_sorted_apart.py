"""A column of answers that somebody sorted apart from its rows is warned of at every door."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from fcpair.files.tables.tabular import read_table
from fcpair.params import Adjudicate, Setup, Validate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role, RunRecord
from fcpair.steps.answers import examples
from fcpair.study import Study

At = Callable[[str], Study]
RATE = RoundPlan("rate", "kind: one_of(no,yes); rate: scale(1,5,1)", role="rater", answers=1, people=1)


def answered(path: Path, column: str, *words: str) -> pd.DataFrame:
    """A sheet with the words in turn, so that nothing is sorted."""
    sheet = read_table(path).drop(columns="line")
    return sheet.assign(**{column: [words[at * 7 % 11 % len(words)] for at in range(len(sheet))]})


def alone(sheet: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """The sheet after somebody has sorted these columns, and nothing else."""
    return sheet.assign(**{name: sorted(sheet[name]) for name in columns})


def taken(take: Callable[[Path], RunRecord], sheet: pd.DataFrame, folder: Path) -> tuple[str, ...]:
    """What is said when a sheet comes in."""
    sheet.to_csv(folder / "sent-back.csv", index=False)
    return take(folder / "sent-back.csv").notes


def whole(sheet: pd.DataFrame, column: str) -> pd.DataFrame:
    return sheet.sort_values(column, kind="stable")


def as_it_is(sheet: pd.DataFrame, _column: str) -> pd.DataFrame:
    return sheet


HARMLESS = pytest.mark.parametrize("order", [as_it_is, whole])


def test_labels_that_were_sorted_alone(at: At, tmp_path: Path) -> None:
    grid = at("dealt").grid()
    grid.sheets.write_labels(tmp_path)
    sheet = answered(tmp_path / "ana.csv", "label", "appropriate", "not_appropriate")
    (note,) = taken(grid.import_labels, alone(sheet, "label"), tmp_path)
    assert note == (
        "column `label` of ana is sorted, but its rows are not: if it was sorted on its own, its 14 answers are next "
        "to the wrong pairs. Compare some with their texts; import a corrected file with --supersede"
    )


@HARMLESS
def test_labels_that_were_not(at: At, tmp_path: Path, order: Callable[..., pd.DataFrame]) -> None:
    grid = at("dealt").grid()
    grid.sheets.write_labels(tmp_path)
    sheet = answered(tmp_path / "ana.csv", "label", "appropriate", "not_appropriate")
    assert taken(grid.import_labels, order(sheet, "label"), tmp_path) == ()


def test_verdicts_that_were_sorted_alone(at: At, tmp_path: Path) -> None:
    study = at("labelled")
    grid = study.grid()
    grid.adjudicate(Adjudicate("majority"))
    for pair in grid.waiting_pairs():
        grid.decide(pair, 2, by="ada")
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    grid.sheets.write_verdicts(tmp_path)
    sheet = answered(tmp_path / "vera.csv", "verdict", "agree", "disagree")
    assert taken(grid.import_verdicts, sheet, tmp_path) == ()
    (note,) = taken(partial(grid.import_verdicts, supersede=True), alone(sheet, "verdict"), tmp_path)
    assert "column `verdict` of vera is sorted" in note


def test_decisions_that_were_sorted_alone(at: At, tmp_path: Path) -> None:
    grid = at("labelled").grid()
    pairs = [{"pair": pair, "adjudicator": "ada", "label": "0" if pair < 13 else "2"} for pair in range(1, 25)]
    (note,) = taken(grid.import_outcomes, pd.DataFrame(pairs), tmp_path)
    assert "column `label` of ada is sorted" in note
    assert "24 answers" in note


def test_decisions_of_nobody_in_particular(at: At, tmp_path: Path) -> None:
    grid = at("labelled").grid()
    pairs = [{"pair": pair, "label": "0" if pair < 13 else "2"} for pair in range(1, 25)]
    (note,) = taken(grid.import_outcomes, pd.DataFrame(pairs), tmp_path)
    assert note.startswith("column `label` is sorted")


def test_one_of_two_questions_of_a_form(tmp_path: Path) -> None:
    rows = tuple(f"Tea number {at} is good." for at in range(14))
    plan = GridPlan("rate", SidePlan(names=rows), SidePlan(names=("fit",)), (RATE,))
    grid = Study.create(tmp_path / "study.db", Setup(title="t"), grids=[plan]).grid()
    grid.pair()
    grid.assign_round()
    grid.sheets.write_answers(tmp_path / "sheets")
    (path,) = (tmp_path / "sheets").iterdir()
    sheet = answered(path, "kind", "yes", "no").assign(rate=["3", "1", "4", "1", "5", "2", "2"] * 2)
    (note,) = taken(grid.import_answers, alone(sheet, "rate"), tmp_path)
    assert "column `rate` of r1 is sorted" in note
    assert "the wrong cells" in note


def test_reviews_of_examples() -> None:
    there = [("row", str(at), f"hs {at}", f"cn {at}") for at in range(14)]
    said = {words: at < 7 for at, words in enumerate(there)}
    (note,) = examples._sorted_column_notes(said, there)
    assert "column `used` is sorted" in note
    assert examples._sorted_column_notes(dict(reversed(said.items())), there) == ()
    assert examples._sorted_column_notes({words: at % 3 == 0 for at, words in enumerate(there)}, there) == ()
