"""What a key says is what is stored, of whatever question; and what has no key says so."""

from __future__ import annotations

import pytest
from hypothesis import given

from fcpair.stages.questions import AnyOf, OneOf, Scale
from fcpair.stages.questions.base import DISCARD, keys_of
from stages.questions import questions


@given(questions.scales())
def test_what_is_typed_on_a_scale_is_what_is_stored(scale: Scale) -> None:
    """A digit gives the number that bears it, and a half is chosen by its point where nothing else has it."""
    asked = scale.as_json()
    names = asked["choices"]
    for name, keys in zip(names, asked["keys"], strict=True):
        assert keys[-1] == name  # whoever types a number as it is written gives that number
        for way in keys:
            assert name.startswith(way)
            assert scale.store(scale.load(float(name))) == float(name)
            assert len(way) > 1 or name == way
            assert not way.endswith(".") or [other for other in names if other.startswith(way)] == [name]
        assert len(name) > 1 or name in keys


@given(questions.one_ofs() | questions.any_ofs() | questions.scales())
def test_no_two_choices_are_typed_alike_and_none_by_the_key_that_discards(question: OneOf | AnyOf | Scale) -> None:
    keys = keys_of(question.as_json()["choices"])
    typed = [way for ways in keys for way in ways]
    assert len(typed) == len(set(typed))
    assert question.as_json()["keys"] == [list(ways) for ways in keys]
    if not isinstance(question, AnyOf):
        assert not any(way.startswith(DISCARD) for way in typed)
        assert [question.keys[code] for code in question.codes] == list(keys)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("1 1.5 2 2.5 3", "1 1. 2 2. 3"),
        ("1 2 3 4 5 6 7 8 9 10", "1 2 3 4 5 6 7 8 9 10"),
        ("-1 -0.5 0 0.5 1", "-1 -0. 0 0. 1"),
        ("0 0.25 0.5 0.75 1", "0 0.25 0.5 0.75 1"),
        ("5 4 3 2 1", "5 4 3 2 1"),
        ("no unsure yes", "1 2 3"),
        ("a b c d e f g h i j", "1 2 3 4 5 6 7 8 9 -"),
        ("1 2 none", "1 2 -"),
        ("۱ ۲ ۳", "1 2 3"),
        ("3 ۳ 4", "- - 4"),
        ("18-29 30-49 more", "1 2 3"),
        ("5_stars 4_stars 3_stars", "5 4 3"),
        ("2_of_us 1_of_us nobody", "1 2 3"),
    ],
)
def test_what_a_page_shows(names: str, expected: str) -> None:
    """The keys; - where there is none."""
    assert [next(iter(keys), "-") for keys in keys_of(names.split())] == expected.split()
    assert keys_of(["3", "3.5"]) == (("3",), ("3.", "3.5"))  # the whole of a half may be typed too
