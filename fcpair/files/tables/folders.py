"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from fcpair.errors import InputError, name_file, show_foreign
from fcpair.sentences import mark, say
from fcpair.unfinished import new_path, prefix_for


@contextmanager
def new_folder(path: str | Path) -> Iterator[Path]:
    """A temporary folder beside `path` that becomes it when the block ends well, and goes when it does not.

    A kill leaves it, until the next such block. Raises what `check_new_folder` does.
    """
    check_new_folder(path)
    place = Path(os.path.realpath(path))
    with new_path(place.parent, prefix_for(place)) as temporary:
        try:
            yield temporary
            mask = os.umask(0)
            os.umask(mask)
            temporary.chmod(0o777 & ~mask)
            if place.exists():
                place.rmdir()
            temporary.rename(place)
        except BaseException as error:
            name_file(error, path)
            raise


def make_writable_folder(path: Path) -> None:
    """Make a folder, with those around it, where it is not there; raise InputError unless files can be put in it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise InputError(f"{path}: nothing can be written there ({error.strerror}); name another folder") from None


def check_new_folder(path: str | Path) -> None:
    """Raise InputError unless a new folder can be made at `path`; an empty one may be there."""
    path = Path(path)
    if path.is_symlink() and not path.exists():
        raise InputError(f"{path}: is a link that leads nowhere; name a folder")
    if path.is_dir():
        if any(path.iterdir()):
            raise InputError(f"{path}: this folder is not empty, and was left as it is; name a new one")
    elif path.exists():
        raise InputError(f"{path}: is a file; name a folder")
    elif not Path(os.path.realpath(path)).parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}; make it first")


@contextmanager
def replace_file(path: str | Path, *, private: bool = False) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place when the block ends well, and goes when it does not.

    Who may read it is for the umask to say, or its owner alone where it is `private`.
    """
    if not (path := Path(path)).parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}; make it first")
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file")
    with new_path(path.parent, prefix_for(path), path.suffix, is_folder=False) as temporary:
        try:
            yield temporary
        except BaseException as error:
            name_file(error, path)
            raise
        if not private:
            mask = os.umask(0)
            os.umask(mask)
            temporary.chmod(0o666 & ~mask)
        temporary.replace(path)


def write_all(files: Mapping[Path, bytes]) -> None:
    """Write files in the place of those that are there: all of them whole, or none."""
    with ExitStack() as stack:
        for path, content in files.items():
            stack.enter_context(replace_file(path)).write_bytes(content)


NO_ZIP = mark("%(file)s: is no zip file, or one that is damaged; name the folder of a release, or its zip file")
MOST_UNPACKED = 4 << 30  # bytes


@contextmanager
def unpacked(path: str | Path) -> Iterator[Path]:
    """A folder, or the one that is packed in a zip file, as long as the block lasts; InputError for anything else."""
    if not (place := Path(path)).is_file():
        if not place.is_dir():
            absent = mark("%(file)s: there is no such folder; name the folder of a release, or its zip file")
            raise InputError.say(absent, file=str(path))
        yield place
        return
    with tempfile.TemporaryDirectory() as temporary:
        try:
            with zipfile.ZipFile(place) as archive:
                if sum(member.file_size for member in archive.infolist()) > MOST_UNPACKED:
                    raise zipfile.BadZipFile
                archive.extractall(temporary)
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError):
            raise InputError.say(NO_ZIP, file=str(path)) from None
        inside = [*Path(temporary).iterdir()]
        is_wrapped = len(inside) == 1 and inside[0].is_dir()
        yield inside[0] if is_wrapped else Path(temporary)


SUMS = "SHA256SUMS"
_LINE = re.compile(r"(?P<sha256>[0-9a-f]{64})  (?P<path>[^\n]+)")


def write_sums(folder: Path) -> str:
    """List every file of a folder with its digest, as `sha256sum` does; returns the digest of that list."""
    content = _format_sums({path: digest_file(folder / path) for path, _ in _entries(folder)})
    (folder / SUMS).write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def check_folder(folder: Path) -> tuple[str, int, tuple[str, ...]]:
    """Find each byte of a folder that was changed, each file added or missing, and each link.

    Returns the digest of its SHA256SUMS, how many files that lists, and what is wrong, in a sentence each.
    """
    faults = [
        say("%(file)s is %(kind)s, and no file", file=show_foreign(path), kind=say(kind))
        for path, kind in _entries(folder)
        if kind
    ]
    place = folder / SUMS
    if place.is_symlink() or not place.is_file():
        return "", 0, (*faults, say("%(file)s is missing, which lists the files", file=SUMS))
    content = place.read_bytes()
    if _format_sums(listed := read_sums(content)) != content:
        faults.append(say("%(file)s was changed: it is not as fcpair writes it", file=SUMS))
    there = {path for path, kind in _entries(folder) if not kind} - {SUMS}
    faults += [say("%(file)s is missing", file=show_foreign(path)) for path in sorted(set(listed) - there)]
    added = sorted(there - set(listed))
    faults += [say("%(file)s is not listed in %(list)s", file=show_foreign(path), list=SUMS) for path in added]
    changed = (path for path in sorted(there & set(listed)) if digest_file(folder / path) != listed[path])
    faults += [say("%(file)s was changed", file=show_foreign(path)) for path in changed]
    return hashlib.sha256(content).hexdigest(), len(listed), tuple(faults)


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
    folders = [folder]
    while folders:  # not os.walk, which calls itself for each level of a tree
        for path in folders.pop().iterdir():
            name = path.relative_to(folder).as_posix()
            if path.is_symlink():
                yield name, mark("a link")
            elif path.is_dir():
                folders.append(path)
                if not any(path.iterdir()):
                    yield name, mark("an empty folder")
            else:
                yield name, "" if path.is_file() else mark("something else")
