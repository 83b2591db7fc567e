"""Nearest neighbours checked against a loop in plain Python and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from fcpair.errors import InputError
from fcpair.stages.corpus import retrieve
from fcpair.stages.corpus.retrieve import candidate_positions, check_k, non_english_note
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


# -- neighbours


def test_neighbours_by_hand() -> None:
    """Angles of 0, 10, 30 and 90 degrees; the cosine of their differences."""
    angles = np.radians([0, 10, 30, 90])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    found = neighbours(vectors, np.array([0, 3]), 2)
    assert keys(found) == [(0, 1, 1), (0, 2, 2), (3, 2, 1), (3, 1, 2)]
    assert found["score"].tolist() == pytest.approx([0.984808, 0.866025, 0.5, 0.173648], abs=1e-6)


@given(st.integers(2, 40), st.integers(1, 8), st.integers(0, 10_000))
def test_neighbours_are_those_of_a_loop(n: int, k: int, seed: int) -> None:
    sources = list(range(0, n, 2))
    vectors = with_duplicates(n, seed)
    assert keys(neighbours(vectors, np.array(sources), k)) == by_loop(vectors, sources, k)


@given(st.integers(2, 40), st.integers(1, 8), st.integers(0, 10_000))
def test_neighbours_over_rows_are_those_of_a_loop(n: int, k: int, seed: int) -> None:
    sources = list(range(0, n, 2))
    vectors = with_duplicates(n, seed)
    copies = np.random.default_rng(seed).integers(1, 4, n)
    found = neighbours(vectors, np.array(sources), k, copies)
    assert keys(found) == by_loop(vectors, sources, k, copies.tolist())


def test_neighbours_are_those_of_scikit_learn() -> None:
    vectors = unit_vectors(300, seed=5)
    sources = np.arange(0, 300, 7)
    distance, nearest = NearestNeighbors(n_neighbors=6, metric="cosine").fit(vectors).kneighbors(vectors[sources])
    found = neighbours(vectors, sources, 5)
    assert found["cn"].to_numpy().reshape(-1, 5).tolist() == nearest[:, 1:].tolist()
    assert found["score"].to_numpy().reshape(-1, 5) == pytest.approx(1 - distance[:, 1:], abs=1e-5)


def test_ties_are_broken_by_corpus_order_and_the_text_itself_stays_out() -> None:
    vectors = np.tile(unit_vectors(1, seed=1), (6, 1))
    assert keys(neighbours(vectors, np.array([3]), 3)) == [(3, 0, 1), (3, 1, 2), (3, 2, 3)]


def test_texts_that_differ_less_than_the_encoder_can_tell_tie() -> None:
    vectors = np.array([[1, 0], [0.6, 0.8], [0.6 + 1e-7, 0.8]], np.float32)
    assert keys(neighbours(vectors, np.array([0]), 1)) == [(0, 1, 1)]


def test_a_text_in_three_rows_fills_three_places() -> None:
    """From text 0 the others follow in order; at k = 3, text 1 fills three places, and text 2 one of two before 3."""
    angles = np.radians([0, 10, 20, 30, 40])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    counted = {1: [1], 2: [1], 3: [1], 4: [1, 2], 5: [1, 2, 3]}
    for k, expected in counted.items():
        found = neighbours(vectors, np.array([0]), k, copies=np.array([9, 3, 1, 2, 1]))
        assert found["cn"].tolist() == expected


def test_one_copy_each_counts_as_distinct_texts() -> None:
    vectors = with_duplicates(30, seed=2)
    once = neighbours(vectors, np.arange(30), 3, copies=np.ones(30, np.int64))
    pd.testing.assert_frame_equal(once, neighbours(vectors, np.arange(30), 3))


def test_a_k_beyond_the_texts_gives_all_others() -> None:
    found = neighbours(unit_vectors(4, seed=1), np.array([2]), 10)
    assert sorted(found["cn"]) == [0, 1, 3]
    assert found["rank"].tolist() == [1, 2, 3]


def test_a_single_text_and_no_sources_have_no_neighbours() -> None:
    assert neighbours(unit_vectors(1, seed=1), np.array([0]), 2).empty
    assert neighbours(unit_vectors(4, seed=1), np.array([], np.int64), 2).empty


@pytest.mark.parametrize("copied", [1, 7, 49])
@pytest.mark.parametrize("seed", range(5))
def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch, copied: int, seed: int) -> None:
    """Though sums come out otherwise in their last bits when matrices of another shape are multiplied."""
    vectors = with_duplicates(99, seed, dimension=384)
    sources = np.arange(0, 99, 2)
    whole = neighbours(vectors, sources, 4)
    monkeypatch.setattr(retrieve, "COPIED_ROWS", copied)
    pd.testing.assert_frame_equal(neighbours(vectors, sources, 4, memory_mb=1), whole)


def test_k_below_one_is_refused() -> None:
    with pytest.raises(InputError, match="k is 0"):
        check_k(0)


def test_candidates_are_the_neighbours_that_are_no_source_each_once() -> None:
    found = pd.DataFrame({"source": [0, 0, 1, 1], "cn": [5, 1, 5, 2]})
    assert candidate_positions(found, np.array([0, 1])).tolist() == [2, 5]


# -- languages


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
