"""Files of answers: what is read of them, pilots too, and what is refused by line."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from fcpair.errors import InputError
from fcpair.files.answers.answer_files import read_answers, read_pilot_labels
from fcpair.stages.questions import NO_CODE
from fcpair.stages.questions.closed import word_reader
from fcpair.stages.questions.labels import APPROPRIATENESS, label_reader, outcome_reader

READ = label_reader(APPROPRIATENESS)
HEAD = "pair,hs_id,cn_id,annotator,label,seconds\n"


def written(folder: Path, *lines: str) -> Path:
    path = folder / "labels.csv"
    path.write_text("\n".join(lines), "utf-8")
    return path


def read(folder: Path, *lines: str) -> pd.DataFrame:
    return read_answers(written(folder, *lines), READ, person="annotator", answer="label").checked_rows()


def found(folder: Path, *lines: str) -> list[tuple[int | None, str]]:
    with pytest.raises(InputError) as caught:
        read(folder, *lines)
    return [(finding.line, finding.message) for finding in caught.value.findings]


def decisions(folder: Path, *lines: str) -> pd.DataFrame:
    read_word = outcome_reader(APPROPRIATENESS)
    return read_answers(
        written(folder, *lines), read_word, person="adjudicator", answer="label", needs_person=False
    ).checked_rows()


# -- what is read


def test_a_row_with_everything(tmp_path: Path) -> None:
    table = read(tmp_path, "pair,annotator,label,seconds,time,note", "7,ana,2,4.5,2026-11-21T14:05:00+00:00,hm")
    assert table.to_dict("records") == [
        {
            "line": 2,
            "pair": 7,
            "hs": "",
            "cn": "",
            "person": "ana",
            "code": 2,
            "shown": "",
            "seconds": 4.5,
            "at": "2026-11-21T14:05:00+00:00",
            "note": "hm",
            "origin": "imported",
        }
    ]


@pytest.mark.parametrize("header", ["pair,annotator,label", "pair,annotator,label,seconds,time,note"])
def test_what_is_not_given_is_unknown(tmp_path: Path, header: str) -> None:
    (row,) = read(tmp_path, header, "7,ana,2" + "," * (header.count(",") - 2)).to_dict("records")
    assert math.isnan(row["seconds"])
    assert (row["at"], row["note"]) == ("", "")


def test_a_pair_may_be_named_by_its_texts(tmp_path: Path) -> None:
    table = read(tmp_path, "hs,cn,annotator,label", "Cafe\u0301 , -b,ana,0")
    assert table[["pair", "hs", "cn"]].to_numpy().tolist() == [[NO_CODE, "Caf\u00e9", "-b"]]


def test_texts_beside_the_number_are_kept_to_be_compared(tmp_path: Path) -> None:
    table = read(tmp_path, "pair,hs,cn,annotator,label", "3,a,b,ana,0", "3,,,ben,0")
    assert table[["pair", "hs", "cn"]].to_numpy().tolist() == [[3, "a", "b"], [3, "", ""]]


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("0", 0),
        ("1", 1),
        ("2", 2),
        ("not_appropriate", 0),
        ("Not_Sure", 1),
        (" APPROPRIATE ", 2),
        ("NOT SURE", 1),
        ("Not-Appropriate", 0),
        ("not  sure", 1),
        ("2.0", 2),
        ("0.00", 0),
        ("skip", NO_CODE),
        ("Skip", NO_CODE),
    ],
)
def test_the_words_for_an_answer(tmp_path: Path, word: str, code: int) -> None:
    assert read(tmp_path, "pair,annotator,label", f"1,ana,{word}")["code"].tolist() == [code]


@pytest.mark.parametrize(
    "header",
    ["Pair,Annotator,Label", " pair , ANNOTATOR , label ", "PAIR,annotator,LABEL,,,", "\ufeffpair,annotator,label"],
)
def test_a_column_is_found_however_its_name_is_written(tmp_path: Path, header: str) -> None:
    assert read(tmp_path, header, "7,ana,2")[["pair", "person", "code"]].to_numpy().tolist() == [[7, "ana", 2]]


def test_a_blind_label_may_stand_below_words_with_a_space(tmp_path: Path) -> None:
    path = written(tmp_path, "pair;Validator;Own Label", "7;vera;NOT SURE")
    table = read_answers(path, READ, person="validator", answer="own_label").checked_rows()
    assert table[["person", "code"]].to_numpy().tolist() == [["vera", 1]]


def test_a_pair_that_another_program_made_a_fraction_is_its_number(tmp_path: Path) -> None:
    assert read(tmp_path, "pair,annotator,label", "17.0,ana,0")["pair"].tolist() == [17]


def test_seconds_may_have_a_decimal_comma(tmp_path: Path) -> None:
    assert read(tmp_path, "pair;annotator;label;seconds", "7;ana;0;4,5")["seconds"].tolist() == [4.5]


def test_words_that_only_spaces_tell_apart_are_taken_as_they_are_written(tmp_path: Path) -> None:
    words = word_reader({"so so": 1, "so_so": 2})
    path = written(tmp_path, "pair,annotator,label", "1,ana,so so", "2,ana,SO_SO")
    assert read_answers(path, words, person="annotator", answer="label").checked_rows()["code"].tolist() == [1, 2]
    path = written(tmp_path, "pair,annotator,label", "1,ana,so-so")
    with pytest.raises(InputError, match="unknown label `so-so`"):
        read_answers(path, words, person="annotator", answer="label").checked_rows()


def test_a_row_may_end_before_what_is_to_be_filled_in(tmp_path: Path) -> None:
    """Excel leaves the separators off where the last cells of several rows are empty."""
    table = read(tmp_path, "annotator,pair,hs,cn,label,note", "ana,1,a,b", "ana,2,a,c,0", "ana,3,a,d,2,hm")
    assert table[["line", "pair", "code", "note"]].to_numpy().tolist() == [[3, 2, 0, ""], [4, 3, 2, "hm"]]
    assert found(tmp_path, "annotator,pair,hs,cn,label,note", "ana,1,a") == [(2, "3 cells; expected 6")]


def test_rows_without_an_answer_are_left_out_whatever_else_they_hold(tmp_path: Path) -> None:
    table = read(tmp_path, "pair,annotator,label,seconds", "1,ana,,", "2,ana,0,", "1,ana, ,soon", "3,,,")
    assert table[["line", "pair"]].to_numpy().tolist() == [[3, 2]]


def test_a_sheet_that_is_not_filled_in_has_no_answers(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no row has an answer in `label`; fill it in, or leave it out for now"):
        read(tmp_path, "pair,annotator,label", "1,ana,", "2,ana,\u200b")


def test_what_simulated_people_said_stays_theirs(tmp_path: Path) -> None:
    table = read(tmp_path, "pair,annotator,label,origin", "1,ana,0,simulated", "2,ana,0,imported", "3,ana,0,")
    assert table["origin"].tolist() == ["simulated", "imported", "imported"]


def test_two_people_may_answer_on_a_pair(tmp_path: Path) -> None:
    table = read(tmp_path, "pair,annotator,label", "1,ana,0", "1,ben,2", "2,ana,0")
    assert table["person"].tolist() == ["ana", "ben", "ana"]


def test_a_decision_needs_no_person(tmp_path: Path) -> None:
    table = decisions(tmp_path, "pair,label", "1,irreconcilable", "2,appropriate")
    assert table[["pair", "person", "code"]].to_numpy().tolist() == [[1, "", NO_CODE], [2, "", 2]]


def test_a_decision_may_name_one(tmp_path: Path) -> None:
    assert decisions(tmp_path, "pair,adjudicator,label", "1,eva,0", "2,,0")["person"].tolist() == ["eva", ""]


# -- what is refused


@pytest.mark.parametrize(
    ("header", "missing"),
    [
        ("pair,annotator", "`label`"),
        ("pair,label", "`annotator`"),
        ("annotator,label", "`hs`, `cn`"),
        ("hs,annotator,label", "`cn`"),
    ],
)
def test_a_missing_column(tmp_path: Path, header: str, missing: str) -> None:
    assert found(tmp_path, header, "x" + "," * header.count(","))[0] == (1, f"no column {missing}")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,ana,3,,", "unknown label `3`; expected one of 0, not_appropriate, 1, not_sure, 2, appropriate, skip"),
        ("1,,0,,", "column `annotator` is empty"),
        (" ,ana,0,,", "column `pair` is empty"),
        ("one,ana,0,,", "`one` is not a pair; expected its number"),
        ("-1,ana,0,,", "`-1` is not a pair; expected its number"),
        ("1.5,ana,0,,", "`1.5` is not a pair; expected its number"),
        ("1" * 19 + ",ana,0,,", f"`{'1' * 19}` is not a pair; expected its number"),
        ("1,ana,0,-1,", "`-1` is not a number of seconds; expected 0 to 31,622,400, which is a year"),
        ("1,ana,0,soon,", "`soon` is not a number of seconds; expected 0 to 31,622,400, which is a year"),
        ("1,ana,0,inf,", "`inf` is not a number of seconds; expected 0 to 31,622,400, which is a year"),
        ("1,ana,0,nan,", "`nan` is not a number of seconds; expected 0 to 31,622,400, which is a year"),
        ("1,ana,0,1e300,", "`1e300` is not a number of seconds; expected 0 to 31,622,400, which is a year"),
        ("1,ana,0,true,", "`true` is not a number of seconds; expected 0 to 31,622,400, which is a year"),
        ("1,ana,0,,true", "`true` is not a time; expected ISO 8601, such as 2026-11-21T14:05:00+00:00"),
        (
            "1,ana,0,,0001-01-01T00:00:00+14:00",
            "`0001-01-01T00:00:00+14:00` is not a time at which anybody answered; expected a year from 1970 on",
        ),
        ("1,ana,0,,noon", "`noon` is not a time; expected ISO 8601, such as 2026-11-21T14:05:00+00:00"),
    ],
)
def test_a_cell_that_cannot_be_read(tmp_path: Path, row: str, message: str) -> None:
    assert found(tmp_path, "pair,annotator,label,seconds,time", "8,ana,0,0,2026-11-21", row) == [(3, message)]


@pytest.mark.parametrize(("row", "side"), [(",b,ana,0", "hs"), ("a, ,ana,0", "cn")])
def test_a_text_that_is_empty(tmp_path: Path, row: str, side: str) -> None:
    assert found(tmp_path, "hs,cn,annotator,label", row) == [(2, f"column `{side}` is empty")]


def test_irreconcilable_is_no_label_and_not_sure_no_outcome(tmp_path: Path) -> None:
    assert "unknown label `irreconcilable`" in found(tmp_path, "pair,annotator,label", "1,ana,irreconcilable")[0][1]
    with pytest.raises(InputError, match="unknown label `not_sure`"):
        decisions(tmp_path, "pair,label", "1,not_sure")


def test_all_that_is_wrong_is_said_at_once_in_line_order(tmp_path: Path) -> None:
    lines = ("pair,annotator,label,note", "1,ana,maybe,", "2,ana,0,", 'x,,no,"two\nlines"', "3,ana,9,")
    assert [line for line, _ in found(tmp_path, *lines)] == [2, 4, 4, 4, 6]


def test_an_answer_given_twice_names_both_lines(tmp_path: Path) -> None:
    lines = ("pair,annotator,label", "1,ana,0", "1,ben,0", "1, ana ,2", "1,ana,0")
    message = "this pair has been answered by ana already, in line 2"
    assert found(tmp_path, *lines) == [(4, message), (5, message)]


def test_a_pair_is_the_same_pair_however_its_texts_are_composed(tmp_path: Path) -> None:
    lines = ("hs,cn,annotator,label", "Caf\u00e9,b,ana,0", " Cafe\u0301,b ,ana,2", "Caf\u00e9,c,ana,2")
    assert found(tmp_path, *lines) == [(3, "this pair has been answered by ana already, in line 2")]


def test_a_second_decision_on_a_pair_is_refused_whoever_made_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"labels\.csv:3: this pair has been answered by ana already, in line 2"):
        decisions(tmp_path, "pair,adjudicator,label", "1,ana,0", "1,ben,2")


def test_cells_that_cannot_be_read_are_not_taken_for_the_same_pair(tmp_path: Path) -> None:
    lines = ("pair,annotator,label", "one,ana,0", "two,ana,0", ",ana,0", "3,,0", "3,,0")
    assert [message for _, message in found(tmp_path, *lines)] == [
        "`one` is not a pair; expected its number",
        "`two` is not a pair; expected its number",
        "column `pair` is empty",
        "column `annotator` is empty",
        "column `annotator` is empty",
    ]


def test_what_is_found_later_is_said_together_with_what_was_found_at_reading(tmp_path: Path) -> None:
    path = written(tmp_path, "pair,annotator,label", "1,ana,0", "2,ana,9", "3,ana,0")
    incoming = read_answers(path, READ, person="annotator", answer="label")
    incoming.add_findings(incoming.rows["pair"].to_numpy() != 2, (f"not {pair}" for pair in incoming.rows["pair"]))
    with pytest.raises(InputError) as caught:
        incoming.checked_rows()
    assert [finding.line for finding in caught.value.findings] == [2, 3, 4]
    assert caught.value.findings[2].message == "not 3"


def write(folder: Path, *rows: str) -> Path:
    path = folder / "pilot.csv"
    path.write_text(HEAD + "\n".join(rows) + "\n", "utf-8")
    return path


def test_labels_are_read_and_skips_and_empty_rows_are_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, "1,a,x,ana,appropriate,3", "1,a,x,ben,skip,1", "2,a,y,ana,not_sure,2", "3,b,x,ana,,")
    labels = read_pilot_labels(path, APPROPRIATENESS)
    assert labels.to_dict("list") == {
        "cell_id": [0, 1],
        "hs_id": [0, 0],
        "cn_id": [0, 1],
        "annotator": ["ana", "ana"],
        "code": [2, 1],
    }


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("2,a,y,ben,maybe,2", r"pilot.csv:3: unknown label `maybe`"),
        ("1,a,x,ana,not_sure,2", r"pilot.csv:3: ana has labelled this pair already, in line 2"),
        ("2,,y,ben,not_sure,2", r"pilot.csv:3: column `hs_id` is empty"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, row: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_pilot_labels(write(tmp_path, "1,a,x,ana,appropriate,3", row), APPROPRIATENESS)
