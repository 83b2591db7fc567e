"""`fcpair methods`, and tiers of a study's own, at the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from cli.conftest import Fcpair
from fcpair.params import Partition
from fcpair.study import Study

At = Callable[[str], Path]

TIERS = {"strict": {"labels": 2, "agreement": "unanimous", "within": "gold"}, "draft": {"verdict": "none"}}


def test_it_prints_markdown_and_writes_a_folder(at: At, fcpair: Fcpair, here: Path) -> None:
    at("checked")
    printed = fcpair("methods").stdout
    assert printed.startswith("## Corpus, grid and labels\n\nThe corpus had 21 rows")
    assert fcpair("methods", "--markup", "latex", "--out", "paper").exit_code == 0
    assert (here / "paper" / "methods.tex").read_text("utf-8").startswith("\\paragraph{Corpus, grid and labels.}")
    assert (here / "paper" / "methods.bib").is_file()
    assert "paper/m.tex" in fcpair("methods", "--out", "paper/m.tex").stdout
    assert (here / "paper" / "m.tex").read_bytes() == (here / "paper" / "methods.tex").read_bytes()
    fcpair("methods", "--out", "paper/methods.bib", code=2)
    fcpair("methods", "--evaluation", "3", code=2)


def test_own_tiers_are_taken_by_name(at: At, fcpair: Fcpair, here: Path) -> None:
    with Study(at("checked")) as study:
        study.grid().save.partition(Partition(own_tiers=TIERS))
    rules = json.loads(fcpair("partition", "--format", "json").stdout)["rules"]
    assert rules["strict"] == "2 labels or more, all equal to the final one; valid; within gold"
    assert fcpair("partition", "--diamond", "majority", "--tier", "Draft", "--out", "draft.csv").exit_code == 0
    assert (here / "draft.csv").is_file()
    shown = fcpair("explain", "1").stdout
    assert "draft    yes" in shown
    refused = fcpair("export", "qrels", "--tier", "drafts", "--out", "d.qrels", code=2)
    assert "there is no tier `drafts`; did you mean `draft`" in refused.stderr
