"""BBQ's templates, held against the items that were released."""

from __future__ import annotations

import csv
import gzip
import json
import time
from pathlib import Path

import pytest

from fcpair.bias.items import expand
from fcpair.errors import InputError
from fcpair.files.surveys import bbq
from fcpair.files.surveys.templates import read_templates


@pytest.mark.parametrize(("category", "n"), [("Age", 3680), ("Disability_status", 1556)])
def test_the_released_items_are_among_ours_word_for_word(data: Path, category: str, n: int) -> None:
    templates, _ = read_templates(data / "bbq" / f"templates_{category}.csv", "bbq")
    frame = expand(templates, "t").frame
    ours = set(zip(frame["context"], frame["question"], strict=True))
    with gzip.open(data / "bbq" / f"preds_{category}.jsonl.gz") as file:
        rows = [json.loads(line) for line in file]
    theirs = [(" ".join(row["context"].split()), " ".join(row["question"].split())) for row in rows]
    assert (len(theirs), [one for one in theirs if one not in ours]) == (n, [])


def test_templates_whose_names_are_in_another_file_are_refused(data: Path) -> None:
    with pytest.raises(InputError, match="the names of these templates are in BBQ's vocabulary"):
        read_templates(data / "bbq" / "templates_Religion.csv", "bbq")


LONG = (
    *("A", "A1:[", "A1 :", "[A1:", " a", "{{A", "[A1 ", "A1 ", "A1:[:", "{{A1}}", "[A1: x]", "[A1:" + " " * 100),
    "A" * 50 + "1:",
)


@pytest.mark.parametrize("piece", LONG)
def test_a_long_cell_is_read_in_no_time(tmp_path: Path, piece: str) -> None:
    """200 KB took 40 s and more, as every beginning was tried to the end."""
    cell = piece * (200_000 // len(piece))
    for reader, columns in {"bbq": (*bbq.COLUMNS, *bbq.NAMES), "kobbq": bbq.KOBBQ_COLUMNS}.items():
        path = tmp_path / f"{reader}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([columns, [cell] * len(columns)])
        begun = time.process_time()
        with pytest.raises(InputError):
            read_templates(path, reader)
        assert time.process_time() - begun < 5
