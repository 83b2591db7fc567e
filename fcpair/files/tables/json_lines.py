"""Files of JSON with their lines: a record a line, one list of records, or objects that are read member by member."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from fcpair.errors import Finding, InputError, reject
from fcpair.files.tables.delimited import NO_TEXT_HERE, RawTable, check_width, decode
from fcpair.stages.corpus.text_identity import NO_TEXT
from fcpair.values import as_text, decode_json, parse_json

_BLANK = " \t\n\r"


class Record(NamedTuple):
    """A JSON object of a file, and the line on which it begins."""

    line: int
    value: dict[str, Any]


def read_jsonl(path: Path) -> RawTable:
    """Read a file with one JSON object a line, or with one list of objects."""
    findings: list[Finding] = []
    header: dict[str, None] = {}
    rows: list[dict[str, str]] = []
    records = read_records(decode(path.read_bytes(), str(path)), str(path), findings)
    for line, record in records:
        header.update(dict.fromkeys(record))
        check_width(str(path), len(header))
        try:
            rows.append({name: as_text(cell) for name, cell in record.items()})
            if any(map(NO_TEXT.search, rows[-1].values())):
                findings.append(Finding(str(path), line, NO_TEXT_HERE))
        except (ValueError, RecursionError) as error:
            findings.append(Finding(str(path), line, f"cannot be read: {error}"))
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
