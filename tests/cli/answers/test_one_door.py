"""`labels` and `answers` are the same commands: each reads and writes what the other does, in its layout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from steps.small import dump

from cli.conftest import Fcpair
from cli.test_commands import found

At = Callable[[str], Path]
SHARED = ("sheets", "import", "withdraw", "export")


@pytest.mark.parametrize("name", SHARED)
def test_both_have_the_same_options(name: str) -> None:
    of_labels, of_answers = ([param.opts for param in found((group, name)).params] for group in ("labels", "answers"))
    assert of_labels == of_answers


def test_answers_export_writes_pairs_as_labels_does(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("labelled")
    fcpair("labels", "export", "--out", tmp_path / "l.csv")
    fcpair("answers", "export", "--layout", "pairs", "--out", tmp_path / "a.csv")
    assert (tmp_path / "l.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()


def test_labels_export_writes_cells_as_answers_does(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("labelled")
    fcpair("answers", "export", "--out", tmp_path / "a.csv")
    fcpair("labels", "export", "--layout", "cells", "--round", "label", "--out", tmp_path / "l.csv")
    assert (tmp_path / "l.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()


def test_answers_sheets_writes_sheets_of_labels(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("dealt")
    fcpair("labels", "sheets", tmp_path / "l")
    fcpair("answers", "sheets", tmp_path / "a", "--layout", "pairs")
    sheets = sorted((tmp_path / "l").iterdir())
    assert sheets
    assert [path.read_bytes() for path in sheets] == [(tmp_path / "a" / path.name).read_bytes() for path in sheets]


@pytest.mark.parametrize(("group", "options"), [("answers", ("--reader", "pairs")), ("labels", ())])
def test_both_take_labels_in(at: At, fcpair: Fcpair, tmp_path: Path, group: str, options: tuple[str, ...]) -> None:
    at("labelled")
    fcpair("labels", "export", "--out", tmp_path / "l.csv")
    study = at("dealt")
    before = dump(study)
    assert "label import: 42 answers were imported" in fcpair(group, "import", tmp_path / "l.csv", *options).stdout
    assert dump(study) != before


def test_answers_withdraw_takes_labels_back(at: At, fcpair: Fcpair) -> None:
    at("labelled")
    run = next(line for line in fcpair("log", "--format", "csv").stdout.splitlines() if "label import" in line)
    withdrawn = fcpair("answers", "withdraw", run.split(",")[0]).stdout
    assert withdrawn == "label withdraw: 42 answers were withdrawn\n"


@pytest.mark.parametrize("words", [("export", "--out", "x.csv"), ("sheets", "x"), ("import", "x.csv")])
def test_a_round_beside_pairs_is_refused(at: At, fcpair: Fcpair, words: tuple[str, ...]) -> None:
    at("labelled")
    said = fcpair("labels", *words, "--round", "label", code=2).stderr
    assert "labels of pairs are those of the round that counts; omit --round" in said


def test_a_table_without_rows_has_its_columns(at: At, fcpair: Fcpair) -> None:
    at("labelled")
    assert fcpair("people", "terms", "--format", "csv").stdout.splitlines()[0].startswith("name,role,consented_at")
    header = fcpair("answers", "refusals", "--format", "csv").stdout
    assert header.count("\n") == 1
    assert "rule" in header.split(",")


def test_a_tier_is_named_in_any_capitals(at: At, fcpair: Fcpair) -> None:
    at("checked")
    written = [fcpair("partition", "--tier", name, "--format", "csv").stdout for name in ("bronze", "Bronze")]
    assert written[0] == written[1]
    assert written[0]
