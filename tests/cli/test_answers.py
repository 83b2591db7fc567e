"""Answers in files: sheets go out and come in, each result names its file, and `labels` and `answers` are one door."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import openpyxl
import pytest
from conftest import TESTS
from steps.small import dump, labels_of, open_work, write_csv

from cli.conftest import At, Fcpair
from cli.test_commands import found
from fcpair.study import Study

RECORDED = TESTS / "assets" / "exchange"


def sheet(study: Study, folder: Path, name: str, label: str = "appropriate") -> Path:
    """The work of a person with the same label for each pair."""
    rows = [{"pair": pair, "annotator": who, "label": label} for who, pair in open_work(study) if who == name]
    return write_csv(folder / f"{name}.csv", rows)


def test_each_result_names_its_file_and_a_refused_one_keeps_no_other_out(
    at: At, fcpair: Fcpair, tmp_path: Path
) -> None:
    study = Study(at("dealt"))
    paths = [sheet(study, tmp_path, name) for name in ("ana", "ben")]
    first = study.log()[-1].id + 1
    assert fcpair("labels", "import", *paths).stdout.splitlines() == [
        f"label import: 14 answers were imported; run {first + at} ({path})" for at, path in enumerate(paths)
    ]
    study = Study(at("dealt"))
    ana, cleo = (sheet(study, tmp_path, name) for name in ("ana", "cleo"))
    ben = sheet(study, tmp_path, "ben", "x")
    result = fcpair("labels", "import", ana, ben, cleo, code=2)
    assert [line.split(" (")[1] for line in result.stdout.splitlines()] == [f"{ana})", f"{cleo})"]
    first_lines = f"Error: 1 of 3 files was not imported\n{ben}: 1 thing is wrong; nothing was changed"
    assert result.stderr.startswith(first_lines)
    assert "unknown label `x`" in result.stderr
    assert {who for _, who in labels_of(study)} == {"ana", "cleo"}


@pytest.mark.parametrize(("stage", "command"), [("dealt", ("labels", "sheets")), ("checking", ("validate", "sheets"))])
def test_sheets_may_be_workbooks(at: At, fcpair: Fcpair, tmp_path: Path, stage: str, command: tuple[str, str]) -> None:
    at(stage)
    printed = fcpair(*command, tmp_path / "s", "--sheet-format", "xlsx").stdout
    paths = sorted((tmp_path / "s").iterdir())
    assert {path.suffix for path in paths} == {".xlsx"}
    assert sorted(line.split(":")[0] for line in printed.splitlines()) == [str(path) for path in paths]


def test_a_sheet_of_conflicts_goes_out_and_in(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    study, path = Study(at("decided")), tmp_path / "c.csv"
    writing = ("adjudicate", "--sheet", path)
    assert "give either --policy or --sheet, not both" in fcpair.refusal(*writing, "--policy", "manual")
    assert fcpair(*writing, "--adjudicator", "eva").stdout == f"{path}: 5 pairs\n"
    path.write_text(path.read_text("utf-8").replace(",,\n", ",appropriate,\n"), "utf-8")
    assert fcpair("adjudicate", "--import", path).stdout == f"adjudicate: 5 decisions were imported ({path})\n"
    assert study.grid().waiting_pairs() == []
    assert "already exists" in fcpair.refusal(*writing, "--adjudicator", "eva")


# -- sheets that are written into a folder in which some lie already


def test_a_sheet_with_answers_is_kept_with_what_to_do(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    at("dealt")
    folder = tmp_path / "sheets"
    fcpair("labels", "sheets", folder)
    sheet = folder / "ana.csv"
    sheet.write_text(sheet.read_text("utf-8").replace(",,\n", ",appropriate,\n", 1), "utf-8")
    before = sheet.read_bytes()
    result = fcpair("labels", "sheets", folder)
    assert result.stdout.splitlines() == [f"{folder / 'ben.csv'}: 14 pairs", f"{folder / 'cleo.csv'}: 14 pairs"]
    assert result.stderr.splitlines() == [
        f"{sheet}: kept, because it holds answers; a new one would have 14 open pairs. Import them with "
        f"`fcpair labels import {sheet}` if that is not done, then move it away, or write to another folder"
    ]
    assert sheet.read_bytes() == before


def test_a_file_without_answers_is_not_said_to_hold_any(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    at("dealt")
    sheet = tmp_path / "ana.csv"
    for content, why, first in (
        (b"pair,label,note\n1,,why?\n", "it holds notes", "Move it away"),
        (b"\xff\xfe\x00", "it cannot be read", f"`fcpair labels import {sheet}` says why; move it away"),
        (b"name,telephone\nana,555\n", "it is not a sheet of this round", "Move it away"),
    ):
        sheet.write_bytes(content)
        assert fcpair("labels", "sheets", tmp_path).stderr == (
            f"{sheet}: kept, because {why}; a new one would have 14 open pairs. {first}, or write to another folder\n"
        )
        assert sheet.read_bytes() == content


@pytest.mark.parametrize(
    ("act", "why"),
    [
        ("retire", "ana has left; the open work on this sheet was reassigned to others"),
        ("handover", "ana has nothing open any more; what was taken back was reassigned to others"),
    ],
)
def test_it_says_why_a_sheet_has_no_work_any_more(fcpair: Fcpair, at: At, tmp_path: Path, act: str, why: str) -> None:
    at("dealt")
    fcpair("labels", "sheets", tmp_path)
    fcpair("people", act, "ana")
    assert fcpair("labels", "sheets", tmp_path).stderr == f"{tmp_path / 'ana.csv'}: {why}\n"


# -- `labels` and `answers` are the same commands: each reads and writes what the other does, in its layout


def test_labels_and_answers_have_the_same_options_and_write_the_same(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    for name in ("sheets", "import", "withdraw", "export"):
        first, second = ([param.opts for param in found((group, name)).params] for group in ("labels", "answers"))
        assert first == [opts for opts in second if name != "withdraw" or opts != ["--round"]]
    at("dealt")
    fcpair("labels", "sheets", tmp_path / "l")
    fcpair("answers", "sheets", tmp_path / "a", "--layout", "pairs")
    sheets = sorted((tmp_path / "l").iterdir())
    assert sheets
    assert [path.read_bytes() for path in sheets] == [(tmp_path / "a" / path.name).read_bytes() for path in sheets]
    at("labelled")
    for labels, answers in (((), ("--layout", "pairs")), (("--layout", "cells", "--round", "label"), ())):
        fcpair("labels", "export", *labels, "--out", tmp_path / "l.csv")
        fcpair("answers", "export", *answers, "--out", tmp_path / "a.csv")
        assert (tmp_path / "l.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()
    for words in (("export", "--out", "x.csv"), ("sheets", "x"), ("import", "x.csv")):
        refused = fcpair.refusal("labels", *words, "--round", "label")
        assert "labels of pairs are those of the round that counts; omit --round" in refused


@pytest.mark.parametrize(("group", "options"), [("answers", ("--reader", "pairs")), ("labels", ())])
def test_labels_that_were_exported_are_imported_and_withdrawn_again(
    at: At, fcpair: Fcpair, tmp_path: Path, group: str, options: tuple[str, ...]
) -> None:
    study, out = at("labelled"), tmp_path / "l.csv"
    given = labels_of(Study(study))
    assert fcpair("labels", "export", "--out", out).stdout.endswith("l.csv: 42 answers\n")
    at("dealt")
    assert "label import: 42 answers were imported" in fcpair(group, "import", out, *options).stdout
    assert labels_of(Study(study)) == given
    run = Study(study).log()[-1].id
    assert fcpair(group, "withdraw", str(run)).stdout == "label withdraw: 42 answers were withdrawn\n"
    assert labels_of(Study(study)) == {}


# -- annotation tools


def test_a_project_is_written_for_a_tool_with_the_pairs_of_each_person(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("dealt")
    printed = fcpair("labels", "sheets", tmp_path / "project", "--sheet-format", "doccano")
    assert f"{tmp_path / 'project'}: 14 pairs of ana\n" in printed.stdout
    assert "README.md says how to start doccano with it" in " ".join(printed.stderr.split())
    assert (tmp_path / "project" / "ana.jsonl").is_file()
    receipts = fcpair.json("labels", "sheets", tmp_path / "p", "--sheet-format", "prodigy")
    assert [(one["person"], one["pairs"]) for one in receipts] == [("ana", 14), ("ben", 14), ("cleo", 14)]
    for group in ("labels", "answers"):
        fcpair(group, "sheets", tmp_path / group, "--sheet-format", "potato")
    for name in ("config.yaml", "data/items.jsonl", "people.csv", "README.md"):
        assert (tmp_path / "labels" / name).read_bytes() == (tmp_path / "answers" / name).read_bytes()


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


def test_an_export_is_read_with_its_people_and_what_it_lacks_is_printed(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    study = at("dealt")
    before = dump(study)
    unread = fcpair.refusal("labels", "import", tmp_path / "x.csv", "--people", tmp_path / "p.csv")
    assert "--people has no effect without --reader label-studio or --reader potato" in unread
    (tmp_path / "x.json").write_text('[{"data": {}', "utf-8")
    cut_off = fcpair.refusal("labels", "import", tmp_path / "x.json", "--reader", "label-studio")
    assert "is the file cut off?" in cut_off
    assert dump(study) == before
    export, people = (RECORDED / "potato" / name for name in ("annotations.jsonl", "people.csv"))
    printed = fcpair("labels", "import", export, "--reader", "potato", "--people", people)
    assert "Potato's exports have no skips" in " ".join(printed.stderr.split())
    assert printed.stdout.startswith("label import: 42 answers were imported")


# -- what is read of a workbook


def test_a_sheet_of_a_workbook_is_chosen_and_what_is_unread_is_said(fcpair: Fcpair, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    (first,) = book.worksheets
    first.title = "one"
    for row in (["hs", "cn"], [True, "x"]):
        first.append(row)
    second = book.create_sheet("two")
    for row in [["hs", "cn"], ["q", "r"], ["s", "t"]]:
        second.append(row)
    book.save(path := tmp_path / "book.xlsx")
    fcpair("init")
    assert "choose one by --sheet-name" in fcpair.refusal("import", path)
    imported = fcpair("import", path, "--sheet-name", "two")
    assert (imported.stdout, imported.stderr) == ("import: 2 rows were imported: 2 HS and 2 CNs\n", "")
    described = fcpair("describe", path, "--text", "hs", "--sheet-name", "one")
    assert described.stderr.count("1 cell is no text (TRUE or FALSE: 1)") == 1
    refused = fcpair.refusal("describe", "--text", "hs", "--sheet-name", "one")
    assert "--sheet-name names a sheet of a workbook, and no file is one" in refused


def test_the_sheet_of_a_list_stands_in_the_recipe(fcpair: Fcpair, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["hs", "cn"], ["not in the study"] * 2):
        book.worksheets[0].append(row)
    for side, text in (("hs", "q"), ("cn", "r")):
        listed = book.create_sheet(side)
        listed.append([side])
        listed.append([text])
    book.save(lists := tmp_path / "lists.xlsx")
    (corpus := tmp_path / "c.csv").write_text("hs,cn\nq,r\ns,t\n")
    fcpair("init")
    fcpair("import", corpus)
    assert "choose one by --sheet-name" in fcpair.refusal("select", "--hs-list", lists)
    assert "has no effect without `hs_list`" in fcpair.refusal("select", "--hs", "1", "--sheet-name", "hs")
    fcpair("select", "--hs-list", lists, "--sheet-name", "hs")
    fcpair("retrieve", "--cn-list", lists, "--sheet-name", "cn")
    (recipe := tmp_path / "again.toml").write_text(fcpair("recipe").stdout)
    again = fcpair("run", recipe, "--study", tmp_path / "again.db").stdout
    assert "select: 1 HS was selected" in again
    assert "retrieve: 1 candidate was brought in" in again
