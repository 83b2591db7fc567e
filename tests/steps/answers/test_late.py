"""What was given before the server had it: both times are kept, and nothing rests on the first."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from fcpair.errors import InputError
from fcpair.grid import AdjudicationQueue, DecisionRequest
from fcpair.records import Role
from fcpair.steps.answers.submissions import late_time
from fcpair.study import Study
from fcpair.work_records import Submission
from steps.online import admit, at_desk, give
from steps.small import At, assert_refused

CREATED_AT = "2026-11-01T08:00:00.000+00:00"
REFUSED = {
    "yesterday": "is not a time with its zone; expected ISO 8601",
    "": "is not a time with its zone",
    "2026-11-20T10:02:03": "is not a time with its zone",
    "2026-10-31T23:59:00+00:00": "is before the study was created",
    "0001-01-01T00:00:00+23:00": "is before the study was created",
    "9999-12-31T23:59:59-23:00": "is still to come",
}


def ago(**past: float) -> str:
    """A time as a page sends it, by a clock of another zone."""
    return (datetime.now(UTC) - timedelta(**past)).astimezone().isoformat()


def older(study: Study) -> Study:
    """The study as if it had been created long ago."""
    with study._store.write() as tx:
        tx.execute(text("UPDATE study SET created_at = :at"), {"at": CREATED_AT})
    return study


def rows(study: Study, query: str) -> list[Any]:
    with study._store.read() as tx:
        return [tuple(row) for row in tx.execute(text(query))]


def test_only_what_came_later_than_at_once_has_a_time_of_its_own() -> None:
    assert [late_time(ago(seconds=seconds), CREATED_AT) for seconds in (3, 0, -30)] == [None] * 3
    assert late_time("2026-11-20T10:02:03.5+03:30", CREATED_AT) == "2026-11-20T06:32:03.500+00:00"
    assert late_time("2026-11-01T07:59:30Z", CREATED_AT) == "2026-11-01T07:59:30.000+00:00"  # clocks differ


@pytest.mark.parametrize(("given", "reason"), REFUSED.items())
def test_a_time_at_which_nobody_can_have_answered_is_refused_and_nothing_stored(
    at: At, given: str, reason: str
) -> None:
    study = older(at("dealt"))
    desk, ana = at_desk(study, "ana")
    desk.tasks(ana)
    assert_refused(study, lambda: give(desk, ana, "appropriate", answered_at=given), InputError, reason)


def test_an_answer_that_came_late_has_both_times_and_fits_its_chain(at: At) -> None:
    study = older(at("dealt"))
    desk, ana = at_desk(study, "ana")
    before = list(study.grid().labels())
    for given in (None, ago(seconds=1)):
        give(desk, ana, "appropriate", answered_at=given)
    assert rows(study, "SELECT count(*) FROM judgement WHERE answered_at IS NOT NULL") == [(0,)]
    assert list(study.grid().labels()) == before  # an export is as it ever was
    pair = desk.tasks(ana)[0].cell_id
    give(desk, ana, "skip", answered_at="2026-11-20T10:02:03Z")
    own = "2026-11-20T10:02:03.000+00:00"
    ((came, kept),) = rows(study, "SELECT at, answered_at FROM judgement ORDER BY id DESC LIMIT 1")
    assert (kept, came > own) == (own, True)
    assert rows(study, "SELECT max(answered_at) FROM assignment") == [(came,)]  # for limits and pace
    assert study.grid().explain(pair).answers[-1]["answered_at"] == own
    labels = study.grid().labels().set_index("pair")["answered_at"]
    assert (labels[pair], sorted(set(labels))) == (own, ["", own])
    assert study.grid().answers().set_index("cell")["answered_at"].to_dict() == labels.to_dict()
    assert Study.doctor(study.place).is_sound


def test_a_repeated_request_is_answered_alike_whatever_time_it_has(at: At) -> None:
    study = older(at("dealt"))
    desk, ana = at_desk(study, "ana")
    task = desk.tasks(ana)[0]
    sent = [Submission("request-x", task.assignment_id, "appropriate", answered_at=given) for given in (None, "soon")]
    assert desk.submit(ana, sent[0]) == desk.submit(ana, sent[1])


def test_a_decision_that_came_late_has_both_times(at: At) -> None:
    study = older(at("decided"))
    judy, queue = admit_judge(study), AdjudicationQueue(study.grid())
    first, second, third = study.grid().waiting_pairs()[:3]
    for number, pair, given in ((1, first, ago(hours=1)), (2, second, ago(seconds=0))):
        queue.decide(judy, DecisionRequest(f"request-{number}", pair, "appropriate", decided_at=given))
    late, at_once = (study.grid().explain(pair).decisions[-1] for pair in (first, second))
    assert late["decided_at"] < late["at"]
    assert at_once["decided_at"] is None
    to_come = DecisionRequest("request-3", third, "appropriate", decided_at=ago(hours=-1))
    assert_refused(study, lambda: queue.decide(judy, to_come), InputError, "still to come")
    assert Study.doctor(study.place).is_sound


def admit_judge(study: Study) -> int:
    study.add_people(["judy"], Role.ADJUDICATOR)
    return admit(study, "judy").id


@pytest.mark.files
@pytest.mark.parametrize("value", ["NULL", "'2026-11-20T10:02:04.000+00:00'"])
def test_a_time_that_was_changed_behind_its_back_is_found(at: At, tmp_path: Path, value: str) -> None:
    study = older(at("dealt"))
    desk, ana = at_desk(study, "ana")
    give(desk, ana, "appropriate", answered_at="2026-11-20T10:02:03Z")
    study.close()
    with closing(sqlite3.connect(study.place)) as connection, connection:
        (sealed,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'judgement_no_update'").fetchone()
        connection.execute("DROP TRIGGER judgement_no_update")
        connection.execute(f"UPDATE judgement SET answered_at = {value}")
        connection.execute(sealed)
    (check,) = (check for check in Study.doctor(study.place).checks if check.found)
    assert check.name == "answers"
    assert "was changed" in check.found[0]
