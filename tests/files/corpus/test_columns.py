"""Guessing the columns of a corpus by their names."""

from __future__ import annotations

import pytest

from fcpair.files.corpus.columns import ColumnGuess, guess_columns


@pytest.mark.parametrize(
    ("header", "guess"),
    [
        (["cn", "hs", "topic"], ColumnGuess("hs", "cn")),
        (["Hate Speech", "Counter Narrative"], ColumnGuess("Hate Speech", "Counter Narrative")),
        (["qid", "query", "docid", "document"], ColumnGuess("query", "document", "qid", "docid")),
        (["cn_id", "hateSpeech", "counterSpeech"], ColumnGuess("hateSpeech", "counterSpeech", reader="conan")),
        (["HATE_SPEECH", "COUNTER_NARRATIVE"], ColumnGuess("HATE_SPEECH", "COUNTER_NARRATIVE", reader="mt-conan")),
        (["first", "second", "third"], ColumnGuess("first", "second")),
        (["hs_id", "left", "reply"], ColumnGuess("left", "reply", hs_id="hs_id")),
        (["reply", "left"], ColumnGuess("left", "reply")),
        (["hs", "reply", "answer"], ColumnGuess("hs", "reply")),
    ],
)
def test_columns_are_guessed_by_their_names(header: list[str], guess: ColumnGuess) -> None:
    assert guess_columns(header) == guess
