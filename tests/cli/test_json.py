"""`--format json`: every command prints what it found or did as one JSON document, alone on standard output."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from cli.calls import LEAVES_OR_SLOW
from cli.conftest import At, Fcpair, Prepare
from cli.test_commands import ALL, found
from fcpair.cli import main
from fcpair.study import Study

WITHOUT_DIALOGUE: dict[tuple[str, ...], list[str]] = {("adjudicate",): ["--policy", "majority"]}


@pytest.mark.parametrize("path", LEAVES_OR_SLOW, ids=" ".join)
def test_every_command_prints_one_json_document(prepare: Prepare, path: tuple[str, ...]) -> None:
    result = CliRunner().invoke(main, [*prepare(path), *WITHOUT_DIALOGUE.get(path, []), "--format", "json"])
    assert result.exit_code == 0, result.output
    json.loads(result.stdout)


WRITING = {
    ("aggregate",): "--out {folder}/p.csv",
    ("ask", "results"): "--keep believed>0.1 --out {folder}/k.csv",
    ("evaluate",): "--runs {folder}/runs",
    ("measure",): "--each {folder}/e.csv",
    ("partition",): "--out {folder}/b.csv",
    ("plan",): "--width 1.5 --save",
    ("split",): "--out {folder}/s.csv",
}
"""What has commands with results to print write files as well; `items expand` either counts or writes."""


@pytest.mark.parametrize("path", WRITING, ids=" ".join)
@pytest.mark.parametrize("form", ["json", "csv"])
def test_what_is_printed_is_one_document_where_a_file_is_written_too(
    prepare: Prepare, tmp_path: Path, path: tuple[str, ...], form: str
) -> None:
    words = [word.format(folder=tmp_path) for word in WRITING[path].split()]
    result = CliRunner().invoke(main, [*prepare(path), *words, "--format", form])
    assert result.exit_code == 0, result.output
    if form == "json":
        json.loads(result.stdout)
    else:
        assert len({len(row) for row in csv.reader(io.StringIO(result.stdout))}) <= 1


def test_every_command_that_prints_results_and_writes_a_file_is_tested() -> None:
    writing = {
        path
        for path in ALL
        for flags in [{flag for param in getattr(found(path), "params", ()) for flag in param.opts}]
        if flags & {"--out", "--each", "--runs", "--save"}
        and "form" in {param.name for param in found(path).params}
        and not hasattr(found(path), "commands")
    }
    assert writing - {("items", "expand"), ("methods",), ("release",)} == {*WRITING}


def test_only_the_server_has_no_format() -> None:
    leaves = [path for path in ALL if not hasattr(found(path), "commands")]
    assert [path for path in leaves if not any("--format" in param.opts for param in found(path).params)] == [
        ("serve",)
    ]


def test_a_run_has_its_counts_its_notes_and_the_number_to_withdraw_it(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    study = Study(at("imported"))
    receipts = fcpair.json("select", "--hs", "2")
    run = study.log()[-1]
    assert receipts == [{"stage": "select", "run": run.id, "counts": run.counts, "notes": []}]
    study = Study(at("dealt"))
    fcpair("labels", "sheets", tmp_path)
    sheet = pd.read_csv(tmp_path / "ana.csv")
    sheet.assign(label="appropriate").to_csv(tmp_path / "ana.csv", index=False)
    study.dismiss("ana", reason="Thank you.")
    (receipt,) = fcpair.json("labels", "import", tmp_path / "ana.csv")
    assert receipt["notes"] == ["ana was dismissed, so the answers of ana are left out (14)"]
    assert fcpair("labels", "withdraw", "999", "--format", "json", code=2).stdout == ""


def test_what_was_done_is_printed_where_a_file_is_refused_or_none_is_due(
    at: At, fcpair: Fcpair, tmp_path: Path
) -> None:
    at("dealt")
    fcpair("labels", "sheets", tmp_path / "s")
    for sheet in (tmp_path / "s").iterdir():
        sheet.write_text(sheet.read_text("utf-8").replace(",,\n", ",2,\n"), "utf-8")
    assert fcpair.json("labels", "sheets", tmp_path / "s") == []
    result = fcpair("labels", "import", sheet, tmp_path / "none.csv", "--format", "json", code=2)
    assert [receipt["file"] for receipt in json.loads(result.stdout)] == [str(sheet)]
    assert "there is no such file" in result.stderr
