"""Files of answers: what is read of them, pilots too, and what is refused by line."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from steps.small import write_csv

from fcpair.errors import InputError
from fcpair.files.answers.answer_files import read_answers, read_pair_numbers, read_pilot_labels
from fcpair.stages.questions import NO_CODE
from fcpair.stages.questions.closed import word_reader
from fcpair.stages.questions.labels import APPROPRIATENESS, label_reader, outcome_reader

READ = label_reader(APPROPRIATENESS)
HEAD = "pair,annotator,label\n"
TIMED = "pair,annotator,label,seconds,time\n8,ana,0,0,2026-11-21\n"
SHEET = "annotator,pair,hs,cn,label,note\n"
WORDS = {
    **{"0": 0, "1": 1, "2": 2, "2.0": 2, "0.00": 0, "skip": NO_CODE, "Skip": NO_CODE},
    **{"not_appropriate": 0, "Not_Sure": 1, " APPROPRIATE ": 2, "NOT SURE": 1, "Not-Appropriate": 0, "not  sure": 1},
}
HEADERS = (
    "Pair,Annotator,Label",
    " pair , ANNOTATOR , label ",
    "PAIR,annotator,LABEL,,,",
    "\ufeffpair,annotator,label",
)
# The content of a file, the columns that are looked at, and what is read of them.
READ_ROWS: list[tuple[str, str, list[Any]]] = [
    *((f"{HEAD}1,ana,{word}", "code", [[code]]) for word, code in WORDS.items()),
    *((f"{header}\n7,ana,2", "pair person code", [[7, "ana", 2]]) for header in HEADERS),
    ("hs,cn,annotator,label\nCafe\u0301 , -b,ana,0", "pair hs cn", [[NO_CODE, "Caf\u00e9", "-b"]]),
    ("pair,hs,cn,annotator,label\n3,a,b,ana,0\n3,,,ben,0", "pair hs cn", [[3, "a", "b"], [3, "", ""]]),
    (f"{HEAD}17.0,ana,0", "pair", [[17]]),  # which another program made a fraction
    ("pair;annotator;label;seconds\n7;ana;0;4,5", "seconds", [[4.5]]),
    # Excel leaves the separators off where the last cells of several rows are empty.
    (f"{SHEET}ana,1,a,b\nana,2,a,c,0\nana,3,a,d,2,hm", "line pair code note", [[3, 2, 0, ""], [4, 3, 2, "hm"]]),
    ("pair,annotator,label,seconds\n1,ana,,\n2,ana,0,\n1,ana, ,soon\n3,,,", "line pair", [[3, 2]]),
    (
        "pair,annotator,label,origin\n1,ana,0,simulated\n2,ana,0,imported\n3,ana,0,",
        "origin",
        [["simulated"], ["imported"], ["imported"]],
    ),
    (f"{HEAD}1,ana,0\n1,ben,2\n2,ana,0", "person", [["ana"], ["ben"], ["ana"]]),
]


def written(folder: Path, content: str) -> Path:
    path = folder / "labels.csv"
    path.write_text(content, "utf-8")
    return path


def read(folder: Path, content: str) -> pd.DataFrame:
    return read_answers(written(folder, content), READ, person="annotator", answer="label").checked_rows()


def findings(folder: Path, content: str) -> list[tuple[int | None, str]]:
    with pytest.raises(InputError) as caught:
        read(folder, content)
    return [(finding.line, finding.message) for finding in caught.value.findings]


def decisions(folder: Path, content: str) -> pd.DataFrame:
    path, read_word = written(folder, content), outcome_reader(APPROPRIATENESS)
    return read_answers(path, read_word, person="adjudicator", answer="label", needs_person=False).checked_rows()


# -- what is read


def test_a_row_with_everything_and_what_is_not_given_is_unknown(tmp_path: Path) -> None:
    header = "pair,annotator,label,seconds,time,note"
    table = read(tmp_path, f"{header}\n7,ana,2,4.5,2026-11-21T14:05:00+00:00,hm")
    assert table.to_dict("records") == [
        {
            **{"line": 2, "pair": 7, "hs": "", "cn": "", "person": "ana", "code": 2, "shown": "", "seconds": 4.5},
            **{"at": "2026-11-21T14:05:00+00:00", "note": "hm", "origin": "imported"},
        }
    ]
    for content in (f"{HEAD}7,ana,2", f"{header}\n7,ana,2,,,"):
        (row,) = read(tmp_path, content).to_dict("records")
        assert math.isnan(row["seconds"])
        assert (row["at"], row["note"]) == ("", "")


@pytest.mark.parametrize(("content", "columns", "rows"), READ_ROWS)
def test_answers_are_read_however_written(tmp_path: Path, content: str, columns: str, rows: list[list[object]]) -> None:
    assert read(tmp_path, content)[columns.split()].to_numpy().tolist() == rows


def test_a_blind_label_may_stand_below_words_with_a_space(tmp_path: Path) -> None:
    path = written(tmp_path, "pair;Validator;Own Label\n7;vera;NOT SURE")
    table = read_answers(path, READ, person="validator", answer="own_label").checked_rows()
    assert table[["person", "code"]].to_numpy().tolist() == [["vera", 1]]


def test_words_that_only_spaces_tell_apart_are_taken_as_they_are_written(tmp_path: Path) -> None:
    words = word_reader({"so so": 1, "so_so": 2})
    path = written(tmp_path, f"{HEAD}1,ana,so so\n2,ana,SO_SO")
    assert read_answers(path, words, person="annotator", answer="label").checked_rows()["code"].tolist() == [1, 2]
    path = written(tmp_path, f"{HEAD}1,ana,so-so")
    with pytest.raises(InputError, match="unknown label `so-so`"):
        read_answers(path, words, person="annotator", answer="label").checked_rows()


def test_a_decision_may_name_a_person_and_need_not(tmp_path: Path) -> None:
    table = decisions(tmp_path, "pair,label\n1,irreconcilable\n2,appropriate")
    assert table[["pair", "person", "code"]].to_numpy().tolist() == [[1, "", NO_CODE], [2, "", 2]]
    assert decisions(tmp_path, "pair,adjudicator,label\n1,eva,0\n2,,0")["person"].tolist() == ["eva", ""]


def test_numbers_of_pairs_are_read_as_those_of_labels_are(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "pairs.csv", [{"pair": "3.0"}, {"pair": "۴"}, {"pair": " 5"}])
    assert read_pair_numbers(path) == [3, 4, 5]


# -- what is refused

TWICE = "this pair has been answered by ana already, in line 2"
LABELS = "expected one of 0, not_appropriate, 1, not_sure, 2, appropriate, skip"
# A row below TIMED, and what is said of it.
BAD_ROWS = {
    "1,ana,3,,": f"unknown label `3`; {LABELS}",
    "1,,0,,": "column `annotator` is empty",
    " ,ana,0,,": "column `pair` is empty",
    **{f"{pair},ana,0,,": f"`{pair}` is not a pair; expected its number" for pair in ("one", "-1", "1.5", "1" * 19)},
    **{
        f"1,ana,0,{text},": f"`{text}` is not a number of seconds; expected 0 to 31,622,400, which is a year"
        for text in ("-1", "soon", "inf", "nan", "1e300", "true")
    },
    **{
        f"1,ana,0,,{text}": f"`{text}` is not a time; expected ISO 8601, such as 2026-11-21T14:05:00+00:00"
        for text in ("true", "noon")
    },
    "1,ana,0,,0001-01-01T00:00:00+14:00": (
        "`0001-01-01T00:00:00+14:00` is not a time at which anybody answered; expected a year from 1970 on"
    ),
}
# A file, and what is said of its lines.
BAD_FILES: dict[str, list[tuple[int, str]]] = {
    "pair,annotator\nx,": [(1, "no column `label`")],
    "pair,label\nx,": [(1, "no column `annotator`")],
    "annotator,label\nx,": [(1, "no column `hs`, `cn`")],
    "hs,annotator,label\nx,,": [(1, "no column `cn`")],
    **{f"{TIMED}{row}": [(3, message)] for row, message in BAD_ROWS.items()},
    "hs,cn,annotator,label\n,b,ana,0": [(2, "column `hs` is empty")],
    "hs,cn,annotator,label\na, ,ana,0": [(2, "column `cn` is empty")],
    f"{SHEET}ana,1,a": [(2, "3 cells; expected 6")],
    f"{HEAD}1,ana,irreconcilable": [(2, f"unknown label `irreconcilable`; {LABELS}")],
    f"{HEAD}1,ana,0\n1,ben,0\n1, ana ,2\n1,ana,0": [(4, TWICE), (5, TWICE)],
    # However the texts are composed.
    "hs,cn,annotator,label\nCaf\u00e9,b,ana,0\n Cafe\u0301,b ,ana,2\nCaf\u00e9,c,ana,2": [(3, TWICE)],
    # Cells that cannot be read are not taken for the same pair.
    f"{HEAD}one,ana,0\ntwo,ana,0\n,ana,0\n3,,0\n3,,0": [
        (2, "`one` is not a pair; expected its number"),
        (3, "`two` is not a pair; expected its number"),
        (4, "column `pair` is empty"),
        (5, "column `annotator` is empty"),
        (6, "column `annotator` is empty"),
    ],
}


@pytest.mark.parametrize("content", BAD_FILES)
def test_what_is_wrong_with_a_file_is_said_with_its_lines(tmp_path: Path, content: str) -> None:
    found = findings(tmp_path, content)
    expected = BAD_FILES[content]
    assert found[:1] == expected if expected[0][0] == 1 else found == expected


def test_all_that_is_wrong_is_said_at_once_in_line_order(tmp_path: Path) -> None:
    content = 'pair,annotator,label,note\n1,ana,maybe,\n2,ana,0,\nx,,no,"two\nlines"\n3,ana,9,'
    assert [line for line, _ in findings(tmp_path, content)] == [2, 4, 4, 4, 6]
    with pytest.raises(InputError, match="no row has an answer in `label`; fill it in, or leave it out for now"):
        read(tmp_path, f"{HEAD}1,ana,\n2,ana,\u200b")


def test_not_sure_is_no_outcome_and_a_second_decision_on_a_pair_is_refused_whoever_made_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown label `not_sure`"):
        decisions(tmp_path, "pair,label\n1,not_sure")
    with pytest.raises(InputError, match=r"labels\.csv:3: this pair has been answered by ana already, in line 2"):
        decisions(tmp_path, "pair,adjudicator,label\n1,ana,0\n1,ben,2")


def test_what_is_found_later_is_said_together_with_what_was_found_at_reading(tmp_path: Path) -> None:
    path = written(tmp_path, f"{HEAD}1,ana,0\n2,ana,9\n3,ana,0")
    incoming = read_answers(path, READ, person="annotator", answer="label")
    incoming.refuse(incoming.rows["pair"].to_numpy() != 2, "not %(pair)s")
    with pytest.raises(InputError) as caught:
        incoming.checked_rows()
    assert [finding.line for finding in caught.value.findings] == [2, 3, 4]
    assert caught.value.findings[2].message == "not 3"


def test_labels_of_a_pilot_are_read_without_skips_and_empty_rows_or_refused_by_line(tmp_path: Path) -> None:
    head = "pair,hs_id,cn_id,annotator,label,seconds\n1,a,x,ana,appropriate,3\n"
    rows = ("1,a,x,ben,skip,1", "2,a,y,ana,not_sure,2", "3,b,x,ana,,")
    labels = read_pilot_labels(written(tmp_path, head + "\n".join(rows) + "\n"), APPROPRIATENESS)
    assert labels.to_dict("list") == {
        **{"cell_id": [0, 1], "hs_id": [0, 0], "cn_id": [0, 1]},
        **{"annotator": ["ana", "ana"], "code": [2, 1]},
    }
    for row, message in {
        "2,a,y,ben,maybe,2": "labels.csv:3: unknown label `maybe`",
        "1,a,x,ana,not_sure,2": "labels.csv:3: ana has labelled this pair already, in line 2",
        "2,,y,ben,not_sure,2": "labels.csv:3: column `hs_id` is empty",
    }.items():
        with pytest.raises(InputError, match=message):
            read_pilot_labels(written(tmp_path, f"{head}{row}\n"), APPROPRIATENESS)
