"""Labels coming in from files: what is taken, what is refused, and that a refusal changes nothing."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from fcpair.errors import InputError
from fcpair.files.tables.tabular import read_table, write_table
from fcpair.params import Assign, Pair
from fcpair.records import Role
from fcpair.study import Study
from steps.small import ANNOTATORS, HS, dump, labels_of, open_work, record, write_csv

At = Callable[[str], Study]


def assert_rejected(study: Study, path: Path, *said: str, supersede: bool = False) -> None:
    """The file is refused with all these findings, and the study is exactly as it was."""
    before = dump(study)
    with pytest.raises(InputError) as caught:
        study.grid().import_labels(path, supersede=supersede)
    for words in said:
        assert words in str(caught.value)
    assert dump(study) == before


def work_of(study: Study, name: str) -> list[int]:
    return [pair for who, pair in open_work(study) if who == name]


def not_dealt_to(study: Study, name: str) -> int:
    return min(set(range(1, 25)) - set(work_of(study, name)))


# -- what is taken


def test_labels_are_taken_by_pair_number(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    pair = work_of(study, "ana")[0]
    run = record(study, tmp_path, [("ana", pair, "appropriate")])
    assert labels_of(study) == {(pair, "ana"): "appropriate"}
    assert run.counts == {"answers": 1, "skips": 0, "already_there": 0}


def test_labels_are_taken_by_the_two_texts_in_any_form_of_the_same_text(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    grid.sheets.write_labels(tmp_path / "sheets")
    row = read_table(tmp_path / "sheets" / "ana.csv").iloc[0]
    decomposed = row["cn"].replace("é", "e\u0301") + "  "
    given = [{"hs": row["hs"], "cn": decomposed, "annotator": "ana", "label": "not_sure"}]
    grid.import_labels(write_csv(tmp_path / "l.csv", given))
    assert labels_of(study) == {(int(row["pair"]), "ana"): "not_sure"}


@pytest.mark.parametrize(
    ("word", "label"),
    [
        ("0", "not_appropriate"),
        ("1", "not_sure"),
        (" 2 ", "appropriate"),
        ("Appropriate", "appropriate"),
        ("NOT_SURE", "not_sure"),
        ("skip", "skip"),
    ],
)
def test_a_label_is_a_code_or_a_name_or_skip(at: At, tmp_path: Path, word: str, label: str) -> None:
    study = at("dealt")
    pair = work_of(study, "ana")[0]
    record(study, tmp_path, [("ana", pair, word)])
    assert labels_of(study)[pair, "ana"] == label


def test_rows_without_a_label_are_not_seen_rather_than_skipped(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    first, second = work_of(study, "ana")[:2]
    run = record(study, tmp_path, [("ana", first, ""), ("ana", second, "0"), ("ana", first, "  ")])
    assert list(labels_of(study)) == [(second, "ana")]
    assert run.counts["skips"] == 0
    assert first in work_of(study, "ana")


def test_an_untouched_sheet_is_refused_and_changes_nothing(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    grid.sheets.write_labels(tmp_path)
    runs = study.log()
    with pytest.raises(InputError, match=r"ana.csv: no row has an answer in `label`"):
        grid.import_labels(tmp_path / "ana.csv")
    assert labels_of(study) == {}
    assert study.log() == runs


def test_a_filled_in_sheet_is_read_back(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    grid.sheets.write_labels(tmp_path)
    sheet = read_table(tmp_path / "ben.csv").drop(columns="line").assign(label="2", note="=fine, نه")
    write_table(sheet, tmp_path / "ben.csv")
    assert grid.import_labels(tmp_path / "ben.csv").counts["answers"] == 14
    assert set(grid.labels()["note"]) == {"=fine, نه"}
    assert work_of(study, "ben") == []


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_labels_are_taken_from_other_kinds_of_file(at: At, tmp_path: Path, suffix: str) -> None:
    study = at("dealt")
    pair = work_of(study, "ana")[0]
    table = read_table(write_csv(tmp_path / "l.csv", [{"pair": pair, "annotator": "ana", "label": "2"}]))
    write_table(table.drop(columns="line"), tmp_path / f"l.{suffix}")
    study.grid().import_labels(tmp_path / f"l.{suffix}")
    assert labels_of(study) == {(pair, "ana"): "appropriate"}


def test_seconds_time_and_note_are_kept(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    pair = work_of(study, "ana")[0]
    row = {"pair": pair, "annotator": "ana", "label": "2", "seconds": "4.5", "time": "2026-01-02T03:04:05+00:00"}
    grid.import_labels(write_csv(tmp_path / "l.csv", [{**row, "note": "hm"}]))
    kept = grid.labels().iloc[0]
    assert (kept["seconds"], kept["time"], kept["note"]) == (4.5, "2026-01-02T03:04:05+00:00", "hm")
    assert kept["origin"] == "imported"


def test_the_same_file_twice_adds_nothing(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    answers = [("ana", pair, "2") for pair in work_of(study, "ana")] + [("ben", work_of(study, "ben")[0], "skip")]
    record(study, tmp_path, answers)
    before = grid.labels()
    run = record(study, tmp_path, answers)
    assert run.counts == {"answers": 0, "skips": 0, "already_there": 15}
    assert grid.labels().equals(before)


def test_a_shard_may_come_in_piece_by_piece(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    mine = work_of(study, "ana")
    record(study, tmp_path, [("ana", pair, "2") for pair in mine[:5]])
    run = record(study, tmp_path, [("ana", pair, "2") for pair in mine])
    assert run.counts == {"answers": 9, "skips": 0, "already_there": 5}


def test_supersede_appends_the_newer_answer_and_keeps_the_older(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    first, second = work_of(study, "ana")[:2]
    record(study, tmp_path, [("ana", first, "2"), ("ana", second, "2")])
    run = record(study, tmp_path, [("ana", first, "0"), ("ana", second, "2")], supersede=True)
    assert labels_of(study)[first, "ana"] == "not_appropriate"
    assert run.counts == {"answers": 1, "skips": 0, "already_there": 1}
    assert [row["answer"] for row in study.grid().explain(first).answers] == ["appropriate", "not_appropriate"]


def test_a_label_may_supersede_a_skip_and_a_skip_a_label(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    pair = work_of(study, "ana")[0]
    record(study, tmp_path, [("ana", pair, "skip")])
    record(study, tmp_path, [("ana", pair, "2")], supersede=True)
    assert labels_of(study)[pair, "ana"] == "appropriate"
    record(study, tmp_path, [("ana", pair, "skip")], supersede=True)
    assert labels_of(study)[pair, "ana"] == "skip"


# -- what is refused


def test_a_different_label_is_refused_and_the_remedy_named(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    first, second = work_of(study, "ana")[:2]
    record(study, tmp_path, [("ana", first, "2"), ("ana", second, "skip")])
    rows = [{"pair": first, "annotator": "ana", "label": "0"}, {"pair": second, "annotator": "ana", "label": "0"}]
    path = write_csv(tmp_path / "l.csv", rows)
    said = f"l.csv:2: ana has already answered pair {first} differently; --supersede takes this as the newer answer"
    assert_rejected(study, path, said, f"l.csv:3: ana has already answered pair {second} differently")


def test_a_pair_that_was_not_dealt_to_that_annotator_is_refused(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    pair = not_dealt_to(study, "ana")
    path = write_csv(tmp_path / "l.csv", [{"pair": pair, "annotator": "ana", "label": "2"}])
    assert_rejected(study, path, f"l.csv:2: pair {pair} was not assigned to ana")


def test_supersede_does_not_let_in_what_was_not_dealt(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    path = write_csv(tmp_path / "l.csv", [{"pair": not_dealt_to(study, "ana"), "annotator": "ana", "label": "2"}])
    assert_rejected(study, path, "was not assigned to ana", supersede=True)


def test_an_unknown_annotator_is_refused_and_the_known_are_named(at: At, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "l.csv", [{"pair": 1, "annotator": "anna", "label": "2"}])
    assert_rejected(at("dealt"), path, "l.csv:2: no annotator is called `anna`; there are ana, ben, cleo")


@pytest.mark.parametrize("pair", ["25", "999999999999", "0"])
def test_a_pair_that_is_not_in_the_grid_is_refused(at: At, tmp_path: Path, pair: str) -> None:
    path = write_csv(tmp_path / "l.csv", [{"pair": pair, "annotator": "ana", "label": "2"}])
    assert_rejected(at("dealt"), path, f"l.csv:2: pair {pair} is not in the grid")


@pytest.mark.parametrize("pair", ["x", "-1", "1.5", "", "1" * 30, "²"])
def test_a_pair_that_is_no_number_is_refused(at: At, tmp_path: Path, pair: str) -> None:
    path = write_csv(tmp_path / "l.csv", [{"pair": pair, "annotator": "ana", "label": "2"}])
    assert_rejected(at("dealt"), path, "l.csv:2:")


def test_texts_that_are_no_pair_of_the_grid_are_refused(at: At, tmp_path: Path) -> None:
    rows = [
        {"hs": HS[0], "cn": "Nobody said this.", "annotator": "ana", "label": "2"},
        {"hs": "Nor this.", "cn": "Nobody said this.", "annotator": "ana", "label": "2"},
    ]
    path = write_csv(tmp_path / "l.csv", rows)
    said = "l.csv:3: pair `Nor this.` x `Nobody said this.`"
    assert_rejected(at("dealt"), path, f"l.csv:2: pair `{HS[0][:39]}", said)


def test_an_unknown_label_is_refused_and_the_known_are_named(at: At, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "l.csv", [{"pair": 1, "annotator": "ana", "label": "maybe"}])
    assert_rejected(at("dealt"), path, "l.csv:2: unknown label `maybe`; expected one of", "not_sure", "skip")


def test_a_pair_given_twice_is_refused_even_with_the_same_label(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    pair = work_of(study, "ana")[0]
    row = {"pair": pair, "annotator": "ana", "label": "2"}
    path = write_csv(tmp_path / "l.csv", [row, row])
    assert_rejected(study, path, "l.csv:3: this pair has been answered by ana already, in line 2")


@pytest.mark.parametrize(
    ("column", "cell"), [("seconds", "-1"), ("seconds", "soon"), ("seconds", "nan"), ("time", "yesterday")]
)
def test_a_number_or_time_that_is_none_is_refused(at: At, tmp_path: Path, column: str, cell: str) -> None:
    study = at("dealt")
    pair = work_of(study, "ana")[0]
    path = write_csv(tmp_path / "l.csv", [{"pair": pair, "annotator": "ana", "label": "2", column: cell}])
    assert_rejected(study, path, f"l.csv:2: `{cell}` is no")


def test_everything_that_is_wrong_with_a_file_is_told_at_once(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    (good, other), stray = work_of(study, "ana")[:2], not_dealt_to(study, "ana")
    rows = [
        {"pair": good, "annotator": "ana", "label": "2"},
        {"pair": good, "annotator": "ana", "label": "2"},
        {"pair": 99, "annotator": "ana", "label": "2"},
        {"pair": 1, "annotator": "nobody", "label": "2"},
        {"pair": stray, "annotator": "ana", "label": "2"},
        {"pair": other, "annotator": "ana", "label": "maybe"},
    ]
    path = write_csv(tmp_path / "l.csv", rows)
    assert_rejected(study, path, "5 things are wrong", "l.csv:3:", "l.csv:4:", "l.csv:5:", "l.csv:6:", "l.csv:7:")


def test_a_sheet_with_other_texts_is_refused(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    grid.sheets.write_labels(tmp_path)
    sheet = tmp_path / "ana.csv"
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = [{**row, "label": "2"} for row in csv.DictReader(file)]
    rows[0]["hs"], rows[1]["cn"] = "People who like trains cannot be trusted.", ""
    write_csv(sheet, rows)
    before = dump(study)
    with pytest.raises(InputError, match=f":2: pair {rows[0]['pair']} has other texts in this study") as refusal:
        grid.import_labels(sheet)
    assert len(refusal.value.findings) == 1
    assert dump(study) == before


def test_a_good_row_does_not_get_in_with_a_bad_one(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    rows = [{"pair": pair, "annotator": "ana", "label": "2"} for pair in work_of(study, "ana")]
    path = write_csv(tmp_path / "l.csv", [*rows, {"pair": 99, "annotator": "ana", "label": "2"}])
    assert_rejected(study, path, "99")
    assert labels_of(study) == {}


@pytest.mark.parametrize("column", ["pair", "annotator", "label"])
def test_a_missing_column_is_named(at: At, tmp_path: Path, column: str) -> None:
    row = {"pair": 1, "annotator": "ana", "label": "2"}
    del row[column]
    assert_rejected(
        at("dealt"), write_csv(tmp_path / "l.csv", [row]), "l.csv:1: no column", column if column != "pair" else "hs"
    )


def test_a_sheet_without_an_annotator_s_name_is_refused(at: At, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "l.csv", [{"pair": 1, "annotator": " ", "label": "2"}])
    assert_rejected(at("dealt"), path, "l.csv:2: column `annotator` is empty")


# -- studies in which nothing was dealt


@pytest.fixture
def undealt(at: At) -> Study:
    study = at("paired")
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    return study


def test_an_undealt_study_takes_the_labels_of_its_annotators(undealt: Study, tmp_path: Path) -> None:
    record(undealt, tmp_path, [("ana", 1, "2"), ("ben", 1, "0"), ("ana", 7, "1")])
    assert labels_of(undealt) == {(1, "ana"): "appropriate", (1, "ben"): "not_appropriate", (7, "ana"): "not_sure"}


def test_an_undealt_study_takes_one_file_after_the_other(undealt: Study, tmp_path: Path) -> None:
    record(undealt, tmp_path, [("ana", 1, "2")])
    record(undealt, tmp_path, [("ben", 1, "0")])
    run = record(undealt, tmp_path, [("ana", 1, "2"), ("ana", 2, "2")])
    assert run.counts == {"answers": 1, "skips": 0, "already_there": 1}
    assert len(labels_of(undealt)) == 3


def test_an_undealt_study_refuses_unknown_people(undealt: Study, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "l.csv", [{"pair": 1, "annotator": "zoe", "label": "2"}])
    assert_rejected(undealt, path, "no annotator is called `zoe`; there are ana, ben, cleo")


def test_an_undealt_study_takes_labels_of_annotators_only(undealt: Study, tmp_path: Path) -> None:
    undealt.add_people(["vera"], Role.VALIDATOR)
    path = write_csv(tmp_path / "l.csv", [{"pair": 1, "annotator": "vera", "label": "2"}])
    assert_rejected(undealt, path, "no annotator is called `vera`")


def test_a_refused_file_leaves_no_assignments_in_an_undealt_study(undealt: Study, tmp_path: Path) -> None:
    rows = [{"pair": 1, "annotator": "ana", "label": "2"}, {"pair": 99, "annotator": "ana", "label": "2"}]
    assert_rejected(undealt, write_csv(tmp_path / "l.csv", rows), "pair 99 is not in the grid")


def test_a_grid_that_was_made_anew_after_dealing_is_to_be_dealt_again(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    grid.pair(Pair(), redo=True)
    path = write_csv(tmp_path / "l.csv", [{"pair": 1, "annotator": "ana", "label": "2"}])
    assert_rejected(study, path, "pair 1 was not assigned to ana")
    grid.assign(Assign())
    assert study.status()["rounds"]["label"]["open"] == 24
