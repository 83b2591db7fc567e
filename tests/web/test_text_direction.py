from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.work_records import direction_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Have you met one?", "ltr"),
        ("آیا یکی از آن‌ها را دیده‌ای؟", "rtl"),
        ("האם פגשת אחד מהם?", "rtl"),
        ("Хіба ти знаєш когось?", "ltr"),
        ("你见过吗？", "ltr"),
        ("", "ltr"),
        ("12:30 … ?!", "ltr"),
    ],
)
def test_a_text_runs_as_its_letters_do(text: str, expected: str) -> None:
    assert direction_of(text) == expected


def test_the_majority_decides_not_the_first_letter() -> None:
    assert direction_of("@Kim چرا از همه‌ی آن‌ها متنفری؟") == "rtl"
    assert direction_of("سلام is what they say when they meet somebody") == "ltr"


def test_as_many_of_both_run_left_to_right() -> None:
    assert direction_of("aب") == "ltr"


@given(st.text(alphabet=" 0123456789.,!?()«»‌\n", max_size=20), st.sampled_from(["a", "ب"]))
def test_digits_and_signs_have_no_say(signs: str, letter: str) -> None:
    assert direction_of(signs + letter + signs) == direction_of(letter)
