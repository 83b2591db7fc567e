"""Which act is at which door, and what is said before somebody may come in or begin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from steps.small import open_work

from doors.door import ACTS, DOORS, House, at_each_door, done
from fcpair.records import Role

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
