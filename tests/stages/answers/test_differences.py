"""Differences of two versions of a text: by hand, and put together again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.stages.answers import curation
from fcpair.stages.answers.curation import Part, find_differences

LINES = st.lists(st.text("ab \n", max_size=6), max_size=8).map("\n".join)


def test_changed_words_stand_among_those_that_were_kept() -> None:
    (place,) = find_differences("# Rules\n\nBe kind to all.\n", "# Rules\n\nBe fair to all.\n") or []
    assert place == (
        Part("kept", "\nBe "),
        Part("removed", "kind"),
        Part("added", "fair"),
        Part("kept", " to all.\n"),
    )


def test_places_that_are_far_apart_are_shown_apart() -> None:
    before = "".join(f"line {n}\n" for n in range(20))
    after = before.replace("line 3\n", "line three\n").replace("line 15\n", "")
    first, second = find_differences(before, after) or []
    assert [part.text for part in first if part.fate != "kept"] == ["3", "three"]
    assert [part for part in second if part.fate != "kept"] == [Part("removed", "line 15\n")]


def test_the_same_text_differs_nowhere() -> None:
    assert find_differences("Be kind.", "Be kind.") == []


@given(LINES, LINES)
def test_what_was_kept_and_added_is_in_the_later_text(before: str, after: str) -> None:
    for place in find_differences(before, after) or []:
        assert "".join(part.text for part in place if part.fate != "removed") in after
        assert "".join(part.text for part in place if part.fate != "added") in before


def test_texts_that_are_too_long_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curation, "MOST_CHARACTERS", 10)
    assert find_differences("123456", "12345") is None


def test_of_very_many_words_all_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curation, "MOST_WORDS", 4)
    assert find_differences("a b c", "a b d") == [(Part("removed", "a b c"), Part("added", "a b d"))]
