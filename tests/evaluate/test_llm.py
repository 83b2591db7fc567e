"""An LLM that names the best CNs of the pool: what it is asked, and what becomes of everything it may answer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from models.served import KEY, Reply, Served, message, ranked, said

from evaluate.searches import CN, CN_IDS, HS, HS_IDS, SEARCH, ids
from fcpair.errors import InputError, ServiceError
from fcpair.evaluate.catalogue import parse_system
from fcpair.evaluate.services import Llm
from fcpair.evaluate.systems import Cost, Ranking, Search

LLM = Llm("tiny", n=3)
ONE = Search(HS[:1], CN, HS_IDS[:1], CN_IDS)
FINE = ranked(104, 102, 101)


def rank_one(served: Served, *replies: Reply) -> Ranking:
    served.script = list(replies)
    return LLM.rank(ONE)


# -- what it is asked


def test_it_is_asked_once_for_each_hs_in_the_same_way_about_every_cn_with_its_id(served: Served) -> None:
    served.then = lambda _: FINE
    LLM.rank(SEARCH)
    assert [message(asked) for asked in served.asked] == list(HS)
    for asked in served.asked:
        body = asked.body
        assert asked.path == "/v1/chat/completions"
        assert {key: body[key] for key in body if key != "messages"} == {"model": "tiny", "temperature": 0, "seed": 0}
        system, user = body["messages"]
        assert (system["role"], user["role"]) == ("system", "user")
        assert "Name the 3 best of the 6 replies" in system["content"]
        assert [json.loads(line) for line in user["content"].split("\n")[1:]] == [
            {"id": cn_id, "text": text} for cn_id, text in zip(CN_IDS, CN, strict=True)
        ]


def test_of_a_small_pool_it_is_asked_for_all(served: Served) -> None:
    served.script = [ranked(*CN_IDS)]
    assert Llm("tiny").rank(ONE).order.tolist() == [[0, 1, 2, 3, 4, 5]]
    assert "Name the 6 best of the 6 replies" in served.asked[0].body["messages"][0]["content"]


# -- what it answers


def test_it_ranks_what_it_names(served: Served) -> None:
    served.script = [FINE, ranked(101, 102, 103), ranked(106, 101, 105)]
    found = LLM.rank(SEARCH)
    assert ids(found) == [[104, 102, 101], [101, 102, 103], [106, 101, 105]]
    assert found.scores.tolist() == [[-1, -2, -3]] * 3
    assert found.notes == ()
    assert found.model == {"name": "tiny", "source": "service", "reported": "tiny-2"}


@pytest.mark.parametrize(
    "content",
    [
        '```json\n{"ranking": [104, 102, 101]}\n```',
        '  ```\n{"ranking": [104,\n 102, 101]}```\n',
        '{"ranking": ["104", " 102 ", 101]}',
        '\n{"reason": "they are kind", "ranking": [104, 102, 101]} ',
    ],
)
def test_a_fence_and_ids_as_strings_are_read(served: Served, content: str) -> None:
    assert ids(rank_one(served, said(content))) == [[104, 102, 101]]


@pytest.mark.parametrize("other", [999, -1, 0, "CN 4", None, 104.0, True, [104], {"id": 104}, "9" * 5000, "", "١٠٤"])
def test_what_is_not_in_the_pool_keeps_its_rank_as_nothing(served: Served, other: Any) -> None:
    found = rank_one(served, ranked(102, other, 101))
    assert ids(found) == [[102, 0, 101]]
    shown = json.dumps(other, ensure_ascii=False)[:40]
    wrong = "each keeps its rank and counts as wrong"
    assert found.notes == (f"named ids that are not in the pool: 1 of 3 (HS 3: {shown}); {wrong}",)


@pytest.mark.parametrize(
    ("named", "found", "note"),
    [
        (
            (102, "102", 101),
            [102, 0, 101],
            "ids that are named again for the same HS: 1 of 3 (HS 3: 102); each keeps its rank and counts as wrong",
        ),
        (
            (104, 102, 101, 103, 999),
            [104, 102, 101],
            "answers that name more than was asked for: 1 of 1 (HS 3: 2 more); ignored",
        ),
        ((104,), [104, 0, 0], "answers that name fewer than 3: 1 of 1 (HS 3: 1); the remaining ranks are empty"),
    ],
)
def test_what_is_named_again_too_much_or_too_little_is_told(
    served: Served, named: tuple[object, ...], found: list[int], note: str
) -> None:
    ranking = rank_one(served, ranked(*named))
    assert (ids(ranking), ranking.notes) == ([found], (note,))


def test_all_that_is_wrong_is_counted_over_all_hs(served: Served) -> None:
    served.script = [ranked(999, 101, "x"), FINE, ranked(101, 101, 998)]
    notes = LLM.rank(SEARCH).notes
    assert [note.split(";")[0] for note in notes] == [
        'named ids that are not in the pool: 3 of 9 (HS 3: 999, "x"',
        "ids that are named again for the same HS: 1 of 9 (HS 14: 101)",
    ]


def test_a_note_names_no_more_than_five_hs(served: Served) -> None:
    served.then = lambda _: ranked(101, 102, 999)
    many = Search(tuple(f"message {n}" for n in range(7)), CN, tuple(range(1, 8)), CN_IDS)
    (note,) = LLM.rank(many).notes
    assert "7 of 21 (HS 1: 999; HS 2: 999; HS 3: 999; HS 4: 999; HS 5: 999; ...)" in note


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (ranked(), "it named nothing"),
        (ranked(999, 998), "it named none of the ids that it was given"),
        (ranked(999, 998, 997, 101), "it named none of the ids"),
        (said("I cannot help with that."), "its message is not"),
        (said('{"ranking": [104, 10'), "its message is not"),
        (said('The best: {"ranking": [104]}'), "its message is not"),
        (said("[104, 102, 101]"), "its message is not"),
        (said('{"ranking": 104}'), "its message is not"),
        (said('{"ids": [104]}'), "its message is not"),
        (said("[" * 100_000), "its message is not"),
        (said(" "), "a message without content"),
        (Reply(b'{"choices": [{"message": {"content": null}}]}'), "a message without content"),
        (Reply(b'{"choices": []}'), "without the content of a message"),
        (Reply(b'{"error": {"message": "overloaded"}}'), "without the content of a message: .*overloaded"),
        (Reply(b'"text"'), "without the content of a message"),
        (Reply(b"<html>"), "HTML"),
        (Reply(b""), "with nothing"),
    ],
)
def test_an_answer_that_names_nothing_of_the_pool_is_asked_again_and_given_up(
    served: Served, answers: Path, reply: Reply, problem: str
) -> None:
    served.then = lambda _: reply
    with pytest.raises(ServiceError, match=f"for HS 3 .*Night owls.*asked 4 times.*{problem}"):
        LLM.rank(ONE)
    assert len(served.asked) == 4
    assert not list(answers.glob("*/*"))


def test_what_is_broken_once_is_asked_again_and_not_kept(served: Served, answers: Path) -> None:
    assert ids(rank_one(served, ranked(999), FINE)) == [[104, 102, 101]]
    assert len(served.asked) == 2
    (file,) = answers.glob("*/*.json")
    assert json.loads(file.read_text())["answer"] == '{"ranking": [104, 102, 101]}'


# -- the cache


def test_a_run_is_repeated_without_the_service(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    served.script = [FINE, ranked(999, 103), ranked(106, 106, 105, 104)]
    first = LLM.rank(SEARCH)
    served.stop()
    monkeypatch.delenv("OPENAI_BASE_URL")
    again = LLM.rank(SEARCH)
    assert again.order.tolist() == first.order.tolist()
    assert (again.notes, again.model) == (first.notes, first.model)
    assert len(first.notes) == 4


def test_only_what_was_not_answered_is_asked_and_told(served: Served) -> None:
    served.then = lambda _: FINE
    LLM.rank(ONE)
    told: list[tuple[int, int]] = []
    LLM.rank(replace(SEARCH, progress=lambda done, total: told.append((done, total))))
    assert [message(asked) for asked in served.asked] == list(HS)
    assert told == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("llm", "search"),
    [
        (Llm("other", n=3), ONE),
        (Llm("tiny", n=2), ONE),
        (LLM, replace(ONE, cn=(*CN[:-1], "another reply"))),
        (LLM, replace(ONE, cn_ids=(*CN_IDS[:-1], 107))),
        (LLM, replace(ONE, hs=("Night owls are lazy!",))),
    ],
)
def test_another_question_is_asked_anew(served: Served, llm: Llm, search: Search) -> None:
    served.then = lambda _: FINE
    LLM.rank(ONE)
    llm.rank(search)
    assert len(served.asked) == 2


def test_the_key_is_in_no_kept_answer(served: Served, answers: Path) -> None:
    found = rank_one(served, ranked(104, KEY, 101))
    (file,) = answers.glob("*/*.json")
    assert KEY not in file.read_text()
    assert KEY not in found.notes[0]


# -- what it costs


def test_what_it_costs_before_in_between_and_after(served: Served) -> None:
    search, ones = SEARCH, [replace(SEARCH, hs=(hs,), hs_ids=(1,)) for hs in HS]
    before = LLM.cost(search)
    assert served.asked == []
    served.then = lambda _: FINE
    LLM.rank(ONE)
    between = LLM.cost(search)
    assert (between.requests, between.cached) == (3, 1)
    assert 0 < between.tokens < LLM.cost(replace(search, cn_ids=tuple(range(6)))).tokens
    LLM.rank(search)
    sent = [sum(len(part["content"]) for part in asked.body["messages"]) for asked in served.asked]
    assert before == Cost(3, 0, -(-sum(sent) // 4))
    assert LLM.cost(search) == Cost(3, 3, 0)
    assert [LLM.cost(one) for one in ones] == [Cost(1, 1, 0)] * 3


# -- its name


@pytest.mark.parametrize("name", ["llm:tiny(n=10)", "llm:llama3.2:3b(n=5)", "llm:org/model(n=10)", "embed:tiny"])
def test_a_name_is_read_back(name: str) -> None:
    assert str(parse_system(name)) == name


def test_it_is_asked_for_one_at_least() -> None:
    with pytest.raises(InputError, match="n is 0"):
        Llm("tiny", n=0)
