"""`fcpair doctor`, `methods` and `note`: what they print and write, and how they end."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from steps.oversight.test_doctor import SCHEMAS, change, spoil

from cli.conftest import At, Fcpair, rows_of
from fcpair.cli import main
from fcpair.revisions import HEAD
from fcpair.study import Study


def doctor(path: str | Path, *options: str) -> Result:
    result = CliRunner().invoke(main, ["doctor", "--study", str(path), *options])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def test_a_sound_study_ends_with_0_its_schema_and_its_digest(at: At) -> None:
    path = at("checked")
    result = doctor(path)
    assert result.exit_code == 0
    health = Study.doctor(path)
    assert f"{path}, schema {HEAD}" in " ".join(result.stdout.split())
    assert result.stdout.splitlines()[-2:] == [
        f"All is well. Digest of answers, decisions and texts: {health.digest[:16]}",
        f"Digest of the settings: {health.settings_digest[:16]}, of the run log: {health.log_digest[:16]}",
    ]
    assert json.loads(doctor(path, "--format", "json").stdout)["schema"] == HEAD == Study(path).schema


def test_what_was_found_is_told_with_what_to_do_and_ends_with_1_in_every_format(at: At) -> None:
    path = at("checked")
    change(path, "UPDATE judgement SET note = 'x' WHERE id <= 8")
    found = json.loads(doctor(path, "--format", "json").stdout)
    assert (found["sound"], len(found["digest"])) == (False, 64)
    (answers,) = (one for one in found["checks"] if one["name"] == "answers")
    assert (answers["n"], len(answers["found"])) == (61, 8)
    change(path, "UPDATE judgement SET answer_id = NULL, skipped = 1 WHERE id = 1")
    result = doctor(path)
    assert result.exit_code == 1
    printed = " ".join(result.stdout.split())
    assert "answers: answer 1 of `" in printed
    assert "answers: ... and 3 more; `--format json` has them all." in printed
    assert printed.count("What to do (answers") == 1
    assert "`fcpair doctor --study COPY`" in printed
    assert "All is well" not in printed
    path = at("checked")
    change(path, "UPDATE text SET body = body || '!' WHERE id = 2")
    result = doctor(path, "--format", "csv")
    rows = {row["check"]: row for row in rows_of(result.stdout)}
    assert (result.exit_code, rows["texts"]["found"], rows["texts"]["first"]) == (1, "1", "text 2 was changed")
    assert {row["found"] for name, row in rows.items() if name != "texts"} == {"0"}


def test_where_there_is_no_study_or_an_older_one_it_ends_with_2(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    result = doctor(path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "there is no study at" in result.stderr
    shutil.copy(SCHEMAS / "0003.sqlite", path)
    result = doctor(path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"`fcpair upgrade --study {path}`" in " ".join(result.stderr.split())


@pytest.mark.parametrize("start", [16, 100, 4096, 40_000])
def test_a_damaged_file_ends_with_1_and_never_with_a_traceback(at: At, start: int) -> None:
    path = at("checked")
    spoil(path, start, b"\xfe" * 3000)
    result = doctor(path)
    assert result.exit_code == 1
    assert "Traceback" not in result.output
    assert "What to do (file" in result.stdout


def test_a_table_that_was_renamed_is_damage_and_not_another_database(at: At) -> None:
    path = at("checked")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE study RENAME TO stuffy")
    result = doctor(path)
    assert result.exit_code == 1
    assert "tables: the table `study` is missing." in result.stdout


def test_methods_are_printed_in_markdown_and_written_with_their_references(at: At, fcpair: Fcpair, here: Path) -> None:
    at("checked")
    printed = fcpair("methods").stdout
    assert printed.startswith("## Corpus, grid and labels\n\nThe corpus had 21 rows")
    fcpair("methods", "--markup", "latex", "--out", "paper")
    latex = (here / "paper" / "methods.tex").read_text("utf-8")
    assert latex.startswith("\\paragraph{Corpus, grid and labels.}")
    assert (here / "paper" / "methods.bib").is_file()
    assert "paper/m.tex" in fcpair("methods", "--out", "paper/m.tex").stdout
    assert (here / "paper" / "m.tex").read_text("utf-8") == latex
    fcpair.refusal("methods", "--out", "paper/methods.bib")
    fcpair.refusal("methods", "--evaluation", "3")


def test_a_note_about_a_pair_of_the_grid_is_added_and_stands_in_the_log(at: At, fcpair: Fcpair) -> None:
    at("dealt")
    noted = fcpair("note", "Two annotators talked.", "--pair", "5").stdout
    assert noted == "note: a note about pair 5 was added to the log\n"
    logged = "parameters: text Two annotators talked. · pair 5 a note about pair 5 was added to the log"
    assert logged in fcpair.line("log")
    assert fcpair.json("log")[-1]["params"]["text"] == "Two annotators talked."
