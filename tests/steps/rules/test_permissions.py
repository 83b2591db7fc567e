"""Who may decide which pair, and when: the same at the dialogue's call, a file, a page and the API."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlalchemy import update

from fcpair.errors import ConflictError, FcpairError, InputError, RefusedError
from fcpair.grid import AdjudicationQueue
from fcpair.params import Adjudicate, Assign, Validate
from fcpair.records import Known, Role
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells
from fcpair.store.database.tables import text
from fcpair.study import Study
from fcpair.work_records import DecisionRequest
from steps.calibrated import calibrated
from steps.online import admit, at_desk, give
from steps.people.known import controls, qualification, right_answer
from steps.small import (
    ANNOTATORS,
    NAMES,
    assert_refused,
    labels_of,
    open_work,
    record,
    standing,
    who_had,
    write_csv,
)

At = Callable[[str], Study]


class Situation(NamedTuple):
    """A study, a pair, and who would decide it."""

    study: Study
    pair: int
    who: str


# -- situations in which nobody of that name may decide the pair


def one_labelled_it(study: Study, folder: Path) -> Situation:
    """ana labelled the pair, and is an adjudicator now."""
    pair = next(pair for pair in study.grid().waiting_pairs() if "ana" in who_had(study)[pair])
    study.change_role("ana", Role.ADJUDICATOR)
    return Situation(study, pair, "ana")


def one_skipped_it(study: Study, folder: Path) -> Situation:
    """ana read the pair and skipped it, and nobody was left to take it."""
    pair = next(pair for pair in study.grid().waiting_pairs() if len(who_had(study)[pair]) == 3)
    record(study, folder, [("ana", pair, "skip")], supersede=True)
    study.change_role("ana", Role.ADJUDICATOR)
    return Situation(study, pair, "ana")


def one_validates_it(study: Study, folder: Path) -> Situation:
    """vera was given the pair to validate; then its labels changed, so that it waits."""
    grid = study.grid()
    grid.adjudicate(Adjudicate())
    study.add_people(["vera", "walt"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    pair = next(pair for who, pair in open_work(study, checks=True) if who == "vera" and len(who_had(study)[pair]) > 2)
    labelled = sorted(who_had(study)[pair] - {"vera"})
    record(study, folder, [(labelled[0], pair, "0"), (labelled[1], pair, "2")], supersede=True)
    study.hand_over("vera")
    study.change_role("vera", Role.ADJUDICATOR)
    return Situation(study, pair, "vera")


def one_answered_it_as_a_control_pair(study: Study, folder: Path) -> Situation:
    """ana answered the pair as a control pair; ben and cleo labelled it, and differ."""
    study.grid().save.controls(controls(study, folder))
    return _labelled_by_the_others(study, folder, Known.CONTROLS)


def one_answered_it_in_a_qualification(study: Study, folder: Path) -> Situation:
    """ana answered the pair to qualify; ben and cleo labelled it, and differ."""
    study.grid().save.qualification(qualification(study, folder, known_pairs=2))
    return _labelled_by_the_others(study, folder, Known.QUALIFICATION)


def one_answered_it_in_a_calibration(study: Study, folder: Path) -> Situation:
    """ana answered the pair when people calibrated themselves; ben and cleo labelled it, and differ."""
    calibrated(study)
    return _labelled_by_the_others(study, folder, None)


def _labelled_by_the_others(study: Study, folder: Path, use: Known | None) -> Situation:
    """Everybody answers: two people label each pair, ben and cleo always otherwise; ana decides after that."""
    if not any(one.name == "ana" for one in study.people):
        study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    study.grid().assign(Assign(overlap={2: 1.0}, seed=1))
    for name in ANNOTATORS:
        desk, visitor = at_desk(study, name)
        while tasks := desk.tasks(visitor, 50):
            for task in tasks:
                answer = right_answer(task.cell_id) if task.round.startswith("known:") else NAMES[2 * (name == "ben")]
                give(desk, visitor, answer, task.assignment_id)
    ana = next(one.id for one in study.people if one.name == "ana")
    with study._store.read() as tx:
        (round_, *_) = rounds.of_known_pairs(tx, use=use) if use else rounds.calibration_rounds(tx)
        rows = assignments.assignments(tx, round_)
    answered = set(rows["cell_id"][rows["person_id"] == ana].tolist()) - {
        pair for pair, who in labels_of(study) if who == "ana"
    }
    study.change_role("ana", Role.ADJUDICATOR)
    return Situation(study, next(pair for pair in study.grid().waiting_pairs() if pair in answered), "ana")


def one_opted_out_of_its_topic(study: Study, folder: Path) -> Situation:
    """vic opted out of what the pair is about while validating."""
    study.add_people(["vic"], Role.VALIDATOR)
    pair = study.grid().waiting_pairs()[0]
    with study._store.write() as tx:
        tx.execute(
            update(text).where(text.c.id == cells.texts_of(tx, pair)[0]["text_id"]).values(meta={"topic": "tea"})
        )
    study.access.opt_out(admit(study, "vic").id, "topic", ["tea"])
    study.change_role("vic", Role.ADJUDICATOR)
    return Situation(study, pair, "vic")


def somebody_has_still_to_label_it(study: Study, folder: Path) -> Situation:
    """A label of the pair was skipped, and the pair went to somebody else, who has it before them."""
    pair = next(pair for pair in study.grid().waiting_pairs() if len(who_had(study)[pair]) == 2)
    record(study, folder, [(min(who_had(study)[pair]), pair, "skip")], supersede=True)
    assert pair in {open_pair for _, open_pair in open_work(study)}
    return Situation(study, pair, "judy")


def nobody_labelled_it(study: Study, folder: Path) -> Situation:
    """Everybody skipped the pair."""
    pair = next(pair for pair in study.grid().waiting_pairs() if len(who_had(study)[pair]) == 3)
    record(study, folder, [(who, pair, "skip") for who in who_had(study)[pair]], supersede=True)
    return Situation(study, pair, "judy")


LABELLED_IT = (RefusedError, "`ana` labelled pair {pair}, so somebody else must decide it")
SITUATIONS: dict[Callable[[Study, Path], Situation], tuple[type[FcpairError], str]] = {
    one_labelled_it: LABELLED_IT,
    one_skipped_it: LABELLED_IT,
    one_answered_it_as_a_control_pair: LABELLED_IT,
    one_answered_it_in_a_qualification: LABELLED_IT,
    one_answered_it_in_a_calibration: LABELLED_IT,
    one_opted_out_of_its_topic: (RefusedError, "`vic` opted out of a topic of pair {pair}, so somebody else must"),
    one_validates_it: (RefusedError, "`vera` validates pair {pair}, so somebody else must decide it"),
    somebody_has_still_to_label_it: (ConflictError, "pair {pair} is still being labelled"),
    nobody_labelled_it: (ConflictError, "pair {pair} has no label, so there is nothing to decide"),
}
FROM_PAIRED = {
    one_answered_it_as_a_control_pair,
    one_answered_it_in_a_qualification,
    one_answered_it_in_a_calibration,
}  # in a study of which nothing has been assigned yet; else all of it is labelled


# -- doors


def decide(at: Situation, folder: Path) -> None:
    at.study.grid().decide(at.pair, 2, by=at.who)


def read_in_the_terminal(at: Situation, folder: Path) -> None:
    at.study.grid().desk.conflict(at.pair, by=at.who)


def decide_by_file(at: Situation, folder: Path) -> None:
    at.study.grid().import_outcomes(
        write_csv(folder / "d.csv", [{"pair": at.pair, "label": "2", "adjudicator": at.who}])
    )


def look_on_the_page(at: Situation, folder: Path) -> None:
    AdjudicationQueue(at.study.grid()).case(admitted(at), at.pair)


def decide_on_the_page(at: Situation, folder: Path) -> None:
    AdjudicationQueue(at.study.grid()).decide(admitted(at), DecisionRequest("a-request", at.pair, "appropriate"))


def admitted(at: Situation) -> int:
    return next(one.id for one in at.study.people if one.name == at.who)


DOORS = (decide, read_in_the_terminal, decide_by_file, look_on_the_page, decide_on_the_page)


@pytest.mark.server
@pytest.mark.parametrize("situation", SITUATIONS)
def test_every_door_refuses_alike_and_nobody_is_offered_what_they_may_not_decide(
    at: At, tmp_path: Path, situation: Callable[[Study, Path], Situation]
) -> None:
    study = at("paired" if situation in FROM_PAIRED else "labelled")
    study.add_people(["judy"], Role.ADJUDICATOR)
    here = situation(study, tmp_path)
    who = admit(study, here.who).id
    error, message = SITUATIONS[situation]
    for door in DOORS:
        expected = InputError if door is decide_by_file else error
        assert_refused(study, partial(door, here, tmp_path), expected, message.format(pair=here.pair))
    offered = study.grid().desk.agenda(here.who)
    assert here.pair not in offered.pairs
    queue = AdjudicationQueue(study.grid())
    state = queue.state(who)
    assert (state.waiting, state.for_others) == (len(offered.pairs), offered.for_others)
    while case := queue.next(who):
        assert case.cell_id != here.pair
        queue.decide(who, DecisionRequest(f"on-{case.cell_id}-pair", case.cell_id, "appropriate"))


def test_every_door_lets_somebody_else_in(at: At, tmp_path: Path) -> None:
    study = at("labelled")
    study.add_people(["judy"], Role.ADJUDICATOR)
    admit(study, "judy")
    expected = dict.fromkeys(DOORS, ("person", 2)) | {decide_by_file: ("imported", 2)}
    for door, pair in zip(DOORS, study.grid().waiting_pairs()[: len(DOORS)], strict=True):
        door(Situation(study, pair, "judy"), tmp_path)
        looked = door in {read_in_the_terminal, look_on_the_page}
        assert standing(study).get(pair) == (None if looked else expected[door])


def test_who_has_left_decides_nothing_more_but_a_file_may_tell_what_they_decided(at: At, tmp_path: Path) -> None:
    study = at("labelled")
    study.add_people(["judy"], Role.ADJUDICATOR)
    study.retire("judy")
    here = Situation(study, study.grid().waiting_pairs()[0], "judy")
    for door in (decide, read_in_the_terminal):
        with pytest.raises(RefusedError, match="`judy` has left the study"):
            door(here, tmp_path)
    decide_by_file(here, tmp_path)
    assert standing(study)[here.pair] == ("imported", 2)


def test_a_decision_is_taken_back_by_who_made_it_or_a_lead_and_that_of_a_file_by_a_lead_alone(
    at: At, tmp_path: Path
) -> None:
    study = at("labelled")
    grid = study.grid()
    study.add_people(["lea"], Role.LEAD)
    first, second, third = grid.waiting_pairs()[:3]
    grid.decide(first, 2, by="ada")
    grid.decide(second, 2, by="ada")
    decide_by_file(Situation(study, third, "ada"), tmp_path)
    own = "only the person who decided, or a lead, can take that back"
    assert_refused(study, lambda: grid.take_back(first, by="bo"), ConflictError, own)
    message = rf"pair {third} has been decided by ada \(in a file\) meanwhile, and only a lead can take that back"
    assert_refused(study, lambda: grid.take_back(third, by="ada"), ConflictError, message)
    for pair, who in ((first, "lea"), (second, "ada"), (third, "lea")):
        grid.take_back(pair, by=who)
    assert {first, second, third} <= set(grid.waiting_pairs())


def test_a_rule_s_decision_is_not_taken_back_but_decided_otherwise(at: At) -> None:
    study = at("decided")
    grid = study.grid()
    study.add_people(["lea"], Role.LEAD)
    pair = next(pair for pair, kept in standing(study).items() if kept[0] == "unanimous")
    with pytest.raises(ConflictError, match=f"a rule has decided pair {pair}"):
        grid.take_back(pair, by="lea")
    grid.decide(pair, None, by="lea")
    assert standing(study)[pair] == ("person", None)


def test_who_decided_a_pair_cannot_come_to_label_it(at: At, tmp_path: Path) -> None:
    study = at("paired")
    study.add_people(["ana", "ben"], Role.ANNOTATOR)
    record(study, tmp_path, [("ana", 1, "2"), ("ben", 1, "0")])
    study.grid().decide(1, 2, by="ada")
    study.change_role("ada", Role.VALIDATOR)
    study.change_role("ada", Role.ANNOTATOR)
    with pytest.raises(InputError, match="ada validates or decided pair 1, so cannot label it"):
        record(study, tmp_path, [("ada", 1, "2")])
