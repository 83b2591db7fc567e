"""What encoders say: div against every pair, BERTScore and mover against plain sums and permutations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from fcpair.models import encode
from fcpair.models.encode import load_sentence_transformer
from fcpair.models.model_files import resolve
from fcpair.params import DEFAULT_MODEL
from fcpair.texts.measures import embeddings
from fcpair.texts.measures.embeddings import BertScore, Mover
from fcpair.texts.measures.measuring import Measured, measure

pytestmark = pytest.mark.torch

TEXTS = ["we drink tea", "they bake bread at night", "tea"]
REFERENCES = [["we drink hot tea"], ["we bake", "they bake bread"], ["tea"]]


def drawn(n: int, seed: int) -> NDArray[np.float64]:
    vectors = np.random.default_rng(seed).normal(size=(n, 5))
    unit: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def values(measured: Measured) -> list[float]:
    return [float(one) for one in next(iter(measured.values.values())).values]


# -- div


def test_div_is_the_mean_over_every_two_texts(crowdcounter: list[str]) -> None:
    texts = list(crowdcounter[:40])
    unit = load_sentence_transformer(resolve(DEFAULT_MODEL)).encode(texts, normalize_embeddings=True).astype(float)
    cosine = (unit @ unit.T)[~np.eye(len(texts), dtype=bool)]
    assert measure(texts, ["div"]).figures[0].value == pytest.approx(1 - cosine.mean(), abs=1e-6)


@pytest.mark.long
def test_div_of_all_texts_of_crowdcounter(crowdcounter: list[str]) -> None:
    assert len(crowdcounter) == 3435
    assert round(measure(crowdcounter, ["div"]).figures[0].value or 0, 4) == 0.8488


def test_div_is_0_for_copies_and_undefined_for_one_text() -> None:
    found = measure(["tea", "tea", "bread", " "], ["div"], groups=["a", "a", "b", "b"]).figures
    assert found[1].value == pytest.approx(0, abs=1e-6)
    assert (found[2].value, found[2].undefined) == (None, "there are fewer than two texts")
    assert (found[0].n, found[0].left_out) == (3, {"it has no token": 1})


# -- homogenization


def test_homogenization_is_what_div_lacks_to_1() -> None:
    spread, alike = measure(TEXTS, ["div", "homogenization"]).figures
    assert (spread.value or 0) + (alike.value or 0) == pytest.approx(1)


@pytest.mark.slow
def test_homogenization_by_bertscore_is_the_mean_over_every_two_texts() -> None:
    texts = [*TEXTS, "we drink hot tea", "bread"]
    found = [values(measure([one], ["bertscore"], references=[[other]]))[0] for one, other in permutations(texts, 2)]
    figure = measure([*texts, " "], ["homogenization(by=bertscore)"]).figures[0]
    assert figure.value == pytest.approx(np.mean(found), abs=1e-6)
    assert (figure.n, figure.left_out) == (5, {"it has no token": 1})


def test_homogenization_says_why_it_is_undefined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "MAX_PAIRED_TEXTS", 2)
    one = measure(["tea"], ["homogenization(by=bertscore)"]).figures[0]
    many = measure(TEXTS, ["homogenization(by=bertscore)"]).figures[0]
    assert (one.value, one.undefined) == (None, "there are fewer than two texts")
    assert (many.value, "by=cosine" in (many.undefined or "")) == (None, True)


# -- BERTScore


def test_bertscore_matches_each_token_with_the_nearest() -> None:
    one, other = drawn(3, 1), drawn(4, 2)
    cosines = [[float(a @ b) for b in other] for a in one]
    precision = sum(map(max, cosines)) / 3
    recall = sum(max(row[at] for row in cosines) for at in range(4)) / 4
    assert BertScore(value="precision").similarity(one, other) == pytest.approx(precision)
    assert BertScore(value="recall").similarity(one, other) == pytest.approx(recall)
    assert BertScore().similarity(one, other) == pytest.approx(2 * precision * recall / (precision + recall))


@pytest.mark.parametrize("name", ["bertscore", "mover"])
def test_a_copy_has_1_and_the_best_reference_counts(name: str, encoder: str) -> None:
    found = values(measure(TEXTS, [f'{name}(model="{encoder}")'], references=REFERENCES))
    single = [
        values(measure([TEXTS[1]], [f'{name}(model="{encoder}")'], references=[[one]]))[0] for one in REFERENCES[1]
    ]
    assert found[2] == pytest.approx(1)
    assert found[1] == pytest.approx(max(single), abs=1e-5)
    assert max(found[:2]) < 1


def test_copies_reach_1_by_a_real_model_in_both_languages(crowdcounter: list[str], parscn: list[str]) -> None:
    texts = [*crowdcounter[:8], *parscn[:8]]
    found = measure(texts, ["bertscore", "mover"], references=[[text] for text in texts])
    assert [one.value for one in found.figures] == pytest.approx([1, 1])


def test_a_model_of_english_alone_is_pointed_out() -> None:
    found = measure(["چای", "نان"], ["div"], language="fa")
    assert found.notes == ("div: all-MiniLM-L6-v2 was trained on English alone; the texts are in `fa`",)


# -- mover


def test_mover_is_the_best_of_all_assignments_where_both_have_as_many_tokens() -> None:
    one, other = drawn(4, 3), drawn(4, 4)
    cost = np.linalg.norm(one[:, None] - other[None], axis=2)
    best = min(sum(cost[at, to] for at, to in enumerate(order)) / 4 for order in permutations(range(4)))
    assert Mover().similarity(one, other) == pytest.approx(1 - best)


def test_mover_carries_parts_of_tokens_where_one_text_has_more() -> None:
    one, other = drawn(2, 5), drawn(4, 6)
    twice = one.repeat(2, axis=0)  # the same weights, as many tokens: an assignment is an optimum again
    assert Mover().similarity(one, other) == pytest.approx(Mover().similarity(twice, other))
    assert Mover().similarity(other, one) == pytest.approx(Mover().similarity(one, other))


def test_a_transport_of_one_token_goes_to_all_others() -> None:
    cost = np.array([[1.0, 2.0, 6.0]])
    assert embeddings._transport_cost(cost) == pytest.approx(3)


# -- tokens


def test_the_tokens_that_the_tokenizer_adds_have_no_vector(encoder: str) -> None:
    found = encode.token_vectors(["ab c", "~ b", ""], encoder)
    assert [len(one) for one in found] == [3, 2, 0]  # a ##b c, [UNK] b
    for one in found[:2]:
        np.testing.assert_allclose(np.linalg.norm(one, axis=1), 1, atol=1e-5)


def test_a_text_that_is_too_long_is_cut_and_counted(encoder: str) -> None:
    long = "a " * 100
    found = measure([long, "a b"], [f'bertscore(model="{encoder}")'], references=[["a"], ["b"]])
    assert any("1 of 4 texts are longer than" in note for note in found.notes)


def test_each_distinct_text_is_encoded_once_for_all_measures(encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[list[str]] = []
    real = encode.token_vectors

    def counted(texts: Sequence[str], *others: object) -> object:
        encoded.append(list(texts))
        return real(texts, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(encode, "token_vectors", counted)
    names = [f'{name}(model="{encoder}")' for name in ("bertscore", "mover")]
    measure(["tea", "tea", "bread"], [*names, f'bertscore(model="{encoder}",value=recall)'], references=[["tea"]] * 3)
    assert encoded == [["tea", "bread"]]
