"""Reading answers that were given elsewhere: filled-in sheets, labels, verdicts and decisions in files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import Finding, InputError, reject
from fcpair.files.corpus.corpus import CN, HS
from fcpair.files.tables.tabular import LINE, place_of, read_table, require
from fcpair.records import Origin
from fcpair.stages.corpus.text_identity import fold, identity, whole
from fcpair.stages.questions import NO_CODE, SKIP, Form
from fcpair.stages.questions.form import Answer

if TYPE_CHECKING:
    import pandas as pd

BLANK = ("note", "seconds", "time", "origin")
SKIPPED = "skipped"
YES_OR_NO = {"true": True, "1": True, "false": False, "0": False}


class Keyed(NamedTuple):
    """What the columns are called that say which cell an answer is about: its number, or the texts of its two sides."""

    number: str
    sides: tuple[str, str]


PAIR = Keyed("pair", (HS, CN))
CELL = Keyed("cell", ("row", "column"))


@dataclass
class Incoming:
    """The answers of a file on their way in. What is wrong with them is collected, and rejected all at once.

    `rows` has one row per answer: `line`, `pair` (its number, -1 where the texts name it: `by_text`), `hs`, `cn` (empty
    where they are not given), `person`, `code` (or `answer`, of a form; None for a skip), `shown` (what a sheet shows
    of what was answered before), `seconds` (NaN where unknown), `at` (empty where unknown), `note`, `origin`. Findings
    call the file `place`, and a cell as the column `of.number`. `said` has the cells of each column of answers as they
    stand in the file, one for each row. `brings_work` says that nobody was dealt what it answers.
    """

    path: str
    rows: pd.DataFrame
    findings: list[Finding]
    place: str
    by_text: bool = False
    of: Keyed = PAIR
    said: Mapping[str, list[str]] = field(default_factory=dict)
    brings_work: bool = False

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
    path: str | Path,
    read_word: Callable[[str], int],
    *,
    person: str,
    answer: str,
    named: bool = True,
    shown: str = "",
    of: Keyed = PAIR,
) -> Incoming:
    """Read a long table of answers on pairs.

    Args:
        path: a file with `pair` (its number), or `hs` and `cn` (the texts), or all three, or what `of` calls them; the
            columns that `person` and `answer` name; and if they are there `seconds`, `time` (ISO 8601), `note` and
            `origin` (as `labels export` writes it). Rows without an answer are left out: what was not seen is not
            skipped.
        read_word: gives the code of what a cell of the answer column says, or raises InputError.
        person: the column of the pseudonym.
        answer: the column of the answer.
        named: whether each answer needs a person; otherwise there is one answer a pair and the column may be absent.
        shown: the column, which may be absent, in which a sheet shows what the answer is about.
        of: how the columns are called that say which cell an answer is about.

    Returns:
        The answers, with findings for unknown words, numbers and times that are none, and answers given twice.

    Raises:
        InputError: the file cannot be read as a table, or lacks a column.
    """
    required, known = [answer, *([person] if named else [])], [person, *filter(None, [shown])]
    frame = read_table(path, required, known=[of.number, *of.sides, *known], blank=[answer, *BLANK])
    cells = _Cells(frame, frame[answer].str.strip() != "", of)

    def said() -> dict[str, list[Any]]:
        return {"code": cells.parse(answer, read_word, NO_CODE), "shown": cells.parse(shown, str.strip, "")}

    return _incoming(path, cells, person, said, [answer], named=named)


def read_forms(path: str | Path, form: Form, *, shown: str = "") -> Incoming:
    """Read a long table of the answers to a form.

    It has `cell` (its number), or `row` and `column` (the texts), or all three; `by`; a column for each question; and
    if they are there, what `read_answers` reads, and `skipped`, as `answers export` writes it. A row is a skip where
    that says so, or where nothing but `skip` is said of the questions. Rows without an answer are left out.

    Raises:
        InputError: the file cannot be read as a table, or lacks a column.
    """
    names, known = [name for name, _ in form.questions], [*filter(None, [shown])]
    frame = read_table(path, ["by", *names], known=[CELL.number, *CELL.sides, *known], blank=[*names, SKIPPED, *BLANK])
    answered = [*names, *({SKIPPED} & set(frame.columns))]
    is_said = frame[answered].apply(lambda column: ~column.str.strip().str.lower().isin(["", "false", "0"]))
    cells = _Cells(frame, is_said.any(axis=1), CELL)

    def said() -> dict[str, list[Any]]:
        return {"answer": cells.parse_form(form), "shown": cells.parse(shown, str, "")}

    return _incoming(path, cells, "by", said, names, named=True)


def _incoming(
    path: str | Path,
    cells: _Cells,
    person: str,
    said: Callable[[], dict[str, list[Any]]],
    answers: Iterable[str],
    *,
    named: bool,
) -> Incoming:
    """The answers, with what was `said` in the columns of `answers`, and findings for what is wrong."""
    import pandas as pd

    of, by_text = cells.of, cells.by_text
    rows = pd.DataFrame(
        {
            LINE: cells.lines,
            "pair": cells.parse(of.number, cells.number, NO_CODE, needed=True),
            HS: cells.parse(of.sides[0], identity, "", needed=by_text),
            CN: cells.parse(of.sides[1], identity, "", needed=by_text),
            "person": cells.parse(person, str.strip, "", needed=named),
            **said(),
            "seconds": cells.parse("seconds", _seconds, float("nan")),
            "at": cells.parse("time", _time, ""),
            "note": cells.parse("note", str, ""),
            "origin": cells.parse("origin", _origin, Origin.IMPORTED.value),
        }
    )
    verbatim = {name: cells.parse(name, str, "") for name in answers}
    incoming = Incoming(str(path), rows, cells.findings, cells.place, by_text, of, verbatim)
    _complain_of_repeats(incoming, [*((HS, CN) if by_text else ["pair"]), *(["person"] if named else [])])
    return incoming


class _Cells:
    """Parses columns of the `answered` rows of a frame, and collects what is wrong with their cells."""

    def __init__(self, frame: pd.DataFrame, answered: pd.Series[bool], of: Keyed) -> None:
        self.place, self.of, self.by_text = place_of(frame), of, of.number not in frame.columns
        require(self.place, frame.columns, of.sides if self.by_text else [of.number])
        self._frame = frame[answered].reset_index(drop=True)
        self.lines = self._frame[LINE]
        self.findings: list[Finding] = []

    def parse(self, column: str, convert: Callable[[str], Any], empty: Any, *, needed: bool = False) -> list[Any]:
        if column not in self._frame.columns:
            return [empty] * len(self._frame)
        parsed = []
        for line, cell in zip(self.lines, self._frame[column], strict=True):
            try:
                if needed and not cell.strip():
                    raise ValueError(f"column `{column}` is empty")
                parsed.append(convert(cell) if cell.strip() else empty)
            except ValueError as error:
                self.findings.append(Finding(self.place, int(line), str(error)))
                parsed.append(empty)
        return parsed

    def parse_form(self, form: Form) -> list[Answer | None]:
        """The answer of each row; None for a skip, and where something is wrong with it."""
        names = [name for name, _ in form.questions]
        skips = self.parse(SKIPPED, _yes_or_no, empty=False)
        parsed: list[Answer | None] = []
        for line, skip, *given in zip(self.lines, skips, *(self._frame[name] for name in names), strict=True):
            cells = {name: cell for name, cell in zip(names, given, strict=True) if cell.strip()}
            parsed.append(None)
            if {fold(cell) for cell in cells.values()} - {SKIP}:
                try:
                    if skip:
                        raise InputError(f"the row is answered, and `{SKIPPED}` too; empty one of them")
                    parsed[-1] = form.read(cells)
                except InputError as error:
                    self.findings.append(Finding(self.place, int(line), str(error)))
        return parsed

    def number(self, cell: str) -> int:
        """The number of a cell of the grid."""
        number = whole(cell)
        if not number.isdecimal() or len(number) > 18:  # longer ones do not fit 64 bits
            raise ValueError(f"`{cell}` is no {self.of.number}; expected its number")
        return int(number)


def _yes_or_no(cell: str) -> bool:
    if (word := cell.strip().lower()) not in YES_OR_NO:
        raise ValueError(f"`{cell}` in column `{SKIPPED}`; expected true or false")
    return YES_OR_NO[word]


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
        f"this {incoming.of.number} has been answered{f' by {name}' if name else ''} already, in line {line}"
        for line, name in zip(first[LINE], first["person"], strict=True)
    )
    repeated = ((rows[LINE] != first[LINE]) & ~unreadable).to_numpy()
    incoming.complain(repeated, messages, cause=f"the {incoming.of.number} has been answered already, in a line above")
