"""People: who is added, invited, handed work, given another role, retired, dismissed and forgotten, and who is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from steps.small import labels_of, open_work, record, who_had

from doors.door import ACTS, DOORS, House, at_each_door, done
from fcpair.records import Role

MakeHouse = Callable[..., House]
SERVED = ("python", "api", "page")  # the doors at which somebody comes in
THERE_ARE = "there is nobody called `nobody`; there are ana, ben, cleo, vera, judy, jack, lea"
ODD = "cannot be a pseudonym; use a word of at most 60 characters without commas, dots, slashes and outer spaces"
PART = "cannot be handed over; expected 1 to 14, which are open"
SEEN_LABELS = (
    "`{name}` is {role} and may have seen labels, so cannot give any; add somebody else with `fcpair people add NAME "
    "--role annotator`"
)
NO_ANSWERS = "`{name}` has no answers that could go to others; `fcpair people retire {name}`"
ONESELF = "you cannot do this to yourself here; ask another lead, or use `fcpair people` on the server"
GONE = {  # what is said of ben, who was retired
    ("retire",): "`ben` has been retired already",
    ("invite",): "`ben` has been retired, so cannot be invited",
    ("hand_over",): "`ben` has no open work",
    ("change_role", "validator"): "`ben` has been retired and takes no further part; add them under another name",
}
ACTS_ON_PEOPLE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("retire", "dismiss", "forget", "invite", "revoke", "hand_over"), ()),
    "change_role": ("lead",),
}


def n_open(door: Any, name: str) -> int:
    return sum(who == name for who, _ in open_work(door.study))


def person(door: Any, name: str) -> dict[str, Any]:
    return next(row for row in door.study.workload() if row["name"] == name)


def comes_in(door: Any, token: str) -> bool:
    """Whether a token lets its owner in, which is the same everywhere."""
    (found,) = {door.house.door(name).come_in(token).ok for name in SERVED}
    return bool(found)


@at_each_door("add", stage="dealt")
def test_people_who_are_added_have_their_role_and_a_link(door: Any) -> None:
    done(door.add(["zoe", "yan"], "validator"))
    added = {one.name: one.role for one in door.study.people}
    assert (added["zoe"], added["yan"]) == (Role.VALIDATOR, Role.VALIDATOR)
    assert {"zoe", "yan"} <= door.study.access.invited()


def test_nobody_is_added_of_a_list_in_which_a_name_is_wrong(house: MakeHouse) -> None:
    here = house("dealt")

    def refuse(names: list[str], problem: str, on_page: str = "") -> None:
        page = f"nobody was added: {on_page or problem}. Your list is below"
        here.refuse("add", names, "annotator", message={"all": problem, "page": page})

    taken = "line 2: `ana` already takes part in the study; choose another pseudonym"
    refuse(["zoe", "ana"], "`ana` already exists; choose another pseudonym", taken)
    refuse(["zoe", "zoe"], "`zoe` already exists; choose another pseudonym", "line 2: `zoe` is in the list already")
    for names, alike in (
        (["zoe", "Ana"], "`ana` and `Ana`"),
        (["zoe", "ZOE"], "`zoe` and `ZOE`"),
        (["Élan", "élan"], "`Élan` and `élan`"),
    ):
        refuse(names, f"{alike} differ only in capitals; choose another name for one of them")
    for name in ("../up", "a/b", "a\\b", "x" * 200):
        refuse(["zoe", name], f"`{name}` {ODD}")
    for name, shown in (("", ""), (" ", " "), (" ana", " ana"), ("a,b", "a,b"), ("a\nb", "a b"), ("a\tb", "a b")):
        here.refuse("add", ["zoe", name], "annotator", message={"python": f"`{shown}` {ODD}"})  # a page divides these


@pytest.mark.server
@at_each_door("invite", "revoke", stage="dealt")
def test_a_link_lets_its_owner_in_until_another_is_made_or_it_is_revoked(door: Any) -> None:
    links = [door.house.tokens["ana"]]
    for _ in range(2):
        links.append(done(door.invite("ana")))
        assert {door.house.door(name).come_in(links[-1]).value for name in SERVED} == {"ana"}
        assert not comes_in(door, links[-2])
    done(door.revoke("ana"))
    assert not comes_in(door, links[-1])
    assert "ana" not in door.study.access.invited()
    door.house.refuse("revoke", "ana", message="`ana` has no invite link that could be revoked")


@pytest.mark.server
@at_each_door("retire", stage="dealt")
def test_what_a_person_did_stays_when_they_leave_and_their_open_work_goes_to_others(door: Any, tmp_path: Path) -> None:
    mine = [pair for who, pair in open_work(door.study) if who == "ben"]
    record(door.study, tmp_path, [("ben", pair, "2") for pair in mine[:4]])
    had = who_had(door.study)
    done(door.retire("ben"))
    moved = [(who, pair) for who, pair in open_work(door.study) if who not in had[pair]]
    assert door.study.log()[-1].counts == {"withdrawn": 10, "reassigned": len(moved), "vacant": 10 - len(moved)}
    assert sorted(labels_of(door.study)) == sorted((pair, "ben") for pair in mine[:4])
    assert (person(door, "ben")["retired"], person(door, "ben")["done"], n_open(door, "ben")) == (True, 4, 0)
    assert not comes_in(door, door.house.tokens["ben"])
    done(door.retire("ana"))
    assert {who for who, _ in open_work(door.study)} == {"cleo"}
    for (act, *given), message in GONE.items():
        door.house.refuse(act, "ben", *given, message=message)


@at_each_door("dismiss", stage="dealt")
def test_the_answers_of_who_is_dismissed_count_nowhere_and_their_pairs_go_to_others(door: Any, tmp_path: Path) -> None:
    mine = [pair for who, pair in open_work(door.study) if who == "ben"]
    record(door.study, tmp_path, [("ben", pair, "2") for pair in mine])
    had = who_had(door.study)
    done(door.dismiss("ben", "Thank you all the same."))
    assert labels_of(door.study) == {}
    again = {pair for who, pair in open_work(door.study) if who not in had[pair]}
    assert again == {pair for pair in mine if len(had[pair]) < 3}
    assert door.study.grid().explain(mine[0]).answers[0]["person"] == "ben"  # on record
    assert door.study.access.farewell(door.house.tokens["ben"]) == "Thank you all the same."
    assert not comes_in(door, door.house.tokens["ben"])
    door.house.refuse("dismiss", "ben", message=NO_ANSWERS.format(name="ben"))


@at_each_door("forget", stage="labelled")
def test_who_is_forgotten_keeps_their_answers_and_loses_what_they_said_about_themselves(door: Any) -> None:
    labels = labels_of(door.study)
    door.study.access.consent(door.house.person_id("ana"), {"Age": "30-49"})
    assert "30-49" in "".join(door.house.content())
    done(door.forget("ana"))
    assert "30-49" not in "".join(door.house.content())
    assert labels_of(door.study) == labels


@at_each_door("change_role", stage="labelled")
def test_a_role_changes_but_who_may_have_seen_labels_does_not_come_to_give_any(door: Any) -> None:
    done(door.change_role("ana", "validator"))
    assert person(door, "ana")["role"] == "validator"
    assert door.study.log()[-1].params.items() >= {"role": "ana", "to": "validator", "from": "annotator"}.items()
    door.study.add_people(["lena"], Role.LEAD)
    for name, role in (("judy", "adjudicator"), ("lena", "lead")):
        door.house.refuse("change_role", name, "annotator", message=SEEN_LABELS.format(name=name, role=role))


@at_each_door("hand_over", stage="dealt")
def test_open_work_is_handed_to_one_person_wholly_or_its_end_alone(door: Any) -> None:
    door.study.add_people(["dora", "nora"], Role.ANNOTATOR)
    mine = {pair for who, pair in open_work(door.study) if who == "ana"}
    done(door.hand_over("ana", "dora", last=4))
    assert door.study.log()[-1].counts == {"withdrawn": 4, "reassigned": 4, "vacant": 0}
    assert (n_open(door, "ana"), n_open(door, "dora")) == (10, 4)
    done(door.hand_over("ana", "dora"))
    assert {pair for who, pair in open_work(door.study) if who == "dora"} == mine
    assert person(door, "ana")["retired"] is False


@at_each_door("hand_over", stage="dealt")
def test_work_that_goes_to_nobody_in_particular_goes_to_those_who_never_had_it(door: Any) -> None:
    before = open_work(door.study)
    done(door.hand_over("ana"))
    after, counts = open_work(door.study), door.study.log()[-1].counts
    assert n_open(door, "ana") == 0
    assert len(after) == len(set(after)) == len(before) - counts["vacant"]
    assert {pair for _, pair in set(after) - set(before)} <= {pair for who, pair in before if who == "ana"}


def test_what_cannot_be_done_to_people_is_refused(house: MakeHouse) -> None:
    here = house("dealt")
    for act, given in ACTS_ON_PEOPLE.items():
        here.refuse(act, "nobody", *given, message=THERE_ARE)
    here.refuse("hand_over", "ana", "nobody", message=THERE_ARE)
    busy = "`ana` has 14 open pairs; `fcpair people handover ana` first"
    here.refuse("change_role", "ana", "validator", message=busy)
    here.study.add_people(["zed"], Role.ANNOTATOR)
    here.study.retire("zed")
    for heir in ("ana", "vera", "zed"):
        not_to = f"`{heir}` cannot take over from `ana`; name another active annotator"
        here.refuse("hand_over", "ana", heir, message=not_to)
    for n in (0, 15, 99):
        here.refuse("hand_over", "ana", last=n, message=f"{n} pairs of `ana` {PART}")
    let_on = "`ana` is not waiting to be let on; `fcpair people qualified` shows who is"
    here.refuse("let_on", "ana", message=let_on)
    here.refuse("dismiss", "vera", message=NO_ANSWERS.format(name="vera"))
    for act, given in ACTS_ON_PEOPLE.items():
        if act not in ("forget", "hand_over"):
            here.refuse(act, "lea", *given, message={"page": ONESELF})
    here.study.add_people(["qwen"], Role.MODEL)
    no_link = "`qwen` is a model, for which `fcpair run` answers; models have no invite links"
    here.refuse("invite", "qwen", message={"python": no_link, "command": no_link})
    record(here.study, here.folder, [(who, pair, "2") for who, pair in open_work(here.study) if who == "ana"])
    here.refuse("hand_over", "ana", message="`ana` has no open work")


# -- Which act is at which door, and who comes in


NO_ACTS = {"assignment_id", "new_request", "client"}


@pytest.mark.parametrize("name", DOORS)
def test_each_door_has_the_acts_that_the_table_says_and_no_others(name: str) -> None:
    methods = {method for method in dir(DOORS[name]) if not method.startswith("_") and method != "name"}
    assert methods - NO_ACTS == {act for act, doors in ACTS.items() if name in doors}


@at_each_door("consent", "next", "answer", stage="dealt")
def test_who_consents_is_given_what_they_have_open(door: Any) -> None:
    door.study.add_people(["nora"], Role.ANNOTATOR)
    door.study.hand_over("ana", "nora")
    door.house.admit("nora", consent=False)
    assert not door.next("nora").ok
    done(door.consent("nora"))
    pairs = [pair for who, pair in open_work(door.study) if who == "nora"]
    assert [task["cell_id"] for task in done(door.next("nora", 50))] == pairs
    assert next(row for row in door.study.access.terms() if row["name"] == "nora")["consented_at"]


def test_nobody_comes_in_by_what_is_no_token_of_theirs(house: Callable[..., House]) -> None:
    here = house("dealt")
    for name in ("python", "api", "page"):
        assert {here.door(name).come_in(token).ok for token in ("x" * 32, here.tokens["ana"][:-1])} == {False}
        assert here.door(name).come_in(here.tokens["ana"])[::2] == (True, "ana")
