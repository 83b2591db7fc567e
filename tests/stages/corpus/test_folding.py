"""Folding of Persian and Arabic spellings: what it takes for the same, and what it leaves alone."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.models.language import detect_language
from fcpair.stages.corpus.text_identity import fold_arabic, identity


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("چاي خوب است", "چای خوب است"),
        ("كتاب", "کتاب"),
        ("خوب\u00a0 است ", "خوب است"),
        ("می\u200cخورم", "میخورم"),
        ("ســـلام", "سلام"),
        ("کتابِ خوب", "کتاب خوب"),
    ],
    ids=["yeh", "kaf", "spaces", "half-space", "kashida", "vowel sign"],
)
def test_spellings_of_one_text_are_folded_alike(one: str, other: str) -> None:
    assert identity(one) != identity(other)
    assert fold_arabic(one) == fold_arabic(other)


def test_a_letter_with_a_hamza_of_its_own_is_another_letter() -> None:
    assert fold_arabic("مؤمن") != fold_arabic("مومن")


@given(st.text())
def test_what_is_folded_stays_as_it_is(text: str) -> None:
    assert fold_arabic(fold_arabic(text)) == fold_arabic(text)


@given(st.text(st.characters(max_codepoint=127)))
def test_of_ascii_only_spaces_change(text: str) -> None:
    assert fold_arabic(text) == " ".join(text.split())


@pytest.fixture(scope="module")
def persian(data: Path) -> list[dict[str, str]]:
    with (data / "parscn" / "ParsCN-Dataset.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_so_many_texts_of_parscn_have_arabic_letters(persian: list[dict[str, str]]) -> None:
    arabic = [row for row in persian if set(row["Counter_Narrative"]) & set("يك")]
    assert len(arabic) == 106
    assert len({identity(row["Hate_Speech"]) for row in persian}) == 1071


def test_every_text_of_parscn_is_persian_once_it_is_folded(persian: list[dict[str, str]]) -> None:
    assert {detect_language(row["Counter_Narrative"])[0] for row in persian} == {"fa"}
