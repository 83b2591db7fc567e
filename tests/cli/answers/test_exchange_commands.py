"""Projects for annotation tools and their exports at the command line."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import TESTS

from cli.conftest import Fcpair

At = Callable[[str], Path]
RECORDED = TESTS / "assets" / "exchange"


def test_a_project_is_written_and_its_readme_is_named(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("dealt")
    printed = fcpair("labels", "sheets", tmp_path / "project", "--sheet-format", "doccano")
    assert f"{tmp_path / 'project'}: 14 pairs of ana\n" in printed.stdout
    assert "README.md says how to start doccano with it" in " ".join(printed.stderr.split())
    assert (tmp_path / "project" / "ana.jsonl").is_file()


def test_the_command_of_the_readme_is_right_when_pasted_in_its_folder(
    at: At, fcpair: Fcpair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at("dealt")
    project = tmp_path / "a project"
    fcpair("labels", "sheets", project, "--sheet-format", "potato")
    (project / "out").mkdir()
    shutil.copy(RECORDED / "potato" / "annotations.jsonl", project / "out")
    (command,) = [line for line in (project / "README.md").read_text("utf-8").splitlines() if "fcpair labels" in line]
    monkeypatch.chdir(project)
    monkeypatch.delenv("FCPAIR_STUDY", raising=False)
    assert fcpair(*shlex.split(command)[1:]).stdout.startswith("label import: 42 answers were imported")


def test_answers_writes_the_same_project(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("dealt")
    fcpair("labels", "sheets", tmp_path / "l", "--sheet-format", "potato")
    fcpair("answers", "sheets", tmp_path / "a", "--sheet-format", "potato")
    for name in ("config.yaml", "data/items.jsonl", "people.csv", "README.md"):
        assert (tmp_path / "l" / name).read_bytes() == (tmp_path / "a" / name).read_bytes()


def test_programs_get_the_pairs_of_each_person(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("dealt")
    printed = fcpair("labels", "sheets", tmp_path / "p", "--sheet-format", "prodigy", "--format", "json").stdout
    assert [(one["person"], one["pairs"]) for one in json.loads(printed)] == [("ana", 14), ("ben", 14), ("cleo", 14)]


def test_what_an_export_lacks_is_printed_and_its_answers_are_counted(at: At, fcpair: Fcpair) -> None:
    at("dealt")
    people = RECORDED / "potato" / "people.csv"
    export = RECORDED / "potato" / "annotations.jsonl"
    printed = fcpair("labels", "import", export, "--reader", "potato", "--people", people)
    assert "Potato's exports have no skips" in " ".join(printed.stderr.split())
    assert printed.stdout.startswith("label import: 42 answers were imported")


def test_a_table_of_people_is_for_annotation_tools_alone(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("dealt")
    said = fcpair("labels", "import", tmp_path / "x.csv", "--people", tmp_path / "p.csv", code=2).stderr
    assert "--people has no effect without --reader label-studio or --reader potato" in " ".join(said.split())


def test_a_broken_export_ends_with_2(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("dealt")
    (tmp_path / "x.json").write_text('[{"data": {}', "utf-8")
    said = fcpair("labels", "import", tmp_path / "x.json", "--reader", "label-studio", code=2).stderr
    assert "is the file cut off?" in " ".join(said.split())
