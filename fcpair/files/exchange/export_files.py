"""Exports of annotation tools as files: one, those of a folder, or those of a zip file."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, NamedTuple

from fcpair.errors import Finding, InputError, translate_read_errors
from fcpair.files.tables.delimited import decode_bytes
from fcpair.files.tables.tabular import check_file

PEOPLE = "people.csv"  # the table of users, which is written beside a project and is no export
LARGEST = 1 << 30  # bytes that a zip file may unpack to
_BLANK = " \t\r\n"
_BLANK_BYTES = b"\xef\xbb\xbf \t\r\n"
_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")  # of a zip file, and of one without files


class ExportFile(NamedTuple):
    """A file of an export: what errors call it, and its text."""

    place: str
    text: str

    @property
    def stem(self) -> str:
        """Its name without the suffix."""
        return PurePosixPath(self.place).stem

    @property
    def suffix(self) -> str:
        """Its suffix in lower case."""
        return PurePosixPath(self.place).suffix.lower()


class Record(NamedTuple):
    """A JSON object of an export, and the line on which it begins."""

    line: int
    value: dict[str, Any]


def open_export(path: str | Path, suffixes: Sequence[str]) -> list[ExportFile]:
    """The files of an export in the order of their names: of a folder and those below it, or of a zip file.

    Of these, only those with one of `suffixes` are read, and none that is hidden or empty: doccano writes an empty file
    for somebody who has confirmed nothing.

    Raises:
        InputError: no such file, no file with one of the suffixes, a zip file that is cut off or larger than LARGEST, a
            file that is no text; all files are empty.
    """
    path = Path(path)
    contents = _read_contents(path, suffixes)
    if not contents:
        raise InputError(f"{path}: no export in it ends in {' or '.join(suffixes)}; export in such a format")
    files = [ExportFile(name, decode_bytes(raw, name)) for name, raw in contents.items() if raw.strip(_BLANK_BYTES)]
    if not files:
        empty = "the file is empty" if [*contents] == [str(path)] else "its files are empty"
        raise InputError(f"{path}: {empty}; either nobody has answered there yet, or the export failed: export again")
    return files


def _read_contents(path: Path, suffixes: Sequence[str]) -> dict[str, bytes]:
    """The bytes of each file of an export, by what errors call it, in the order of their names."""
    if path.is_dir():
        names = sorted(
            name for name in path.rglob("*") if _is_read(name.relative_to(path), suffixes) and name.is_file()
        )
        return {str(name): name.read_bytes() for name in names}
    check_file(path)
    raw = path.read_bytes()
    return _unzip(path, suffixes) if raw.startswith(_MAGICS) else {str(path): raw}


def _is_read(path: PurePath, suffixes: Sequence[str]) -> bool:
    """Whether a file is read; hidden ones, such as those that macOS adds to what it packs, are no exports."""
    is_hidden = any(part.startswith((".", "__MACOSX")) for part in path.parts)
    return path.suffix.lower() in suffixes and path.name != PEOPLE and not is_hidden


def _unzip(path: Path, suffixes: Sequence[str]) -> dict[str, bytes]:
    with translate_read_errors(path, expected="a whole zip file (is it cut off?)"), zipfile.ZipFile(path) as archive:
        members = [one for one in archive.infolist() if _is_read(PurePosixPath(one.filename), suffixes)]
        if sum(member.file_size for member in members) > LARGEST:
            raise InputError(f"{path}: it unpacks to more than {LARGEST >> 30} GB; unpack it, and name the folder")
        return {f"{path}/{one.filename}": archive.read(one) for one in sorted(members, key=lambda one: one.filename)}


def read_json_lines(file: ExportFile, findings: list[Finding]) -> list[Record]:
    """The objects of a file with one a line; what is no object is put into `findings`.

    Raises InputError where the file does not begin with an object.
    """
    records, lines = list[Record](), [(at, line) for at, line in enumerate(file.text.split("\n"), 1) if line.strip()]
    if not lines[0][1].lstrip().startswith("{"):
        raise InputError(f"{file.place}: expected an export with a JSON object on each line (JSONL)")
    for line, content in lines:
        with _note_broken(file.place, line, findings, is_last=line == lines[-1][0]):
            records.append(Record(line, _check_object(_DECODER.decode(content.strip()))))
    return records


def is_json_list(file: ExportFile) -> bool:
    """Whether a file begins as one list, whatever its name ends in."""
    return file.text.lstrip().startswith("[")


def read_json_list(file: ExportFile) -> list[Record]:
    """The objects of a file that is one list; raises InputError where it is cut off or no list."""
    return list(_walk_list(file))


def _walk_list(file: ExportFile) -> Iterator[Record]:
    text, at = file.text, _skip_blanks(file.text, 0)
    line, counted = 1, 0
    if text[at : at + 1] != "[":
        raise _broken(file, at, "expected an export in JSON, which is one list of objects")
    at = _skip_blanks(text, at + 1)
    while text[at : at + 1] != "]":
        try:
            value, end = _DECODER.raw_decode(text, at)
            line, counted = line + text.count("\n", counted, at), at
            yield Record(line, _check_object(value))
        except json.JSONDecodeError as error:
            raise _broken(file, error.pos, f"not JSON: {error.msg}; is the file cut off?") from None
        except (ValueError, RecursionError) as error:
            raise _broken(file, at, str(error)) from None
        at = _skip_blanks(text, end)
        if text[at : at + 1] not in {",", "]"}:
            raise _broken(file, at, "the list does not end; is the file cut off?")
        at = _skip_blanks(text, at + 1) if text[at] == "," else at
    if end_of_list := text[at + 1 :].strip():
        raise _broken(file, at + 1, f"expected nothing after the list, found `{end_of_list[:20]}`")


def _broken(file: ExportFile, at: int, message: str) -> InputError:
    return InputError(f"{file.place}: cannot be read", [Finding(file.place, _line_of(file.text, at), message)])


def _line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _skip_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Python's own reader takes the last of two members with the same key, and says nothing."""
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"duplicate key `{next(key for key in keys if keys.count(key) > 1)}` in an object")
    return members


_DECODER = json.JSONDecoder(object_pairs_hook=_refuse_repeats)


def _check_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, found {type(value).__name__}")
    return value


@contextmanager
def _note_broken(place: str, line: int, findings: list[Finding], *, is_last: bool) -> Iterator[None]:
    """Note what is wrong with a line, and go on; only the last one can be cut off."""
    try:
        yield
    except json.JSONDecodeError as error:
        question = "is the file cut off?" if is_last else "was the file edited by hand?"
        findings.append(Finding(place, line, f"not JSON: {error.msg}; {question}"))
    except (ValueError, RecursionError) as error:
        findings.append(Finding(place, line, str(error)))
