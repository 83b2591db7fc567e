"""Answering online: what is handed out, recorded, changed, skipped and counted."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

from fcpair.errors import ConflictError, InputError, RefusedError
from fcpair.params import Adjudicate, Annotate, Assign, Validate
from fcpair.records import Role
from fcpair.store.database.tables import text
from fcpair.study import Study
from fcpair.work_records import Submission
from steps.online import admit, at_desk, choices, column_of, give
from steps.small import assert_refused, dump, labels_of, open_work, record

At = Callable[[str], Study]


def test_the_next_pairs_are_the_first_open_ones_of_the_shard(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    assert [task.cell_id for task in desk.tasks(ana, 3)] == [pair for who, pair in open_work(study) if who == "ana"][:3]


def test_a_task_shows_the_two_texts_and_nothing_of_anybody_else(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    (task,) = desk.tasks(ana)
    texts = study.grid().explain(task.cell_id)
    assert (task.row.body, column_of(task), task.row.language) == (texts.hs, texts.cn, "en")
    assert (task.shown, task.decision_id, task.answer, task.note) == (None, None, None, "")


@pytest.mark.server
def test_an_answer_is_recorded_with_what_it_came_with(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    pair = desk.tasks(ana)[0].cell_id
    give(desk, ana, "appropriate", note="a note", seconds=4.5)
    (row,) = study.grid().labels().to_dict("records")
    assert (row["pair"], row["annotator"], row["label"]) == (pair, "ana", "appropriate")
    assert (row["seconds"], row["note"], row["origin"]) == (4.5, "a note", "online")
    assert study.guideline_versions()[0]["judgements"] == 1


def test_the_next_pair_comes_after_an_answer(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    first, second = desk.tasks(ana, 2)
    give(desk, ana, "not_sure")
    assert desk.tasks(ana, 1) == [second] != [first]


@pytest.mark.server
def test_a_repeated_request_answers_as_the_first_did_and_changes_nothing(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    submission = Submission("request", desk.tasks(ana)[0].assignment_id, "appropriate", seconds=2)
    first = desk.submit(ana, submission)
    before = dump(study)
    assert desk.submit(ana, submission) == first
    assert dump(study) == before


def test_a_request_id_that_says_something_else_is_refused(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    submission = Submission("request", desk.tasks(ana)[0].assignment_id, "appropriate")
    desk.submit(ana, submission)
    other = replace(submission, answer="not_appropriate")
    assert_refused(study, lambda: desk.submit(ana, other), ConflictError, "request id")


def test_two_people_may_use_the_same_request_id(at: At) -> None:
    study = at("dealt")
    for name in ("ana", "ben"):
        desk, one = at_desk(study, name)
        desk.submit(one, Submission("request", desk.tasks(one)[0].assignment_id, "appropriate"))
    assert len(study.grid().labels()) == 2


@pytest.mark.server
def test_going_back_shows_own_answers_latest_first(at: At) -> None:
    desk, ana = at_desk(at("dealt"), "ana")
    tasks = desk.tasks(ana, 3)
    for answer in ("appropriate", "not_sure", "not_appropriate"):
        give(desk, ana, answer, note=answer)
    (latest,) = desk.answers(ana)
    assert (latest.cell_id, latest.answer, latest.note) == (tasks[2].cell_id, "not_appropriate", "not_appropriate")
    earlier = desk.answers(ana, before=latest.assignment_id, n=5)
    assert [task.answer for task in earlier] == ["not_sure", "appropriate"]


def test_a_changed_answer_is_a_new_judgement_and_keeps_its_place(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    first = desk.tasks(ana)[0]
    give(desk, ana, "appropriate")
    give(desk, ana, "not_sure")
    give(desk, ana, "not_appropriate", first.assignment_id)
    assert labels_of(study, first.cell_id) == {(first.cell_id, "ana"): "not_appropriate"}
    assert [task.answer for task in desk.answers(ana, n=5)] == ["not_sure", "not_appropriate"]
    assert len(study.grid().explain(first.cell_id).answers) == 2


def test_a_skipped_pair_goes_to_somebody_else(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    pair = next(task for task in desk.tasks(ana, 20) if sum(p == task.cell_id for _, p in open_work(study)) == 1)
    give(desk, ana, "skip", pair.assignment_id)
    assert {who for who, number in open_work(study) if number == pair.cell_id} <= {"ben", "cleo"}
    assert sum(number == pair.cell_id for _, number in open_work(study)) == 1
    assert desk.progress(ana).skipped == 1


def test_a_skip_that_is_changed_into_an_answer_takes_the_pair_back(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    task = next(task for task in desk.tasks(ana, 20) if sum(p == task.cell_id for _, p in open_work(study)) == 1)
    give(desk, ana, "skip", task.assignment_id)
    assert desk.answers(ana)[0].answer == "skip"
    give(desk, ana, "appropriate", task.assignment_id)
    assert task.cell_id not in [pair for _, pair in open_work(study)]
    assert labels_of(study, task.cell_id) == {(task.cell_id, "ana"): "appropriate"}


def test_a_skip_stays_one_when_somebody_else_has_answered(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    task = next(task for task in desk.tasks(ana, 20) if sum(p == task.cell_id for _, p in open_work(study)) == 1)
    give(desk, ana, "skip", task.assignment_id)
    (heir,) = [who for who, pair in open_work(study) if pair == task.cell_id]
    _, other = at_desk(study, heir)
    theirs = next(one for one in desk.tasks(other, 40) if one.cell_id == task.cell_id)
    give(desk, other, "not_sure", theirs.assignment_id)
    assert desk.answers(ana) == []
    late = Submission("late", task.assignment_id, "appropriate")
    assert_refused(study, lambda: desk.submit(ana, late), ConflictError, "somebody else")


@pytest.mark.parametrize(("first", "did"), [("appropriate", "answered"), ("skip", "skipped")])
def test_who_was_asked_anew_is_told_that_they_have_answered_elsewhere(at: At, first: str, did: str) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    (task,) = desk.tasks(ana)
    sent = Submission("request-here", task.assignment_id, first, again=False)
    reply = desk.submit(ana, sent)
    late = Submission("request-there", task.assignment_id, "not_sure", again=False)
    assert_refused(study, lambda: desk.submit(ana, late), ConflictError, f"you have just {did} this pair in another")
    assert desk.submit(ana, sent) == reply  # the same request, sent again because no reply came


@pytest.mark.parametrize("again", [True, None], ids=["a change", "a client that does not say"])
def test_an_answer_that_was_seen_is_changed(at: At, again: bool | None) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    (task,) = desk.tasks(ana)
    give(desk, ana, "appropriate", task.assignment_id, again=False)
    give(desk, ana, "not_sure", task.assignment_id, again=again)
    assert [one.answer for one in desk.answers(ana)] == ["not_sure"]


def test_an_answer_to_a_pair_that_was_taken_back_is_refused(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    late = Submission("late", desk.tasks(ana)[0].assignment_id, "appropriate")
    study.hand_over("ana")
    assert_refused(study, lambda: desk.submit(ana, late), ConflictError, "given to somebody else")


@pytest.mark.server
@pytest.mark.parametrize("open_", [False, True])
def test_an_answer_to_a_pair_whose_topic_was_left_out_elsewhere_is_told_that(at: At, open_: bool) -> None:
    """It was kept on one device, while the topic was left out on another."""
    study = at("paired" if open_ else "dealt")
    if open_:
        study.add_people(["ana", "ben"], Role.ANNOTATOR)
        study.grid().assign(Assign(open=True))
    with study._store.write() as tx:
        tx.execute(update(text).where(text.c.kind == "hs").values(meta={"topic": "weather"}))
    desk, ana = at_desk(study, "ana")
    kept = Submission("kept", desk.tasks(ana)[0].assignment_id, "appropriate")
    study.access.opt_out(ana.id, "topic", ["weather"])
    assert_refused(study, lambda: desk.submit(ana, kept), ConflictError, "opted out of a topic of this pair since")


def test_nobody_answers_for_somebody_else(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    ben = admit(study, "ben")
    theirs = Submission("request", desk.tasks(ben)[0].assignment_id, "appropriate")
    assert_refused(study, lambda: desk.submit(ana, theirs), RefusedError, "not assigned to you")
    nobodys = replace(theirs, assignment_id=10**6)
    assert_refused(study, lambda: desk.submit(ana, nobodys), RefusedError, "not assigned to you")


def test_an_unknown_answer_is_refused_with_those_that_there_are(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    wrong = Submission("request", desk.tasks(ana)[0].assignment_id, "agree")
    assert_refused(study, lambda: desk.submit(ana, wrong), InputError, "not_appropriate, not_sure, appropriate or skip")


def test_nothing_is_handed_out_before_consent(at: At) -> None:
    study = at("dealt")
    visitor = study.access.by_token(study.access.invite("ana"))
    assert visitor is not None
    assert not visitor.consented
    with pytest.raises(RefusedError, match="agree to take part"):
        study.work_queue(Annotate()).tasks(visitor)


def test_nothing_is_handed_out_to_other_roles(at: At) -> None:
    study = at("dealt")
    study.add_people(["lea"], Role.LEAD)
    desk, lea = at_desk(study, "lea")
    with pytest.raises(RefusedError, match="only people who answer rounds"):
        desk.tasks(lea)


@pytest.mark.server
def test_a_daily_limit_ends_the_day_but_lets_answers_be_changed(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana", Annotate(daily_limit=2))
    assert len(desk.tasks(ana, 5)) == 2
    third = study.work_queue(Annotate()).tasks(ana, 3)[-1]
    give(desk, ana, "appropriate")
    give(desk, ana, "appropriate")
    assert desk.tasks(ana) == []
    assert "come back tomorrow" in str(desk.progress(ana).limit)
    with pytest.raises(RefusedError):
        give(desk, ana, "appropriate", third.assignment_id)
    give(desk, ana, "not_sure", desk.answers(ana)[0].assignment_id)
    assert desk.progress(ana).today == 2


@pytest.mark.server
def test_a_total_limit_ends_the_work(at: At) -> None:
    desk, ana = at_desk(at("dealt"), "ana", Annotate(total_limit=1))
    assert desk.progress(ana).limit is None
    give(desk, ana, "skip")
    assert "in this study" in str(desk.progress(ana).limit)


def test_the_time_left_is_undefined_before_there_is_a_pace(at: At) -> None:
    desk, ana = at_desk(at("dealt"), "ana")
    progress = desk.progress(ana)
    assert (progress.done, progress.pace_s, progress.left_s) == (0, None, None)
    assert "fewer than" in str(progress.undefined)


def test_the_time_left_is_the_pace_times_what_is_open(at: At) -> None:
    desk, ana = at_desk(at("dealt"), "ana")
    for _ in range(6):
        give(desk, ana, "appropriate")
    progress = desk.progress(ana)
    assert progress.pace_s is not None
    assert progress.left_s == pytest.approx(progress.pace_s * progress.open)
    assert progress.undefined is None


@pytest.mark.server
def test_a_validator_sees_the_label_and_answers_about_that_decision(at: At) -> None:
    study = at("checking")
    desk, vera = at_desk(study, "vera")
    (task,) = desk.tasks(vera)
    assert choices(desk, vera) == {False: ("agree", "disagree")}
    assert task.shown in {"appropriate", "not_appropriate"}
    give(desk, vera, "disagree")
    assert study.grid().explain(task.cell_id).answers[-1]["answer"] == "disagree"


def test_a_verdict_about_a_label_that_has_changed_is_refused(at: At) -> None:
    study = at("checking")
    desk, vera = at_desk(study, "vera")
    (task,) = desk.tasks(vera)
    study.grid().decide(task.cell_id, 0 if task.shown == "appropriate" else 2, by="judy")
    late = Submission("late", task.assignment_id, "agree", decision_id=task.decision_id)
    assert_refused(study, lambda: desk.submit(vera, late), ConflictError, "has changed")
    assert desk.tasks(vera)[0].shown != task.shown


@pytest.mark.parametrize("decision_id", [None, 1])
def test_a_verdict_that_names_no_label_is_not_said_to_be_about_one_that_has_changed(
    at: At, decision_id: int | None
) -> None:
    study = at("checking")
    desk, vera = at_desk(study, "vera")
    (task,) = desk.tasks(vera)
    bare = Submission("bare", task.assignment_id, "agree", decision_id=decision_id)
    assert_refused(study, lambda: desk.submit(vera, bare), ConflictError, "does not say which label you saw")


def test_a_pair_without_a_label_waits_for_its_validator(at: At) -> None:
    study = at("checking")
    desk, vera = at_desk(study, "vera")
    first, second = desk.tasks(vera, 2)
    study.grid().decide(first.cell_id, None, by="judy")
    assert desk.tasks(vera) == [second]


@pytest.mark.server
def test_a_blind_validator_gives_a_label_and_sees_none(at: At) -> None:
    study = at("decided")
    grid = study.grid()
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate(blind=True))
    desk, vera = at_desk(study, "vera")
    assert choices(desk, vera) == {True: ("not_appropriate", "not_sure", "appropriate")}
    (task,) = desk.tasks(vera)
    assert task.shown is None
    give(desk, vera, "appropriate")
    explained = grid.explain(task.cell_id)
    agrees = explained.decisions[-1]["answer"] == "appropriate"
    assert explained.answers[-1]["answer"] == ("agree" if agrees else "disagree")
    assert desk.answers(vera)[0].answer == "appropriate"


def test_answers_online_lead_to_the_tiers(at: At) -> None:
    study = at("dealt")
    grid = study.grid()
    for name in ("ana", "ben", "cleo"):
        desk, one = at_desk(study, name)
        while desk.tasks(one):
            give(desk, one, "appropriate")
    grid.adjudicate(Adjudicate())
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    desk, vera = at_desk(study, "vera")
    while desk.tasks(vera):
        give(desk, vera, "agree")
    tiers = grid.tiers().table().pairs
    assert sorted(tiers["tier"]) == [2] * 12 + [4] * 12


def _skip_a_single(study: Study, name: str = "ana") -> int:
    """Skip a pair that only this annotator has; returns its number."""
    desk, visitor = at_desk(study, name)
    number = [pair for _, pair in open_work(study)]
    task = next(task for task in desk.tasks(visitor, 40) if number.count(task.cell_id) == 1)
    give(desk, visitor, "skip", task.assignment_id)
    return task.cell_id


def test_skipped_pairs_go_to_who_has_done_and_will_do_least_and_not_to_the_quick(at: At) -> None:
    """ben has answered all that he had and has nothing open, as dora, who came late; she has had nothing yet."""
    study = at("dealt")
    ben_desk, ben = at_desk(study, "ben")
    while ben_desk.tasks(ben):
        give(ben_desk, ben, "appropriate")
    study.add_people(["dora"], Role.ANNOTATOR)
    skipped = [_skip_a_single(study) for _ in range(3)]
    assert [who for who, number in open_work(study) if number in skipped] == ["dora"] * 3


def test_a_skipped_pair_does_not_go_to_who_opted_out(at: At) -> None:
    study = at("dealt")
    ben = admit(study, "ben")
    study.access.opt_out(ben.id, "hs_topic", ["People who l"])
    pair = _skip_a_single(study)
    assert [who for who, number in open_work(study) if number == pair] == ["cleo"]


def test_a_skipped_pair_that_nobody_is_left_for_waits_for_somebody_new(at: At) -> None:
    study = at("dealt")
    study.retire("ben")
    study.retire("cleo")
    pair = _skip_a_single(study)
    assert study.status()["rounds"]["label"]["vacant"] > 0
    study.add_people(["dora"], Role.ANNOTATOR)
    assert ("dora", pair) in open_work(study)


@pytest.mark.files
def test_answering_loads_no_data_frames(at: At) -> None:
    """The server is small and quick, because what annotators do needs neither pandas nor scipy."""
    script = """
import sys
from fcpair.params import Annotate
from fcpair.work_records import Submission
from fcpair.study import Study
study = Study(sys.argv[1])
visitor = study.access.by_token(sys.argv[2])
desk = study.work_queue(Annotate(daily_limit=9))
for at, answer in enumerate(("appropriate", "skip", "not_sure")):
    desk.submit(visitor, Submission(f"request-{at}", desk.tasks(visitor)[0].assignment_id, answer))
desk.answers(visitor), desk.progress(visitor)
print(sorted({"pandas", "scipy", "matplotlib", "statsmodels"} & set(sys.modules)))
"""
    study = at("dealt")
    admit(study, "ana")
    line = [sys.executable, "-c", script, study.place, study.access.invite("ana")]
    assert subprocess.run(line, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_number_of_an_assignment_never_comes_to_mean_another(at: At) -> None:
    """A page may still show a pair whose assignment is gone; its answer must not fall on another pair."""
    study = at("dealt")
    grid = study.grid()
    desk, ana = at_desk(study, "ana")
    stale = desk.tasks(ana, 5)
    grid.assign(Assign(overlap={2: 0.25, 3: 0.25}, seed=2), redo=True)
    for number, task in enumerate(stale):
        with pytest.raises(RefusedError, match="somebody else has it now"):
            desk.submit(ana, Submission(f"stale-{number}", task.assignment_id, "appropriate"))
    assert grid.labels().empty


def test_what_an_heir_lost_is_not_theirs_under_its_old_number(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    first = _skip_a_single(study)
    (heir,) = [who for who, pair in open_work(study) if pair == first]
    _, other = at_desk(study, heir)
    shown = next(task for task in desk.tasks(other, 40) if task.cell_id == first)
    give(desk, ana, "appropriate", desk.answers(ana)[0].assignment_id)
    _skip_a_single(study)
    late = Submission("late", shown.assignment_id, "appropriate")
    assert_refused(study, lambda: desk.submit(other, late), RefusedError, "somebody else has it now")


@pytest.mark.server
def test_an_answer_keeps_the_version_of_the_guidelines_that_was_shown(at: At) -> None:
    study = at("dealt")
    study.add_people(["lea"], Role.LEAD)
    desk, ana = at_desk(study, "ana")
    study.edit_guidelines("Be kind.", by="lea")
    assert give(desk, ana, "appropriate", guideline_version=1)["guideline_version"] == 2
    give(desk, ana, "appropriate")
    assert [one["judgements"] for one in study.guideline_versions()] == [1, 1]
    unknown = Submission("unknown", desk.tasks(ana)[0].assignment_id, "skip", guideline_version=3)
    assert_refused(study, lambda: desk.submit(ana, unknown), InputError, "no version 3")


def test_one_refused_answer_does_not_keep_the_others_out(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    ben = admit(study, "ben")
    good, theirs = desk.tasks(ana)[0].assignment_id, desk.tasks(ben)[0].assignment_id
    replies = desk.submit_all(
        [
            (ana, Submission("one", theirs, "appropriate")),
            (ana, Submission("two", good, "appropriate")),
            (ben, Submission("three", theirs, "perhaps")),
            (ben, Submission("four", theirs, "not_sure")),
        ]
    )
    assert [type(reply) for reply in replies] == [RefusedError, dict, InputError, dict]
    assert sorted(study.grid().labels()["label"]) == ["appropriate", "not_sure"]


def test_a_skip_of_what_somebody_has_taken_over_already_is_taken(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    pair = _skip_a_single(study)
    (heir,) = [who for who, number in open_work(study) if number == pair]
    _, other = at_desk(study, heir)
    theirs = next(task for task in desk.tasks(other, 40) if task.cell_id == pair)
    give(desk, other, "not_sure", theirs.assignment_id)
    record(study, tmp_path, [("ana", pair, "appropriate")], supersede=True)
    mine = next(task for task in desk.answers(ana, n=5) if task.cell_id == pair) if desk.answers(ana, n=5) else None
    assert mine is None, "somebody else has answered it"
    assert labels_of(study, pair) == {(pair, "ana"): "appropriate", (pair, heir): "not_sure"}


@pytest.mark.server
def test_open_verdicts_without_a_label_are_not_counted_as_open(at: At) -> None:
    study = at("checking")
    desk, vera = at_desk(study, "vera")
    n = desk.progress(vera).open
    study.grid().decide(desk.tasks(vera)[0].cell_id, None, by="judy")
    assert desk.progress(vera).open == n - 1


def test_a_verdict_of_an_open_round_stays_one_in_a_blind_round(at: At) -> None:
    study = at("checking")
    grid = study.grid()
    desk, vera = at_desk(study, "vera")
    while desk.tasks(vera):
        give(desk, vera, "agree")
    _, walt = at_desk(study, "walt")
    while desk.tasks(walt):
        give(desk, walt, "disagree")
    pair = desk.answers(vera)[0].cell_id
    explained = grid.explain(pair)
    grid.decide(pair, 0 if explained.decisions[-1]["answer"] == "appropriate" else 2, by="judy")
    grid.assign_validation(Validate(blind=True), more=True)
    assert {task.answer for task in desk.answers(vera, n=40)} == {"agree"}
