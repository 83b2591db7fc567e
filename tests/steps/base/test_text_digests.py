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


def study_of(folder: Path, folding: str, *names: str) -> Study:
    plan = GridPlan("write", SidePlan(names=names), SidePlan(names=("one", "two")), (WRITE,))
    setup = Setup(title="Folded", folding=folding)  # type: ignore[arg-type]
    return Study.create(folder / f"{folding}.db", setup, grids=[plan])


def test_two_spellings_in_a_corpus_are_one_text_where_they_are_folded(tmp_path: Path) -> None:
    corpus = write_csv(tmp_path / "corpus.csv", [{"hs": ONE, "cn": "الف"}, {"hs": OTHER, "cn": "ب"}])
    for folding, n in (("none", 2), ("arabic", 1)):
        study = Study.create(tmp_path / f"{folding}.db", Setup(folding=folding))  # type: ignore[arg-type]
        assert study.import_corpus(Import(corpus)).counts["hs"] == n


def test_the_first_spelling_is_kept_as_it_was(tmp_path: Path) -> None:
    study = study_of(tmp_path, "arabic", ONE)
    study.grid("write").pair()
    assert side(study, "write", "row") == [ONE]


def test_an_answer_in_another_spelling_is_the_same_text(tmp_path: Path) -> None:
    study = study_of(tmp_path, "arabic", "چای بد است.")
    study.add_people(["wren"], Role.WRITER)
    study.grid("write").pair()
    study.grid("write").assign_round()
    desk, visitor = at_desk(study, "wren")
    give(desk, visitor, ONE)
    give(desk, visitor, OTHER)
    assert study.grid("write").answers()["text"].tolist() == [ONE, ONE]
    assert desk.progress(visitor).done == 2


def test_a_recipe_that_folds_otherwise_is_refused(tmp_path: Path) -> None:
    study = study_of(tmp_path, "arabic", ONE)
    with pytest.raises(RecipeError, match="folding"):
        list(study.walk(Recipe(setup=Setup(title="Folded"))))
    assert study.work_queue(Annotate())


def test_the_status_says_how_texts_are_folded(tmp_path: Path) -> None:
    folded = Study.create(tmp_path / "folded.db", Setup(folding="arabic"))
    plain = Study.create(tmp_path / "plain.db")
    assert [study.status()["study"]["folding"] for study in (folded, plain)] == ["arabic", "none"]
