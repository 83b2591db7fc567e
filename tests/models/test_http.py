"""One bounded request: its deadline holds for slow heads and bodies, its cap for what a packed answer unpacks to."""

from __future__ import annotations

import gzip
import subprocess
import sys
from time import monotonic

import httpx2
import pytest
from peak import PEAK_MB

from fcpair.models.service import ACCEPT_GZIP, Answer, TooLongError, post
from models.served import Drips, Reply, Served

LIMIT_S, PATIENCE_S = 0.3, 1.5  # the latter with a machine that has much else to do
LONGEST = 1_000_000
PACKED = {"Content-Encoding": "gzip"}
ENDLESS = f"""{PEAK_MB}
import socket, threading
import httpx2
from fcpair.models.service import TooLongError, post

def serve(listening):
    taken, _ = listening.accept()
    taken.recv(65536)
    taken.sendall(b"HTTP/1.1 200 OK\\r\\n\\r\\n")
    try:
        while True:
            taken.sendall(b" " * 65536)
    except OSError:
        pass

listening = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(listening,), daemon=True).start()
url = "http://127.0.0.1:%d/" % listening.getsockname()[1]
before = peak_mb()
try:
    post(httpx2.Client(trust_env=False), url, timeout_s=60, longest=8_000_000, json=dict())
except TooLongError:
    print(peak_mb() - before)
"""


def asked(served: Served, reply: Reply, timeout_s: float = 10.0) -> Answer:
    served.then = lambda _: reply
    client = httpx2.Client(headers=ACCEPT_GZIP)
    return post(client, served.url, timeout_s=timeout_s, longest=LONGEST, json={})


def test_an_answer_has_its_status_headers_and_body(served: Served) -> None:
    answer = asked(served, Reply(b"busy", 503, {"Retry-After": "7"}))
    assert (answer.status, answer.headers["Retry-After"], answer.body) == (503, "7", b"busy")
    assert served.asked[0].headers["Accept-Encoding"] == "gzip"


@pytest.mark.parametrize("drips", ["head", "body"])
def test_a_byte_now_and_then_does_not_move_the_deadline(served: Served, drips: Drips) -> None:
    start = monotonic()
    with pytest.raises(httpx2.TimeoutException):
        asked(served, Reply(b" " * 1000, drips=drips), LIMIT_S)
    assert LIMIT_S <= monotonic() - start < PATIENCE_S


@pytest.mark.parametrize("n", [LONGEST + 1, 200 * LONGEST])
def test_what_unpacks_to_too_much_is_given_up(served: Served, n: int) -> None:
    with pytest.raises(TooLongError, match=f"longer than {LONGEST} bytes"):
        asked(served, Reply(gzip.compress(bytes(n), 1), headers=PACKED))


def test_as_much_as_is_allowed_is_read_and_what_is_packed_unpacked(served: Served) -> None:
    assert asked(served, Reply(bytes(LONGEST))).body == bytes(LONGEST)
    for body in (bytes(LONGEST), b"tea " * 10_000):
        assert asked(served, Reply(gzip.compress(body), headers=PACKED)).body == body


@pytest.mark.parametrize(
    ("body", "packing"),
    [(gzip.compress(gzip.compress(b"a")), "gzip, gzip"), (b"a", "br"), (b"a", "gzip"), (b"", "gzip")],
    ids=["twice", "br", "no gzip", "cut off"],  # what is packed has the time in it
)
def test_what_is_packed_otherwise_or_cut_off_is_no_answer(served: Served, body: bytes, packing: str) -> None:
    with pytest.raises(httpx2.DecodingError):
        asked(served, Reply(body, headers={"Content-Encoding": packing}))


@pytest.mark.slow
def test_a_body_without_end_takes_no_more_memory_than_is_allowed() -> None:
    ran = subprocess.run([sys.executable, "-c", ENDLESS], capture_output=True, text=True, check=True, timeout=60)
    assert float(ran.stdout) < 40  # megabytes; the cap is 8
