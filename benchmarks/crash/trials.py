"""One crash after another of one stage: what is left, and whether the stage can be done again."""

from __future__ import annotations

import random
import shutil
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.crash import children, stages
from benchmarks.crash.children import COMMITTING, FELL, WRITING, Child, Said
from benchmarks.crash.places import Databases, Files, Places, Rows, digest
from benchmarks.crash.promises import broken
from benchmarks.crash.stages import Stage

TRIAL, ROAD = "trial", "road"
MOMENTS = ("any", "writing", "commit")
TEMPORARY = (".tmp", ".part")
UNCHANGED = "nothing was changed"


@dataclass
class Count:
    """What was done, and what was found."""

    kills: Counter[str] = field(default_factory=Counter)  # of what
    fell: Counter[str] = field(default_factory=Counter)  # when
    states: Counter[str] = field(default_factory=Counter)  # what was left
    again: int = 0  # stages that were done again, with the same result
    broken: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Known:
    """A stage as it is without a crash: the rows before it, the digest after each commit, and how long it takes."""

    stage: Stage
    base: str
    before: Rows
    states: list[str]
    said: Said
    seconds: float
    began_at: float
    files: dict[str, bytes]

    @property
    def base_is_there(self) -> bool:
        """Whether the stage begins with a study."""
        return bool(self.before)


@dataclass
class Bench:
    """Where crashes are tried."""

    places: Places
    folder: Path
    rng: random.Random
    count: Count = field(default_factory=Count)

    def files_of(self, stage: Stage) -> Path:
        """The folder with the files that a stage reads and writes."""
        folder = self.folder / stage.name.replace(" ", "-").replace(",", "")
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def act(self, stage: Stage) -> Callable[[], object]:
        """The stage, done on the study that is tried."""
        return lambda: stage.do(self.places.at(TRIAL), self.files_of(stage))

    def run(self, stage: Stage, after_commit: Callable[[], object] | None = None) -> tuple[int, float, Said]:
        """Do the stage to its end."""
        return children.run(self.act(stage), self.said(stage), after_commit)

    def said(self, stage: Stage) -> Path:
        """What a stage prints."""
        return self.files_of(stage) / "said.txt"

    # -- as it is without a crash

    def learn(self, wanted: Callable[[Stage], bool]) -> list[Known]:
        """Walk the road, and keep what each stage begins with and how it ends."""
        last = max(number for number, stage in enumerate(stages.STAGES) if wanted(stage))
        for name, make in stages.BASES.items():
            if any(wanted(stage) for stage in stages.STAGES if stage.base == name):
                self._make(name, make)
        self.places.clear(ROAD)
        known = []
        for number, stage in enumerate(stages.STAGES[: last + 1]):
            if stage.base == "older" and not isinstance(self.places, Files):
                continue
            if stage.on_road or wanted(stage):
                one = self._learn(stage, f"before_{number}")
                known += [one] if wanted(stage) else []
        return known

    def _make(self, name: str, make: stages.Do) -> None:
        folder = self.folder / name
        folder.mkdir(parents=True)
        self.places.clear(name)
        code, *_ = children.run(lambda: make(self.places.at(name), folder), folder / "said.txt")
        if code:
            raise RuntimeError(f"{name}: {(folder / 'said.txt').read_text()}")

    def _learn(self, stage: Stage, base: str) -> Known:
        self._keep_base(stage, base)
        self.reset(base)
        if stage.ready is not None:
            stage_ready = stage.ready
            children.run(lambda: stage_ready(self.places.at(TRIAL), self.files_of(stage)), self.said(stage))
        before = self.places.rows(TRIAL)
        there = _files(self.files_of(stage))
        notes = self.files_of(stage) / "states.txt"
        notes.unlink(missing_ok=True)

        def note() -> None:
            with notes.open("a") as file:
                file.write(digest(self.places.rows(TRIAL)) + "\n")

        code, _, _ = self.run(stage, note)
        if code:
            raise RuntimeError(f"{stage.name}: {self.said(stage).read_text()}")
        states = [digest(before), *notes.read_text().split()]
        notes.unlink()
        after = {name: is_ for name, is_ in _files(self.files_of(stage)).items() if name not in there}
        if stage.on_road:
            self.places.copy(TRIAL, ROAD)
        self.reset(base)
        self.clear_files(stage, after)
        began_at = time.perf_counter()
        _, seconds, said = self.run(stage)
        if digest(self.places.rows(TRIAL)) != states[-1]:
            raise RuntimeError(f"{stage.name}: two runs without a crash differ")
        return Known(stage, base, before, states, said, seconds, began_at, after)

    def _keep_base(self, stage: Stage, base: str) -> None:
        if stage.base == "older":
            shutil.copyfile(stages.OLDER, self.places.at(base))
        elif stage.base == "nothing":
            self.places.clear(base)
        else:
            self.places.copy(stage.base, base)

    def reset(self, base: str) -> None:
        """Have the study as it was before the stage."""
        if self.places.rows(base):
            self.places.copy(base, TRIAL)
        else:
            self.places.clear(TRIAL)

    def clear_files(self, stage: Stage, written: dict[str, bytes]) -> None:
        """Delete what the stage wrote."""
        for name in written:
            (self.files_of(stage) / name).unlink(missing_ok=True)

    def broken(self, known: Known, rows: Rows) -> list[str]:
        """What does not hold in the study that is tried: looked at by a child, so that nothing is kept open here."""
        place, said = self.places.at(TRIAL), self.folder / "broken.txt"
        code, *_ = children.run(lambda: print(*broken(place, known.before, rows), sep="\n", end=""), said)
        return said.read_text().splitlines() or [f"it could not be looked at: exit {code}"] * bool(code)

    # -- crashes

    def crash(self, known: Known, how: str) -> None:
        """End the stage at a random moment: its `process`, the server's `backend` for it, or the whole `server`."""
        self.reset(known.base)
        self.clear_files(known.stage, known.files)
        child = Child(self.act(known.stage), self.said(known.stage))
        self._wait_for_moment(child, known)
        at = child.says()
        self._end(child, how)
        said = child.says() if how == "process" else at
        self.count.kills[how] += 1
        self.count.fell[FELL[said.phase]] += 1
        try:
            self._look(known, child.says(), child.code or 0, how)
        except Exception as error:
            self._found(known, how, f"{type(error).__name__}: {error}")

    def _wait_for_moment(self, child: Child, known: Known) -> None:
        moment = self.rng.choice(MOMENTS)
        begin, last = known.began_at, known.began_at + known.seconds
        if moment == "commit":
            while child.says().phase < COMMITTING and not child.has_ended():
                pass
            time.sleep(self.rng.uniform(0, max(known.said.done_at - known.said.committing_at, 0)))
            return
        if moment == "writing":
            while child.says().phase < WRITING and not child.has_ended():
                time.sleep(0)
            time.sleep(self.rng.uniform(0, max(known.said.done_at - known.said.writing_at, 0)))
            return
        until = child.began_at + self.rng.uniform(0, last - begin)
        while time.perf_counter() < until and not child.has_ended():
            time.sleep(0.0005)

    def _end(self, child: Child, how: str) -> None:
        if how == "process":
            child.kill()
        elif isinstance(self.places, Databases) and how == "backend":
            if (pid := child.says().backend) and not child.has_ended():
                self.places.kill_backend(pid)
        elif isinstance(self.places, Databases):
            self.places.crash()
        child.wait()
        if how == "server" and isinstance(self.places, Databases):
            self.places.start()

    def _look(self, known: Known, said: Said, code: int, how: str) -> None:
        rows = self.places.rows(TRIAL)
        now = digest(rows)
        if now not in known.states:
            return self._found(known, how, "the study is neither as before nor as after any of its commits")
        at = len(known.states) - 1 - known.states[::-1].index(now)
        self.count.states["as before" if not at else "as after" if at == len(known.states) - 1 else "between"] += 1
        most = said.n_commits + (said.phase == COMMITTING)
        if not said.n_commits <= at <= most and now != known.states[min(most, len(known.states) - 1)]:
            self._found(known, how, f"{said.n_commits} commits were done, and the study is as after {at}")
        if how != "process":
            self._check_words(known, how, code, at)
        if rows and not (known.stage.base == "older" and at == 0):
            for fault in self.broken(known, rows):
                self._found(known, how, fault)
        self._check_files(known, how)
        if at < len(known.states) - 1:
            self._do_again(known, how)
        return None

    def _check_words(self, known: Known, how: str, code: int, at: int) -> None:
        """Whoever lost the server is told so, and nothing that is not so."""
        words = self.said(known.stage).read_text()
        if code not in (0, 2) or "Traceback" in words:
            self._found(known, how, f"exit {code}: {words[-300:]}")
        if code == 0 and at < len(known.states) - 1:
            self._found(known, how, "it was said to be done, and is not")
        if UNCHANGED in words and at and len(known.states) == 2:
            self._found(known, how, f"`{UNCHANGED}` was said, and it was changed")

    def _check_files(self, known: Known, how: str) -> None:
        for name, body in known.files.items():
            path = self.files_of(known.stage) / name
            if path.exists() and path.read_bytes() != body:
                self._found(known, how, f"{name} is there in part")

    def _do_again(self, known: Known, how: str) -> None:
        do = known.stage.do
        child = Child(lambda: do(self.places.at(TRIAL), self.files_of(known.stage)), self.said(known.stage))
        if child.wait():
            self._found(known, how, f"cannot be done again: {self.said(known.stage).read_text()[-400:]}")
        elif digest(self.places.rows(TRIAL)) != known.states[-1]:
            self._found(known, how, "done again, it ends otherwise")
        else:
            self.count.again += 1

    def _found(self, known: Known, how: str, fault: str) -> None:
        self.count.broken.append(f"{self.places.name}, {known.stage.name}, {how} killed: {fault}")
        print(f"  BROKEN {self.count.broken[-1]}", flush=True)


def _files(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file() and one.name != "said.txt"}
