"""What is said when sheets are written into a folder in which some lie already."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

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
        f"{sheet}: kept, because it holds answers; a new one would have 14 open pairs. Import them with "
        f"`fcpair labels import {sheet}` if that is not done, then move it away, or write to another folder"
    ]
    assert sheet.read_text("utf-8") == "".join(lines)


@pytest.mark.parametrize(
    ("content", "why", "first"),
    [
        (b"pair,label,note\n1,,why?\n", "it holds notes", "Move it away"),
        (b"\xff\xfe\x00", "it cannot be read", "`fcpair labels import {}` says why; move it away"),
        (b"name,telephone\nana,555\n", "it is not a sheet of this round", "Move it away"),
    ],
    ids=["note", "unreadable", "other"],
)
def test_a_file_without_answers_is_not_said_to_hold_any(
    fcpair: Fcpair, at: At, tmp_path: Path, content: bytes, why: str, first: str
) -> None:
    at("dealt")
    sheet = tmp_path / "ana.csv"
    sheet.write_bytes(content)
    assert fcpair("labels", "sheets", tmp_path).stderr == (
        f"{sheet}: kept, because {why}; a new one would have 14 open pairs. {first.format(sheet)}, or write "
        "to another folder\n"
    )
    assert sheet.read_bytes() == content


@pytest.mark.parametrize(
    ("act", "why"),
    [
        ("retire", "ana has left; the open work on this sheet was reassigned to others"),
        (
            "handover",
            "ana has nothing open any more; what was taken back was reassigned to others",
        ),  # she is still there
    ],
)
def test_it_says_why_a_sheet_has_no_work_any_more(fcpair: Fcpair, at: At, tmp_path: Path, act: str, why: str) -> None:
    at("dealt")
    folder = tmp_path / "sheets"
    fcpair("labels", "sheets", folder)
    fcpair("people", act, "ana")
    assert fcpair("labels", "sheets", folder).stderr == f"{folder / 'ana.csv'}: {why}\n"


def test_verdicts_are_kept_alike(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    at("checking")
    folder = tmp_path / "checks"
    fcpair("validate", "sheets", folder)
    sheet = folder / "vera.csv"
    sheet.write_text(sheet.read_text("utf-8").replace(",,\n", ",agree,\n", 1), "utf-8")
    before = sheet.read_bytes()
    assert f"`fcpair validate import {sheet}`" in fcpair("validate", "sheets", folder).stderr
    assert sheet.read_bytes() == before
