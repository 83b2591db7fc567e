"""Reranking the top of another system: by an LLM, by a cross-encoder, and one on top of the other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st
from models.served import Served, given, ranked
from models.tiny_cross import save_tiny

from evaluate.searches import CN, HS, HS_IDS, SEARCH, ids
from fcpair.errors import InputError
from fcpair.evaluate import services
from fcpair.evaluate.catalogue import parse_system
from fcpair.evaluate.services import Cross, Llm, Rerank
from fcpair.evaluate.systems import Bm25, Cost, Random, Ranking, Sbert, Search, System, Tfidf
from fcpair.models.model_files import Model
from fcpair.models.service import Reply

pytestmark = pytest.mark.torch

ONE = replace(SEARCH, hs=HS[:1], hs_ids=HS_IDS[:1])
BY = Llm("tiny")


@dataclass(frozen=True)
class Fixed(System):
    """The same row of positions for each HS."""

    word: ClassVar[str] = "fixed"
    row: tuple[int, ...] = (5, 4, 3, 2, 1, 0)
    notes: tuple[str, ...] = ()
    model: Any = field(default=None, hash=False)

    def rank(self, search: Search) -> Ranking:
        order = np.array([self.row] * len(search.hs))
        return Ranking(order, -np.arange(order.size, dtype=float).reshape(order.shape), self.notes, self.model)


# -- by an LLM


def test_it_is_given_the_top_in_the_order_of_the_first_and_asked_for_all(served: Served) -> None:
    served.script = [ranked(104, 105, 106)]
    Rerank(Fixed(), 3, by=BY).rank(ONE)
    assert given(served.asked[0]) == [106, 105, 104]
    assert "Name the 3 best of the 3 replies" in served.asked[0].body["messages"][0]["content"]


def test_more_than_ten_are_ordered(served: Served) -> None:
    cn_ids = tuple(range(1, 31))
    search = Search(HS[:1], tuple(map(str, cn_ids)), (1,), cn_ids)
    served.then = lambda asked: ranked(*reversed(given(asked)))
    found = Rerank(Fixed(tuple(range(30))), by=BY).rank(search)
    assert found.order.tolist() == [[*range(24, -1, -1), *range(25, 30)]]
    assert found.notes == ()


def test_what_it_names_comes_first_and_then_the_rest_of_the_first(served: Served) -> None:
    served.script = [ranked(104, 106, 105), ranked(105, 104, 106)]
    found = Rerank(Fixed(), 3, by=BY).rank(replace(SEARCH, hs=HS[:2], hs_ids=HS_IDS[:2]))
    assert ids(found) == [[104, 106, 105, 103, 102, 101], [105, 104, 106, 103, 102, 101]]
    assert found.scores.tolist() == [[-1, -2, -3, -4, -5, -6]] * 2
    assert found.notes == ()


def test_what_it_does_not_name_follows_in_the_order_of_the_first(served: Served) -> None:
    served.script = [ranked(104)]
    found = Rerank(Fixed(), 4, by=BY).rank(ONE)
    assert ids(found) == [[104, 106, 105, 103, 102, 101]]
    follow = "they follow in the order of the first system"
    assert found.notes == (f"CNs given to the LLM that it did not name: 3 of 4 (HS 3: 3); {follow}",)


def test_an_id_that_it_was_not_given_keeps_its_rank_as_nothing_though_the_pool_has_it(served: Served) -> None:
    served.script = [ranked(101, 104, 105)]
    found = Rerank(Fixed(), 3, by=BY).rank(ONE)
    assert ids(found) == [[0, 104, 105, 106, 103, 102, 101]]
    assert found.notes[0].startswith("named ids that are not among those given to the LLM: 1 of 3 (HS 3: 101);")
    served.script = [ranked(104, 104, 105)]  # nor does one that is named again
    assert ids(Rerank(Fixed(), 3, by=Llm("other")).rank(ONE)) == [[104, 0, 105, 106, 103, 102, 101]]


def test_rows_of_different_lengths_end_in_nothing(served: Served) -> None:
    served.script = [ranked(999, 105), ranked(105, 106)]
    found = Rerank(Fixed(), 2, by=BY).rank(replace(SEARCH, hs=HS[:2], hs_ids=HS_IDS[:2]))
    assert ids(found) == [[0, 105, 106, 104, 103, 102, 101], [105, 106, 104, 103, 102, 101, 0]]


def test_nothing_in_the_top_of_the_first_comes_behind_its_cns(served: Served) -> None:
    served.script = [ranked(104, 106)]
    found = Rerank(Fixed((-1, 5, 3, 2, -1, 0)), 3, by=BY).rank(ONE)
    assert given(served.asked[0]) == [106, 104]
    assert ids(found) == [[104, 106, 0, 103, 0, 101]]


def test_an_hs_for_which_the_first_has_nothing_is_not_asked_about(served: Served) -> None:
    system = Rerank(Fixed((-1, -1)), by=BY)
    assert system.cost(ONE) == Cost()
    assert system.rank(ONE).order.tolist() == [[-1, -1]]
    assert served.asked == []


def test_what_is_known_of_the_first_is_carried_over(served: Served) -> None:
    served.script = [ranked(104, 106, 105)]
    first = Fixed(notes=("a word of warning",), model={"name": "small", "sha256": "ab"})
    found = Rerank(first, 3, by=BY).rank(ONE)
    assert found.notes == ("first: a word of warning",)
    expected = {"name": "tiny", "source": "service", "reported": "tiny-2", "first.name": "small", "first.sha256": "ab"}
    assert found.model == expected


def test_it_reranks_what_another_reranked(served: Served) -> None:
    served.then = lambda asked: ranked(*reversed(given(asked)))
    inner = Rerank(Fixed(), 4, by=BY)
    assert ids(Rerank(inner, 2, by=Llm("other")).rank(ONE)) == [[104, 103, 105, 106, 102, 101]]


@for_all(
    row=st.permutations(range(6)),
    top=st.integers(1, 8),
    others=st.lists(st.integers(99, 108), max_size=9),
    at=st.integers(0, 7),
)
def test_each_cn_of_the_pool_has_one_rank_whatever_is_named(
    row: list[int], top: int, others: list[int], at: int
) -> None:
    """Nothing is lost and nothing stands twice; without a wrong id it is an order of the pool."""
    shown = [SEARCH.cn_ids[position] for position in row[:top]]
    at = min(at, len(shown) - 1)
    named = [*others[:at], shown[0], *others[at:]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(services, "read_cached", lambda _, read: read(Reply(f'{{"ranking": {named}}}', "tiny-2")))
        found = Rerank(Fixed(tuple(row)), top, by=BY).rank(ONE).order[0].tolist()
    counted = named[: len(shown)]
    n_wrong = len(counted) - len(set(shown) & set(counted))
    assert sorted(position for position in found if position >= 0) == list(range(6))
    assert found.count(-1) == n_wrong
    assert len(found) == 6 + n_wrong


# -- what it costs


def test_what_it_costs_before_and_after(served: Served) -> None:
    system = Rerank(Fixed(), 3, by=BY)
    before = system.cost(SEARCH)
    assert served.asked == []
    served.then = lambda asked: ranked(*given(asked))
    system.rank(SEARCH)
    sent = [sum(len(part["content"]) for part in asked.body["messages"]) for asked in served.asked]
    assert before == Cost(3, 0, -(-sum(sent) // 4))
    assert system.cost(SEARCH) == Cost(3, 3, 0)


def test_the_first_cns_of_the_pool_stand_in_for_a_top_that_has_to_be_asked_for(served: Served) -> None:
    first = Llm("other", n=3)
    in_order = Fixed(tuple(range(6)))
    assert Rerank(first, 3, by=BY).cost(SEARCH) == first.cost(SEARCH) + Rerank(in_order, 3, by=BY).cost(SEARCH)
    assert served.asked == []
    served.then = lambda asked: ranked(*given(asked))
    Rerank(in_order, 3, by=BY).rank(SEARCH)
    assert Rerank(first, 3, by=BY).cost(SEARCH).cached == 0  # nor are they taken for answered


def test_the_real_top_counts_once_the_first_is_answered(served: Served) -> None:
    served.then = lambda _: ranked(106, 105, 104)
    first = Llm("other", n=3)
    first.rank(SEARCH)
    assert Rerank(first, 3, by=BY).cost(SEARCH) == Cost(3, 3, 0) + Rerank(Fixed(), 3, by=BY).cost(SEARCH)


# -- by a cross-encoder


@pytest.fixture
def by_letter(monkeypatch: pytest.MonkeyPatch) -> list[list[tuple[str, str]]]:
    """Stands in for the cross-encoder: `reply a` and `reply b` 0.9, `reply c` and `reply d` 0.8, and so on."""
    asked: list[list[tuple[str, str]]] = []

    def score(pairs: list[tuple[str, str]], _model: Model, _progress: object) -> Any:
        asked.append(pairs)
        return np.array([0.9 - (ord(cn[-1]) - ord("a")) // 2 / 10 for _, cn in pairs])

    monkeypatch.setattr(services, "score_pairs", score)
    monkeypatch.setattr(services, "resolve", lambda name, owner: Model(f"{owner}/{name}", "", "test", "ab", "cd"))
    return asked


def test_the_top_is_ordered_by_score_and_ties_by_candidate_order(by_letter: list[list[tuple[str, str]]]) -> None:
    found = Cross("tiny", Fixed(), 4).rank(ONE)
    assert ids(found) == [[103, 104, 105, 106, 102, 101]]
    assert found.scores.tolist() == [[-1, -2, -3, -4, -5, -6]]
    assert by_letter == [[(HS[0], cn) for cn in CN[2:]]]


@pytest.mark.usefixtures("by_letter")
def test_nothing_comes_behind_the_scored_cns() -> None:
    first = Fixed((5, -1, 0, 2, -1), notes=("a word",), model={"name": "small"})
    found = Cross("tiny", first, 3).rank(ONE)
    assert ids(found) == [[101, 106, 0, 103, 0]]
    assert found.notes == ("first: a word",)
    assert found.model is not None
    kept = {"name": "cross-encoder/tiny", "source": "test", "sha256": "ab", "config": "cd", "first.name": "small"}
    assert found.model.items() >= kept.items()


@pytest.mark.usefixtures("by_letter")
def test_every_hs_has_its_own_scores() -> None:
    found = Cross("tiny", Random(1), 2).rank(SEARCH)
    first = Random(1).rank(SEARCH)
    np.testing.assert_array_equal(found.order[:, :2], np.sort(first.order[:, :2], axis=1))
    np.testing.assert_array_equal(found.order[:, 2:], first.order[:, 2:])


@pytest.mark.usefixtures("by_letter")
def test_it_scores_what_an_llm_reranked_and_costs_what_that_costs(served: Served) -> None:
    inner = Rerank(Fixed(), 3, by=BY)
    system = Cross("tiny", inner, 2)
    assert system.cost(ONE) == inner.cost(ONE) == replace(system.cost(ONE), requests=1, cached=0)
    served.script = [ranked(105, 104, 106)]
    assert ids(system.rank(ONE)) == [[104, 105, 106, 103, 102, 101]]


@pytest.mark.slow
@pytest.mark.usefixtures("answers")
def test_a_real_cross_encoder_orders_the_top_as_its_predictions_do(tmp_path: Path) -> None:
    from sentence_transformers import CrossEncoder

    model = save_tiny(tmp_path / "tiny")
    found = Cross(model.folder, Fixed(), 5).rank(SEARCH)
    for row, hs in enumerate(HS):
        predicted = CrossEncoder(model.folder).predict([(hs, cn) for cn in CN[1:]], show_progress_bar=False)
        assert found.order[row].tolist() == [*(1 + np.argsort(-predicted, kind="stable")), 0]
    assert found.model == model.record()


# -- names


@pytest.mark.parametrize(
    ("system", "name"),
    [
        (Rerank(Tfidf(), by=Llm("gpt-x")), "rerank(first=tfidf(fit=pool),top=25,by=llm:gpt-x(n=10))"),
        (Cross("some/model"), "cross:some/model(first=sbert:all-MiniLM-L6-v2,top=25)"),
        (
            Cross("m", Rerank(Random(), 10, by=Llm("x")), 5),
            "cross:m(first=rerank(first=random(seed=0),top=10,by=llm:x(n=10)),top=5)",
        ),
    ],
)
def test_a_name_is_read_back(system: System, name: str) -> None:
    assert str(system) == name
    assert parse_system(name) == system
    assert Rerank(Bm25(), by=Llm("x")).short_name == "rerank(first=bm25,by=llm:x)"  # which has what differs


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("rerank(first=tfidf,by=sbert:x)", r"by is sbert:x; expected llm:MODEL, or write cross:NAME\(first"),
        ("rerank(first=tfidf,by=cross:x)", "expected llm:MODEL"),
        ("rerank(first=tfidf,by=llm:x(n=5))", "by has n=5; leave it out"),
        ("rerank(first=tfidf,by=llm:x,top=0)", "top is 0"),
        ("cross:x(top=-1)", "top is -1"),
        ("rerank(first=tfidf)", r"expected rerank\(by="),
        ("rerank(by=llm:x)", r"expected rerank\(first="),
    ],
)
def test_what_cannot_be_reranked_says_why(name: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_system(name)


def test_the_first_of_a_cross_encoder_is_the_default_encoder() -> None:
    assert Cross("x").first == Sbert("all-MiniLM-L6-v2")


def test_texts_that_encoders_cut_are_counted_of_all_systems_of_a_chain(tmp_path: Path) -> None:
    """The sentence encoder reads 256 tokens, the cross-encoder 64: it sees no pair with the longer text whole."""
    search = Search(("tea",), ("milk " * 100, "milk " * 300, "no"), (1,), (101, 102, 103))
    cross = Cross(save_tiny(tmp_path / "tiny").name, first=Sbert("all-MiniLM-L6-v2"))
    ranking = cross.rank(search)
    assert ranking.n_cut == 1 + 2
    assert [note.split(" are longer")[0] for note in ranking.notes] == ["first: 1 of 4 texts", "2 of 3 pairs of texts"]
