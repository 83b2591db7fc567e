"""The variants of BM25 against rank_bm25 itself, and against their formulas in loops."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi, BM25Plus

from evaluate.searches import CN, HS, SEARCH
from fcpair.errors import InputError
from fcpair.evaluate.catalogue import parse_system
from fcpair.evaluate.systems import Bm25, Variant, bm25_scores

Texts = list[list[str]]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
# `a` is in more than half of the texts, so that its okapi idf is negative; one text is empty
TEXTS = [text.split() for text in ("a b a c", "a", "a d d e f", "", "a b", "g a h", "a a a b c d e f g")]
QUERIES = [text.split() for text in ("a", "b a b", "zzz d", "", "zzz", "a e h")]
texts = st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=8), min_size=1, max_size=8)
queries = st.lists(st.lists(st.sampled_from("abcdefz"), max_size=5), min_size=1, max_size=3)


def by_rank_bm25(library: type[BM25Okapi | BM25Plus], there: Texts, asked: Texts, k1: float, b: float) -> object:
    index = library(there, k1=k1, b=b)
    return pytest.approx(np.array([index.get_scores(tokens) for tokens in asked]), abs=1e-12)


@given(texts, queries, st.sampled_from([0.5, 1.5, 3.0]), st.sampled_from([0.0, 0.75, 1.0]))
def test_okapi_is_what_rank_bm25_computes(there: Texts, asked: Texts, k1: float, b: float) -> None:
    assert bm25_scores(there, asked, "okapi", k1, b) == by_rank_bm25(BM25Okapi, there, asked, k1, b)


@given(texts, queries)
def test_bm25plus_is_that_of_rank_bm25_with_delta_1(there: Texts, asked: Texts) -> None:
    asked = [[token for token in query if any(token in text for text in there)] for query in asked]
    assert bm25_scores(there, asked, "bm25plus", 1.5, 0.75) == by_rank_bm25(BM25Plus, there, asked, 1.5, 0.75)


def by_formula(variant: Variant, k1: float, b: float) -> NDArray[np.float64]:
    """Table 1 of Kamphuis et al. 2020; robertson with no idf below 0, lucene without k1 + 1."""
    n_texts, mean = len(TEXTS), sum(map(len, TEXTS)) / len(TEXTS)

    def score(query: list[str], text: list[str]) -> float:
        total = 0.0
        for token in query:
            n, f = sum(token in other for other in TEXTS), text.count(token)
            norm = 1 - b + b * len(text) / mean
            if n:
                odds = (n_texts - n + 0.5) / (n + 0.5)
                total += {
                    "lucene": math.log(1 + odds) * f / (f + k1 * norm),
                    "robertson": max(math.log(odds), 0) * f / (f + k1 * norm),
                    "atire": math.log(n_texts / n) * f * (k1 + 1) / (f + k1 * norm),
                    "bm25l": math.log((n_texts + 1) / (n + 0.5)) * (k1 + 1) * (f / norm + 0.5) / (k1 + f / norm + 0.5),
                    "bm25plus": math.log((n_texts + 1) / n) * (1 + f * (k1 + 1) / (f + k1 * norm)),
                }[variant]
        return total

    return np.array([[score(query, text) for text in TEXTS] for query in QUERIES])


@pytest.mark.parametrize("variant", VARIANTS[:-1])
def test_a_variant_is_its_formula(variant: Variant) -> None:
    assert bm25_scores(TEXTS, QUERIES, variant, 1.2, 0.6) == pytest.approx(by_formula(variant, 1.2, 0.6))


@pytest.mark.parametrize("variant", ["lucene", "robertson", "atire", "okapi"])
def test_k1_of_0_counts_a_token_once_in_every_variant(variant: Variant) -> None:
    once, often = bm25_scores([["a"], ["a", "a"], ["b"], ["c"]], [["a"]], variant, 0, 0.75)[0][:2]
    assert once == pytest.approx(often)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_is_named_and_read_back(variant: Variant) -> None:
    system = Bm25(variant=variant)
    assert parse_system("bm25(k1=1.5,b=0.75,tokens=words,lower=true,fit=pool)") == Bm25()  # of before there were any
    assert parse_system(str(system)) == parse_system(system.short_name) == system
    assert system.short_name == ("bm25" if variant == "lucene" else f"bm25(variant={variant})")


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_pool_is_ranked_by_the_variant(variant: Variant) -> None:
    """Every CN is `reply X`: the order is that of the scores, ties as they stand."""
    system, words = Bm25(variant=variant), [text.lower().split() for text in CN]
    scores = bm25_scores(words, [["reply", "d"]] * len(HS), variant, 1.5, 0.75)
    search = type(SEARCH)(("Reply d.",) * len(HS), CN, SEARCH.hs_ids, SEARCH.cn_ids)
    assert system.rank(search).order.tolist() == np.argsort(-scores.round(6), axis=1, kind="stable").tolist()
    assert system.rank(search).order[0, 0] == 3


@pytest.mark.parametrize("variant", ["bm25l", "bm25plus"])
def test_a_variant_that_k1_of_0_would_leave_without_an_order_refuses_it(variant: Variant) -> None:
    with pytest.raises(InputError, match=f"k1 is 0; `{variant}` needs a number above 0"):
        Bm25(k1=0, variant=variant)


def test_a_text_without_tokens_scores_0_in_okapi() -> None:
    assert bm25_scores([["a"], [], ["b"]], [["a"]], "okapi", 1.5, 1.0)[0, 1] == 0


def test_a_variant_that_is_unknown_is_refused_with_those_that_are() -> None:
    with pytest.raises(InputError, match="expected one of lucene, robertson, atire, bm25l, bm25plus, okapi"):
        parse_system("bm25(variant=bm26)")
