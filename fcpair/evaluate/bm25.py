"""BM25 scores of texts in any of its variants: five by the library bm25s, and Okapi as rank_bm25 computes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import log
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

Variant = Literal["lucene", "robertson", "atire", "bm25l", "bm25plus", "okapi"]
Tokens = Sequence[str]
EPSILON = 0.25  # of the mean idf, which takes the place of a negative one in `okapi`
_METHODS = {"bm25plus": "bm25+"}  # what bm25s calls differently
_DELTAS = {"bm25l": 0.5, "bm25plus": 1.0}


def bm25_scores(texts: Sequence[Tokens], queries: Sequence[Tokens], variant: Variant, k1: float, b: float) -> Scores:
    """The score of every text for every query; a token that no text has counts nothing.

    `lucene` has the idf ln(1 + (N - n + 0.5) / (n + 0.5)), with N texts of which n have the token; `robertson`
    ln((N - n + 0.5) / (n + 0.5)), 0 where that is negative; `atire` ln(N / n); `bm25l` ln((N + 1) / (n + 0.5)) with
    delta 0.5; `bm25plus` ln((N + 1) / n) with delta 1: Kamphuis et al. 2020,
    https://doi.org/10.1007/978-3-030-45442-5_4, as bm25s computes them (a token that a text lacks adds its share of
    delta too, so that delta does not change the order of `bm25plus`). `okapi` is BM25Okapi of the library rank_bm25:
    idf ln((N - n + 0.5) / (n + 0.5)), a negative one replaced by 0.25 times the mean over all tokens, which can itself
    be negative; term frequencies as in `atire`.

    Args:
        texts: the tokens of each text, at least one among them.
        queries: the tokens of each query; one that stands there twice counts twice.
        variant: of BM25.
        k1: how slowly repeated tokens saturate, 0 or more.
        b: how far long texts are held back, 0 to 1.

    Returns:
        Shape `(n_queries, n_texts)`.
    """
    found = _okapi(texts, queries, k1, b) if variant == "okapi" else _by_library(texts, queries, variant, k1, b)
    return np.array(list(found)).reshape(len(queries), len(texts))


def _by_library(
    texts: Sequence[Tokens], queries: Sequence[Tokens], variant: Variant, k1: float, b: float
) -> Iterator[Scores]:
    from bm25s import BM25

    method, delta = _METHODS.get(variant, variant), _DELTAS.get(variant, 0.0)
    index = BM25(k1=k1, b=b, delta=delta, method=method, dtype="float64")
    index.index([list(tokens) for tokens in texts], show_progress=False)
    for tokens in queries:
        known = [token for token in tokens if token in index.vocab_dict]
        yield index.get_scores(known) if known else np.zeros(len(texts))


def _okapi(texts: Sequence[Tokens], queries: Sequence[Tokens], k1: float, b: float) -> Iterator[Scores]:
    counts = [Counter(tokens) for tokens in texts]
    idf = _okapi_idf(counts)
    lengths = np.array([len(tokens) for tokens in texts], float)
    held_back = k1 * (1 - b + b * lengths / lengths.mean())
    for tokens in queries:
        scores = np.zeros(len(texts))
        for token, times in Counter(tokens).items():
            n_there = np.array([count[token] for count in counts], float)
            whole = n_there + held_back
            scores += times * idf.get(token, 0.0) * (k1 + 1) * np.divide(n_there, whole, where=whole > 0, out=whole)
        yield scores


def _okapi_idf(counts: Sequence[Mapping[str, int]]) -> dict[str, float]:
    n_with = Counter(token for count in counts for token in count)
    idf = {token: log(len(counts) - n + 0.5) - log(n + 0.5) for token, n in n_with.items()}
    replaced = EPSILON * sum(idf.values()) / len(idf)
    return {token: replaced if value < 0 else value for token, value in idf.items()}
