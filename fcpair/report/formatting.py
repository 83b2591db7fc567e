"""Numbers in words: how counts, shares, figures and intervals are written in a report."""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from fcpair.records import Figure

NOTHING = "–"
_SYSTEM = re.compile(r"([^=/\\]+=)?[A-Za-z0-9]+[:(].*", re.DOTALL)
_ROOT = r"(?:/(?!/)|[A-Za-z]:(?:/|\\{1,2}))"
_FOLDERS = re.compile(rf"""(?<=[:=]){_ROOT}(?:[^,()"]*[\\/])?|(?<="){_ROOT}(?:(?:[^"\\]|\\.)*(?:/|\\\\))?""")


def count(n: int) -> str:
    """A count: `5,805`."""
    return f"{n:,}"


def counted(n: int, one: str, many: str | None = None) -> str:
    """A count with its noun: `1 label`, `2 labels`."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def decimal(value: float | None, places: int = 3) -> str:
    """A figure with so many decimals; a dash if there is none."""
    return NOTHING if value is None else f"{value:z.{places}f}"


def share(part: int, whole: int) -> str:
    """A share in percent; a dash where the whole is nothing. Only none is 0.0 %, and only all is 100.0 %."""
    if not whole:
        return NOTHING
    if (percent := f"{100 * part / whole:.1f} %") == "0.0 %" and part:
        return "< 0.1 %"
    return "> 99.9 %" if percent == "100.0 %" and part != whole else percent


def interval(figure: Figure) -> str:
    """The bounds of a figure's interval; a dash where it has none."""
    return bounds(figure.low, figure.high)


def bounds(low: float | None, high: float | None) -> str:
    """From one figure to another; a dash if there is none."""
    return NOTHING if low is None or high is None else f"{low:z.3f} to {high:z.3f}"


def moment(at: str) -> str:
    """A time of the study to the second: `2025-03-01 12:00:00 UTC`."""
    return f"{at[:19].replace('T', ' ')} UTC"


def named(name: str) -> str:
    """A choice's name as people read it: `not appropriate`."""
    return name.replace("_", " ")


def settings(values: dict[str, Any]) -> list[tuple[str, str]]:
    """Parameters or counts of a run as pairs of name and value, those that were not given left out."""
    return [(named(name), _plain(value)) for name, value in values.items() if _is_given(value)]


def _is_given(value: Any) -> bool:
    return value is not None and value not in ({}, [], "")


def _plain(value: Any) -> str:
    """A value as text; of a whole path only the file's name, since its folders are the study lead's own affair."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return file_name(value)
    if isinstance(value, int):
        return count(value)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_plain(part)}" for key, part in value.items() if _is_given(part))
    return ", ".join(_plain(part) for part in value) if isinstance(value, list | tuple) else str(value)


def file_name(path: str) -> str:
    """The last part of a whole path; of the name of a system or model, `run:/home/me/x.trec` or
    `mine=canned:/home/me/x.csv`, all but folders; else as it is.
    """
    if _SYSTEM.fullmatch(path) and not PureWindowsPath(path).is_absolute():
        return _FOLDERS.sub("", path)
    for kind in (PurePosixPath, PureWindowsPath):
        if kind(path).is_absolute():
            return kind(path).name
    return path
