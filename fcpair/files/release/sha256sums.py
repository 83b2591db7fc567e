"""SHA256SUMS: the digest of every file of a folder, and what differs from it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fcpair.errors import show_foreign

SUMS = "SHA256SUMS"
_LINE = re.compile(r"(?P<sha256>[0-9a-f]{64})  (?P<path>[^\n]+)")


class FolderCheck(NamedTuple):
    """The digest of a folder that has SHA256SUMS, how many files that lists, and what is wrong, in a sentence each."""

    digest: str
    n_files: int
    faults: tuple[str, ...]


def write_sums(folder: Path) -> str:
    """List every file of a folder with its digest, as `sha256sum` does; returns the digest of that list."""
    content = _format_sums({path: digest_file(folder / path) for path, _ in _entries(folder)})
    (folder / SUMS).write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def check_folder(folder: Path) -> FolderCheck:
    """Find each byte of a folder that was changed, each file added or missing, and each link."""
    faults = [f"{show_foreign(path)} is {kind}, and no file" for path, kind in _entries(folder) if kind]
    place = folder / SUMS
    if place.is_symlink() or not place.is_file():
        return FolderCheck("", 0, (*faults, f"{SUMS} is missing, which lists the files"))
    content = place.read_bytes()
    listed = read_sums(content)
    if _format_sums(listed) != content:
        faults.append(f"{SUMS} was changed: it is not as fcpair writes it")
    there = {path for path, kind in _entries(folder) if not kind} - {SUMS}
    faults += [f"{show_foreign(path)} is missing" for path in sorted(set(listed) - there)]
    faults += [f"{show_foreign(path)} is not listed in {SUMS}" for path in sorted(there - set(listed))]
    shared = sorted(there & set(listed))
    faults += [f"{show_foreign(path)} was changed" for path in shared if digest_file(folder / path) != listed[path]]
    return FolderCheck(hashlib.sha256(content).hexdigest(), len(listed), tuple(faults))


def read_sums(content: bytes) -> dict[str, str]:
    """The digest of each file that a list of digests names; lines that are none are left out."""
    lines = content.decode("utf-8", "replace").split("\n")
    return {found["path"]: found["sha256"] for line in lines if (found := _LINE.fullmatch(line))}


def digest_file(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _format_sums(digests: dict[str, str]) -> bytes:
    return "".join(f"{digests[path]}  {path}\n" for path in sorted(digests)).encode()


def _entries(folder: Path) -> Iterator[tuple[str, str]]:
    """Everything in a folder by its path there, and what it is where it is no plain file."""
    folders = [folder]
    while folders:  # not os.walk, which calls itself for each level of a tree
        for path in folders.pop().iterdir():
            name = path.relative_to(folder).as_posix()
            if path.is_symlink():
                yield name, "a link"
            elif path.is_dir():
                folders.append(path)
                if not any(path.iterdir()):
                    yield name, "an empty folder"
            else:
                yield name, "" if path.is_file() else "something else"
