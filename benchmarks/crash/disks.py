"""Full and read-only disks: every stage on a small file system in memory that fills up, or takes no changes.

Each stage must end with exit 2 and a message, leave the study as it was, and end well when there is room again.
"""

from __future__ import annotations

import gc
import os
import random
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.crash import children
from benchmarks.crash.places import PATIENCE_S, Databases, Files, Places, databases, digest
from benchmarks.crash.stages import Stage
from benchmarks.crash.trials import TRIAL, UNCHANGED, Bench, Known
from benchmarks.measure import SEED

BLOCK = 4096
MEGABYTES = {"SQLite": 24, "PostgreSQL": 900}
STEPS = (0, 2, 8, 32, 128)  # pages that are left free


class Disk:
    """A small file system in memory, whose room can be taken and given back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self, but: int) -> None:
        """Take all room but so many pages."""
        self.free()
        free = os.statvfs(self.folder).f_bavail
        with suppress(OSError), self._filler.open("wb", buffering=0) as file:  # who else writes may be quicker
            for _ in range(max(free - but, 0)):
                file.write(bytes(BLOCK))

    def free(self) -> None:
        """Give the room back."""
        self._filler.unlink(missing_ok=True)

    def allow(self, *, writing: bool) -> None:
        """Let what is there be changed, or only be read; SystemError where a file is open to be written."""
        _run("mount", "-o", f"remount,{'rw' if writing else 'ro'}", str(self.folder))


@contextmanager
def disk(folder: Path, megabytes: int) -> Iterator[Disk]:
    """Mount one at a new folder; raises PermissionError, which says so, where this user may not."""
    folder.mkdir(parents=True)
    try:
        _run("mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "tmpfs", str(folder))
    except subprocess.CalledProcessError as error:
        raise PermissionError(
            f"a file system cannot be mounted here ({error.stderr.strip()}); run this as root"
        ) from error
    try:
        yield Disk(folder)
    finally:
        _unmount(folder)


def _unmount(folder: Path) -> None:
    """Take it away as soon as nobody has anything open there: children of a killed server end a moment after it, and
    a closed study lets go of its file when it is collected.
    """
    gc.collect()
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            return _run("umount", str(folder))
        except subprocess.CalledProcessError:
            if time.monotonic() > until:
                raise
        time.sleep(0.1)


def _run(*line: str) -> None:
    subprocess.run(line, check=True, capture_output=True, text=True)


@dataclass
class Tried:
    """What was tried on a disk, and what was found."""

    full: int = 0  # stages that met a full disk, and said so
    read_only: int = 0
    fitted: int = 0  # stages for which the room was enough
    broken: list[str] = field(default_factory=list)


def try_disks(bench: Bench, room: Disk, known: list[Known]) -> Tried:
    """Try each stage on a disk that takes no changes, and on one with more and more room, until it is done."""
    tried = Tried()
    for one in known:
        print(
            f"  {bench.places.name}, {one.stage.name}: so far {tried.full} full, {len(tried.broken)} broken", flush=True
        )
        if one.base_is_there:
            bench.reset(one.base)
            _forbid(bench.places, room, is_=True)
            refused = _refused(bench, one, tried, "a read-only disk", lambda: _forbid(bench.places, room, is_=False))
            tried.read_only += refused
        for but in STEPS:
            bench.reset(one.base)
            room.fill(but)
            if not _refused(bench, one, tried, f"a disk with {but} free pages", lambda: _make_room(bench.places, room)):
                tried.fitted += 1
                break
            tried.full += 1
            _do_again(bench, one, tried)
    return tried


def _forbid(places: Places, room: Disk, *, is_: bool) -> None:
    """A server keeps its files open to be written; there, the database takes no changes."""
    if isinstance(places, Databases):
        places.execute(f"ALTER DATABASE {TRIAL} SET default_transaction_read_only = {'on' if is_ else 'off'}")
    else:
        room.allow(writing=not is_)


def _make_room(places: Places, room: Disk) -> None:
    room.free()
    if isinstance(places, Databases) and not places.is_up():
        places.start()


def _refused(bench: Bench, known: Known, tried: Tried, what: str, mend: Callable[[], None]) -> bool:
    """Whether the stage is refused, which is as it should be; what else is wrong is noted."""
    bench.clear_files(known.stage, known.files)
    try:
        code, _, _ = bench.run(known.stage)
    finally:
        mend()
    words = bench.said(known.stage).read_text()
    where = f"{bench.places.name}, {known.stage.name}, {what}"
    now = digest(bench.places.rows(TRIAL))
    if code == 0:
        tried.broken += [f"{where}: said to be done, and is not"] * (now != known.states[-1])
        return False
    if code != 2 or "Traceback" in words:
        tried.broken.append(f"{where}: exit {code}: {words[-400:]}")
    if now not in known.states[:-1]:
        tried.broken.append(f"{where}: refused, and changed")
    if now != known.states[0] and UNCHANGED in words and len(known.states) == 2:
        tried.broken.append(f"{where}: `{UNCHANGED}` was said, and it was changed")
    return True


def _do_again(bench: Bench, known: Known, tried: Tried) -> None:
    """What was refused ends well now that there is room."""
    at = known.states.index(digest(bench.places.rows(TRIAL))) if known.base_is_there else 0
    do = known.stage.do
    code, _, _ = children.run(lambda: do(bench.places.at(TRIAL), bench.files_of(known.stage)), bench.said(known.stage))
    rows = bench.places.rows(TRIAL)
    if code or (not at and digest(rows) != known.states[-1]):
        said = bench.said(known.stage).read_text()[-300:]
        tried.broken.append(f"{bench.places.name}, {known.stage.name}: does not end well with room again: {said}")
    tried.broken += bench.broken(known, rows)


def run(folder: Path, which: str, wanted: Callable[[Stage], bool] = lambda stage: True) -> Tried:
    """Try all stages on SQLite or on PostgreSQL, whose data are on such a disk."""
    with ExitStack() as until_the_end:
        room = until_the_end.enter_context(disk(folder / "disk", MEGABYTES[which]))
        if which == Files.name:
            places: Places = Files(room.folder)
        else:
            (room.folder / "data").mkdir()
            places = until_the_end.enter_context(databases(room.folder / "data"))
        bench = Bench(places, folder / "files", random.Random(SEED))
        return try_disks(bench, room, bench.learn(wanted))
