"""Answering: what is dealt to whom, recorded, refused, skipped, changed, and never shown to others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from steps.small import NAMES, labels_of, open_work, who_had

from doors.door import House, at_each_door, done, sentence
from fcpair.params import Annotate
from fcpair.records import Role

MakeHouse = Callable[..., House]
OTHER = "ana has already answered pair {pair} differently; --supersede takes this as the newer answer"
REUSED = "this request id was used for something else; use a new one for each request"
NOT_CONSENTED = "please read what the study is about and agree to take part first"
ELSEWHERE = (
    "you have just {what} this pair in another window or on another device: that answer counts, and this one was not "
    "stored; press Undo to see it"
)
NOT_LOGGED_IN = "you are not logged in; open your invite link, or send your token as `Authorization: Bearer`"


def own_pairs(house: Any, name: str, *, alone: bool = False) -> list[int]:
    """The open pairs of somebody, those first that only they have, or `alone` these."""
    had = who_had(house.study)
    pairs = [pair for who, pair in open_work(house.study) if who == name]
    return [pair for pair in pairs if not alone or len(had[pair]) == 1]


@pytest.mark.server
@at_each_door("answer", stage="dealt")
def test_an_answer_is_stored_under_its_name_when_it_is_acknowledged(door: Any) -> None:
    pair = own_pairs(door, "ana")[0]
    done(door.answer("ana", pair, "not_sure", note="hm, نه", seconds=4.5))
    (row,) = door.study.grid().labels().to_dict("records")
    assert (row["seconds"], row["origin"]) == (4.5, "imported" if door.name == "command" else "online")
    assert (row["pair"], row["annotator"], row["label"], row["note"]) == (pair, "ana", "not_sure", "hm, نه")
    assert pair not in own_pairs(door, "ana")


@at_each_door("answer", stage="dealt")
def test_another_answer_supersedes_the_first_which_stays_on_record(door: Any) -> None:
    pair, again = own_pairs(door, "ana")[0], {"supersede": True} if door.name == "command" else {}
    done(door.answer("ana", pair, "appropriate"))
    if door.name == "command":
        door.house.refuse("answer", "ana", pair, "not_sure", message={"command": OTHER.format(pair=pair)})
    done(door.answer("ana", pair, "not_appropriate", **again))
    assert labels_of(door.study) == {(pair, "ana"): "not_appropriate"}
    assert [row["answer"] for row in door.study.grid().explain(pair).answers] == ["appropriate", "not_appropriate"]


@pytest.mark.server
@at_each_door("answer", stage="dealt")
def test_the_same_answer_again_is_stored_once(door: Any) -> None:
    pair = own_pairs(door, "ana")[0]
    sent = {} if door.name == "command" else {"request": "request-once"}
    first = done(door.answer("ana", pair, "appropriate", **sent))
    content = door.house.content()
    again = done(door.answer("ana", pair, "appropriate", **sent))
    if door.name != "command":
        assert again == first
        assert door.house.content() == content
        said = door.answer("ana", pair, "not_sure", **sent)
        assert (said.ok, said.message) == (False, REUSED)
        done(door.answer("ben", own_pairs(door, "ben")[0], "appropriate", **sent))  # request ids are each one's own
    assert len(door.study.grid().explain(pair).answers) == 1


@at_each_door("answer", stage="dealt")
def test_a_skipped_pair_goes_to_somebody_who_never_had_it(door: Any) -> None:
    pair = own_pairs(door, "ana", alone=True)[0]
    done(door.answer("ana", pair, "skip"))
    (heir,) = [who for who, number in open_work(door.study) if number == pair]
    assert heir in {"ben", "cleo"}
    done(door.answer(heir, pair, "skip"))
    (last,) = [who for who, number in open_work(door.study) if number == pair]
    assert last not in {"ana", heir}
    done(door.answer(last, pair, "skip"))
    assert pair not in {number for _, number in open_work(door.study)}  # nobody is left for it, and it waits
    assert door.study.status()["rounds"]["label"]["vacant"] == 1
    door.study.add_people(["dora"], Role.ANNOTATOR)
    assert ("dora", pair) in open_work(door.study)


@at_each_door("answer", stage="dealt")
def test_a_skip_that_becomes_an_answer_takes_the_pair_back(door: Any) -> None:
    pair, again = own_pairs(door, "ana", alone=True)[0], {"supersede": True} if door.name == "command" else {}
    done(door.answer("ana", pair, "skip"))
    assert pair in {number for _, number in open_work(door.study)}
    done(door.answer("ana", pair, "appropriate", **again))
    assert pair not in {number for _, number in open_work(door.study)}
    assert labels_of(door.study, pair) == {(pair, "ana"): "appropriate"}


@at_each_door("answer", "answers", stage="dealt")
def test_a_skip_stays_one_when_somebody_else_has_answered(door: Any) -> None:
    pair = own_pairs(door, "ana", alone=True)[0]
    done(door.answer("ana", pair, "skip"))
    (heir,) = [who for who, number in open_work(door.study) if number == pair]
    done(door.answer(heir, pair, "not_sure"))
    assert done(door.answers("ana")) == []
    late = "somebody else has this pair now, since you skipped it"
    door.house.refuse("answer", "ana", pair, "appropriate", message={door.name: late})


@pytest.mark.parametrize(("answer", "what"), [("appropriate", "answered"), ("skip", "skipped")])
@at_each_door("answer", "answers", stage="dealt")
def test_who_was_asked_anew_is_told_that_they_have_answered_elsewhere(door: Any, answer: str, what: str) -> None:
    pair = own_pairs(door, "ana")[0]
    first = done(door.answer("ana", pair, answer, request="request-here", again=False))
    door.house.refuse("answer", "ana", pair, "not_sure", again=False, message={door.name: ELSEWHERE.format(what=what)})
    assert done(door.answer("ana", pair, answer, request="request-here", again=False)) == first
    done(door.answer("ana", pair, "not_sure", again=True))  # a change of what was seen
    assert [task["answer"] for task in done(door.answers("ana"))] == ["not_sure"]


def test_what_is_not_ones_own_is_refused_as_what_is_not_there(house: MakeHouse) -> None:
    here = house("dealt")
    pair = next(pair for pair in own_pairs(here, "ben", alone=True))
    refusal = (
        "this pair is not assigned to you, or no longer is; somebody else has it now, and your answer was not needed"
    )
    in_file = f"pair {pair} was not assigned to ana"
    here.refuse("answer", "ana", pair, "appropriate", message={"all": refusal, "command": in_file})
    here.refuse("answer", "ana", pair, "appropriate", whose="ben", message={"all": refusal, "command": ""})
    nothing = {"all": refusal, "command": "pair 99 is not in the grid"}
    here.refuse("answer", "ana", 99, "appropriate", message=nothing)
    mine = own_pairs(here, "ana")[0]
    expected = "`agree` is not an answer here; expected one of not_appropriate, not_sure, appropriate or skip"
    in_file = "unknown label `agree`; expected one of 0, not_appropriate, 1, not_sure, 2, appropriate, skip"
    here.refuse("answer", "ana", mine, "agree", message={"all": expected, "command": in_file})
    here.study.hand_over("ana")
    gone = "this pair has been given to somebody else; your answer was not needed"
    here.refuse("answer", "ana", mine, "appropriate", message={"all": gone, "command": ""})


def test_only_people_who_answer_and_consented_are_given_pairs(house: MakeHouse) -> None:
    here = house("dealt")
    pair = own_pairs(here, "ana")[0]
    here.study.add_people(["nora"], Role.ANNOTATOR)
    here.admit("nora", consent=False)
    for act, given in (("next", ()), ("answers", ()), ("progress", ()), ("answer", (pair, "appropriate"))):
        in_file = f"pair {pair} was not assigned to nora"
        here.refuse(act, "nora", *given, message={"all": NOT_CONSENTED, "command": in_file})
        for name, role in (("judy", "adjudicators"), ("lea", "the lead")):
            answering = "only people who answer rounds have open work"
            not_for = f"this is not for {role}"
            here.refuse(act, name, *given, message={"python": answering, "api": not_for, "page": not_for})
    here.study.retire("ana")
    for act, given in (("next", ()), ("answer", (pair, "appropriate"))):
        here.refuse(act, "ana", *given, message={"api": NOT_LOGGED_IN})


@pytest.mark.server
@at_each_door("answer", "next", "answers", "progress", stage="dealt")
def test_a_daily_limit_ends_the_day_but_answers_can_be_changed(door: Any, house: MakeHouse) -> None:
    door = house("dealt", Annotate(daily_limit=2)).door(door.name)
    pairs = own_pairs(door, "ana")
    assert [task["cell_id"] for task in done(door.next("ana", 5))] == pairs[:2]
    done(door.answer("ana", pairs[0], "appropriate"))
    assert [task["cell_id"] for task in done(door.next("ana"))] == [pairs[1]]
    done(door.answer("ana", pairs[1], "appropriate", note="the second"))
    assert done(door.next("ana")) == []
    (latest,) = done(door.answers("ana"))
    assert (latest["cell_id"], latest["answer"], latest["note"]) == (pairs[1], "appropriate", "the second")
    limit = done(door.progress("ana"))["limit"]
    said = door.answer("ana", pairs[2], "appropriate")
    assert (said.ok, said.message) == (False, sentence(str(limit)))
    done(door.answer("ana", pairs[0], "not_sure"))
    assert [task["answer"] for task in done(door.answers("ana", 5))] == ["appropriate", "not_sure"]  # in their places
    progress = done(door.progress("ana"))
    assert (progress["today"], progress["done"], progress["open"]) == (2, 2, len(pairs) - 2)


@at_each_door("answer", "next", "answers", "progress", stage="dealt")
def test_nobody_reads_what_others_answered(door: Any) -> None:
    shared = [pair for pair, who in who_had(door.study).items() if {"ana", "ben"} <= who]
    for at, pair in enumerate(shared):
        done(door.answer("ben", pair, NAMES[at % 2], note="the note of ben"))
    for pair in shared:
        seen = [door.next("ana", 50), door.answers("ana", 50), door.progress("ana"), door.answer("ana", pair, NAMES[2])]
        for said in seen:
            assert "ben" not in str(done(said))
            assert not any(repr(name) in str(said.value) for name in NAMES[:2])
    assert all(task["answer"] == NAMES[2] for task in done(door.answers("ana", 50)))
