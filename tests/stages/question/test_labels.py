"""The closed questions of labelling and validating say the same as the label schemes before them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fcpair import label
from fcpair.errors import RecipeError
from fcpair.files.answers import _reader_of
from fcpair.params import Agree
from fcpair.records import Scheme, Verdict
from fcpair.stages.adjudicate import settle_labels, tally
from fcpair.stages.agree import agreement
from fcpair.stages.question import IRRECONCILABLE, LONGEST_NAME, NO_CODE, SKIP, Closed, OneOf, parse_question
from fcpair.stages.question import labels as new
from fcpair.stages.question.closed import reader_of
from fcpair.stages.simulate import Habits, answers, second_looks, truths
from fcpair.stages.validate import blind_verdict

Table = dict[str, Any]


def choice(code: Any, name: Any, **more: Any) -> Table:
    return {"code": code, "name": name, **more}


NO, YES = choice(0, "no"), choice(1, "yes", positive=True)
SCHEMES: tuple[list[Table], ...] = (
    label.scheme_record(label.APPROPRIATENESS),
    label.scheme_record(label.VERDICTS),
    [choice(5, "yes", positive=True), choice(2, "no")],
    [choice(7, "no idea", definite=False), choice(0, "bad"), choice(1, "poor"), choice(3, "Good", positive=True)],
    [choice(at, f"{at} stars", positive=at > 3) for at in range(1, 6)],
    [choice(at, f"rank-{at}", positive=at < 3) for at in range(1, 6)],
    [NO, YES, choice(2, "Don't know, or so", definite=False), choice(3, "بله", positive=True)],
)


@pytest.mark.parametrize("tables", SCHEMES)
def test_a_question_of_a_recipe_says_what_its_scheme_says(tables: list[Table]) -> None:
    scheme, question = label.parse_scheme(tables), new.read_choices(tables)
    assert new.choice_tables(question) == label.scheme_record(scheme)
    assert new.read_choices(new.choice_tables(question)) == question
    for attribute in ("codes", "definite", "positive"):
        assert getattr(question, attribute) == getattr(scheme, attribute)
    for function in ("label_words", "outcome_words", "answer_words", "decision_words", "grades_of"):
        assert getattr(new, function)(question) == getattr(label, function)(scheme), function


@pytest.mark.parametrize("tables", SCHEMES)
def test_a_question_of_a_recipe_reads_what_its_scheme_reads(tables: list[Table]) -> None:
    scheme, question = label.parse_scheme(tables), new.read_choices(tables)
    before, now = _reader_of(label.label_words(scheme)), reader_of(new.label_words(question))
    for word in label.label_words(scheme):
        for cell in (word, word.upper(), f" {word.replace('_', ' ')} ", f"{word}.0", f"{word}?"):
            assert _found(before, cell) == _found(now, cell)
            if _found(now, cell) != NO_CODE:
                assert str(_found(question.read, cell)) == str(_found(now, cell)).replace(", skip", "")


def _found(read: Callable[[str], int], cell: str) -> int | str:
    try:
        return read(cell)
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize(
    "tables",
    [
        [],
        [YES],
        [YES, choice(0, "maybe", definite=False)],
        [NO, choice(1, "never")],
        [YES, choice(2, "always", positive=True)],
        [NO, choice(2, "never"), choice(1, "maybe", definite=False, positive=True)],
        [NO, YES, choice(1, "oui", positive=True)],
        [NO, YES, choice(2, " No ")],
        [NO, YES, choice(2, "Skip")],
        [NO, YES, choice(2, "irreconcilable")],
        [NO, YES, choice(2, "")],
        [NO, YES, choice(2, "1")],
        [NO, YES, choice(2, "n" * 101)],
        [NO, YES, choice(-1, "never")],
        [NO, YES, choice("2", "never")],
        [NO, YES, choice(True, "true")],
        [NO, YES, choice(2, 3)],
        [NO, YES, choice(2, "never", definite="yes")],
        [NO, YES, choice(2, "never", weight=3)],
        [NO, {"name": "yes"}],
    ],
)
def test_choices_of_a_recipe_are_refused_with_the_same_words(tables: list[Table]) -> None:
    with pytest.raises(RecipeError) as before:
        label.parse_scheme(tables)
    with pytest.raises(RecipeError) as now:
        new.read_choices(tables)
    assert str(now.value) == str(before.value)


def test_an_indefinite_positive_choice_is_refused_beside_a_definite_one() -> None:
    tables = [NO, YES, choice(2, "maybe", definite=False, positive=True)]
    with pytest.raises(RecipeError, match="the label scheme: some, not all, of the definite choices must be positive"):
        new.read_choices(tables)


def test_the_words_with_a_meaning_are_the_same() -> None:
    assert (SKIP, IRRECONCILABLE, NO_CODE, LONGEST_NAME) == (
        label.SKIP,
        label.IRRECONCILABLE,
        label.NO_CODE,
        label.LONGEST_NAME,
    )


@pytest.mark.parametrize(
    ("question", "scheme"), [(new.APPROPRIATENESS, label.APPROPRIATENESS), (new.VERDICT, label.VERDICTS)]
)
def test_the_questions_of_the_first_grid_are_the_schemes(question: OneOf, scheme: Scheme) -> None:
    assert new.choice_tables(question) == label.scheme_record(scheme)


def test_a_verdict_is_whether_the_own_answer_is_the_one_decided() -> None:
    assert str(new.VERDICT) == "one_of(disagree,agree+)"
    assert (new.DISAGREE, new.AGREE) == (Verdict.DISAGREE, Verdict.AGREE)
    own, decided = np.array([2, 0, NO_CODE]), np.array([2, 2, 2])
    assert blind_verdict(own, decided).tolist() == [new.AGREE, new.DISAGREE, NO_CODE]


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
    assert new.grades_of(question) == grades


def test_the_stages_compute_the_same_with_a_question_as_with_its_scheme() -> None:
    """What tallies, agreement, decisions, simulated people and tiers need of a question is there."""
    tables = [NO, YES, choice(2, "unsure", definite=False), choice(4, "surely", positive=True)]
    scheme: Any = label.parse_scheme(tables)
    question: Any = new.read_choices(tables)
    habits = Habits(positive=0.4, accuracy=0.8, leaning=0.1, leaning_to=1, unsure=0.1, skips=0.1)
    found = []
    for asked in (scheme, question):
        true = truths(60, asked, 0.4, 1)
        given = np.stack([answers(true, asked, habits, seed) for seed in range(3)])
        person, pair = np.nonzero(given != NO_CODE)
        code = given[person, pair]
        tallied = tally(pair, code, asked)
        labels = pd.DataFrame(
            {"pair_id": pair, "hs_id": pair % 6, "cn_id": pair // 6, "annotator": person, "code": code}
        )
        figures = agreement(labels, asked, Agree(not_sure="drop"))
        settled = [settle_labels(row, asked, "median", "discard") for row in tallied.counts.tolist()]
        looks = second_looks(true, asked, habits, 5)
        votes = tallied.votes(true[tallied.pair_id])
        found.append([given.tolist(), tallied.counts.tolist(), figures, settled, looks.tolist(), votes.tolist()])
    assert found[0] == found[1]
