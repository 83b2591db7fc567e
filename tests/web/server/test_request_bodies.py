"""Bodies: who may send how much, how quickly, and how much may be unfinished at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import pytest
from awaited import go_on, run, turns_until
from conftest import one_quick
from fastapi import Request
from fastapi.testclient import TestClient

from fcpair.errors import StudyError
from fcpair.params import MOST_GUIDELINES
from fcpair.records import Role
from fcpair.steps.people.access import Access
from fcpair.web.form import field
from fcpair.web.server import security
from fcpair.web.server.security import BodyReader, GoneError, RefusedBodyError
from web.conftest import Site, csrf_of, send

KIB, MIB = 1024, 1024 * 1024
JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}
GUIDELINES = "/lead/guidelines"


def streamed(n_bytes: int) -> Iterator[bytes]:
    for at in range(0, n_bytes, KIB):
        yield b"x" * min(KIB, n_bytes - at)


def test_a_stranger_may_send_8_kib(site: Site) -> None:
    stranger = site.stranger()
    assert stranger.post("/join", content=b"x" * 8 * KIB, headers=FORM).status_code == 403  # a wrong token
    for body in (b"x" * (8 * KIB + 1), streamed(8 * KIB + 1)):
        refused = stranger.post("/join", content=body, headers=FORM)
        assert refused.status_code == 413
        assert "you are not logged in, and without a login at most 8,192 bytes are accepted" in refused.text
        assert refused.headers["connection"] == "close"


def test_an_answer_of_somebody_whose_session_is_over_meets_401_however_long_it_is(site: Site) -> None:
    """The desk keeps an answer that meets 401 and gives up one that meets 413."""
    refused = site.stranger().post("/api/judgements", json={"note": "🙂" * 4_000})
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"
    assert "8,192 bytes" in refused.json()["detail"]


@pytest.mark.parametrize("name", ["ana", "lea"])
def test_whoever_is_logged_in_may_send_256_kib(site: Site, name: str) -> None:
    client = site.machine(name)
    for body in (b"x" * (256 * KIB + 1), streamed(256 * KIB + 1)):
        refused = client.post("/api/judgements", content=body, headers=JSON)
        assert refused.status_code == 413
        assert "262,144" in refused.json()["detail"]
    for body in (b"x" * 256 * KIB, streamed(256 * KIB)):
        assert client.post("/api/judgements", content=body, headers=JSON).status_code in {403, 422}


def test_only_the_lead_may_send_more_and_only_as_guidelines(site: Site) -> None:
    browser = site.browser("ana")  # a browser with a session is known, too
    form = urlencode({"csrf": csrf_of(browser), "blurred": "1", "x": "x" * 100 * KIB})
    assert browser.post("/settings", content=form, headers=FORM).status_code == 303
    large = urlencode({"body": "x" * 300 * KIB}).encode()
    assert site.machine("ana").post(GUIDELINES, content=large, headers=FORM).status_code == 413
    assert site.machine("lea").post("/lead/conflicts/validate", content=large, headers=FORM).status_code == 413
    assert site.machine("lea").post(GUIDELINES, content=large, headers=FORM).status_code == 200


def test_who_cannot_be_looked_up_is_told_so(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> None:
        raise StudyError("/srv/study.db: the disk is full")

    client = site.machine("ana")
    monkeypatch.setattr(Access, "by_token", failing)
    answer = client.post("/api/judgements", content=b"x" * 9 * KIB, headers=JSON)
    assert answer.status_code == 503
    assert "cannot be read or written just now" in answer.json()["detail"]


def test_a_form_of_too_many_fields_is_refused_before_it_is_taken_apart(site: Site) -> None:
    client = site.machine("lea")
    for separators in (b"&" * 256 * KIB, b"a&" * 1_000, b"a=b&" * 60 * KIB):
        for kind in (FORM["content-type"], "Application/X-WWW-Form-Urlencoded; charset=utf-8"):
            refused = client.post("/settings", content=separators, headers={"content-type": kind})
            assert refused.status_code == 413
            assert "at most 1,000" in refused.text
    for client in (site.stranger(), site.machine("ana"), site.machine("lea")):
        assert client.post(GUIDELINES, content=b"&" * 2 * MIB, headers=FORM).status_code == 413


# Guidelines.

ALPHABETS = {
    "letters": "Read both texts. " * 65_000,
    "Persian": "هر دو متن را بخوانید. " * 52_000,
    "lines": "\n".join(["- a rule"] * 200_000),
    "signs": "%&=+;ي\t" * 100_000,
    "ends of lines": "x" + "\n" * (2 * MIB - 2) + "y",
}


@pytest.mark.parametrize("kind", ALPHABETS)
def test_guidelines_of_up_to_2_mib_are_stored_as_they_were_typed(site: Site, lea: TestClient, kind: str) -> None:
    assert MOST_GUIDELINES == 2 * MIB
    text = ALPHABETS[kind][: 2 * MIB]
    assert MIB // 2 < len(text.encode()) <= 2 * MIB
    version, _ = site.study.guidelines
    typed = text.replace("\n", "\r\n")  # as browsers send them
    answer = send(lea, GUIDELINES, version=str(version), body=typed, act="save")
    assert answer.status_code == 303, answer.text[:1_000]
    assert site.study.guidelines == (version + 1, text)


@pytest.mark.parametrize("text", one_quick("x" * (2 * MIB + 1), "ن" * (MIB + 1)), ids=["letters", "Persian"])
def test_guidelines_of_more_are_refused_with_what_is_allowed(site: Site, lea: TestClient, text: str) -> None:
    answer = send(lea, GUIDELINES, version="1", body=text, act="save")
    assert answer.status_code == 422
    assert "the limit is 2,097,152" in answer.text
    answer = send(lea, GUIDELINES, version="1", body=text * 7, act="save")
    assert answer.status_code == 413
    assert "2,097,152 bytes" in answer.text
    assert site.study.guidelines[0] == 1


def test_a_form_that_cannot_be_read_is_not_said_to_be_expected_as_json(site: Site) -> None:
    browser = site.browser("ana")
    broken = {"content-type": "multipart/form-data; boundary=x", "x-csrf-token": csrf_of(browser)}
    answer = browser.post("/settings", content=b"--y", headers=broken)
    assert answer.status_code == 400
    assert "JSON" not in answer.text
    assert "form that was sent cannot be read" in answer.text


# Without an app: what is read, and for how long.


class Sent:
    """What a client sends: its parts, each some time after the one before, for which the clock is put forward."""

    def __init__(self, *parts: bytes, every_s: float = 0, ends: bool = True, length: int | None = None) -> None:
        self._parts, self._every_s, self._ends = list(parts), every_s, ends
        announced = (b"content-length", str(length).encode()) if length else (b"transfer-encoding", b"chunked")
        headers = [announced, (b"authorization", b"Bearer of-somebody")]
        self.scope = {"type": "http", "method": "POST", "path": "/x", "query_string": b"", "headers": headers}
        self.n_read = 0

    async def receive(self) -> dict[str, Any]:
        await go_on(self._every_s)
        while not self._parts:  # nothing comes any more, however long it is waited for
            await (go_on(self._every_s) if self._every_s else asyncio.Event().wait())
        self.n_read += 1
        part = self._parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(self._parts) or not self._ends}


def from_(role: Role | None) -> BodyReader:
    who: Callable[[Request], Any] = lambda _: role and SimpleNamespace(role=role)  # noqa: E731
    return BodyReader(who)


async def outcome(reader: BodyReader, sent: Sent) -> int:
    """How many bytes were read, or the status of the refusal."""
    try:
        return len(await reader.read(sent.scope, sent.receive))
    except RefusedBodyError as refused:
        return int(refused.status)


def test_no_more_is_read_of_a_stranger_than_is_allowed_and_nobody_is_looked_up_for_a_few_bytes() -> None:
    announced, in_parts = Sent(b"x", length=9 * KIB), Sent(*[b"x" * KIB] * 100)
    assert run(outcome(from_(None), announced)) == run(outcome(from_(None), in_parts)) == 413
    assert (announced.n_read, in_parts.n_read) == (0, 9)
    looked: list[str] = []
    reader = BodyReader(lambda request: looked.append(request.url.path))
    assert run(outcome(reader, Sent(b"x" * 8 * KIB))) == 8 * KIB
    assert looked == []
    assert run(outcome(reader, Sent(b"x" * 9 * KIB))) == 413
    assert looked == ["/x"]


@pytest.mark.parametrize("parts", [[b""], [b"x"], [b"x"] * 100], ids=["nothing", "a byte", "a byte a second"])
def test_a_body_that_does_not_come_is_waited_for_so_long(parts: list[bytes]) -> None:
    async def timed() -> tuple[int, float]:
        begun = asyncio.get_running_loop().time()
        status = await outcome(from_(None), Sent(*parts, every_s=1, ends=False))
        return status, asyncio.get_running_loop().time() - begun

    status, took_s = run(timed())
    assert status == 408
    assert security.PATIENCE_S <= took_s < security.PATIENCE_S + 2


def test_a_body_that_comes_steadily_is_waited_for() -> None:
    every_s = 2 * security.PATIENCE_S / 40  # for twice as long as the patience, and more than has to come in that time
    sent = Sent(*[b"x" * 6 * KIB] * 40, every_s=every_s)
    assert run(outcome(from_(Role.ANNOTATOR), sent)) == 240 * KIB
    assert security.PATIENCE_S + 256 * KIB / security.LEAST_PER_S == 84  # for a phone on a bad network


def test_the_oldest_unfinished_bodies_go_when_all_together_are_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "MOST_UNFINISHED", 1 * MIB)

    async def all_at_once() -> list[int]:
        reader = from_(Role.ANNOTATOR)
        held = []
        for _ in range(8):  # one after the other
            sent = Sent(b"x" * 200 * KIB, ends=False, length=201 * KIB)
            held.append(asyncio.create_task(outcome(reader, sent)))
            await turns_until(lambda sent=sent: sent.n_read)  # type: ignore[misc]
        await go_on(0)
        gone = [one.result() if one.done() else 0 for one in held]
        whole = await outcome(reader, Sent(b"x" * 100 * KIB, b"x" * 100 * KIB))
        small = await outcome(reader, Sent(b"x" * KIB, b"x" * KIB))
        for one in held:
            one.cancel()
        return [*gone, whole, small]

    assert run(all_at_once()) == [503] * 3 + [0] * 5 + [200 * KIB, 2 * KIB]


def test_half_a_body_is_none() -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    with pytest.raises(GoneError):
        run(from_(None).read(Sent(b"").scope, receive))


def test_escapes_are_whole_wherever_a_text_is_cut() -> None:
    for pad in range(4):
        text = "x" * pad + "ن+ %&" * 40_000
        scope = {
            "type": "http",
            "headers": [(b"content-type", FORM["content-type"].encode())],
            "fcpair.body": urlencode({"a": "1", "body": text}).encode(),
        }
        assert field(Request(scope), "body") == text
        assert field(Request(scope), "c") == ""
