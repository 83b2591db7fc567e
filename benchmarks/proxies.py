"""nginx and Caddy with the files of `examples/deploy`, in front of a server of this machine."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

FILES = Path(__file__).parents[1] / "examples" / "deploy"
UPSTREAM = "127.0.0.1:8000"
HOST = "labels.example.org"
PATIENCE_S = 10
SBIN = "/usr/local/sbin:/usr/sbin:/sbin"  # not on everybody's PATH


class Certificate(NamedTuple):
    """The certificate of `localhost`, and its key."""

    path: Path
    key: Path


def program(name: str) -> str | None:
    """Where `nginx` or `caddy` is, if anywhere."""
    return shutil.which(name) or shutil.which(name, path=SBIN)


@contextmanager
def behind(name: str, upstream: int, folder: Path, certificate: Certificate | None = None) -> Iterator[int]:
    """The port at which the proxy takes requests for the port `upstream`: without TLS if there is no certificate."""
    port = free_port()
    line = {"nginx": _nginx, "caddy": _caddy}[name](port, upstream, folder, certificate)
    with (folder / f"{name}.log").open("w") as log, subprocess.Popen(line, stdout=log, stderr=log) as process:
        try:
            _wait(port, process, folder / f"{name}.log")
            yield port
        finally:
            process.terminate()


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.perf_counter() + PATIENCE_S
    while time.perf_counter() < end and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.05)
    raise RuntimeError(f"{process.args!r} does not listen: {log.read_text()[-1000:]}")


def _nginx(port: int, upstream: int, folder: Path, certificate: Certificate | None) -> list[str]:
    text = (FILES / "nginx.conf").read_text("utf-8")
    text = re.sub(r"^(user|pid) .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^ *server \{\n *listen 80;.*?\n    \}\n", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^ *listen \[.*\n", "", text, flags=re.MULTILINE)
    listen = f"listen 127.0.0.1:{port}"
    if certificate:
        text = text.replace("listen 443", listen)
        text = re.sub(r"(ssl_certificate) .*;", rf"\1 {certificate.path};", text)
        text = re.sub(r"(ssl_certificate_key) .*;", rf"\1 {certificate.key};", text)
    else:
        text = re.sub(r"^ *ssl_.*\n", "", text.replace("listen 443 ssl http2", listen), flags=re.MULTILINE)
    parts = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = "".join(f"{part}_temp_path {folder}/{part};\n" for part in parts)
    text = text.replace("http {\n", f"http {{\n{folders}").replace(UPSTREAM, f"127.0.0.1:{upstream}")
    path = folder / "nginx.conf"
    path.write_text(f"pid {folder}/nginx.pid;\n{text.replace(HOST, 'localhost')}")
    return [str(program("nginx")), "-c", str(path), "-e", "stderr", "-g", "daemon off;"]


def _caddy(port: int, upstream: int, folder: Path, certificate: Certificate | None) -> list[str]:
    text = (FILES / "Caddyfile").read_text("utf-8")
    text = text.replace("{\n\tservers", "{\n\tadmin off\n\tauto_https disable_redirects\n\tservers", 1)
    site = f"https://localhost:{port} {{\n\ttls {certificate.path} {certificate.key}" if certificate else ""
    text = text.replace(f"\n{HOST} {{", f"\n{site or f'http://127.0.0.1:{port} {{'}")
    path = folder / "Caddyfile"
    path.write_text(text.replace(UPSTREAM, f"127.0.0.1:{upstream}"))
    return [str(program("caddy")), "run", "--config", str(path), "--adapter", "caddyfile"]
