"""Several labels or none: what is read, how many there may be, and the parts on which agreement is measured."""

from __future__ import annotations

from typing import Any

import pytest

from fcpair.errors import InputError
from fcpair.stages.questions import AnyOf, parse_question
from fcpair.stages.questions.closed import CHOSEN

TYPES = AnyOf(("Facts", "humour", "warning of consequences"))
COMMAS = AnyOf(("facts, or so", "humour"))


@pytest.mark.parametrize(
    ("cell", "labels"),
    [
        ("humour", ["humour"]),
        ("warning of consequences; facts", ["Facts", "warning of consequences"]),
        ("Facts, Warning_of-consequences", ["Facts", "warning of consequences"]),
        ("facts;", ["Facts"]),
        ("none", []),
        (" None ", []),
    ],
)
def test_a_cell_has_labels_between_semicolons_or_commas(cell: str, labels: list[str]) -> None:
    assert TYPES.store(TYPES.read(cell)) == labels


def test_commas_part_nothing_where_a_label_has_one() -> None:
    assert COMMAS.store(COMMAS.read("humour; facts, or so")) == ["facts, or so", "humour"]
    with pytest.raises(InputError, match="unknown label `facts, humour`"):
        COMMAS.read("facts, humour")


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("facts; irony", "^unknown label `irony`; expected one of facts, humour, warning of consequences, none$"),
        ("facts; humour; FACTS", "label `Facts` is given twice"),
        ("skip", "unknown label `skip`"),
        ("1", "unknown label `1`"),
        ("", "`` is not a list of labels; expected some of Facts, humour, warning of consequences, or `none`"),
        (" ; ", "is not a list of labels"),
        ("none; facts", "`none; facts` is not a list of labels"),
    ],
)
def test_a_cell_without_labels_is_refused(cell: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        TYPES.read(cell)


def test_a_page_sends_a_list_in_any_order() -> None:
    assert TYPES.load(["humour", "Facts"]) == TYPES.load(["Facts", "humour"]) == 0b011
    assert TYPES.load([]) == 0
    for sent in ("Facts", ["facts"], None, ["Facts", 1], {"Facts": True}, [["Facts"]]):
        with pytest.raises(InputError, match="is not an answer here; expected a list of some of Facts, humour"):
            TYPES.load(sent)


def test_a_label_that_is_sent_twice_is_refused() -> None:
    with pytest.raises(InputError, match="label `Facts` is given twice"):
        TYPES.load(["Facts", "humour", "Facts"])


def test_no_label_is_an_answer_with_a_name() -> None:
    assert (TYPES.name(0), TYPES.name(0b101)) == ("none", "Facts; warning of consequences")
    assert (TYPES.store(0), TYPES.is_definite(0), TYPES.is_positive(0)) == ([], True, False)


@pytest.mark.parametrize(
    ("text", "labels", "problem"),
    [
        ("any_of(a,b,c,min=1)", [], "^0 labels; expected 1 to 3$"),
        ("any_of(a,b,c,max=2)", ["a", "b", "c"], "^3 labels; expected 0 to 2$"),
        ("any_of(a,b,c,min=2,max=2)", ["a"], "^1 label; expected 2$"),
    ],
)
def test_how_many_there_may_be_is_held(text: str, labels: list[str], problem: str) -> None:
    question = parse_question(text)
    with pytest.raises(InputError, match=problem):
        question.load(labels)
    with pytest.raises(InputError, match=problem):
        question.read(";".join(labels) or "none")


def test_each_label_is_a_part_of_its_own() -> None:
    assert [part.name for part in TYPES.parts()] == list(TYPES.names)
    assert {part.question for part in TYPES.parts()} == {CHOSEN}
    assert TYPES.part_codes(0b101) == (1, 0, 1)


@pytest.mark.parametrize(
    ("inside", "problem"),
    [
        ("", "1 to 60 labels are needed"),
        (",".join(f"l{at}" for at in range(61)), "1 to 60 labels are needed"),
        ("a,A", "a name is duplicated"),
        ("a,skip", "are reserved"),
        ("a,None", "`none` is reserved"),
        ("a,3", "a name must be a word"),
        ('a,"b;c"', "a name may not contain a semicolon"),
        ("a,b,min=2,max=1", "min=2,max=1 is impossible with 2 labels"),
        ("a,b,max=3", "min=0,max=3 is impossible with 2 labels"),
        ("a,b,max=0", "min=0,max=0 is impossible with 2 labels"),
    ],
)
def test_labels_that_cannot_work_are_refused(inside: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_question(f"any_of({inside})")


def test_sixty_labels_fit_a_code() -> None:
    question: Any = parse_question(f"any_of({','.join(f'l{at}' for at in range(60))})")
    assert question.load(list(question.names)) == 2**60 - 1


def test_a_page_gets_the_labels_and_how_many_there_may_be() -> None:
    keys = [[str(at)] for at in range(1, len(TYPES.names) + 1)]
    named = {"choices": list(TYPES.names), "keys": keys}
    assert TYPES.as_json() == {"kind": "any_of", **named, "min": 0, "max": 3, "always": False}


def test_the_name_of_the_column_is_always_among_the_labels_where_that_is_said() -> None:
    question: Any = parse_question("any_of(facts,humour,question,max=2,always=column)")
    assert str(question) == "any_of(facts,humour,question,max=2,always=column)"
    assert question.store(question.with_label(question.load(["question"]), "facts")) == ["facts", "question"]
    assert question.with_label(question.load(["facts"]), "facts") == question.load(["facts"])
    with pytest.raises(InputError, match="3 labels; expected 0 to 2"):
        question.with_label(question.load(["humour", "question"]), "facts")


def test_only_the_column_is_always_among_the_labels() -> None:
    with pytest.raises(InputError, match=r"`always=row` cannot be read; expected `always=column`"):
        parse_question("any_of(facts,humour,always=row)")
