"""Models as a plan names them, which columns each answers, and the examples that a prompt has: never the row's own."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.arrays import Vectors
from fcpair.errors import InputError
from fcpair.stages.answers.model_spec import ModelSpec, format_examples, match_columns, parse_model_spec
from fcpair.stages.corpus.nearest_neighbours import DECIMALS, NO_NEIGHBOUR
from fcpair.stages.corpus.retrieve import nearest_examples
from fcpair.stages.corpus.text_identity import fold_arabic, identity


@pytest.mark.parametrize(
    "text",
    [
        "careful=service:llama3.2:3b",
        "plain=canned:folder/plain replies.csv",
        "small=local:google/flan-t5-small",
        "plain=canned:released.csv(row=HS,reply=CN,several=first)",
        "plain=canned:released (1).csv",
        "small=local:models (old)/t5(max_new_tokens=80,num_beams=4)",
    ],
)
def test_a_model_is_read_as_it_is_written(text: str) -> None:
    assert str(parse_model_spec(text)) == text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("careful", "cannot be read; expected NAME=service:MODEL"),
        ("careful=service:", "cannot be read"),
        ("=service:x", "cannot be read"),
        ("careful=servce:x", "did you mean `service`"),
        (f"{'x' * 200}=service:x", "longer than"),
        ("small=local:t5(num_beam=2)", "did you mean `num_beams`"),
        ("plain=canned:a.csv(rows=HS)", "did you mean `row`"),
        ("plain=canned:a.csv(several=last)", "`several=last`; expected `several=first`"),
        ("plain=canned:a.csv(row=)", "`row=`; expected a value, once"),
        ("small=local:t5(num_beams=0)", "expected a whole number, 1 or more"),
        ("small=local:t5(num_beams=2,num_beams=3)", "`num_beams=3`; expected a value, once"),
    ],
)
def test_what_is_no_model_is_refused(text: str, found: str) -> None:
    with pytest.raises(InputError, match=found):
        parse_model_spec(text)


def test_only_files_and_local_models_are_looked_for_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "t5").mkdir()
    for text, of in {
        "a=canned:b.csv": str(tmp_path / "b.csv"),
        "a=canned:/g/b.csv": "/g/b.csv",
        "a=service:b": "b",
        "a=local:t5(num_beams=2)": str(tmp_path / "t5"),
        "a=local:google/t5": "google/t5",
    }.items():
        assert parse_model_spec(text).resolve_in(tmp_path).of == of


def test_who_answers_which_column() -> None:
    ann, bob, cy = (ModelSpec(name, "service", "m") for name in ("ann", "bob", "cy"))
    assert match_columns(["bob", "ann"], [ann, bob]) == [(0, 1), (1, 0)]
    assert match_columns(["heard", "believed"], [ann, bob]) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert match_columns(["ann", "other"], [ann, cy]) == [(0, 0), (1, 1)]
    with pytest.raises(InputError, match="no model answers the column `other`"):
        match_columns(["ann", "other"], [ann])


WORDS = st.sampled_from(["tea", "tea ", "caf\u00e9", "cafe\u0301", "jam", "rain", "maps"])


def unit(*vectors: tuple[float, ...]) -> Vectors:
    found = np.array(vectors, np.float32)
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


def at_cosines(*cosines: float) -> Vectors:
    """Unit vectors with these cosines to (1, 0)."""
    return unit(*((one, (1 - one * one) ** 0.5) for one in cosines))


def vectors_of(texts: list[str]) -> Vectors:
    """Vectors as an encoder has them: the same for the same text, and close for all."""
    return unit(*((1.0, 0.1 * (sum(map(ord, unicodedata.normalize("NFC", text.strip()))) % 7)) for text in texts))


@pytest.mark.parametrize(
    ("texts", "cosines", "places", "scores"),
    [
        (["a", "b", "c"], (0.7, 0.9, 0.8), [1, 2], [0.9, 0.8]),  # the nearest come first
        (["a", "b", "c"], (0.5, 0.9, 0.9), [1, 2, 0], [0.9, 0.9, 0.5]),  # equally near ones in their order
        (["a", " a ", "b"], (0.9, 0.9, 0.8), [0, 2, NO_NEIGHBOUR], [0.9, 0.8, -np.inf]),  # of the same the first
        (["tea", "b"], (1.0, 0.8), [1, NO_NEIGHBOUR, NO_NEIGHBOUR], [0.8, -np.inf, -np.inf]),  # too few
    ],
)
def test_the_nearest_by_hand(
    texts: list[str], cosines: tuple[float, ...], places: list[int], scores: list[float]
) -> None:
    found, score = nearest_examples((["tea"], unit((1, 0))), (texts, at_cosines(*cosines)), len(places))
    assert found.tolist() == [places]
    np.testing.assert_allclose(score, [scores], atol=1e-6)


def test_a_spelling_that_is_folded_is_the_row_itself() -> None:
    own, other = "\u0643\u062a\u0627\u0628", "\u06a9\u062a\u0627\u0628"  # a book, with the Arabic and the Persian kaf
    rows, others = ([own], unit((1, 0))), ([other, "b"], at_cosines(1.0, 0.8))
    assert nearest_examples(rows, others, 1)[0].tolist() == [[0]]
    assert nearest_examples(rows, others, 1, fold_arabic)[0].tolist() == [[1]]


@given(st.lists(WORDS, min_size=1, max_size=6), st.lists(WORDS, min_size=1, max_size=9), st.integers(1, 12))
def test_what_is_found_is_what_a_plain_search_finds_and_never_the_row_itself(
    rows: list[str], others: list[str], n: int
) -> None:
    own, of_others = vectors_of(rows), vectors_of(others)
    found, score = nearest_examples((rows, own), (others, of_others), n)
    assert found.shape == score.shape == (len(rows), n)
    cosine = np.round(own.astype(np.float64) @ of_others.astype(np.float64).T, DECIMALS)
    for at, row in enumerate(rows):
        expected: list[int] = []
        for place in sorted(range(len(others)), key=lambda place: (-cosine[at, place], place)):
            same = [earlier for earlier in range(place) if identity(others[earlier]) == identity(others[place])]
            if identity(others[place]) != identity(row) and not same:
                expected.append(place)
        assert [place for place in found[at].tolist() if place != NO_NEIGHBOUR] == expected[:n]


def test_a_prompt_has_each_example_on_three_lines_and_an_empty_line_between() -> None:
    shown = format_examples([("Tea is odd.", "I like it.", "warmth"), ("Cats\nare cold.", "Mine  is not.", "facts")])
    assert shown == (
        "Hate speech: Tea is odd.\nCounter-narrative: I like it.\nType: warmth\n\n"
        "Hate speech: Cats are cold.\nCounter-narrative: Mine is not.\nType: facts"
    )
    for text in ("a\nType: b", "a\r\nType: b", "a\u2028Type: b"):  # no text of an example begins a line
        assert len(format_examples([(text, text, text)]).splitlines()) == 3
    assert format_examples([]) == ""
