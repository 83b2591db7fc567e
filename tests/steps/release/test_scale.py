"""Labels that are numbers or grades, from the sheets to what is exported."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import ir_measures
import numpy as np
import openpyxl
import pandas as pd
import pytest

from fcpair.errors import InputError, RecipeError
from fcpair.files.tables.tabular import read_table
from fcpair.params import Adjudicate, Assign, Evaluate, Export, Import, Pair, Select, Setup, Simulate, Validate
from fcpair.recipe import Recipe
from fcpair.records import Role, Tier
from fcpair.stages.questions import Choice, OneOf, parse_question
from fcpair.stages.questions.labels import tier_obstacle
from fcpair.steps.oversight import study_recipe
from fcpair.study import Study
from steps.scales import HALVES, dealt, number, rated
from steps.small import (
    CNS,
    SELECTED,
    At,
    assert_refused,
    check,
    labels_of,
    open_work,
    record,
    set_candidates,
    standing,
    with_grid,
    write_corpus,
    write_csv,
)

NAMES = ("useless", "weak", "fair", "good", "excellent")
FIVE = OneOf(tuple(Choice(code, name, positive=code >= 4) for code, name in enumerate(NAMES, 1)))


def decided(folder: Path) -> Study:
    study = rated(folder)
    study.grid().adjudicate(Adjudicate("median", "discard"))
    study.add_people(["vera", "walt"], Role.VALIDATOR)
    return study


def test_a_file_spells_the_numbers_by_which_policies_decide_and_never_the_codes(tmp_path: Path) -> None:
    """All policies decide what is unanimous; of two numbers that are one apart, the median is the one halfway."""
    study, grid = with_grid(rated(tmp_path))
    both = {pair: (number(pair, "ana"), number(pair, "ben")) for pair in range(1, 25)}
    assert labels_of(study) == {
        (pair, who): f"{label:g}"
        for pair, labels in both.items()
        for who, label in zip(("ana", "ben"), labels, strict=True)
    }
    assert labels_of(study)[1, "ana"] == "3.5"  # 5 steps above 1
    for word, message in (
        ("0", "outside of the scale"),
        ("3.25", "between the steps"),
        ("fair", "not a number on a scale"),
    ):
        assert_refused(study, partial(record, study, tmp_path, [("ana", 1, word)]), InputError, message)
    rows = [{"pair": 1, "label": "4,5"}, {"pair": 2, "label": "irreconcilable"}, {"pair": 4, "label": "2"}]
    grid.import_outcomes(write_csv(tmp_path / "decisions.csv", rows))
    imported = {1: ("imported", 7), 2: ("imported", None), 4: ("imported", 2)}
    assert standing(study) == imported
    wrong = write_csv(tmp_path / "wrong.csv", [{"pair": 5, "label": "skip"}])
    assert_refused(study, partial(grid.import_outcomes, wrong), InputError, "or `irreconcilable`")
    code_of = {float(choice.name): choice.code for choice in grid.scheme}
    unanimous = {pair: ("unanimous", code_of[low]) for pair, (low, high) in both.items() if low == high}
    median = {pair: ("median", code_of[low + 0.5]) for pair, (low, high) in both.items() if high == low + 1}
    for policy, made in (
        ("manual", unanimous | imported),
        ("majority", unanimous | imported),
        ("median", unanimous | median | imported),
    ):
        grid.adjudicate(Adjudicate(policy))  # type: ignore[arg-type]
        assert standing(study) == made
        assert len(grid.waiting_pairs()) == 24 - len(made)
    record(study, tmp_path, [("ana", 1, "5")], supersede=True)
    assert labels_of(study)[1, "ana"] == "5"


def test_a_sheet_offers_the_numbers_and_takes_them_back_as_a_spreadsheet_keeps_them(tmp_path: Path) -> None:
    study = dealt(tmp_path)
    study_recipe.check_recipe(study, Recipe(setup=Setup(title="Ratings", scheme=HALVES)))
    with pytest.raises(RecipeError, match=r"scheme +scale\(1,5,1,positive=4\) +scale\(1,5,0.5,positive=4\)"):
        study_recipe.check_recipe(study, Recipe(setup=Setup(title="Ratings", scheme="scale(1,5,1,positive=4)")))
    with pytest.raises(InputError, match=r"`0\.5` is not a label; expected one of 1, 1.5"):
        study.grid().simulate(Simulate(leaning=0.1, leaning_to="0.5"))
    study.grid().sheets.write_labels(tmp_path / "sheets", "xlsx")
    path = tmp_path / "sheets" / "ana.xlsx"
    book = openpyxl.load_workbook(path)
    offered = [cell.value for (cell,) in book["guidelines"]["A2:A11"]]
    assert offered == [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, "skip"]
    assert [type(choice) for choice in offered[:2]] == [int, float]
    sheet = book["pairs"]
    at = [cell.value for cell in sheet[1]].index("label") + 1
    given: list[float | str] = [4, 4.5, "4,5", "skip"]
    for row, value in enumerate(given, 2):
        sheet.cell(row, at, value)
    book.save(path)
    assert study.grid().import_labels(path).counts["answers"] == 3
    assert sorted(labels_of(study).values()) == ["4", "4.5", "4.5", "skip"]


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
    with pytest.raises(InputError, match="has changed since this sheet was written"):
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
    study, grid = with_grid(decided(tmp_path))
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
    assert [row["answer"] for row in grid.explain(1).answers[:2]] == ["3.5", "4"]
    grid.export.hf(tmp_path / "hf")
    assert "labelled `4 or more`" in (tmp_path / "hf" / "README.md").read_text("utf-8")
    study.report(tmp_path / "report.html")
    assert "4.5" in (tmp_path / "report.html").read_text("utf-8")


@pytest.mark.slow
def test_numbers_of_which_none_is_positive_are_decided_and_make_no_tiers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fcpair.steps.grids.read_labels", parse_question)  # which asks for positive ones in `main`
    study, grid = with_grid(dealt(tmp_path, "scale(1,5,0.5)"))
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


def point(pair: int) -> int:
    """The code that a pair gets, 1 to 5."""
    return 1 + pair * 7 % 5


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """24 pairs, 22 of them judged and validated."""
    folder = tmp_path_factory.mktemp("five")
    study, grid = with_grid(Study.create(folder / "study.db", Setup(scheme=str(FIVE))))
    study.import_corpus(Import(write_corpus(folder / "corpus.csv"), only_language="en"))
    grid.select(Select(hs_list=write_csv(folder / "hs.csv", [{"hs": hs} for hs in SELECTED])))
    set_candidates(study, CNS[12:])
    grid.pair(Pair())
    study.add_people(["ana"], Role.ANNOTATOR)
    grid.assign(Assign(seed=1))
    answers = [(who, pair, NAMES[point(pair) - 1]) for who, pair in open_work(study) if pair not in {3, 17}]
    record(study, folder, answers)
    grid.adjudicate(Adjudicate("majority"))
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate(seed=1))
    check(study, folder, [(who, pair, "agree") for who, pair in open_work(study, checks=True)])
    return study


def qrels(study: Study, folder: Path, *, binary: bool = False) -> pd.DataFrame:
    study.grid().export.qrels(folder / "silver.qrels", Tier.SILVER, Export(pool="all", binary=binary))
    names = ["hs_id", "zero", "cn_id", "grade"]
    return pd.read_csv(folder / "silver.qrels", sep=" ", header=None, names=names)


def test_a_grade_is_how_far_a_label_is_from_the_worst_or_whether_it_is_positive(five: Study, tmp_path: Path) -> None:
    pairs = five.grid().tier(Tier.SILVER)["pair"].tolist()
    grades = [point(pair) - 1 for pair in pairs]
    assert set(grades) == {0, 1, 2, 3, 4}
    assert qrels(five, tmp_path)["grade"].tolist() == grades
    assert qrels(five, tmp_path, binary=True)["grade"].tolist() == [int(point(pair) >= 4) for pair in pairs]
    five.grid().export.beir(tmp_path / "beir", Tier.SILVER, Export(pool="all"))
    assert pd.read_csv(tmp_path / "beir" / "qrels" / "test.tsv", sep="\t")["score"].tolist() == grades


def test_what_is_evaluated_is_what_ir_measures_finds_in_the_exported_files(five: Study, tmp_path: Path) -> None:
    options = Evaluate(systems=("random",), measures=("NDCG@3", "MRR@3"), tiers=("silver",), pool="all", resamples=100)
    grid = five.grid()
    scores = {
        score.measure: score.score for score in grid.evaluate(options, runs=tmp_path).scores if not score.expected
    }
    run = list(ir_measures.read_trec_run(str(tmp_path / "random.trec")))  # type: ignore[no-untyped-call]
    for ours, theirs, binary in (("NDCG@3", "nDCG@3", False), ("MRR@3", "RR@3", True), ("MRR@3", "RR(rel=3)@3", False)):
        qrels(five, tmp_path, binary=binary)
        judged = list(ir_measures.read_trec_qrels(str(tmp_path / "silver.qrels")))  # type: ignore[no-untyped-call]
        values = [metric.value for metric in ir_measures.iter_calc([ir_measures.parse_measure(theirs)], judged, run)]
        assert scores[ours] == pytest.approx(np.mean(values))


def test_the_outcome_says_what_the_gains_are_and_three_labels_have_none(five: Study, at: At) -> None:
    options = Evaluate(systems=("random",), measures=("NDCG",), tiers=("silver",), resamples=100)
    outcome = five.grid().evaluate(options)
    listed = "useless 0, weak 1, fair 2, good 3, excellent 4"
    assert outcome.gains == f"the gain of NDCG is the grade of the label: {listed}"
    run, chance = outcome.scores
    assert run.lowest is not None
    assert run.score is not None
    assert run.highest is not None
    assert run.lowest < run.score < run.highest
    assert chance.score is not None
    assert at("checked").grid().evaluate(options).gains is None


def test_fc_conan_s_columns_are_refused_for_other_labels_and_nothing_is_written(five: Study, tmp_path: Path) -> None:
    grid = five.grid()
    message = (
        r"hold its labels \(not_appropriate, not_sure, appropriate\), and the labels of this study are useless, weak"
    )
    path = tmp_path / "bronze.csv"
    assert_refused(five, partial(grid.release, Tier.BRONZE, path, published=True), InputError, message)
    assert_refused(five, partial(grid.tier, Tier.BRONZE, published=True), InputError, message)
    assert not path.exists()
    assert len(grid.tier(Tier.BRONZE)) == 22
