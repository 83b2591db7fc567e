"""What a model or a file says, read as answers: options and their probabilities, marks on replies, sorted columns."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.stages.answers.replies import (
    RARE,
    ProbabilityReading,
    find_marks,
    is_ascending,
    is_sorted,
    read_choice,
    read_probabilities,
)
from fcpair.stages.questions import Text

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


@pytest.mark.parametrize(
    ("reply", "marks"),
    [
        ("Most of them share the road as we do.", ()),
        ("  \n", ("empty",)),
        ("Not so.", ("too short",)),
        ("word " * 13, ("too long",)),
        ("I'm sorry, but I cannot help with that.", ("refusal",)),
        ("As an AI language model, I prefer not to.", ("refusal",)),
        ("متاسفم، اما نمی‌توانم به این پاسخ بدهم.", ("refusal",)),
        ("1. Tea is nice.\n2. Tea is fine.", ("several replies",)),
        ("Option 1: tea.\nOption 2: more tea.", ("several replies",)),
        ("Tea is nice to me.\n\nI like it a lot.", ("several replies",)),
        ("I am sorry that you had a bad day.", ()),
        ("In 1. place stands tea.", ()),
        ("**Reply 2**\nTea is quite fine.", ("several replies",)),
        ("گزینه ۱: چای خوب است.", ("several replies",)),
        # models decline in many spellings
        ("I’m sorry, I cannot help you with this.", ("refusal",)),
        ("I'm not able to write that.", ("refusal",)),
        ("I am only a language model.", ("refusal",)),
        ("Writing this violates our guidelines.", ("refusal",)),
        ("من قادر به تولید چنین محتوایی نیستم.", ("refusal",)),
        ("به‌عنوان یک مدل زبانی، نظری ندارم.", ("refusal",)),
        ("به عنوان يك مدل زباني نظري ندارم.", ("refusal",)),
        ("متأسفم، اما نمی‌توانم.", ("refusal",)),
        # who disagrees or is sorry declines nothing
        ("I'm sorry, but cyclists pay taxes like everybody.", ()),
        ("I can't help but wonder who told you so.", ()),
        ("I cannot agree with that; tea drinkers are brave.", ()),
        ("Calling people lazy violates the guidelines of this page.", ()),
        ("نمی‌توانم با این حرف موافق باشم.", ()),
        ("متاسفم که چنین تجربه‌ای داشتی، اما گربه‌ها مهربان‌اند.", ()),
    ],
)
def test_a_reply_is_marked_by_what_is_amiss(reply: str, marks: tuple[str, ...]) -> None:
    assert find_marks(reply, Text(3, 12)) == marks
    assert find_marks("Nein danke.", Text(3, 12), "de") == ("too short", "wrong language")


def test_what_people_wrote_is_neither_a_refusal_nor_several_replies(data: Path) -> None:
    posts = json.loads((data / "crowdcounter" / "Final_Dataset.json").read_text("utf-8"))
    english = [one["counterspeech"] for post in posts.values() for one in post["counterspeech_post"].values()]
    persian = pd.read_csv(data / "parscn" / "ParsCN-Dataset.csv")["Counter_Narrative"].tolist()
    assert (len(english), len(persian)) == (3435, 1100)
    assert {find_marks(text, Text()) for text in [*english, *persian]} == {()}


MIXED = ["yes", "no", "yes", "yes", "no", "no", "yes", "no"] * 2


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (sorted(MIXED), True),
        (sorted(MIXED, reverse=True), True),
        (["Yes", "yes"] * 4 + ["no"] * 8, True),
        (["skip"] * 4 + ["appropriate"] * 4 + ["not_sure"] * 4, True),
        (["", "", *sorted(MIXED), ""], True),
        (["1", "1,5", "2", "2", "3", "4", "4.5", "5", "10"], True),
        (["a text", "another one", "Before all", "cats", "dogs", "even", "for us", "good"], True),
        # what chance may give
        (MIXED, False),
        ([], False),
        (["yes"] * 50, False),
        (["no", "yes"], False),
        (["no"] * 9 + ["yes"], False),
        (["10", "2", "2", "3", "4", "4.5", "5", "1", "1,5"], False),
        (["good", "a text", "for us", "cats", "dogs", "even", "another one", "Before all"], False),
    ],
)
def test_sorted_cells_are_found(cells: list[str], expected: bool) -> None:
    assert is_sorted(cells) == expected


@pytest.mark.parametrize("n", range(1, 12))
def test_how_rare_an_order_is_decides(n: int) -> None:
    """Of `n` cells that say yes and `n` that say no, two orders of all are sorted."""
    assert is_sorted(["yes"] * n + ["no"] * n) == (2 / math.comb(2 * n, n) < RARE)


@given(st.lists(st.sampled_from(["a", "b", "c"])))
def test_sorted_or_not_is_the_same_from_behind(cells: list[str]) -> None:
    assert is_sorted(cells) == is_sorted(cells[::-1])
    assert [is_ascending(rows) for rows in ([1, 2, 9], [1, 9, 2], [1, 1])] == [True, False, False]
