"""Examples for models from the command line: listed, written as a sheet, reviewed, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from steps.shown import CATS, put_examples, study_of

from cli.conftest import Fcpair

ON = ("--grid", "replies", "--round", "propose")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study in which two rows have two examples each."""
    made = study_of(tmp_path)
    put_examples(made)
    made.close()
    return Path(made.place)


def test_a_sheet_that_is_filled_in_is_taken_and_listed(study: Path, fcpair: Fcpair) -> None:
    sheet = study.with_name("sheet.csv")
    assert "4 examples" in fcpair("examples", "sheet", str(sheet), *ON).stdout
    filled = sheet.read_text("utf-8").replace("0.8,", "0.8,yes").replace("0.7,", "0.7,no")
    sheet.write_text(filled, "utf-8")
    said = fcpair("examples", "review", str(sheet), *ON).stdout
    assert "2 examples of round `propose` were accepted; 2 were refused" in said
    rows = json.loads(fcpair("examples", "list", *ON, "--format", "json").stdout)
    assert [(one["rank"], one["used"]) for one in rows] == [(1, "yes"), (2, "no")] * 2
    assert rows[0]["hs"] == CATS
    assert rows[0]["score"] == 0.8


def test_a_sheet_that_is_there_is_not_overwritten(study: Path, fcpair: Fcpair) -> None:
    (study.with_name("sheet.csv")).write_text("kept", "utf-8")
    said = fcpair("examples", "sheet", str(study.with_name("sheet.csv")), *ON, code=2).stderr
    assert "exists already and may hold reviews" in said
    assert (study.with_name("sheet.csv")).read_text("utf-8") == "kept"


def test_what_is_wrong_with_a_sheet_ends_with_2_and_its_lines(study: Path, fcpair: Fcpair) -> None:
    sheet = study.with_name("sheet.csv")
    fcpair("examples", "sheet", str(sheet), *ON)
    sheet.write_text(sheet.read_text("utf-8").replace("0.8,", "0.8,perhaps"), "utf-8")
    said = fcpair("examples", "review", str(sheet), *ON, code=2).stderr
    assert "sheet.csv:2: `used` is `perhaps`; expected yes or no (2 lines: 2, 4)" in said


def test_what_is_found_already_is_not_found_again_unasked(study: Path, fcpair: Fcpair) -> None:
    assert "already has 4 examples; `--redo`" in fcpair("examples", "find", *ON, code=2).stderr


def test_models_are_not_asked_before_the_review(study: Path, fcpair: Fcpair) -> None:
    said = fcpair("generate", *ON, code=2).stderr
    assert "2 rows have examples that nobody has reviewed" in said
