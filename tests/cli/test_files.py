"""Files on the command line: each result names its file, one bad file does not stop the others, sheets go out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest
from steps.small import labels_of, open_work, write_csv

from cli.conftest import Fcpair
from fcpair.study import Study

At = Callable[[str], Path]


def sheet(study: Study, folder: Path, name: str, label: str = "2") -> Path:
    rows = [{"pair": pair, "annotator": who, "label": label} for who, pair in open_work(study) if who == name]
    return write_csv(folder / f"{name}.csv", rows)


def test_each_result_names_its_file(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    study = Study(at("dealt"))
    paths = [sheet(study, tmp_path, name) for name in ("ana", "ben")]
    first = study.log()[-1].id + 1
    assert fcpair("labels", "import", *paths).stdout.splitlines() == [
        f"label import: 14 answers were imported; run {first + at} ({path})" for at, path in enumerate(paths)
    ]


def test_a_file_that_is_refused_does_not_keep_the_others_out(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    study = Study(at("dealt"))
    answers = {"ana": "appropriate", "ben": "x", "cleo": "appropriate"}
    ana, ben, cleo = (sheet(study, tmp_path, name, label) for name, label in answers.items())
    result = fcpair("labels", "import", ana, ben, cleo, code=2)
    assert [line.split(" (")[1] for line in result.stdout.splitlines()] == [f"{ana})", f"{cleo})"]
    first_lines = f"Error: 1 of 3 files was not imported\n{ben}: 1 thing is wrong; nothing was changed"
    assert result.stderr.startswith(first_lines)
    assert "unknown label `x`" in result.stderr
    assert {who for _, who in labels_of(study)} == {"ana", "cleo"}


@pytest.mark.parametrize(("stage", "command"), [("dealt", ("labels", "sheets")), ("checking", ("validate", "sheets"))])
def test_sheets_are_workbooks_on_request(
    at: At, fcpair: Fcpair, tmp_path: Path, stage: str, command: tuple[str, str]
) -> None:
    at(stage)
    printed = fcpair(*command, tmp_path / "s", "--sheet-format", "xlsx").stdout
    there = sorted((tmp_path / "s").iterdir())
    assert {path.suffix for path in there} == {".xlsx"}
    assert sorted(line.split(":")[0] for line in printed.splitlines()) == [str(path) for path in there]


def test_a_sheet_of_conflicts_goes_out_and_in(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    study = Study(at("decided"))
    path = tmp_path / "c.csv"
    assert fcpair("adjudicate", "--sheet", path, "--adjudicator", "eva").stdout == f"{path}: 5 pairs\n"
    path.write_text(path.read_text("utf-8").replace(",,\n", ",appropriate,\n"), "utf-8")
    assert fcpair("adjudicate", "--import", path).stdout == f"adjudicate: 5 decisions were imported ({path})\n"
    assert study.grid().waiting_pairs() == []
    assert "already exists" in fcpair("adjudicate", "--sheet", path, "--adjudicator", "eva", code=2).stderr


def test_one_way_to_decide_at_a_time(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("decided")
    result = fcpair("adjudicate", "--sheet", tmp_path / "c.csv", "--policy", "manual", code=2)
    assert "give either --policy or --sheet, not both" in result.stderr


CONAN_COLUMNS = ("--hs-column", "hateSpeech", "--cn-column", "counterSpeech")


def test_a_language_is_refused_where_no_column_says_it(fcpair: Fcpair, tmp_path: Path) -> None:
    fcpair("init")
    rows = [{"cn_id": f"{code}1", "hateSpeech": f"h{code}", "counterSpeech": f"c{code}"} for code in ("EN", "IT")]
    path = write_csv(tmp_path / "CONAN.csv", rows)
    result = fcpair("import", path, "--only-language", "it", *CONAN_COLUMNS, code=2)
    assert "read as csv, no column says which language a row is in; name one by `language_column`" in result.stderr
    assert "these are the columns of `--reader conan`" in result.stderr
    result = fcpair("import", path, "--only-language", "EN1", "--language-column", "cn_id", *CONAN_COLUMNS)
    assert result.stdout == "import: 1 row was imported: 1 HS and 1 CN; 1 row in another language was left out\n"
    result = fcpair("import", path, "--only-language", "it", "--reader", "conan", "--redo")
    assert result.stdout == "import: 1 row was imported: 1 HS and 1 CN; 1 row in another language was left out\n"
    assert result.stderr == ""


def test_what_was_left_unread_of_a_workbook_is_said_beside_the_result(
    fcpair: Fcpair, study: Path, tmp_path: Path
) -> None:
    book = openpyxl.Workbook()
    (first,) = book.worksheets
    first.title = "one"
    first.append(["hs", "cn"])
    first.append([True, "x"])
    second = book.create_sheet("two")
    for row in [["hs", "cn"], ["q", "r"], ["s", "t"]]:
        second.append(row)
    book.save(path := tmp_path / "book.xlsx")
    fcpair("init")
    assert "choose one by --sheet-name" in fcpair("import", path, code=2).stderr
    imported = fcpair("import", path, "--sheet-name", "two")
    assert (imported.stdout, imported.stderr) == ("import: 2 rows were imported: 2 HS and 2 CNs\n", "")
    described = fcpair("describe", path, "--text", "hs", "--sheet-name", "one")
    assert described.stderr.count("1 cell is no text (TRUE or FALSE: 1)") == 1


def test_a_sheet_of_no_workbook_is_refused(fcpair: Fcpair) -> None:
    refusal = fcpair("describe", "--text", "hs", "--sheet-name", "one", code=2).stderr
    assert "--sheet-name names a sheet of a workbook, and no file is one" in refusal


def test_the_sheet_of_a_list_stands_in_the_recipe(fcpair: Fcpair, study: Path, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    (first,) = book.worksheets
    for row in ["hs", "q"], ["cn", "r"]:
        book.create_sheet(row[0]).append(row[:1])
        book[row[0]].append(row[1:])
    for side in "hs", "cn":
        first[f"{'A' if side == 'hs' else 'B'}1"] = side
        first[f"{'A' if side == 'hs' else 'B'}2"] = "not in the study"
    book.save(lists := tmp_path / "lists.xlsx")
    (corpus := tmp_path / "c.csv").write_text("hs,cn\nq,r\ns,t\n")
    fcpair("init")
    fcpair("import", corpus)
    assert "choose one by --sheet-name" in fcpair("select", "--hs-list", lists, code=2).stderr
    assert "has no effect without `hs_list`" in fcpair("select", "--hs", "1", "--sheet-name", "hs", code=2).stderr
    fcpair("select", "--hs-list", lists, "--sheet-name", "hs")
    fcpair("retrieve", "--cn-list", lists, "--sheet-name", "cn")
    (recipe := tmp_path / "again.toml").write_text(fcpair("recipe").stdout)
    again = fcpair("run", recipe, "--study", tmp_path / "again.db")
    assert "select: 1 HS was selected" in again.stdout
    assert "retrieve: 1 candidate was brought in" in again.stdout
