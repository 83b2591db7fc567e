"""Sheets are written anew again and again; a file with answers in it is never overwritten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fcpair.study import Study
from fcpair.work_records import KeepReason
from steps.small import open_work, record
from steps.small import write_csv as write

At = Callable[[str], Study]


def fill_in(path: Path, column: str, answer: str, row: int = 1) -> bytes:
    """Write an answer into one row of a sheet, as a person does; returns what is in the file then."""
    import csv

    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    rows[row][column] = answer
    write(path, rows)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("column", "answer", "why"),
    [
        ("label", "skip", KeepReason.ANSWERS),
        ("label", "appropriate", KeepReason.ANSWERS),
        ("note", "unclear?", KeepReason.NOTES),
    ],
)
def test_a_sheet_with_anything_filled_in_is_kept(
    at: At, tmp_path: Path, column: str, answer: str, why: KeepReason
) -> None:
    grid = at("dealt").grid()
    grid.sheets.write_labels(tmp_path)
    filled = fill_in(tmp_path / "ana.csv", column, answer)
    assert grid.sheets.write_labels(tmp_path) == {"ben": 14, "cleo": 14}
    assert (tmp_path / "ana.csv").read_bytes() == filled
    (old,) = grid.sheets.old(tmp_path)
    assert (old.path, old.person, old.kept, old.open, old.left) == (tmp_path / "ana.csv", "ana", why, 14, False)


def test_a_sheet_that_nobody_touched_is_renewed(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    grid.sheets.write_labels(tmp_path)
    who, pair = next((who, pair) for who, pair in open_work(study) if who == "ana")
    record(study, tmp_path, [(who, pair, "0")])
    (tmp_path / "some-labels.csv").unlink()
    assert grid.sheets.write_labels(tmp_path) == {"ana": 13, "ben": 14, "cleo": 14}
    assert grid.sheets.old(tmp_path) == []


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"name,telephone\nana,555\n", b'label\n"open'])
def test_a_file_that_is_no_sheet_of_ours_is_kept(at: At, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ana.csv").write_bytes(content)
    assert "ana" not in at("dealt").grid().sheets.write_labels(tmp_path)
    assert (tmp_path / "ana.csv").read_bytes() == content


def test_another_round_s_sheet_of_the_same_name_is_kept(at: At, tmp_path: Path) -> None:
    study = at("checking")
    write(tmp_path / "vera.csv", [{"annotator": "vera", "pair": 1, "label": "", "note": ""}])
    before = (tmp_path / "vera.csv").read_bytes()
    assert list(study.grid().sheets.write_verdicts(tmp_path)) == ["walt"]
    assert (tmp_path / "vera.csv").read_bytes() == before


def test_the_label_that_a_validator_checks_is_no_answer_of_theirs(at: At, tmp_path: Path) -> None:
    grid = at("checking").grid()
    first = grid.sheets.write_verdicts(tmp_path)
    assert grid.sheets.write_verdicts(tmp_path) == first
    filled = fill_in(tmp_path / "vera.csv", "verdict", "agree")
    assert "vera" not in grid.sheets.write_verdicts(tmp_path)
    assert (tmp_path / "vera.csv").read_bytes() == filled
    assert [old.person for old in grid.sheets.old(tmp_path, checks=True)] == ["vera"]


def test_the_sheet_of_somebody_who_left_is_named(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    grid.sheets.write_labels(tmp_path)
    study.retire("ana")
    assert set(grid.sheets.write_labels(tmp_path)) == {"ben", "cleo"}
    (old,) = grid.sheets.old(tmp_path)
    assert (old.path, old.left, old.passed_on, old.kept) == (tmp_path / "ana.csv", True, False, None)


@pytest.mark.parametrize("answered", [0, 12])
def test_who_handed_work_over_and_is_active_has_not_left(at: At, tmp_path: Path, answered: int) -> None:
    study = at("dealt")
    grid = study.grid()
    grid.sheets.write_labels(tmp_path / "sheets")
    own = [(who, pair, "0") for who, pair in open_work(study) if who == "ana"]
    if answered:
        record(study, tmp_path, own[:answered])
    study.hand_over("ana")
    (old,) = grid.sheets.old(tmp_path / "sheets")
    assert (old.person, old.left, old.passed_on) == ("ana", False, True)


def test_who_is_done_has_not_left(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    grid.sheets.write_labels(tmp_path)
    record(study, tmp_path, [(who, pair, "0") for who, pair in open_work(study) if who == "ana"])
    assert grid.sheets.old(tmp_path) == []


def test_files_of_nobody_are_left_alone(at: At, tmp_path: Path) -> None:
    (tmp_path / "notes.csv").write_text("label\n2\n", "utf-8")
    grid = at("dealt").grid()
    grid.sheets.write_labels(tmp_path)
    assert grid.sheets.old(tmp_path) == []
