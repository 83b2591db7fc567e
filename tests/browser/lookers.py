"""Processes that look, ready at once: each is forked from one that has loaded what they load.

A server of the app begins one when a lead or an adjudicator comes, and most of what it then does is to load pandas,
scipy and matplotlib: 2 s for each test, at the lowest priority. How it begins by itself, and how it ends with its
server, is what `web/server/test_worker.py` is about.

What the server starts as `python -m fcpair.web.server.worker_main` stands in for it here: it hands its pipes over to
the fork, and ends when that does.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fcpair.web.server.worker import FRUGAL

PIPES = (0, 1, 2)
STAND_IN = """import socket
with socket.socket(socket.AF_UNIX) as parent:
    parent.connect({address!r})
    socket.send_fds(parent, [b"."], {pipes})
    parent.recv(1)
"""


@contextmanager
def parent_of_lookers(folder: Path) -> Iterator[str]:
    """Run that process; yields what stands in for Python where the server begins one that looks."""
    address, executable = folder / "lookers", folder / "python"
    code = STAND_IN.format(address=str(address), pipes=PIPES)
    (folder / "stand_in.py").write_text(code, encoding="utf-8")
    executable.write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "{folder / "stand_in.py"}"\n', encoding="utf-8")
    executable.chmod(0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address))
        listener.listen()
        line = [sys.executable, __file__, str(listener.fileno())]
        process = subprocess.Popen(
            line, stdin=subprocess.PIPE, pass_fds=[listener.fileno()], env={**os.environ, **FRUGAL}
        )
    with process:  # whose stdin is closed at the end, which ends it
        yield str(executable)


def main() -> None:
    """Fork for whoever asks, until stdin ends."""
    import matplotlib.figure  # noqa: F401
    import pandas as pd  # noqa: F401
    import scipy.stats  # noqa: F401

    import fcpair.web.server.worker_main  # noqa: F401

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as listener:
        while listener in select.select([listener, sys.stdin], [], [])[0]:
            asking, _ = listener.accept()
            with asking:
                _, pipes, _, _ = socket.recv_fds(asking, 1, len(PIPES))
                if os.fork() == 0:
                    listener.close()
                    _look(pipes)
                for one in pipes:
                    os.close(one)


def _look(pipes: list[int]) -> None:
    """Be the process that looks, at these pipes."""
    from fcpair.web.server import worker_main

    for one, place in zip(pipes, PIPES, strict=True):
        os.dup2(one, place)
        os.close(one)
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        worker_main.main()
    finally:
        os._exit(1)


if __name__ == "__main__":
    main()
