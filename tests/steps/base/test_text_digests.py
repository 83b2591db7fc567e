"""By what a study knows its texts: spellings that it folds are one text, whichever way they come in."""

from __future__ import annotations

from pathlib import Path

import pytest

from fcpair.errors import RecipeError
from fcpair.params import Annotate, Import, Setup
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.recipe import Recipe
from fcpair.records import Role
from fcpair.study import Study
from steps.online import at_desk, give
from steps.plans import side
from steps.small import write_csv

ONE, OTHER = "چاي كهنه را دوست دارم.", "چای کهنه را دوست دارم."  # Arabic letters, and Persian ones
WRITE = RoundPlan("write", "text: text(min_words=2)", role="writer")


def test_two_spellings_in_a_corpus_are_one_text_where_they_are_folded(tmp_path: Path) -> None:
    corpus = write_csv(tmp_path / "corpus.csv", [{"hs": ONE, "cn": "الف"}, {"hs": OTHER, "cn": "ب"}])
    for folding, n in (("none", 2), ("arabic", 1)):
        study = Study.create(tmp_path / f"{folding}.db", Setup(folding=folding))  # type: ignore[arg-type]
        assert study.import_corpus(Import(corpus)).counts["hs"] == n
        assert study.status()["study"]["folding"] == folding
    assert Study.create(tmp_path / "plain.db").status()["study"]["folding"] == "none"


def test_an_answer_in_another_spelling_is_the_same_text_and_the_first_one_is_kept(tmp_path: Path) -> None:
    plan = GridPlan("write", SidePlan(names=(ONE,)), SidePlan(names=("one", "two")), (WRITE,))
    study = Study.create(tmp_path / "study.db", Setup(title="Folded", folding="arabic"), grids=[plan])
    study.add_people(["wren"], Role.WRITER)
    study.grid("write").pair()
    assert side(study, "write", "row") == [ONE]
    study.grid("write").assign_round()
    desk, visitor = at_desk(study, "wren")
    give(desk, visitor, ONE)
    give(desk, visitor, OTHER)
    assert study.grid("write").answers()["text"].tolist() == [ONE, ONE]
    assert desk.progress(visitor).done == 2
    with pytest.raises(RecipeError, match="folding"):
        list(study.walk(Recipe(setup=Setup(title="Folded"))))
    assert study.work_queue(Annotate())
