"""Changes of a label scheme: what it is afterwards, and what names and codes of before are read as."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.params import Relabel
from fcpair.stages.answers.relabel import ChangedLabels, change_labels
from fcpair.stages.questions import OneOf, parse_question

FIVE = "one_of(rude,hostile,not_sure?,fine+,good+)"


def scheme(printed: str = FIVE) -> OneOf:
    """A scheme as a study keeps it."""
    question = parse_question(printed, is_stored=True)
    assert isinstance(question, OneOf)
    return question


def change(question: OneOf, kind: Any, labels: str, into: str) -> ChangedLabels:
    """Change labels, which are named in one text."""
    return change_labels(question, Relabel(kind, (*labels.split(),), (*into.split(),), reason="why"))


def test_a_renamed_label_keeps_its_code_and_is_read_by_both_names() -> None:
    changed = change(scheme(), "rename", "fine", "suitable")
    assert str(changed.question) == "one_of(rude,hostile,not_sure?,suitable+,good+,fine=3~)"
    assert str(changed.question.current) == "one_of(rude,hostile,not_sure?,suitable+,good+)"
    assert changed.moved == {}
    assert [changed.question.read(cell) for cell in ("suitable", "Fine", "3")] == [3, 3, 3]
    assert changed.question.store(changed.question.load("fine")) == "suitable"
    assert scheme(str(changed.question)).former == (("fine", 3),)


def test_merged_labels_have_the_lowest_of_their_codes_or_that_of_the_name_they_take() -> None:
    new, taken = change(scheme(), "merge", "hostile rude", "bad"), change(scheme(), "merge", "rude hostile", "hostile")
    assert str(new.question.current) == "one_of(bad,not_sure=2?,fine=3+,good=4+)"
    assert new.moved == {1: 0}
    assert [new.question.read(cell) for cell in ("rude", "hostile", "1", "0", "bad")] == [0] * 5
    assert str(taken.question.current) == "one_of(hostile=1,not_sure=2?,fine=3+,good=4+)"
    assert (taken.moved, taken.question.read("0")) == ({0: 1}, 1)


def test_a_split_label_is_read_as_nothing_and_still_has_its_name() -> None:
    changed = change(scheme(), "split", "good", "kind+ factual?")
    question = changed.question
    assert str(question.current) == "one_of(rude,hostile,not_sure?,fine+,kind=5+,factual=6?)"
    assert (changed.split, question[4].name, question.recall("good")) == (4, "good", 4)
    for cell in ("good", "GOOD", "4"):
        with pytest.raises(InputError, match=f"`{cell}` was split, and is no answer any more; expected one of rude,"):
            question.read(cell)
    with pytest.raises(InputError, match="was split"):
        question.load("good")


def test_a_code_is_never_given_again() -> None:
    question = scheme()
    for kind, labels, into in (
        ("split", "good", "kind+ factual+"),
        ("merge", "rude hostile", "bad"),
        ("split", "factual", "sourced+ true+"),
        ("merge", "kind true", "kind"),
        ("add", "", "new"),
    ):
        question = change(question, kind, labels, into).question
    assert [(choice.code, choice.name) for choice in question] == [
        (0, "bad"),
        (2, "not_sure"),
        (3, "fine"),
        (5, "kind"),
        (7, "sourced"),
        (9, "new"),
    ]
    assert {name: question.read(name) for name in ("1", "hostile", "true", "8")} == {
        **{"1": 0, "hostile": 0, "true": 5, "8": 5}
    }


def test_who_decides_cannot_choose_what_a_name_of_before_made_indefinite() -> None:
    question = change(scheme(), "rename", "not_sure", "unclear").question
    assert question.cell_reader("irreconcilable", final=True)("fine") == 3
    with pytest.raises(InputError, match="unknown label `not_sure`"):
        question.cell_reader("irreconcilable", final=True)("not_sure")


@pytest.mark.parametrize(
    ("kind", "labels", "into", "message"),
    [
        ("merge", "rude fine", "x", "one is positive, and another is not"),
        ("merge", "rude not_sure", "x", "a definite label can be final, and the other cannot"),
        ("merge", "rude rude", "x", "to merge takes two labels or more"),
        ("merge", "rude", "x", "to merge takes two labels or more"),
        ("merge", "rude hostile", "fine", r"labels merge rude hostile fine --into fine"),
        ("merge", "rude hostil", "x", "there is no label `hostil`; did you mean `hostile`"),
        ("rename", "rude", "rude", "`rude` is its name already"),
        ("rename", "rude", "Fine", "there is a label `fine` already; to make one of two, merge them"),
        ("rename", "rude", "skip", "`skip` and `irreconcilable` are reserved"),
        ("rename", "rude", "7", "a name must be a word"),
        ("split", "good", "x", "to split takes a label, and the names of two or more"),
        ("split", "good", "good x", "`good` is its name already"),
        ("split", "good", "x x", "each once"),
        ("split", "good", "x+ hostile", "there is a label `hostile` already"),
        ("add", "", "fine", "there is a label `fine` already"),
        ("add", "", "x y", "to add takes the name of one new label"),
    ],
)
def test_what_the_labels_do_not_allow_is_refused(kind: str, labels: str, into: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        change(scheme(), kind, labels, into)


def test_a_change_needs_a_reason() -> None:
    with pytest.raises(InputError, match="needs a reason"):
        change_labels(scheme(), Relabel("rename", ("rude",), ("bad",), reason=" "))
    with pytest.raises(InputError, match="the reason has 2,001 characters; expected at most 2,000"):
        change_labels(scheme(), Relabel("rename", ("rude",), ("bad",), reason="x" * 2_001))


def test_two_definite_labels_are_left_one_of_them_positive() -> None:
    three = scheme("one_of(no,unsure?,yes+)")
    with pytest.raises(InputError, match="some, not all, of the definite choices must be positive"):
        change(three, "split", "yes", "a b")
    with pytest.raises(InputError, match="at least two choices are needed"):
        change(scheme("one_of(a,b)"), "merge", "a b", "c")
    assert len(change(scheme("one_of(a,b,c)"), "merge", "a b", "d").question.choices) == 2  # no tiers to be kept


def test_a_name_cannot_come_to_mean_another_label_and_may_come_back() -> None:
    renamed = change(scheme(), "rename", "rude", "harsh").question
    for kind, labels, into in (("add", "", "rude"), ("rename", "hostile", "Rude"), ("merge", "fine good", "rude")):
        with pytest.raises(InputError, match="was the name of another label"):
            change(renamed, kind, labels, into)
    assert change(renamed, "rename", "harsh", "rude").question.former == (("harsh", 0),)
    assert str(change(renamed, "merge", "harsh hostile", "rude").question.current).startswith("one_of(rude,not_sure=2?")


def test_labels_in_an_order_are_merged_with_their_neighbours_only() -> None:
    ordered = scheme("one_of(bad,poor,good+,best+,distance=ordinal)")
    assert change(ordered, "merge", "bad poor", "low").question.distance == "ordinal"
    with pytest.raises(InputError, match="are no neighbours in the order"):
        change(scheme("one_of(bad,mid+,poor,good+,distance=ordinal)"), "merge", "bad poor", "low")
    with pytest.raises(InputError, match="the labels have an order"):
        change(ordered, "split", "best", "a+ b+")


def test_a_new_question_cannot_have_names_of_before() -> None:
    with pytest.raises(InputError, match="`~` marks a former name, which only a study keeps"):
        parse_question("one_of(no,yes+,oui=1~)")
    with pytest.raises(InputError, match="expected a whole number"):
        parse_question("one_of(no,yes+,oui~)")


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.booleans()), max_size=6))
def test_whatever_is_renamed_and_merged_every_name_and_code_that_ever_was_reads_as_one_label(
    steps: list[tuple[int, int, bool]],
) -> None:
    question, ever = scheme(), {str(choice.code) for choice in scheme()} | {choice.name for choice in scheme()}
    read_before = {word: question.read(word) for word in ever}
    for number, (at, other, merges) in enumerate(steps):
        names = [choice.name for choice in question if not choice.positive and choice.definite]
        first, second = names[at % len(names)], names[other % len(names)]
        kind = "merge" if merges and first != second and len(names) > 1 else "rename"
        changed = change(question, kind, f"{first} {second}" if kind == "merge" else first, f"new{number}")
        read_before = {word: changed.moved.get(code, code) for word, code in read_before.items()}
        read_before |= {f"new{number}": changed.question.load(f"new{number}")}
        question = scheme(str(changed.question))
        assert {word: question.read(word) for word in read_before} == read_before
    assert all(first < second for first, second in pairwise(question.codes))
