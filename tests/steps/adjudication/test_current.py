"""What holds now: the current answer to an assignment, the newest decision on a cell, and how both are found."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import ColumnElement, Connection, Table, select

from fcpair.grid import AdjudicationQueue
from fcpair.params import Annotate
from fcpair.records import Role
from fcpair.store.database import latest_rows
from fcpair.store.database.backends import sqlite
from fcpair.store.database.backends.protocol import driver
from fcpair.store.database.tables import adjudication, judgement
from fcpair.study import Study
from fcpair.work_records import DecisionRequest
from steps.online import admit, at_desk, give
from steps.small import open_work, record

At = Callable[[str], Study]
READS_ALL = re.compile(
    r"SCAN (judgement|adjudication|newer|later|seen|answer|text|assignment|earlier|cell)\b|AUTOMATIC"
)


def ids(study: Study, table: Table, condition: ColumnElement[bool]) -> list[int]:
    with study._store.read() as tx:
        return list(tx.execute(select(table.c.id).where(condition)).scalars())


def test_the_current_answer_is_the_newest_unless_it_was_withdrawn(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    (who, pair), *_ = open_work(study)
    record(study, tmp_path, [(who, pair, "not_sure")])
    run = record(study, tmp_path, [(who, pair, "appropriate")], supersede=True)
    assert ids(study, judgement, latest_rows.ANSWER) == ids(study, judgement, latest_rows.NEWEST) == [2]
    study.grid().withdraw(run.id, "labels")
    assert ids(study, judgement, latest_rows.NEWEST) == [3]
    assert ids(study, judgement, latest_rows.ANSWER) == []


def test_the_newest_decision_stands_unless_it_reopens_the_pair(at: At) -> None:
    study = at("labelled")
    study.add_people(["judy"], Role.ADJUDICATOR)
    grid, judy = study.grid(), admit(study, "judy").id
    case = AdjudicationQueue(grid).next(judy)
    assert case is not None
    AdjudicationQueue(grid).decide(judy, DecisionRequest("request-1", case.cell_id, "appropriate"))
    assert ids(study, adjudication, latest_rows.STANDING) == ids(study, adjudication, latest_rows.DECISION) == [1]
    AdjudicationQueue(grid).undo(judy, case.cell_id, "request-2")
    assert ids(study, adjudication, latest_rows.DECISION) == [2]
    assert ids(study, adjudication, latest_rows.STANDING) == []


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
    asked = [one for one in statements if one.startswith("SELECT")]
    monkeypatch.undo()
    with study._store.read() as tx:
        own = driver(tx)
        plans = {one: [row[3] for row in own.execute(f"EXPLAIN QUERY PLAN {one}")] for one in asked}
    assert plans
    return [(one, step) for one, plan in plans.items() for step in plan if READS_ALL.search(step)]
