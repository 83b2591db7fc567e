"""`fcpair serve` in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from awaited import PATIENCE_S, until

ADDRESS = re.compile(r"http://\S+")


class Served:
    """A server under way, and what it has printed."""

    def __init__(
        self, study: Path | str, *options: str, n_files: int | None = None, output: Path | None = None
    ) -> None:
        self.began = time.perf_counter()
        self.place = Path(study)
        port = () if "--port" in options else ("--port", "0")
        command = [sys.executable, "-m", "fcpair", "serve", "--study", str(study), *port, *options]
        if n_files:  # that it may have open
            command = ["sh", "-c", f'ulimit -n {n_files}; exec "$@"', "sh", *command]
        self.output = output or Path(study).with_suffix(".log")
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        with self.output.open("w") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment)
        self.url = self._url()

    def _url(self) -> str:
        until(lambda: ADDRESS.search(self.output.read_text()) or self.process.poll() is not None)
        said = self.output.read_text()
        found = ADDRESS.search(said)
        assert found, f"the server said no address: {said}"
        return found[0]

    def ask(self, path: str, token: str = "", body: object = None, method: str | None = None) -> tuple[int, bytes]:
        """The status and the body of an answer."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        data = None if body is None else json.dumps(body).encode()
        request = Request(self.url + path, data, {**headers, "Content-Type": "application/json"}, method=method)
        try:
            with urlopen(request, timeout=PATIENCE_S) as answer:
                return answer.status, answer.read()
        except HTTPError as refused:
            with refused:
                return refused.code, refused.read()

    def end(self) -> int:
        """End it as Ctrl-C does; returns its exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE_S)

    def terminate(self) -> float:
        """End it as systemd does; returns the seconds that it took."""
        begun = time.perf_counter()
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        return time.perf_counter() - begun


@contextmanager
def serving(path: Path) -> Iterator[Callable[..., Served]]:
    """Starts servers of one study, with whatever options; those that still run at the end are killed."""
    begun: list[Served] = []

    def started(*options: str, n_files: int | None = None) -> Served:
        begun.append(Served(path, *options, n_files=n_files))
        return begun[-1]

    try:
        yield started
    finally:
        for served in begun:
            if served.process.poll() is None:
                served.process.kill()
                served.process.wait()
