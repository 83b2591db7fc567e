"""Work finds new hands by one rule, whether one pair is skipped on the page or many slots are given up at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fcpair.records import Role, Status
from fcpair.steps.people import reassignment
from fcpair.store.assignment import assignments, rounds
from fcpair.study import Study
from steps.online import admit, at_desk, give
from steps.small import open_work, record

At = Callable[[str], Study]


def first_of(study: Study, name: str) -> int:
    return next(pair for who, pair in open_work(study) if who == name)


def who_has(study: Study, pair: int) -> set[str]:
    return {who for who, one in open_work(study) if one == pair}


@pytest.mark.server
def test_a_skip_on_the_page_and_one_in_a_file_go_to_the_same_person(at: At, tmp_path: Path) -> None:
    """dora and eli have nothing yet, and dora has opted out."""
    for online in (True, False):
        study = at("dealt")
        study.add_people(["dora", "eli"], Role.ANNOTATOR)
        study.access.opt_out(admit(study, "dora").id, "hs_topic", ["People who l"])
        pair = first_of(study, "ana")
        before = who_has(study, pair)
        if online:
            give(*at_desk(study, "ana"), "skip")
        else:
            record(study, tmp_path, [("ana", pair, "skip")])
        assert who_has(study, pair) - before == {"eli"}


def test_one_slot_alone_finds_the_hands_that_it_finds_among_all(at: At) -> None:
    study = at("dealt")
    study.add_people(["dora", "eli"], Role.ANNOTATOR)
    with study._store.write() as tx:
        dealt = assignments.assignments(tx, rounds.primary(tx))
        one = int(dealt["id"][0])
        assignments.set_status(tx, [one], Status.WITHDRAWN)
        found = [reassignment.plan_handover(tx, seed) for seed in range(10)]
        assert found == [reassignment.plan_handover(tx, seed, slot=one) for seed in range(10)]
    names = {person.id: person.name for person in study.people}
    assert {names[given.rows[0]["person_id"]] for given in found} == {"dora", "eli"}


def test_a_skip_is_passed_on_at_the_end_of_the_shard_of_whoever_takes_it(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    pair = first_of(study, "ana")
    before = who_has(study, pair)
    give(desk, ana, "skip")
    (heir,) = who_has(study, pair) - before
    assert [number for who, number in open_work(study) if who == heir][-1] == pair
