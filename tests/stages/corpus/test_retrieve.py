"""Nearest neighbours against a loop and scikit-learn, languages, and spellings that are folded."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fcpair.errors import InputError
from fcpair.models.language import detect_language
from fcpair.stages.corpus.retrieve import candidate_positions, check_k, even_shares, non_english_note
from fcpair.stages.corpus.text_identity import fold_arabic, identity
from stages.corpus.neighbours import neighbours

Vectors = NDArray[np.float32]


def unit_vectors(n: int, seed: int, dimension: int = 24) -> Vectors:
    vectors = np.random.default_rng(seed).normal(size=(n, dimension))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def with_duplicates(n: int, seed: int, dimension: int = 24) -> Vectors:
    """Unit vectors of which about half stand twice or more, so that scores tie."""
    rng = np.random.default_rng(seed)
    return unit_vectors(n, seed, dimension)[rng.integers(0, n, n)]


def by_loop(vectors: Vectors, sources: list[int], k: int, copies: list[int] | None = None) -> list[tuple[int, ...]]:
    """Source, neighbour and rank, by sorting all others; a text fills as many places as it has copies."""
    found: list[tuple[int, ...]] = []
    for source in sources:
        scores = [round(float(np.dot(vectors[source].astype(float), other.astype(float))), 6) for other in vectors]
        others = sorted((cn for cn in range(len(vectors)) if cn != source), key=lambda cn: (-scores[cn], cn))
        filled = 0
        for rank, cn in enumerate(others, 1):
            if filled >= k:
                break
            found.append((source, cn, rank))
            filled += copies[cn] if copies else 1
    return found


def keys(found: pd.DataFrame) -> list[tuple[int, ...]]:
    return list(found[["source", "cn", "rank"]].itertuples(index=False, name=None))


def test_neighbours_by_hand() -> None:
    """Angles of 0, 10, 30 and 90 degrees; the cosine of their differences."""
    angles = np.radians([0, 10, 30, 90])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    found = neighbours(vectors, np.array([0, 3]), 2)
    assert keys(found) == [(0, 1, 1), (0, 2, 2), (3, 2, 1), (3, 1, 2)]
    assert found["score"].tolist() == pytest.approx([0.984808, 0.866025, 0.5, 0.173648], abs=1e-6)
    near = np.array([[1, 0], [0.6, 0.8], [0.6 + 1e-7, 0.8]], np.float32)  # less apart than the encoder can tell
    assert keys(neighbours(near, np.array([0]), 1)) == [(0, 1, 1)]
    assert neighbours(near, np.array([], np.int64), 2).empty
    with pytest.raises(InputError, match="k is 0"):
        check_k(0)
    of_sources = pd.DataFrame({"source": [0, 0, 1, 1], "cn": [5, 1, 5, 2]})
    assert candidate_positions(of_sources, np.array([0, 1])).tolist() == [2, 5]  # no source, each once


@given(st.integers(1, 40), st.integers(1, 8), st.integers(0, 10_000))
def test_neighbours_are_those_of_a_loop_over_distinct_texts_and_over_rows(n: int, k: int, seed: int) -> None:
    """Ties are broken by the order of the corpus, and the text itself stays out."""
    sources = list(range(0, n, 2))
    vectors = with_duplicates(n, seed)
    expected = by_loop(vectors, sources, k)
    assert keys(neighbours(vectors, np.array(sources), k)) == expected
    assert keys(neighbours(vectors, np.array(sources), k, np.ones(n, np.int64))) == expected
    copies = np.random.default_rng(seed).integers(1, 4, n)
    found = neighbours(vectors, np.array(sources), k, copies)
    assert keys(found) == by_loop(vectors, sources, k, copies.tolist())


@pytest.mark.parametrize(
    ("bodies", "languages", "found"),
    [
        (["Some of us bake your bread."], [""], None),
        (["Some of us bake your bread."], ["en"], None),
        (["Einige von uns backen dein Brot."], ["de"], "is in the language `de`"),
        (["نان تازه", "bread", "ما شب‌ها نان می‌پزیم"], ["", "", ""], "is written in another script than Latin"),
        (["نان تازه", "bread and butter"], ["en", "en"], None),
        (["Naïve café"], [""], None),
        ([], [], None),
        (["1234 ?!"], [""], None),
    ],
)
def test_a_corpus_that_is_not_english_is_recognised(bodies: list[str], languages: list[str], found: str | None) -> None:
    assert non_english_note(bodies, languages) == found


@given(st.integers(1, 10_000), st.integers(2, 40))
def test_the_numbers_of_people_among_whom_a_grid_divides_evenly_are_the_divisors(n_pairs: int, at_most: int) -> None:
    assert set(even_shares(n_pairs, at_most)) == {n for n in range(2, at_most + 1) if n_pairs % n == 0}
    assert (even_shares(5805), even_shares(0)) == ((3, 5, 9, 15, 27), ())  # FC-CONAN's grid, and an empty one


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
