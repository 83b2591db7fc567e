"""Asking a service: what is sent, what is tried again and how often, what an error says, and where the key is not."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from fcpair.errors import FcpairError, ServiceError
from fcpair.models import service
from fcpair.models.service import BrokenReply, Prompt, Service, prompt_subject
from models.served import KEY, Drips, Reply, Served

QUESTION = Prompt("embeddings", {"model": "tiny", "input": ["a"]}, prompt_subject("HS 12", "Night owls are lazy."))
FINE = Reply(b'{"n": 7}')


def number(payload: Any) -> int:
    if not isinstance(payload, dict) or "n" not in payload:
        raise BrokenReply("it answered without `n`")
    return int(payload["n"])


def ask() -> int:
    return Service.from_environment().query(QUESTION, number)


def error() -> str:
    with pytest.raises(ServiceError) as caught:
        ask()
    return str(caught.value)


def test_the_body_and_the_key_are_sent_to_the_endpoint(served: Served) -> None:
    served.script = [FINE]
    assert ask() == 7
    (asked,) = served.asked
    assert (asked.path, asked.body) == ("/v1/embeddings", {"model": "tiny", "input": ["a"]})
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    assert asked.headers["Content-Type"] == "application/json"


def test_a_service_without_a_key_is_asked_without_one(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    served.script = [FINE]
    ask()
    assert "Authorization" not in served.asked[0].headers


def test_a_slash_at_the_end_of_the_address_does_no_harm(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{served.url}/")
    served.script = [FINE]
    ask()
    assert served.asked[0].path == "/v1/embeddings"


# -- what is tried again


@pytest.mark.parametrize(
    "broken",
    [
        Reply(b"<html>gateway</html>"),
        Reply(b'{"n": '),
        Reply(b""),
        Reply(b"[" * 100_000),
        Reply(b"\xff\xfe"),
        Reply(b'{"other": 1}'),
        Reply(b"{}", headers={"Content-Encoding": "gzip"}),
        Reply(b"busy", 500),
        Reply(b"busy", 503),
        Reply(b"slow", 408),
        Reply(b"limit", 429),
        Reply(b'{"n"', headers={"Content-Length": "99"}),
    ],
)
def test_what_is_broken_once_is_asked_again(served: Served, broken: Reply) -> None:
    served.script = [broken, FINE]
    assert ask() == 7
    assert len(served.asked) == 2


def test_a_request_is_sent_four_times_at_most(served: Served, waits: list[float]) -> None:
    served.then = lambda _: Reply(b"down", 500)
    assert "asked 4 times; the last time it answered 500" in error()
    assert len(served.asked) == 4
    assert waits == [1, 2, 4]


def test_the_service_says_how_long_to_wait(served: Served, waits: list[float]) -> None:
    served.script = [Reply(b"", 429, {"Retry-After": "7"}), Reply(b"", 503, {"Retry-After": "0"}), FINE]
    ask()
    assert waits == [7, 0]


def test_the_service_may_say_it_by_a_date(served: Served, waits: list[float]) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    served.script = [Reply(b"", 429, {"Retry-After": date}), FINE]
    ask()
    assert 25 < waits[0] <= 30


@pytest.mark.parametrize(("header", "expected"), [("86400", 60), ("soon", 1), ("-5", 1), ("", 1)])
def test_no_wait_is_longer_than_a_minute_or_made_of_nonsense(
    served: Served, waits: list[float], header: str, expected: float
) -> None:
    served.script = [Reply(b"", 429, {"Retry-After": header}), FINE]
    ask()
    assert waits == [expected]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 301, 204])
def test_a_refusal_is_not_asked_again(served: Served, waits: list[float], status: int) -> None:
    served.script = [Reply(b"" if status == 204 else b"no", status)]
    assert f"it answered {status}" in error()
    assert (len(served.asked), waits) == (1, [])


def test_a_service_that_does_not_answer_in_time_is_given_up(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FCPAIR_TIMEOUT_S", "0.1")
    served.then = lambda _: Reply(held=True)
    message = error()
    assert "asked 4 times; the last time there was no answer within 0.1 s" in message
    assert "FCPAIR_TIMEOUT_S" in message
    assert len(served.hear(4)) == 4


@pytest.mark.parametrize("drips", ["head", "body"])
def test_an_answer_that_drips_is_given_up(served: Served, monkeypatch: pytest.MonkeyPatch, drips: Drips) -> None:
    monkeypatch.setenv("FCPAIR_TIMEOUT_S", "0.2")
    served.then = lambda _: Reply(b'{"n": 7}' + b" " * 100, drips=drips)
    assert "there was no answer within 0.2 s" in error()


def test_an_answer_without_end_is_given_up(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LONGEST_ANSWER", 5)
    served.then = lambda _: FINE
    assert "longer than 5 bytes" in error()


def test_a_service_that_is_gone_is_given_up(
    served: Served, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert "the connection failed (ConnectError)" in error()
    assert len(waits) == 3


# -- what an error says


def test_an_error_says_what_was_asked_what_came_back_and_what_to_do(served: Served) -> None:
    served.then = lambda _: Reply(b"<html>\n<b>" + b"x" * 300)
    assert error() == (
        f'the service at {served.url}, embeddings of the model `tiny`, for HS 12 ("Night owls are lazy."): asked 4 '
        f'times; the last time it answered with HTML: "<html> <b>{"x" * 190}...". check the service and the model; '
        "every answer so far is kept, so a second run asks only for the rest"
    )


@pytest.mark.parametrize(
    ("status", "advice"),
    [(401, "check OPENAI_API_KEY"), (404, "that the service has the model"), (429, "wait until the limit is lifted")],
)
def test_an_error_says_what_to_do_about_its_kind(served: Served, status: int, advice: str) -> None:
    served.then = lambda _: Reply(b'{"error": "the model `tiny` does not exist"}', status)
    message = error()
    assert advice in message
    assert "the model `tiny` does not exist" in message


def test_an_empty_answer_is_called_so(served: Served) -> None:
    served.then = lambda _: Reply(b" ")
    assert "it answered with nothing. " in error()


def test_a_long_text_is_cut_where_it_is_named() -> None:
    assert prompt_subject("HS 1", "so\nlong " * 30) == f'HS 1 ("{("so long " * 30)[:80]}...")'


def test_it_is_an_error_that_the_command_line_knows() -> None:
    assert issubclass(ServiceError, FcpairError)
    assert issubclass(ServiceError, OSError)


# -- the environment


@pytest.mark.parametrize("url", [None, "", " "])
def test_without_an_address_it_says_what_to_set(
    served: Served, monkeypatch: pytest.MonkeyPatch, url: str | None
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL")
    if url is not None:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
    message = error()
    assert "set OPENAI_BASE_URL" in message
    assert "http://localhost:11434/v1" in message
    assert served.asked == []


@pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://host/v1", "http://", "http://host:port/v1", "http://[::1"])
def test_what_is_no_address_says_so_and_is_not_tried(
    served: Served, waits: list[float], monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    assert "OPENAI_BASE_URL is not the address" in error()
    assert waits == []


@pytest.mark.parametrize("url", [f"http://me:{KEY}@127.0.0.1/v1", f"http://127.0.0.1/v1?key={KEY}"])
def test_a_key_in_the_address_is_refused_and_not_shown(
    served: Served, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    message = error()
    assert "give the key in OPENAI_API_KEY" in message
    assert KEY not in message


@pytest.mark.parametrize("given", ["0", "-1", "soon", "nan", "inf"])
def test_a_time_limit_that_is_none_is_refused(served: Served, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("FCPAIR_TIMEOUT_S", given)
    assert f"FCPAIR_TIMEOUT_S is `{given}`" in error()


@pytest.mark.parametrize(("name", "value"), [("ALL_PROXY", "nonsense://host"), ("SSL_CERT_FILE", "/no/such/file")])
def test_a_connection_that_cannot_be_prepared_says_what_to_check(
    served: Served, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert name in error()
    assert served.asked == []


# -- the key


def test_the_key_is_not_in_the_printed_service(served: Served) -> None:
    assert KEY not in repr(Service.from_environment())


@pytest.mark.parametrize("status", [200, 401, 500])
def test_a_service_that_repeats_the_key_does_not_bring_it_into_a_message(served: Served, status: int) -> None:
    served.then = lambda _: Reply(f"wrong key: {KEY}".encode(), status)
    message = error()
    assert "wrong key: [key]" in message
    assert KEY not in message


@pytest.mark.parametrize("key", ["sk-two words", "sk-\u201cquoted\u201d", "sk-\x01"])
def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(
    served: Served, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    message = error()
    assert "OPENAI_API_KEY contains" in message
    assert key not in message


def test_the_key_is_in_no_log(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    served.script = [Reply(b"busy", 500), FINE]
    with caplog.at_level(logging.DEBUG):
        ask()
    assert caplog.records
    assert KEY not in caplog.text
