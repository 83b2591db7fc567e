"""Tables in files: CSV, JSONL and Parquet in and out, spreadsheets in, with line numbers on the way in.

A cell that a spreadsheet would run as a formula is written behind an apostrophe in CSV, which is taken off when such a
file, or a spreadsheet made of it, is read. A text that begins with apostrophes and then a formula sign gets one more.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, TypeVar, Union

from fcpair.errors import Finding, InputError, reject, translate_read_errors
from fcpair.files.tables.folders import replace_file
from fcpair.files.tables.spreadsheet import read_workbook
from fcpair.files.tables.text_files import (
    RawTable,
    check_texts,
    check_width,
    decode,
    leave_out_nameless,
    parse_csv,
    read_jsonl,
)
from fcpair.lazy import pd
from fcpair.param_values import InMemory, read_path
from fcpair.params import Encoding, Separator, format_of
from fcpair.sentences import mark, say, say_number
from fcpair.stages.corpus.text_identity import fold_name
from fcpair.values import as_text, is_blank, visible_text

# A table: the file, a frame, or a list of texts or of rows; not by `|`, as pandas is not loaded for it.
Source: TypeAlias = Union[str, Path, "pd.DataFrame", list[Any]]
T = TypeVar("T")
SUFFIXES = (".csv", ".jsonl", ".parquet")
LINE = "line"
FRAME = "frame (rows from 1)"  # as errors call a frame in memory; the number of a row, whatever its index, is the line
_PLACE = "place"
_GUARDED = re.compile("^'*[=+\\-@\t\r\n＝＋－＠]")
_UNGUARD = re.compile("^'(?='*[=+\\-@\t\r\n＝＋－＠])")


class Reading(NamedTuple):
    """How a file is read, as the parameters of `Import` say it; what is empty is guessed, or as the file says."""

    sheet_name: str | None = None
    encoding: Encoding | None = None
    separator: Separator | None = None
    no_header: bool = False


def guard(cell: str) -> str:
    """The cell as a spreadsheet shows it and does not run it."""
    return f"'{cell}" if _GUARDED.match(cell) else cell


def unguard(cell: str) -> str:
    """The cell that `guard` was given."""
    return _UNGUARD.sub("", cell, count=1)


def read_table(
    path: Source,
    columns: Sequence[str] = (),
    *,
    optional: Sequence[str] = (),
    blank: Sequence[str] = (),
    kind: str | None = None,
    sheet_name: str | None = None,
    verbatim: bool = False,
    keep_empty: bool = False,
    headings: Mapping[str, str] = MappingProxyType({}),
) -> pd.DataFrame:
    """Read a CSV, JSONL, Parquet, Excel or OpenDocument file, or what is in memory as if it stood in one, as text.

    A column is found whatever its name's capitals are and however words are parted in it. Columns without a name, such
    as a frame's index, are left out, with a warning if they hold anything; cells beyond the last name are an error. A
    cell in which nobody can see anything is empty; empty rows at the end are ignored, unless `keep_empty`.

    The `columns` must be there, `optional` ones may be; `blank` ones are filled in by hand, so that a row of a CSV may
    end before them, as Excel lets rows end. `kind` is a key of `READERS`, else the suffix says so; `sheet_name` is that
    of a workbook, else `choose_reading` or the columns say so. With `verbatim` cells stay as they are, as in files that
    fcpair did not write. `headings` are other names that columns may have, with what they are called here.

    Returns a frame of strings, empty if there is nothing, and the column `line`, from 1; of a spreadsheet and a
    frame it is the number of the row. `place_of` tells what findings call the file. Raises InputError: no file, not
    UTF-8, no rows, a row of another width, a missing column, a column named `line`.
    """
    if isinstance((path := read_path("path", path)), InMemory):
        if sheet_name:
            raise InputError(f"a frame has no sheet `{sheet_name}`; omit its name")
        raw, kind = _read_frame(pd.DataFrame(path.rows)), FRAME
    else:
        check_file(path)
        kind = kind or f".{format_of(path)}"
        reading = _READING.get()._replace(sheet_name=sheet_name or _READING.get().sheet_name)
        if reading.sheet_name and kind not in WORKBOOKS:
            message = mark("%(file)s: is no workbook, and has no sheet `%(name)s`; omit --sheet-name")
            raise InputError.say(message, file=str(path), name=reading.sheet_name)
        for name, kinds in _KINDS_READ_BY.items():
            if getattr(reading, name) and kind not in kinds:
                option = f"--{name.replace('_', '-')}"
                raise InputError(f"{path}: {option} has no effect on a {kind} file, but on {', '.join(kinds)}; omit it")
        with choose_reading(reading), translate_read_errors(path):
            raw = READERS[kind](path, columns)
        if reading.no_header:
            names = [f"column {number}" for number in range(1, len(raw.header) + 1)]
            raw = RawTable(raw.place, names, [raw.header, *raw.rows], [1, *raw.lines])
    check_width(raw.place, len(raw.header))
    check_texts(raw)
    if is_guarded := not verbatim and kind not in (".jsonl", ".parquet", FRAME):
        raw = replace(raw, header=[unguard(name) for name in raw.header])
    raw = leave_out_nameless(raw, {fold_name(name) for name in (*columns, *optional, *blank)})
    header = _match_names(raw, (*columns, *optional, *blank), headings)
    require_columns(raw.place, header, columns, raw.header)
    if LINE in header:
        message = mark("%(file)s: column `%(name)s` would be taken for the line numbers; rename it")
        raise InputError.say(message, file=name_of(path), name=LINE)
    rows, lines = _pad_rows(raw, header, blank, keep_empty=keep_empty)
    if not rows:
        empty = mark("%(file)s: the file has no rows; expected at least one below the column names")
        raise InputError.say(empty, file=raw.place)
    frame = pd.DataFrame(rows, columns=header, dtype=object)
    if is_guarded:
        for name in header:
            frame[name] = [visible_text(unguard(cell)) for cell in frame[name]]
    frame[LINE] = lines
    return with_place(frame, raw.place)


@contextmanager
def choose_reading(reading: Reading) -> Iterator[None]:
    """Have all tables that are read in the block be read so."""
    token = _READING.set(reading)
    try:
        yield
    finally:
        _READING.reset(token)


def choose_sheet(name: str | None) -> AbstractContextManager[None]:
    """Have all workbooks that are read in the block be read at the sheet of this name."""
    return choose_reading(Reading(name))


def with_place(frame: pd.DataFrame, place: str) -> pd.DataFrame:
    """The frame, with what findings are to call the file that it is of."""
    frame.attrs[_PLACE] = place
    return frame


def name_of(source: Source) -> str:
    """Name by which errors call a file, or a frame in memory."""
    return str(source) if isinstance(source, str | Path) and not isinstance(source, InMemory) else FRAME


def place_of(frame: pd.DataFrame) -> str:
    """Place that errors name for a frame: the path of its file, and for a spreadsheet also the sheet."""
    return str(frame.attrs[_PLACE])


def _match_names(raw: RawTable, names: Iterable[str], headings: Mapping[str, str]) -> list[str]:
    """The column names, with each of `names` in the place of what is the same name; unnamed last ones left out."""
    header = list(raw.header)
    while header and is_blank(header[-1]):
        header.pop()
    own_names = set(map(fold_name, header))
    called = {fold_name(heading): name for heading, name in headings.items() if fold_name(name) not in own_names}
    header, findings = [called.get(fold_name(name), name) for name in header], []
    for name in dict.fromkeys(names):
        matching = [at for at, one in enumerate(header) if fold_name(one) == fold_name(name)]
        if len(matching) > 1 and len({header[at] for at in matching}) > 1:
            message = mark("columns %(names)s have the same name; rename one")
            findings.append(Finding(raw.place, 1, say(message, names=[f"`{header[at]}`" for at in matching])))
        elif len(matching) == 1:
            header[matching[0]] = name
    repeated = sorted(name for name, n in Counter(header).items() if n > 1)
    duplicated = (say("column `%(name)s` is duplicated", name=name) for name in repeated)
    reject(raw.place, [*findings, *(Finding(raw.place, 1, message) for message in duplicated)])
    return header


def _pad_rows(
    raw: RawTable, header: list[str], blank: Sequence[str], *, keep_empty: bool
) -> tuple[list[list[str]], list[int]]:
    least, width = max((at for at, name in enumerate(header, 1) if name not in blank), default=1), len(header)
    n = max((at for at, row in enumerate(raw.rows, 1) if keep_empty or not is_blank("".join(row))), default=0)
    findings = [
        Finding(raw.place, line, say("%(n)s cells; expected %(width)s", n=len(row), width=width))
        for row, line in zip(raw.rows[:n], raw.lines, strict=False)
        if not is_blank("".join(row[width:])) or least > len(row)
    ]
    reject(raw.place, findings)
    rows = [[*map(visible_text, row[:width])] + [""] * (width - len(row)) for row in raw.rows[:n]]
    return rows, raw.lines[:n]


def read_cells(
    cells: Iterable[str],
    lines: Iterable[int | None],
    place: str,
    read: Callable[[str], T],
    findings: list[Finding],
    otherwise: T,
) -> list[T]:
    """Read each cell by `read`; where that raises ValueError, a finding for the line, and `otherwise` instead."""
    rows, values = list(zip(cells, lines, strict=True)), dict[str, T]()
    problems: dict[str, str] = {}
    for cell in dict.fromkeys(cell for cell, _ in rows):
        try:
            values[cell] = read(cell)
        except ValueError as error:
            values[cell], problems[cell] = otherwise, str(error)
    findings += [Finding(place, line and int(line), problems[cell]) for cell, line in rows if cell in problems]
    return [values[cell] for cell, _ in rows]


def lines_of(frame: pd.DataFrame) -> list[int | None]:
    """The line of each row, by which findings name it; None where the frame does not say."""
    return frame[LINE].tolist() if LINE in frame else [None] * len(frame)


def check_file(path: Path) -> None:
    """Raise InputError unless `path` is a file."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file")
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")


def read_lines(path: Path) -> list[str]:
    """The lines of a text file without white space at their ends, and without those that are empty."""
    return [line.strip() for line in read_text(path).splitlines() if line.strip()]


def read_text(path: Path) -> str:
    """The text of a file in UTF-8, as it is; raises InputError if there is no such file, or none in UTF-8."""
    check_file(path)
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise InputError.say("%(file)s: is not text in UTF-8 (%(why)s)", file=str(path), why=str(error)) from None


def require_columns(
    place: str | Path, header: Iterable[str], columns: Sequence[str], shown: Iterable[str] | None = None
) -> None:
    """Raise InputError when `header` lacks one of `columns`; says what is there, as the file has it (`shown`)."""
    header = [name for name in header if name != LINE]
    if missing := [f"`{name}`" for name in columns if name not in header]:
        message = say_number(
            "%(file)s: missing column %(missing)s; found %(names)s",
            "%(file)s: missing columns %(missing)s; found %(names)s",
            len(missing),
            file=str(place),
            missing=missing,
            names=[*filter(None, shown or header)] or say("none"),
        )
        raise InputError(message, [Finding(str(place), 1, say("no column %(missing)s", missing=missing))])


def _read_parquet(path: Path) -> RawTable:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.ParquetFile(path).read()
    except pa.ArrowException as error:
        raise InputError.say(
            "%(file)s: not a Parquet file (%(why)s)", file=str(path), why=str(error).splitlines()[0]
        ) from None
    check_width(str(path), table.num_columns)
    columns = [
        column.to_numpy() if pa.types.is_floating(column.type) else column.to_pylist(maps_as_pydicts="strict")
        for column in table.columns
    ]
    return _text_table(str(path), table.column_names, columns)


def _read_frame(frame: pd.DataFrame) -> RawTable:
    if frame.empty:
        raise InputError("the frame has no rows; expected at least one")
    check_width(FRAME, frame.shape[1])
    names, columns = [as_text(name) for name in frame.columns], list[Iterable[Any]]()
    for at in range(len(names)):
        column = frame.iloc[:, at]
        is_plain_float = column.dtype.kind == "f" and not hasattr(column.dtype, "na_value")  # with its precision
        columns.append(column.to_numpy() if is_plain_float else column.astype(object).where(column.notna(), None))
    return _text_table(FRAME, names, columns)


def _text_table(place: str, names: list[str], columns: Iterable[Iterable[Any]]) -> RawTable:
    findings: list[Finding] = []

    def read(name: str, number: int, value: Any) -> str:
        try:
            return as_text(value)
        except ValueError as error:
            findings.append(Finding(place, number, f"column `{name}` {error}"))
            return ""

    named = zip(names, columns, strict=True)
    text_columns = [[read(name, number, value) for number, value in enumerate(of, 1)] for name, of in named]
    reject(place, findings)
    rows = list(map(list, zip(*text_columns, strict=True)))
    return RawTable(place, names, rows, list(range(1, len(rows) + 1)))


WORKBOOKS = (".xlsx", ".ods")
READERS: dict[str, Callable[[Path, Sequence[str]], RawTable]] = {
    ".csv": lambda path, _: parse_csv(
        decode(path.read_bytes(), str(path), _READING.get().encoding), str(path), _READING.get().separator
    ),
    ".jsonl": lambda path, _: read_jsonl(path, _READING.get().encoding),
    ".parquet": lambda path, _: _read_parquet(path),
    ".xlsx": lambda path, columns: read_workbook(path, ".xlsx", columns, _READING.get().sheet_name),
    ".ods": lambda path, columns: read_workbook(path, ".ods", columns, _READING.get().sheet_name),
}
_KINDS_READ_BY = {"encoding": (".csv", ".jsonl"), "separator": (".csv",), "no_header": (".csv", *WORKBOOKS)}
_READING: ContextVar[Reading] = ContextVar("reading", default=Reading())  # noqa: B039


def write_table(frame: pd.DataFrame, path: str | Path) -> None:
    """Write `frame` as CSV, JSONL or Parquet by the suffix, or raise InputError for another: whole, or not at all."""
    path = Path(path)
    check_suffix(path)
    with replace_file(path) as temporary:
        if path.suffix == ".parquet":
            frame.to_parquet(temporary, index=False)
        elif path.suffix == ".jsonl":
            with temporary.open("w", encoding="utf-8", newline="\n") as lines:
                for row in plain_rows(frame):
                    lines.write(json.dumps(row, ensure_ascii=False) + "\n")
        else:
            guarded = frame.copy()
            for name in frame.columns[[frame[name].dtype.kind in "OUT" for name in frame.columns]]:
                guarded[name] = [guard(cell) if isinstance(cell, str) else cell for cell in frame[name]]
            guarded = guarded.rename(columns=lambda name: guard(str(name)))
            with _LineFeeds(temporary.open("wb"), encoding="utf-8", newline="") as file:
                guarded.to_csv(file, index=False, lineterminator="\r\n")


def check_suffix(path: str | Path) -> None:
    """Raise InputError unless the suffix of `path` is one that `write_table` knows."""
    if Path(path).suffix not in SUFFIXES:
        raise InputError(f"{path}: expected a name that ends in {', '.join(SUFFIXES)}")


def plain_rows(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The rows by column, with None for what is missing."""
    for row in frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None):
        yield dict(zip(frame.columns, row, strict=True))


def format_csv(rows: Iterable[Sequence[Any]]) -> str:
    """Rows, that of the column names first, as `write_table` writes a CSV."""
    content = io.BytesIO()
    with _LineFeeds(content, encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([guard(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
        file.flush()
        return content.getvalue().decode()


class _LineFeeds(io.TextIOWrapper):
    """Ends rows in a line feed. Python before 3.13 quotes a carriage return in a cell only if rows end in one."""

    def write(self, row: str, /) -> int:
        return super().write(row.removesuffix("\r\n") + "\n")
