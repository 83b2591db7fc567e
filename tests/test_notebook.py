"""Results in a console and in a notebook: one line, and rows with documented columns, escaped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from servers import copy_study

import fcpair
from fcpair.bias.scoring import BiasFigure, ModelDivergence, ScoredAnswers, StatementDivergence
from fcpair.evaluate.outcome import Outcome, Score
from fcpair.notebook import MOST_ROWS, Result, html_of
from fcpair.records import RunLog, RunRecord
from fcpair.stages.stats.agreement import AgreementBlock, PartAgreements
from fcpair.stages.stats.group_differences import Difference, GroupComparison
from fcpair.stages.surveys.survey import Survey
from fcpair.steps.surveys.survey import GroupsFound
from fcpair.study import Study

pytestmark = pytest.mark.files

SCRIPT = "<script>alert(1)</script>"
DIFFERENCE = Difference("<yes>", ("a", "b"), (5, 6), exact=True, least_p=0.1, value=0.2)
GROUPS = GroupsFound("ask", SCRIPT, (GroupComparison("Age", 9, 0, {"a": 5, "b": 6}, (), (DIFFERENCE,), ()),), {})
FIGURE = BiasFigure("bias", SCRIPT, 0.5, 0.1, 0.9, 12, 0, 5)
STATEMENT = StatementDivergence(SCRIPT, "age", 9, 0.5, 12, 0.4, 0.1)
SURVEY = Survey(
    pd.DataFrame({"statement": [SCRIPT], "question": ["heard"], "person": ["p1"], "answer": ["yes"]}), pd.DataFrame()
)
RUN = RunRecord(3, "pair", {"seed": 1, "out": SCRIPT}, {"pairs": 2400, "even_for": [2, 3]}, "1.0", "2026-11-25")
RESULTS: list[Result] = [
    GROUPS,
    ScoredAnswers("bbq", 12, 0, 0, (FIGURE,)),
    ModelDivergence("heard", 0.0, 0, (STATEMENT,), ()),
    SURVEY,
    RunLog([RUN]),
    PartAgreements((AgreementBlock("types", SCRIPT, None, "nobody answered twice"),)),
]


@pytest.fixture
def checked(files: dict[str, Path], tmp_path: Path) -> Iterator[Study]:
    with Study(copy_study(files["checked"], tmp_path / "study.db")) as study:
        yield study


@pytest.fixture
def outcome() -> Outcome:
    frame = pd.DataFrame({"hs_id": [1, 2], "cn_id": [5, 5], "label": ["appropriate", "appropriate"]})
    return fcpair.evaluate(frame, {1: [5, 6], 2: [6, 5]}, name=SCRIPT)


@pytest.mark.parametrize("result", RESULTS, ids=[type(one).__name__ for one in RESULTS])
def test_texts_of_others_are_escaped_in_a_notebook(result: Result) -> None:
    page = result._repr_html_()
    assert "&lt;script&gt;" in page
    assert "<script" not in page


@pytest.mark.parametrize("result", RESULTS, ids=[type(one).__name__ for one in RESULTS])
def test_a_result_is_one_line_in_a_console(result: Result) -> None:
    assert repr(result).startswith(f"<{type(result).__name__}: ")
    assert len(repr(result).splitlines()) == 1


@pytest.mark.parametrize(
    ("result", "columns"),
    [
        (GROUPS, ["by", *(item.name for item in fields(Difference))]),
        (RESULTS[1], [item.name for item in fields(BiasFigure)]),
        (RESULTS[2], [item.name for item in fields(StatementDivergence)]),
        (SURVEY, ["statement", "question", "person", "answer"]),
        (RunLog([RUN]), ["id", "stage", "params", "counts", "version", "at", "model"]),
    ],
    ids=["groups", "bias", "divergence", "survey", "log"],
)
def test_a_frame_has_the_fields_of_its_rows(result: Result, columns: list[str]) -> None:
    frame = result.to_frame()
    assert list(frame.columns) == columns
    assert len(frame) == 1


def test_a_frame_without_rows_has_its_columns() -> None:
    assert list(ScoredAnswers("bbq", 0, 0, 0, ()).to_frame().columns) == [item.name for item in fields(BiasFigure)]
    assert RunLog().to_frame().empty
    assert repr(RunLog()) == "<RunLog: no run yet>"


def test_a_frame_of_a_survey_is_the_callers_own() -> None:
    frame = SURVEY.to_frame()
    frame.loc[0, "answer"] = "no"
    assert SURVEY.given["answer"].tolist() == ["yes"]


def test_a_run_says_its_stage_and_what_it_counted() -> None:
    assert repr(RUN) == "<RunRecord 3: pair (pairs: 2,400; equal shares are possible for 2, 3 annotators), 2026-11-25>"
    assert "&lt;script&gt;" in RUN._repr_html_()


def test_the_log_of_a_study_is_its_runs(checked: Study) -> None:
    log = checked.log()
    assert log.to_frame()["stage"].tolist() == [run.stage for run in log]


def test_a_long_table_is_cut_in_a_notebook() -> None:
    page = RunLog([RUN] * 500)._repr_html_()
    assert page.count("<tr") < MOST_ROWS + 4


def test_an_evaluation_has_a_row_for_each_score(outcome: Outcome) -> None:
    frame = outcome.to_frame()
    assert list(frame.columns) == [item.name for item in fields(Score)]
    assert frame["measure"].tolist() == list(outcome.measures)
    figures = ", ".join(f"{one.measure} {one.score:.4f}" for one in outcome.scores)
    assert repr(outcome) == f"<Outcome: {SCRIPT} on tier: {figures}>"
    assert "<script" not in outcome._repr_html_()


def test_agreement_has_a_row_for_each_figure(checked: Study) -> None:
    agreement = checked.grid().agreement()
    frame = agreement.to_frame().set_index(["figure", "annotators"])
    assert frame.index.is_unique
    assert frame.loc[("Krippendorff's alpha, nominal", ""), "value"] == agreement.alpha.value
    assert frame.loc[("Cohen's kappa", "ana, cleo"), "value"] == 0.25
    assert repr(agreement) == "<Agreement: 12 of 24 pairs with two labels or more; Krippendorff's alpha, nominal 0.484>"


def test_agreement_by_row_has_the_row_of_each_figure(checked: Study) -> None:
    blocks = checked.grid().agreement(round="label", blocks="row")
    frame = blocks.to_frame()
    assert list(frame.columns[:3]) == ["part", "of", "figure"]
    assert frame["of"].nunique() == len(blocks) == 4
    assert len(frame) == sum(len(block.to_frame()) for block in blocks)


def test_a_block_without_figures_says_why() -> None:
    frame = AgreementBlock("types", "", None, "nobody answered twice").to_frame()
    assert frame["undefined"].tolist() == ["nobody answered twice"]


def test_a_table_of_tiers_has_a_row_for_each_tier(checked: Study) -> None:
    table = checked.grid().tiers().table()
    frame = table.to_frame()
    assert dict(zip(frame["tier"], frame["pairs"], strict=True)) == table.sizes
    assert {"hs", "cn", "rule", "appropriate", "share"} <= set(frame.columns)
    assert repr(table) == "<TierTable: diamond 7, gold 9, silver 13, bronze 19>"
    assert html_of(repr(table), frame) == table._repr_html_()


def test_graded_pairs_have_the_names_of_a_tier_frame(checked: Study) -> None:
    grid = checked.grid()
    frame = grid.tiers().table().pair_frame()
    gold = frame[frame["tier"].isin(["diamond", "gold"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(gold, grid.tier("gold")[list(frame.columns)], check_dtype=False)


@pytest.mark.parametrize(
    ("stage", "expected"),
    [("empty", "empty"), ("imported", "21 corpus rows"), ("retrieved", "6 candidates"), ("checked", "61 answers")],
)
def test_a_study_says_how_far_it_is(files: dict[str, Path], tmp_path: Path, stage: str, expected: str) -> None:
    study = Study(copy_study(files[stage], tmp_path / "study.db"))
    assert repr(study).startswith(f"<Study {tmp_path / 'study.db'}: grid main (")
    assert expected in repr(study)
    assert repr(study.grid()).startswith(f"<Grid main of {tmp_path / 'study.db'}: ")
    assert expected in repr(study.grid())


def test_a_study_in_a_notebook_has_a_row_for_each_round(checked: Study) -> None:
    for page in (checked._repr_html_(), checked.grid()._repr_html_()):
        assert page.count("<tr>") == 2
        assert "<td>validator</td>" in page


@pytest.mark.parametrize("show", [repr, lambda one: one._repr_html_()])
def test_a_study_whose_file_is_gone_is_shown_all_the_same(tmp_path: Path, show: Callable[[Any], str]) -> None:
    study = Study.create(tmp_path / "study.db")
    grid = study.grid()
    study.close()
    (tmp_path / "study.db").unlink()
    assert "study.db" in show(study)
    assert "study.db" in show(grid)
