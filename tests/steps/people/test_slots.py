"""No slot is lost and none is filled twice, whatever people do in whatever order: long random walks over a study."""

from __future__ import annotations

from collections import Counter
from itertools import count
from pathlib import Path
from random import Random

import pytest
from conftest import one_short
from servers import execute

from fcpair.errors import FcpairError
from fcpair.grid import AdjudicationQueue
from fcpair.params import Adjudicate, Annotate, Validate
from fcpair.records import Person, Role, Visitor
from fcpair.study import Study
from fcpair.work_records import DecisionRequest, Submission
from steps.online import admit, choices
from steps.small import ANNOTATORS, CHECKING, LABELLING, NAMES, VALIDATORS, At, record

STEPS = 150
TOPIC = "hs_topic"
ACTS = {
    "answer": 30,
    "skip": 14,
    "go_back": 20,
    "opt_out": 5,
    "hand_over": 4,
    "retire": 1,
    "join": 2,
    "change_role": 3,
    "decide": 6,
    "take_back": 2,
    "policy": 2,
    "check": 1,
    "late_sheet": 3,
}
CONTRADICTIONS = {
    "open, with an answer": """
        SELECT a.id FROM assignment a JOIN judgement j ON j.assignment_id = a.id WHERE a.status = 'open'""",
    "another status than the newest answer": """
        SELECT a.id FROM assignment a
        JOIN judgement j ON j.id = (SELECT max(id) FROM judgement WHERE assignment_id = a.id)
        WHERE (a.status = 'done' AND j.skipped) OR (a.status = 'skipped' AND NOT j.skipped)""",
    "labelled and validated by one person": """
        SELECT cell_id FROM assignment GROUP BY cell_id, person_id HAVING count(*) > 1""",
    "validated by who adjudicated": f"""
        SELECT a.cell_id FROM assignment a JOIN adjudication d ON d.cell_id = a.cell_id AND d.person_id = a.person_id
        WHERE a.round_id IN {CHECKING}""",
}


def labels_of_each(study: Study) -> Counter[int]:
    """How many labels each pair has or will have: answered, open, or waiting for somebody to give them."""
    found: Counter[int] = Counter()
    query = f"SELECT id, cell_id, status IN ('open', 'done'), replaces FROM assignment WHERE round_id IN {LABELLING}"
    slots = execute(study.place, query)
    passed_on = {replaces for *_, replaces in slots}
    for number, pair, is_filled, _ in slots:
        found[pair] += bool(is_filled or number not in passed_on)
    return found


class Walk:
    """People who do what comes to their minds; what is refused leaves the study as it was."""

    def __init__(self, study: Study, folder: Path, seed: int) -> None:
        self.study, self.folder, self.random = study, folder, Random(seed)
        self.desk = study.work_queue(Annotate(opt_out=TOPIC))
        self.requests, self.names = count(), count()
        study.add_people(list(VALIDATORS), Role.VALIDATOR)
        study.add_people(["judy", "jack"], Role.ADJUDICATOR)
        for one in study.people:
            admit(study, one.name)
        self.planned = labels_of_each(study)
        self.done: Counter[str] = Counter()

    def step(self) -> None:
        """One act of one person."""
        act = self.random.choices(list(ACTS), list(ACTS.values()))[0]
        person = self.random.choice([one for one in self.study.people if not one.retired])
        visitor = self.study.access.by_id(person.id)
        assert visitor is not None
        try:
            getattr(self, act)(person, visitor)
        except FcpairError:
            return
        self.done[act] += 1

    def request(self) -> str:
        return f"request-{next(self.requests)}"

    def choices(self, visitor: Visitor) -> list[str]:
        return [name for names in choices(self.desk, visitor).values() for name in names]

    def answer(self, _: Person, visitor: Visitor) -> None:
        task = self.random.choice(self.desk.tasks(visitor, 3) or [None])
        if task:
            answer = self.random.choice(self.choices(visitor))
            given = Submission(self.request(), task.assignment_id, answer, decision_id=task.decision_id)
            self.desk.submit(visitor, given)

    def skip(self, _: Person, visitor: Visitor) -> None:
        for task in self.desk.tasks(visitor):
            self.desk.submit(
                visitor, Submission(self.request(), task.assignment_id, "skip", decision_id=task.decision_id)
            )

    def go_back(self, _: Person, visitor: Visitor) -> None:
        task = self.random.choice(self.desk.answers(visitor, None, 50) or [None])
        if task:
            answer = self.random.choice([*self.choices(visitor), "skip"])
            given = Submission(self.request(), task.assignment_id, answer, decision_id=task.decision_id)
            self.desk.submit(visitor, given)

    def opt_out(self, person: Person, _: Visitor) -> None:
        values = [topic.value for topic in self.study.access.topics(person.id, TOPIC) if self.random.random() < 0.3]
        self.study.access.opt_out(person.id, TOPIC, values)

    def hand_over(self, person: Person, _: Visitor) -> None:
        self.study.hand_over(person.name)

    def retire(self, person: Person, _: Visitor) -> None:
        if person.name not in {*ANNOTATORS, *VALIDATORS, "judy"}:
            self.study.retire(person.name)

    def join(self, *_: object) -> None:
        name = f"new{next(self.names)}"
        self.study.add_people([name], self.random.choice([Role.ANNOTATOR, Role.VALIDATOR]))
        admit(self.study, name)

    def change_role(self, person: Person, _: Visitor) -> None:
        self.study.change_role(person.name, self.random.choice([Role.ANNOTATOR, Role.VALIDATOR, Role.ADJUDICATOR]))

    def decide(self, person: Person, _: Visitor) -> None:
        if case := AdjudicationQueue(self.study.grid()).next(person.id):
            outcome = self.random.choice(case.choices)
            AdjudicationQueue(self.study.grid()).decide(
                person.id, DecisionRequest(self.request(), case.cell_id, outcome)
            )

    def take_back(self, person: Person, _: Visitor) -> None:
        for one in AdjudicationQueue(self.study.grid()).decisions(person.id)[:1]:
            AdjudicationQueue(self.study.grid()).undo(person.id, one.cell_id, self.request())

    def policy(self, *_: object) -> None:
        self.study.grid().adjudicate(Adjudicate("majority", "discard"))

    def check(self, *_: object) -> None:
        self.study.grid().assign_validation(Validate(), more=self.done["check"] > 0)

    def late_sheet(self, *_: object) -> None:
        """A label from a file, also of somebody who had skipped the pair or handed it over."""
        dealt = (
            "SELECT p.name, a.cell_id, a.id FROM assignment a JOIN person p ON p.id = a.person_id "
            f"WHERE a.round_id IN {LABELLING}"
        )
        name, pair, number = self.random.choice(execute(self.study.place, dealt))
        before = labels_of_each(self.study)
        record(self.study, self.folder, [(str(name), pair, self.random.choice(NAMES))], supersede=True)
        extra = labels_of_each(self.study) - before
        assert not extra or self._answered_by_another(number)
        self.planned += extra

    def _answered_by_another(self, number: int) -> bool:
        """Whether somebody who took the slot over has answered: then a late label is one more, not lost."""
        later = execute(self.study.place, f"SELECT id, status = 'done' FROM assignment WHERE replaces = {number}")
        return bool(later) and (bool(later[0][1]) or self._answered_by_another(later[0][0]))


@pytest.mark.server
@pytest.mark.parametrize("seed", one_short(0, 2, 3, 4, 5))
def test_every_pair_keeps_as_many_labels_as_were_planned(at: At, tmp_path: Path, seed: int) -> None:
    walk = Walk(at("dealt"), tmp_path, seed)
    for _ in range(STEPS):
        walk.step()
        assert labels_of_each(walk.study) == walk.planned
        for what, query in CONTRADICTIONS.items():
            assert execute(walk.study.place, query) == [], what
    assert min(walk.done[act] for act in ("answer", "skip", "go_back", "opt_out", "late_sheet")) > 0
