"""Coming in: invite links, sessions, bearer tokens, forms, and what ends a session."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any

import pytest
from awaited import until
from fastapi.testclient import TestClient
from httpx2 import Response
from itsdangerous import URLSafeTimedSerializer
from servers import execute

from fcpair.records import Role, Visitor
from fcpair.web import app, auth
from fcpair.web.auth import Sessions, is_known
from web.conftest import Site, csrf_of

WRONG = "not-a-token"


def is_in(client: TestClient) -> bool:
    return client.get("/api/me").status_code == 200


def join(client: TestClient, token: str, **headers: str) -> Response:
    return client.post("/join", data={"token": token}, headers=headers)


def test_a_token_opens_a_session_and_leads_to_the_start(site: Site) -> None:
    browser = site.stranger()
    joined = join(browser, site.token("ana"))
    assert (joined.status_code, joined.headers["location"]) == (303, "/")
    assert browser.get("/").headers["location"] == "/annotate"
    assert browser.get("/api/me").json()["name"] == "ana"


def test_a_whole_link_will_do_in_place_of_its_token(site: Site) -> None:
    browser = site.stranger()
    assert join(browser, f" http://localhost:8000/join#{site.token('ana')}\n").status_code == 303
    assert is_in(browser)


@pytest.mark.parametrize("token", ["", WRONG, "نه\0", "x" * 5000])
def test_a_wrong_token_opens_nothing_and_says_so(site: Site, token: str) -> None:
    browser = site.stranger()
    refused = join(browser, token)
    assert refused.status_code == 403
    assert "This link does not work" in refused.text
    assert "set-cookie" not in refused.headers
    assert not is_in(browser)


def test_the_cookie_is_kept_from_scripts_and_other_sites(site: Site) -> None:
    flags = join(site.stranger(), site.token("ana")).headers["set-cookie"].split("; ")[1:]
    assert {flag.lower() for flag in flags} == {"httponly", "max-age=2592000", "path=/", "samesite=lax"}


def test_the_cookie_is_for_https_alone_where_the_request_came_by_that(site: Site) -> None:
    browser = site.stranger(base_url="https://labels.example.org")
    assert "secure" in join(browser, site.token("ana")).headers["set-cookie"].lower()


def test_the_cookie_shows_neither_the_token_nor_the_key_that_the_study_keeps(site: Site) -> None:
    token = site.token("ana")
    visitor = site.study.access.by_token(token)
    assert visitor is not None
    payload = URLSafeTimedSerializer("").loads_unsafe(join(site.stranger(), token).cookies.popitem()[1])[1]
    assert token not in str(payload)
    assert visitor.key not in str(payload)


def test_leaving_ends_the_session_in_the_browser(site: Site) -> None:
    browser = site.browser("ana")
    left = browser.post("/leave", data={"csrf": csrf_of(browser)})
    assert (left.status_code, left.headers["location"]) == (303, "/join")
    assert not browser.cookies
    assert not is_in(browser)


ENDS: dict[str, Callable[[Site], object]] = {
    "revoke": lambda site: site.study.access.revoke("ana"),
    "invite": lambda site: site.study.access.invite("ana"),
    "retire": lambda site: site.study.retire("ana"),
}


@pytest.mark.parametrize("act", ENDS)
def test_sessions_and_tokens_end_with_the_invite(site: Site, act: str) -> None:
    browser, machine = site.browser("ana"), site.machine("ana")
    assert is_in(browser)
    assert is_in(machine)
    ENDS[act](site)
    assert not is_in(browser)
    assert not is_in(machine)
    assert browser.get("/annotate").headers["location"] == "/join"


def test_another_role_holds_at_the_next_request(serve: Callable[..., Site]) -> None:
    site = serve("checked")
    browser = site.browser("judy")
    assert browser.get("/lead").status_code == 403
    site.study.change_role("judy", Role.LEAD)
    assert browser.get("/lead").status_code == 200


def visitor(key: str = "k") -> Visitor:
    return Visitor(1, "ana", Role.ANNOTATOR, key, True, False)


def test_a_session_is_read_only_with_the_secret_that_made_it() -> None:
    sessions = Sessions("one")
    value = sessions.make_cookie(visitor())
    read = sessions.parse_cookie(value)
    assert read is not None
    assert sessions.has_key(read, visitor().key)
    assert not sessions.has_key(read, visitor("another").key)
    assert Sessions("two").parse_cookie(value) is None
    assert sessions.parse_cookie(f"x{value[1:]}") is None
    assert sessions.parse_cookie("") is None


def test_a_session_lasts_thirty_days(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = Sessions("one")
    value = sessions.make_cookie(visitor())
    assert auth.MAX_AGE_S == 30 * 24 * 3600
    monkeypatch.setattr(auth, "MAX_AGE_S", -1)
    assert sessions.parse_cookie(value) is None


def test_two_studies_on_one_machine_have_cookies_of_their_own() -> None:
    assert Sessions("one").cookie != Sessions("two").cookie


def test_a_form_goes_with_the_token_of_its_session_as_a_field_or_a_header(site: Site) -> None:
    browser = site.browser("ana")
    csrf = csrf_of(browser)
    settings = {"blurred": True}
    assert browser.put("/api/settings", json=settings, headers={"X-CSRF-Token": csrf}).status_code == 204
    assert browser.post("/settings", data={"csrf": csrf}).status_code == 303


@pytest.mark.parametrize("sent", ["", "0" * 64, "é"])
def test_a_form_without_its_token_or_with_a_wrong_one_is_refused(site: Site, sent: str) -> None:
    browser = site.browser("ana")
    assert browser.post("/settings", data={"csrf": sent, "blurred": "1"}).status_code == 403
    headers = {b"X-CSRF-Token": sent.encode()}
    assert browser.put("/api/settings", json={"blurred": True}, headers=headers).status_code == 403
    assert not browser.get("/api/me").json()["blurred"]


def test_the_token_of_another_session_is_refused_even_of_the_same_person(site: Site) -> None:
    first, second = site.browser("ana"), site.browser("ana")
    assert csrf_of(first) != csrf_of(second)
    assert first.post("/settings", data={"csrf": csrf_of(second)}).status_code == 403
    assert first.post("/settings", data={"csrf": csrf_of(site.browser("vera"))}).status_code == 403


def test_a_form_sent_in_another_encoding_carries_no_token(site: Site) -> None:
    browser = site.browser("ana")
    body = f"csrf={csrf_of(browser)}".encode()
    assert browser.post("/leave", content=body, headers={"content-type": "text/plain"}).status_code == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"origin": "https://elsewhere.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "same-origin", "origin": "https://behind.a.proxy"}, 303),
        ({"origin": "http://testserver"}, 303),
        ({}, 303),
    ],
)
def test_nobody_is_signed_in_from_another_site(site: Site, headers: dict[str, str], status: int) -> None:
    assert join(site.stranger(), site.token("ana"), **headers).status_code == status


def test_a_bearer_token_needs_no_session_and_sets_none(site: Site) -> None:
    machine = site.machine("ana")
    assert machine.put("/api/settings", json={"blurred": True}).status_code == 204
    assert machine.get("/api/me").json()["blurred"]
    assert not machine.cookies


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", f"Bearer {WRONG}", "Bearer é", "Basic YW5hOmFuYQ=="])
def test_a_wrong_authorization_is_refused(site: Site, header: str) -> None:
    refused = site.stranger().get("/api/me", headers={b"Authorization": header.encode()})
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"
    assert refused.json()["detail"]


def test_a_wrong_bearer_token_is_not_made_good_by_a_session(site: Site) -> None:
    assert site.browser("ana").get("/api/me", headers={"Authorization": f"Bearer {WRONG}"}).status_code == 401


def test_parts_of_pages_are_not_filled_with_the_door(site: Site) -> None:
    refused = site.stranger().get("/annotate", headers={"HX-Request": "true"})
    assert (refused.status_code, refused.headers["hx-redirect"]) == (401, "/join")


TRIES: dict[str, Callable[[TestClient], Response]] = {
    "join": lambda client: join(client, WRONG),
    "bearer": lambda client: client.get("/api/me", headers={"Authorization": f"Bearer {WRONG}"}),
    "body": lambda client: client.post("/api/judgements", json=[], headers={"Authorization": f"Bearer {WRONG}"}),
}


@pytest.mark.parametrize("way", TRIES)
def test_who_tries_too_many_wrong_tokens_has_to_wait(site: Site, way: str) -> None:
    browser, stranger = site.browser("ana"), site.stranger()
    statuses = [TRIES[way](stranger).status_code for _ in range(25)]
    assert set(statuses[:20]) == {403 if way == "join" else 401}
    assert set(statuses[20:]) == {429}
    assert 0 < int(TRIES[way](stranger).headers["retry-after"]) <= 60
    assert join(stranger, site.token("ana")).status_code == 303
    assert is_in(browser)
    assert is_in(site.machine("ana"))
    assert TRIES[way](site.stranger()).status_code == 429


def test_who_has_to_wait_is_on_the_page_that_takes_a_right_link_at_once(site: Site) -> None:
    stranger = site.stranger()
    shut = [join(stranger, WRONG) for _ in range(21)][-1]
    assert shut.status_code == 429
    assert 'id="join"' in shut.text
    assert "A link that works lets you in at once." in shut.text


def test_a_retired_person_s_client_that_goes_on_asking_shuts_nobody_out(serve: Callable[..., Site]) -> None:
    site = serve("checked")
    gone, ana = site.machine("judy"), site.machine("ana")
    site.study.retire("judy")
    assert {gone.get("/api/me").status_code for _ in range(100)} == {401, 429}
    assert is_in(ana)
    assert join(site.stranger(), site.token("ana")).status_code == 303


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
    assert {from_address(site, one).get("/api/me").status_code for one in others} == {429}
    assert {from_address(site, one).get("/api/me").status_code for one in elsewhere} == {401}


def test_a_wrong_token_with_a_large_body_is_counted_too(site: Site) -> None:
    stranger = site.stranger(headers={"Authorization": f"Bearer {WRONG}"})
    large = b"x" * 10_000
    assert {stranger.put("/api/settings", content=large).status_code for _ in range(20)} == {401}
    assert stranger.get("/api/me").status_code == 429


@pytest.mark.parametrize("path", ["/", "/join", "/nowhere", "/api/openapi.json", "/worker.js", "/api/next"])
def test_a_wrong_token_is_counted_once_wherever_it_is_sent(site: Site, path: str) -> None:
    site.stranger().get(path, headers={"Authorization": f"Bearer {WRONG}"})
    assert execute(site.study.place, "SELECT count(*) FROM attempt") == [(1,)]


def test_the_server_keeps_nothing_of_attempts_that_do_not_count_any_more(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "UPKEEP_S", 0.01)

    def add_one_of_long_ago() -> None:
        execute(site.study.place, "INSERT INTO attempt (place, at) VALUES ('0', '2026-03-02T12:00:00.000+00:00')")

    def n_kept() -> int:
        return int(execute(site.study.place, "SELECT count(*) FROM attempt")[0][0])

    add_one_of_long_ago()
    with TestClient(site.app) as client:  # begins and ends as a server does
        assert join(client, WRONG).status_code == 403
        add_one_of_long_ago()
        until(lambda: n_kept() == 1)
    assert n_kept() == 1


def test_good_tokens_are_not_counted(site: Site) -> None:
    assert {join(site.stranger(), site.token("ana")).status_code for _ in range(30)} == {303}


def test_no_token_gets_into_a_log(site: Site, caplog: pytest.LogCaptureFixture) -> None:
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
        said = f"{record.getMessage()} {record.__dict__}"
        assert not [secret for secret in secrets if secret in said]


def test_the_addresses_of_the_pages_hold_no_token(site: Site) -> None:
    browser = site.browser("lea")
    for path in ("/lead", "/lead/people", "/guidelines"):
        page = browser.get(path).text
        fragments = [address.partition("#")[2] for address in re.findall(r'(?:href|src|action)="([^"]*)"', page)]
        parts_of_pages = {"", "main", "links", "tiers"}
        assert {*fragments} <= parts_of_pages


def test_an_origin_that_is_none_is_refused(site: Site) -> None:
    stranger = site.stranger(headers={"Origin": "http://["})
    assert stranger.post("/join", data={"token": site.token("ana")}).status_code == 403


@pytest.mark.parametrize(("name", "known"), [("ana", True), ("", False)])
def test_the_server_sees_afterwards_whether_somebody_of_the_study_asked(site: Site, name: str, known: bool) -> None:
    seen: list[Any] = []

    async def noting(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope)
        await site.app(scope, receive, send)

    headers = {"Authorization": f"Bearer {site.token(name)}"} if name else {}
    TestClient(noting, headers=headers).get("/api/next")
    assert is_known(seen[-1]) == known
