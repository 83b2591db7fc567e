"""Labels that are numbers, from the sheets to what is exported."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from fcpair.errors import InputError, RecipeError
from fcpair.files.tables.tabular import read_table
from fcpair.params import Adjudicate, Export, Setup, Simulate, Validate
from fcpair.recipe import Recipe
from fcpair.records import Role, Tier
from fcpair.stages.questions import parse_question
from fcpair.stages.questions.labels import tier_obstacle
from fcpair.steps.oversight import study_recipe
from fcpair.study import Study
from steps.scales import HALVES, dealt, number, rated
from steps.small import assert_refused, check, labels_of, open_work, record, standing, write_csv

POINTS = "scale(0,100,1,positive=60)"


def decided(folder: Path) -> Study:
    study = rated(folder)
    study.grid().adjudicate(Adjudicate("median", "discard"))
    study.add_people(["vera", "walt"], Role.VALIDATOR)
    return study


def test_a_file_spells_the_numbers_with_a_point_or_a_comma_and_never_the_codes(tmp_path: Path) -> None:
    study = rated(tmp_path)
    assert labels_of(study) == {
        (pair, who): f"{number(pair, who):g}" for pair in range(1, 25) for who in ("ana", "ben")
    }
    assert labels_of(study)[1, "ana"] == "3.5"  # 5 steps above 1
    for word, problem in (
        ("0", "outside of the scale"),
        ("3.25", "between the steps"),
        ("fair", "not a number on a scale"),
    ):
        assert_refused(study, lambda word=word: record(study, tmp_path, [("ana", 1, word)]), InputError, problem)  # type: ignore[misc]
    record(study, tmp_path, [("ana", 1, "5")], supersede=True)
    assert labels_of(study)[1, "ana"] == "5"


def test_a_sheet_offers_the_numbers_and_takes_them_back_as_a_spreadsheet_keeps_them(tmp_path: Path) -> None:
    study = dealt(tmp_path)
    study.grid().sheets.write_labels(tmp_path / "sheets", "xlsx")
    path = tmp_path / "sheets" / "ana.xlsx"
    book = openpyxl.load_workbook(path)
    offered = [cell.value for (cell,) in book["guidelines"]["A2:A11"]]
    assert offered == [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, "skip"]
    assert [type(one) for one in offered[:2]] == [int, float]
    sheet = book["pairs"]
    at = [cell.value for cell in sheet[1]].index("label") + 1
    given: list[float | str] = [4, 4.5, "4,5", "skip"]
    for row, value in enumerate(given, 2):
        sheet.cell(row, at, value)
    book.save(path)
    assert study.grid().import_labels(path).counts["answers"] == 3
    assert sorted(labels_of(study).values()) == ["4", "4.5", "4.5", "skip"]


@pytest.mark.parametrize("policy", ["manual", "majority", "median"])
def test_policies_decide_by_the_numbers(tmp_path: Path, policy: str) -> None:
    """All decide what is unanimous; of two numbers that are one apart, the median is the one halfway."""
    study = rated(tmp_path)
    study.grid().adjudicate(Adjudicate(policy))  # type: ignore[arg-type]
    both = {pair: (number(pair, "ana"), number(pair, "ben")) for pair in range(1, 25)}
    made = {pair: ("unanimous", one) for pair, (one, other) in both.items() if one == other}
    if policy == "median":
        made |= {pair: ("median", (one + other) / 2) for pair, (one, other) in both.items() if other == one + 1}
    numbers = [choice.name for choice in study.grid().scheme]
    assert {pair: (rule, float(numbers[code or 0])) for pair, (rule, code) in standing(study).items()} == made
    assert len(study.grid().waiting_pairs()) == 24 - len(made)


def test_decisions_of_a_file_are_numbers(tmp_path: Path) -> None:
    study = rated(tmp_path)
    rows = [{"pair": 1, "label": "4,5"}, {"pair": 2, "label": "irreconcilable"}, {"pair": 4, "label": "2"}]
    study.grid().import_outcomes(write_csv(tmp_path / "decisions.csv", rows))
    assert standing(study) == {1: ("imported", 7), 2: ("imported", None), 4: ("imported", 2)}
    wrong = write_csv(tmp_path / "wrong.csv", [{"pair": 5, "label": "skip"}])
    assert_refused(study, lambda: study.grid().import_outcomes(wrong), InputError, "or `irreconcilable`")


def test_a_verdict_is_about_the_number_however_a_program_writes_it(tmp_path: Path) -> None:
    study = decided(tmp_path)
    study.grid().assign_validation(Validate())
    study.grid().sheets.write_verdicts(tmp_path / "sheets")
    sheet = read_table(tmp_path / "sheets" / "vera.csv").drop(columns="line")
    shown = [f"{float(label):.2f}".replace(".", ",") for label in sheet["label"]]
    sheet.assign(label=shown, verdict="agree").to_csv(tmp_path / "back.csv", sep=";", index=False)
    assert study.grid().import_verdicts(tmp_path / "back.csv").counts["answers"] == len(sheet)
    sheet = read_table(tmp_path / "sheets" / "walt.csv").drop(columns="line")
    sheet.assign(label="0", verdict="agree").to_csv(tmp_path / "back.csv", index=False)
    with pytest.raises(InputError, match="have changed since this sheet was written"):
        study.grid().import_verdicts(tmp_path / "back.csv")


def test_a_blind_verdict_is_a_number_of_one_s_own(tmp_path: Path) -> None:
    study = decided(tmp_path)
    study.grid().assign_validation(Validate(blind=True))
    numbers = [choice.name for choice in study.grid().scheme]
    asked = open_work(study, checks=True)
    own = {pair: numbers[standing(study)[pair][1] or 0] if pair % 2 else "1,0" for _, pair in asked}
    rows = [{"pair": pair, "validator": who, "own_label": own[pair]} for who, pair in asked]
    study.grid().import_verdicts(write_csv(tmp_path / "verdicts.csv", rows))
    graded = study.grid().tiers().table().pairs
    verdicts = dict(zip(graded["cell_id"].tolist(), graded["verdict"].tolist(), strict=True))
    assert all(verdicts[pair] == 1 for pair in own if pair % 2)
    assert {verdicts[pair] for pair in own} == {0, 1}


@pytest.mark.slow
def test_tiers_tables_and_grades_rest_on_the_numbers(tmp_path: Path) -> None:
    study = decided(tmp_path)
    grid = study.grid()
    grid.assign_validation(Validate())
    check(study, tmp_path, [(who, pair, "agree") for who, pair in open_work(study, checks=True)])
    tier = grid.tier(Tier.GOLD)
    finals = {pair: (number(pair, "ana") + number(pair, "ben")) / 2 for pair in tier["pair"]}
    assert tier["label"].tolist() == [f"{final:g}" for final in finals.values()]
    positive = sum(final >= 4 for final in finals.values())
    assert 0 < positive < len(tier)
    table = grid.tiers().table().tables[1].set_index("tier")
    assert table.loc["gold", "appropriate"] == positive
    grid.export.qrels(tmp_path / "gold.qrels", Tier.GOLD, Export(pool="all"))
    grades = pd.read_csv(tmp_path / "gold.qrels", sep=" ", header=None)[3].tolist()
    assert sorted(grades) == sorted(int(2 * (final - 1)) for final in finals.values())
    said = grid.explain(1)
    assert [row["answer"] for row in said.answers[:2]] == ["3.5", "4"]
    grid.export.hf(tmp_path / "hf")
    assert "labelled `4 or more`" in (tmp_path / "hf" / "README.md").read_text("utf-8")
    study.report(tmp_path / "report.html")
    assert "4.5" in (tmp_path / "report.html").read_text("utf-8")


@pytest.mark.parametrize("scheme", [HALVES, POINTS])
def test_simulated_people_answer_decide_and_check_by_numbers(tmp_path: Path, scheme: str) -> None:
    study = dealt(tmp_path, scheme)
    grid = study.grid()
    habits = Simulate(accuracy=0.7, leaning=0.1, leaning_to="4", seed=3)
    grid.simulate(habits)
    grid.adjudicate(Adjudicate("median", "discard"))
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    grid.simulate(habits)
    found = {figure.name: figure for figure in grid.agreement().pooled}
    assert found["Krippendorff's alpha, interval"].value is not None
    assert len(grid.tiers().table().pairs) == 24
    assert Study.doctor(study.place).is_sound


def test_a_leaning_is_to_a_number_of_the_scale(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"`0\.5` is not a label; expected one of 1, 1.5"):
        dealt(tmp_path).grid().simulate(Simulate(leaning=0.1, leaning_to="0.5"))


@pytest.mark.slow
def test_numbers_of_which_none_is_positive_are_decided_and_make_no_tiers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fcpair.steps.base.init.read_labels", parse_question)  # which asks for positive ones in `main`
    study = dealt(tmp_path, "scale(1,5,0.5)")
    grid = study.grid()
    grid.simulate(Simulate(seed=3))
    assert grid.adjudicate(Adjudicate("median")).counts["waiting"] < 24
    why = r"`scale\(1,5,0.5\)` cannot decide a cell for tiers: some, not all, of the definite choices must be positive"
    for refused in (grid.tiers().table, lambda: grid.tier("gold"), lambda: grid.export.hf(tmp_path / "hf")):
        with pytest.raises(InputError, match=why):
            refused()
    assert grid.explain(1).tier is None
    assert {check.reasons for check in grid.explain(1).checks} == {(tier_obstacle(grid.scheme),)}
    study.report(tmp_path / "report.html")
    assert "cannot decide a cell for tiers" in (tmp_path / "report.html").read_text("utf-8")
    assert study.status()["rounds"]
    assert Study.doctor(study.place).is_sound


def test_a_recipe_with_another_scale_is_not_the_study(tmp_path: Path) -> None:
    study = dealt(tmp_path)
    study_recipe.check_recipe(study, Recipe(setup=Setup(title="Ratings", scheme=HALVES)))
    with pytest.raises(RecipeError, match=r"scheme +scale\(1,5,1,positive=4\) +scale\(1,5,0.5,positive=4\)"):
        study_recipe.check_recipe(study, Recipe(setup=Setup(title="Ratings", scheme="scale(1,5,1,positive=4)")))
