"""Simulated people: rates within five standard deviations, and the same people from the same seed."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from numpy.typing import NDArray

from fcpair.stages.answers.simulate import (
    Habits,
    draw_answers,
    draw_attributes,
    draw_second_looks,
    draw_seconds,
    draw_truths,
)
from fcpair.stages.questions import NO_CODE, Choice, OneOf, Scale
from fcpair.stages.questions.labels import APPROPRIATENESS

N = 20_000
PERFECT = Habits(positive=0.2, accuracy=1.0, leaning=0.0, leaning_to=2, unsure=0.0, skips=0.0)
FOUR = OneOf(
    (
        Choice(0, "bad"),
        Choice(2, "fair"),
        Choice(5, "unsure", definite=False),
        Choice(6, "good", positive=True),
        Choice(9, "very good", positive=True),
    )
)


def near(share: float, probability: float) -> bool:
    return abs(share - probability) < 5 * math.sqrt(probability * (1 - probability) / N)


def shares(codes: NDArray[np.int64]) -> dict[int, float]:
    values, counts = np.unique(codes, return_counts=True)
    return dict(zip(values.tolist(), (counts / len(codes)).tolist(), strict=True))


@pytest.mark.parametrize("positive", [0.0, 0.2, 1.0])
def test_so_many_pairs_are_truly_positive(positive: float) -> None:
    share = shares(draw_truths(N, APPROPRIATENESS, positive, seed=1))
    assert near(share.get(2, 0), positive) if 0 < positive < 1 else share.get(2, 0) == positive
    assert set(share) <= {0, 2}


def test_true_codes_of_a_wider_scheme_are_definite_and_even_on_each_side() -> None:
    share = shares(draw_truths(N, FOUR, 0.4, seed=1))
    assert set(share) == {0, 2, 6, 9}
    assert all(near(share[code], p) for code, p in {0: 0.3, 2: 0.3, 6: 0.2, 9: 0.2}.items())


def test_truths_need_no_positive_answer() -> None:
    assert {*draw_truths(200, Scale(Decimal(1), Decimal(3), Decimal(1)), 0.2, seed=1).tolist()} == {0, 1, 2}


def test_perfect_annotators_see_what_is_true() -> None:
    true = draw_truths(N, FOUR, 0.3, seed=1)
    np.testing.assert_array_equal(draw_answers(true, FOUR, PERFECT, seed=2), true)


@pytest.mark.parametrize("scheme", [APPROPRIATENESS, FOUR])
def test_accuracy_is_the_share_that_sees_what_is_true(scheme: OneOf) -> None:
    true = draw_truths(N, scheme, 0.3, seed=1)
    given = draw_answers(true, scheme, replace(PERFECT, accuracy=0.85), seed=2)
    assert near(float((given == true).mean()), 0.85)
    assert set(given.tolist()) == set(scheme.definite)


def test_the_wrong_ones_are_even_over_the_other_definite_codes() -> None:
    given = draw_answers(np.full(N, 2), FOUR, replace(PERFECT, accuracy=0.1), seed=2)
    assert all(near(shares(given)[code], 0.3) for code in (0, 6, 9))


def test_nobody_sees_what_is_true_at_no_accuracy() -> None:
    true = draw_truths(N, FOUR, 0.3, seed=1)
    assert not (draw_answers(true, FOUR, replace(PERFECT, accuracy=0.0), seed=2) == true).any()


@pytest.mark.parametrize("code", [0, 2])
def test_a_leaning_gives_its_label_whatever_is_true(code: int) -> None:
    true = np.full(N, 2 - code)
    given = draw_answers(true, APPROPRIATENESS, replace(PERFECT, leaning=0.3, leaning_to=code), seed=2)
    assert near(shares(given)[code], 0.3)


def test_so_many_are_not_sure() -> None:
    given = draw_answers(draw_truths(N, FOUR, 0.3, seed=1), FOUR, replace(PERFECT, unsure=0.07), seed=2)
    assert near(shares(given)[5], 0.07)


def test_a_scheme_without_an_indefinite_code_has_nobody_unsure() -> None:
    scheme = OneOf((Choice(0, "no"), Choice(1, "yes", positive=True)))
    true = draw_truths(N, scheme, 0.3, seed=1)
    np.testing.assert_array_equal(draw_answers(true, scheme, replace(PERFECT, unsure=0.5), seed=2), true)


def test_so_many_skip_whatever_else_they_do() -> None:
    habits = replace(PERFECT, leaning=1.0, unsure=0.5, skips=0.04)
    share = shares(draw_answers(draw_truths(N, APPROPRIATENESS, 0.3, seed=1), APPROPRIATENESS, habits, seed=2))
    assert near(share[NO_CODE], 0.04)
    assert near(share[1], 0.96 * 0.5)


@pytest.mark.parametrize("scheme", [APPROPRIATENESS, FOUR])
def test_validators_see_what_is_true_as_often_as_they_are_accurate(scheme: OneOf) -> None:
    true = draw_truths(N, scheme, 0.3, seed=1)
    seen = draw_second_looks(true, scheme, replace(PERFECT, accuracy=0.9, skips=0.1), seed=3)
    assert near(float((seen == true).mean()), 0.81)
    assert near(float((seen == NO_CODE).mean()), 0.1)
    assert set(seen.tolist()) == {NO_CODE, *scheme.definite}


def test_validators_disagree_with_wrong_labels_as_often_as_they_agree_with_right_ones() -> None:
    """Two definite codes: whoever sees what is true disagrees with a wrong label, whoever does not agrees with it."""
    true = draw_truths(N, APPROPRIATENESS, 0.5, seed=1)
    seen = draw_second_looks(true, APPROPRIATENESS, replace(PERFECT, accuracy=0.9), seed=3)
    assert near(float((seen == true).mean()), 0.9)
    assert near(float((seen != 2 - true).mean()), 0.9)


def test_the_same_seed_gives_the_same_people_and_another_seed_others() -> None:
    habits = Habits(0.3, 0.8, 0.1, 2, 0.1, 0.1)
    true = draw_truths(500, FOUR, 0.3, seed=1)

    def drawn(seed: int) -> list[list[float]]:
        given = (
            draw_truths(500, FOUR, 0.3, seed),
            draw_answers(true, FOUR, habits, seed),
            draw_second_looks(true, FOUR, habits, seed),
        )
        return [each.tolist() for each in (*given, draw_seconds(500, seed))]

    first = drawn(1)
    assert drawn(1) == first
    assert all(one != other for one, other in zip(first, drawn(2), strict=True))


def test_what_is_true_and_what_is_seen_are_drawn_apart() -> None:
    """From one seed: where the truth is rare, errors are as likely as elsewhere."""
    true = draw_truths(N, APPROPRIATENESS, 0.5, seed=1)
    wrong = draw_answers(true, APPROPRIATENESS, replace(PERFECT, accuracy=0.5), seed=1) != true
    assert abs(wrong[true == 2].mean() - wrong[true == 0].mean()) < 5 * (0.25 * 4 / N) ** 0.5


def test_an_answer_takes_about_nine_seconds_and_some_time() -> None:
    taken = draw_seconds(N, seed=1)
    assert 8.8 < float(np.median(taken)) < 9.2
    assert taken.min() > 0
    assert taken.tolist() == np.round(taken, 1).tolist()


def test_people_say_every_option_about_as_often() -> None:
    asked = {"Gender": ("woman", "man", "another"), "Gets up": ("early", "late"), "In your words": ()}
    said = draw_attributes(31, asked, seed=7)
    assert all(set(one) == {"Gender", "Gets up"} for one in said)
    for label in ("Gender", "Gets up"):
        n_each = Counter(one[label] for one in said)
        assert set(n_each) == set(asked[label])
        assert max(n_each.values()) - min(n_each.values()) == 1
    assert said == draw_attributes(31, asked, seed=7) != draw_attributes(31, asked, seed=8)
    assert len({tuple(one.items()) for one in said}) > 3  # one question does not go with the other
