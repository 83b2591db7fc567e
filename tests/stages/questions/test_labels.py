"""The closed questions of labelling and validating: tables of recipes, words of files, verdicts, grades."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from fcpair.errors import InputError, RecipeError
from fcpair.records import Verdict
from fcpair.stages.adjudication.adjudicate import blind_verdict
from fcpair.stages.questions import IRRECONCILABLE, LONGEST_NAME, NO_CODE, SKIP, Closed, parse_question
from fcpair.stages.questions.labels import (
    AGREE,
    APPROPRIATENESS,
    DISAGREE,
    VERDICT,
    answer_words,
    decision_words,
    grades_of,
    label_reader,
    outcome_reader,
    read_choices,
    read_labels,
)

Table = dict[str, Any]
STARS: Any = read_labels('one_of(bad,poor,Good=3+,"no idea"=7?)')


def choice(code: Any, name: Any, **more: Any) -> Table:
    return {"code": code, "name": name, **more}


NO, YES = choice(0, "no"), choice(1, "yes", positive=True)


@pytest.mark.parametrize(
    ("tables", "text"),
    [
        ([NO, YES], "one_of(no,yes+)"),
        ([choice(5, "yes", positive=True), choice(2, "no")], "one_of(no=2,yes=5+)"),
        (
            [NO, YES, choice(2, "Don't know, or so", definite=False), choice(3, "بله", positive=True)],
            'one_of(no,yes+,"Don\'t know, or so"?,"بله"+)',
        ),
        ([choice(at, f"{at} stars", positive=at > 1) for at in (1, 2)], 'one_of("1 stars"=1,"2 stars"=2+)'),
    ],
)
def test_tables_of_a_recipe_say_what_the_printed_form_says(tables: list[Table], text: str) -> None:
    question = read_choices(tables)
    assert str(question) == text
    assert read_labels(text) == question
    for other in (question, APPROPRIATENESS, VERDICT, STARS):
        assert read_choices([asdict(one) for one in other]) == read_labels(str(other)) == other


@pytest.mark.parametrize(
    ("tables", "problem"),
    [
        ([], "the label scheme: at least two definite choices are needed"),
        ([YES, choice(0, "maybe", definite=False)], "the label scheme: at least two definite choices are needed"),
        ([NO, choice(1, "never")], "must be positive"),
        ([NO, choice(2, "never"), choice(1, "maybe", definite=False, positive=True)], "must be positive"),
        (
            [NO, YES, choice(2, "maybe", definite=False, positive=True)],
            "the label scheme: some, not all, of the definite choices must be positive",
        ),
        ([NO, YES, choice(2, "no")], "a code or a name is duplicated"),
        ([NO, YES, choice(2, "skip")], "`skip` and `irreconcilable` are reserved"),
        ([NO, YES, choice(2, "")], "a name must be a word: not empty, and not a number"),
        ([NO, YES, choice(-1, "never")], "codes start at 0"),
        ([NO, YES, choice("2", "never")], "the label choice 2, `never`: a code is a number, a name is text"),
        ([NO, YES, choice(0.5, "half")], "a code is a number"),
        ([NO, YES, choice(True, "true")], "a code is a number"),
        ([NO, YES, choice(2, 3)], "a name is text"),
        ([NO, YES, choice(2, "never", definite="yes")], "the label choice 2, `never`"),
        ([NO, YES, choice(2, "never", weight=3)], "cannot be read.*weight.*; expected code, name, definite, positive"),
        ([NO, {"name": "yes"}], "cannot be read.*code"),
    ],
)
def test_choices_that_cannot_work_are_refused(tables: list[Table], problem: str) -> None:
    with pytest.raises(RecipeError, match=problem):
        read_choices(tables)


HALVES = read_labels("scale(1,5,0.5,positive=4)")
NUMBERS = ("1", "1.5", "2", "2.5", "3", "3.5", "4", "4.5", "5")
OF_STARS = {"0": 0, "bad": 0, "1": 1, "poor": 1, "3": 3, "good": 3}


@pytest.mark.parametrize(
    ("read", "codes", "problems"),
    [
        (label_reader(STARS), {**OF_STARS, "7": 7, "no idea": 7, "skip": -1}, {}),
        (label_reader(VERDICT), {}, {"2": r"unknown label `2`; expected one of 0, disagree, 1, agree, skip$"}),
        (
            outcome_reader(STARS),
            {**OF_STARS, "irreconcilable": -1},
            {word: f"unknown label `{word}`; expected one of 0, bad" for word in ("no idea", "7", "skip")},
        ),
        # a scale is read by its numbers and never by its codes
        (
            label_reader(HALVES),
            {"1": 0, "4": 6, "4.0": 6, "4.5": 7, " 4,5 ": 7, "٤٫٥": 7, "5": 8, "Skip": -1},
            {
                "0": "`0` is outside of the scale; expected 1 to 5 by 0.5, or `skip`",
                "6": "`6` is outside of the scale",
                "4.25": "the nearest are 4 and 4.5",
                "good": "`good` is not a number on a scale",
            },
        ),
        (
            outcome_reader(HALVES),
            {"4": 6, "1,5": 1, "irreconcilable": -1},
            {"skip": r"`skip` is not a number on a scale; .*, or `irreconcilable`"},
        ),
    ],
    ids=["labels", "verdicts", "outcomes", "labels of a scale", "outcomes of a scale"],
)
def test_a_label_is_a_code_a_name_or_skip_and_an_outcome_a_definite_label_or_irreconcilable(
    read: Callable[[str], int], codes: dict[str, int], problems: dict[str, str]
) -> None:
    assert {word: read(word) for word in codes} == codes
    for word, problem in problems.items():
        with pytest.raises(InputError, match=problem):
            read(word)


def test_the_words_of_answers_decisions_and_verdicts() -> None:
    assert (SKIP, IRRECONCILABLE, NO_CODE, LONGEST_NAME) == ("skip", "irreconcilable", -1, 100)
    assert answer_words(STARS) == ("bad", "poor", "Good", "no idea", "skip")
    assert answer_words(HALVES) == (*NUMBERS, "skip")
    assert decision_words(STARS) == ("bad", "poor", "Good", "irreconcilable")
    assert str(VERDICT) == "one_of(disagree,agree+)"
    assert (DISAGREE, AGREE) == (Verdict.DISAGREE, Verdict.AGREE)
    own, decided = np.array([2, 0, NO_CODE, NO_CODE]), np.array([2, 2, 2, NO_CODE])
    assert blind_verdict(own, decided).tolist() == [AGREE, DISAGREE, NO_CODE, NO_CODE]


@pytest.mark.parametrize(
    ("text", "grades"),
    [
        ("scale(1,3,1,positive=2)", {0: 0, 1: 1, 2: 2}),
        ("scale(1,3,1,positive=3)", None),
        ("scale(1,3,1,positive=1)", None),
        ("scale(1,3,1)", None),
        ("one_of(best+,good+,bad,unsure?)", {0: 2, 1: 1, 2: 0}),
    ],
)
def test_answers_are_grades_where_several_are_positive_on_one_side(text: str, grades: dict[int, int] | None) -> None:
    question = parse_question(text)
    assert isinstance(question, Closed)
    assert grades_of(question) == grades
