"""Two servers of one study in PostgreSQL: whoever came in at one is in at the other, and nothing is stored twice."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest
from servers import Server
from steps.small import build_to

from fcpair.study import Study
from web.conftest import add_everybody
from web.served import Served

pytestmark = pytest.mark.slow


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
    task = json.loads(first.ask("/api/next", token)[1])["tasks"][0]
    answer = {"request_id": "r-00000001", "assignment_id": task["assignment_id"], "answer": "appropriate"}
    status, reply = first.ask("/api/judgements", token, answer)
    assert status == 200
    first.process.kill()
    assert second.ask("/api/judgements", token, answer) == (200, reply)
    assert json.loads(second.ask("/api/next", token)[1])["tasks"][0] != task
    assert study.grid().labels()["label"].tolist() == ["appropriate"]
    assert Study.doctor(study.address).is_sound


def test_how_far_somebody_is_is_the_same_at_both(study: Study, both: tuple[Served, Served]) -> None:
    first, second = both
    ana = invited(study, "ana")
    for at in range(3):
        (task,) = json.loads(first.ask("/api/next?n=1", ana)[1])["tasks"]
        answer = {"request_id": f"r-0000000{at}", "assignment_id": task["assignment_id"], "answer": "not_sure"}
        assert first.ask("/api/judgements", ana, answer)[0] == 200
        assert json.loads(second.ask("/api/progress", ana)[1])["done"] == at + 1


def test_wrong_tokens_are_counted_over_both_and_by_one_that_is_started_again(
    study: Study, both: tuple[Served, Served], tmp_path: Path
) -> None:
    asked = [one.ask("/api/me", "not-a-token")[0] for _ in range(13) for one in both]
    assert asked == [401] * 20 + [429] * 6
    right = invited(study, "ana")
    assert [one.ask("/api/me", right)[0] for one in both] == [200, 200]
    both[0].end()
    again = Served(study.address, output=tmp_path / "again.log")
    try:
        assert again.ask("/api/me", "not-a-token")[0] == 429
        assert again.ask("/api/me", right)[0] == 200
    finally:
        again.end()


def test_who_came_in_at_one_is_in_at_the_other_and_signed_out_of_both(
    study: Study, both: tuple[Served, Served]
) -> None:
    token = invited(study, "lea")
    first, second = (one.url for one in both)
    with httpx2.Client(timeout=30) as browser:  # a cookie is good at every port of a machine
        assert browser.get(f"{second}/api/me").status_code == 401
        assert browser.post(f"{first}/join", data={"token": token}).status_code == 303
        assert browser.get(f"{second}/api/me").status_code == 200
        page = browser.get(f"{second}/lead")
        assert page.status_code == 200
        left = dict(browser.cookies)
        csrf = re.search(r'name="csrf" value="(\w+)"', page.text)
        assert csrf
        assert browser.post(f"{second}/leave", data={"csrf": csrf[1]}).status_code == 303
    with httpx2.Client(cookies=left, timeout=30) as copy:
        assert copy.get(f"{first}/api/me").status_code == 401
