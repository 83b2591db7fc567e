"""The systems that need nothing but texts, against scikit-learn, plain Python and the model itself."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from fcpair.errors import InputError, ModelError
from fcpair.evaluate.systems import Bm25, Cost, Random, Ranking, Sbert, Search, System, Tfidf
from fcpair.stages.answers.simulate import draw_truths
from fcpair.stages.questions.labels import APPROPRIATENESS

pytestmark = pytest.mark.torch

Scores = NDArray[np.float64]
HS = ("People who put pineapple on pizza cannot be trusted.", "Cats are lazy, and they LAUGH at us", "zzz qqq")
CN = (
    "If fruit on pizza were a crime, the tomato would be arrested first.",
    "Cats sleep; people who laugh live longer!",
    "pizza pizza pizza",
    "A cat is not lazy: cats wait",
    "The tomato is a fruit, and people put it on pizza",
    "no word in common",
)
SYSTEMS = [Random(), Tfidf(), Tfidf("pool+hs"), Bm25(), Bm25(tokens="space", lower=False), Sbert("all-MiniLM-L6-v2")]


def search(hs: tuple[str, ...] = HS, cn: tuple[str, ...] = CN) -> Search:
    return Search(hs, cn, tuple(range(1, len(hs) + 1)), tuple(range(101, len(cn) + 101)))


def by_cn(ranking: Ranking) -> Scores:
    """The scores in the order of the pool."""
    scores = np.empty_like(ranking.scores)
    np.put_along_axis(scores, ranking.order, ranking.scores, axis=1)
    return scores


def written(path: Path, texts: list[str], column: str = "cn") -> Path:
    pd.DataFrame({column: texts, "note": "x"}).to_csv(path, index=False)
    return path


# -- what holds for all of them


@pytest.mark.parametrize("system", SYSTEMS, ids=str)
def test_every_cn_has_a_rank_scores_of_six_decimals_never_rise_and_nothing_hangs_on_other_hs_or_a_service(
    system: System,
) -> None:
    ranking = system.rank(search())
    assert np.sort(ranking.order, axis=1).tolist() == [list(range(len(CN)))] * len(HS)
    assert (np.diff(ranking.scores, axis=1) <= 0).all()
    assert system == Random() or ranking.scores.tolist() == np.round(ranking.scores, 6).tolist()
    if system not in {Random(), Tfidf("pool+hs")}:
        assert system.rank(search(HS[1:2])).order.tolist() == ranking.order[1:2].tolist()
    assert system.cost(search()) == Cost(0, 0, 0)


@pytest.mark.parametrize("system", SYSTEMS[1:], ids=str)
def test_ties_are_broken_by_candidate_order(system: System) -> None:
    """Each CN stands three times in the pool, and scores the same each time."""
    ranking = system.rank(search(HS[:2], CN * 3))
    for order, scores in zip(ranking.order, ranking.scores, strict=True):
        expected = sorted(zip(-scores, order, strict=True))
        assert order.tolist() == [position for _, position in expected]
    assert by_cn(ranking) == pytest.approx(np.tile(by_cn(ranking)[:, : len(CN)], 3))


# -- random


def test_a_random_order_has_nothing_to_do_with_labels_simulated_from_the_same_seed() -> None:
    n_hs, n_cn = 40, 100
    positive = draw_truths(n_hs * n_cn, APPROPRIATENESS, 0.3, seed=13).reshape(n_hs, n_cn) == 2
    order = Random(seed=13).rank(search(("hs",) * n_hs, ("cn",) * n_cn)).order
    top = np.take_along_axis(positive, order[:, :50], axis=1)
    assert top.mean() == pytest.approx(positive.mean(), abs=0.04)  # 4 standard errors; one stream for both gives 0


def test_a_seed_gives_each_hs_an_order_of_its_own_whatever_other_hs_there_are() -> None:
    large = search(HS, CN * 10)
    once, again, other = (Random(seed).rank(large).order.tolist() for seed in (3, 3, 4))
    assert once == again != other
    assert len({tuple(order) for order in once}) == len(HS)
    both, alone = Search(HS[:2], CN, (7, 9), tuple(range(len(CN)))), Search(HS[1:2], CN, (9,), tuple(range(len(CN))))
    assert Random(3).rank(both).order[1].tolist() == Random(3).rank(alone).order[0].tolist()


def test_every_place_is_as_likely() -> None:
    """4,000 orders of four CNs: each CN is first in a quarter, within three standard errors."""
    hs = tuple(f"hs {at}" for at in range(4_000))
    first = Random(1).rank(search(hs, CN[:4])).order[:, 0]
    shares = np.bincount(first) / 4_000
    assert shares == pytest.approx([0.25] * 4, abs=3 * math.sqrt(0.25 * 0.75 / 4_000))


# -- tfidf


@pytest.mark.parametrize("system", [Tfidf(), Bm25(), Bm25(variant="bm25plus")])
def test_an_hs_that_shares_no_word_with_any_cn_is_told(system: System) -> None:
    ranked = system.rank(search(("tea kettle", "unheard of"), ("a kettle", "more tea")))
    assert ranked.notes == ("1 of 2 HS share no word with any CN: they are ranked in candidate order",)
    assert ranked.order[1].tolist() == [0, 1]
    assert system.rank(search(("tea kettle",), ("a kettle", "more tea"))).notes == ()


def cosines_by_scikit_learn(fitted_on: list[str]) -> Scores:
    vectorizer = TfidfVectorizer().fit(fitted_on)
    return np.asarray(cosine_similarity(vectorizer.transform(HS), vectorizer.transform(CN)))


@pytest.mark.parametrize(("fit", "texts"), [("pool", [*CN]), ("pool+hs", [*CN, *HS])])
def test_tfidf_is_the_cosine_of_scikit_learn(fit: str, texts: list[str]) -> None:
    assert fit in {"pool", "pool+hs"}
    system = Tfidf("pool") if fit == "pool" else Tfidf("pool+hs")
    assert by_cn(system.rank(search())) == pytest.approx(cosines_by_scikit_learn(texts), abs=6e-7)


def test_tfidf_of_a_file_counts_a_repeated_text_as_often_as_it_stands_there(tmp_path: Path) -> None:
    texts = [CN[0], CN[2], CN[2], CN[2], "people laugh"]
    found = by_cn(Tfidf(written(tmp_path / "corpus.csv", texts)).rank(search()))
    assert found == pytest.approx(cosines_by_scikit_learn(texts), abs=6e-7)
    assert found != pytest.approx(cosines_by_scikit_learn([CN[0], CN[2], "people laugh"]), abs=1e-3)


def test_tfidf_knows_no_word_that_the_file_lacks(tmp_path: Path) -> None:
    ranking = Tfidf(written(tmp_path / "corpus.csv", ["tomato"])).rank(search())
    assert ranking.scores[:2].max() == 0


@pytest.mark.parametrize("column", ["counterSpeech", "COUNTER_NARRATIVE"])
def test_the_file_may_be_a_corpus_as_it_was_published(tmp_path: Path, column: str) -> None:
    here, there = (written(tmp_path / f"{name}.csv", list(CN[:4]), name) for name in ("cn", column))
    assert by_cn(Tfidf(there).rank(search())).tolist() == by_cn(Tfidf(here).rank(search())).tolist()


def test_texts_without_a_word_of_two_letters_are_refused() -> None:
    with pytest.raises(InputError, match=r"tfidf\(fit=pool\): no text has a token"):
        Tfidf().rank(search(HS, ("a b", "!")))


# -- bm25


def bm25_by_loop(system: Bm25, corpus: list[str], hs: str, cn: str) -> float:
    """Lucene's BM25 of one CN, as Kamphuis et al. 2020 write it (with k1 + 1 left out, as it changes no order)."""

    def tokens(text: str) -> list[str]:
        text = text.lower() if system.lower else text
        return text.split() if system.tokens == "space" else re.findall(r"[\w]+", text)

    texts = [tokens(text) for text in corpus]
    mean_length = sum(len(text) for text in texts) / len(texts)
    document, score = tokens(cn), 0.0
    for token in tokens(hs):  # a token that stands twice in the HS counts twice
        n = sum(token in text for text in texts)
        idf = math.log(1 + (len(texts) - n + 0.5) / (n + 0.5))
        f, norm = document.count(token), 1 - system.b + system.b * len(document) / mean_length
        score += idf * f / (f + system.k1 * norm) if f else 0
    return score


def all_by_loop(system: Bm25, corpus: list[str]) -> Scores:
    return np.array([[bm25_by_loop(system, corpus, hs, cn) for cn in CN] for hs in HS])


@pytest.mark.parametrize(
    "system",
    [Bm25(tokens="space"), Bm25(lower=False), Bm25(tokens="space", lower=False)],
    ids=lambda one: one.short_name,
)
def test_bm25_takes_tokens_as_it_is_told(system: Bm25) -> None:
    found = by_cn(system.rank(search()))
    assert found == pytest.approx(all_by_loop(system, list(CN)), abs=6e-7)
    assert found != pytest.approx(by_cn(Bm25().rank(search())), abs=1e-3)


words = st.text("ab ,A", min_size=1, max_size=12).filter(lambda text: bool(re.search(r"\w", text)))


@given(
    st.lists(words, min_size=1, max_size=5),
    st.text("abc ,A", max_size=12),
    st.sampled_from([0, 0.9, 1.5]),
    st.sampled_from([0, 0.75, 1]),
)
def test_bm25_of_any_texts_is_that_of_a_loop(cn: list[str], hs: str, k1: float, b: float) -> None:
    system = Bm25(k1, b)
    expected = [bm25_by_loop(system, cn, hs, text) for text in cn]
    assert by_cn(system.rank(search((hs,), tuple(cn))))[0] == pytest.approx(expected, abs=6e-7)


def test_bm25_of_a_file_counts_repeated_texts_and_adds_those_of_the_pool_that_it_lacks(tmp_path: Path) -> None:
    there = [CN[0], CN[2], CN[2], f" {CN[4]} ", "people laugh", "people laugh"]
    system = Bm25(fit=written(tmp_path / "corpus.csv", there))
    corpus = [*there, CN[1], CN[3], CN[5]]
    assert by_cn(system.rank(search())) == pytest.approx(all_by_loop(system, corpus), abs=6e-7)


def test_a_cn_without_a_token_scores_0() -> None:
    assert by_cn(Bm25().rank(search(HS, (*CN, "...")))).T[-1].tolist() == [0] * len(HS)


def test_a_pool_without_tokens_is_refused() -> None:
    with pytest.raises(InputError, match=r"bm25\(.*\): no text has a token"):
        Bm25().rank(search(HS, ("...", "!")))


# -- sbert


def test_sbert_is_the_cosine_of_the_model_and_keeps_which_weights_it_used() -> None:
    from sentence_transformers import SentenceTransformer

    from fcpair.models.model_files import resolve

    resolved = resolve("all-MiniLM-L6-v2")
    model = SentenceTransformer(resolved.folder)
    vectors = model.encode([*HS, *CN], normalize_embeddings=True, show_progress_bar=False)
    expected = vectors[: len(HS)] @ vectors[len(HS) :].T
    found = Sbert("all-MiniLM-L6-v2").rank(search())
    assert by_cn(found) == pytest.approx(expected, abs=1e-4)
    assert set(found.order[0, :2]) <= {0, 2, 4}  # what an example text is about
    assert set(found.order[1, :2]) == {1, 3}
    assert found.model == resolved.record()


def test_a_model_that_cannot_be_had_is_named() -> None:
    with pytest.raises(ModelError, match="no-such-model"):
        Sbert("no-such-model").rank(search())


# -- refused


@pytest.mark.parametrize(
    ("make", "message"),
    [
        *(
            (lambda k1=k1: Bm25(k1=k1), f"k1 is {k1}; expected a number, 0 or more")
            for k1 in (-0.1, math.inf, math.nan)
        ),
        *((lambda b=b: Bm25(b=b), f"b is {b}; expected a number from 0 to 1") for b in (-0.1, 1.1, math.nan)),
        (lambda: Random(-1), "seed is -1; expected a whole number, 0 or more"),
    ],
)
def test_options_outside_of_their_range_are_refused(make: Callable[[], System], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize("cls", [Tfidf, Bm25])
def test_a_file_that_is_not_there_or_lacks_the_column_is_refused(cls: type[Tfidf | Bm25], tmp_path: Path) -> None:
    written(tmp_path / "corpus.csv", ["a"], "text")
    for name, message in (
        ("none.csv", r"none\.csv: there is no such file"),
        ("corpus.csv", "missing column `cn`; found text, note"),
    ):
        with pytest.raises(InputError, match=message):
            cls(fit=tmp_path / name).rank(search())
