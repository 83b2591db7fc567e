"""A process of its own for one long act at a time: it begins, says how far it is, and ends or is ended.

It is told what to do by a line of JSON on its standard input, and says how far it is by lines of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Lock, Thread
from typing import Any

from fcpair.errors import ConflictError


@dataclass(frozen=True)
class ProcessState:
    """How far the work is: the stages that are done, with their counts, and how much of the present one.

    `what` is being done, or was, in `grid` (empty where it has the study to itself) by a person; `run` is the number
    that the log has for it once it is done.
    """

    is_running: bool = False
    stages: tuple[tuple[str, dict[str, Any]], ...] = field(default_factory=tuple)
    done: int = 0
    total: int = 0
    problem: str = ""
    what: str = ""
    grid: str = ""
    by: str = ""
    run: int = 0


class ChildProcess:
    """Has a module do one thing at a time in a process of its own; calls `on_end` when it has been done, or not."""

    def __init__(self, module: str, on_end: Callable[[ProcessState], None], *, busy: str, killed: str) -> None:
        self._module, self._on_end, self._busy, self._killed = module, on_end, busy, killed
        self._lock = Lock()
        self._process: subprocess.Popen[str] | None = None
        self.state = ProcessState()

    def start(self, message: Any, state: ProcessState) -> None:
        """Begin with a message and what is to be known of it; raises ConflictError while it is at work already."""
        with self._lock:
            if self.state.is_running:
                raise ConflictError(self._busy)
            # In a session of its own, because Ctrl-C is for the server, which ends it.
            self._process = subprocess.Popen(
                (sys.executable, "-m", self._module),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                env=dict(os.environ),
                start_new_session=True,
            )
            self.state = replace(state, is_running=True)
        Thread(target=self._follow, args=(self._process, message), daemon=True).start()

    def end(self, problem: str = "") -> None:
        """End the process, if there is one, and say why; what it did not finish is done again the next time."""
        process = self._process
        if process is not None and process.poll() is None:
            if problem:
                self.state = replace(self.state, problem=problem)
            process.kill()
            process.wait()

    def _follow(self, process: subprocess.Popen[str], message: Any) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        with process:
            process.stdin.write(json.dumps(message))
            process.stdin.close()
            for line in process.stdout:
                self.state = _next_state(self.state, json.loads(line))
        failed = process.returncode and not self.state.problem
        ended = replace(self.state, is_running=False, problem=self._killed if failed else self.state.problem)
        self._on_end(ended)
        self.state = ended


def _next_state(state: ProcessState, message: dict[str, Any]) -> ProcessState:
    if "stage" in message:
        return replace(state, stages=(*state.stages, (message["stage"], message["counts"])), done=0, total=0)
    return replace(state, **message)
