"""`fcpair serve` behind the real nginx and the real Caddy, with TLS and the files of `examples/deploy`."""

from __future__ import annotations

import re
import shutil
import ssl
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from benchmarks.proxies import Certificate, behind, program
from fcpair.records import Role
from fcpair.study import Study
from web.served import Served
from web.server.test_serve import invited

pytestmark = pytest.mark.slow
KIB = 1024


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes a certificate, is not installed")
    folder = tmp_path_factory.mktemp("certificate")
    made = Certificate(folder / "cert.pem", folder / "key.pem")
    line = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    subprocess.run([*line.split(), "-out", made.path, "-keyout", made.key], check=True, capture_output=True)
    return made


@pytest.fixture(params=["nginx", "caddy"])
def address(
    request: pytest.FixtureRequest,
    path: Path,
    start: Callable[..., Served],
    certificate: Certificate,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[str]:
    """Where people reach the server."""
    if program(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    monkeypatch.setenv("FCPAIR_URL", "https://localhost")
    monkeypatch.setenv("HOME", str(tmp_path))  # where Caddy keeps what it has to
    port = urlsplit(start().url).port
    assert port
    with behind(request.param, port, tmp_path, certificate) as at:
        yield f"https://localhost:{at}"


@pytest.fixture
def browser(address: str, certificate: Certificate) -> Iterator[httpx2.Client]:
    trusting = ssl.create_default_context(cafile=str(certificate.path))
    with httpx2.Client(base_url=address, verify=trusting, timeout=60, headers={"origin": address}) as client:
        yield client


def lead(path: Path) -> str:
    study = Study(path)
    study.add_people(["lee"], Role.LEAD)
    token = study.access.invite("lee")
    study.close()
    return token


def test_somebody_comes_in_and_answers(path: Path, browser: httpx2.Client) -> None:
    token = invited(path)
    came = browser.post("/join", data={"token": token})
    assert came.status_code == 303
    assert {"httponly", "secure", "samesite=lax"} <= set(came.headers["set-cookie"].lower().split("; "))
    page = browser.get("/annotate")
    assert page.status_code == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert page.headers["strict-transport-security"] == "max-age=31536000"
    assert page.headers["cache-control"] == "no-store"
    assert "content-encoding" not in page.headers
    script = re.search(r'src="(/static/[^"]+)"', page.text)
    assert script
    assert browser.get(script[1]).headers["content-encoding"] == "gzip"
    csrf = re.search(r'name="csrf" value="(\w+)"', page.text)
    assert csrf
    (task,) = browser.get("/api/next").json()["tasks"]
    answer = {"request_id": "request-1", "assignment_id": task["assignment_id"], "answer": "appropriate"}
    stored = [browser.post("/api/judgements", json=answer, headers={"x-csrf-token": csrf[1]}) for _ in range(2)]
    assert [reply.status_code for reply in stored] == [200, 200]
    assert stored[0].json() == stored[1].json()
    study = Study(path)
    assert study.grid().labels()["label"].tolist() == ["appropriate"]
    study.close()


def test_a_form_from_another_site_is_refused(path: Path, browser: httpx2.Client) -> None:
    token = invited(path)
    assert browser.post("/join", data={"token": token}, headers={"origin": "https://evil.example"}).status_code == 403


def test_wrong_tokens_are_counted_by_the_address_that_the_proxy_saw(browser: httpx2.Client) -> None:
    claims = [{"authorization": "Bearer wrong", "x-forwarded-for": f"192.0.2.{n}"} for n in range(22)]
    assert [browser.get("/api/me", headers=claim).status_code for claim in claims] == [401] * 20 + [429] * 2


def test_bodies_of_every_size_that_fcpair_takes_come_through(path: Path, browser: httpx2.Client) -> None:
    token = lead(path)
    bearer = {"authorization": f"Bearer {token}"}
    note = "x" * 200 * KIB
    assert browser.post("/api/judgements", json={"note": note}, headers=bearer).status_code in (403, 422)
    assert browser.post("/api/judgements", json={"note": 2 * note}, headers=bearer).status_code == 413
    assert browser.post("/api/judgements", json={"note": note}).status_code == 401
    assert browser.post("/join", data={"token": token}).status_code == 303
    page = browser.get("/lead/guidelines").text
    csrf, seen = (re.search(rf'name="{name}" value="(\w*)"', page) for name in ("csrf", "seen"))
    assert csrf
    words = {"csrf": csrf[1], "body": "واژه " * 180_000, "seen": seen[1] if seen else ""}
    assert browser.post("/lead/guidelines", data=words).status_code in (200, 303)
    run = browser.post(
        "/lead/evaluation/run?name=mine.trec",
        content=b"1 Q0 2 1 0.5 mine\n" * 900_000,
        headers={"x-csrf-token": csrf[1], "content-type": "application/octet-stream"},
    )
    assert "nginx" not in run.text
    assert run.status_code != 413
