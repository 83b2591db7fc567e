"""Acting on the pairs that a file names: a label more, or a person's decision."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from steps.small import write_csv

from cli.conftest import Fcpair
from fcpair.study import Study

At = Callable[[str], Path]


def test_a_file_of_pairs_is_sent_to_adjudicators_and_gets_more_labels(
    files: dict[str, Path], study: Path, fcpair: Fcpair, tmp_path: Path
) -> None:
    shutil.copy(files["decided"], study)
    with closing(Study.open(study)) as opened:
        rows = opened.grid().find_pairs(state="decided", n=2).rows
        waiting = opened.grid().waiting_pairs()
    pairs = write_csv(tmp_path / "pairs.csv", [{"pair": pair} for pair in rows["pair"]])
    assert "would be: requested 2" in fcpair("adjudicate", "--request", str(pairs), "--dry-run").stdout
    assert "requested 2" in fcpair("adjudicate", "--request", str(pairs)).stdout
    assert "new 2" in fcpair("assign", "--more", "--pairs-file", str(pairs)).stdout
    with closing(Study.open(study)) as opened:
        assert opened.grid().waiting_pairs() == sorted([*waiting, *rows["pair"].tolist()])


def test_what_names_no_pair_is_refused_with_its_line(files: dict[str, Path], study: Path, fcpair: Fcpair) -> None:
    shutil.copy(files["decided"], study)
    pairs = write_csv(study.parent / "pairs.csv", [{"pair": "1"}, {"pair": "one"}, {"pair": "-3"}])
    refused = fcpair("adjudicate", "--request", str(pairs), code=2)
    assert "pairs.csv:3: `one` is not the number of a pair" in refused.stderr
    assert "pairs.csv:4: `-3` is not the number of a pair" in refused.stderr
    assert "give --pairs-file with --more alone" in fcpair("assign", "--pairs-file", str(pairs), code=2).stderr
