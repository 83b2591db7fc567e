"""Every role gets its own routes and no others; a new route fails here until it is said whose it is."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from html import unescape
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from conftest import one_quick, one_short
from fastapi.routing import APIRoute, iter_route_contexts
from fastapi.testclient import TestClient
from httpx2 import Response

from fcpair.params import Annotate
from fcpair.records import Role
from fcpair.study import Study
from fcpair.web.visits import roles_of
from web.conftest import EVERYBODY, Site, csrf_of

ALL = frozenset(Role)
PUBLIC = {("GET", "/join"), ("POST", "/join"), ("GET", "/api/openapi.json"), ("GET", "/worker.js")}
AT_THE_DESK = frozenset({Role.ANNOTATOR, Role.WRITER, Role.RATER, Role.RESPONDENT})
WORKERS = AT_THE_DESK | {Role.VALIDATOR}
READERS = WORKERS | {Role.ADJUDICATOR}
ADJUDICATORS, LEAD = frozenset({Role.ADJUDICATOR}), frozenset({Role.LEAD})
OF = [  # the first that matches the address, or the method and the address
    (r"/(leave|guidelines)?", ALL),
    (r"GET /settings|POST /language", ALL),
    (r"/(welcome|settings|language|thanks)", READERS),
    (r"/(offline(/.*)?|manifest\.webmanifest|qualification)", WORKERS),
    (r"/discussion", WORKERS | LEAD),
    (r"/practice", frozenset({Role.ANNOTATOR, Role.RATER, Role.VALIDATOR})),
    (r"/annotate.*", AT_THE_DESK),
    (r"/validate.*", frozenset({Role.VALIDATOR})),
    (r"/adjudicate.*", ADJUDICATORS),
    (r"/lead.*", LEAD),
    (r"/api/(me|consent|settings)", ALL),
    (r"/api/(next|judgements|check|answers|progress|renumber)", WORKERS),
    (r"/api/(conflicts|decisions|decided).*", ADJUDICATORS),
]
SENT: dict[str, Any] = {  # what fits each field of a body or a form
    "request_id": "request-1234",
    "outcome": "appropriate",
    "answer": "appropriate",
    "demographics": {},
    "assignment_ids": [],
}


def routes(site: Site) -> list[tuple[str, str, APIRoute | None]]:
    """Method, address and route of everything that the app answers, static files apart."""
    found = []
    for context in iter_route_contexts(site.app.routes):
        route = context.original_route
        for method in sorted(getattr(context, "methods", None) or ()):
            if method != "HEAD":
                found.append((method, str(context.path), route if isinstance(route, APIRoute) else None))
    return found


def allowed(method: str, path: str) -> frozenset[Role]:
    route = f"{method} {path}"
    return next(roles for pattern, roles in OF if re.fullmatch(pattern, path) or re.fullmatch(pattern, route))


def call(client: TestClient, method: str, path: str, route: APIRoute | None, **headers: str) -> Response:
    """Ask with something in every place, so that only the door can be what refuses."""
    sent: dict[str, Any] = {}
    for field in route.dependant.body_params if route else ():
        if path.startswith("/api/"):
            model: Any = field.field_info.annotation
            names = [name for name, one in model.model_fields.items() if one.is_required()]
            sent["json"] = {name: SENT.get(name, 1) for name in names}
        else:
            sent.setdefault("data", {})[field.name] = SENT.get(field.name, "1")
    return client.request(method, re.sub(r"\{\w+\}", "1", path), headers=headers, **sent)


def closed(site: Site) -> list[tuple[str, str, APIRoute | None]]:
    return [one for one in routes(site) if one[:2] not in PUBLIC]


def is_refused_by_role(response: Response) -> bool:
    return response.status_code == 403 and "is not for" in response.text


def test_the_walk_sees_every_kind_of_route(site: Site) -> None:
    found = {(method, path) for method, path, _ in routes(site)}
    expected = {("GET", "/"), ("POST", "/leave"), ("GET", "/annotate"), ("GET", "/adjudicate"), ("GET", "/lead")}
    assert found >= expected | PUBLIC | {("POST", "/api/judgements"), ("POST", "/api/decisions/{cell_id}/undo")}
    assert len(found) > 40


def test_of_every_route_it_is_said_whose_it_is(site: Site) -> None:
    assert [path for _, path, _ in closed(site) if not any(re.fullmatch(pattern, path) for pattern, _ in OF)] == []


def test_each_endpoint_says_itself_whose_it_is(site: Site) -> None:
    for method, path, route in routes(site):
        declared = roles_of(route.endpoint) if route else frozenset()
        expected = frozenset() if (method, path) in PUBLIC else allowed(method, path)
        assert declared - {Role.MODEL} == expected - {Role.MODEL}, (method, path)  # a model never comes in


def test_strangers_are_sent_to_the_door(site: Site) -> None:
    stranger = site.stranger()
    for method, path, route in closed(site):
        response = call(stranger, method, path, route)
        if path.startswith("/api/"):
            assert response.status_code == 401, (method, path)
            assert response.headers["www-authenticate"] == "Bearer"
        else:
            assert (response.status_code, response.headers.get("location")) == (303, "/join"), (method, path)


@pytest.mark.parametrize("name", EVERYBODY)
@pytest.mark.parametrize("stage", ["dealt", "checking"])
def test_nobody_gets_the_routes_of_another_role(serve: Callable[..., Site], stage: str, name: str) -> None:
    check_routes(serve(stage), name, EVERYBODY[name])


@pytest.mark.parametrize("role", sorted(AT_THE_DESK - {Role.ANNOTATOR}))
def test_writers_raters_and_respondents_come_to_the_desk_of_annotators(site: Site, role: Role) -> None:
    site.study.add_people(["rob"], role)
    check_routes(site, "rob", role)
    browser = site.browser("rob")
    assert browser.get("/").headers["location"] == "/annotate"
    assert {browser.get(path).status_code for path in ("/annotate", "/thanks", "/settings", "/guidelines")} == {200}


def check_routes(site: Site, name: str, role: Role) -> None:
    """The routes of other roles are refused."""
    client = site.machine(name)
    for method, path, route in closed(site):
        if role not in allowed(method, path):
            assert is_refused_by_role(call(client, method, path, route)), (method, path)


JSON, FORM, MULTIPART = "application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"
MALFORMED: tuple[tuple[str, bytes], ...] = (
    (JSON, b"["),
    (JSON, b"\xff\xfe"),
    (JSON, b'"a word"'),
    (JSON, b'{"request_id": 7}'),
    (FORM, b"cell_id=x&negatives=x&consent=x&blurred=x&more=x&blind=x"),
    (FORM, b"\xff\0=%"),
    (MULTIPART, b"x"),
    ("text/plain", b"\0"),
)


def malformed(client: TestClient, method: str, path: str) -> list[Response]:
    """Ask with what has not the declared shape, in the address or in the body."""
    whole, broken = (re.sub(r"\{\w+\}", sign, path) for sign in ("1", "x"))
    found = [client.request(method, broken), client.request(method, f"{whole}?n=x&before=x&after=x&run=x")]
    for kind, body in MALFORMED if method != "GET" else ():
        found.append(client.request(method, whole, content=body, headers={"content-type": kind}))
    return found


@pytest.mark.parametrize("name", one_quick(*EVERYBODY))
def test_who_has_another_role_is_told_that_whatever_they_send(site: Site, name: str) -> None:
    client = site.machine(name)
    for method, path, _ in closed(site):
        if EVERYBODY[name] not in allowed(method, path):
            for response in malformed(client, method, path):
                assert is_refused_by_role(response), (method, path, response.status_code, response.text[:200])


def test_who_has_another_role_is_told_whom_it_is_not_for(site: Site) -> None:
    for name, path, whom in (("ana", "/api/decisions", "annotators"), ("lea", "/api/judgements", "the lead")):
        assert f"this is not for {whom}" in site.machine(name).post(path, json={}).text


@pytest.mark.slow
def test_strangers_are_sent_to_the_door_whatever_they_send(site: Site) -> None:
    stranger = site.stranger()
    for method, path, _ in closed(site):
        for response in malformed(stranger, method, path):
            expected = (401, None) if path.startswith("/api/") else (303, "/join")
            assert (response.status_code, response.headers.get("location")) == expected, (method, path)


def test_whose_route_it_is_learns_what_is_wrong_with_what_they_sent(site: Site) -> None:
    for name, path in (("ana", "/api/judgements"), ("judy", "/api/decisions")):
        for body, status in ((b"[", 422), (b"\xff", 400)):
            sent = site.machine(name).post(path, content=body, headers={"content-type": JSON})
            assert sent.status_code == status
    assert site.machine("lea").post("/lead/download/tier", data={"seed": "x"}).status_code == 422


@pytest.mark.parametrize("name", EVERYBODY)
def test_everybody_gets_the_routes_of_their_own_role(serve: Callable[..., Site], name: str) -> None:
    site = serve("checking")
    for method, path, route in closed(site):
        if EVERYBODY[name] in allowed(method, path):
            response = call(site.machine(name), method, path, route)
            assert not is_refused_by_role(response), (method, path)
            assert response.status_code not in {401, 500}, (method, path, response.text)
            assert response.headers.get("location") != "/join" or path == "/leave", (method, path)


@pytest.mark.parametrize("name", EVERYBODY)
def test_no_form_and_no_act_of_the_api_goes_without_the_token_of_the_session(site: Site, name: str) -> None:
    browser = site.browser(name)
    assert csrf_of(browser)
    for method, path, route in closed(site):
        if method != "GET" and EVERYBODY[name] in allowed(method, path):
            response = call(browser, method, path, route)
            assert response.status_code == 403, (method, path)
            assert "out of date" in response.text


def test_nobody_who_has_not_consented_gets_a_pair(serve: Callable[..., Site]) -> None:
    for stage, name in (("dealt", "ana"), ("checking", "vera"), ("labelled", "judy")):
        machine = serve(stage).machine(name, consent=False)
        for path in ("/api/next", "/api/answers", "/api/progress", "/api/conflicts/next", "/api/conflicts/1"):
            assert machine.get(path).status_code == 403
        for path in ("/annotate", "/validate", "/adjudicate", "/discussion", "/thanks"):
            assert machine.get(path).status_code in {303, 403}


# Every page of every example study, as each role comes upon it

EXAMPLES = ("survey", "recipe", "ask", "curate", "localise", "printers", "write", "writing")
BEGIN = ("/", "/lead", "/adjudicate", "/annotate", "/guidelines", "/settings", "/thanks", "/welcome")
LINK = re.compile(r'(?:href|src|srcset|hx-get)="(/[^"#]*)')
MOST_PAGES = 400


def pages(browser: TestClient) -> Iterator[tuple[str, int]]:
    """Whatever links lead to from where people begin, each with its status; of a list in parts its first page."""
    waiting, seen = [*BEGIN], set[str]()
    while waiting and len(seen) < MOST_PAGES:
        address = waiting.pop(0)
        if address in seen or "after=" in address or "before=" in address:
            continue
        seen.add(address)
        answer = browser.get(address)
        yield address, answer.status_code
        if answer.headers.get("content-type", "").startswith("text/html"):
            waiting += [link for link in map(unescape, LINK.findall(answer.text)) if not link.startswith("/static")]


@pytest.mark.slow
@pytest.mark.parametrize("example", one_short(*EXAMPLES))
def test_no_page_fails(walked: Callable[[str], Path], tmp_path: Path, example: str) -> None:
    site = Site(Study(shutil.copy(walked(example), tmp_path / "study.db")), Annotate())
    n_opened = 0
    for name in EVERYBODY:
        for address, status in pages(site.browser(name)):
            assert status < HTTPStatus.INTERNAL_SERVER_ERROR, (name, address)
            too_early = status == HTTPStatus.CONFLICT  # said on a page of its own
            assert status < HTTPStatus.BAD_REQUEST or too_early or address in BEGIN, (name, address)
            n_opened += status == 200
    site.close()
    assert n_opened > 20
