"""The file of a backup: what a database wrote of a study, and what that is, so that any change to it is recognised.

It is a ZIP whose two members are stored as they are, `manifest.json` and the content, so that it can be unpacked
without fcpair. Its comment ends in the SHA-256 of every byte before it: no bit of the file can change unnoticed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

from fcpair.errors import StudyError
from fcpair.unfinished import new_path
from fcpair.values import parse_json

FORMAT = 1
PART = ".part"
MANIFEST = "manifest.json"
_START = b"PK\x03\x04"
_NAME_AT, _MEMBERS = 30, b"study."  # where the name of the first member is, and how that begins
_SAYS = b"A backup by fcpair; the SHA-256 of every byte before these 64 digits: "
_N_DIGITS = 64


@dataclass(frozen=True)
class Manifest:
    """Description of a backup: its kind of database, its schema, the fcpair that made it, and when."""

    kind: str
    schema: str
    fcpair: str
    at: str
    member: str
    further: Mapping[str, str] = field(default_factory=dict)  # what the kind of database needs to know
    format: int = FORMAT


def is_backup_start(start: bytes) -> bool:
    """Return whether a file that begins like this is a backup, be it whole or not."""
    return start.startswith(_START) and start[_NAME_AT:].startswith(_MEMBERS)


def write(path: Path, manifest: Manifest, save: Callable[[Any], object]) -> Manifest:
    """Write a backup, whose content `save` writes into what it is given, for its owner alone; it has its name when all
    of it is on the disk. Raises StudyError, and leaves nothing there, where the name is taken or it cannot be written.
    """
    check_name_free(path)
    try:
        with new_path(path.parent, f"{path.name}-", PART, is_folder=False) as part:
            with part.open("w+b") as file:
                with ZipFile(file, "w") as packed:
                    with packed.open(manifest.member, "w", force_zip64=True) as content:
                        save(content)
                    packed.writestr(MANIFEST, json.dumps(asdict(manifest), indent=2) + "\n")
                    packed.comment = _SAYS + b"0" * _N_DIGITS  # in whose place the digest comes
                end = file.seek(-_N_DIGITS, os.SEEK_END)
                digest = _digest_up_to(file, end)
                file.seek(end)
                file.write(digest)
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(part, path)
            except OSError as error:  # a file system without links, unless another has got the name meanwhile
                if isinstance(error, FileExistsError):
                    raise
                check_name_free(path)
                part.rename(path)
            sync_folder(path.parent)
    except OSError as error:
        raise StudyError(f"{path}: {error.strerror or error}; no backup was written") from error
    return manifest


def check_name_free(path: Path) -> None:
    """Raise StudyError where the name is taken."""
    if path.exists():
        raise StudyError(f"{path} exists already; name another file for the backup, or move that one away first")


def _digest_up_to(file: IO[bytes], end: int) -> bytes:
    summed = hashlib.sha256()
    file.seek(0)
    while data := file.read(min(1 << 20, end - file.tell())):
        summed.update(data)
    return summed.hexdigest().encode()


def sync_folder(folder: Path) -> None:
    """Have the names of the files in a folder on the disk, where the system can."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextmanager
def open_backup(path: Path) -> Iterator[tuple[Manifest, Any]]:
    """Open a backup, its manifest and content; raises StudyError before anything is read if any of it is not as
    written.
    """
    is_none = f"{path} is not a backup that `fcpair backup` wrote, or it is truncated; nothing was restored"
    is_damaged = f"{path} is damaged: it differs from what was written; use another backup. Nothing was restored"
    try:
        with path.open("rb") as file:
            size, least = os.fstat(file.fileno()).st_size, len(_SAYS) + _N_DIGITS
            if size < least or file.read(len(_START)) != _START:
                raise StudyError(is_none)
            file.seek(-least, os.SEEK_END)
            says, digits = file.read(len(_SAYS)), file.read()
            if says != _SAYS:
                raise StudyError(is_none)
            if _digest_up_to(file, size - _N_DIGITS) != digits:
                raise StudyError(is_damaged)
            with ZipFile(file) as packed:
                try:
                    if (fields := parse_json(packed.read(MANIFEST)))["format"] != FORMAT:
                        newer = "was written by a newer fcpair; `pip install --upgrade fcpair` installs one"
                        raise StudyError(f"{path} {newer}")
                    names = fields.keys() - {"size", "sha256"}  # of the content, which were noted besides before
                    manifest = Manifest(**{name: fields[name] for name in names})
                except (KeyError, TypeError, ValueError) as error:
                    raise StudyError(is_none) from error
                with packed.open(manifest.member) as content:
                    yield manifest, content
    except FileNotFoundError as error:
        raise StudyError(f"there is no backup {path}") from error
    except (BadZipFile, EOFError) as error:
        raise StudyError(is_damaged) from error
