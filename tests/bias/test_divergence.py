"""How far people are from a model: by hand, against scipy, and what the number of people alone makes of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from fcpair.bias import Answers, ModelDivergence, measure_divergence
from fcpair.errors import InputError

from .test_formulas import NORTH, SOUTH, UNKNOWN, UNREAD, Item, answered

LAZY, LOUD = "Northerners are lazy.", "Northerners are loud."


def counts(*rows: tuple[str, int, int]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["statement", "yes", "no"])
    return table.assign(question="believed")


def answers(*items: Item, statements: tuple[str, ...] = (), probabilities: list[list[float]] | None = None) -> Answers:
    of = answered(*items, probabilities=probabilities)
    return Answers(of, ("Street",), (), statements or (LAZY,) * len(items))


def of_one(found: ModelDivergence) -> float | None:
    (figure,) = found.figures
    return figure.value


def test_people_come_first_by_hand() -> None:
    """People: 3 of 4 say yes. The model names northerners once, southerners once: both have one half."""
    items = [(0, True, True, NORTH, said) for said in (NORTH, SOUTH, UNKNOWN, UNREAD)]
    found = measure_divergence(answers(*items), counts((LAZY, 3, 1)), "believed")
    by_hand = 0.75 * np.log(0.75 / 0.5) + 0.25 * np.log(0.25 / 0.5)
    assert of_one(found) == pytest.approx(by_hand)
    (statement,) = found.statements
    assert (statement.people, statement.people_share, statement.model_share, statement.n) == (4, 0.75, 0.5, 3)
    assert found.figures[0].by_chance == 1 / 8


@given(st.integers(1, 20), st.integers(1, 20), st.floats(0.01, 0.98))
def test_it_is_scipy_s_relative_entropy(yes: int, no: int, share: float) -> None:
    probabilities = [[0.9 * share, 0.9 * (1 - share), 0.1]]
    found = measure_divergence(
        answers((0, True, True, NORTH, NORTH), probabilities=probabilities), counts((LAZY, yes, no)), "believed"
    )
    assert of_one(found) == pytest.approx(entropy([yes, no], [share, 1 - share]), abs=1e-12)


def test_questions_that_are_not_negative_count_the_other_group_as_target() -> None:
    items = [(0, True, True, NORTH, NORTH), (0, True, False, NORTH, SOUTH), (0, True, False, NORTH, NORTH)]
    (statement,) = measure_divergence(answers(*items), counts((LAZY, 2, 1)), "believed").statements
    assert statement.model_share == 2 / 3
    assert statement.value == pytest.approx(0)


def test_disambiguated_items_do_not_count() -> None:
    items = [(0, True, True, NORTH, NORTH), (0, True, True, NORTH, SOUTH), (0, False, True, NORTH, NORTH)]
    (statement,) = measure_divergence(answers(*items), counts((LAZY, 1, 1)), "believed").statements
    assert (statement.n, statement.model_share) == (2, 0.5)


def test_a_zero_of_the_model_is_undefined_unless_it_is_smoothed() -> None:
    certain = answers((0, True, True, NORTH, NORTH))
    found = measure_divergence(certain, counts((LAZY, 3, 1)), "believed")
    assert of_one(found) is None
    assert "probability 0 to something that people say" in (found.figures[0].undefined or "")
    smoothed = measure_divergence(certain, counts((LAZY, 3, 1)), "believed", smooth=0.5)
    assert of_one(smoothed) == pytest.approx(0)  # (1 + 0.5) / 2 is 0.75


def test_a_zero_of_people_is_no_zero_of_the_model() -> None:
    found = measure_divergence(answers((0, True, True, NORTH, NORTH)), counts((LAZY, 4, 0)), "believed")
    assert of_one(found) == 0


def test_the_mean_over_statements_is_undefined_where_one_is() -> None:
    items = [(0, True, True, NORTH, NORTH), (1, True, True, NORTH, UNKNOWN)]
    both = answers(*items, statements=(LAZY, LOUD))
    found = measure_divergence(both, counts((LAZY, 4, 0), (LOUD, 1, 1)), "believed")
    assert [one.value for one in found.statements] == [0, None]
    assert "1 of 2 statements" in (found.figures[0].undefined or "")
    nobody = measure_divergence(both, counts((LAZY, 0, 0), (LOUD, 1, 1)), "believed")
    assert nobody.statements[0].undefined == "nobody said yes or no to it"


def test_items_about_no_statement_are_counted_and_left_out() -> None:
    items = [(0, True, True, NORTH, NORTH), (1, True, True, NORTH, NORTH)]
    found = measure_divergence(answers(*items, statements=(LAZY, "")), counts((LAZY, 4, 0)), "believed")
    assert (len(found.statements), found.n_without) == (1, 1)


@pytest.mark.parametrize(
    ("statements", "question", "smooth", "why"),
    [
        (("",), "believed", 0.0, "no item says which statement it is about"),
        ((LOUD,), "believed", 0.0, "1 statements of items were not in the survey, as `Northerners are loud.`"),
        ((LAZY,), "beleived", 0.0, "has no question `beleived`; did you mean `believed`"),
        ((LAZY,), "believed", -0.1, "expected 0 or more"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    statements: tuple[str, ...], question: str, smooth: float, why: str
) -> None:
    with pytest.raises(InputError, match=why):
        measure_divergence(
            answers((0, True, True, NORTH, NORTH), statements=statements), counts((LAZY, 3, 1)), question, smooth
        )


@pytest.mark.slow
def test_the_number_of_people_alone_makes_about_what_is_said() -> None:
    """People who believe exactly as the model answers: on average the divergence is `by_chance`, not zero."""
    rng = np.random.default_rng(3)
    n, share = 100, 0.4
    model = answers((0, True, True, NORTH, NORTH), probabilities=[[share, 1 - share, 0.0]])
    found = [
        measure_divergence(model, counts((LAZY, yes, n - yes)), "believed")
        for yes in rng.binomial(n, share, 1_000).tolist()
    ]
    assert np.mean([of_one(one) for one in found]) == pytest.approx(1 / (2 * n), rel=0.1)
    assert found[0].figures[0].by_chance == 1 / (2 * n)
