"""Limit on the files and connections that this process may have open at once."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec

UNLIMITED = 1 << 20  # where the system sets no limit that could be asked for


def open_file_limit() -> int:
    """The number that holds now."""
    return _soft_and_hard_limit()[0]


def raise_open_file_limit(n_files: int) -> int:
    """Have the number be at least `n_files`, as far as the system lets this process; returns what holds then."""
    soft, hard = _soft_and_hard_limit()
    if soft < min(n_files, hard):
        from resource import RLIMIT_NOFILE, getrlimit, setrlimit

        with suppress(ValueError, OSError):  # some systems name a hard limit that they do not give
            setrlimit(RLIMIT_NOFILE, (min(n_files, hard), getrlimit(RLIMIT_NOFILE)[1]))
    return open_file_limit()


def _soft_and_hard_limit() -> tuple[int, int]:
    if find_spec("resource") is None:
        return UNLIMITED, UNLIMITED
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return tuple(UNLIMITED if limit == resource.RLIM_INFINITY else limit for limit in (soft, hard))  # type: ignore[return-value]
