"""fcpair doctor: what it prints, and how it ends."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from steps.oversight.test_doctor import SCHEMAS, change, spoil

from fcpair.cli import main
from fcpair.revisions import HEAD
from fcpair.study import Study

At = Callable[[str], Path]


def doctor(path: str | Path, *options: str) -> Result:
    result = CliRunner().invoke(main, ["doctor", "--study", str(path), *options])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def test_a_sound_study_ends_with_0_and_its_digest(at: At) -> None:
    path = at("checked")
    result = doctor(path)
    assert result.exit_code == 0
    health = Study.doctor(path)
    assert result.stdout.splitlines()[-2:] == [
        f"All is well. Digest of answers, decisions and texts: {health.digest[:16]}",
        f"Digest of the settings: {health.settings_digest[:16]}, of the run log: {health.log_digest[:16]}",
    ]


def test_what_was_found_is_told_with_what_to_do_and_ends_with_1(at: At) -> None:
    path = at("checked")
    change(
        path,
        "UPDATE judgement SET note = 'x' WHERE id <= 8",
        "UPDATE judgement SET answer_id = NULL, skipped = 1 WHERE id = 1",
    )
    result = doctor(path)
    assert result.exit_code == 1
    said = " ".join(result.stdout.split())
    assert "answers: answer 1 of `" in said
    assert "answers: ... and 3 more; `--format json` has them all." in said
    assert said.count("What to do (answers") == 1
    assert "`fcpair doctor --study COPY`" in said
    assert "All is well" not in said


def test_json_has_all_that_was_found_and_the_whole_digest(at: At) -> None:
    path = at("checked")
    change(path, "UPDATE judgement SET note = 'x' WHERE id <= 8")
    result = doctor(path, "--format", "json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["sound"], len(found["digest"])) == (1, False, 64)
    (answers,) = (one for one in found["checks"] if one["name"] == "answers")
    assert (answers["n"], len(answers["found"])) == (61, 8)


def test_it_names_the_schema(at: At) -> None:
    path = at("checked")
    assert f"{path}, schema {HEAD}" in " ".join(doctor(path).stdout.split())
    assert json.loads(doctor(path, "--format", "json").stdout)["schema"] == HEAD == Study(path).schema


def test_csv_has_a_row_for_each_check(at: At) -> None:
    path = at("checked")
    change(path, "UPDATE text SET body = body || '!' WHERE id = 2")
    result = doctor(path, "--format", "csv")
    rows = {row["check"]: row for row in csv.DictReader(io.StringIO(result.stdout))}
    assert (result.exit_code, rows["texts"]["found"], rows["texts"]["first"]) == (1, "1", "text 2 was changed")
    assert {row["found"] for name, row in rows.items() if name != "texts"} == {"0"}


def test_where_there_is_no_study_it_ends_with_2(tmp_path: Path) -> None:
    result = doctor(tmp_path / "none.db")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "there is no study at" in result.stderr


def test_a_study_of_an_older_fcpair_is_to_be_upgraded_first(tmp_path: Path) -> None:
    path = shutil.copy(SCHEMAS / "0003.sqlite", tmp_path / "study.db")
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
