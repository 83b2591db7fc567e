"""Spellings that are the same in files are the same in answers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fcpair.files import corpus, delimited, tabular
from fcpair.stages.question import spelling

cells = st.text() | st.text(st.sampled_from("Aa \t_-0123.,\u0301é\u200c"))


@given(cells)
def test_texts_words_and_numbers_are_the_same_everywhere(cell: str) -> None:
    assert spelling.identity(cell) == corpus.identity(cell)
    assert spelling.fold(cell) == tabular.fold(cell)
    assert spelling.whole(cell) == tabular.whole(cell)
    assert spelling.NO_TEXT.pattern == delimited.NO_TEXT.pattern
