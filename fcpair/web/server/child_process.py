"""Processes of their own for what takes long: building a study of its draft, evaluating systems, asking models.

Each is a process of `multiprocessing` that does one act, and says by its pipe how far it is. An executor would not do:
it ends no work that has begun, and only its end gives the memory back that models need, which finding candidates takes.
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


@dataclass(frozen=True)
class Act:
    """What a process is to do, with the files that were sent for it in `folder`."""

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
        ended = replace(self.state, is_running=False)
        if not is_whole and not ended.problem:
            ended = replace(ended, problem=self._killed)
        if not ended.problem:
            self._on_done()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        self.state = ended


# What follows is done in the process.


def _do(act: Act, out: Connection) -> None:
    """Do an act, and send what is to be known of it: each stage, how far it is, its run, what went wrong."""
    os.setsid()  # because Ctrl-C is for the server, which ends it

    def tell(**news: Any) -> None:
        out.send(news)

    try:
        with closing(Study(act.address)) as study:
            _ACTS[act.what](study, act, tell)
    except FcpairError as error:
        tell(problem=str(error) if act.what == BUILD else _describe(error))
    tell()


def _evaluate(study: Study, act: Act, tell: Callable[..., None]) -> None:
    grid = study.grid(act.grid)
    options = grid.recipe_options(Evaluate, **act.values)
    for system, cost in grid.tiers().costs(options):
        if n := cost.requests - cost.cached:
            raise InputError.say(
                "`%(system)s` asks a service %(number)s times, which sends texts away and may cost money; `fcpair "
                "evaluate --dry-run` on the server shows how much, and `fcpair evaluate` does it",
                system=system,
                number=n,
            )
    with study.acting_as(act.by):
        grid.evaluate(options, progress=lambda done, total: tell(done=done, total=total))
    tell(run=study.log()[-1].id)


def _generate(study: Study, act: Act, tell: Callable[..., None]) -> None:
    with study.acting_as(act.by):
        study.grid(act.grid).generate(act.values["round"], progress=lambda done, total: tell(done=done, total=total))
    tell(run=study.log()[-1].id)


def _build(study: Study, _act: Act, tell: Callable[..., None]) -> None:
    for run in study.start.build(lambda done, total: tell(done=done, total=total)):
        tell(stage=run.stage, counts=run.counts)


_ACTS = {EVALUATE: _evaluate, GENERATE: _generate, BUILD: _build}


def _describe(error: FcpairError) -> str:
    """The error, and the first of what is wrong with a file line by line."""
    findings = [str(replace(one, file=one.file.rpartition("/")[2])) for one in getattr(error, "findings", ())]
    rest = [say("%(number)s more", number=n)] if (n := len(findings[SHOWN_FINDINGS:])) else []
    return join([*findings[:SHOWN_FINDINGS], *rest], "; ") if findings else str(error)
