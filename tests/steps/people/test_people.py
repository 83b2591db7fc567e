"""People: coming, going, handing over. What they did stays; what they leave goes to somebody who never had it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.params import Assign
from fcpair.plans import RoundPlan
from fcpair.records import Role
from fcpair.study import Study
from steps.small import NAMES, assert_refused, check, labels_of, open_work, record, who_had, write_csv

At = Callable[[str], Study]


def person(study: Study, name: str) -> dict[str, object]:
    return next(row for row in study.status()["people"] if row["name"] == name)


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


def slots(study: Study) -> Counter[int]:
    """How many open or answered slots each pair has."""
    filled = Counter(pair for _, pair in open_work(study))
    filled.update(pair for (pair, _), label in labels_of(study).items() if label != "skip")
    return filled


# -- adding


@pytest.mark.parametrize("name", ["", " ", " ana", "a,b", "../up", "a/b", "a\\b", "a\nb", "a\tb", "x" * 200])
def test_a_pseudonym_must_fit_lists_and_file_names(at: At, name: str) -> None:
    study = at("paired")
    assert_refused(study, lambda: study.add_people(["ok", name], Role.ANNOTATOR), InputError, "cannot be a pseudonym")


@pytest.mark.parametrize("names", [["ana"], ["dora", "dora"]])
def test_a_pseudonym_is_taken_once(at: At, names: list[str]) -> None:
    study = at("dealt")
    assert_refused(study, lambda: study.add_people(names, Role.VALIDATOR), InputError, "`.*` already exists")


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


@pytest.mark.parametrize("names", [["Ana"], ["dora", "DORA"], ["Élan", "élan"]])
def test_two_people_whose_names_differ_in_capitals_alone_are_refused(at: At, names: list[str]) -> None:
    study = at("dealt")
    said = "differ only in capitals; choose another name"
    assert_refused(study, lambda: study.add_people(names, Role.ANNOTATOR), InputError, said)


def test_groups_whose_names_differ_in_capitals_alone_are_refused(at: At) -> None:
    with pytest.raises(InputError, match="`ana` and `Ana` differ only in capitals"):
        Assign(overlap={2: 0.5}, annotator_groups=(("ana", "ben"), ("Ana", "cleo")))
    study = at("paired")
    study.add_people(["ana", "ben"], Role.ANNOTATOR)
    options = Assign(overlap={2: 0.5}, annotator_groups=(("Ana", "ben"),))
    assert_refused(study, lambda: study.grid().assign(options), InputError, "`ana` and `Ana` differ only in capitals")


def test_numbered_annotators_do_not_come_beside_one_who_is_called_so_in_capitals(at: At) -> None:
    study = at("paired")
    study.add_people(["A1"], Role.VALIDATOR)
    assert_refused(study, lambda: study.grid().assign(Assign(annotators=2)), InputError, "`A1` and `a1` differ")


def test_an_adjudicator_in_a_file_is_not_a_second_person_by_capitals(at: At, tmp_path: Path) -> None:
    study = at("decided")
    grid = study.grid()
    waiting = grid.waiting_pairs()[0]
    grid.decide(waiting, 2, by="eva")
    path = write_csv(tmp_path / "d.csv", [{"pair": waiting, "label": "2", "adjudicator": "Eva"}])
    assert_refused(study, lambda: grid.import_outcomes(path), InputError, "`eva` and `Eva` differ")


def test_a_pseudonym_may_be_in_any_script(at: At) -> None:
    study = at("empty")
    assert [one.name for one in study.add_people(["زهرا", "Zoë 2"], Role.ANNOTATOR)] == ["زهرا", "Zoë 2"]


def test_people_are_handed_out_in_the_order_in_which_they_were_added(at: At) -> None:
    study = at("empty")
    assert [one.name for one in study.add_people(["zoe", "ana"], Role.LEAD)] == ["zoe", "ana"]


# -- going


def test_open_work_of_one_who_leaves_goes_to_others_and_no_slot_is_lost(at: At) -> None:
    study = at("dealt")
    before, had = slots(study), who_had(study)
    run = study.retire("ben")
    after = slots(study)
    moved = [(who, pair) for who, pair in open_work(study) if who not in had[pair]]
    assert run.counts == {"withdrawn": 14, "reassigned": len(moved), "vacant": 14 - len(moved)}
    assert (before - after).total() == run.counts["vacant"]
    assert not after - before
    assert "ben" not in dict(open_work(study))


@pytest.mark.server
def test_what_a_person_did_stays_when_they_leave(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    mine = [pair for who, pair in open_work(study) if who == "ben"]
    record(study, tmp_path, [("ben", pair, "2") for pair in mine[:4]])
    assert study.retire("ben").counts["withdrawn"] == 10
    assert sorted(labels_of(study)) == sorted((pair, "ben") for pair in mine[:4])
    assert person(study, "ben") == {
        "name": "ben",
        "role": "annotator",
        "retired": True,
        "open": 0,
        "done": 4,
        "skipped": 0,
        "withdrawn": 10,
        "decided": 0,
    }


def test_nobody_retires_twice(at: At) -> None:
    study = at("dealt")
    study.retire("ben")
    assert_refused(study, lambda: study.retire("ben"), StageError, "`ben` has been retired already")


def test_the_retired_get_no_work(at: At) -> None:
    study = at("dealt")
    study.retire("ben")
    study.retire("ana")
    assert set(dict(open_work(study))) == {"cleo"}


@pytest.mark.parametrize(
    "call",
    [
        lambda study: study.retire("nobody"),
        lambda study: study.hand_over("nobody"),
        lambda study: study.hand_over("ana", "nobody"),
        lambda study: study.change_role("nobody", Role.LEAD),
    ],
)
def test_somebody_who_is_not_there_is_named_with_those_who_are(at: At, call: Callable[[Study], object]) -> None:
    study = at("dealt")
    assert_refused(
        study, lambda: call(study), UnknownIdError, "there is nobody called `nobody`; there are ana, ben, cleo"
    )


# -- handing over


def test_work_handed_to_one_person_goes_to_that_person_only(at: At) -> None:
    study = at("dealt")
    study.add_people(["dora"], Role.ANNOTATOR)
    mine = {pair for who, pair in open_work(study) if who == "ana"}
    run = study.hand_over("ana", "dora")
    assert run.counts == {"withdrawn": 14, "reassigned": 14, "vacant": 0}
    assert {pair for who, pair in open_work(study) if who == "dora"} == mine


def test_a_pair_that_the_heir_had_already_goes_to_others_or_waits_for_somebody_new(at: At) -> None:
    study = at("dealt")
    run = study.hand_over("ana", "ben")
    assert run.counts["vacant"] > 0
    assert run.counts["reassigned"] + run.counts["vacant"] == run.counts["withdrawn"]
    assert len(open_work(study)) == len(set(open_work(study)))
    study.add_people(["dora"], Role.ANNOTATOR)
    assert study.status()["rounds"]["label"]["vacant"] == 0


def test_handed_over_work_goes_behind_what_the_heir_has(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    before = [pair for who, pair in open_work(study) if who == "ben"]
    study.hand_over("ana", "ben")
    assert [pair for who, pair in open_work(study) if who == "ben"][:14] == before
    study.grid().sheets.write_labels(tmp_path)
    positions = [int(line.split(",")[1]) for line in (tmp_path / "ben.csv").read_text("utf-8").splitlines()[1:]]
    assert positions == list(range(1, len(positions) + 1))


@pytest.mark.parametrize("heir", ["ana", "vera", "zed"])
def test_only_another_active_person_of_the_role_takes_over(at: At, heir: str) -> None:
    study = at("checking")
    study.add_people(["zed"], Role.ANNOTATOR)
    study.retire("zed")
    assert_refused(study, lambda: study.hand_over("ana", heir), InputError, "name another active annotator")


def test_who_has_no_open_work_hands_nothing_over(at: At) -> None:
    study = at("labelled")
    assert_refused(study, lambda: study.hand_over("ana"), StageError, "`ana` has no open work")


def test_a_person_can_hand_over_and_stay(at: At) -> None:
    study = at("dealt")
    study.hand_over("ana")
    assert person(study, "ana")["retired"] is False
    assert "ana" not in dict(open_work(study))


# -- roles


def test_a_role_changes_only_without_open_work(at: At) -> None:
    study = at("dealt")
    message = "`ana` has 14 open pairs; `fcpair people handover ana` first"
    assert_refused(study, lambda: study.change_role("ana", Role.VALIDATOR), StageError, message)


def test_a_changed_role_is_shown_and_logged(at: At) -> None:
    study = at("labelled")
    study.change_role("ana", Role.VALIDATOR)
    assert person(study, "ana")["role"] == "validator"
    assert study.log()[-1].params == {"role": "ana", "to": "validator", "from": "annotator"}


# -- promise 6: skipped and abandoned work goes back to be assigned


def test_a_skipped_pair_goes_to_somebody_who_never_had_it(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    had = who_had(study)
    pair = next(pair for who, pair in open_work(study) if who == "ana" and len(had[pair]) == 1)
    run = record(study, tmp_path, [("ana", pair, "skip")])
    assert run.counts == {"answers": 0, "skips": 1, "already_there": 0, "reassigned": 1, "vacant": 0}
    assert next(who for who, one in open_work(study) if one == pair) in {"ben", "cleo"}


def test_a_pair_that_everybody_skips_stays_vacant_and_is_counted(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    had = who_had(study)
    pair = next(pair for who, pair in open_work(study) if who == "ana" and len(had[pair]) == 1)
    given = []
    while holders := [who for who, one in open_work(study) if one == pair]:
        given += holders
        record(study, tmp_path, [(holders[0], pair, "skip")])
    assert sorted(given) == ["ana", "ben", "cleo"]
    assert study.status()["rounds"]["label"]["vacant"] == 1


def test_a_vacant_slot_goes_to_somebody_who_comes_later(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    had = who_had(study)
    pair = next(pair for who, pair in open_work(study) if who == "ana" and len(had[pair]) == 3)
    record(study, tmp_path, [("ana", pair, "skip")])
    assert study.status()["rounds"]["label"]["vacant"] == 1
    study.add_people(["dora"], Role.ANNOTATOR)
    assert [one for who, one in open_work(study) if who == "dora"] == [pair]
    assert study.status()["rounds"]["label"]["vacant"] == 0


def test_a_vacant_slot_goes_to_somebody_who_takes_the_role(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    study.add_people(["dora"], Role.VALIDATOR)
    had = who_had(study)
    pair = next(pair for who, pair in open_work(study) if who == "ana" and len(had[pair]) == 3)
    record(study, tmp_path, [("ana", pair, "skip")])
    study.change_role("dora", Role.ANNOTATOR)
    assert [one for who, one in open_work(study) if who == "dora"] == [pair]


@pytest.mark.parametrize("role", [Role.ADJUDICATOR, Role.LEAD])
def test_who_may_have_seen_labels_does_not_come_to_give_any(at: At, role: Role) -> None:
    study = at("labelled")
    study.add_people(["judy"], role)
    assert_refused(study, lambda: study.change_role("judy", Role.ANNOTATOR), StageError, "may have seen labels")


def test_a_skip_that_comes_later_frees_the_slot_too(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    had = who_had(study)
    pair = next(pair for who, pair in open_work(study) if who == "ana" and len(had[pair]) == 1)
    record(study, tmp_path, [("ana", pair, "2")])
    record(study, tmp_path, [("ana", pair, "skip")], supersede=True)
    assert [who for who, one in open_work(study) if one == pair] != []


def test_a_skipped_verdict_goes_to_another_validator(at: At, tmp_path: Path) -> None:
    study = at("checking")
    who, pair = open_work(study, checks=True)[0]
    run = check(study, tmp_path, [(who, pair, "skip")])
    assert run.counts["reassigned"] == 1
    assert [name for name, one in open_work(study, checks=True) if one == pair] == [
        {"vera": "walt", "walt": "vera"}[who]
    ]


def test_the_share_of_overlap_is_what_was_asked_after_skips(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    study.add_people(["dora", "emil"], Role.ANNOTATOR)
    before = study.status()["overlap"]
    record(study, tmp_path, [("ben", pair, "skip") for who, pair in open_work(study) if who == "ben"])
    assert study.status()["overlap"] == before


def test_two_slots_of_a_pair_that_fall_vacant_together_go_to_two_people(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    study.add_people(["dora", "emil"], Role.ANNOTATOR)
    had = who_had(study)
    pair = next(pair for pair, names in had.items() if len(names) == 3)
    record(study, tmp_path, [("ana", pair, "skip"), ("ben", pair, "skip")])
    assert sorted(who for who, one in open_work(study) if one == pair) == ["cleo", "dora", "emil"]


def test_what_is_passed_on_goes_to_who_has_done_and_will_do_least_and_not_to_the_quick(at: At, tmp_path: Path) -> None:
    """ana has answered all she had, ben nothing; cleo leaves, and ana has no more to do than ben in the end."""
    study = at("dealt")
    record(study, tmp_path, [(who, pair, NAMES[0]) for who, pair in open_work(study) if who == "ana"])
    study.retire("cleo")
    totals = {row["name"]: row["open"] + row["done"] for row in study.status()["people"]}
    assert abs(totals["ana"] - totals["ben"]) <= 1


def test_who_has_been_retired_gets_no_other_role(at: At) -> None:
    study = at("imported")
    study.add_people(["gone"], Role.LEAD)
    study.retire("gone")
    assert_refused(study, lambda: study.change_role("gone", Role.ADJUDICATOR), StageError, "`gone` has been retired")


# -- handing over a part


def positions(study: Study, name: str) -> list[int]:
    """The open pairs of somebody, in the order in which they are shown."""
    with study._store.read() as tx:
        rows = tx.exec_driver_sql(
            "SELECT a.cell_id FROM assignment a JOIN person p ON p.id = a.person_id "
            f"WHERE p.name = '{name}' AND a.status = 'open' ORDER BY a.position"
        )
        return [row[0] for row in rows]


def test_a_part_is_what_they_would_come_to_last(at: At) -> None:
    study = at("dealt")
    before, all_slots = positions(study, "ana"), slots(study)
    run = study.hand_over("ana", last=4)
    assert (run.params["pairs"], run.counts["withdrawn"]) == (4, 4)
    assert positions(study, "ana") == before[:-4]
    assert slots(study).total() == all_slots.total() - run.counts["vacant"]


def test_a_part_goes_to_whom_it_is_given(at: At) -> None:
    study = at("dealt")
    study.add_people(["dora"], Role.ANNOTATOR)
    last = positions(study, "ana")[-2:]
    assert study.hand_over("ana", "dora", last=2).counts["reassigned"] == 2
    assert sorted(positions(study, "dora")) == sorted(last)


@pytest.mark.parametrize("n", [0, -1, 99])
def test_a_part_is_a_number_of_open_pairs(at: At, n: int) -> None:
    study = at("dealt")
    assert_refused(study, lambda: study.hand_over("ana", last=n), InputError, "expected 1 to 14, which are open")
