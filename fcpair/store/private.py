"""Files for the eyes of their owner: whoever can read a study or a cache has its texts, and can act as anybody in it.

The umask is left alone, since it is the whole process's and other files are made for passing on.
"""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path

OWNER_ALONE = 0o600
OTHERS = 0o077


def create(path: Path) -> None:
    """Make an empty file that only its owner can read and write; raises FileExistsError where there is one."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ALONE))


def exposed(path: str | Path) -> str | None:
    """A sentence that says how to keep a file to its owner; None where it is, or is not there."""
    try:
        rights = stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return None
    if os.name != "posix" or not rights & OTHERS:
        return None
    command = f"chmod 600 {shlex.quote(str(path))}"
    return f"others on this machine may read or write {path} (its rights are {rights:04o}); `{command}` ends that"
