"""People: coming, going, handing over. What they did stays; what they leave goes to somebody who never had it."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest

from fcpair.errors import InputError
from fcpair.params import Assign
from fcpair.plans import RoundPlan
from fcpair.records import Role, Status
from fcpair.steps.people import reassignment
from fcpair.store.assignment import assignments, rounds
from fcpair.study import Study
from steps.online import admit, at_desk, give
from steps.small import NAMES, At, assert_refused, open_work, record, who_had, with_grid, write_csv


def person(study: Study, name: str) -> dict[str, object]:
    return next(row for row in study.status()["people"] if row["name"] == name)


def n_vacant(study: Study) -> int:
    return int(study.status()["rounds"]["label"]["vacant"])


def open_of(study: Study, name: str) -> list[int]:
    """The open pairs of somebody, in the order in which they are shown."""
    return [pair for who, pair in open_work(study) if who == name]


def holders(study: Study, pair: int) -> list[str]:
    return sorted(who for who, open_pair in open_work(study) if open_pair == pair)


@pytest.mark.parametrize("stage", ["imported", "labelled", "checked"])
def test_the_work_of_everybody_is_what_the_status_says_of_people(at: At, stage: str) -> None:
    study = at(stage)
    assert study.workload() == study.status()["people"]


def test_who_decided_in_a_file_has_decided(at: At, tmp_path: Path) -> None:
    study = at("decided")
    waiting = study.grid().waiting_pairs()
    assert len(waiting) > 1
    rows = [{"pair": pair, "label": "2", "adjudicator": "ada"} for pair in waiting]
    study.grid().import_outcomes(write_csv(tmp_path / "d.csv", rows))
    assert person(study, "ada")["decided"] == len(waiting)
    study.add_people(["lea"], Role.LEAD)
    study.grid().take_back(waiting[0], by="lea")
    assert person(study, "ada")["decided"] == len(waiting) - 1


def test_names_are_in_any_script_and_those_that_differ_in_capitals_alone_are_refused_wherever_they_come_from(
    at: At, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="`ana` and `Ana` differ only in capitals"):
        Assign(overlap={2: 0.5}, annotator_groups=(("ana", "ben"), ("Ana", "cleo")))
    study = at("paired")
    for names in (["زهرا", "Zoë 2"], ["zoe", "A1"]):
        assert [person.name for person in study.add_people(names, Role.VALIDATOR)] == names
    assert_refused(study, lambda: study.grid().assign(Assign(annotators=2)), InputError, "`A1` and `a1` differ")
    study.add_people(["ana", "ben"], Role.ANNOTATOR)
    options = Assign(overlap={2: 0.5}, annotator_groups=(("Ana", "ben"),))
    assert_refused(study, lambda: study.grid().assign(options), InputError, "`ana` and `Ana` differ only in capitals")
    study, grid = with_grid(at("decided"))
    waiting = grid.waiting_pairs()[0]
    grid.decide(waiting, 2, by="eva")
    path = write_csv(tmp_path / "d.csv", [{"pair": waiting, "label": "2", "adjudicator": "Eva"}])
    assert_refused(study, lambda: grid.import_outcomes(path), InputError, "`eva` and `Eva` differ")


def test_a_study_has_ten_thousand_people_at_most(at: At) -> None:
    study = at("dealt")
    names = [f"n{number}" for number in range(30_000)]
    start = process_time()
    message = "a study of 30,003 people; expected 10,000 at most"
    assert_refused(study, lambda: study.add_people(names, Role.ANNOTATOR), InputError, message)
    many = 100_000_000
    for ask in (
        lambda: study.grid().assign(annotators=many),
        lambda: study.grid().plan(annotators=many),
        lambda: study.grid().assign_validation(validators=many),
        lambda: RoundPlan("rate", "one_of(no,yes+)", people=many),
    ):
        with pytest.raises(InputError, match="is 100000000; expected a whole number from 1 to 10,000"):
            ask()
    assert process_time() - start < 2


def test_the_people_of_a_study_are_added_in_time_that_grows_with_their_number(at: At) -> None:
    study, start = at("paired"), process_time()
    assert len(study.add_people([f"n{number}" for number in range(5_000)], Role.RESPONDENT)) == 5_000
    assert process_time() - start < 2


def test_handed_over_work_goes_behind_what_the_heir_has_or_waits_for_somebody_new(at: At, tmp_path: Path) -> None:
    """A part of it is what they would come to last."""
    study = at("dealt")
    mine = open_of(study, "ana")
    run = study.hand_over("ana", last=4)
    assert (run.params["pairs"], run.counts["withdrawn"]) == (4, 4)
    assert open_of(study, "ana") == mine[:-4]
    study = at("dealt")
    before = open_of(study, "ben")
    run = study.hand_over("ana", "ben")
    assert run.counts["vacant"] > 0, "ben had some of these pairs already"
    assert run.counts["reassigned"] + run.counts["vacant"] == run.counts["withdrawn"]
    assert len(open_work(study)) == len(set(open_work(study)))
    assert open_of(study, "ben")[:14] == before
    study.grid().sheets.write_labels(tmp_path)
    positions = [int(line.split(",")[1]) for line in (tmp_path / "ben.csv").read_text("utf-8").splitlines()[1:]]
    assert positions == list(range(1, len(positions) + 1))
    study.add_people(["dora"], Role.ANNOTATOR)
    assert n_vacant(study) == 0


def test_what_is_passed_on_goes_to_who_has_done_and_will_do_least_and_not_to_the_quick(at: At, tmp_path: Path) -> None:
    """ana has answered all she had, ben nothing, and dora, who came late, has had nothing; cleo leaves."""
    study = at("dealt")
    record(study, tmp_path, [("ana", pair, NAMES[0]) for pair in open_of(study, "ana")])
    study.add_people(["dora"], Role.ANNOTATOR)
    study.retire("cleo")
    totals = {row["name"]: row["open"] + row["done"] for row in study.status()["people"]}
    assert (totals["ana"], totals["ben"], totals["dora"]) == (14, 14, 14)


def who_has(study: Study, pair: int) -> set[str]:
    return {who for who, one in open_work(study) if one == pair}


@pytest.mark.server
def test_a_skip_on_the_page_and_one_in_a_file_go_to_the_same_person_at_the_end_of_their_shard(
    at: At, tmp_path: Path
) -> None:
    """dora and eli have nothing yet, and dora has opted out."""
    for online in (True, False):
        study = at("dealt")
        study.add_people(["dora", "eli"], Role.ANNOTATOR)
        study.access.opt_out(admit(study, "dora").id, "hs_topic", ["People who l"])
        for n_before in range(2):
            pair = next(pair for who, pair in open_work(study) if who == "ana")
            before = who_has(study, pair)
            if online:
                give(*at_desk(study, "ana"), "skip")
            else:
                record(study, tmp_path, [("ana", pair, "skip")])
            assert who_has(study, pair) - before == {"eli"}
            assert [number for who, number in open_work(study) if who == "eli"][n_before:] == [pair]


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


def pairs_with(study: Study, n: int) -> list[int]:
    """The pairs of ana's shard that so many people have."""
    had = who_had(study)
    return [pair for pair in open_of(study, "ana") if len(had[pair]) == n]


def test_a_skip_frees_the_slot_even_later_and_a_vacant_one_goes_to_somebody_who_takes_the_role(
    at: At, tmp_path: Path
) -> None:
    study = at("dealt")
    study.add_people(["dora"], Role.VALIDATOR)
    single, triple = pairs_with(study, 1)[0], pairs_with(study, 3)[0]
    record(study, tmp_path, [("ana", single, "2")])
    assert holders(study, single) == []
    run = record(study, tmp_path, [("ana", single, "skip")], supersede=True)
    assert run.counts == {
        **{"answers": 0, "skips": 1, "already_there": 0, "superseded": 1},
        **{"reassigned": 1, "vacant": 0},
    }
    assert holders(study, single) in (["ben"], ["cleo"])
    record(study, tmp_path, [("ana", triple, "skip")])
    assert n_vacant(study) == 1
    study.change_role("dora", Role.ANNOTATOR)
    assert (open_of(study, "dora"), n_vacant(study)) == ([triple], 0)
