"""Rows as lines, the same in every database: those that PostgreSQL's COPY reads and writes.

Columns are parted by tabs, `\\N` is a value that is missing, a backslash goes before what would otherwise be read as
something else (https://www.postgresql.org/docs/current/sql-copy.html). Three things are written in one of the ways in
which they can be: whether something is so is 0 or 1; a number of 64 bits has as few digits as tell it from all others,
no sign before a zero, and is missing where it is no number; JSON that is but a number has no exponent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from math import isfinite, ulp
from typing import Any, NamedTuple

from sqlalchemy import JSON, Boolean, Column, Float, Integer, LargeBinary, Table

BLOCK = 1_000
"""Lines that are read or written at once: of more, the garbage collector takes its share."""
MISSING = "\\N"
_LONGEST = 15  # digits before the point, beyond which there is an exponent
_WHOLE = 2.0**53  # from here on, all numbers of 64 bits are whole
_NOT_FINITE = {"inf": "Infinity", "-inf": "-Infinity", "nan": MISSING}
_SPECIAL = re.compile(r"[\\\x08\t\n\x0b\x0c\r]")
_SIGNS = {"\\": "\\", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r"}
_ESCAPES = str.maketrans({sign: f"\\{letter}" for sign, letter in _SIGNS.items()})
_LETTERS = {letter: sign for sign, letter in _SIGNS.items()}
_ESCAPED = re.compile(r"\\(.)")


class OddValueError(Exception):
    """A value that is not of the kind that its column has: in which column, in which of the rows, and what it is."""

    def __init__(self, column: str, at: int, reason: str) -> None:
        super().__init__(column, at, reason)
        self.column, self.at, self.reason = column, at, reason


class ColumnKind(NamedTuple):
    """Kind of a column: the types of its values in SQLite, how they are written, and how they are read again."""

    name: str
    types: frozenset[type]
    written: Callable[[Any], str]
    read: Callable[[str], Any]


def column_names(table: Table) -> list[str]:
    """The columns in the order in which they are in a line."""
    return [column.name for column in table.columns]


def key_columns(table: Table) -> list[str]:
    """The columns by which the lines of a table are in order."""
    return [column.name for column in table.primary_key.columns]


def kind_of(column: Column[Any]) -> ColumnKind:
    """Kind of a column, by its type."""
    if isinstance(column.type, JSON):
        return _JSON
    if isinstance(column.type, Boolean):
        return _FLAG
    if isinstance(column.type, Integer):
        return _NUMBER
    if isinstance(column.type, Float):
        return _REAL
    return _BYTES if isinstance(column.type, LargeBinary) else _WORDS


def format_rows(table: Table, rows: Sequence[Sequence[Any]]) -> bytes:
    """The lines of rows; raises OddValueError for a value that is not of its column's kind."""
    named = zip(table.columns, zip(*rows, strict=True), strict=True)
    cells = [_format_column(column.name, kind_of(column), values) for column, values in named]
    return ("\n".join(map("\t".join, zip(*cells, strict=True))) + "\n").encode()


def _format_column(name: str, of: ColumnKind, values: Sequence[Any]) -> list[str]:
    value_types = set(map(type, values))
    if odd := value_types - of.types - _NOTHING:
        at = next(at for at, value in enumerate(values) if type(value) in odd)
        raise OddValueError(
            name, at, f"is {_TYPE_NAMES.get(type(values[at]), 'something else')}, and should be {of.name}"
        )
    if value_types == _NOTHING:
        return [MISSING] * len(values)
    is_plain = of is _NUMBER or (of is _WORDS and not _SPECIAL.search("".join(filter(None, values))))
    write = str if is_plain else of.written
    try:
        if value_types.isdisjoint(_NOTHING):
            return list(map(write, values))
        return [MISSING if value is None else write(value) for value in values]
    except ValueError as error:
        at = next(at for at, value in enumerate(values) if value is not None and not _can_format(of, value))
        raise OddValueError(name, at, str(error)) from error


def _can_format(of: ColumnKind, value: Any) -> bool:
    try:
        of.written(value)
    except ValueError:
        return False
    return True


def parse_block(table: Table, block: bytes) -> list[tuple[Any, ...]]:
    """The rows of whole lines, for SQLite, which makes numbers of digits where a column has numbers."""
    lines = [line.split("\t") for line in block.decode().split("\n")[:-1]]
    named = zip(table.columns, zip(*lines, strict=True), strict=True)
    return list(zip(*[_parse_cells(kind_of(column), cells) for column, cells in named], strict=True))


def _parse_cells(of: ColumnKind, cells: Sequence[str]) -> Sequence[Any]:
    if "\\" not in "".join(cells):  # nothing is missing, nor written otherwise than it is
        return cells if of in (_NUMBER, _FLAG, _WORDS) else list(map(of.read, cells))
    return [None if cell == MISSING else of.read(cell) for cell in cells]


def gather_blocks(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines in blocks."""
    block: list[bytes] = []
    for line in lines:
        block.append(bytes(line))
        if len(block) == BLOCK:
            yield b"".join(block)
            block = []
    if block:
        yield b"".join(block)


def shortest_repr(value: float) -> str:
    """A number of 64 bits as PostgreSQL writes it: with as few digits as tell it from all others."""
    text = repr(value + 0.0)
    if text in _NOT_FINITE:
        return _NOT_FINITE[text]
    if "e" not in text and text.find(".") - (value < 0) <= _LONGEST:
        return text.removesuffix(".0")
    digits, exponent = _significant_digits(abs(value))
    sign, point = "-" if value < 0 else "", f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{point}e{'-' if exponent < 0 else '+'}{abs(exponent):02}"


def _significant_digits(value: float) -> tuple[str, int]:
    """The digits of a number, without zeros at either end, and the power of ten of the first."""
    decimal = Decimal(repr(value)).normalize()
    n = len(decimal.as_tuple().digits)
    while value >= _WHOLE and _is_between(value, int(decimal)):
        n += 1
        decimal = Decimal(f"{value:.{n - 1}e}").normalize()
    return "".join(map(str, decimal.as_tuple().digits)), decimal.adjusted()


def _is_between(value: float, near: int) -> bool:
    """Whether a whole number is as far from a large one as from the next; PostgreSQL takes it for neither."""
    return near != int(value) and float(near) == value and 2 * abs(near - int(value)) == int(ulp(value))


def _format_flag(value: int) -> str:
    if value not in (0, 1):
        raise ValueError("is neither 0 nor 1")
    return str(value)


def _escape(value: str) -> str:
    return value.translate(_ESCAPES) if _SPECIAL.search(value) else value


def _unescape(cell: str) -> str:
    return _ESCAPED.sub(lambda found: _LETTERS.get(found[1], found[1]), cell) if "\\" in cell else cell


def _format_json(value: str | int | float) -> str:
    if isinstance(value, str):
        return _escape(value)
    if not isfinite(value):
        raise ValueError("is not a finite number")
    return format(Decimal(str(value)).normalize() + 0, "f")


def _parse_json(cell: str) -> str | int | float:
    """JSON that is but a number becomes one in SQLite, which reads some of their digits otherwise than they are."""
    if cell[:1] in _DIGITS:
        return int(cell) if cell.removeprefix("-").isdecimal() and -_TOO_LONG <= int(cell) < _TOO_LONG else float(cell)
    return _unescape(cell)


_DIGITS, _TOO_LONG = frozenset("-0123456789"), 2**63
_NOTHING = frozenset({type(None)})
_NUMBER = ColumnKind("a number", frozenset({int}), str, str)
_FLAG = ColumnKind("0 or 1", frozenset({int}), _format_flag, str)
_REAL = ColumnKind("a number", frozenset({float}), shortest_repr, float)
_WORDS = ColumnKind("words", frozenset({str}), _escape, _unescape)
_JSON = ColumnKind("JSON", frozenset({str, int, float}), _format_json, _parse_json)
_BYTES = ColumnKind(
    "bytes",
    frozenset({bytes}),
    lambda value: f"\\\\x{value.hex()}",
    lambda cell: bytes.fromhex(cell.removeprefix("\\\\x")),
)
_TYPE_NAMES: dict[type, str] = {int: "a number", float: "a number", str: "words", bytes: "bytes"}
