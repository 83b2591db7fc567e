"""Files and folders that an act writes under another name until they are whole; those that a kill left are removed.

And how many files this process may have open.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

_RANDOM = "[a-z0-9_]{8}"  # what tempfile puts between a prefix and a suffix
_LONGEST_NAME = 40  # characters: a name of at most 255 bytes has more than that
_log = logging.getLogger(__name__)
UNLIMITED = 1 << 20  # files that may be open, where the system sets no limit that could be asked for


def open_file_limit(at_least: int = 0) -> int:
    """Number of files and connections that may be open at once: `at_least` so many, as far as the system allows."""
    if find_spec("resource") is None:
        return UNLIMITED
    from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit, setrlimit

    soft, hard = (UNLIMITED if limit == RLIM_INFINITY else limit for limit in getrlimit(RLIMIT_NOFILE))
    if soft < min(at_least, hard):
        with suppress(ValueError, OSError):  # some systems name a hard limit that they do not give
            setrlimit(RLIMIT_NOFILE, (min(at_least, hard), getrlimit(RLIMIT_NOFILE)[1]))
            return min(at_least, hard)
    return soft


def prefix_for(path: Path) -> str:
    """The beginning of a temporary name that says what is to be at `path`."""
    return f".{path.name[:_LONGEST_NAME]}.unfinished-"


@contextmanager
def new_path(folder: Path, prefix: str, suffix: str = "", *, is_folder: bool = True) -> Iterator[Path]:
    """A new folder or file, only for its owner, with a name that begins and ends so; gone at the end, unless it moved.

    What has such a name, and no process that is still at work on it, was left by a kill: it goes, which is logged.
    """
    pattern = re.compile(re.escape(prefix) + _RANDOM + re.escape(suffix))
    with suppress(OSError):  # of another owner, or gone meanwhile
        for name in os.listdir(folder):
            path = folder / name
            if name.startswith(prefix) and pattern.fullmatch(name) and (held := _hold(path)) is not None:
                _remove(path)
                os.close(held)
                _log.warning("%s was left by a process that was killed, and has been removed", path)
    if is_folder:
        path = Path(tempfile.mkdtemp(suffix, prefix, folder))
    else:
        number, name = tempfile.mkstemp(suffix, prefix, folder)
        os.close(number)
        path = Path(name)
    held = _hold(path)
    try:
        yield path
    finally:
        _remove(path)
        if held is not None:
            os.close(held)


def _hold(path: Path) -> int | None:
    """Lock a path until the process ends, or what is returned is closed; None where it is locked, or cannot be."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
