"""What a key says is what is stored, of whatever question; and what has no key says so."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given

from fcpair.stages.questions import AnyOf, OneOf, Scale, parse_question
from fcpair.stages.questions.base import DISCARD, keys_of
from stages.questions import questions


def ways(names: Sequence[str]) -> dict[str, str]:
    """What each way to type something chooses."""
    return {way: name for name, keys in zip(names, keys_of(names), strict=True) for way in keys}


def shown(names: Sequence[str]) -> list[str]:
    """The keys that a page shows; empty where there is none."""
    return [next(iter(keys), "") for keys in keys_of(names)]


@given(questions.scales())
def test_what_is_typed_on_a_scale_is_what_is_stored(scale: Scale) -> None:
    asked = scale.as_json()
    for name, keys in zip(asked["choices"], asked["keys"], strict=True):
        assert keys[-1] == name  # whoever types a number as it is written gives that number
        for way in keys:
            assert name.startswith(way)
            assert scale.store(scale.load(float(name))) == float(name)


@given(questions.one_ofs() | questions.scales())
def test_no_label_has_the_key_that_discards(question: OneOf | Scale) -> None:
    assert not any(way.startswith(DISCARD) for way in ways([choice.name for choice in question]))


@given(questions.scales())
def test_a_digit_gives_no_number_but_the_one_that_bears_it(scale: Scale) -> None:
    chosen = ways([one.name for one in scale])
    assert {way: name for way, name in chosen.items() if len(way) == 1} == {
        one.name: one.name for one in scale if len(one.name) == 1
    }


@given(questions.one_ofs() | questions.any_ofs() | questions.scales())
def test_no_two_choices_are_typed_alike(question: OneOf | AnyOf | Scale) -> None:
    names = question.as_json()["choices"]
    keys = keys_of(names)
    typed = [way for one in keys for way in one]
    assert len(typed) == len(set(typed))
    assert question.as_json()["keys"] == [list(one) for one in keys]


@given(questions.scales())
def test_what_is_typed_so_far_goes_on_to_no_other_whole_number_by_a_point(scale: Scale) -> None:
    """A half is chosen by its point only where nothing else begins so."""
    names = [one.name for one in scale]
    for way, name in ways(names).items():
        if way.endswith("."):
            assert [other for other in names if other.startswith(way)] == [name]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("1 1.5 2 2.5 3", ["1", "1.", "2", "2.", "3"]),
        ("1 2 3 4 5 6 7 8 9 10", ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]),
        ("-1 -0.5 0 0.5 1", ["-1", "-0.", "0", "0.", "1"]),
        ("0 0.25 0.5 0.75 1", ["0", "0.25", "0.5", "0.75", "1"]),
        ("5 4 3 2 1", ["5", "4", "3", "2", "1"]),
        ("no unsure yes", ["1", "2", "3"]),
        ("a b c d e f g h i j", [*"123456789", ""]),
        ("1 2 none", ["1", "2", ""]),
        ("۱ ۲ ۳", ["1", "2", "3"]),
        ("3 ۳ 4", ["", "", "4"]),
        ("18-29 30-49 more", ["1", "2", "3"]),
        ("5_stars 4_stars 3_stars", ["5", "4", "3"]),
        ("2_of_us 1_of_us nobody", ["1", "2", "3"]),
    ],
)
def test_what_a_page_shows(names: str, expected: list[str]) -> None:
    assert shown(names.split()) == expected


def test_the_whole_of_a_half_may_be_typed_too() -> None:
    assert keys_of(["3", "3.5"]) == (("3",), ("3.", "3.5"))


@pytest.mark.parametrize("printed", ["one_of(no,unsure?,yes+)", "scale(1,5,1)", "one_of(3_stars+,2_stars,1_star)"])
def test_a_label_has_its_key_wherever_it_is_given_or_decided(printed: str) -> None:
    question: Any = parse_question(printed)
    asked = question.as_json()
    assert [list(question.keys[code]) for code in question.codes] == asked["keys"]
    for one, other in pairwise(question):
        assert question.keys[one.code] != question.keys[other.code]
