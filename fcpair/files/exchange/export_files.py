"""Exports of annotation tools as files: one, those of a folder, or those of a zip file."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePath, PurePosixPath
from typing import NamedTuple

from fcpair.errors import Finding, InputError, translate_read_errors
from fcpair.files.tables.delimited import decode_bytes
from fcpair.files.tables.json_lines import Record, read_records
from fcpair.files.tables.tabular import check_file

PEOPLE = "people.csv"  # the table of users, which is written beside a project and is no export
LARGEST = 1 << 30  # bytes that a zip file may unpack to
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
    """The objects of a file with one a line, or of one list; what is no object is put into `findings`.

    Raises InputError where the file begins with neither.
    """
    if not file.text.lstrip().startswith(("{", "[")):
        raise InputError(f"{file.place}: expected an export with a JSON object on each line (JSONL)")
    return read_records(file.text, file.place, findings)


def read_json_list(file: ExportFile) -> list[Record]:
    """The objects of a file that is one list; raises InputError where it is cut off or no list."""
    if not file.text.lstrip().startswith("["):
        message = "expected an export in JSON, which is one list of objects"
        raise InputError(f"{file.place}: cannot be read", [Finding(file.place, 1, message)])
    return read_records(file.text, file.place, [])
