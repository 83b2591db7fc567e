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
EVERYBODY = 0o007


def create_private(path: Path) -> None:
    """Make an empty file that only its owner can read and write; raises FileExistsError where there is one."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ALONE))


def restrict_to_owner(path: str | Path) -> str | None:
    """Keep a file that everybody can read or write to its owner; one that is shared with a group alone stays as it is.

    Returns a sentence about it; None where nothing was changed, as where the file is not there or is somebody else's.
    """
    try:
        rights = stat.S_IMODE(os.stat(path).st_mode)
        if os.name != "posix" or not rights & EVERYBODY:
            return None
        os.chmod(path, OWNER_ALONE)
    except OSError:
        return None
    return (
        f"everybody on this machine could read or write {path} (its rights were {rights:04o}), and now only its owner "
        f"can; `chmod 660 {shlex.quote(str(path))}` lets its group in"
    )


def exposure_warning(path: str | Path) -> str | None:
    """A sentence that says how to keep a file to its owner; None where it is, or is not there."""
    try:
        rights = stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return None
    if os.name != "posix" or not rights & OTHERS:
        return None
    command = f"chmod 600 {shlex.quote(str(path))}"
    return f"others on this machine may read or write {path} (its rights are {rights:04o}); `{command}` ends that"
