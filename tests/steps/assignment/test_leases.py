"""Open dealing: whoever asks is given what is free, for as long as a lease runs."""

from __future__ import annotations

from collections import Counter
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from servers import Places, copy_study, execute

from fcpair.errors import ConflictError, InputError, RefusedError, StageError
from fcpair.params import Annotate, Assign, Simulate
from fcpair.records import Role, Visitor
from fcpair.steps.answers.work_queue import WorkQueue
from fcpair.steps.assignment import leases
from fcpair.steps.assignment.leases import MAX_HELD
from fcpair.study import Study
from fcpair.work_records import Submission, Task
from steps.online import admit, at_desk, column_of, give, stored_id
from steps.people.test_topics import TERROR, TOPIC, mixed
from steps.small import ANNOTATORS, SELECTED, At, assert_refused, dump, labels_of, open_work, record

YES, SKIP = "appropriate", "skip"
OVERLAP = {2: 0.25, 3: 0.25}


@pytest.fixture
def study(at: At) -> Study:
    """24 pairs, of which six are to get two labels and six three: 42 slots, and three annotators."""
    study = at("paired")
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    study.grid().assign(Assign(open=True, overlap=OVERLAP, seed=1))
    return study


def n_free(study: Study) -> int:
    return int(study.status()["rounds"]["label"].get("free", 0))


def let_lapse(study: Study) -> None:
    """All leases run out."""
    execute(study.place, "UPDATE assignment SET until = '2020-01-01' WHERE until IS NOT NULL")


def take_back(study: Study) -> None:
    """All leases run out, and somebody has asked since."""
    let_lapse(study)
    with study._store.write() as tx:
        leases.reclaim_lapsed(tx)


def n_slots(study: Study, pair: int) -> int:
    """How many labels a pair is to get: slots that nobody has had yet, and those who had one first."""
    tables = ("assignment", "slot")
    query = "SELECT count(*) FROM {} WHERE replaces IS NULL AND cell_id = ?"
    return sum(execute(study.place, query.format(table), pair)[0][0] for table in tables)


def holds(study: Study) -> Counter[str]:
    return Counter(name for name, _ in open_work(study))


def is_sound(study: Study) -> bool:
    return bool(Study.doctor(study.address).is_sound)


def answer_all_free(desk: WorkQueue, visitor: Visitor, answer: str = YES) -> list[tuple[int, int]]:
    """Answer all that somebody is given, one after the other: the pairs and the assignments, in their order."""
    done = []
    while tasks := desk.tasks(visitor):
        done.append((tasks[0].cell_id, tasks[0].assignment_id))
        give(desk, visitor, answer, tasks[0].assignment_id)
    return done


@pytest.mark.server
def test_every_label_is_free_until_somebody_asks_for_five_or_more_and_never_more_than_ten(study: Study) -> None:
    state = study.status()
    counts = {"open": 42, "free": 42, "done": 0, "skipped": 0, "withdrawn": 0, "vacant": 0}
    assert state["rounds"]["label"] == counts
    assert state["stages"]["assign"] == 42
    assert state["next"] == "open labels: 42; 42 of them are free for anybody in the browser: `fcpair serve`"
    assert open_work(study) == []
    for name, asked, got in (("ana", 1, 1), ("ben", 4, 4), ("cleo", 50, MAX_HELD)):
        desk, visitor = at_desk(study, name)
        tasks = desk.tasks(visitor, asked)
        assert len(tasks) == got
        assert desk.tasks(visitor, asked) == tasks
    assert (holds(study), n_free(study)) == (Counter(ana=5, ben=5, cleo=MAX_HELD), 42 - 20)


def test_what_is_given_is_drawn_by_the_seed_and_nobody_needs_to_be_there_yet(at: At) -> None:
    def first(seed: int) -> list[int]:
        study = at("paired")
        study.grid().assign(Assign(open=True, seed=seed))
        study.add_people(["late"], Role.ANNOTATOR)
        desk, late = at_desk(study, "late")
        return [task.cell_id for task in desk.tasks(late, 8)]

    assert first(1) == first(1) != first(2)


def test_each_row_and_column_is_met_evenly(study: Study) -> None:
    desk, ana = at_desk(study, "ana")
    rows, columns = Counter[str](), Counter[str]()
    for _ in range(12):
        (task,) = desk.tasks(ana)
        give(desk, ana, YES, task.assignment_id)
        rows[task.row.body] += 1
        columns[column_of(task)] += 1
        assert max(rows.values()) - min(rows[row] for row in rows) <= 1
    assert sorted(rows.values()) == [3, 3, 3, 3]
    assert sorted(columns.values()) == [2] * 6


def test_an_answer_that_comes_late_counts_as_long_as_nobody_else_has_answered(at: At) -> None:
    study = at("paired")
    study.add_people(["ana", "ben"], Role.ANNOTATOR)
    study.grid().assign(Assign(open=True))
    (desk, ana), (_, ben) = at_desk(study, "ana"), at_desk(study, "ben")
    first, second, *more = desk.tasks(ana, 5)
    let_lapse(study)
    anas = {task.cell_id for task in (first, second, *more)}
    while others := [task for task in desk.tasks(ben, MAX_HELD) if task.cell_id not in anas]:
        give(desk, ben, YES, others[0].assignment_id)
    bens = {task.cell_id: task.assignment_id for task in desk.tasks(ben, MAX_HELD)}
    give(desk, ana, YES, first.assignment_id)
    with pytest.raises(RefusedError, match="not assigned to you, or no longer is"):
        give(desk, ben, YES, bens[first.cell_id])
    give(desk, ben, YES, bens[second.cell_id])
    with pytest.raises(ConflictError, match="given to somebody else"):
        give(desk, ana, YES, second.assignment_id)
    for task in more:
        give(desk, ben, YES, bens[task.cell_id])
    assert Counter(pair for pair, _ in labels_of(study)) == Counter(range(1, 25))
    assert is_sound(study)


def test_whoever_answers_holds_the_others_for_longer(study: Study) -> None:
    desk, ana = at_desk(study, "ana")
    first, *others = desk.tasks(ana, 4)
    let_lapse(study)
    give(desk, ana, YES, first.assignment_id)
    desk.tasks(at_desk(study, "ben")[1], MAX_HELD)  # takes back what has lapsed
    assert {task.assignment_id for task in desk.tasks(ana, 4)} >= {task.assignment_id for task in others}
    assert is_sound(study)
    held = "SELECT 999, cell_id, round_id, 999, id FROM assignment WHERE id = ?"
    insert = f"INSERT INTO slot (id, cell_id, round_id, position, replaces) {held}"
    execute(study.place, insert, stored_id(study, first))  # free, though somebody has it
    assert not is_sound(study)


@pytest.mark.server
def test_who_asks_together_is_given_what_they_would_be_one_after_the_other(at: At) -> None:
    given = []
    for together in (False, True):
        study = at("paired")
        study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
        study.grid().assign(Assign(open=True, overlap=OVERLAP, seed=1))
        desk = study.work_queue(Annotate())
        asks = [(at_desk(study, name)[1], n) for name, n in zip(ANNOTATORS, (1, 7, 3), strict=True)]
        shown = desk.assign_tasks(asks) if together else [desk.tasks(*ask) for ask in asks]
        given.append(([[(task.cell_id, task.assignment_id) for task in tasks] for tasks in shown], open_work(study)))
        assert is_sound(study)
        study.close()
    assert given[0] == given[1]
    assert [len(tasks) for tasks in given[0][0]] == [1, 7, 3]


@pytest.mark.server
def test_a_limit_holds_for_who_asks_and_for_who_is_late(study: Study) -> None:
    desk, ana = at_desk(study, "ana")
    late = desk.tasks(ana, 3)
    limited = study.work_queue(Annotate(total_limit=2))
    take_back(study)
    for task in late[:2]:
        give(limited, ana, YES, task.assignment_id)
    before = dump(study)
    with pytest.raises(RefusedError, match="as many as one person may read"):
        give(limited, ana, YES, late[2].assignment_id)
    assert limited.tasks(ana, 5) == []
    assert dump(study) == before


@pytest.mark.server
def test_who_opts_out_is_not_offered_such_pairs_and_others_are(study: Study) -> None:
    mixed(study)
    desk, ana = at_desk(study, "ana")
    desk.tasks(ana, MAX_HELD)
    study.access.opt_out(ana.id, TOPIC, ["terrorism"])
    met = set()
    while tasks := desk.tasks(ana):
        met.add(tasks[0].row.body)
        give(desk, ana, YES, tasks[0].assignment_id)
    assert met == {*SELECTED} - TERROR
    assert desk.progress(ana).more is False
    _, ben = at_desk(study, "ben")
    assert desk.progress(ben).more is True
    study.access.opt_out(ana.id, TOPIC, [])
    assert {task.row.body for task in desk.tasks(ana, MAX_HELD)} <= TERROR


@pytest.mark.server
def test_work_can_be_handed_to_somebody_and_who_leaves_lets_go_of_what_they_hold(study: Study) -> None:
    desk, ana = at_desk(study, "ana")
    tasks = desk.tasks(ana, 5)
    study.hand_over("ana", "ben")
    assert holds(study) == Counter(ben=5)
    with pytest.raises(ConflictError, match="given to somebody else"):
        give(desk, ana, YES, tasks[0].assignment_id)
    study.retire("ben")
    assert (n_free(study), holds(study)) == (42, Counter())


def test_a_share_of_the_pairs_is_opened_for_whoever_asks_after_a_deal(at: At) -> None:
    study = at("dealt")
    study.retire("cleo")
    before, vacant = len(open_work(study)), study.status()["rounds"]["label"]["vacant"]
    run = study.grid().assign(Assign(open=True, overlap={3: 1.0}, seed=2), more=True)
    assert run.counts["free"] == 72 - 42 + vacant
    assert len(open_work(study)) == before
    study.add_people(["dana"], Role.ANNOTATOR)
    answer_all_free(*at_desk(study, "dana"))
    assert len({pair for pair, who in labels_of(study) if who == "dana"}) == 24
    assert is_sound(study)


def test_more_labels_are_asked_for_later_and_all_are_assigned_anew_as_shards(study: Study, tmp_path: Path) -> None:
    grid = study.grid()
    with pytest.raises(StageError, match="42 labels are free for anybody"):
        grid.sheets.write_labels(tmp_path / "sheets")
    run = grid.assign(Assign(overlap={3: 1.0}, seed=2), more=True)
    assert (run.counts["free"], n_free(study)) == (30, 72)
    assert_refused(study, lambda: grid.assign(Assign(overlap={3: 1.0}), more=True), StageError, "nothing to add")
    with pytest.raises(StageError, match="--redo"):
        grid.assign(Assign())
    grid.assign(Assign(), redo=True)
    assert (sum(holds(study).values()), n_free(study)) == (24, 0)


@pytest.mark.server
def test_open_dealing_is_closed_and_what_people_hold_stays_theirs(study: Study) -> None:
    desk, ana = at_desk(study, "ana")
    desk.tasks(ana, 5)
    assert study.grid().desk.close_open_assignment().counts == {"taken_away": 37}
    let_lapse(study)
    _, ben = at_desk(study, "ben")
    assert desk.tasks(ben, 5) == []
    assert (holds(study), n_free(study)) == (Counter(ana=5), 0)
    assert desk.progress(ben).more is None
    assert_refused(study, study.grid().desk.close_open_assignment, StageError, "no open assignment")
    study.grid().assign(Assign(overlap=OVERLAP), more=True)  # and the rest is dealt in shards
    assert sum(holds(study).values()) == 42
    assert is_sound(study)


def test_labels_of_a_file_take_free_slots_and_no_more_than_were_asked_for(study: Study, tmp_path: Path) -> None:
    single, double = (next(pair for pair in range(1, 25) if n_slots(study, pair) == n) for n in (1, 2))
    answers = [("ana", single, YES), ("ben", single, YES)]
    assert_refused(
        study, lambda: record(study, tmp_path, answers), InputError, f"pair {single} was not assigned to ben"
    )
    record(study, tmp_path, [("ana", double, YES), ("ben", double, YES)])
    assert labels_of(study) == {(double, "ana"): YES, (double, "ben"): YES}
    assert (n_free(study), is_sound(study)) == (40, True)


CREW = ("ana", "ben", "cleo", "dana", "eli")
ANSWERS = ("appropriate", "not_appropriate", "not_sure")
SAID = st.sampled_from(ANSWERS)
WHO = st.sampled_from(CREW)


class Volunteers(RuleBasedStateMachine):
    """Five people come, ask, answer, skip, change their minds, are late and leave, each at one of two servers."""

    files: dict[str, Path]

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.study = Study(copy_study(self.files["paired"], Path(self.folder.name) / "study.db"))
        self.study.add_people(list(CREW), Role.ANNOTATOR)
        self.study.grid().assign(Assign(open=True, overlap=OVERLAP, seed=1))
        self.servers = [self.study, Study(self.study.address)]
        self.people: dict[str, Visitor] = {name: admit(self.study, name) for name in CREW}
        self.screens: dict[str, dict[int, Task]] = {name: {} for name in CREW}
        self.said: dict[tuple[int, str], str] = {}
        self.n_requests = count()
        self.asked = self.slots_by_pair()

    def teardown(self) -> None:
        assert Study.doctor(self.study.address).is_sound
        for one in self.servers:
            one.close()
        self.folder.cleanup()

    def desk(self, name: str) -> Any:
        return self.servers[CREW.index(name) % 2].work_queue(Annotate())

    @rule(name=WHO, n=st.sampled_from([1, 3, 50]))
    def ask(self, name: str, n: int) -> None:
        if self.is_gone(name):
            return
        found = self.desk(name).tasks(self.people[name], n)
        assert len(found) <= max(n, leases.MAX_HELD)
        self.screens[name] |= {task.assignment_id: task for task in found}

    @rule(name=WHO, answer=SAID, at=st.integers(0, 50), twice=st.booleans())
    def answer(self, name: str, answer: str, at: int, twice: bool) -> None:
        self.submit(name, answer, at, twice=twice)

    @rule(name=WHO, at=st.integers(0, 50))
    def skip(self, name: str, at: int) -> None:
        self.submit(name, "skip", at)

    def submit(self, name: str, answer: str, at: int, *, twice: bool = False) -> None:
        """Answer something that was ever on a person's screen: what is open, was answered or skipped, or has lapsed."""
        screen = list(self.screens[name].values())
        if not screen or self.is_gone(name):
            return
        task = screen[at % len(screen)]
        given = Submission(f"r{next(self.n_requests)}", task.assignment_id, answer)
        try:
            reply = self.desk(name).submit(self.people[name], given)
        except (ConflictError, RefusedError):
            return
        self.said[task.cell_id, name] = answer
        if twice:
            assert self.servers[0].work_queue(Annotate()).submit(self.people[name], given) == reply

    @rule()
    def time_passes(self) -> None:
        execute(self.study.place, "UPDATE assignment SET until = '2020-01-01' WHERE until IS NOT NULL")

    @rule(name=WHO)
    @precondition(lambda self: sum(map(self.is_gone, CREW)) < 2)
    def leave(self, name: str) -> None:
        if not self.is_gone(name):
            self.study.retire(name)

    @rule(name=WHO)
    def hand_over(self, name: str) -> None:
        if any(one.name == name and not one.retired for one in self.study.people) and self.held(name):
            self.study.hand_over(name)

    def is_gone(self, name: str) -> bool:
        return any(one.retired for one in self.study.people if one.name == name)

    def held(self, name: str) -> int:
        query = "SELECT count(*) FROM assignment WHERE status = 'open' AND person_id = ?"
        return int(execute(self.study.place, query, self.people[name].id)[0][0])

    def slots_by_pair(self) -> Counter[int]:
        found: Counter[int] = Counter()
        for table in ("assignment", "slot"):
            found.update(
                row[0] for row in execute(self.study.place, f"SELECT cell_id FROM {table} WHERE replaces IS NULL")
            )
        return found

    @invariant()
    def every_slot_is_kept(self) -> None:
        """No pair has more or fewer slots than it was to have, and each is with one person, or free."""
        assert self.slots_by_pair() == self.asked
        with_somebody = (
            "SELECT cell_id FROM assignment WHERE status IN ('open', 'done') UNION ALL SELECT cell_id FROM slot"
        )
        assert Counter(row[0] for row in execute(self.study.place, with_somebody)) == self.asked

    @invariant()
    def nobody_has_a_pair_twice(self) -> None:
        rows = execute(self.study.place, "SELECT person_id, cell_id FROM assignment")
        assert len(set(rows)) == len(rows)

    @invariant()
    def what_was_acknowledged_is_there(self) -> None:
        assert labels_of(self.study) == self.said


@pytest.fixture
def machine(files: dict[str, Path]) -> type[Volunteers]:
    return type("Here", (Volunteers,), {"files": files})


@pytest.mark.server
@pytest.mark.slow
def test_whatever_people_do_in_whatever_order_every_slot_is_kept(machine: type[Volunteers]) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=8 if Places.now is None else 3,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        ),
    )


@pytest.mark.server
def test_a_pair_waits_for_a_decision_until_all_its_labels_are_in(study: Study) -> None:
    for name, answer in (("ana", YES), ("ben", "not_appropriate")):
        answer_all_free(*at_desk(study, name), answer)
    pair = next(pair for pair in range(1, 25) if n_slots(study, pair) == 3)
    study.add_people(["dana"], Role.ADJUDICATOR)
    with pytest.raises(ConflictError, match=f"pair {pair} is still being labelled"):
        study.grid().decide(pair, 2, by="dana")
    study.grid().desk.close_open_assignment()
    study.grid().decide(pair, 2, by="dana")


def test_who_comes_back_is_given_again_what_they_let_lapse_under_the_same_number(study: Study) -> None:
    desk, ana = at_desk(study, "ana")
    tasks = desk.tasks(ana, MAX_HELD)
    let_lapse(study)
    done = answer_all_free(desk, ana)
    assert len(done) == 24
    assert {(task.cell_id, task.assignment_id) for task in tasks} <= set(done)
    assert is_sound(study)


def test_a_study_without_people_is_simulated_with_as_many_as_the_recipe_says(at: At) -> None:
    wrong: tuple[dict[str, Any], ...] = ({"order": "hs"}, {"annotator_groups": (("ana", "ben"),)}, {"lease_minutes": 0})
    for for_shards in wrong:
        with pytest.raises(InputError):
            Assign(open=True, **for_shards)
    study = at("paired")
    study.grid().assign(Assign(open=True, annotators=5))
    study.grid().simulate(Simulate(skips=0))
    assert sorted(Counter(name for _, name in labels_of(study)).values()) == [4, 5, 5, 5, 5]
