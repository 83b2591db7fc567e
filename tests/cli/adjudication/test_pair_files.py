"""Acting on the pairs that a file names: a label more, or a person's decision."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from steps.small import write_csv

from cli.conftest import Fcpair
from fcpair.files.answers.answer_files import read_pair_numbers
from fcpair.study import Study

At = Callable[[str], Path]


def test_a_file_of_pairs_is_sent_to_adjudicators_and_gets_more_labels(
    files: dict[str, Path], study: Path, fcpair: Fcpair, tmp_path: Path
) -> None:
    shutil.copy(files["decided"], study)
    with closing(Study(study)) as opened:
        rows = opened.grid().find_pairs(state="decided", n=2).to_frame()
        waiting = opened.grid().waiting_pairs()
    pairs = write_csv(tmp_path / "pairs.csv", [{"pair": pair} for pair in rows["pair"]])
    assert "would be: requested 2" in fcpair("adjudicate", "--request", str(pairs), "--dry-run").stdout
    assert "a person is to decide 2 pairs more" in fcpair("adjudicate", "--request", str(pairs)).stdout
    assert "2 further labels were assigned" in fcpair("assign", "--more", "--pairs-file", str(pairs)).stdout
    with closing(Study(study)) as opened:
        assert opened.grid().waiting_pairs() == sorted([*waiting, *rows["pair"].tolist()])


def test_numbers_of_pairs_are_read_as_those_of_labels_are(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "pairs.csv", [{"pair": "3.0"}, {"pair": "۴"}, {"pair": " 5"}])
    assert read_pair_numbers(path) == [3, 4, 5]


def test_what_names_no_pair_is_refused_with_its_line(files: dict[str, Path], study: Path, fcpair: Fcpair) -> None:
    shutil.copy(files["decided"], study)
    pairs = write_csv(study.parent / "pairs.csv", [{"pair": "1"}, {"pair": "one"}, {"pair": "-3"}])
    refused = fcpair("adjudicate", "--request", str(pairs), code=2)
    assert "pairs.csv:3: `one` is not a pair; expected its number" in refused.stderr
    assert "pairs.csv:4: `-3` is not a pair; expected its number" in refused.stderr
    assert "give --pairs-file with --more alone" in fcpair("assign", "--pairs-file", str(pairs), code=2).stderr
