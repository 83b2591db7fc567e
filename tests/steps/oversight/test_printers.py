"""The example of questions and answers: candidates from a list, known pairs kept, and nothing hateful anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from fcpair.params import Pair, Retrieve, Select
from fcpair.recipe import load_recipe
from fcpair.study import Study
from steps.small import with_grid

RECIPE = Path(__file__).parents[3] / "examples" / "printers.toml"


@pytest.mark.slow
def test_the_study_of_printers_runs_without_a_model_and_warns_of_nothing(tmp_path: Path) -> None:
    """12 questions x 12 answers; the answers listed stand 16 times in the corpus, and stay in."""
    recipe = load_recipe(RECIPE)
    assert recipe.setup is not None
    study = Study.create(tmp_path / "printers.db", recipe.setup)
    runs = {run.stage: run.counts for run in study.walk(recipe)}
    assert runs["retrieve"] == {"candidates": 12}
    assert (runs["pair"]["pairs"], runs["pair"]["in_corpus"]) == (144, 16)
    assert runs["assign"]["pairs_by_labels"] == {"1": 94, "2": 36, "4": 14}
    study.grid().export.hf(tmp_path / "card")
    study.report(tmp_path / "report.html")
    told = (tmp_path / "card" / "README.md").read_text("utf-8")
    assert "Pairs of a question (`hs`) and an answer (`cn`)" in told
    assert "They include pairs of the corpus that the study started from." in told
    for text in (told, (tmp_path / "report.html").read_text("utf-8")):
        assert "hate" not in text.lower().replace("whatever", "")


def test_the_run_over_printers_names_questions_and_answers_by_their_own_ids(tmp_path: Path) -> None:
    """At rank 1 stand eight answers for the twelve questions; the first line has q01 with a01, its own answer."""
    recipe = load_recipe(RECIPE)
    assert recipe.setup is not None
    assert recipe.import_ is not None
    study, grid = with_grid(Study.create(tmp_path / "printers.db", recipe.setup))
    study.import_corpus(recipe.import_)
    grid.select(Select(hs=12))
    run = grid.retrieve(Retrieve(runs=(RECIPE.parent / "printers.trec",), depth=1))
    assert run.counts == {"runs": {"printers.trec": 8}, "candidates": 8}
    assert grid.pair(Pair(keep_known=True)).counts["pairs"] == 96
    told = grid.explain(1)
    assert (told.hs_metadata["hs_id"], told.cn_metadata["cn_id"]) == ("q01", "a01")
    assert told.brought_in_by[0]["rank"] == 1
