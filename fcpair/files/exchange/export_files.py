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
_MAGIC = b"PK\x03\x04"


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

    Of these, only those with one of `suffixes` are read.

    Raises:
        InputError: no such file, no file with one of the suffixes, a zip file that is cut off or larger than LARGEST, a
            file that is empty or no text.
    """
    path = Path(path)
    if path.is_dir():
        names = sorted(name for name in path.rglob("*") if _is_read(name, suffixes) and name.is_file())
        files = [ExportFile(str(name), decode_bytes(name.read_bytes(), str(name))) for name in names]
    else:
        check_file(path)
        raw = path.read_bytes()
        files = (
            _unzip(path, suffixes) if raw.startswith(_MAGIC) else [ExportFile(str(path), decode_bytes(raw, str(path)))]
        )
    if not files:
        raise InputError(f"{path}: there is no export in it; expected files that end in {', '.join(suffixes)}")
    return files


def _is_read(path: PurePath, suffixes: Sequence[str]) -> bool:
    return path.suffix.lower() in suffixes and path.name != PEOPLE


def _unzip(path: Path, suffixes: Sequence[str]) -> list[ExportFile]:
    with translate_read_errors(path, expected="a zip file"), zipfile.ZipFile(path) as archive:
        members = [one for one in archive.infolist() if _is_read(PurePosixPath(one.filename), suffixes)]
        if sum(member.file_size for member in members) > LARGEST:
            raise InputError(f"{path}: it unpacks to more than {LARGEST >> 30} GB; unpack it, and name the folder")
        contents = {member.filename: archive.read(member) for member in members}
    return [
        ExportFile(f"{path}/{name}", decode_bytes(raw, f"{path}/{name}"))
        for name, raw in sorted(contents.items())
        if raw.strip()  # doccano writes an empty file for somebody who has confirmed nothing
    ]


def read_json_lines(file: ExportFile, findings: list[Finding]) -> list[Record]:
    """The objects of a file with one a line; what is no object is put into `findings`."""
    records = []
    for line, content in enumerate(file.text.split("\n"), 1):
        if content.strip():
            with _note_broken(file.place, line, findings):
                records.append(Record(line, _check_object(_DECODER.decode(content.strip()))))
    return records


def read_json_list(file: ExportFile) -> list[Record]:
    """The objects of a file that is one list; raises InputError where it is cut off or no list."""
    return list(_walk_list(file))


def _walk_list(file: ExportFile) -> Iterator[Record]:
    text, at = file.text, _skip_blanks(file.text, 0)
    line, counted = 1, 0
    if text[at : at + 1] != "[":
        raise _broken(file, at, "expected a list of objects")
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
def _note_broken(place: str, line: int, findings: list[Finding]) -> Iterator[None]:
    """Note what is wrong with a line, and go on."""
    try:
        yield
    except json.JSONDecodeError as error:
        findings.append(Finding(place, line, f"not JSON: {error.msg}; is the file cut off?"))
    except (ValueError, RecursionError) as error:
        findings.append(Finding(place, line, str(error)))
