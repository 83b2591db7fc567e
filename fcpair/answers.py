"""Reading answers that were given elsewhere: filled-in sheets, labels, verdicts and decisions in files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fcpair.corpus import CN, HS, identity
from fcpair.errors import Finding, reject
from fcpair.label import NO_CODE
from fcpair.tabular import LINE, read_table

if TYPE_CHECKING:
    import pandas as pd


def read_answers(
    path: str | Path, words: Mapping[str, int], *, person: str, answer: str, named: bool = True
) -> pd.DataFrame:
    """Read a long table of answers on pairs.

    Args:
        path: a file with `pair`, or `hs` and `cn` (the texts); the columns that `person` and `answer` name; and if
            they are there `seconds`, `time` (ISO 8601) and `note`. Rows without an answer are left out: what was
            not seen is not skipped.
        words: each word that the answer column may hold, in lower case, and its code.
        person: the column of the pseudonym.
        answer: the column of the answer.
        named: whether each answer needs a person; otherwise there is one answer a pair and the column may be absent.

    Returns:
        One row per answer: `line`, `pair` (id, -1 where the texts name the pair), `hs`, `cn` (empty where the id
        does), `person`, `code`, `seconds` (NaN where unknown), `at` (empty where unknown), `note`.

    Raises:
        InputError: all findings of the file at once: a missing column, an unknown word, a number or time that is
            none, an answer given twice.
    """
    import pandas as pd

    frame = read_table(path, [answer, *([person] if named else [])])
    keys = ["pair"] if "pair" in frame.columns else [HS, CN]
    if keys != ["pair"]:
        frame = read_table(path, [*keys, answer])
    given = frame[frame[answer].str.strip() != ""]
    cells = _Cells(path, given)
    read = pd.DataFrame(
        {
            LINE: given[LINE].to_numpy(),
            "pair": cells.parse("pair", _pair_id, NO_CODE, needed=True),
            HS: cells.parse(HS, identity, "", needed=True) if keys != ["pair"] else "",
            CN: cells.parse(CN, identity, "", needed=True) if keys != ["pair"] else "",
            "person": cells.parse(person, str.strip, "", needed=named),
            "code": cells.parse(answer, lambda word: _code(word, words), NO_CODE),
            "seconds": cells.parse("seconds", _seconds, float("nan")),
            "at": cells.parse("time", _time, ""),
            "note": cells.parse("note", str, ""),
        }
    )
    reject(path, cells.findings)
    reject(path, _twice(path, read, [*keys, *(["person"] if named else [])]))
    return read


class _Cells:
    """Parses columns of a frame and collects what is wrong with its cells."""

    def __init__(self, path: str | Path, frame: pd.DataFrame) -> None:
        self._path, self._frame = str(path), frame
        self.findings: list[Finding] = []

    def parse(self, column: str, convert: Callable[[str], Any], empty: Any, *, needed: bool = False) -> list[Any]:
        if column not in self._frame.columns:
            return [empty] * len(self._frame)
        parsed = []
        for line, cell in zip(self._frame[LINE], self._frame[column], strict=True):
            try:
                if needed and not cell.strip():
                    raise ValueError(f"column `{column}` is empty")
                parsed.append(convert(cell) if cell.strip() else empty)
            except ValueError as error:
                self.findings.append(Finding(self._path, int(line), str(error)))
                parsed.append(empty)
        return parsed


def _code(word: str, words: Mapping[str, int]) -> int:
    code = words.get(word.strip().lower())
    if code is None:
        raise ValueError(f"unknown label `{word}`; expected one of {', '.join(words)}")
    return code


def _pair_id(cell: str) -> int:
    if not cell.strip().isdecimal() or len(cell.strip()) > 18:  # longer ones do not fit 64 bits
        raise ValueError(f"`{cell}` is no pair; expected its number")
    return int(cell)


def _seconds(cell: str) -> float:
    try:
        seconds = float(cell)
    except ValueError:
        seconds = float("nan")
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"`{cell}` is no number of seconds; expected 0 or more")
    return seconds


def _time(cell: str) -> str:
    try:
        return datetime.fromisoformat(cell.strip()).isoformat()
    except ValueError:
        raise ValueError(f"`{cell}` is no time; expected ISO 8601, such as 2026-11-21T14:05:00+00:00") from None


def _twice(path: str | Path, read: pd.DataFrame, key: list[str]) -> list[Finding]:
    first = read.groupby(key, sort=False)[LINE].transform("first")
    again = read[LINE] != first
    return [
        Finding(str(path), int(line), f"this pair has been answered{by} already, in line {before}")
        for line, before, by in zip(
            read[LINE][again],
            first[again],
            [f" by {name}" if name else "" for name in read["person"][again]],
            strict=True,
        )
    ]
