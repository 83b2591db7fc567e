"""What is said when sheets are written into a folder in which some lie already."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from cli.conftest import Fcpair

At = Callable[[str], Path]


def test_it_says_what_was_kept_and_what_to_do(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    at("dealt")
    folder = tmp_path / "sheets"
    fcpair("labels", "sheets", folder)
    sheet = folder / "ana.csv"
    lines = sheet.read_text("utf-8").splitlines(keepends=True)
    lines[1] = lines[1].replace(",,\n", ",appropriate,\n")
    sheet.write_text("".join(lines), "utf-8")
    result = fcpair("labels", "sheets", folder)
    assert result.stdout.splitlines() == [f"{folder / 'ben.csv'}: 14 pairs", f"{folder / 'cleo.csv'}: 14 pairs"]
    assert result.stderr.splitlines() == [
        f"{sheet}: kept, because it holds answers; 14 open pairs would have stood in a new one. Take them in with "
        f"`fcpair labels import {sheet}`, then move it away, or write to another folder"
    ]
    assert sheet.read_text("utf-8") == "".join(lines)


def test_it_says_whose_sheet_is_of_somebody_who_left(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    at("dealt")
    folder = tmp_path / "sheets"
    fcpair("labels", "sheets", folder)
    fcpair("people", "retire", "ana")
    said = fcpair("labels", "sheets", folder).stderr
    assert said == f"{folder / 'ana.csv'}: ana has left; what was open on this sheet has gone to others\n"


def test_verdicts_are_kept_alike(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    at("checking")
    folder = tmp_path / "checks"
    fcpair("validate", "sheets", folder)
    sheet = folder / "vera.csv"
    sheet.write_text(sheet.read_text("utf-8").replace(",,\n", ",agree,\n", 1), "utf-8")
    before = sheet.read_bytes()
    assert f"`fcpair validate import {sheet}`" in fcpair("validate", "sheets", folder).stderr
    assert sheet.read_bytes() == before
