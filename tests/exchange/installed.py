"""Annotation tools from PyPI, each in a virtual environment of its own, which run as servers on this machine."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx2 as httpx

REQUIREMENTS = {
    "label-studio": ("label-studio==1.23.2",),
    "potato": ("potato-annotation==2.12.1",),
    "doccano": ("doccano==1.8.4", "marshmallow<4", "numpy<2"),
}
PLACE = "FCPAIR_EXCHANGE"  # the folder of the environments
SLOWEST_S = 400.0  # Label Studio makes its database first


def install(tool: str) -> Path:
    """The folder of the tool's commands; it is installed where it is not there, or was another version."""
    folder = Path(os.environ.get(PLACE) or Path.home() / ".cache" / "fcpair" / "exchange") / tool
    stamp, wanted = folder / "installed.txt", "\n".join(REQUIREMENTS[tool])
    if not (stamp.is_file() and stamp.read_text("utf-8") == wanted):
        folder.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        pip = (folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        run([*pip, *REQUIREMENTS[tool]], folder, {})
        stamp.write_text(wanted, "utf-8")
    return folder / "bin"


def free_port() -> int:
    """A port on which nothing listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def environment(**variables: str) -> dict[str, str]:
    """The environment of a tool: nothing of fcpair's, no proxies, and these variables."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return {name: value for name, value in kept.items() if not name.startswith(("FCPAIR", "PYTEST"))} | variables


def run(command: Sequence[object], folder: Path, variables: Mapping[str, str]) -> None:
    """Run a command to its end; raises where it fails."""
    subprocess.run([*map(str, command)], cwd=folder, env=environment(**variables), check=True, capture_output=True)


@contextmanager
def running(
    command: Sequence[object], folder: Path, variables: Mapping[str, str], url: str | None = None
) -> Iterator[None]:
    """Run a server in a folder until the block ends; with `url`, the block begins when that is answered."""
    log = folder / f"{Path(str(command[0])).name}-{command[1]}.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            [*map(str, command)],
            cwd=folder,
            env=environment(**variables),
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        if url is not None:
            _wait_for(url, process, log)
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + SLOWEST_S
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            if httpx.get(url, follow_redirects=True).is_success:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.5)
    raise RuntimeError(f"{url} is not answered:\n{log.read_text()[-2_000:]}")


def wait_until(question: Callable[[], bool], seconds: float = 120) -> None:
    """Ask again and again until the answer is yes."""
    end = time.monotonic() + seconds
    while not question():
        if time.monotonic() > end:
            raise TimeoutError(f"{question} is still not so after {seconds:g} s")
        time.sleep(0.3)
