"""What the command line says when it is called a little wrong, and what it takes several of."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from steps.small import ANNOTATORS, record

from cli.conftest import Fcpair
from fcpair.study import Study


def test_a_command_that_is_nearly_right_gets_a_hint(fcpair: Fcpair) -> None:
    assert "Did you mean 'select'?" in fcpair("selct", code=2).output


def test_a_command_that_is_like_none_gets_no_hint(fcpair: Fcpair) -> None:
    assert "Did you mean" not in fcpair("xyzzy", code=2).output


def test_who_follows_the_hint_that_there_are_no_validators_has_one(at: Callable[[str], Path], fcpair: Fcpair) -> None:
    at("decided")
    said = fcpair("validate", "assign", code=2).stderr
    hinted = said[said.index("`fcpair ") + len("`fcpair ") : said.rindex("`")]
    assert hinted == "people add NAME --role validator"
    fcpair(*hinted.replace("NAME", "vera").split())
    assert "19 pairs were assigned to 1 validator" in fcpair("validate", "assign").stdout


def test_several_sheets_are_read_in_one_call(at: Callable[[str], Path], fcpair: Fcpair, tmp_path: Path) -> None:
    at("dealt")
    fcpair("labels", "sheets", tmp_path / "sheets")
    sheets = [tmp_path / "sheets" / f"{name}.csv" for name in ANNOTATORS]
    for sheet in sheets:
        with sheet.open(encoding="utf-8", newline="") as file:
            rows = [{**row, "label": "appropriate"} for row in csv.DictReader(file)]
        with sheet.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    lines = fcpair("labels", "import", *sheets).output.splitlines()
    assert [line.startswith("label import: 14 answers were imported") for line in lines] == [True] * 3


def test_a_pair_that_was_discarded_is_explained_as_such(at: Callable[[str], Path], fcpair: Fcpair) -> None:
    grid = Study(at("labelled")).grid()
    pair = grid.waiting_pairs()[0]
    grid.decide(pair, None, by="petra")
    said = fcpair("explain", str(pair)).stdout
    assert said.startswith(f"pair {pair}: discarded")
    assert "adjudicated (person by petra): discarded" in said
    assert "bronze   no, because it was discarded" in said
    grid.take_back(pair, by="petra")
    assert fcpair("explain", str(pair)).stdout.startswith(f"pair {pair}: in no tier")
    assert "adjudicated (reopened by petra): taken back" in fcpair("explain", str(pair)).stdout


@pytest.mark.slow
def test_whatever_rests_on_decisions_says_which_are_older_than_their_labels(
    at: Callable[[str], Path], fcpair: Fcpair, tmp_path: Path
) -> None:
    study = Study(at("checked"))
    grid = study.grid()
    pair = grid.waiting_pairs()[0]
    grid.decide(pair, 2, by="petra")
    rows = grid.labels()
    one = rows[rows["pair"] == pair].iloc[0]
    other = "not_appropriate" if one["label"] == "appropriate" else "appropriate"
    record(study, tmp_path, [(str(one["annotator"]), pair, other)], supersede=True)
    note = "1 pair was decided before its labels changed and waits for a second look"
    for command in (
        ("evaluate", "--system", "random"),
        ("export", "qrels", "--tier", "bronze", "--out", tmp_path / "q.txt"),
        ("partition", "--tier", "bronze", "--out", tmp_path / "b.csv"),
        ("report", "--out", tmp_path / "r.html"),
    ):
        assert note in fcpair(*command).stderr, command
