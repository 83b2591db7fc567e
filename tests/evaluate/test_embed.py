"""Embeddings of a service: the cosine of what it gives, one vector a text, nothing broken taken for a vector."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from models.served import KEY, Asked, Reply, Served, embedded

from evaluate.searches import CN, HS, SEARCH
from fcpair.errors import ServiceError
from fcpair.evaluate import services
from fcpair.evaluate.services import Embed
from fcpair.evaluate.systems import Cost, Search

EMBED = Embed("tiny")
SMALL = Search(("one",), ("two", "three"), (1,), (101, 102))


def vector(text: str) -> list[float]:
    """A vector that hangs on the text alone, and is not of length one."""
    return [*map(float, np.random.default_rng(sum(text.encode())).normal(size=5))]


def each(asked: Asked) -> Reply:
    return embedded(*map(vector, asked.body["input"]))


def error(served: Served, reply: Reply, search: Search = SMALL) -> str:
    served.then = lambda _: reply
    with pytest.raises(ServiceError) as caught:
        EMBED.rank(search)
    return str(caught.value)


def test_the_order_is_that_of_the_cosines_and_the_model_that_the_service_reported_is_kept(served: Served) -> None:
    served.then = each
    found = EMBED.rank(SEARCH)
    hs, cn = (np.array([vector(text) for text in texts]) for texts in (HS, CN))
    cosine = hs @ cn.T / np.linalg.norm(hs, axis=1)[:, None] / np.linalg.norm(cn, axis=1)
    np.testing.assert_array_equal(found.order, np.argsort(-cosine, axis=1))
    np.testing.assert_allclose(found.scores, -np.sort(-cosine, axis=1), atol=2e-6)
    assert found.model == {"name": "tiny", "source": "service", "reported": "tiny-2"}


def test_vectors_of_any_size_have_a_cosine(served: Served) -> None:
    served.script = [embedded([1e299, 1e299], [1e-300, 0], [0, 2])]
    assert EMBED.rank(SMALL).scores.tolist() == [[0.707107, 0.707107]]


def test_each_distinct_text_is_sent_once_64_at_a_time(served: Served) -> None:
    served.then = each
    told: list[tuple[int, int]] = []
    cn = ("one", *(f"reply {n}" for n in range(129)), "reply 7")
    EMBED.rank(Search(("one",), cn, (1,), tuple(range(131)), lambda done, total: told.append((done, total))))
    assert [len(asked.body["input"]) for asked in served.asked] == [64, 64, 2]
    assert served.asked[2].body == {"model": "tiny", "input": ["reply 127", "reply 128"]}
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.usefixtures("answers")
def test_vectors_are_taken_by_their_index_or_where_there_is_none_by_their_order(served: Served) -> None:
    vectors = {0: [1, 0], 1: [0, 1], 2: [1, 1]}
    data: list[dict[str, object]] = [{"index": at, "embedding": vectors[at]} for at in (2, 0, 1)]
    served.script = [Reply(json.dumps({"data": data}).encode())]
    assert EMBED.rank(SMALL).scores.tolist() == [[0.707107, 0]]
    data = [{"embedding": vector} for vector in vectors.values()]
    served.script = [Reply(json.dumps({"data": data}).encode())]
    assert Embed("other").rank(SMALL).order.tolist() == [[1, 0]]


# -- what is broken


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (embedded([1, 0], [1, 0]), "2 vectors for 3 texts"),
        (embedded(), "0 vectors for 3 texts"),
        (embedded([1, 0], [1, 0], [1]), r"differ in dimension \(1, 2\)"),
        (embedded([1, 0], [1, 0], [0, 0]), "a vector of zeros"),
        (embedded([1, 0], [1, 0], [1, float("nan")]), "`NaN` is not JSON"),
        (embedded([1, 0], [1, 0], [1, float("inf")]), "`Infinity` is not JSON"),
        (embedded([1, 0], [1, 0], [1, 10**400]), "not finite"),
        (embedded([1, 0], [1, 0], []), "not a list of numbers"),
        (embedded([1, 0], [1, 0], [1, "0"]), "not a list of numbers"),
        (embedded([1, 0], [1, 0], [1, True]), "not a list of numbers"),
        (embedded([1, 0], [1, 0], None), "not a list of numbers"),
        (Reply(b'{"data": [1, 2, 3]}'), "without a list `data`"),
        (Reply(b'{"data": {"embedding": [1]}}'), "without a list `data`"),
        (Reply(b'{"error": {"message": "no such model"}}'), "without a list `data` of vectors: .*no such model"),
        (Reply(b"[]"), "without a list `data`"),
        (Reply(json.dumps({"data": [{"index": 1, "embedding": [1]}] * 3}).encode()), "an `index` that is not one"),
        (Reply(json.dumps({"data": [{"index": "0", "embedding": [1]}] * 3}).encode()), "`index` that is not one"),
        (Reply(b"<html>"), "HTML"),
    ],
)
def test_an_answer_without_a_vector_for_each_text_is_asked_again_and_given_up(
    served: Served, answers: Path, reply: Reply, found: str
) -> None:
    served.then = lambda _: reply
    with pytest.raises(ServiceError, match=found):
        EMBED.rank(SMALL)
    assert len(served.asked) == 4
    assert not list(answers.glob("*/*"))


def test_an_error_says_how_many_texts_were_sent_and_the_first(served: Served) -> None:
    assert 'embeddings of the model `tiny`, for 3 texts ("one"): asked 4 times' in error(served, Reply(b""))


def test_a_batch_of_another_dimension_than_those_before_is_broken(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "TEXTS_A_REQUEST", 2)
    served.script = [embedded([1, 0], [0, 1])]
    assert "differ in dimension (2, 3)" in error(served, embedded([1, 0, 0]))


# -- the cache


def test_a_run_is_repeated_without_the_service(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    served.then = each
    first = EMBED.rank(SEARCH)
    served.stop()
    monkeypatch.delenv("OPENAI_BASE_URL")
    again = EMBED.rank(SEARCH)
    np.testing.assert_array_equal(again.order, first.order)
    np.testing.assert_array_equal(again.scores, first.scores)
    assert again.model == first.model


def test_only_a_new_text_is_asked_for(served: Served) -> None:
    served.then = each
    EMBED.rank(SEARCH)
    EMBED.rank(replace(SEARCH, cn=(*CN, "reply g"), cn_ids=(*SEARCH.cn_ids, 107)))
    assert [asked.body["input"] for asked in served.asked] == [[*HS, *CN], ["reply g"]]


def test_a_second_run_asks_for_what_the_first_did_not_reach(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "TEXTS_A_REQUEST", 2)
    served.script = [embedded([1, 0], [0, 1])]
    error(served, Reply(b"down", 401))
    served.then = lambda _: embedded([1, 1])
    assert EMBED.rank(SMALL).order.tolist() == [[1, 0]]
    assert served.asked[-1].body["input"] == ["three"]


def test_kept_vectors_of_two_models_of_one_name_are_not_mixed(served: Served) -> None:
    served.script = [embedded([1, 0], [0, 1], [1, 1])]
    EMBED.rank(SMALL)
    kept = EMBED._prompts(SMALL)["two"].path
    kept.write_text(kept.read_text().replace("0,\n  1", "0,\n  1,\n  5"))
    served.script = [embedded([1, 0, 0], [0, 1, 0], [1, 1, 1])]
    assert EMBED.rank(SMALL).scores.tolist() == [[0.57735, 0]]
    assert len(served.asked) == 2


def test_the_key_is_in_no_kept_answer(served: Served, answers: Path) -> None:
    served.script = [
        Reply(each(Asked("", {}, {"input": ["one", "two", "three"]})).body.replace(b"tiny-2", KEY.encode()))
    ]
    found = EMBED.rank(SMALL)
    files = [path.read_text() for path in answers.rglob("*.json")]
    assert len(files) == 3
    assert KEY not in "".join(files)
    assert found.model == {"name": "tiny", "source": "service", "reported": "[key]"}


# -- what it costs


def test_what_it_costs_before_and_after(served: Served) -> None:
    """Nine texts: 20 + 21 + 22 characters, and six of 7: 105, a quarter of which is 26.25."""
    assert EMBED.cost(SEARCH) == Cost(1, 0, 27)
    assert served.asked == []
    served.then = each
    EMBED.rank(SEARCH)
    assert EMBED.cost(SEARCH) == Cost(1, 1, 0)


def test_what_the_rest_of_many_texts_costs(served: Served) -> None:
    """194 texts are four requests; three of them are still to be made for the 129 that are new."""
    served.then = each
    known = Search(("one",), tuple(f"{n:03}" for n in range(64)), (1,), tuple(range(64)))
    EMBED.rank(known)
    more = Search(("one",), tuple(f"{n:03}" for n in range(193)), (1,), tuple(range(193)))
    assert EMBED.cost(more) == Cost(4, 1, 97)
