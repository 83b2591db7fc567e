"""Coming in and leaving: invite links, sessions, bearer tokens, forms, wrong tokens, and what ends a session."""

from __future__ import annotations

import logging
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from awaited import until
from click.testing import CliRunner
from fastapi.testclient import TestClient
from httpx2 import Response
from itsdangerous import URLSafeTimedSerializer
from servers import execute

from fcpair.cli import main
from fcpair.records import Role, Visitor
from fcpair.study import Study
from fcpair.web import app, auth
from fcpair.web.auth import Sessions, is_known
from fcpair.web.pages.documentation import help_address
from web.conftest import Serve, Site, csrf_of, is_in, page_of, send

WRONG = "not-a-token"


def join(client: TestClient, token: str, **headers: str) -> Response:
    return client.post("/join", data={"token": token}, headers=headers)


def test_a_token_or_its_whole_link_opens_a_session_and_leads_to_the_start(site: Site) -> None:
    for link in (site.token("ana"), f" http://localhost:8000/join#{site.token('ana')}\n"):
        browser = site.stranger()
        joined = join(browser, link)
        assert (joined.status_code, joined.headers["location"]) == (303, "/")
        assert browser.get("/").headers["location"] == "/annotate"
        assert browser.get("/api/me").json()["name"] == "ana"


def test_a_wrong_token_opens_nothing_and_says_so(site: Site) -> None:
    for token in ("", WRONG, "نه\0", "x" * 5000):
        browser = site.stranger()
        refused = join(browser, token)
        assert refused.status_code == 403
        assert "This link does not work" in refused.text
        assert "set-cookie" not in refused.headers
        assert not is_in(browser)


def test_the_cookie_is_kept_from_scripts_and_other_sites_and_shows_no_secret(site: Site) -> None:
    token = site.token("ana")
    joined = join(site.stranger(), token)
    flags = {flag.lower() for flag in joined.headers["set-cookie"].split("; ")[1:]}
    assert flags == {"httponly", "max-age=2592000", "path=/", "samesite=lax"}
    payload = URLSafeTimedSerializer("").loads_unsafe(joined.cookies.popitem()[1])[1]
    assert token not in str(payload)
    assert site.visitor("ana").key not in str(payload)
    browser = site.stranger(base_url="https://labels.example.org")  # for https alone where the request came by that
    assert "secure" in join(browser, token).headers["set-cookie"].lower()


def test_another_role_holds_at_the_next_request(serve: Serve) -> None:
    site = serve("checked")
    browser = site.browser("judy")
    assert browser.get("/lead").status_code == 403
    site.study.change_role("judy", Role.LEAD)
    assert browser.get("/lead").status_code == 200


def visitor(key: str = "k") -> Visitor:
    return Visitor(1, "ana", Role.ANNOTATOR, key, True, False)


def test_a_session_is_read_only_with_the_secret_that_made_it_and_lasts_thirty_days(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sessions = Sessions("one")
    value = sessions.make_cookie(visitor())
    read = sessions.parse_cookie(value)
    assert read is not None
    assert sessions.has_key(read, visitor().key)
    assert not sessions.has_key(read, visitor("another").key)
    assert Sessions("two").parse_cookie(value) is None
    assert sessions.parse_cookie(f"x{value[1:]}") is None
    assert sessions.parse_cookie("") is None
    assert Sessions("one").cookie != Sessions("two").cookie  # two studies on one machine
    assert auth.MAX_AGE_S == 30 * 24 * 3600
    monkeypatch.setattr(auth, "MAX_AGE_S", -1)
    assert sessions.parse_cookie(value) is None


# Forms


def test_a_form_goes_with_the_token_of_its_session_as_a_field_or_a_header(site: Site) -> None:
    browser, other = site.browser("ana"), site.browser("ana")
    csrf, settings = csrf_of(browser), {"blurred": True}
    for sent in ("", "0" * 64, "é"):
        assert browser.post("/settings", data={"csrf": sent, "blurred": "1"}).status_code == 403
        headers = {b"X-CSRF-Token": sent.encode()}
        assert browser.put("/api/settings", json=settings, headers=headers).status_code == 403
    assert csrf_of(other) != csrf  # that of another session is refused even of the same person
    for token in (csrf_of(other), csrf_of(site.browser("vera"))):
        assert browser.post("/settings", data={"csrf": token}).status_code == 403
    in_another_encoding = {"content-type": "text/plain"}
    assert browser.post("/leave", content=f"csrf={csrf}".encode(), headers=in_another_encoding).status_code == 403
    assert not browser.get("/api/me").json()["blurred"]
    assert browser.put("/api/settings", json=settings, headers={"X-CSRF-Token": csrf}).status_code == 204
    assert browser.post("/settings", data={"csrf": csrf}).status_code == 303


def test_nobody_is_signed_in_from_another_site(site: Site) -> None:
    refused: tuple[dict[str, str], ...] = (
        *({"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}),
        *({"origin": "https://elsewhere.example"}, {"origin": "null"}, {"origin": "http://["}),
    )
    taken: tuple[dict[str, str], ...] = (
        {"sec-fetch-site": "same-origin", "origin": "https://behind.a.proxy"},
        {"origin": "http://testserver"},
        {},
    )
    for status, cases in ((403, refused), (303, taken)):
        for headers in cases:
            assert join(site.stranger(), site.token("ana"), **headers).status_code == status, headers


def test_a_bearer_token_needs_no_session_and_sets_none(site: Site) -> None:
    machine = site.machine("ana")
    assert machine.put("/api/settings", json={"blurred": True}).status_code == 204
    assert machine.get("/api/me").json()["blurred"]
    assert not machine.cookies
    assert machine.post("/leave").status_code == 303
    assert is_in(machine)
    assert n_ended(site) == 0
    for header in ("", "Bearer", "Bearer ", f"Bearer {WRONG}", "Bearer é", "Basic YW5hOmFuYQ=="):
        refused = site.stranger().get("/api/me", headers={b"Authorization": header.encode()})
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == "Bearer"
        assert refused.json()["detail"]
    signed_in = site.browser("ana")  # whose session does not make a wrong token good
    assert signed_in.get("/api/me", headers={"Authorization": f"Bearer {WRONG}"}).status_code == 401
    refused = site.stranger().get("/annotate", headers={"HX-Request": "true"})  # no part of a page becomes the door
    assert (refused.status_code, refused.headers["hx-redirect"]) == (401, "/join")


# Wrong tokens

TRIES: dict[str, Callable[[TestClient], Response]] = {
    "join": lambda client: join(client, WRONG),
    "bearer": lambda client: client.get("/api/me", headers={"Authorization": f"Bearer {WRONG}"}),
    "body": lambda client: client.post("/api/judgements", json=[], headers={"Authorization": f"Bearer {WRONG}"}),
}


@pytest.mark.parametrize("way", TRIES)
def test_who_tries_too_many_wrong_tokens_has_to_wait_where_a_right_link_is_taken_at_once(site: Site, way: str) -> None:
    browser, stranger = site.browser("ana"), site.stranger()
    replies = [TRIES[way](stranger) for _ in range(25)]
    assert {reply.status_code for reply in replies[:20]} == {403 if way == "join" else 401}
    assert {reply.status_code for reply in replies[20:]} == {429}
    if way == "join":
        assert 'id="join"' in replies[20].text
        assert "A link that works lets you in at once." in replies[20].text
    assert 0 < int(TRIES[way](stranger).headers["retry-after"]) <= 60
    assert join(stranger, site.token("ana")).status_code == 303
    assert is_in(browser)
    assert is_in(site.machine("ana"))
    assert TRIES[way](site.stranger()).status_code == 429


def test_a_retired_person_s_client_that_goes_on_asking_shuts_nobody_out(serve: Serve) -> None:
    site = serve("checked")
    gone, ana = site.machine("judy"), site.machine("ana")
    site.study.retire("judy")
    assert {gone.get("/api/me").status_code for _ in range(100)} == {401, 429}
    assert is_in(ana)
    assert {join(site.stranger(), site.token("ana")).status_code for _ in range(30)} == {303}  # which is not counted


def from_address(site: Site, address: str) -> TestClient:
    """A client with a wrong token at an address."""
    client = TestClient(site.app, client=(address, 1), headers={"Authorization": f"Bearer {WRONG}"})
    site._clients.append(client)
    return client


@pytest.mark.parametrize(
    ("tried", "others", "elsewhere"),
    [
        ("2001:db8:1:2::1", ("2001:db8:1:2:ffff::9", "2001:DB8:1:2::1%eth0"), ("2001:db8:1:3::1", "192.0.2.1")),
        ("::ffff:192.0.2.1", ("192.0.2.1", "::ffff:c000:201"), ("192.0.2.2", "::ffff:192.0.2.3")),
        ("<script>" + "x" * 9_000, ("unknown", "", "999.1.1.1", "192.0.2.1:443", "٣.٣.٣.٣"), ("192.0.2.1", "::1")),
    ],
)
def test_wrong_tokens_are_counted_by_what_one_subscriber_has(
    site: Site, tried: str, others: tuple[str, ...], elsewhere: tuple[str, ...]
) -> None:
    client = from_address(site, tried)
    assert [client.get("/api/me").status_code for _ in range(21)] == [401] * 20 + [429]
    assert {from_address(site, address).get("/api/me").status_code for address in others} == {429}
    assert {from_address(site, address).get("/api/me").status_code for address in elsewhere} == {401}


def n_tried(site: Site) -> int:
    return int(execute(site.study.place, "SELECT count(*) FROM attempt")[0][0])


def test_a_wrong_token_is_counted_once_wherever_it_is_sent(site: Site) -> None:
    for n, path in enumerate(("/", "/join", "/nowhere", "/api/openapi.json", "/worker.js", "/api/next"), 1):
        site.stranger().get(path, headers={"Authorization": f"Bearer {WRONG}"})
        assert n_tried(site) == n
    stranger = site.stranger(headers={"Authorization": f"Bearer {WRONG}"})
    assert {stranger.put("/api/settings", content=b"x" * 10_000).status_code for _ in range(20)} == {401}
    assert stranger.get("/api/me").status_code == 429


def test_the_server_keeps_nothing_of_attempts_that_do_not_count_any_more(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "UPKEEP_S", 0.01)
    of_long_ago = "INSERT INTO attempt (place, at) VALUES ('0', '2026-03-02T12:00:00.000+00:00')"
    execute(site.study.place, of_long_ago)
    with TestClient(site.app) as client:  # begins and ends as a server does
        assert join(client, WRONG).status_code == 403
        execute(site.study.place, of_long_ago)
        until(lambda: n_tried(site) == 1)
    assert n_tried(site) == 1


def test_no_token_gets_into_a_log_or_an_address(site: Site, lea: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for name in list(logging.root.manager.loggerDict):
        logging.getLogger(name).setLevel(logging.NOTSET)
    browser, machine = site.browser("ana"), site.machine("vera")
    for client in (browser, machine):
        client.get("/api/me")
        client.post("/api/judgements", json={"request_id": site.tokens["ana"]})
    join(site.stranger(), "wrong-token-1234")
    site.stranger().get("/api/me", headers={"Authorization": "Bearer wrong-token-1234"})
    secrets = [*site.tokens.values(), *browser.cookies.values(), csrf_of(browser), "wrong-token-1234"]
    assert caplog.records
    for record in caplog.records:
        logged = f"{record.getMessage()} {record.__dict__}"
        assert not [secret for secret in secrets if secret in logged]
    for path in ("/lead", "/lead/people", "/guidelines"):
        html = page_of(lea, path)
        leading = {*re.findall(r'(?:href|src|action)="([^"]*)"', html)} - {help_address(path)}
        fragments = [address.partition("#")[2] for address in leading]
        assert {*fragments} <= {"", "main", "links", "tiers", "add"}  # parts of pages


@pytest.mark.parametrize(("name", "known"), [("ana", True), ("", False)])
def test_the_server_sees_afterwards_whether_somebody_of_the_study_asked(site: Site, name: str, known: bool) -> None:
    seen: list[Any] = []

    async def noting(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope)
        await site.app(scope, receive, send)

    headers = {"Authorization": f"Bearer {site.token(name)}"} if name else {}
    TestClient(noting, headers=headers).get("/api/next")
    assert is_known(seen[-1]) == known


# What ends a session, on the server and for every copy of its cookie


def leave(browser: TestClient) -> None:
    left = send(browser, "/leave")
    assert (left.status_code, left.headers["location"]) == (303, "/join")


def copy_of(site: Site, browser: TestClient) -> TestClient:
    """A client that somebody has given a copy of a cookie."""
    return site.stranger(cookies=dict(browser.cookies))


def n_ended(site: Site) -> int:
    return int(execute(site.study.place, "SELECT count(*) FROM ended_session")[0][0])


def test_leaving_ends_one_session_for_all_copies_of_its_cookie(site: Site) -> None:
    laptop, phone, ben = site.browser("ana"), site.browser("ana"), site.browser("ben")
    copy, form = copy_of(site, laptop), {"csrf": csrf_of(laptop)}
    assert is_in(copy)
    leave(laptop)
    assert not laptop.cookies
    assert not is_in(laptop)
    assert not is_in(copy)
    assert copy.get("/annotate").headers["location"] == "/join"
    assert copy.post("/leave", data=form).headers["location"] == "/join"
    assert not is_in(copy)
    assert all(is_in(browser) for browser in (phone, ben, site.browser("ana")))
    site.study.access.forget("ana")  # what she said of herself; that lets no session live again
    assert not is_in(copy)


ENDS: dict[str, Callable[[Study], object]] = {
    "invite": lambda study: study.access.invite("ana"),
    "revoke": lambda study: study.access.revoke("ana"),
    "retire": lambda study: study.retire("ana"),
    "rotate": lambda study: study.access.rotate_secret(),
}


@pytest.mark.parametrize("act", ENDS)
def test_sessions_and_tokens_end_with_the_invite_and_which_ended_before_is_forgotten(site: Site, act: str) -> None:
    browser, other, machine = site.browser("ana"), site.browser("ana"), site.machine("ana")
    copy = copy_of(site, browser)
    leave(browser)
    assert n_ended(site) == 1
    assert is_in(other)
    assert is_in(machine)
    ENDS[act](site.study)
    assert n_ended(site) == 0
    assert not is_in(copy)
    assert not is_in(other)
    assert is_in(machine) is (act == "rotate")
    assert other.get("/annotate").headers["location"] == "/join"


def test_what_has_ended_is_forgotten_when_its_cookie_is_too_old_anyway(site: Site) -> None:
    site.study.access.end_session(site.visitor("ana").id, "of old", -1)
    assert n_ended(site) == 1
    leave(site.browser("ana"))
    assert n_ended(site) == 1


def forged(path: Path, name: str, cookie: str) -> dict[str, str]:
    """A cookie for anybody, made by who has a copy of the study and nothing else."""
    query = "SELECT person.id, role, token_hash, session_secret FROM person, study WHERE name = ?"
    with closing(sqlite3.connect(path)) as connection:
        person_id, _, key, secret = connection.execute(query, [name]).fetchone()
    with closing(Study(path)) as study:
        somebody = study.access.by_id(person_id)
    assert somebody is not None
    assert somebody.key == key
    return {cookie: Sessions(secret).make_cookie(somebody)}


def test_a_copy_of_the_study_acts_as_anybody_until_the_secret_is_renewed(site: Site, tmp_path: Path) -> None:
    site.token("lea")
    browser, machine, runner = site.browser("ana"), site.machine("vera"), CliRunner()
    (cookie,) = browser.cookies
    copy = Path(shutil.copy(site.study.place, tmp_path / "copy.db"))
    thief = site.stranger(cookies=forged(copy, "lea", cookie))
    assert thief.get("/api/me").json()["role"] == "lead"
    command = ["people", "rotate-secret", "--study", site.study.place]
    refused = runner.invoke(main, command, input="n\n")  # it asks before it signs everybody out
    assert refused.exit_code == 130
    assert "Everybody is signed out" in refused.output
    assert is_in(browser)
    assert runner.invoke(main, command, input="y\n").exit_code == 0
    assert not is_in(thief)
    assert not is_in(site.stranger(cookies=forged(copy, "lea", cookie)))
    assert not is_in(browser)
    assert is_in(machine)
    again = site.browser("ana")
    assert list(again.cookies) == [cookie]
    assert is_in(again)
    assert send(again, "/settings").status_code == 303
    assert runner.invoke(main, [*command, "--yes"]).exit_code == 0
    assert not is_in(again)


def test_a_new_secret_shows_nowhere_and_changes_nothing_that_people_see(serve: Serve) -> None:
    site = serve("labelled")
    machine = site.machine("judy")
    before = machine.get("/api/conflicts/next").json()
    run = site.study.access.rotate_secret()
    assert machine.get("/api/conflicts/next").json() == before
    assert (run.stage, run.params) == ("people", {"rotate_secret": True})
    assert site.study.access.session_secret not in str(site.study.log())
    ana = site.visitor("ana")
    assert ana.role is Role.ANNOTATOR
    assert ana.session_secret
    assert ana.session_secret not in repr(ana)
    with closing(Study(site.study.place)) as other:
        other.access.rotate_secret()
    assert is_in(site.browser("ana"))  # who comes in first after that is let in
