"""Answering online: what is handed out, recorded, changed, skipped and counted."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import pytest
from sqlalchemy import update

from fcpair.errors import ConflictError, InputError, RefusedError
from fcpair.params import Assign, Validate
from fcpair.records import Role, Visitor
from fcpair.steps.answers.work_queue import WorkQueue
from fcpair.store.database.tables import text
from fcpair.study import Study
from fcpair.work_records import Submission, Task
from steps.online import admit, at_desk, choices, column_of, give
from steps.small import At, assert_refused, open_work, with_grid

Desk = tuple[Study, WorkQueue, Visitor]


@pytest.fixture
def seated(at: At) -> Desk:
    """The study once it is dealt, the desk, and ana who sits at it."""
    study = at("dealt")
    return study, *at_desk(study, "ana")


def who_has(study: Study, pair: int) -> list[str]:
    return [who for who, other in open_work(study) if other == pair]


def single_of(study: Study, desk: WorkQueue, visitor: Visitor) -> Task:
    """The first task whose pair nobody else has."""
    return next(task for task in desk.tasks(visitor, 40) if len(who_has(study, task.cell_id)) == 1)


def skip_a_single(study: Study, name: str = "ana") -> tuple[Task, list[str]]:
    """Skip a pair that only this annotator has; returns its task and who has it then."""
    desk, visitor = at_desk(study, name)
    task = single_of(study, desk, visitor)
    give(desk, visitor, "skip", task.assignment_id)
    return task, who_has(study, task.cell_id)


def task_of(study: Study, name: str, pair: int) -> tuple[WorkQueue, Visitor, Task]:
    desk, visitor = at_desk(study, name)
    return desk, visitor, next(task for task in desk.tasks(visitor, 40) if task.cell_id == pair)


def test_the_first_open_pairs_of_a_shard_are_shown_with_their_texts_alone(seated: Desk) -> None:
    study, desk, ana = seated
    tasks = desk.tasks(ana, 3)
    assert [task.cell_id for task in tasks] == [pair for who, pair in open_work(study) if who == "ana"][:3]
    texts = study.grid().explain(tasks[0].cell_id)
    assert (tasks[0].row.body, column_of(tasks[0]), tasks[0].row.language) == (texts.hs, texts.cn, "en")
    assert (tasks[0].shown, tasks[0].decision_id, tasks[0].answer, tasks[0].note) == (None, None, None, "")
    give(desk, ana, "not_sure")
    assert desk.tasks(ana, 1) == [tasks[1]] != [tasks[0]]


@pytest.mark.server
def test_an_answer_keeps_the_version_of_the_guidelines_that_was_shown(seated: Desk) -> None:
    study, desk, ana = seated
    study.add_people(["lea"], Role.LEAD)
    study.edit_guidelines("Be kind.", by="lea")
    assert give(desk, ana, "appropriate", guideline_version=1)["guideline_version"] == 2
    give(desk, ana, "appropriate")
    assert [version["judgements"] for version in study.guideline_versions()] == [1, 1]
    unknown = Submission("unknown", desk.tasks(ana)[0].assignment_id, "skip", guideline_version=3)
    assert_refused(study, lambda: desk.submit(ana, unknown), InputError, "no version 3")


def test_one_refused_answer_does_not_keep_the_others_out(seated: Desk) -> None:
    study, desk, ana = seated
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


def test_the_number_of_an_assignment_never_comes_to_mean_another(seated: Desk) -> None:
    """A page may still show a pair whose assignment is gone; its answer must not fall on another pair."""
    study, desk, ana = seated
    stale = [Submission(f"stale-{task.cell_id}", task.assignment_id, "appropriate") for task in desk.tasks(ana, 5)]
    study.grid().assign(Assign(overlap={2: 0.25, 3: 0.25}, seed=2), redo=True)
    for submission in stale:
        assert_refused(study, partial(desk.submit, ana, submission), RefusedError, "somebody else has it now")


def test_what_an_heir_lost_is_not_theirs_under_its_old_number(seated: Desk) -> None:
    study, desk, ana = seated
    first, (heir,) = skip_a_single(study)
    other_desk, other, shown = task_of(study, heir, first.cell_id)
    give(desk, ana, "appropriate", desk.answers(ana)[0].assignment_id)
    skip_a_single(study)
    late = Submission("late", shown.assignment_id, "appropriate")
    assert_refused(study, lambda: other_desk.submit(other, late), RefusedError, "somebody else has it now")


def test_the_time_left_is_the_pace_times_what_is_open_once_there_is_a_pace(seated: Desk) -> None:
    _, desk, ana = seated
    progress = desk.progress(ana)
    assert (progress.done, progress.pace_s, progress.left_s) == (0, None, None)
    assert "fewer than" in str(progress.undefined)
    for _ in range(6):
        give(desk, ana, "appropriate")
    progress = desk.progress(ana)
    assert progress.pace_s is not None
    assert progress.left_s == pytest.approx(progress.pace_s * progress.open)
    assert progress.undefined is None


@pytest.mark.server
def test_a_blind_validator_gives_a_label_and_sees_none(at: At) -> None:
    study, grid = with_grid(at("decided"))
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


def test_whose_answer_a_file_has_replaced_is_told_so_and_not_of_another_window(seated: Desk) -> None:
    study, desk, ana = seated
    task = desk.tasks(ana, 1)[0]
    give(desk, ana, "appropriate", task.assignment_id)
    rows = [{"pair": task.cell_id, "annotator": "ana", "label": "not_sure"}]
    study.grid().import_labels(rows, supersede=True)
    with pytest.raises(ConflictError, match="has been recorded from a file since"):
        give(desk, ana, "not_appropriate", task.assignment_id, shown=("appropriate",))
    give(desk, ana, "not_appropriate", task.assignment_id, shown=("not_sure",))
    with pytest.raises(ConflictError, match="in another window or on another device"):
        give(desk, ana, "appropriate", task.assignment_id, shown=("not_sure",))
