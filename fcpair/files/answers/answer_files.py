"""Reading answers that were given elsewhere: filled-in sheets, labels, verdicts, decisions, and numbers of pairs."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import compress
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from fcpair.arrays import Bools
from fcpair.errors import Finding, InputError, reject
from fcpair.files.corpus.corpus import CN, HS
from fcpair.files.tables.tabular import (
    LINE,
    READERS,
    Source,
    check_file,
    name_of,
    place_of,
    read_cells,
    read_table,
    require_columns,
    unguard,
)
from fcpair.files.tables.text_files import check_texts, parse_csv
from fcpair.known_pairs import COLUMNS, EXPLANATION, MAY_BE_EMPTY, KnownItem, check_number, item_problems
from fcpair.lazy import pd
from fcpair.params import format_of
from fcpair.records import Origin
from fcpair.sentences import Id, mark, say
from fcpair.stages.corpus.text_identity import fold_name, identity, strip_zero_decimals
from fcpair.stages.questions import NO_CODE, SKIP, Closed, Form
from fcpair.stages.questions.form import Answer
from fcpair.stages.questions.labels import label_reader
from fcpair.values import with_point

LONGEST_S = 366 * 86_400
YEARS = (1970, 9_998)  # of a time of an answer: with any offset, each can be counted in seconds
BLANK = ("note", "seconds", "time", "origin")
SKIPPED = "skipped"
YES_OR_NO = {"true": True, "1": True, "false": False, "0": False}
PILOT_COLUMNS = ("hs_id", "cn_id", "annotator", "label")


class CellColumns(NamedTuple):
    """Names of the columns that say which cell an answer is about: its number, or the texts of its two sides."""

    number: str
    sides: tuple[str, str]
    several: str = mark("pairs")  # as sentences call them


PAIR_COLUMNS = CellColumns("pair", (HS, CN))
CELL_COLUMNS = CellColumns(mark("cell"), ("row", "column"), mark("cells"))
PILOT_CELLS = CellColumns("pair", ("hs_id", "cn_id"))


@dataclass
class ImportedAnswers:
    """The answers of a file on their way in. What is wrong with them is collected, and rejected all at once.

    `rows` has one row per answer: `line`, `pair` (its number, -1 where the texts name it: `by_text`), `hs`, `cn` (empty
    where they are not given), `person`, `code` (or `answer`, of a form; None for a skip), `shown` (what a sheet shows
    of what was answered before), `seconds` (NaN where unknown), `at` (empty where unknown), `note`, `origin`, and where
    they are of several files `place`. `earlier` has answers that the same people gave before; `later_row` is the index.
    """

    path: str
    rows: pd.DataFrame
    findings: list[Finding]
    place: str  # as findings call the file
    by_text: bool = False
    of: CellColumns = PAIR_COLUMNS
    said: Mapping[str, list[str]] = field(default_factory=dict)  # the cells of each column of answers, as they stand
    filled: tuple[str, ...] = ()  # columns of the file, read or not, that have any content
    brings_work: bool = False  # nobody was assigned what it answers
    earlier: pd.DataFrame | None = None
    notes: list[str] = field(default_factory=list)  # sentences for whoever imports
    has_answers: bool = True  # of any row of the file

    @property
    def lines(self) -> list[tuple[str, int]]:
        """File and line of each row."""
        lines = self.rows[LINE].tolist()
        places = self.rows["place"].tolist() if "place" in self.rows.columns else [self.place] * len(lines)
        return list(zip(places, lines, strict=True))

    def refuse(self, is_wrong: Bools, sentence: str, **values: Any) -> None:
        """Note a finding for each row that `is_wrong`: a sentence with its `pair`, its `person`, the `unit`, and
        `values`, of which a list or a dict has one for each row. Where they are many, one stands for those about pairs.
        """
        if not is_wrong.any():
            return
        columns: dict[str, Any] = {"unit": say(self.of.number), "pair": [*map(Id, self.rows["pair"])], **values}
        columns |= {name: self.rows[name].tolist() for name in ("person",) if name in self.rows.columns}
        lines, cause = self.lines, ""
        for at in np.flatnonzero(is_wrong).tolist():
            row = {name: of[at] if isinstance(of, list | dict) else of for name, of in columns.items()}
            message = say(sentence, **row)
            cause = cause or ("`%(person)s`" not in sentence and say("for one, %(what)s", what=message)) or ""
            self.findings.append(Finding(*lines[at], message, cause))

    @property
    def has_finding(self) -> Bools:
        """Mask of the rows that have a finding already, shape `(n_rows,)`."""
        lines = {(finding.file, finding.line) for finding in self.findings}
        return np.array([line in lines for line in self.lines], np.bool_)

    def keep_rows(self, is_kept: Bools) -> None:
        """Leave out the other rows, with their cells and earlier answers; those that stay are numbered from 0."""
        self.rows = self.rows[is_kept].reset_index(drop=True)
        self.said = {name: [*compress(cells, is_kept.tolist())] for name, cells in self.said.items()}
        if self.earlier is not None:
            later_row = self.earlier["later_row"].to_numpy(np.int64)
            stays, numbers = is_kept[later_row], np.cumsum(is_kept) - 1
            self.earlier = self.earlier[stays].assign(later_row=numbers[later_row[stays]])

    def checked_rows(self) -> pd.DataFrame:
        """The rows; raises InputError with every finding when there is one, and where nobody has answered."""
        reject(self.path, self.findings)
        if not self.has_answers:
            message = mark("%(file)s: no row has an answer in %(names)s; fill it in, or leave it out for now")
            raise InputError.say(message, file=self.place, names=[f"`{name}`" for name in self.said])
        return self.rows


def read_answers(
    path: Source,
    read_word: Callable[[str], int],
    *,
    person: str,
    answer: str,
    needs_person: bool = True,
    shown: str = "",
    cell_columns: CellColumns = PAIR_COLUMNS,
    headings: Mapping[str, str] = MappingProxyType({}),
) -> ImportedAnswers:
    """Read a long table of answers on pairs, with findings for what cannot be read, and answers given twice.

    It has `pair` (its number), or `hs` and `cn` (the texts), or all three, or what `cell_columns` calls them; the
    columns that `person` (pseudonyms) and `answer` name; and perhaps `shown` (what a sheet shows), `seconds`, `time`
    (ISO 8601), `note` and `origin` (as `labels export` writes it). Columns may be called as in `headings`, too. Rows
    without an answer are left out: what was not seen is not skipped. `read_word` gives the code of an answer, or raises
    InputError. Unless it `needs_person`, there is one answer a pair, and the column may be absent. Raises InputError
    where the file is no table, or lacks a column.
    """
    columns = [answer, *([person] if needs_person else [])]
    optional = [cell_columns.number, *cell_columns.sides, person, *filter(None, [shown])]
    frame = read_table(path, columns, optional=optional, blank=[answer, *BLANK], headings=headings)
    cells = _AnsweredCells(frame, frame[answer].str.strip() != "", cell_columns)

    def parse_columns() -> dict[str, list[Any]]:
        return {"code": cells.parse(answer, read_word, NO_CODE), "shown": cells.parse(shown, str.strip, "")}

    return _collect_answers(path, cells, person, parse_columns, [answer], needs_person=needs_person)


def read_forms(
    path: Source, form: Form, *, shown: str = "", headings: Mapping[str, str] = MappingProxyType({})
) -> ImportedAnswers:
    """Read a long table of the answers to a form as `read_answers` does, and raise what it raises.

    It has `cell` (its number), or `row` and `column` (the texts), or all three; `by`; a column for each question; and
    perhaps what `read_answers` reads, and `skipped`. A row is a skip where that says so, or where nothing but `skip` is
    said of the questions.
    """
    names = [name for name, _ in form.questions]
    optional, blank = [CELL_COLUMNS.number, *CELL_COLUMNS.sides, *filter(None, [shown])], [*names, SKIPPED, *BLANK]
    frame = read_table(path, ["by", *names], optional=optional, blank=blank, headings=headings)
    answered = [*names, *({SKIPPED} & set(frame.columns))]
    is_said = frame[answered].apply(lambda column: ~column.str.strip().str.lower().isin(["", "false", "0"]))
    cells = _AnsweredCells(frame, is_said.any(axis=1), CELL_COLUMNS)

    def parse_columns() -> dict[str, list[Any]]:
        return {"answer": cells.parse_form(form), "shown": cells.parse(shown, str, "")}

    return _collect_answers(path, cells, "by", parse_columns, names, needs_person=True)


def _collect_answers(
    path: Source,
    cells: _AnsweredCells,
    person: str,
    parse_columns: Callable[[], dict[str, list[Any]]],
    answers: Iterable[str],
    *,
    needs_person: bool,
) -> ImportedAnswers:
    cell_columns, by_text, unit = cells.of, cells.by_text, cells.of.number
    made_up, imported = Origin.SIMULATED.value, Origin.IMPORTED.value
    rows = pd.DataFrame(
        {
            LINE: cells.lines,
            "pair": cells.parse(unit, partial(parse_cell_number, unit=unit), NO_CODE, needed=True),
            HS: cells.parse(cell_columns.sides[0], identity, "", needed=by_text),
            CN: cells.parse(cell_columns.sides[1], identity, "", needed=by_text),
            "person": cells.parse(person, str.strip, "", needed=needs_person),
            **parse_columns(),
            "seconds": cells.parse("seconds", parse_seconds, float("nan")),
            "at": cells.parse("time", lambda cell: parse_time(cell).isoformat(), ""),
            "note": cells.parse("note", str, ""),
            # Simulated answers stay simulated when they move from study to study.
            "origin": cells.parse(
                "origin", lambda cell: made_up if cell.strip().lower() == made_up else imported, imported
            ),
        }
    )
    said, place, has_rows = {name: cells.parse(name, str, "") for name in answers}, cells.place, len(rows) > 0
    incoming = ImportedAnswers(
        name_of(path), rows, cells.findings, place, by_text, cell_columns, said, cells.filled, has_answers=has_rows
    )
    key = [*([HS, CN] if by_text else ["pair"]), *(["person"] if needs_person else [])]
    first = rows.groupby(key, sort=False)[[LINE, "person"]].transform("first")
    unreadable = rows[key].isin([NO_CODE, ""]).any(axis=1)
    is_repeated = ((rows[LINE] != first[LINE]) & ~unreadable).to_numpy()
    message = mark("this %(unit)s has been answered by %(name)s already, in line %(line)s")
    names = [name or say("somebody") for name in first["person"]]
    incoming.refuse(is_repeated, message, line=[*map(Id, first[LINE])], name=names)
    return incoming


class _AnsweredCells:
    """Parses columns of the `answered` rows of a frame, and collects what is wrong with their cells."""

    def __init__(self, frame: pd.DataFrame, answered: pd.Series[bool], cell_columns: CellColumns) -> None:
        self.place, self.of, self.by_text = place_of(frame), cell_columns, cell_columns.number not in frame.columns
        require_columns(self.place, frame.columns, cell_columns.sides if self.by_text else [cell_columns.number])
        self.filled = tuple(str(name) for name in frame if name != LINE and any(map(str.strip, frame[name])))
        self._frame = frame[answered].reset_index(drop=True)
        self.lines = self._frame[LINE]
        self.findings: list[Finding] = []

    def parse(self, column: str, convert: Callable[[str], Any], empty: Any, *, needed: bool = False) -> list[Any]:
        if column not in self._frame.columns:
            return [empty] * len(self._frame)

        def read(cell: str) -> Any:
            if needed and not cell.strip():
                raise InputError.say("column `%(name)s` is empty", name=column)
            return convert(cell) if cell.strip() else empty

        return read_cells(self._frame[column], self.lines, self.place, read, self.findings, empty)

    def parse_form(self, form: Form) -> list[Answer | None]:
        """The answer of each row; None for a skip, and where something is wrong with it."""

        def parse_yes_or_no(cell: str) -> bool:
            if (word := cell.strip().lower()) not in YES_OR_NO:
                raise InputError.say("`%(cell)s` in column `%(name)s`; expected true or false", cell=cell, name=SKIPPED)
            return YES_OR_NO[word]

        names = [name for name, _ in form.questions]
        skips, parsed = self.parse(SKIPPED, parse_yes_or_no, empty=False), list[Answer | None]()
        for line, skip, *row_cells in zip(self.lines, skips, *(self._frame[name] for name in names), strict=True):
            cells = {name: cell for name, cell in zip(names, row_cells, strict=True) if cell.strip()}
            parsed.append(None)
            if {fold_name(cell) for cell in cells.values()} - {SKIP}:
                try:
                    if skip:
                        message = mark("the row has an answer and `%(name)s` too; empty one of them")
                        raise InputError.say(message, name=SKIPPED)
                    parsed[-1] = form.read(cells)
                except InputError as error:
                    self.findings.append(Finding(self.place, int(line), str(error)))
        return parsed


def parse_cell_number(cell: str, unit: str = PAIR_COLUMNS.number) -> int:
    """The number of a cell of the grid, which messages call a `unit`; raises ValueError for anything else."""
    number = strip_zero_decimals(cell)
    if not number.isdecimal() or len(number) > 18:  # longer ones do not fit 64 bits
        raise InputError.say("`%(cell)s` is not a %(unit)s; expected its number", cell=cell, unit=say(unit))
    return int(number)


def parse_seconds(said: Any) -> float:
    """Seconds that somebody took, as a number or in a cell; raises InputError for any other than 0 to LONGEST_S."""
    try:
        seconds = math.nan if isinstance(said, bool) else float(with_point(str(said)))
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= LONGEST_S:
        message = mark("`%(cell)s` is not a number of seconds; expected 0 to %(most)s, which is a year")
        raise InputError.say(message, cell=str(said), most=LONGEST_S)
    return seconds


def parse_time(said: str) -> datetime:
    """A time in ISO 8601; raises InputError for what is none, or none at which anybody answered."""
    try:
        time = datetime.fromisoformat(said.strip())
    except ValueError:
        message = mark("`%(time)s` is not a time; expected ISO 8601, such as 2026-11-21T14:05:00+00:00")
        raise InputError.say(message, time=said) from None
    if not YEARS[0] <= time.year <= YEARS[1]:
        message = mark("`%(time)s` is not a time at which anybody answered; expected a year from %(year)s on")
        raise InputError.say(message, time=said, year=Id(YEARS[0]))
    return time


def read_pilot_labels(path: Source, question: Closed) -> pd.DataFrame:
    """Read the labels of a pilot, as `find_overlap` takes them: `cell_id`, `hs_id`, `cn_id`, `annotator`, `code`.

    Skips and rows without a label are left out; ids may be any words. Raises InputError for a file that cannot be read
    or lacks a column, and by line for unknown labels, missing ids, and everybody who labelled a pair twice.
    """
    table = read_table(path, PILOT_COLUMNS, blank=["label", *BLANK])
    cells, read = _AnsweredCells(table, table["label"].str.strip() != "", PILOT_CELLS), label_reader(question)
    codes = cells.parse("label", lambda cell: read(cell.strip()), NO_CODE)
    key = list(PILOT_COLUMNS[:-1])
    labels = pd.DataFrame({name: cells.parse(name, str.strip, "", needed=True) for name in key}, dtype=object)
    first_lines = cells.lines.groupby([labels[name] for name in key], sort=False).transform("first")
    again = "has labelled this pair already, in line"
    repeats = [
        Finding(cells.place, line, f"{name} {again} {first}; keep the label that counts")
        for line, first, name in zip(cells.lines.tolist(), first_lines, labels["annotator"], strict=True)
        if line != first
    ]
    reject(name_of(path), [*cells.findings, *repeats])
    labels = labels.assign(code=codes)
    labels = labels[labels["code"] != NO_CODE]
    cell_id = labels.groupby(["hs_id", "cn_id"], sort=True).ngroup()
    sides = {side: pd.factorize(labels[side], sort=True)[0] for side in ("hs_id", "cn_id")}
    return labels.assign(cell_id=cell_id, **sides)[["cell_id", *key, "code"]].reset_index(drop=True)


def read_pair_list(path: Source) -> tuple[str, list[int], list[int]]:
    """The name of a table, the numbers in its column `pair`, and their lines; InputError with each line without one."""
    table, place, findings = read_table(path, [PAIR_COLUMNS.number]), name_of(path), list[Finding]()
    numbers = read_cells(table[PAIR_COLUMNS.number], table[LINE], place, parse_cell_number, findings, NO_CODE)
    reject(place, findings)
    return place, numbers, table[LINE].tolist()


def read_pair_numbers(path: str | Path) -> list[int]:
    """The numbers alone."""
    return read_pair_list(Path(path))[1]


PASTED = "the table"


def read_known_items(source: Path | str, answers: Sequence[str]) -> list[KnownItem]:
    """The known items in a table with the columns COLUMNS, whose answers are among `answers`: a file, or a text that
    was pasted (CSV, or cells separated by tabs).

    Raises InputError: no such file, no table, a column that is missing, or what is wrong with items, by line.
    """
    items, _ = read_known_pairs(source, answers, explained=True)
    check_number(len(items))
    return items


def read_known_pairs(
    source: Path | str, answers: Sequence[str], *, explained: bool
) -> tuple[list[KnownItem], list[int]]:
    """Any number of pairs as `read_known_items` reads them, and the line of each; all `explained`, or maybe not."""
    needed = [name for name in COLUMNS if name != MAY_BE_EMPTY and (explained or name != EXPLANATION)]
    if isinstance(source, Path):
        check_file(source)
        raw = READERS[f".{format_of(source)}"](source, needed)
    elif source.strip():
        raw = parse_csv(source, PASTED)
    else:
        message = mark("the table is empty; expected a line of column names, %(names)s, and a line a pair")
        raise InputError.say(message, names=COLUMNS)
    check_texts(raw)
    names = {fold_name(name): name for name in COLUMNS}
    header = [names.get(fold_name(name), name) for name in raw.header]
    require_columns(raw.place, header, needed)
    items, findings = [], []
    for row, line in zip(raw.rows, raw.lines, strict=True):
        cells = {name: unguard(cell).strip() for name, cell in zip(header, row, strict=False) if name in COLUMNS}
        problems = item_problems(cells, answers, explained=explained)
        findings += [Finding(raw.place, line, problem) for problem in problems]
        items.append(KnownItem(*(cells.get(name, "") for name in COLUMNS)))
    reject(raw.place, findings)
    if not items:
        raise InputError.say("%(file)s has no pair below the column names", file=raw.place)
    return items, list(raw.lines)


def format_known_items(items: Sequence[KnownItem]) -> str:
    """The items as a CSV that `read_known_items` reads."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([COLUMNS, *items] if items else [])
    return written.getvalue()
