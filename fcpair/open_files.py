"""How many files and connections this process may have open at once."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec

UNLIMITED = 1 << 20  # where the system sets no limit that could be asked for


def open_files() -> int:
    """The number that holds now."""
    return _limits()[0]


def allow_open_files(wanted: int) -> int:
    """Have the number be at least `wanted`, as far as the system lets this process; returns what holds then."""
    soft, hard = _limits()
    if soft < min(wanted, hard):
        import resource

        with suppress(ValueError, OSError):  # some systems name a hard limit that they do not give
            resource.setrlimit(
                resource.RLIMIT_NOFILE, (min(wanted, hard), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
            )
    return open_files()


def _limits() -> tuple[int, int]:
    if find_spec("resource") is None:
        return UNLIMITED, UNLIMITED
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return tuple(UNLIMITED if one == resource.RLIM_INFINITY else one for one in (soft, hard))  # type: ignore[return-value]
