"""nginx and Caddy as docs/howto/deploy.md configures them, in front of a server of this machine, without TLS."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "howto" / "deploy.md"
UPSTREAM = "127.0.0.1:8000"
HOST = "labels.example.org"
PATIENCE_S = 10
SBIN = "/usr/local/sbin:/usr/sbin:/sbin"  # not on everybody's PATH


def program(name: str) -> str | None:
    """Where `nginx` or `caddy` is, if anywhere."""
    return shutil.which(name) or shutil.which(name, path=SBIN)


@contextmanager
def behind(name: str, upstream: int, folder: Path) -> Iterator[int]:
    """The port at which the proxy takes requests for the port `upstream`."""
    port = free_port()
    line = {"nginx": _nginx, "caddy": _caddy}[name](port, upstream, folder)
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


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def _nginx(port: int, upstream: int, folder: Path) -> list[str]:
    main, site = _blocks("nginx")
    site = re.sub(r"^server \{\n    listen 80;.*?^\}\n", "", site, flags=re.DOTALL | re.MULTILINE)
    site = re.sub(r"^ *(ssl_|listen \[|add_header Strict).*\n", "", site, flags=re.MULTILINE)
    site = site.replace("listen 443 ssl http2;", f"listen 127.0.0.1:{port};").replace(UPSTREAM, f"127.0.0.1:{upstream}")
    temporary = "".join(
        f"{one}_temp_path {folder}/{one};\n" for one in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    path = folder / "nginx.conf"
    path.write_text(f"pid {folder}/nginx.pid;\nworker_processes auto;\n{main}\nhttp {{\n{temporary}{site}}}\n")
    return [str(program("nginx")), "-c", str(path), "-e", "stderr", "-g", "daemon off;"]


def _caddy(port: int, upstream: int, folder: Path) -> list[str]:
    (site,) = _blocks("caddyfile")
    site = site.replace("{\n", "{\n\tadmin off\n\tauto_https off\n", 1).replace(HOST, f"http://127.0.0.1:{port}")
    path = folder / "Caddyfile"
    path.write_text(site.replace(UPSTREAM, f"127.0.0.1:{upstream}"))
    return [str(program("caddy")), "run", "--config", str(path), "--adapter", "caddyfile"]
