"""The example of questions and answers: candidates from a list, known pairs kept, and nothing hateful anywhere."""

from __future__ import annotations

from pathlib import Path

from fcpair.recipe import load_recipe
from fcpair.study import Study

RECIPE = Path(__file__).parents[2] / "examples" / "printers.toml"


def test_the_study_of_printers_runs_without_a_model_and_warns_of_nothing(tmp_path: Path) -> None:
    """12 questions x 12 answers; the answers listed stand 16 times in the corpus, and stay in."""
    recipe = load_recipe(RECIPE)
    assert recipe.setup is not None
    study = Study.create(tmp_path / "printers.db", recipe.setup)
    runs = {run.stage: run.counts for run in study.walk(recipe)}
    assert runs["retrieve"] == {"candidates": 12}
    assert (runs["pair"]["pairs"], runs["pair"]["in_corpus"]) == (144, 16)
    assert runs["assign"]["pairs_by_labels"] == {"1": 94, "2": 36, "4": 14}
    study.export.hf(tmp_path / "card")
    study.report(tmp_path / "report.html")
    told = (tmp_path / "card" / "README.md").read_text("utf-8")
    assert "Pairs of a question (`hs`) and an answer (`cn`)" in told
    assert "Pairs that stand in the corpus that the study started from are among them." in told
    for text in (told, (tmp_path / "report.html").read_text("utf-8")):
        assert "hate" not in text.lower().replace("whatever", "")
