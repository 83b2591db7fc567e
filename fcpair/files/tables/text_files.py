"""Text files: decoding them, CSV as people send it back, JSON with its lines, and sections of TOML."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple, get_args

from fcpair.errors import Finding, InputError, reject, warn_of_table
from fcpair.params import Encoding, Separator
from fcpair.sentences import Id, join, mark, say
from fcpair.stages.corpus.text_identity import NO_TEXT, fold_name
from fcpair.values import as_text, decode_json, is_blank, parse_json

NOT_ENCODED = mark("%(file)s: is not text in %(encoding)s (byte %(byte)s in line %(line)s); choose another encoding")
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
MOST_COLUMNS = 1_000
SAMPLED_ROWS = 20  # rows below the column names, to find out what separates cells
WINDOWS = "cp1252"
_UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
NO_TEXT_HERE = say("a NUL character or half a surrogate pair, which a text may not contain")
_NOT_WINDOWS = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")  # which Windows-1252 does not have
_HIGH_BYTES = re.compile(rb"[\x80-\xff]{3,}")
_NAMELESS = re.compile(r"Unnamed: \d+(_level_\d+)?|__index_level_\d+__")  # what pandas calls such a column
_WORD = re.compile(r"""[^\s,;"']+""")
_SEPARATORS = {",": r"(?<!\d),(?! )|(?<=\d),(?! |\d{3}(?!\d))"}  # not those of prose: `a, b` and `1,000`
SEPARATOR_LINE = re.compile("sep=(.)\r?\n", re.IGNORECASE)  # the first line of some CSVs, for Excel alone
EMPTY_FILE = mark("%(file)s: the file is empty; expected a line of column names and one line a row")
SAVE_AS_UTF_8 = say("save the file as UTF-8")
_CONTROLS = re.compile(rb"[\0-\x08\x0e-\x19\x1c-\x1f]")  # which no text has but those of UTF-16
_NO_TEXT_FILE = {
    b"PK\x03\x04": mark("this is a spreadsheet or a zip file; a spreadsheet must be named .xlsx or .ods"),
    b"\xd0\xcf\x11\xe0": mark("this is a file of an older Excel (.xls), or one with a password; save it as .xlsx"),
    b"PAR1": mark("this is a Parquet file; it must be named .parquet"),
}


@dataclass(frozen=True)
class RawTable:
    """A table as its file has it: the column names, the cells below them as text, and the line of each row."""

    place: str  # as findings call the file
    header: list[str]
    rows: list[list[str]]  # of a CSV not always as wide as the header
    lines: list[int]


def guess_encoding(raw: bytes) -> Encoding:
    """The encoding that the bytes of a text seem to be in: a Windows code page where they are neither of Unicode's."""
    if raw.startswith(_UTF_16_MARKS) or 2 * raw.count(b"\n\0") > raw.count(b"\n"):
        return "utf-16"
    with suppress(UnicodeDecodeError):
        if not _CONTROLS.search(raw):
            raw.decode("utf-8")
        return "utf-8"
    # Accented letters stand alone among those of ASCII; the letters of an Arabic word stand together.
    n_high, n_together = len(raw.translate(None, bytes(range(128)))), sum(map(len, _HIGH_BYTES.findall(raw)))
    if 2 * n_together > n_high:
        return "windows-1256"
    return "iso-8859-1" if _NOT_WINDOWS.search(raw) else "windows-1252"


def decode(raw: bytes, path: str, encoding: str | None = None) -> str:
    """The text of a file, which errors call `path`: in an `encoding`, or UTF-8, or UTF-16 with its mark.

    Raises InputError: another encoding (Windows-1252 is named), no text at all, a NUL.
    """
    for magic, what in _NO_TEXT_FILE.items():
        if raw.startswith(magic):
            raise InputError.say("%(place)s: %(what)s", place=path, what=say(what))
    utf_16 = raw.startswith(_UTF_16_MARKS)
    codec = {"utf-8": "utf-8-sig", None: "utf-16" if utf_16 else "utf-8-sig"}.get(encoding, encoding)
    try:
        text = raw.decode(str(codec))
    except UnicodeDecodeError as error:
        if not utf_16 and encoding != "utf-16" and _CONTROLS.search(raw):
            message = mark(
                "%(file)s: this is no table: it is an image, or another file that is no text; choose a sheet"
            )
            raise InputError.say(message, file=path) from None
        if encoding:
            byte, line = f"0x{raw[error.start]:02x}", raw.count(b"\n", 0, error.start) + 1
            raise InputError.say(NOT_ENCODED, file=path, encoding=encoding.upper(), byte=byte, line=Id(line)) from None
        line = raw.count(b"\n", 0, error.start) + 1
        # The word around the byte, as Windows-1252 would have it.
        before, after = raw[max(0, error.start - 60) : error.start], raw[error.start : error.start + 60]
        around, at = (before + after).decode(WINDOWS, "replace"), len(before)
        word = "" if utf_16 else next((match.group() for match in _WORD.finditer(around) if match.end() > at), "")
        remedy = SAVE_AS_UTF_8
        if word and "\ufffd" not in word and word.isprintable():
            remedy = say(
                "the file looks like Windows-1252 (Latin-1), which Excel writes as plain CSV and in which this is "
                "`%(word)s`; save it as `CSV UTF-8` or as .xlsx",
                word=word,
            )
        byte, encoding = f"0x{raw[error.start]:02x}", "UTF-16" if utf_16 else "UTF-8"
        message = say("byte %(byte)s is not %(encoding)s; %(remedy)s", byte=byte, encoding=encoding, remedy=remedy)
        raise InputError(say("%(file)s: the encoding is broken", file=path), [Finding(path, line, message)]) from None
    if not text.strip():
        raise InputError.say(EMPTY_FILE, file=path)
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise InputError(say("%(file)s: not a text file", file=path), [Finding(path, line, say("a NUL character"))])
    return text


def check_width(place: str, n_columns: int) -> None:
    """Raise InputError where a table has more columns than any study has."""
    if n_columns > MOST_COLUMNS:
        message = mark("%(file)s: has %(n)s columns; expected at most %(most)s. Leave out what is not needed")
        raise InputError.say(message, file=place, n=n_columns, most=MOST_COLUMNS)


def check_texts(raw: RawTable) -> None:
    """Raise InputError where a column name or a cell holds what no text does; lists and objects are looked into."""
    if any(map(NO_TEXT.search, raw.header)):
        reject(raw.place, [Finding(raw.place, 1, say("a column name has %(what)s", what=NO_TEXT_HERE))])
    broken = [line for row, line in zip(raw.rows, raw.lines, strict=True) if any(map(NO_TEXT.search, row))]
    reject(raw.place, [Finding(raw.place, line, NO_TEXT_HERE) for line in broken])


def leave_out_nameless(raw: RawTable, names: set[str]) -> RawTable:
    """The table without columns that have no name, unless they are asked for; what is behind the last name stays."""
    width = max((at for at, name in enumerate(raw.header, 1) if not is_blank(name)), default=0)
    nameless = [
        at
        for at, name in enumerate(raw.header[:width])
        if (is_blank(name) or _NAMELESS.fullmatch(name.strip())) and fold_name(name) not in names
    ]
    if not nameless:
        return raw
    for at in nameless:
        if n := sum(not is_blank(cell) for row in raw.rows for cell in row[at : at + 1]):
            cells = f"{n:,} cell{'s' * (n > 1)}"
            warn_of_table(f"{raw.place}: column {at + 1} has no name and was left out ({cells}); name it to keep it")
    header, *rows = ([cell for at, cell in enumerate(row) if at not in nameless] for row in (raw.header, *raw.rows))
    return RawTable(raw.place, header, rows, raw.lines)


def parse_csv(text: str, place: str, separator: str | None = None) -> RawTable:
    """Read the text of a CSV, which errors call `place`; the `separator` is a key of `SEPARATORS`, else a guess."""
    separator_line = SEPARATOR_LINE.match(text)
    body, skipped = text[separator_line.end() :] if separator_line else text, int(separator_line is not None)
    if not body.strip("\r\n"):
        raise InputError.say(EMPTY_FILE, file=place)

    if separator is not None:
        sign = SEPARATORS[separator]
    else:
        sign = separator_line.group(1) if separator_line else SEPARATORS[guess_separator(body)]
    csv.field_size_limit(max(len(text), 131072))
    reader = csv.reader(io.StringIO(body, newline=""), strict=True, delimiter=sign)
    rows: list[tuple[int, list[str]]] = []
    try:
        header = next(row for row in reader if row)
        check_width(place, len(header))
        line = reader.line_num + 1
        for row in reader:
            rows += [(line + skipped, row)] if row else []
            line = reader.line_num + 1
    except csv.Error as error:
        is_cut = "unexpected end" in str(error)
        message = mark("broken CSV: %(why)s; is the file cut off?") if is_cut else mark("broken CSV: %(why)s")
        reject(place, [Finding(place, reader.line_num + skipped, say(message, why=str(error)))])
    raw = RawTable(place, header, [row for _, row in rows], [line for line, _ in rows])
    _check_swallowed_rows(raw, sign)
    return raw


def guess_separator(text: str) -> Separator:
    """Name of what separates most of the column names of a CSV; where several do, the first of `SEPARATORS`."""

    def n_columns(separator: Separator) -> int:  # of the header; 1 if none of the rows below has more than one cell
        content = io.StringIO(text.lstrip("\r\n"), newline="")
        rows: Iterator[list[str]] = filter(None, csv.reader(content, delimiter=SEPARATORS[separator]))
        header, below = next(rows), list(islice(rows, SAMPLED_ROWS))
        return len(header) if not below or any(len(row) > 1 for row in below) else 1

    csv.field_size_limit(max(len(text), 131072))
    return max(get_args(Separator), key=n_columns)


def _check_swallowed_rows(raw: RawTable, separator: str) -> None:
    """Raise InputError for a cell that holds whole rows, as it does between two stray quotation marks: its lines have
    the separators of rows, and a number where all rows have one. Warn of a cell that may hold some.
    """
    width, separators = len(raw.header), re.compile(_SEPARATORS.get(separator, rf"{re.escape(separator)}(?! )"))
    suspects = []
    cells_at = ((number, at, cell) for number, row in enumerate(raw.rows) for at, cell in enumerate(row))
    for number, at, cell in cells_at if width > 1 else ():
        if "\n" in cell:  # may hold rows below its own, each whole but the last
            first, *others = [separators.split(line) for line in cell.splitlines()]
            is_whole = all(len(cells) == width for cells in others[:-1])
            if is_whole and others and len(first) == width - at and len(others[-1]) == at + 1:
                suspects.append((number, at, others))
    if not suspects:
        return
    own = {(number, at) for number, at, _ in suspects}
    numbers = []  # the columns in which all other cells have one
    for at in range(width):
        cells = [row[at] for number, row in enumerate(raw.rows) if len(row) > at and (number, at) not in own]
        if cells and all(cell.strip().isdecimal() for cell in cells):
            numbers.append(at)
    message, findings = say("a cell holds line breaks and as many separators as a row"), []
    for number, _, lines in suspects:
        evidence = [cells[at].strip().isdecimal() for cells in lines for at in numbers if at < len(cells)]
        if evidence and all(evidence):
            hint = say("remove the stray quotation marks")
            findings.append(Finding(raw.place, raw.lines[number], join((message, hint), "; ")))
        elif not evidence:
            place = f"{raw.place}:{raw.lines[number]}"
            warn_of_table(f"{place}: {message}; if it swallows rows, remove its quotation marks")
    reject(raw.place, findings)


_BLANK = " \t\n\r"


class Record(NamedTuple):
    """A JSON object of a file, and the line on which it begins."""

    line: int
    value: dict[str, Any]


def read_jsonl(path: Path, encoding: str | None = None) -> RawTable:
    """Read a file with one JSON object a line, or with one list of objects."""
    findings, header = list[Finding](), dict[str, None]()
    rows: list[dict[str, str]] = []
    records = read_records(decode(path.read_bytes(), str(path), encoding), str(path), findings)
    for line, record in records:
        header.update(dict.fromkeys(record))
        check_width(str(path), len(header))
        try:
            rows.append({name: as_text(cell) for name, cell in record.items()})
            if any(map(NO_TEXT.search, rows[-1].values())):
                findings.append(Finding(str(path), line, NO_TEXT_HERE))
        except (ValueError, RecursionError) as error:
            findings.append(Finding(str(path), line, say("cannot be read: %(why)s", why=str(error))))
    reject(path, findings)
    lines = [line for line, _ in records]
    return RawTable(str(path), list(header), [[row.get(name, "") for name in header] for row in rows], lines)


def read_records(text: str, place: str, findings: list[Finding]) -> list[Record]:
    """The objects of a text that is one list of them, or has one a line; errors call it `place`.

    A line that is no object is put into `findings`. Raises InputError for a list that is cut off or has something else
    in it, and for one value over several lines.
    """
    if text.lstrip(_BLANK).startswith("["):
        return list(_list_items(text, place))
    records = []
    lines = [(line, content) for line, content in enumerate(text.split("\n"), 1) if content.strip()]
    for line, content in lines:
        try:
            value = parse_json(content)
        except json.JSONDecodeError as error:
            if line == lines[0][0] and len(lines) > 1:
                with suppress(json.JSONDecodeError):
                    parse_json(text)
                    message = "one JSON object in several lines; expected a list of objects, or one object a line"
                    raise InputError(f"{place}: {message}") from None
            end = "; is the file cut off?" if line == lines[-1][0] and error.msg.startswith("not JSON") else ""
            findings.append(Finding(place, line, f"{_describe(error)}{end}"))
            continue
        if isinstance(value, dict):
            records.append(Record(line, value))
        else:
            findings.append(Finding(place, line, f"expected an object, found {type(value).__name__}"))
    return records


def _list_items(text: str, place: str) -> Iterator[Record]:
    starts = _line_starts(text)
    at = _skip_space(text, _skip_space(text, 0) + 1)
    while text[at : at + 1] != "]":
        try:
            value, end = decode_json(text, at)
        except json.JSONDecodeError as error:
            hint = "; is the file cut off?" if error.msg.startswith("not JSON") else ""
            raise _broken(place, error.lineno, f"{_describe(error)}{hint}") from None
        line = bisect_right(starts, at)
        if not isinstance(value, dict):
            raise _broken(place, line, f"expected an object, found {type(value).__name__}")
        yield Record(line, value)
        at = _skip_space(text, end)
        if text[at : at + 1] not in {",", "]"}:
            raise _broken(place, bisect_right(starts, at), "the list does not end; is the file cut off?")
        at = _skip_space(text, at + 1) if text[at] == "," else at
    if end_of_list := text[at + 1 :].strip():
        message = f"expected nothing after the list, found `{end_of_list[:20]}`"
        raise _broken(place, bisect_right(starts, at + 1), message)


def _line_starts(text: str) -> list[int]:
    return [0, *(at + 1 for at, sign in enumerate(text) if sign == "\n")]


def _skip_space(text: str, at: int) -> int:
    return next((place for place in range(at, len(text)) if text[place] not in _BLANK), max(at, len(text)))


def _describe(error: json.JSONDecodeError) -> str:
    return f"{error.msg} (column {error.colno})" if error.msg.startswith("not JSON") else error.msg


def _broken(place: str, line: int, message: str) -> InputError:
    return InputError(f"{place}: cannot be read", [Finding(place, line, message)])


class Member(NamedTuple):
    """A member of an object: its key, its value, and where in the file the value begins."""

    key: str
    value: Any
    at: int


@dataclass
class JsonObjects:
    """A JSON file whose objects are read member by member; what is wrong is put into `findings`, if it is JSON."""

    path: Path
    findings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.text = decode(self.path.read_bytes(), str(self.path))
        self._starts = _line_starts(self.text)
        self.first_value, _ = self._decode_value(_skip_space(self.text, 0))

    def values_at(self, *, by_line: bool) -> Iterator[int]:
        """Start of the file's value, or that of each line that is not empty; a second one is refused."""
        starts = self._starts if by_line else [0]
        for start, end in pairwise([*starts, len(self.text) + 1]):
            if (at := _skip_space(self.text, start)) < end - 1:
                if (after := _skip_space(self.text, self._decode_value(at)[1])) < end - 1:
                    message = f"more than one value{' in a line' * by_line}; expected a single object"
                    raise _broken(str(self.path), self.line_of(after), message)
                yield at

    def line_of(self, at: int) -> int:
        """The line of a place, from 1."""
        return bisect_right(self._starts, at)

    def add_finding(self, at: int, message: str) -> None:
        """Note what is wrong at a place."""
        self.findings.append(Finding(str(self.path), self.line_of(at), message))

    def members(self, at: int) -> Iterator[Member]:
        """The members of the object that begins at a place; a value that is none is a finding."""
        if self.text[at] != "{":
            self.add_finding(at, f"expected an object, found {self.text[at : at + 20].split(chr(10))[0]}")
            return
        at = _skip_space(self.text, at + 1)
        while self.text[at] != "}":
            key, after = self._decode_value(at)
            value_at = _skip_space(self.text, _skip_space(self.text, after) + 1)
            value, end = self._decode_value(value_at)
            yield Member(key, value, value_at)
            at = _skip_space(self.text, end)
            at = _skip_space(self.text, at + 1) if self.text[at] == "," else at

    def fields(self, at: int) -> dict[str, Any]:
        """The members of the object that begins at a place, without their places."""
        return {member.key: member.value for member in self.members(at)}

    def _decode_value(self, at: int) -> tuple[Any, int]:
        try:
            return decode_json(self.text, at)
        except json.JSONDecodeError as error:
            raise _broken(str(self.path), error.lineno, _describe(error)) from None


LINE_WIDTH = 120  # characters, beyond which a list is written with one value a line
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def format_section(heading: str, values: Mapping[str, Any]) -> str:
    """A section under its heading, each value in a line of its own; what is None is left out."""
    lines = []
    for name, value in values.items():
        if isinstance(value, str) and "\n" in value:  # in as many lines
            text = '"""\n' + "\n".join(_quote_text(line)[1:-1] for line in value.split("\n")) + '"""'
            lines.append(f"{_format_key(name)} = {text}")
        elif value is not None:
            lines.append(f"{_format_key(name)} = {_format_value(value)}")
    return "\n".join([heading, *lines, ""])


def _format_key(name: object) -> str:
    return str(name) if _BARE.fullmatch(str(name)) else _quote_text(str(name))


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = (f"{_format_key(name)} = {_format_value(one)}" for name, one in value.items() if one is not None)
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, str | Path):
        return _quote_text(str(value))
    items = [_format_value(item) for item in value]
    line = f"[{', '.join(items)}]"
    return line if len(line) <= LINE_WIDTH else "".join(["[\n", *(f"    {item},\n" for item in items), "]"])


def _quote_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
