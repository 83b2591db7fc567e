"""Open dealing under any order of acts, by several people at two servers: what must hold, holds after each act."""

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

from fcpair.errors import ConflictError, RefusedError
from fcpair.params import Annotate, Assign
from fcpair.records import Role, Visitor
from fcpair.steps.assignment import leases
from fcpair.study import Study
from fcpair.work_records import Submission, Task
from steps.online import admit
from steps.small import labels_of

OVERLAP = {2: 0.25, 3: 0.25}
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
