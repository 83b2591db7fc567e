"""Sentences are texts that know their template and their values, and stay so when they are copied or raised."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import Finding, InputError, combine_findings
from fcpair.sentences import Answer, Id, Joined, Sentence, Written, join, say, say_number

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="%"), max_size=9)
NUMBERS = st.integers(0, 10**7)
VALUES = st.one_of(TEXTS, TEXTS.map(Answer), TEXTS.map(Written), NUMBERS, NUMBERS.map(Id), st.lists(TEXTS, max_size=3))


@given(TEXTS, VALUES, VALUES)
def test_a_sentence_survives_copies_pickles_and_errors(words: str, value: object, inner: object) -> None:
    sentence = say(f"{words} %(value)s %(inner)s 100 %%", value=value, inner=say("[%(of)s]", of=inner))
    whole = join((sentence, words, say_number("%(n)s pair", "%(n)s pairs", 3)), "; ")
    for one in (sentence, whole):
        for same in (copy.deepcopy(one), pickle.loads(pickle.dumps(one)), str(one), str(InputError(one))):
            assert (same, type(same), vars(same)) == (one, type(one), vars(one))


@given(NUMBERS, TEXTS)
def test_english_writes_values_by_their_types(n: int, text: str) -> None:
    assert say("%(a)s, %(b)s of %%", a=n, b=Id(n)) == f"{n:,}, {n} of %"
    assert say("%(names)s", names=(text, Id(n), n)) == f"{text}, {n}, {n:,}"
    assert say_number("%(n)s pair", "%(n)s pairs", n) == f"{n:,} pair{'s' * (n != 1)}"


def test_a_value_that_is_missing_is_a_defect() -> None:
    with pytest.raises(KeyError, match="number"):
        say("pair %(number)s", name="ana")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([1], ["1 thing is wrong", "`c1` is empty"]),
        ([1, 2], ["2 things are wrong", "`c1` is empty", "`c2` is empty"]),
        ([3, 3], ["1 thing is wrong", "`c3` is empty (2 times)"]),
        (range(1, 41), ["30 things are wrong", "`c1` is empty (2 lines: 1, 31)", "... and 10 more"]),
    ],
)
def test_all_that_is_wrong_with_a_file_is_said_by_sentences(lines: list[int], expected: list[str]) -> None:
    findings = [Finding("a.csv", line, say("`%(name)s` is empty", name=f"c{line % 30}")) for line in lines]
    sentence = str(combine_findings("a.csv", findings))
    assert isinstance(sentence, Joined)
    assert all(isinstance(part, Sentence) for part in sentence.parts)
    assert sentence.startswith(f"a.csv: {expected[0]}; nothing was changed\n  a.csv:{lines[0]}: `c")
    assert all(any(part.endswith(words) for part in sentence.parts) for words in expected[1:])
