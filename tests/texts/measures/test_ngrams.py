"""Distinct n-grams, entropy, self-BLEU and novelty: by hand, on CrowdCounter, and against nltk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

from fcpair.errors import InputError
from fcpair.texts.measures import tokens
from fcpair.texts.measures.measuring import Measured, TextFigure, measure

WORDS = st.lists(st.sampled_from("abcd"), max_size=7).map(" ".join)
TEXTS = st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=5).map(" ".join), min_size=1, max_size=7)


def figure(texts: list[str], name: str) -> TextFigure:
    return measure(texts, [name]).figures[0]


@pytest.mark.parametrize(("name", "value"), [("dist-1", 0.131546), ("dist-2", 0.517056), ("ent-2", 13.848232)], ids=str)
def test_crowdcounter_s_texts_have_the_figures_that_were_found_for_them(
    crowdcounter: list[str], name: str, value: float
) -> None:
    found = figure(crowdcounter, name)
    assert found.value == pytest.approx(value, abs=5e-7)
    assert (found.n, found.rule) == (3435, "pooled")


def test_distinct_ngrams_are_pooled_over_all_texts_and_none_reaches_into_the_next() -> None:
    assert figure(["a b a", "b a"], "dist-1").value == 2 / 5
    assert figure(["a b a", "b a"], "dist-2").value == 2 / 3


def test_distinct_ngrams_of_each_text_are_averaged_where_asked() -> None:
    found = figure(["a b a", "b a"], "dist-1(per_text=true)")
    assert found.value == pytest.approx((2 / 3 + 1) / 2)
    assert found.sd == pytest.approx(1 / 3 / 2**0.5)
    assert found.rule == "mean over texts"


def test_dist_keeps_case_and_ent_does_not() -> None:
    assert figure(["Tea tea"], "dist-1").value == 1
    assert figure(["Tea tea"], "dist-1(case=lower)").value == 0.5
    assert figure(["Tea tea"], "ent-1").value == 0
    assert figure(["Tea tea"], "ent-1(case=keep)").value == 1


def test_entropy_is_in_bits() -> None:
    assert figure(["a b c d"], "ent-1").value == 2
    assert figure(["a a a b"], "ent-1").value == pytest.approx(-(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25)))


def test_a_text_without_an_ngram_is_left_out_and_a_set_of_such_is_undefined() -> None:
    found = figure(["a b", "a", ""], "dist-2")
    assert (found.value, found.n, found.left_out) == (1, 1, {"it has fewer than 2 tokens": 2})
    none = figure(["a", " "], "ent-2")
    assert (none.value, none.n, none.undefined) == (None, 0, "no text has 2 tokens")


def test_ngram_diversity_is_the_mean_or_the_sum_over_lengths() -> None:
    texts = ["a b a", "b a"]
    assert figure(texts, "ngd(n=2)").value == pytest.approx((2 / 5 + 2 / 3) / 2)
    assert figure(texts, "ngd(n=2,over=sum)").value == pytest.approx(2 / 5 + 2 / 3)


def test_ngd_crosses_from_one_text_into_the_next_only_where_texts_are_joined_and_says_which() -> None:
    apart, joined = measure(["a b", "b a b"], ["ngd(n=2)", "ngd(n=2,join=true)"]).figures
    assert apart.value == pytest.approx((2 / 5 + 2 / 3) / 2)  # ab | ba ab
    assert joined.value == pytest.approx((2 / 5 + 3 / 4) / 2)  # ab bb ba ab
    found = measure(["a b c d", "e"], ["ngd", "ngd(over=sum)", "ngd(join=true)"])
    assert found.notes == (
        "ngd, ngd(over=sum): no n-gram crosses from one text into the next; join=true puts the texts together first",
        "ngd(join=true): n-grams cross from each text into the next, as the texts are put together in their order",
    )


def test_ngd_of_joined_texts_is_undefined_only_where_all_together_are_too_short() -> None:
    short, enough = (figure(texts, "ngd(n=3,join=true)") for texts in (["a", "b"], ["a", "b", "c"]))
    assert (short.value, short.undefined) == (None, "all texts together have fewer than 3 tokens")
    assert (enough.value, enough.n) == (1, 3)


@given(st.lists(WORDS.filter(bool), min_size=2, max_size=6), st.integers(1, 4))
def test_ngram_diversity_is_that_of_dist(texts: list[str], n: int) -> None:
    found = figure(texts, f"ngd(n={n},over=sum,tokens=space,case=keep)")
    parts = [figure(texts, f"dist-{length}").value for length in range(1, n + 1)]
    assert found.value == (None if None in parts else pytest.approx(sum(part or 0 for part in parts)))


@given(st.lists(WORDS.filter(bool), min_size=2, max_size=6), st.integers(1, 4))
def test_self_bleu_is_nltk_s_sentence_bleu_against_all_others(texts: list[str], n: int) -> None:
    tokens = [text.split() for text in texts]
    expected = [
        sentence_bleu(
            tokens[:at] + tokens[at + 1 :], one, weights=[1 / n] * n, smoothing_function=SmoothingFunction().method1
        )
        for at, one in enumerate(tokens)
    ]
    found = measure(texts, [f"self-bleu(n={n})"])
    np.testing.assert_allclose(next(iter(found.values.values())).values, expected, atol=1e-12)


def test_self_bleu_of_a_group_has_the_group_s_own_texts_as_references() -> None:
    texts = ["a b c d", "e f g h", "a b c d"]
    whole, one, other = measure(texts, ["self-bleu"], groups=["x", "x", "y"]).figures
    assert whole.value == pytest.approx(2 / 3)
    assert one.value == 0
    assert (other.value, other.left_out) == (None, {"no other text has a token": 1})


@given(st.lists(WORDS, min_size=1, max_size=6), st.integers(1, 3))
def test_dist_and_ent_stay_in_their_ranges(texts: list[str], n: int) -> None:
    n_ngrams = sum(max(0, len(text.split()) - n + 1) for text in texts)
    dist, ent = figure(texts, f"dist-{n}").value, figure(texts, f"ent-{n}").value
    if not n_ngrams:
        assert dist is None is ent
        return
    assert dist is not None
    assert ent is not None
    assert 0 < dist <= 1
    assert 0 <= ent <= np.log2(n_ngrams) + 1e-9


def values(measured: Measured) -> list[float]:
    return [float(one) for one in next(iter(measured.values.values())).values]


def test_novelty_is_against_all_references_by_distinct_lower_cased_words() -> None:
    found = measure(["We drink tea, tea!", "bread", "..."], ["novelty"], references=[["we drink"], ["TEA we bake"], []])
    assert values(found)[:2] == pytest.approx([1 - 2 / 3, 1])
    assert found.figures[0].left_out == {"it has no token": 1}


@given(TEXTS, TEXTS)
def test_novelty_is_1_less_the_greatest_jaccard_similarity(texts: list[str], others: list[str]) -> None:
    def jaccard(one: str, other: str) -> float:
        a, b = set(one.split()), set(other.split())
        return len(a & b) / len(a | b)

    found = measure(texts, ["novelty"], references=[others] * len(texts))
    np.testing.assert_allclose(values(found), [1 - max(jaccard(text, one) for one in others) for text in texts])


def test_the_set_can_be_a_column_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "seen.csv"
    path.write_text("id,said\n1,we drink tea\n2,\n", "utf-8")
    assert values(measure(["we drink tea", "we bake"], [f"novelty(against={path},column=said)"])) == [0, 0.75]


def test_texts_are_compared_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, references = ["a b", "b c", "c d"], [["a c"], ["b"], ["d"]]
    whole = values(measure(texts, ["novelty"], references=references))
    monkeypatch.setattr(tokens, "ROWS", 2)
    assert values(measure(texts, ["novelty"], references=references)) == whole


def test_a_set_that_is_missing_is_refused_and_against_an_empty_one_nothing_is_defined(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="novelty needs a set"):
        measure(["tea"], ["novelty"])
    novelty, other = measure(["tea"], ["novelty", "dist-1"], references=[["..."]]).figures
    assert (novelty.value, novelty.left_out) == (None, {"no text of the set has a token": 1})
    assert other.value == 1
    with pytest.raises(InputError, match="there is no such file"):
        measure(["tea"], [f"novelty(against={tmp_path / 'x.csv'})"])
