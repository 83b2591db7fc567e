"""Processes of their own for what takes long: building a study of its draft, evaluating systems, asking models.

No executor would do: it ends no work that has begun, and only its own end gives back the memory that models need.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock, Thread
from time import monotonic
from typing import Any

from fcpair.errors import ConflictError, FcpairError, InputError
from fcpair.grid import Grid
from fcpair.params import Evaluate
from fcpair.sentences import join, say
from fcpair.start_draft import build_stages
from fcpair.study import Study

BUILD, EXAMPLE, EVALUATE, GENERATE, IMPORT = "build", "example", "evaluate", "generate", "import"
SLOW_SYSTEMS = ("sbert", "cross", "rerank", "service", "llm", "colbert", "splade")
_FOLDER = re.compile(r"(?<=:)/\S*/")  # of a file that was sent, which is nobody's business
KNOWN_AFTER_S, KNOWN_SHARE = 3.0, 0.03  # before that, nothing is said of the time that is left
SHOWN_FINDINGS = 10
BUILDING = say("the study is being built already; wait until that is done")
BUILD_KILLED = say(
    "the process that built the study has ended, perhaps for lack of memory; nothing was kept, so try again"
)
RUNNING = say("something else is being done that takes long; wait until that is done, or stop it")
KILLED = say("the process has ended, perhaps for lack of memory; what models have replied is kept, so try again")


@dataclass(frozen=True)
class ProcessState:
    """Progress of an act, in which `grid`, if in one, `by` whom, and its `run` in the log.

    Its `steps` are names with weights, of which those before `at` are done; of that one, `done` of `total` in a `part`.
    `problem` says why it has no result; it is none of the act's if somebody has ended it, who is in `cancelled`.
    """

    is_running: bool = False
    steps: tuple[tuple[str, float], ...] = ()
    at: int = 0
    part: str = ""
    done: int = 0
    total: int = 0
    share: float = 0.0
    begun_s: float = 0.0
    problem: str = ""
    cancelled: str = ""
    what: str = ""
    grid: str = ""
    by: str = ""
    run: int = 0

    def after(self, message: dict[str, Any]) -> ProcessState:
        """The state after news of the process; the share that is done never falls."""
        names = [name for name, _ in self.steps]
        if (part := message.get("part")) is not None:
            message = {**message, "done": 0, "total": 0}
            if part in names[self.at :]:  # of two steps of a name, the first that is not done
                message |= {"at": names.index(part, self.at), "part": ""}
        state = replace(self, **message)
        weights = [weight for _, weight in state.steps]
        so_far = sum(weights[: state.at]) + sum(weights[state.at : state.at + 1]) * state.done / (state.total or 1)
        return replace(state, share=max(self.share, so_far / (sum(weights) or 1)))

    @property
    def elapsed_s(self) -> float:
        """Seconds since it began."""
        return monotonic() - self.begun_s

    @property
    def left_s(self) -> float | None:
        """Seconds that are left at the pace so far; None while that says nothing."""
        if self.elapsed_s < KNOWN_AFTER_S or self.share < KNOWN_SHARE:
            return None
        return self.elapsed_s * (1 - self.share) / self.share


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
    """Has one act at a time done in a process of its own; calls `on_done` when it has ended."""

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
            self.state = ProcessState(True, begun_s=monotonic(), what=act.what, grid=act.grid, by=act.by)
            self._following = Thread(target=self._follow, args=(self._process, news, act.folder), daemon=True)
            self._following.start()

    def end(self, by: str = "") -> None:
        """End the process, if there is one, by whose wish; what it did not finish is done again the next time."""
        if self._process is not None and self.state.is_running:
            self.state = replace(self.state, cancelled=by)
            self._process.kill()
            self._following.join()

    def forget(self) -> None:
        """Forget what the last act came to, once that is of no use to anybody."""
        with self._lock:
            if not self.state.is_running:
                self.state = ProcessState()

    def _follow(self, process: BaseProcess, news: Connection, folder: Path | None) -> None:
        is_whole = False
        with news, suppress(EOFError, OSError):  # the end of a process that was killed, at a message perhaps
            while message := news.recv():
                self.state = self.state.after(message)
            is_whole = True
        problem = self.state.problem or ("" if is_whole else self._killed)
        self._on_done()  # also where it was ended, as that may have been just after it was done
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        self.state = replace(self.state, is_running=False, problem=problem)
        process.join()


# What follows is done in the process.


class _Reporter:
    """Sends news of an act: its steps, that which has begun, and how much of that is done."""

    def __init__(self, out: Connection, steps: Iterable[tuple[str, float]]) -> None:
        self._out = out
        out.send({"steps": tuple((_FOLDER.sub("", name), weight) for name, weight in steps)})

    def __call__(self, done: int, total: int) -> None:
        self._out.send({"done": done, "total": total})

    def begin_part(self, name: str) -> None:
        """Begin a step, or a part of one if no step is called so."""
        self._out.send({"part": _FOLDER.sub("", name)})


def _do(act: Act, out: Connection) -> None:
    """Do an act, and send what is to be known of it: its steps, how far it is, its run, what went wrong."""
    os.setsid()  # because Ctrl-C is for the server, which ends it
    try:
        with closing(Study(act.address)) as study, study.acting_as(act.by):
            if act.what in (BUILD, EXAMPLE):
                is_example = act.what == EXAMPLE
                steps = build_stages(study.start.draft(), is_example=is_example)
                report, due = _Reporter(out, steps), [stage for stage, _ in steps]
                made = study.start.build_example(act.by, report) if is_example else study.start.build(report)
                for run in made:
                    if run.stage in due[:-1]:
                        due = due[due.index(run.stage) + 1 :]
                        report.begin_part(due[0])
            else:
                grid = study.grid(act.grid)
                if act.what == EVALUATE:
                    _evaluate(grid, act.values, out)
                elif act.what == IMPORT:
                    grid.desk.import_file(**act.values)
                else:
                    models = [(model, 1.0) for model, _ in grid.desk.estimate_generation(act.values["round"])]
                    report = _Reporter(out, models)
                    grid.generate(act.values["round"], progress=report)
                out.send({"run": study.log()[-1].id})
    except FcpairError as error:
        problem, findings = str(error), getattr(error, "findings", ()) if act.what != BUILD else ()
        if findings:  # the first of what is wrong with a file line by line
            lines = [str(replace(finding, file=finding.file.rpartition("/")[2])) for finding in findings]
            rest = [say("%(number)s more", number=n)] if (n := len(lines[SHOWN_FINDINGS:])) else []
            problem = join([*lines[:SHOWN_FINDINGS], *rest], "; ")
        out.send({"problem": problem})
    out.send({})


def _evaluate(grid: Grid, values: dict[str, Any], out: Connection) -> None:
    from fcpair.evaluate.outcome import SCORING

    options = grid.recipe_options(Evaluate, **values)
    costs = grid.tiers().costs(options)
    for system, cost in costs:
        if n := cost.requests - cost.cached:
            raise InputError.say(
                "`%(system)s` asks a service %(number)s times, which sends texts away and may cost money; `fcpair "
                "evaluate --dry-run` on the server shows how much, and `fcpair evaluate` does it",
                system=system,
                number=n,
            )
    systems = [(name, 20.0 if name.startswith(SLOW_SYSTEMS) else 1.0) for name, _ in costs]
    grid.evaluate(options, progress=_Reporter(out, [*systems, (SCORING, 3.0)]))
