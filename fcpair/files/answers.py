"""Reading answers that were given elsewhere: filled-in sheets, labels, verdicts and decisions in files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import Finding, reject
from fcpair.files.corpus import CN, HS
from fcpair.files.tabular import LINE, place_of, read_table, require
from fcpair.records import Origin
from fcpair.stages.question import NO_CODE
from fcpair.stages.spelling import identity, whole

if TYPE_CHECKING:
    import pandas as pd

BLANK = ("note", "seconds", "time", "origin")


@dataclass
class Incoming:
    """The answers of a file on their way in. What is wrong with them is collected, and rejected all at once.

    `rows` has one row per answer: `line`, `pair` (its number, -1 where the texts name it: `by_text`), `hs`, `cn` (empty
    where they are not given), `person`, `code`, `shown` (what a sheet shows of what was answered before), `seconds`
    (NaN where unknown), `at` (empty where unknown), `note`, `origin`. Findings call the file `place`.
    """

    path: str
    rows: pd.DataFrame
    findings: list[Finding]
    place: str
    by_text: bool = False

    def complain(self, wrong: NDArray[np.bool_], messages: Iterable[str], cause: str = "") -> None:
        """Note a finding for each row that is `wrong`.

        `messages` has one for every row; `cause` says what is wrong with several of them, where messages differ.
        """
        lines = self.rows[LINE].tolist()
        self.findings += [
            Finding(self.place, line, message, cause)
            for line, message, bad in zip(lines, messages, wrong.tolist(), strict=True)
            if bad
        ]

    @property
    def faulty(self) -> NDArray[np.bool_]:
        """Which rows have a finding already, shape `(n_rows,)`."""
        lines = {finding.line for finding in self.findings}
        return self.rows[LINE].isin(lines).to_numpy()

    def accepted(self) -> pd.DataFrame:
        """The rows; raises InputError with every finding when there is one."""
        reject(self.path, self.findings)
        return self.rows


def read_answers(
    path: str | Path, read_word: Callable[[str], int], *, person: str, answer: str, named: bool = True, shown: str = ""
) -> Incoming:
    """Read a long table of answers on pairs.

    Args:
        path: a file with `pair` (its number), or `hs` and `cn` (the texts), or all three; the columns that `person`
            and `answer` name; and if they are there `seconds`, `time` (ISO 8601), `note` and `origin` (as `labels
            export` writes it). Rows without an answer are left out: what was not seen is not skipped.
        read_word: gives the code of what a cell of the answer column says, or raises InputError.
        person: the column of the pseudonym.
        answer: the column of the answer.
        named: whether each answer needs a person; otherwise there is one answer a pair and the column may be absent.
        shown: the column, which may be absent, in which a sheet shows what the answer is about.

    Returns:
        The answers, with findings for unknown words, numbers and times that are none, and answers given twice.

    Raises:
        InputError: the file cannot be read as a table, or lacks a column.
    """
    import pandas as pd

    columns = [answer, *([person] if named else [])]
    frame = read_table(
        path,
        columns,
        known=["pair", HS, CN, person, *filter(None, [shown])],
        blank=[answer, "note", "seconds", "time", "origin"],
    )
    place, by_text = place_of(frame), "pair" not in frame.columns
    keys = [HS, CN] if by_text else ["pair"]
    require(place, frame.columns, keys)
    given = frame[frame[answer].str.strip() != ""].reset_index(drop=True)
    cells = _Cells(place, given)
    rows = pd.DataFrame(
        {
            LINE: given[LINE],
            "pair": cells.parse("pair", _pair_id, NO_CODE, needed=True),
            HS: cells.parse(HS, identity, "", needed=by_text),
            CN: cells.parse(CN, identity, "", needed=by_text),
            "person": cells.parse(person, str.strip, "", needed=named),
            "code": cells.parse(answer, read_word, NO_CODE),
            "shown": cells.parse(shown, str.strip, ""),
            "seconds": cells.parse("seconds", _seconds, float("nan")),
            "at": cells.parse("time", _time, ""),
            "note": cells.parse("note", str, ""),
            "origin": cells.parse("origin", _origin, Origin.IMPORTED.value),
        }
    )
    incoming = Incoming(str(path), rows, cells.findings, place, by_text)
    _complain_of_repeats(incoming, [*keys, *(["person"] if named else [])])
    return incoming


class _Cells:
    """Parses columns of a frame and collects what is wrong with its cells."""

    def __init__(self, place: str, frame: pd.DataFrame) -> None:
        self._place, self._frame = place, frame
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
                self.findings.append(Finding(self._place, int(line), str(error)))
                parsed.append(empty)
        return parsed


def _pair_id(cell: str) -> int:
    number = whole(cell)
    if not number.isdecimal() or len(number) > 18:  # longer ones do not fit 64 bits
        raise ValueError(f"`{cell}` is no pair; expected its number")
    return int(number)


def _seconds(cell: str) -> float:
    try:
        seconds = float(cell.replace(",", "."))
    except ValueError:
        seconds = float("nan")
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"`{cell}` is no number of seconds; expected 0 or more")
    return seconds


def _origin(cell: str) -> str:
    """What simulated people said stays theirs when it moves from study to study."""
    return (Origin.SIMULATED if cell.strip().lower() == Origin.SIMULATED else Origin.IMPORTED).value


def _time(cell: str) -> str:
    try:
        return datetime.fromisoformat(cell.strip()).isoformat()
    except ValueError:
        raise ValueError(f"`{cell}` is no time; expected ISO 8601, such as 2026-11-21T14:05:00+00:00") from None


def _complain_of_repeats(incoming: Incoming, key: list[str]) -> None:
    rows = incoming.rows
    first = rows.groupby(key, sort=False)[[LINE, "person"]].transform("first")
    unreadable = rows[key].isin([NO_CODE, ""]).any(axis=1)
    messages = (
        f"this pair has been answered{f' by {name}' if name else ''} already, in line {line}"
        for line, name in zip(first[LINE], first["person"], strict=True)
    )
    repeated = ((rows[LINE] != first[LINE]) & ~unreadable).to_numpy()
    incoming.complain(repeated, messages, cause="the pair has been answered already, in a line above")
