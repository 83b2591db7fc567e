"""Labels of a pilot in a file: read as `labels export` writes them, and refused by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from fcpair.errors import InputError
from fcpair.files.answers.pilot_labels import read_pilot_labels
from fcpair.stages.questions.labels import APPROPRIATENESS

HEAD = "pair,hs_id,cn_id,annotator,label,seconds\n"


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
