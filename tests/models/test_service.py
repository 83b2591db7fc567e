"""Asking a service: what is sent, what is tried again and how often, what an error says, and where the key is not."""

from __future__ import annotations

import logging
import re
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from fcpair.errors import FcpairError, ServiceError
from fcpair.models import service
from fcpair.models.service import BrokenReply, Prompt, Service, prompt_subject
from models.served import KEY, Reply, Served

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


def test_the_body_and_the_key_if_there_is_one_are_sent_to_the_endpoint(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.script = [FINE, FINE]
    assert ask() == 7
    monkeypatch.setenv("OPENAI_BASE_URL", f"{served.url}/")
    monkeypatch.delenv("OPENAI_API_KEY")
    assert ask() == 7
    asked, without = served.asked
    assert (asked.path, asked.body) == ("/v1/embeddings", {"model": "tiny", "input": ["a"]})
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    assert asked.headers["Content-Type"] == "application/json"
    assert without.path == asked.path
    assert "Authorization" not in without.headers


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


def test_the_service_says_how_long_to_wait_which_is_a_minute_at_most_and_never_nonsense(
    served: Served, waits: list[float]
) -> None:
    expected = {"7": 7, "0": 0, "86400": 60, "soon": 1, "-5": 1, "": 1}
    for header in expected:
        served.script = [Reply(b"", 429, {"Retry-After": header}), FINE]
        ask()
    assert waits == [*expected.values()]
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    served.script = [Reply(b"", 503, {"Retry-After": date}), FINE]
    ask()
    assert 25 < waits[-1] <= 30


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, ""),
        (401, "check OPENAI_API_KEY"),
        (403, ""),
        (404, "that the service has the model"),
        (301, ""),
        (204, ""),
    ],
)
def test_a_refusal_is_not_asked_again_and_its_error_says_what_to_do(
    served: Served, waits: list[float], status: int, said: str
) -> None:
    served.script = [Reply(b"" if status == 204 else b"the model `tiny` does not exist", status)]
    message = error()
    assert f"it answered {status}" in message
    assert said in message
    assert status == 204 or "the model `tiny` does not exist" in message
    assert (len(served.asked), waits) == (1, [])


@pytest.mark.parametrize(
    ("name", "value", "reply", "said"),
    [
        ("FCPAIR_TIMEOUT_S", "0.1", Reply(held=True), "there was no answer within 0.1 s"),
        ("FCPAIR_TIMEOUT_S", "0.2", Reply(b'{"n": 7}' + b" " * 100, drips="head"), "there was no answer within 0.2 s"),
        ("FCPAIR_TIMEOUT_S", "0.2", Reply(b'{"n": 7}' + b" " * 100, drips="body"), "there was no answer within 0.2 s"),
        ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1", FINE, "the connection failed (ConnectError)"),
    ],
)
def test_a_service_that_is_gone_or_does_not_answer_in_time_is_given_up(
    served: Served, waits: list[float], monkeypatch: pytest.MonkeyPatch, name: str, value: str, reply: Reply, said: str
) -> None:
    monkeypatch.setenv(name, value)
    served.then = lambda _: reply
    message = error()
    assert "asked 4 times; the last time " in message
    assert said in message
    assert ("FCPAIR_TIMEOUT_S" in message) is (name == "FCPAIR_TIMEOUT_S")
    assert len(waits) == 3


def test_an_answer_without_end_is_given_up(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LONGEST_ANSWER", 5)
    served.then = lambda _: FINE
    assert "longer than 5 bytes" in error()


# -- what an error says


def test_an_error_says_what_was_asked_what_came_back_and_what_to_do(served: Served) -> None:
    served.then = lambda _: Reply(b"<html>\n<b>" + b"x" * 300)
    assert error() == (
        f'the service at {served.url}, embeddings of the model `tiny`, for HS 12 ("Night owls are lazy."): asked 4 '
        f'times; the last time it answered with HTML: "<html> <b>{"x" * 190}...". check the service and the model; '
        "every answer so far is kept, so a second run asks only for the rest"
    )
    served.then = lambda _: Reply(b" ")
    assert "it answered with nothing. " in error()
    served.then = lambda _: Reply(b"limit", 429)
    assert "wait until the limit is lifted" in error()
    assert prompt_subject("HS 1", "so\nlong " * 30) == f'HS 1 ("{("so long " * 30)[:80]}...")'
    assert {FcpairError, OSError} <= set(ServiceError.__mro__)  # which the command line knows


# -- the environment


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        *(("OPENAI_BASE_URL", url, "set OPENAI_BASE_URL .*http://localhost:11434/v1") for url in (None, "", " ")),
        *(
            ("OPENAI_BASE_URL", url, "OPENAI_BASE_URL is not the address")
            for url in ("localhost:8000/v1", "ftp://host/v1", "http://", "http://host:port/v1", "http://[::1")
        ),
        *(
            ("OPENAI_BASE_URL", url, "give the key in OPENAI_API_KEY")
            for url in (f"http://me:{KEY}@127.0.0.1/v1", f"http://127.0.0.1/v1?key={KEY}")
        ),
        *(
            ("OPENAI_API_KEY", key, "OPENAI_API_KEY contains")
            for key in ("sk-two words", "sk-\u201cquoted\u201d", "sk-\x01")
        ),
        *(("FCPAIR_TIMEOUT_S", given, f"FCPAIR_TIMEOUT_S is `{given}`") for given in ("0", "-1", "soon", "nan", "inf")),
        ("ALL_PROXY", "nonsense://host", "ALL_PROXY"),
        ("SSL_CERT_FILE", "/no/such/file", "SSL_CERT_FILE"),
    ],
)
def test_what_is_wrong_in_the_environment_is_said_without_the_key_and_not_tried(
    served: Served, waits: list[float], monkeypatch: pytest.MonkeyPatch, name: str, value: str | None, said: str
) -> None:
    monkeypatch.delenv(name, raising=False)
    if value is not None:
        monkeypatch.setenv(name, value)
    message = error()
    assert re.search(said, message)
    assert KEY not in message
    assert name != "OPENAI_API_KEY" or str(value) not in message
    assert (served.asked, waits) == ([], [])


# -- the key


def test_the_key_is_not_in_the_printed_service(served: Served) -> None:
    assert KEY not in repr(Service.from_environment())


@pytest.mark.parametrize("status", [200, 401, 500])
def test_a_service_that_repeats_the_key_does_not_bring_it_into_a_message(served: Served, status: int) -> None:
    served.then = lambda _: Reply(f"wrong key: {KEY}".encode(), status)
    message = error()
    assert "wrong key: [key]" in message
    assert KEY not in message


def test_the_key_is_in_no_log(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    served.script = [Reply(b"busy", 500), FINE]
    with caplog.at_level(logging.DEBUG):
        ask()
    assert caplog.records
    assert KEY not in caplog.text
