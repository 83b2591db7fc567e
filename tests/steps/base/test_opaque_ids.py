"""Numbers in place of others: alike each time, each its own, and in no order."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import RecipeError
from fcpair.params import Annotate, Import, Setup
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.recipe import Recipe
from fcpair.records import Role
from fcpair.steps.base.opaque_ids import OpaqueIds
from fcpair.study import Study
from steps.online import at_desk, give
from steps.plans import side
from steps.small import write_csv

NUMBERS = st.integers(1, 2**52)
LARGEST = 2**53 - 1


@given(NUMBERS)
def test_what_is_hidden_can_be_revealed(number: int) -> None:
    opaque = OpaqueIds("secret")
    hidden = opaque.encrypt("decision", number)
    assert 1 <= hidden <= 2**52
    assert opaque.decrypt("decision", hidden) == number
    assert OpaqueIds("secret").encrypt("decision", number) == hidden


@given(st.integers(1, LARGEST))
def test_whatever_a_client_sends_stands_for_some_number(sent: int) -> None:
    assert 0 <= OpaqueIds("secret").decrypt("decision", sent) <= 2**52


def test_secrets_and_purposes_have_numbers_of_their_own_and_no_two_numbers_are_hidden_alike() -> None:
    first, second = OpaqueIds("one"), OpaqueIds("two")
    assert len({first.encrypt("decision", number) for number in range(1, 5_000)}) == 4_999
    assert len({first.encrypt("decision", 7), first.encrypt("answer", 7), second.encrypt("decision", 7), 7}) == 4
    given = ((first, 7, 2), (first, 7, 0), (first, 72), (second, 7, 2))
    assert len({ids.digest_id("label", *numbers) for ids, *numbers in given}) == 4


def test_the_order_of_what_is_hidden_cannot_be_seen() -> None:
    """Of random numbers, each of n - 1 steps goes up with probability 1/2; five standard deviations of (n - 1) / 2."""
    n = 4_000
    hidden = [OpaqueIds("secret").encrypt("answer", number) for number in range(1, n + 1)]
    up = sum(after > before for before, after in pairwise(hidden))
    assert abs(up - (n - 1) / 2) < 5 * (n**0.5) / 2
    odd = sum(number % 2 for number in hidden)
    assert abs(odd - n / 2) < 5 * (n**0.5) / 2


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
