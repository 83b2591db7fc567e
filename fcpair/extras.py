"""Extras: what not everybody installs, and the error that names the one that is missing."""

from __future__ import annotations

from importlib.util import find_spec

from fcpair.errors import MissingExtraError


def require(extra: str, subject: str, *modules: str) -> None:
    """Raise MissingExtraError unless all of these modules, which an extra of fcpair brings, are installed.

    Args:
        extra: as in `pip install 'fcpair[texts]'`.
        subject: that cannot do without them, such as "the measure `bleu`"; the message begins with it.
        modules: by the names under which they are imported.
    """
    if missing := [name for name in modules if find_spec(name) is None]:
        raise missing_extra(extra, subject, *missing)


def missing_extra(extra: str, subject: str, *modules: str) -> MissingExtraError:
    """The error that `require` raises."""
    return MissingExtraError(f"{subject} needs {', '.join(modules)}; install with `pip install 'fcpair[{extra}]'`")
