"""Building a study of its draft, in a process of its own: models that find candidates need much memory."""

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
from fcpair.study import Study

KILLED = "the process that built the study has ended, perhaps for lack of memory; nothing was kept, so try again"
RUNNING = "the study is being built already; wait until that is done"


@dataclass(frozen=True)
class BuildState:
    """How far the building is: the stages that are done, with their counts, and how much of the present one."""

    is_running: bool = False
    stages: tuple[tuple[str, dict[str, Any]], ...] = field(default_factory=tuple)
    done: int = 0
    total: int = 0
    problem: str = ""


class StudyBuilder:
    """Builds the study once at a time; calls `on_end` when it has been built."""

    def __init__(self, study: Study, on_end: Callable[[], None]) -> None:
        self._address, self._on_end = study.address, on_end
        self._lock = Lock()
        self._process: subprocess.Popen[str] | None = None
        self.state = BuildState()

    def begin(self) -> None:
        """Begin; raises ConflictError where it is being built already."""
        with self._lock:
            if self.state.is_running:
                raise ConflictError(RUNNING)
            command = (sys.executable, "-m", "fcpair.web.server.build_main")
            # In a session of its own, because Ctrl-C is for the server, which ends it.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                env=dict(os.environ),
                start_new_session=True,
            )
            self.state = BuildState(is_running=True)
        Thread(target=self._follow, args=(self._process,), daemon=True).start()

    def end(self) -> None:
        """End the process, if there is one; what it did not finish is done again the next time."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _follow(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        with process:
            process.stdin.write(json.dumps(self._address))
            process.stdin.close()
            for line in process.stdout:
                self.state = _next_state(self.state, json.loads(line))
        failed = process.returncode and not self.state.problem
        if not process.returncode:
            self._on_end()
        self.state = replace(self.state, is_running=False, problem=KILLED if failed else self.state.problem)


def _next_state(state: BuildState, message: dict[str, Any]) -> BuildState:
    if "stage" in message:
        return replace(state, stages=(*state.stages, (message["stage"], message["counts"])), done=0, total=0)
    return replace(state, **message)
