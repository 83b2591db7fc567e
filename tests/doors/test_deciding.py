"""Deciding: who may decide which pair and when, that nobody is overruled unseen, and what taking back does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from steps.calibrated import calibrated
from steps.online import give
from steps.people.known import controls, qualification, right_answer
from steps.small import ANNOTATORS, NAMES, labels_of, open_work, record, standing, who_had

from doors.door import House, at_each_door, done
from fcpair.grid import AdjudicationQueue
from fcpair.params import Adjudicate, Annotate, Assign, Validate
from fcpair.records import Known, Role
from fcpair.steps.people.people import save_terms
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells
from fcpair.store.database.tables import text
from fcpair.work_records import DecisionRequest

MakeHouse = Callable[..., House]
DOORS = ("python", "api", "page")  # those at which a case is looked at before it is decided
CODES = {"not_appropriate": 0, "appropriate": 2, "irreconcilable": None}
REUSED = "this request id was used for something else; use a new one for each request"
DIFFERENT = "pair {pair} already has a different decision; --supersede takes this as the newer answer"
OUTCOMES = "expected one of 0, not_appropriate, 2, appropriate, irreconcilable"
NOT_DEFINITE = "{code} is not a definite label; expected one of (0, 2)"
NO_PAIR = "there is no pair 99; the pairs of the grid are numbered from 1 to 24"
RULED = (
    "a rule has decided pair {pair}: such a decision follows the labels, so there is nothing to take back; decide the "
    "pair yourself to replace it"
)


# -- situations in which somebody may not decide a pair


def labelled_it(house: House, folder: Path) -> tuple[str, int]:
    """ana labelled the pair, and is an adjudicator now."""
    pair = next(pair for pair in house.study.grid().waiting_pairs() if "ana" in who_had(house.study)[pair])
    house.study.change_role("ana", Role.ADJUDICATOR)
    return "ana", pair


def skipped_it(house: House, folder: Path) -> tuple[str, int]:
    """ana read the pair and skipped it, and nobody was left to take it."""
    pair = next(pair for pair in house.study.grid().waiting_pairs() if len(who_had(house.study)[pair]) == 3)
    record(house.study, folder, [("ana", pair, "skip")], supersede=True)
    house.study.change_role("ana", Role.ADJUDICATOR)
    return "ana", pair


def validates_it(house: House, folder: Path) -> tuple[str, int]:
    """vera was given the pair to validate; then its labels changed, so that it waits."""
    study, grid = house.study, house.study.grid()
    grid.adjudicate(Adjudicate())
    study.add_people(["walt"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    pair = next(pair for who, pair in open_work(study, checks=True) if who == "vera" and len(who_had(study)[pair]) > 2)
    first, second, *_ = sorted(who_had(study)[pair] - {"vera"})
    record(study, folder, [(first, pair, "0"), (second, pair, "2")], supersede=True)
    study.hand_over("vera")
    study.change_role("vera", Role.ADJUDICATOR)
    return "vera", pair


def answered_it_as_a_control_pair(house: House, folder: Path) -> tuple[str, int]:
    """ana answered the pair as a control pair; ben and cleo labelled it, and differ."""
    house.study.grid().save.controls(controls(house.study, folder))
    return labelled_by_the_others(house, Known.CONTROLS)


def answered_it_in_a_qualification(house: House, folder: Path) -> tuple[str, int]:
    """ana answered the pair to qualify; ben and cleo labelled it, and differ."""
    house.study.grid().save.qualification(qualification(house.study, folder, known_pairs=2))
    return labelled_by_the_others(house, Known.QUALIFICATION)


def answered_it_in_a_calibration(house: House, folder: Path) -> tuple[str, int]:
    """ana answered the pair when people calibrated themselves; ben and cleo labelled it, and differ."""
    calibrated(house.study)
    return labelled_by_the_others(house, None)


def labelled_by_the_others(house: House, use: Known | None) -> tuple[str, int]:
    """Everybody answers: two people label each pair, ben and cleo always otherwise; ana decides after that."""
    study = house.study
    if not any(person.name == "ana" for person in study.people):
        study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    house.admit(*ANNOTATORS)
    study.grid().assign(Assign(overlap={2: 1.0}, seed=1))
    desk = study.work_queue(Annotate())
    for name in ANNOTATORS:
        visitor = study.access.by_token(house.tokens[name])
        assert visitor
        while tasks := desk.tasks(visitor, 50):
            for task in tasks:
                label = NAMES[2 * (name == "ben")]
                answer = right_answer(task.cell_id) if task.round.startswith("known:") else label
                give(desk, visitor, answer, task.assignment_id)
    with study._store.read() as tx:
        (round_, *_) = rounds.of_known_pairs(tx, use=use) if use else rounds.calibration_rounds(tx)
        rows = assignments.assignments(tx, round_)
    answered = set(rows["cell_id"][rows["person_id"] == house.person_id("ana")].tolist())
    answered -= {pair for pair, who in labels_of(study) if who == "ana"}
    study.change_role("ana", Role.ADJUDICATOR)
    return "ana", next(pair for pair in study.grid().waiting_pairs() if pair in answered)


def opted_out_of_its_topic(house: House, folder: Path) -> tuple[str, int]:
    """vera opted out of what the pair is about while validating."""
    study, pair = house.study, house.study.grid().waiting_pairs()[0]
    with study._store.write() as tx:
        row_id = cells.texts_of(tx, pair)[0]["text_id"]
        tx.execute(update(text).where(text.c.id == row_id).values(meta={"topic": "tea"}))
    study.access.opt_out(house.person_id("vera"), "topic", ["tea"])
    study.change_role("vera", Role.ADJUDICATOR)
    return "vera", pair


def somebody_has_still_to_label_it(house: House, folder: Path) -> tuple[str, int]:
    """A label of the pair was skipped, and the pair went to somebody else, who has it before them."""
    study = house.study
    pair = next(pair for pair in study.grid().waiting_pairs() if len(who_had(study)[pair]) == 2)
    record(study, folder, [(min(who_had(study)[pair]), pair, "skip")], supersede=True)
    assert pair in {open_pair for _, open_pair in open_work(study)}
    return "judy", pair


def nobody_labelled_it(house: House, folder: Path) -> tuple[str, int]:
    """Everybody skipped the pair."""
    study = house.study
    pair = next(pair for pair in study.grid().waiting_pairs() if len(who_had(study)[pair]) == 3)
    record(study, folder, [(who, pair, "skip") for who in who_had(study)[pair]], supersede=True)
    return "judy", pair


LABELLED = "`ana` labelled pair {pair}, so somebody else must decide it"
SITUATIONS: dict[Callable[[House, Path], tuple[str, int]], tuple[str, str]] = {
    labelled_it: ("labelled", LABELLED),
    skipped_it: ("labelled", LABELLED),
    answered_it_as_a_control_pair: ("paired", LABELLED),
    answered_it_in_a_qualification: ("paired", LABELLED),
    answered_it_in_a_calibration: ("paired", LABELLED),
    opted_out_of_its_topic: ("labelled", "`vera` opted out of a topic of pair {pair}, so somebody else must decide it"),
    validates_it: ("labelled", "`vera` validates pair {pair}, so somebody else must decide it"),
    somebody_has_still_to_label_it: (
        "labelled",
        "pair {pair} is still being labelled; it can be decided when all its labels are in",
    ),
    nobody_labelled_it: ("labelled", "pair {pair} has no label, so there is nothing to decide"),
}


@pytest.mark.server
@pytest.mark.parametrize("situation", SITUATIONS)
def test_who_may_not_decide_a_pair_is_refused_at_every_door_and_never_offered_it(
    house: MakeHouse, tmp_path: Path, situation: Callable[[House, Path], tuple[str, int]]
) -> None:
    stage, message = SITUATIONS[situation]
    here = house(stage)
    who, pair = situation(here, tmp_path)
    for act, given in (("look", ()), ("decide", ("appropriate",))):
        here.refuse(act, who, pair, *given, message=message.format(pair=pair))
    grid, person = here.study.grid(), here.person_id(who)
    offered, queue = grid.desk.agenda(who), AdjudicationQueue(grid)
    assert pair not in offered.pairs
    assert len(offered.pairs) + offered.for_others == len(grid.desk.agenda("jack").pairs)
    state = queue.state(person)
    assert (state.waiting, state.for_others) == (len(offered.pairs), offered.for_others)
    while case := queue.next(person):
        assert case.cell_id != pair
        queue.decide(person, DecisionRequest(f"on-{case.cell_id}-pair", case.cell_id, "appropriate"))


EVERYTHING: dict[str, Callable[[int], tuple[Any, ...]]] = {
    "next_case": lambda pair: (),
    "look": lambda pair: (pair,),
    "decide": lambda pair: (pair, "appropriate"),
    "take_back": lambda pair: (pair,),
}
"""What adjudicators do, and with what."""


def test_only_adjudicators_who_take_part_and_consented_decide(house: MakeHouse) -> None:
    here = house("labelled")
    pair = here.study.grid().waiting_pairs()[0]
    no_adjudicator = "`{name}` is {role}; adjudicators have that role, or lead"
    for name, role in (("ana", "annotator"), ("vera", "validator")):
        refusal = no_adjudicator.format(name=name, role=role)
        not_for = f"this is not for {role}s"
        here.refuse("decided", name, message={"api": not_for, "page": not_for})
        for act, given in EVERYTHING.items():
            here.refuse(act, name, *given(pair), message={"all": refusal, "api": not_for, "page": not_for})
    not_for = "this is not for the lead"
    here.refuse("decide", "lea", pair, "appropriate", message={"api": not_for, "page": not_for})
    here.study.add_people(["joan"], Role.ADJUDICATOR)
    here.admit("joan", consent=False)
    first = "please read what the study is about and agree to take part first"
    for act, given in EVERYTHING.items():
        here.refuse(act, "joan", *given(pair), message={"api": first, "page": "/welcome"})
    here.refuse("decided", "joan", message={"page": "/welcome"})
    here.study.retire("jack")
    left = "`jack` has left the study and can no longer decide"
    out = "you are not logged in; open your invite link, or send your token as `Authorization: Bearer`"
    for act, given in EVERYTHING.items():
        here.refuse(act, "jack", *given(pair), message={"python": left, "api": out})
    assert not here.door("page").come_in(here.tokens["jack"]).ok
    done(here.door("command").decide("jack", pair, "appropriate"))  # a file tells what they decided when they could
    assert standing(here.study)[pair] == ("imported", 2)


@pytest.mark.parametrize("outcome", ["not_appropriate", "appropriate", "irreconcilable"])
@at_each_door("decide", stage="labelled")
def test_a_decision_is_kept_with_its_note_under_its_name(door: Any, outcome: str) -> None:
    grid = door.study.grid()
    pair, n_runs = grid.waiting_pairs()[0], len(door.study.log())
    done(door.decide("judy", pair, outcome, note="irony, نه"))
    rule = "imported" if door.name == "command" else "person"
    assert standing(door.study)[pair] == (rule, CODES[outcome])
    (kept,) = grid.explain(pair).decisions
    assert (kept["person"], kept["note"]) == ("judy", "irony, نه")
    assert pair not in grid.waiting_pairs()
    assert len(door.study.log()) == n_runs + (door.name == "command")  # a file leaves a run, a decision none


@at_each_door("decide", "look", "take_back", stage="labelled", but="python")  # where a decision has no flag
def test_a_decision_leaves_its_note_and_flag_to_who_made_it(door: Any) -> None:
    queue, judy, jack = AdjudicationQueue(door.study.grid()), door.house.person_id("judy"), door.house.person_id("jack")
    pair = door.study.grid().waiting_pairs()[0]
    done(door.decide("judy", pair, "irreconcilable", note="irony", flagged=True))
    (kept,) = queue.decisions(judy)
    assert (kept.outcome, kept.note, kept.flagged, kept.by) == ("irreconcilable", "irony", True, "judy")
    again = queue.case(judy, pair)
    assert (again.decision_id, again.outcome, again.note, again.flagged) == (
        kept.decision_id,
        kept.outcome,
        "irony",
        True,
    )
    done(door.take_back("judy", pair))
    again, others = queue.case(judy, pair), queue.case(jack, pair)
    assert (again.outcome, again.note, again.flagged) == (None, "irony", True)
    assert (others.outcome, others.note, others.flagged) == (None, "", False)


@at_each_door("decide", "decided", stage="decided")
def test_what_is_decided_is_listed_with_who_decided_newest_first(door: Any) -> None:
    first, second, *_ = door.study.grid().waiting_pairs()
    by_rule = {pair: NAMES[code] for pair, (_, code) in standing(door.study).items() if code is not None}
    done(door.decide("judy", first, "appropriate"))
    done(door.decide("jack", second, "irreconcilable"))
    newest, before, *rest = done(door.decided("judy"))
    assert [newest, before] == [(second, "irreconcilable", "jack"), (first, "appropriate", "judy")]
    assert {pair: outcome for pair, outcome, _ in rest} == by_rule


@at_each_door("decide", "look", "take_back", stage="labelled", but="python")  # where a call is no request
def test_a_request_that_comes_again_is_answered_alike_and_stored_once(door: Any) -> None:
    grid = door.study.grid()
    pair, other, *_ = grid.waiting_pairs()
    sent = {"request": "request-once", "note": "hm"}
    first = door.decide("judy", pair, "appropriate", **sent)
    content = door.house.content()
    assert same(door.decide("judy", pair, "appropriate", **sent), first)
    assert door.house.content() == content
    changed: tuple[tuple[str, dict[str, Any]], ...] = (
        ("irreconcilable", {}),
        ("appropriate", {"note": "other"}),
        ("appropriate", {"flagged": True}),
    )
    for outcome, more in changed:
        said = door.decide("judy", pair, outcome, **sent | more)
        assert (said.ok, said.message) == (False, REUSED)
    said = door.take_back("judy", pair, request="request-once")
    assert (said.ok, said.message) == (False, REUSED)
    assert door.house.content() == content
    back = door.take_back("judy", pair, request="request-back")
    content = door.house.content()
    assert same(door.take_back("judy", pair, request="request-back"), back)
    assert same(door.decide("judy", pair, "appropriate", **sent), first)
    assert door.house.content() == content
    done(door.decide("jack", other, "appropriate", request="request-once"))
    assert [row["rule"] for row in grid.explain(pair).decisions] == ["person", "reopened"]


def same(said: Any, first: Any) -> bool:
    """Whether a door answers as before: the same content, or the same page to go to."""
    where = [getattr(one.value, "headers", {}).get("location", one.value) for one in (said, first)]
    return bool(said.ok and first.ok and where[0] == where[1])


@pytest.mark.server
def test_nobody_overrules_a_decision_that_they_have_not_seen(house: MakeHouse, tmp_path: Path) -> None:
    here = house("labelled")
    study, grid = here.study, here.study.grid()
    first, second, third, *others = grid.waiting_pairs()
    fourth = next(pair for pair in others if len(set(labels_of(study, pair).values())) > 1)
    pairs = (first, second, third, fourth)
    seen = {name: {pair: done(here.door(name).look("judy", pair)) for pair in pairs} for name in DOORS}

    def refuse(pair: int, message: str) -> None:
        for name in DOORS:
            here.refuse("decide", "judy", pair, "appropriate", seen=seen[name][pair], message={name: message})

    grid.decide(first, 0, by="jack")
    by_jack = f"pair {first} has been decided by jack meanwhile"
    refuse(first, by_jack)
    here.refuse("look", "judy", first, message=by_jack)
    messages = {"command": DIFFERENT.format(pair=first), "api": by_jack, "page": by_jack}
    here.refuse("decide", "judy", first, "appropriate", message=messages)
    not_mine = f"{by_jack}, and only the person who decided, or a lead, can take that back"
    here.refuse("take_back", "judy", first, message=not_mine)
    grid.decide(second, 0, by="judy")
    refuse(second, f"pair {second} has been decided since it was shown; look at it again")
    again = {name: done(here.door(name).look("judy", second)) for name in DOORS}
    grid.take_back(second, by="judy")
    taken = f"pair {second} has been taken back since it was shown; look at it again"
    for name in DOORS:
        here.refuse("decide", "judy", second, "irreconcilable", seen=again[name], message={name: taken})
    done(here.door("command").decide("judy", third, "appropriate"))
    in_file = f"pair {third} has been decided by judy (in a file) meanwhile"
    refuse(third, in_file)
    here.refuse("take_back", "judy", third, message=f"{in_file}, and only a lead can take that back")
    people, labels = zip(*((who, label) for (_, who), label in labels_of(study, fourth).items()), strict=True)
    turned = zip(people, [fourth] * len(people), [*labels[1:], labels[0]], strict=True)
    record(study, tmp_path, turned, supersede=True)
    refuse(fourth, f"a label of pair {fourth} has changed since it was shown; look at it again")
    grid.take_back(first, by="lea")
    grid.take_back(third, by="lea")
    assert {first, third} <= set(grid.waiting_pairs())


@at_each_door("decide", "look", "take_back", stage="labelled")
def test_ones_own_decision_is_looked_at_changed_and_taken_back(door: Any) -> None:
    grid = door.study.grid()
    pair, waiting, n_runs = grid.waiting_pairs()[0], grid.waiting_pairs(), len(door.study.log())
    done(door.decide("judy", pair, "appropriate", seen=done(door.look("judy", pair)), note="first"))
    done(door.decide("judy", pair, "irreconcilable", seen=done(door.look("judy", pair))))
    assert standing(door.study)[pair] == ("person", None)
    done(door.take_back("judy", pair))
    assert (grid.waiting_pairs(), len(door.study.log())) == (waiting, n_runs)
    assert done(door.decided("judy")) == []
    nothing = f"pair {pair} has no current decision, so there is none to take back"
    door.house.refuse("take_back", "judy", pair, message={door.name: nothing})
    assert [row["rule"] for row in grid.explain(pair).decisions] == ["person", "person", "reopened"]
    done(door.decide("jack", pair, "appropriate", seen=done(door.look("jack", pair))))


def test_what_is_no_case_cannot_be_decided(house: MakeHouse, tmp_path: Path) -> None:
    here = house("labelled")
    study, grid = here.study, here.study.grid()
    agreed = next(pair for pair, who in who_had(study).items() if len(who) > 1 and pair not in grid.waiting_pairs())
    here.refuse("look", "judy", agreed, message=f"the labels of pair {agreed} agree, so there is nothing to decide")
    pair = grid.waiting_pairs()[0]
    nothing = f"pair {pair} has no current decision, so there is none to take back"
    here.refuse("take_back", "judy", pair, message=nothing)
    for act, given in (("look", ()), ("decide", ("appropriate",)), ("take_back", ())):
        here.refuse(act, "judy", 99, *given, message={"all": NO_PAIR, "command": "pair 99 is not in the grid"})
    for number in (0, 25, 2**70):
        here.refuse("look", "judy", number, message={"python": NO_PAIR.replace("99", str(number))})
    for outcome in ("not_sure", "skip", "2", "reopened"):
        no_outcome = f"`{outcome}` is not an outcome; expected one of not_appropriate, appropriate, irreconcilable"
        messages = {
            "api": no_outcome,
            "page": no_outcome,
            "python": NOT_DEFINITE.format(code=1 if outcome == NAMES[1] else 7),
        }
        if outcome in ("not_sure", "skip"):
            messages["command"] = f"unknown label `{outcome}`; {OUTCOMES}"
        here.refuse("decide", "judy", pair, outcome, message=messages)
    for label in ("appropriate", "not_appropriate"):  # only the current labels count
        record(study, tmp_path, [(who, pair, label) for _, who in labels_of(study, pair)], supersede=True)
    here.refuse("look", "judy", pair, message=f"the labels of pair {pair} agree, so there is nothing to decide")
    grid.adjudicate(Adjudicate("majority"))
    by_rule = f"pair {pair} has been decided by a rule meanwhile"
    here.refuse("look", "judy", pair, message=by_rule)
    here.refuse("decide", "judy", pair, "irreconcilable", message={"api": by_rule, "page": by_rule})
    here.refuse("take_back", "judy", pair, message=RULED.format(pair=pair))
    grid.decide(pair, None, by="lea")
    assert standing(study)[pair] == ("person", None)


@at_each_door("decide", "next_case", "look", stage="labelled")
def test_a_limit_holds_for_those_who_decide(door: Any, house: MakeHouse) -> None:
    here = house("labelled", Annotate(daily_limit=1))
    save_terms(here.study.grid(), Annotate(daily_limit=1))
    door = here.door(door.name)
    read, unread, *_ = here.study.grid().waiting_pairs()
    done(door.decide("judy", read, "appropriate"))
    limit = "you have read 1 pair today, as many as one person may read in a day. Please come back tomorrow"
    for act, given in (("look", ()), ("decide", ("appropriate",))):
        here.refuse(act, "judy", unread, *given, message={door.name: limit})
    assert done(door.next_case("judy")) is None or door.name == "python"
    done(door.look("judy", read))


@at_each_door("look", stage="labelled")
def test_a_case_shows_texts_and_labels_and_no_names_of_annotators(door: Any) -> None:
    grid = door.study.grid()
    for pair in grid.waiting_pairs():
        shown, case = str(done(door.look("judy", pair))), grid.desk.conflict(pair)
        words = [case.hs.body, case.cn.body, *(answer.label for answer in case.answers)]
        if door.name == "page":
            words = [word.replace("_", " ") for word in words]
        assert [word for word in words if word not in shown] == []
        assert not any(name in shown for name in ANNOTATORS)
