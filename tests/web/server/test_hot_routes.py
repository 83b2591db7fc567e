"""What is asked for at every answer takes a short way once somebody is known, and is answered as on the usual one."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from web.conftest import Serve, Site, csrf_of

JSON = {"Content-Type": "application/json"}
GOOD = {"request_id": "request-of-mine", "assignment_id": 1, "answer": "appropriate", "seconds": 1.5}
BODIES: dict[str, tuple[bytes, dict[str, str]]] = {
    "an answer": (json.dumps(GOOD).encode(), JSON),
    "another's pair": (json.dumps({**GOOD, "assignment_id": 10**6}).encode(), JSON),
    "no such answer": (json.dumps({**GOOD, "answer": "perhaps"}).encode(), JSON),
    "a key too many": (json.dumps({**GOOD, "examined": True}).encode(), JSON),
    "a key too few": (b'{"request_id": "request-of-mine"}', JSON),
    "a short request id": (json.dumps({**GOOD, "request_id": "x"}).encode(), JSON),
    "not a number": (b'{"request_id": "request-of-mine", "assignment_id": 1, "answer": NaN}', JSON),
    "a time": (json.dumps({**GOOD, "answered_at": datetime.now(UTC).isoformat()}).encode(), JSON),
    "no time": (json.dumps({**GOOD, "answered_at": "yesterday"}).encode(), JSON),
    "a time to come": (json.dumps({**GOOD, "answered_at": "2999-01-01T00:00:00Z"}).encode(), JSON),
    "a time that is a number": (json.dumps({**GOOD, "answered_at": 1_795_000_000}).encode(), JSON),
    "NUL": (json.dumps({**GOOD, "note": "\0"}).encode(), JSON),
    "a list": (b"[]", JSON),
    "nothing": (b"", JSON),
    "no JSON": (b"{", JSON),
    "brackets": (b"[" * 5_000, JSON),
    "a key twice": (json.dumps(GOOD).encode().replace(b"{", b'{"answer": "not_appropriate", '), JSON),
    "brackets that are closed": (json.dumps(GOOD).encode().replace(b"1.5", b"[" * 1_500 + b"]" * 1_500), JSON),
    "no UTF-8": (b'{"request_id": "\xff"}', JSON),
    "another type": (json.dumps(GOOD).encode(), {"Content-Type": "text/plain"}),
    "a type with a charset": (json.dumps(GOOD).encode(), {"Content-Type": "application/json; charset=utf-8"}),
}
QUERIES = ["", "?n=1", "?n=3", "?n=50", "?n=51", "?n=0", "?n=01", "?n=x", "?n=", "?m=2", "?n=1&n=2"]
HAVE = ["", "1", "1,2.345", "1,", ",1", "1.", "x", "1%2C2", "12345678901234567", ",".join("1" * 50), ",".join("1" * 51)]
QUERIES += ["?have=1", "?have=1&n=3", *(f"?n=3&have={have}" for have in HAVE)]


def forget_all(site: Site) -> None:
    """Have everybody looked up anew, and go the usual way."""
    site.app.state.context.door._remembered.clear()


def is_remembered(site: Site) -> bool:
    return bool(site.app.state.context.door._remembered)


def answer_of(response: Response) -> tuple[Any, ...]:
    return response.status_code, sorted(response.headers.items()), response.content


def test_whatever_is_sent_is_answered_as_on_the_usual_way(serve: Serve) -> None:
    usual, hot = serve("dealt"), serve("dealt")
    for at, (name, (content, headers)) in enumerate(BODIES.items()):
        replies = []
        for site in (usual, hot):
            ana = site.machine("ana")
            assignment_id = ana.get("/api/next").json()["tasks"][0]["assignment_id"]
            mine = content.replace(b'"assignment_id": 1,', f'"assignment_id": {assignment_id},'.encode())
            mine = mine.replace(b"request-of-mine", f"request-no-{at:04}".encode())
            if site is usual:
                forget_all(site)
            assert is_remembered(site) is (site is hot)
            replies.append(answer_of(ana.post("/api/judgements", content=mine, headers=headers)))
        ours, theirs = ((status, _without_id(body)) for status, _, body in replies)
        assert (ours, replies[0][1][0]) == (theirs, replies[1][1][0]), name
    assert len(usual.study.grid().labels()) == len(hot.study.grid().labels()) > 1


def _without_id(body: bytes) -> Any:
    """What was said, but for the number of the answer, which rests on the study's secret."""
    return {name: value for name, value in json.loads(body).items() if name != "judgement_id"}


def test_however_many_pairs_are_asked_for_they_are_those_of_the_usual_way(site: Site) -> None:
    ana = site.machine("ana")
    for query in QUERIES:
        ana.get("/api/next")
        assert is_remembered(site)
        hot = answer_of(ana.get(f"/api/next{query}"))
        forget_all(site)
        assert answer_of(ana.get(f"/api/next{query}")) == hot, query


def shut_out(site: Site, who: str) -> dict[str, Callable[[], object]]:
    """What ends somebody's token or session."""
    return {
        "a new link": lambda: site.study.access.invite(who),
        "a shut door": lambda: site.study.access.revoke(who),
        "a new secret": site.study.access.rotate_secret,
        "retired": lambda: site.study.retire(who),
    }


@pytest.mark.parametrize("how", ["a new link", "a shut door", "retired"])
def test_a_token_that_holds_no_more_is_refused_at_once(site: Site, how: str) -> None:
    ana = site.machine("ana")
    task = ana.get("/api/next").json()["tasks"][0]
    assert is_remembered(site)
    shut_out(site, "ana")[how]()
    assert ana.get("/api/next").status_code == 401
    sent = {**GOOD, "assignment_id": task["assignment_id"]}
    assert ana.post("/api/judgements", json=sent).status_code == 401


@pytest.mark.parametrize("how", ["a new link", "a new secret", "left"])
def test_a_session_that_has_ended_is_refused_at_once(site: Site, how: str) -> None:
    ana = site.browser("ana")
    csrf = csrf_of(ana)
    task = ana.get("/api/next").json()["tasks"][0]
    copy = TestClient(site.app, cookies=dict(ana.cookies), follow_redirects=False)
    assert copy.get("/api/next").status_code == 200
    if how == "left":
        assert ana.post("/leave", data={"csrf": csrf}).status_code == 303
    else:
        shut_out(site, "ana")[how]()
    assert copy.get("/api/next").status_code == 401
    sent = {**GOOD, "assignment_id": task["assignment_id"]}
    assert copy.post("/api/judgements", json=sent, headers={"X-CSRF-Token": csrf}).status_code == 401
    copy.close()


def test_a_form_of_another_page_is_refused_on_the_short_way_too(site: Site) -> None:
    ana = site.browser("ana")
    task = ana.get("/api/next").json()["tasks"][0]
    assert is_remembered(site)
    refused = ana.post("/api/judgements", json={**GOOD, "assignment_id": task["assignment_id"]})
    assert (refused.status_code, "form is out of date" in refused.json()["detail"]) == (403, True)


def test_who_agrees_to_take_part_is_let_in_at_once(site: Site) -> None:
    ana = site.machine("ana", consent=False)
    assert ana.get("/api/next").status_code == 403
    assert ana.post("/api/consent", json={}).status_code == 204
    assert ana.get("/api/next").status_code == 200
