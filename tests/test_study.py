"""A study as a library has it: opened, closed and opened twice, and what it shows in a console and in a notebook."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from servers import copy_study

import fcpair
from fcpair.bias.scoring import BiasFigure, ModelDivergence, ScoredAnswers, StatementDivergence
from fcpair.errors import InputError, StudyError, UnknownIdError
from fcpair.evaluate.outcome import Score
from fcpair.grid import Grid
from fcpair.notebook import MOST_ROWS, Result, html_of
from fcpair.records import GridKey, Role, RunLog, RunRecord
from fcpair.stages.stats.agreement import AgreementBlock, PartAgreements
from fcpair.stages.stats.group_differences import Difference, GroupComparison
from fcpair.stages.survey import Survey
from fcpair.steps.survey import GroupsFound
from fcpair.store.corpus import grids
from fcpair.study import Study

pytestmark = pytest.mark.files

EXTRAS = (
    "crowdkit",
    "dask",
    "distributed",
    "fastapi",
    "itsdangerous",
    "markdown_it",
    "mixedlm",
    "onnx",
    "psycopg",
    "uvicorn",
)
WITHOUT_EXTRAS = f"""
import sys
sys.modules.update(dict.fromkeys({EXTRAS}))
import pandas as pd, fcpair
with fcpair.Study.create(sys.argv[1] + "/study.db") as study:
    study.import_corpus(pd.DataFrame({{"hs": ["a", "b"], "cn": ["c", "d"]}}))
    study.grid().select(hs=1)
    study.report(sys.argv[1] + "/report.html")
    study.work_queue(about="Tea.")
    study._repr_html_()
"""
WITHOUT_POSTGRES = f"""
import sys
sys.modules.update(dict.fromkeys({EXTRAS}))
import fcpair
fcpair.Study("postgresql+psycopg://ana@127.0.0.1/study")
"""


def test_a_study_is_made_once_and_opened_where_there_is_one(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"there is no study at .*study\.db; .*`Study\.create` makes one"):
        Study(tmp_path / "study.db")
    assert not list(tmp_path.iterdir())
    study = fcpair.Study.create(tmp_path / "study.db", title="Tea")
    assert study.grids == ["main"]
    assert Study.exists(tmp_path / "study.db")
    study.close()
    with pytest.raises(StudyError, match="already"):
        Study.create(tmp_path / "study.db")
    assert Study(str(tmp_path / "study.db")).facts["title"] == "Tea"
    (tmp_path / "notes.txt").write_text("my notes", "utf-8")
    with pytest.raises(StudyError, match=r"notes\.txt is not a study"):
        Study(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text("utf-8") == "my notes"


@pytest.mark.parametrize("fails", [False, True])
def test_a_block_closes_the_study_at_its_end_even_if_it_fails(tmp_path: Path, fails: bool) -> None:
    with suppress(ZeroDivisionError), Study.create(tmp_path / "study.db") as study:
        study.share()
        study.add_people(["ana"], Role.ANNOTATOR)
        assert len(list(tmp_path.iterdir())) > 1  # the log of a study that is served
        assert 1 / (not fails)
    assert [path.name for path in tmp_path.iterdir()] == ["study.db"]


def test_a_study_opened_twice_in_one_process_is_one_study_and_may_be_closed_by_one(tmp_path: Path) -> None:
    """What either writes, the other sees, and writes on."""
    first, second = Study.create(tmp_path / "study.db"), Study(tmp_path / "study.db")
    first.add_people(["ana"], Role.ANNOTATOR)
    second.add_people(["ben"], Role.ANNOTATOR)
    assert [person.name for person in first.people] == [person.name for person in second.people] == ["ana", "ben"]
    second.share()
    first.close()
    second.add_people(["cleo"], Role.ANNOTATOR)
    second.close()
    assert [person.name for person in Study(tmp_path / "study.db").people] == ["ana", "ben", "cleo"]


def test_a_grid_is_named_where_it_is_not_the_only_one_or_main(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study.create(tmp_path / "study.db")
    assert study.grids == ["main"]
    assert study.grid().grid == study.grid("main").grid == GridKey(1, "main")
    named: list[tuple[list[str], str | None, GridKey | str]] = [
        (["main"], "mian", r"there is no grid `mian`; did you mean `main`\?"),
        (["main"], "", "there is no grid ``"),
        (["write", "rate"], "other", "there is no grid `other`; the grids of this study: write, rate"),
        (["write", "rate"], None, "this study has 2 grids, write, rate; choose one, such as `--grid write`"),
        (["write"], None, GridKey(1, "write")),
        (["write", "main"], None, GridKey(2, "main")),
    ]
    for names, name, outcome in named:
        keys = [GridKey(number, key) for number, key in enumerate(names, 1)]
        monkeypatch.setattr(grids, "keys", lambda tx, keys=keys: keys)
        if isinstance(outcome, GridKey):
            assert study.grid(name).grid == outcome
        else:
            with pytest.raises(UnknownIdError, match=outcome):
                study.grid(name)


@pytest.mark.parametrize("cls", [Study, Grid])
def test_everything_public_says_what_it_does(cls: type) -> None:
    public = [name for name in dir(cls) if not name.startswith("_")]
    assert len(public) > 20
    assert [name for name in public if not (getattr(cls, name).__doc__ or "").strip()] == []


def test_the_package_lists_what_its_users_need_and_no_imports() -> None:
    assert fcpair.__version__ == version("fcpair")
    assert dir(fcpair) == ["Grid", "Study", "__version__", "evaluate"]
    assert all(hasattr(fcpair, name) for name in dir(fcpair))
    with pytest.raises(AttributeError, match="module 'fcpair' has no attribute 'Studdy'"):
        fcpair.Studdy  # noqa: B018


def test_a_report_takes_the_rules_by_keyword_and_no_other_suffix(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study.db")
    for name in ("report.pdf", "report"):
        with pytest.raises(InputError, match=r"expected a name that ends in \.html or \.htm"):
            study.report(tmp_path / name)
        assert not (tmp_path / name).exists()
    path = study.report(tmp_path / "report.html", diamond="majority", level=0.9)
    assert path.read_text("utf-8").startswith("<!")


def test_a_study_on_a_server_names_the_extra_that_it_needs() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_POSTGRES], capture_output=True, text=True, check=False)
    said = "MissingExtraError: a study in PostgreSQL needs psycopg; install with `pip install 'fcpair[postgres]'`"
    assert said in done.stderr


def test_a_python_without_extras_does_all_that_needs_none(tmp_path: Path) -> None:
    """As in a notebook: what serves pages, runs on a cluster or on a server is not there."""
    subprocess.run([sys.executable, "-W", "error", "-c", WITHOUT_EXTRAS, str(tmp_path)], check=True)


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


@pytest.mark.parametrize("result", RESULTS, ids=[type(one).__name__ for one in RESULTS])
def test_a_result_is_one_line_in_a_console_and_texts_are_escaped_in_a_notebook(result: Result) -> None:
    page = result._repr_html_()
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert repr(result).startswith(f"<{type(result).__name__}: ")
    assert len(repr(result).splitlines()) == 1


def test_a_frame_has_the_fields_of_its_rows_and_is_the_callers_own() -> None:
    figures = [item.name for item in fields(BiasFigure)]
    columns: list[tuple[Result, list[str]]] = [
        (GROUPS, ["by", *(item.name for item in fields(Difference))]),
        (RESULTS[1], figures),
        (RESULTS[2], [item.name for item in fields(StatementDivergence)]),
        (SURVEY, ["statement", "question", "person", "answer"]),
        (RunLog([RUN]), ["id", "stage", "params", "counts", "version", "at", "model"]),
    ]
    for result, names in columns:
        frame = result.to_frame()
        assert (list(frame.columns), len(frame)) == (names, 1)
    assert list(ScoredAnswers("bbq", 0, 0, 0, ()).to_frame().columns) == figures
    assert RunLog().to_frame().empty
    assert repr(RunLog()) == "<RunLog: no run yet>"
    unfounded = AgreementBlock("types", "", None, "nobody answered twice").to_frame()
    assert unfounded["undefined"].tolist() == ["nobody answered twice"]
    frame = SURVEY.to_frame()
    frame.loc[0, "answer"] = "no"
    assert SURVEY.given["answer"].tolist() == ["yes"]


def test_a_run_says_its_stage_and_what_it_counted_and_a_long_log_is_cut_in_a_notebook() -> None:
    assert repr(RUN) == "<RunRecord 3: pair (pairs: 2,400; equal shares are possible for 2, 3 annotators), 2026-11-25>"
    assert "&lt;script&gt;" in RUN._repr_html_()
    assert RunLog([RUN] * 500)._repr_html_().count("<tr") < MOST_ROWS + 4


def test_an_evaluation_has_a_row_for_each_score() -> None:
    labels = pd.DataFrame({"hs_id": [1, 2], "cn_id": [5, 5], "label": ["appropriate", "appropriate"]})
    outcome = fcpair.evaluate(labels, {1: [5, 6], 2: [6, 5]}, name=SCRIPT)
    frame = outcome.to_frame()
    assert list(frame.columns) == [item.name for item in fields(Score)]
    assert frame["measure"].tolist() == list(outcome.measures)
    figures = ", ".join(f"{score.measure} {score.score:.4f}" for score in outcome.scores)
    assert repr(outcome) == f"<Outcome: {SCRIPT} on tier: {figures}>"
    assert "<script" not in outcome._repr_html_()


def test_log_agreement_and_tiers_have_a_row_for_each_run_figure_and_tier(checked: Study) -> None:
    grid = checked.grid()
    for page in (checked._repr_html_(), grid._repr_html_()):
        assert page.count("<tr>") == 2, "one for each round"
        assert "<td>validator</td>" in page
    log = checked.log()
    assert log.to_frame()["stage"].tolist() == [run.stage for run in log]

    agreement = grid.agreement()
    frame = agreement.to_frame().set_index(["figure", "annotators"])
    assert frame.index.is_unique
    assert frame.loc[("Krippendorff's alpha, nominal", ""), "value"] == agreement.alpha.value
    assert frame.loc[("Cohen's kappa", "ana, cleo"), "value"] == 0.25
    assert repr(agreement) == "<Agreement: 12 of 24 pairs with two labels or more; Krippendorff's alpha, nominal 0.484>"
    blocks = grid.agreement(round="label", blocks="row")
    frame = blocks.to_frame()
    assert list(frame.columns[:3]) == ["part", "of", "figure"]
    assert frame["of"].nunique() == len(blocks) == 4
    assert len(frame) == sum(len(block.to_frame()) for block in blocks)

    table = grid.tiers().table()
    frame = table.to_frame()
    assert dict(zip(frame["tier"], frame["pairs"], strict=True)) == table.sizes
    assert {"hs", "cn", "rule", "appropriate", "share"} <= set(frame.columns)
    assert repr(table) == "<TierTable: diamond 7, gold 9, silver 13, bronze 19>"
    assert html_of(repr(table), frame) == table._repr_html_()
    graded = table.pair_frame()
    gold = graded[graded["tier"].isin(["diamond", "gold"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(gold, grid.tier("gold")[list(graded.columns)], check_dtype=False)


def test_a_study_says_how_far_it_is_even_when_its_file_is_gone(files: dict[str, Path], tmp_path: Path) -> None:
    progress = {"empty": "empty", "imported": "21 corpus rows", "retrieved": "6 candidates", "checked": "61 answers"}
    place = tmp_path / "study.db"
    for stage, done in progress.items():
        study = Study(copy_study(files[stage], place))
        for shown, head in ((study, f"<Study {place}: grid main ("), (study.grid(), f"<Grid main of {place}: ")):
            assert repr(shown).startswith(head)
            assert done in repr(shown)
        study.close()
    grid = study.grid()
    place.unlink()
    gone: tuple[Any, ...] = (study, grid)
    for of_gone in gone:
        assert "study.db" in repr(of_gone)
        assert "study.db" in of_gone._repr_html_()
