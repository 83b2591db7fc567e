"""What a model wrote, and how probable it holds answers, read as an answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.stages.answers.replies import ProbabilityReading, read_choice, read_probabilities

TEXTS = ("the night owl", "It is not said", "the early riser")
NAMES = ("A", "B", "C")


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        *(("B", "B"), (" b \n", "B"), ("B.", "B"), ("(c)", "C"), ("**A**", "A"), ('"B"', "B"), ("[A]", "A")),
        *(("A. the night owl", "A"), ("c) the early riser", "C"), ("B: because\nnothing is said", "B")),
        *(("the night owl", "A"), ("The Night  Owl.", "A"), ("I think it was the early riser.", "C")),
        *(("A night owl", None), ("the night owl or the early riser", None), ("", None), ("D", None)),
        *(("It was not said.", None), ("unknown", None), ("AB", None), ("Because", None)),
    ],
)
def test_a_reply_is_read_as_the_option_that_it_names_or_not_at_all(reply: str, name: str | None) -> None:
    assert read_choice(reply, NAMES, TEXTS) == name


def test_a_text_that_is_part_of_another_is_read_where_it_stands_alone() -> None:
    texts = ("the owl", "the night owl and the owl", "nobody")
    assert read_choice("The owl.", NAMES, texts) == "A"
    assert read_choice("the night owl and the owl", NAMES, texts) == "B"
    assert read_choice("I say: the night owl and the owl", NAMES, texts) is None


@given(st.sampled_from(NAMES), st.sampled_from(["{}", "({})", "{}.", " {} ", "{}: so it is"]))
def test_a_letter_is_read_in_any_clothes(name: str, clothes: str) -> None:
    assert read_choice(clothes.format(name), NAMES, TEXTS) == name


def test_probabilities_are_read_with_the_likeliest() -> None:
    reply = '{"A": 0.2, "B": 0.7, "C": 0.1, "(all)": 0.25}'
    assert read_probabilities(reply, NAMES) == ProbabilityReading(
        "B", (0.2, 0.7, 0.1), "all answers together have 0.25 of the probability"
    )
    assert read_probabilities('{"A": 1, "B": 0, "C": 0}', NAMES).note == ""


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ('{"A": 0.2, "B": 0.7, "C": 0.2}', "numbers that add up to 1"),
        ('{"A": 1.2, "B": -0.2, "C": 0}', "numbers that add up to 1"),
        ('{"A": "1", "B": 0, "C": 0}', "numbers that add up to 1"),
        ('{"A": NaN, "B": 0, "C": 0}', "expected a JSON object with the probability of each"),
        ('{"A": 0.5, "B": 0.5, "C": 0}', "2 answers tie as the likeliest, at 0.5"),
        ('{"A": 0, "B": 0, "C": 0, "(all)": 0}', "add up to 1"),
        ('{"A": 1, "B": 0}', "the probability of each of A, B, C"),
        ('{"A": 1, "B": 0, "C": 0, "D": 0}', "the probability of each of A, B, C"),
        ("A", "expected a JSON object"),
        ("[1, 0, 0]", "expected a JSON object"),
    ],
)
def test_what_are_no_probabilities_is_refused(reply: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_probabilities(reply, NAMES)
