"""The kept list of conflicts is at any time the one that would be found anew; and what an answer online reads."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pandas as pd
import pytest
from conftest import one_short
from sqlalchemy import Connection

from fcpair.grid import AdjudicationQueue
from fcpair.params import Annotate
from fcpair.records import Role
from fcpair.steps.adjudication.case_queues import current_conflicts
from fcpair.steps.base.context import GridContext
from fcpair.steps.rules import permissions, rule_decisions
from fcpair.store.assignment import assignments, rounds
from fcpair.store.database.backends import sqlite
from fcpair.store.database.backends.protocol import driver
from fcpair.study import Study
from steps.docket import adjudicators, decision_on, first_case
from steps.online import at_desk, give
from steps.people.test_slots import Walk
from steps.small import At, labels_of, write_csv

STEPS = 120
READS_ALL = re.compile(
    r"SCAN (judgement|adjudication|newer|later|seen|answer|text|assignment|earlier|cell)\b|AUTOMATIC"
)


@pytest.mark.files
@pytest.mark.parametrize(("stage", "who", "answer"), [("dealt", "ana", "appropriate"), ("checking", "vera", "agree")])
def test_an_answer_online_reads_no_table_of_answers_or_decisions_through(
    at: At, monkeypatch: pytest.MonkeyPatch, stage: str, who: str, answer: str
) -> None:
    study = at(stage)
    desk, visitor = at_desk(study, who, Annotate())

    def act() -> None:
        give(desk, visitor, answer)
        desk.tasks(visitor, 5)

    assert reading_all(study, monkeypatch, act) == []


def reading_all(study: Study, monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> list[tuple[str, str]]:
    """The statements of an act that read a table through, each with the step of its plan that does."""
    statements: list[str] = []
    begin = sqlite.SQLITE.begin

    def traced(conn: Connection, **how: bool) -> None:
        driver(conn).set_trace_callback(statements.append)
        begin(conn, **how)

    monkeypatch.setattr(sqlite.SQLITE, "begin", traced)
    act()
    asked = [statement for statement in statements if statement.startswith("SELECT")]
    monkeypatch.undo()
    with study._store.read() as tx:
        own = driver(tx)
        plans = {query: [row[3] for row in own.execute(f"EXPLAIN QUERY PLAN {query}")] for query in asked}
    assert plans
    return [(query, step) for query, plan in plans.items() for step in plan if READS_ALL.search(step)]


def assert_is_as_found_anew(study: Study, kept: GridContext) -> int:
    """Compare the kept list and its counts with what the labels say now; returns how many there are."""
    with study._store.read() as tx:
        conflicts = rule_decisions.disputed_pairs(tx)
        now = current_conflicts(kept, tx)
        assert [now.by_id[cell_id] for cell_id in now.order] == conflicts
        agenda = permissions.agenda(tx, None)
        assert now.due_ids == set(agenda.pairs)
        assert len(now.second_look_ids & now.due_ids) == len(agenda.again)
    return len(conflicts)


@pytest.mark.server
@pytest.mark.parametrize("seed", one_short(*range(3)))
def test_the_kept_list_is_that_which_would_be_found_anew_after_whatever_people_do(
    at: At, tmp_path: Path, seed: int
) -> None:
    walk, sizes = Walk(at("dealt"), tmp_path, seed), set()
    kept = walk.study.grid()
    for _ in range(STEPS):
        walk.step()
        if walk.random.random() < 0.5:  # at times much has happened since it was last asked for
            sizes.add(assert_is_as_found_anew(walk.study, kept))
    sizes.add(assert_is_as_found_anew(walk.study, kept))
    assert len(sizes) > 1


def fcpair(study: Study, *words: str) -> None:
    command = [sys.executable, "-m", "fcpair", *words, "--study", study.place]
    subprocess.run(command, check=True, capture_output=True)


@pytest.mark.files
def test_the_kept_list_follows_what_other_processes_do_while_the_study_is_served(at: At, tmp_path: Path) -> None:
    study = at("labelled")
    kept = study.grid()
    study.share()

    def fcpair(*words: str) -> None:
        command = [sys.executable, "-m", "fcpair", *words, "--study", study.place]
        subprocess.run(command, check=True, capture_output=True)

    before = assert_is_as_found_anew(study, kept)
    rows = [{"pair": pair, "annotator": who, "label": "not_sure"} for pair, who in list(labels_of(study))[:6]]
    fcpair("labels", "import", str(write_csv(tmp_path / "labels.csv", rows)), "--supersede")
    changed = assert_is_as_found_anew(study, kept)
    fcpair("adjudicate", "--policy", "majority")
    decided = assert_is_as_found_anew(study, kept)
    assert len({before, changed, decided}) == 3
    study.close()


def due_ids(study: Study, kept: GridContext) -> set[int]:
    with study._store.read() as tx:
        return current_conflicts(kept, tx).due_ids


@pytest.mark.server
def test_a_pair_comes_to_be_due_when_whoever_was_to_label_it_leaves(at: At) -> None:
    """No answer tells of it: work is taken back, and there is nobody left to take it over."""
    study = at("labelled")
    kept = study.grid()
    (zoe,) = study.add_people(["zoe"], Role.ANNOTATOR)
    with study._store.write() as tx:
        pair = rule_decisions.disputed_pairs(tx)[0].cell_id
        given = pd.DataFrame({"cell_id": [pair], "person_id": [zoe.id], "position": [1], "status": ["open"]})
        assignments.add_assignments(tx, given, rounds.primary(tx))
    assert_is_as_found_anew(study, kept)
    assert pair not in due_ids(study, kept)
    for name in [person.name for person in study.people if person.role is Role.ANNOTATOR]:
        study.retire(name)
    assert_is_as_found_anew(study, kept)
    assert pair in due_ids(study, kept)


@pytest.mark.server
def test_an_older_view_has_an_older_list_and_those_after_it_the_newest(at: At) -> None:
    study = at("labelled")
    kept = study.grid()
    study.share()
    (judy,) = adjudicators(study, "judy")
    with study._store.read() as old:
        rule_decisions.disputed_pairs(old)  # from here on this transaction sees the study as it is now
        case = first_case(study, judy)
        other = Thread(target=AdjudicationQueue(study.grid()).decide, args=(judy, decision_on(case)))
        other.start()
        other.join()
        assert_is_as_found_anew(study, kept)
        assert case.cell_id in current_conflicts(kept, old).due_ids
    assert_is_as_found_anew(study, kept)
    study.close()
