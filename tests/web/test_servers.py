"""Two servers of one study in PostgreSQL: whoever came in at one is in at the other, and nothing is stored twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from servers import Server
from steps.small import build_to

from fcpair.study import Study
from web.conftest import add_everybody
from web.served import Served


@pytest.fixture
def study(postgres: Server, tmp_path: Path) -> Iterator[Study]:
    name = f"served_{uuid4().hex}"
    url = postgres.at(name).render_as_string(hide_password=False)
    with closing(build_to("dealt", Study.create(url), tmp_path)) as made:
        add_everybody(made)
        yield made
    postgres.drop(name)


@pytest.fixture
def both(study: Study, tmp_path: Path) -> Iterator[tuple[Served, Served]]:
    served = [Served(study.address, output=tmp_path / f"{at}.log") for at in range(2)]
    yield served[0], served[1]
    for one in served:
        one.process.kill()
        one.process.wait()


def invited(study: Study, name: str) -> str:
    token = study.access.invite(name)
    visitor = study.access.by_token(token)
    assert visitor is not None
    study.access.consent(visitor.id, {})
    return token


def test_an_answer_that_is_sent_to_both_is_stored_once_and_survives_the_death_of_one(
    study: Study, both: tuple[Served, Served]
) -> None:
    token = invited(study, "ana")
    first, second = both
    task = json.loads(first.ask("/api/tasks", token)[1])["tasks"][0]
    answer = {"request_id": "r-00000001", "assignment_id": task["assignment_id"], "answer": "appropriate"}
    status, reply = first.ask("/api/judgements", token, answer)
    assert status == 200
    first.process.kill()
    assert second.ask("/api/judgements", token, answer) == (200, reply)
    assert json.loads(second.ask("/api/tasks", token)[1])["tasks"][0] != task
    assert study.grid().labels()["label"].tolist() == ["appropriate"]
    assert Study.doctor(study.address).sound


def test_the_lead_sees_at_one_what_was_answered_at_the_other(study: Study, both: tuple[Served, Served]) -> None:
    first, second = both
    ana, lea = invited(study, "ana"), invited(study, "lea")
    for at in range(3):
        (task,) = json.loads(first.ask("/api/tasks?n=1", ana)[1])["tasks"]
        answer = {"request_id": f"r-0000000{at}", "assignment_id": task["assignment_id"], "answer": "not_sure"}
        assert first.ask("/api/judgements", ana, answer)[0] == 200
        status, page = second.ask("/api/status", lea)
        assert (status, json.loads(page)["judgements"]["n"] if status == 200 else None) == (200, at + 1)
