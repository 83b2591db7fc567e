"""BBQ's templates, held against the items that were released."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from fcpair.errors import InputError
from fcpair.files.templates import read_templates
from fcpair.items import expand


@pytest.fixture
def released() -> Path:
    folder = os.environ.get("FCPAIR_DATA")
    if not folder:
        pytest.skip("FCPAIR_DATA is not set")
    return Path(folder) / "bbq"


@pytest.mark.parametrize(("category", "n"), [("Age", 3680), ("Disability_status", 1556)])
def test_the_released_items_are_among_ours_word_for_word(released: Path, category: str, n: int) -> None:
    templates, _ = read_templates(released / f"templates_{category}.csv", "bbq")
    frame = expand(templates, "t").frame
    ours = set(zip(frame["context"], frame["question"], strict=True))
    with gzip.open(released / f"preds_{category}.jsonl.gz") as file:
        rows = [json.loads(line) for line in file]
    theirs = [(" ".join(row["context"].split()), " ".join(row["question"].split())) for row in rows]
    assert (len(theirs), [one for one in theirs if one not in ours]) == (n, [])


def test_templates_whose_names_are_in_another_file_are_refused(released: Path) -> None:
    with pytest.raises(InputError, match="the names of these templates are in BBQ's vocabulary"):
        read_templates(released / "templates_Religion.csv", "bbq")
