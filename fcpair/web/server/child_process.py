"""Processes of their own for what takes long: building a study of its draft, evaluating systems, asking models.

No executor would do: it ends no work that has begun, and only its own end gives back the memory that models need.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from fcpair.errors import ConflictError, FcpairError, InputError
from fcpair.grid import Grid
from fcpair.params import Evaluate
from fcpair.sentences import join, say
from fcpair.study import Study

BUILD, EVALUATE, GENERATE = "build", "evaluate", "generate"
SHOWN_FINDINGS = 10
BUILDING = say("the study is being built already; wait until that is done")
BUILD_KILLED = say(
    "the process that built the study has ended, perhaps for lack of memory; nothing was kept, so try again"
)
RUNNING = say("something else is being done that takes long; wait until that is done, or stop it")
KILLED = say("the process has ended, perhaps for lack of memory; what models have replied is kept, so try again")


@dataclass(frozen=True)
class ProcessState:
    """Progress of an act: its stages, with counts; in which `grid`, if in one, and its `run` in the log."""

    is_running: bool = False
    stages: tuple[tuple[str, dict[str, Any]], ...] = ()
    done: int = 0
    total: int = 0
    problem: str = ""
    what: str = ""
    grid: str = ""
    by: str = ""
    run: int = 0


@dataclass(frozen=True)
class Act:
    """Task of a process, with the files that were sent for it in `folder`."""

    what: str
    address: str
    grid: str = ""
    by: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    folder: Path | None = None


class ChildProcess:
    """Has one act at a time done in a process of its own; calls `on_done` when it has been done."""

    def __init__(self, *, busy: str, killed: str, on_done: Callable[[], object] = lambda: None) -> None:
        self._busy, self._killed, self._on_done = busy, killed, on_done
        self._lock = Lock()
        self._process: BaseProcess | None = None
        self._following = Thread()
        self.state = ProcessState()

    def start(self, act: Act) -> None:
        """Begin an act; raises ConflictError while there is another. Its files are deleted when it has ended."""
        with self._lock:
            if self.state.is_running:
                raise ConflictError(self._busy)
            spawning = multiprocessing.get_context("spawn")
            news, out = spawning.Pipe(duplex=False)
            self._process = spawning.Process(target=_do, args=(act, out))
            self._process.start()
            out.close()
            self.state = ProcessState(is_running=True, what=act.what, grid=act.grid, by=act.by)
            self._following = Thread(target=self._follow, args=(self._process, news, act.folder), daemon=True)
            self._following.start()

    def end(self, problem: str = "") -> None:
        """End the process, if there is one, and say why; what it did not finish is done again the next time."""
        if self._process is not None and self.state.is_running:
            if problem:
                self.state = replace(self.state, problem=problem)
            self._process.kill()
            self._following.join()

    def _follow(self, process: BaseProcess, news: Connection, folder: Path | None) -> None:
        is_whole = False
        with news, suppress(EOFError, OSError):  # the end of a process that was killed, at a message perhaps
            while message := news.recv():
                if "stage" in message:
                    stages = *self.state.stages, (message["stage"], message["counts"])
                    message = {"stages": stages, "done": 0, "total": 0}
                self.state = replace(self.state, **message)
            is_whole = True
        process.join()
        problem = self.state.problem or ("" if is_whole else self._killed)
        if not problem:
            self._on_done()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        self.state = replace(self.state, is_running=False, problem=problem)


# What follows is done in the process.


def _do(act: Act, out: Connection) -> None:
    """Do an act, and send what is to be known of it: each stage, how far it is, its run, what went wrong."""
    os.setsid()  # because Ctrl-C is for the server, which ends it

    def progress(done: int, total: int) -> None:
        out.send({"done": done, "total": total})

    try:
        with closing(Study(act.address)) as study:
            if act.what == BUILD:
                for run in study.start.build(progress):
                    out.send({"stage": run.stage, "counts": run.counts})
            else:
                with study.acting_as(act.by):
                    grid = study.grid(act.grid)
                    if act.what == EVALUATE:
                        _evaluate(grid, act.values, progress)
                    else:
                        grid.generate(act.values["round"], progress=progress)
                out.send({"run": study.log()[-1].id})
    except FcpairError as error:
        problem, findings = str(error), getattr(error, "findings", ()) if act.what != BUILD else ()
        if findings:  # the first of what is wrong with a file line by line
            lines = [str(replace(finding, file=finding.file.rpartition("/")[2])) for finding in findings]
            rest = [say("%(number)s more", number=n)] if (n := len(lines[SHOWN_FINDINGS:])) else []
            problem = join([*lines[:SHOWN_FINDINGS], *rest], "; ")
        out.send({"problem": problem})
    out.send({})


def _evaluate(grid: Grid, values: dict[str, Any], progress: Callable[[int, int], None]) -> None:
    options = grid.recipe_options(Evaluate, **values)
    for system, cost in grid.tiers().costs(options):
        if n := cost.requests - cost.cached:
            raise InputError.say(
                "`%(system)s` asks a service %(number)s times, which sends texts away and may cost money; `fcpair "
                "evaluate --dry-run` on the server shows how much, and `fcpair evaluate` does it",
                system=system,
                number=n,
            )
    grid.evaluate(options, progress=progress)
