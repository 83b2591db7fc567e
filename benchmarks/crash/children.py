"""A child process that does one thing, says how far it is, and is ended from outside.

It is a fork of this process, which has imported all that takes long, so that hundreds of them take minutes. The clock
stands still in it and what is drawn for secrets is always the same, so that the rows of two runs can be compared.
"""

from __future__ import annotations

import mmap
import os
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from random import Random
from typing import Any

READING, WRITING, COMMITTING, DONE = range(4)
FELL = ("before it began to write", "while it wrote", "in a commit", "after a commit")
_FIELDS = "=iiiddd"  # how far, commits, the backend's process; when it began to write, to commit, and had committed
DEFECT = 3
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
PATIENCE_S = 90
Act = Callable[[], object]


class _StandingClock(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return NOON.astimezone(tz)


@dataclass(frozen=True)
class Said:
    """How far a child is, and when it came there."""

    phase: int
    n_commits: int
    backend: int
    writing_at: float
    committing_at: float
    done_at: float


class Child:
    """A process that does one thing; `after_commit` is called in it after each commit."""

    def __init__(self, act: Act, said: Path, after_commit: Act | None = None) -> None:
        self._shared = mmap.mmap(-1, mmap.PAGESIZE)
        self.said = said
        self.began_at = time.perf_counter()
        self.code: int | None = None  # negative: the signal that ended it
        self.pid = os.fork()
        if not self.pid:
            self._live(act, after_commit)

    def says(self) -> Said:
        """How far it is."""
        return Said(*struct.unpack_from(_FIELDS, self._shared))

    def kill(self) -> None:
        """End it as the kernel would; it may have ended by itself."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def has_ended(self) -> bool:
        """Whether it has ended; does not wait."""
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
        return self.code is not None

    def wait(self) -> int:
        """Its exit code, as soon as it has ended; kills one that hangs."""
        until = time.monotonic() + PATIENCE_S
        while not self.has_ended():
            if time.monotonic() > until:
                self.kill()
                os.waitpid(self.pid, 0)
                raise RuntimeError(f"a child hung: {self.said.read_text()}")
            time.sleep(0.001)
        return self.code or 0

    def _live(self, act: Act, after_commit: Act | None) -> None:
        code = DEFECT
        try:
            fd = os.open(self.said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            for stream in (1, 2):
                os.dup2(fd, stream)
            sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
            sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
            self._arrange(after_commit)
            act()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            traceback.print_exc()
        finally:
            with suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)

    def _put(self, **changed: Any) -> None:
        struct.pack_into(_FIELDS, self._shared, 0, *{**vars(self.says()), **changed}.values())

    def _arrange(self, after_commit: Act | None) -> None:
        """Have the clock stand still, and each transaction that writes say how far it is."""
        import secrets

        from sqlalchemy import Engine, event

        from fcpair.store import Store
        from fcpair.store.database import store as times

        times.datetime = _StandingClock  # type: ignore[attr-defined]
        drawn = Random(str(self.said))  # another file of what is said, other secrets

        def token_hex(nbytes: int | None = None) -> str:
            return drawn.randbytes(nbytes or 32).hex()

        secrets.token_hex = secrets.token_urlsafe = token_hex
        write = Store.write

        @contextmanager
        def told(store: Store, **given: Any) -> Iterator[Any]:
            with write(store, **given) as tx:
                self._put(phase=WRITING, writing_at=self.says().writing_at or time.perf_counter())
                yield tx
            if self.says().phase == COMMITTING:
                self._put(phase=DONE, n_commits=self.says().n_commits + 1, done_at=time.perf_counter())
                if after_commit:
                    after_commit()

        def committing(_conn: Any) -> None:
            if self.says().phase == WRITING:
                self._put(phase=COMMITTING, committing_at=self.says().committing_at or time.perf_counter())

        def connected(connection: Any, _record: Any) -> None:
            if hasattr(connection, "info"):
                self._put(backend=connection.info.backend_pid)

        Store.write = told  # type: ignore[assignment, method-assign]
        event.listen(Engine, "commit", committing)
        event.listen(Engine, "connect", connected)


def run(act: Act, said: Path, after_commit: Act | None = None) -> tuple[int, float, Said]:
    """Let a child come to its end; returns its exit code, its seconds, and what it said."""
    child = Child(act, said, after_commit)
    code = child.wait()
    return code, time.perf_counter() - child.began_at, child.says()
