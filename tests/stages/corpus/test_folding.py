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
    assert fold_arabic("مؤمن") != fold_arabic("مومن")  # a letter with a hamza of its own is another


@given(st.text())
def test_what_is_folded_stays_as_it_is(text: str) -> None:
    assert fold_arabic(fold_arabic(text)) == fold_arabic(text)


@given(st.text(st.characters(max_codepoint=127)))
def test_of_ascii_only_spaces_change(text: str) -> None:
    assert fold_arabic(text) == " ".join(text.split())


def test_every_text_of_parscn_is_persian_once_it_is_folded_and_so_many_have_arabic_letters(data: Path) -> None:
    with (data / "parscn" / "ParsCN-Dataset.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len([row for row in rows if set(row["Counter_Narrative"]) & set("يك")]) == 106
    assert len({identity(row["Hate_Speech"]) for row in rows}) == 1071
    assert {detect_language(row["Counter_Narrative"])[0] for row in rows} == {"fa"}
