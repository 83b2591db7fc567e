"""Tables in files: CSV, JSONL and Parquet in and out, with line numbers on the way in.

A cell that a spreadsheet would run as a formula is written behind an apostrophe in CSV, and the apostrophe is taken
off again when such a file is read back. The marking is reversible: a text that begins with apostrophes and then a
formula sign gets one more.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fcpair.errors import Finding, InputError, reject

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".csv", ".jsonl", ".parquet")
LINE = "line"
NO_TEXT = re.compile("[\x00\ud800-\udfff]")  # a NUL, half a surrogate pair, a byte that was no UTF-8
_GUARDED = re.compile("^'*[=+\\-@\t\r\n＝＋－＠]")
_UNGUARD = re.compile("^'(?='*[=+\\-@\t\r\n＝＋－＠])")


def guard(cell: str) -> str:
    """The cell as a spreadsheet shows it and does not run it."""
    return f"'{cell}" if _GUARDED.match(cell) else cell


def unguard(cell: str) -> str:
    """The cell that `guard` was given."""
    return _UNGUARD.sub("", cell, count=1)


def read_table(path: str | Path, columns: Sequence[str] = (), *, verbatim: bool = False) -> pd.DataFrame:
    """Read a CSV, JSONL or Parquet file as text.

    Args:
        path: the file; its suffix says what it is, anything but `.jsonl` and `.parquet` is read as CSV.
        columns: the columns that must be there.
        verbatim: leave the cells of a CSV as they are, for files that fcpair did not write.

    Returns:
        A frame of strings (an empty string where there is nothing) and the column `line`, from 1.

    Raises:
        InputError: no file, not UTF-8, no rows, a row of another width, a missing column, a column named `line`.
    """
    import pandas as pd

    path = Path(path)
    check_file(path)
    header, rows, lines = _READERS.get(path.suffix.lower(), _read_csv)(path)
    require(path, header, columns)
    if LINE in header:
        raise InputError(f"{path}: column `{LINE}` would be taken for the line numbers; rename it")
    if not rows:
        raise InputError(f"{path}: the file has no rows; expected at least one below the column names")
    frame = pd.DataFrame(rows, columns=header, dtype=object)
    if not verbatim and path.suffix.lower() not in _READERS:
        for name in header:
            frame[name] = [unguard(cell) for cell in frame[name]]
    frame[LINE] = lines
    return frame


def check_file(path: Path) -> None:
    """Raise InputError unless `path` is a file."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file")
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")


def require(path: str | Path, header: Iterable[str], columns: Sequence[str]) -> None:
    """Raise InputError when `header` lacks one of `columns`; says what is there."""
    header = [name for name in header if name != LINE]
    missing = [name for name in columns if name not in header]
    if not missing:
        return
    named = ", ".join(f"`{name}`" for name in missing)
    hint = "; separate the columns by commas" if any(";" in name or "\t" in name for name in header) else ""
    raise InputError(
        f"{path}: missing column{'s' * (len(missing) > 1)} {named}; found {', '.join(header) or 'none'}{hint}",
        [Finding(str(path), 1, f"no column {named}")],
    )


def _decode(path: Path) -> str:
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = f"byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise InputError(f"{path}: the encoding is broken", [Finding(str(path), line, message)]) from None
    if not text.strip():
        raise InputError(f"{path}: the file is empty; expected a line of column names and one line a row")
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise InputError(f"{path}: not a text file", [Finding(str(path), line, "a NUL character")])
    return text


def _read_csv(path: Path) -> tuple[list[str], list[list[str]], list[int]]:
    text = _decode(path)
    csv.field_size_limit(max(len(text), 131072))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    findings: list[Finding] = []
    try:
        header = next(row for row in reader if row)
        line = reader.line_num + 1
        for row in reader:
            if row and len(row) != len(header):
                findings.append(Finding(str(path), line, f"{len(row)} cells; expected {len(header)}"))
            elif row:
                rows.append(row)
                lines.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        findings.append(Finding(str(path), reader.line_num, f"broken CSV: {error}"))
    reject(path, findings)
    return _unique(path, header), rows, lines


def _unique(path: Path, header: list[str]) -> list[str]:
    twice = sorted({name for name in header if header.count(name) > 1})
    reject(path, [Finding(str(path), 1, f"column `{name}` stands twice") for name in twice])
    return header


def _read_jsonl(path: Path) -> tuple[list[str], list[list[str]], list[int]]:
    header: dict[str, None] = {}
    records: list[dict[str, Any]] = []
    lines: list[int] = []
    findings: list[Finding] = []
    for line, content in enumerate(_decode(path).split("\n"), 1):
        if not content.strip():
            continue
        try:
            record = json.loads(content)
        except json.JSONDecodeError as error:
            findings.append(Finding(str(path), line, f"not JSON: {error.msg} at column {error.colno}"))
            continue
        except (ValueError, RecursionError) as error:  # a number of thousands of digits, brackets without end
            findings.append(Finding(str(path), line, f"cannot be read: {error}"))
            continue
        if not isinstance(record, dict):
            findings.append(Finding(str(path), line, f"expected an object, found {type(record).__name__}"))
            continue
        if any(NO_TEXT.search(cell) for cell in record.values() if isinstance(cell, str)):
            findings.append(Finding(str(path), line, "a NUL character or half a surrogate pair, which no text holds"))
            continue
        header.update(dict.fromkeys(record))
        records.append(record)
        lines.append(line)
    reject(path, findings)
    return list(header), [[_as_text(record.get(name)) for name in header] for record in records], lines


def _read_parquet(path: Path) -> tuple[list[str], list[list[str]], list[int]]:
    import pandas as pd
    import pyarrow as pa

    try:
        frame = pd.read_parquet(path)
    except pa.ArrowException as error:
        raise InputError(f"{path}: not a Parquet file ({str(error).splitlines()[0]})") from None
    cells = frame.astype(object).where(frame.notna(), None)
    rows = [[_as_text(cell) for cell in row] for row in cells.itertuples(index=False, name=None)]
    return [str(name) for name in frame.columns], rows, list(range(1, len(rows) + 1))


_READERS = {".jsonl": _read_jsonl, ".parquet": _read_parquet}


def _as_text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    return json.dumps(cell, ensure_ascii=False) if isinstance(cell, dict | list) else str(cell)


def write_table(frame: pd.DataFrame, path: str | Path) -> None:
    """Write `frame` as CSV, JSONL or Parquet by the suffix of `path`: whole, or not at all.

    Raises:
        InputError: a suffix other than .csv, .jsonl and .parquet.
    """
    path = Path(path)
    check_suffix(path)
    with replacing(path) as temporary:
        if path.suffix == ".parquet":
            frame.to_parquet(temporary, index=False)
        elif path.suffix == ".jsonl":
            _write_jsonl(frame, temporary)
        else:
            _write_csv(frame, temporary)


def check_suffix(path: str | Path) -> None:
    """Raise InputError unless the suffix of `path` is one that `write_table` knows."""
    if Path(path).suffix not in SUFFIXES:
        raise InputError(f"{path}: expected a name that ends in {', '.join(SUFFIXES)}")


def _write_jsonl(frame: pd.DataFrame, path: Path) -> None:
    cells = frame.astype(object).where(frame.notna(), None)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in cells.itertuples(index=False, name=None):
            file.write(json.dumps(dict(zip(frame.columns, row, strict=True)), ensure_ascii=False) + "\n")


def _write_csv(frame: pd.DataFrame, path: Path) -> None:
    with _LineFeeds(path.open("wb"), encoding="utf-8", newline="") as file:
        _guarded(frame).to_csv(file, index=False, lineterminator="\r\n")


class _LineFeeds(io.TextIOWrapper):
    """Ends rows in a line feed. Python before 3.13 quotes a carriage return in a cell only if rows end in one."""

    def write(self, row: str, /) -> int:
        return super().write(row.removesuffix("\r\n") + "\n")


def _guarded(frame: pd.DataFrame) -> pd.DataFrame:
    guarded = frame.copy()
    for name in frame.columns[[frame[name].dtype.kind in "OUT" for name in frame.columns]]:
        guarded[name] = [guard(cell) if isinstance(cell, str) else cell for cell in frame[name]]
    return guarded


class replacing:  # noqa: N801 - reads as a verb: `with replacing(path) as temporary`
    """A temporary file beside `path` that takes its place when the block ends well, and goes when it does not."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __enter__(self) -> Path:
        if not self.path.parent.is_dir():
            raise InputError(f"{self.path}: there is no folder {self.path.parent}; make it first")
        if self.path.is_dir():
            raise InputError(f"{self.path}: is a folder; name a file")
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=".", suffix=self.path.suffix)
        os.close(handle)
        self._temporary = Path(name)
        return self._temporary

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        if failed is None:
            mask = os.umask(0)
            os.umask(mask)
            self._temporary.chmod(0o666 & ~mask)
            self._temporary.replace(self.path)
        else:
            self._temporary.unlink(missing_ok=True)


def write_all(files: Mapping[Path, bytes]) -> None:
    """Write files in the place of those that are there: all of them whole, or none."""
    with ExitStack() as open_ones:
        for path, content in files.items():
            open_ones.enter_context(replacing(path)).write_bytes(content)
