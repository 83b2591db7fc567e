"""Readability: worked by hand, and refused where it makes no sense."""

from __future__ import annotations

from pathlib import Path

import pytest

from fcpair.errors import InputError
from fcpair.texts.measures.measuring import TextFigure, measure


def figure(text: str, name: str) -> TextFigure:
    return measure([text], [name], language="en").figures[0]


def test_flesch_kincaid_by_hand() -> None:
    text = "The cat sat. Understanding people helps."  # 1 1 1, un-der-stand-ing 4, peo-ple 2, helps 1
    assert figure(text, "fk").value == pytest.approx(0.39 * 6 / 2 + 11.8 * 10 / 6 - 15.59)


@pytest.fixture
def words(tmp_path: Path) -> Path:
    path = tmp_path / "familiar.txt"
    path.write_text("the\ncat\nsit\nbake\nhappy\n\nrun\n", "utf-8")
    return path


def test_dale_chall_by_hand(words: Path) -> None:
    text = "The cat sits. The cat questions."  # one of six words is not in the list
    expected = 15.79 / 6 + 0.0496 * 6 / 2 + 3.6365
    assert figure(text, f"dale-chall(words={words})").value == pytest.approx(expected)


def test_dale_chall_adds_the_constant_only_above_5_percent(words: Path) -> None:
    assert figure("The cat sits.", f"dale-chall(words={words})").value == pytest.approx(0.0496 * 3)
    twenty = "the " * 19 + "zebra"
    assert figure(twenty, f"dale-chall(words={words})").value == pytest.approx(15.79 * 0.05 + 0.0496 * 20)


@pytest.mark.parametrize("word", ["cats", "cat's", "baked", "baking", "baker", "happier", "happily", "running", "1962"])
def test_regular_forms_of_a_listed_word_and_numbers_are_familiar(words: Path, word: str) -> None:
    assert figure(word, f"dale-chall(words={words})").value == pytest.approx(0.0496)


@pytest.mark.parametrize("word", ["category", "sits-zebra", "ing", "unhappy"])
def test_other_words_are_not(words: Path, word: str) -> None:
    found = figure(word, f"dale-chall(words={words})").value
    assert found is not None
    assert found > 3


@pytest.mark.parametrize(
    ("name", "language", "message"),
    [
        ("fk", "fa", "fk was fitted on English texts; the language is `fa`"),
        ("fk", None, "no language was given, expected `en`"),
        ("dale-chall", "en", "which fcpair may not redistribute: dale-chall"),
        ("dale-chall(words=no-such-file)", "en", "there is no such file"),
    ],
)
def test_a_formula_without_what_it_needs_is_refused(name: str, language: str | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        measure(["tea"], [name], language=language)


def test_a_list_without_a_word_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w").write_text("\n ...\n", "utf-8")
    with pytest.raises(InputError, match="there is no word"):
        figure("tea", f"dale-chall(words={tmp_path / 'w'})")
    (tmp_path / "w").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not UTF-8"):
        figure("tea", f"dale-chall(words={tmp_path / 'w'})")


def test_a_text_without_a_word_is_undefined() -> None:
    found = figure("...", "fk")
    assert (found.value, found.left_out) == (None, {"it has no token": 1})
