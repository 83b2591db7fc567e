"""Exact nearest neighbours: whatever the blocks, what is found is what the plain definition finds, ties included."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fcpair.stages.corpus import nearest_neighbours as stage
from fcpair.stages.corpus.nearest_neighbours import (
    DECIMALS,
    NO_NEIGHBOUR,
    Blocks,
    Neighbours,
    merge_parts,
    nearest_neighbours,
    stack_parts,
)

Vectors = NDArray[np.float32]


def plain(queries: Vectors, texts: Vectors, own: NDArray[np.int64], k: int) -> Neighbours:
    """The definition: every cosine in float64, rounded, sorted; of equal ones the first text first."""
    cosine = np.round(queries.astype(np.float64) @ texts.astype(np.float64).T, DECIMALS)
    for row, text in enumerate(own.tolist()):
        if 0 <= text < len(texts):
            cosine[row, text] = -np.inf
    order = np.argsort(-cosine, axis=1, kind="stable")[:, :k]
    score = np.take_along_axis(cosine, order, axis=1)
    wide = [(0, 0), (0, k - order.shape[1])]
    cn = np.pad(np.where(np.isinf(score), NO_NEIGHBOUR, order), wide, constant_values=NO_NEIGHBOUR)
    return cn, np.pad(score, wide, constant_values=-np.inf)


def same(found: Neighbours, expected: Neighbours) -> None:
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


def unit(vectors: NDArray[np.floating]) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def crowd(n: int, n_bases: int, noise: float, seed: int, dimension: int = 16) -> Vectors:
    """`n` unit vectors around a few: equal where the noise is 0, else apart by less than some step of the search."""
    rng = np.random.default_rng(seed)
    bases = rng.normal(size=(n_bases, dimension))[rng.integers(0, n_bases, n)]
    return unit(bases + noise * rng.normal(size=bases.shape))


NOISES = [0.0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-3, 1.0]
noises = st.sampled_from(NOISES)
sizes = st.tuples(st.integers(1, 9), st.integers(1, 20))


@given(
    st.integers(1, 60), st.integers(1, 12), noises, st.integers(1, 12), sizes, st.integers(1, 60), st.integers(0, 99)
)
def test_what_is_found_is_what_the_definition_finds(
    n: int, n_bases: int, noise: float, k: int, size: tuple[int, int], crowded: int, seed: int
) -> None:
    """With duplicates and near ties in any number, blocks of any size, and any number of rows computed in full."""
    texts = crowd(n, n_bases, noise, seed)
    own = np.random.default_rng(seed).permutation(n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stage, "CROWD", crowded)
        same(nearest_neighbours(texts[own], texts, own, k, Blocks(*size)), plain(texts[own], texts, own, k))


@given(st.integers(1, 40), noises, st.integers(1, 9), st.lists(st.integers(0, 40), max_size=4), st.integers(0, 99))
def test_what_is_found_in_parts_comes_together_as_in_the_whole(
    n: int, noise: float, k: int, cuts: list[int], seed: int
) -> None:
    texts, queries = crowd(n, 4, noise, seed), crowd(7, 4, noise, seed)
    own = np.arange(7)
    bounds = sorted({0, n, *(cut for cut in cuts if cut < n)})
    parts = []
    for start, stop in pairwise(bounds):
        cn, score = nearest_neighbours(queries, texts[start:stop], own - start, k, Blocks(3, 5))
        parts.append((np.where(cn == NO_NEIGHBOUR, NO_NEIGHBOUR, cn + start), score))
    whole = nearest_neighbours(queries, texts, own, k, Blocks(3, 5))
    np.testing.assert_array_equal(merge_parts(parts, k)[1], whole[1])
    there = whole[0] != NO_NEIGHBOUR
    np.testing.assert_array_equal(merge_parts(parts, k)[0][there], whole[0][there])
    step = [merge_parts(parts[:2], k), *parts[2:]]
    same(merge_parts(step, k), merge_parts(parts, k))


@pytest.mark.parametrize("noise", [0.0, 3e-9, 0.4])
def test_texts_by_the_thousand_are_found_as_by_the_definition(noise: float) -> None:
    """Larger than one block in both directions, with rows that are crowded and rows that are not.

    Of vectors that are no unit vectors, rounding in single precision grows with their length, and so does what is
    looked at again.
    """
    rng = np.random.default_rng(4)
    texts = np.concatenate([crowd(2600, 1, noise, 1, 48), crowd(2400, 600, 0.7, 2, 48)])[rng.permutation(5000)]
    own = rng.permutation(5000)[:1300]
    same(nearest_neighbours(texts[own], texts, own, 10, Blocks(1024, 2048)), plain(texts[own], texts, own, 10))
    long, own = (crowd(400, 5, 1e-5, 3) * 100).astype(np.float32), np.arange(400)
    same(nearest_neighbours(long, long, own, 5, Blocks(64, 64)), plain(long, long, own, 5))


def test_the_products_of_single_precision_alone_would_be_wrong() -> None:
    """So that the tests above would notice: here float32 puts other texts first than float64 to six decimals."""
    texts = crowd(400, 5, 1e-5, 3, 384)
    own = np.arange(400)
    cosine = np.array(texts @ texts.T)
    cosine[own, own] = -np.inf
    single = np.argsort(-cosine, axis=1, kind="stable")[:, :5]
    assert (single != plain(texts, texts, own, 5)[0]).any()


@pytest.mark.parametrize("noise", [0.0, 1e-6, 1.0])
@pytest.mark.parametrize("memory_mb", [8, 32])
def test_no_more_memory_is_taken_than_is_given(memory_mb: int, noise: float) -> None:
    texts = crowd(6000, 2, noise, 1, 8)
    own = np.arange(500)
    queries = texts[own]
    nearest_neighbours(queries[:1], texts, own[:1], 10, Blocks.fit_memory(memory_mb, 10))
    tracemalloc.start()
    nearest_neighbours(queries, texts, own, 10, Blocks.fit_memory(memory_mb, 10))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < memory_mb * 1_000_000


def test_blocks_are_never_empty_and_never_larger_than_is_of_use_and_without_queries_nothing_is_found() -> None:
    for memory_mb, k in product((1, 8, 64, 512, 100_000), (1, 10, 5000)):
        blocks = Blocks.fit_memory(memory_mb, k)
        assert 1 <= blocks.rows <= stage.ROWS
        assert 1 <= blocks.columns <= stage.COLUMNS
    texts = crowd(5, 2, 0.1, 0)
    cn, score = nearest_neighbours(texts[:0], texts, np.empty(0, np.int64), 3, Blocks(2, 2))
    assert cn.shape == score.shape == stack_parts([], 3)[0].shape == (0, 3)
