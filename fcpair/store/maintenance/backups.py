"""Backups: a consistent copy of a study in one file, and bringing it back where no study is."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from fcpair.errors import StudyError
from fcpair.store.database import backends, backup_format, schema
from fcpair.store.database.backends import Place
from fcpair.store.database.backup_format import Manifest
from fcpair.store.database.store import Store, now


def back_up(place: Place, file: Path) -> Manifest:
    """Write the study at `place`, of this or an older schema, to a new file; it may be served meanwhile.

    Raises StudyError, and leaves no file, where the study is damaged or the file cannot be written.
    """
    backup_format.check_name_free(file)
    store = Store(backends.find(place))
    try:
        store.examine()
        return write_backup(store, place, file)
    finally:
        store.close()


def write_backup(store: Store, place: Place, file: Path) -> Manifest:
    """Write a study that is open, be all of it there or not, to a new file."""
    backend = backends.backups_at(place)
    with store.read() as tx:
        revision = schema.older_revision(tx, store.place) or schema.HEAD
        manifest = Manifest(backend.KIND, revision, version("fcpair"), now(), backend.MEMBER, backend.restore_facts(tx))
        return backup_format.write(
            file, manifest, lambda to: backend.save(tx, store.address, to, file.absolute().parent)
        )


def restore(file: Path, place: Place, *, create: bool) -> Manifest:
    """Bring the study of a backup back at `place`, where none may be; `create` as in `backends.make`.

    Raises StudyError, and leaves nothing there, where the backup is damaged, of another kind of database or of a newer
    fcpair.
    """
    with backup_format.open_backup(file) as (manifest, content):
        _check_version(manifest, file)
        backend = backends.backups_at(place)
        if manifest.kind != backend.KIND:
            raise StudyError(
                f"{file} is a backup of a study in {_KIND_NAMES[manifest.kind]}; restore it to one, and `fcpair copy` "
                f"takes it to {backends.display_name(place)}"
            )
        backend.restore(place, content, manifest.further, create=create)
    return manifest


def check(file: Path) -> Manifest:
    """Check a backup and return its manifest; raises StudyError unless it is intact and this fcpair can restore it."""
    manifest = backup_format.check(file)
    _check_version(manifest, file)
    return manifest


@contextmanager
def unpacked_study(file: Path) -> Iterator[Path | None]:
    """The study of a backup, as long as it is looked at; None where that would take a server."""
    with tempfile.TemporaryDirectory() as folder, backup_format.open_backup(file) as (manifest, content):
        if manifest.kind != "sqlite":
            yield None
            return
        from fcpair.store.database.backends import sqlite_backup

        path = Path(folder) / manifest.member
        sqlite_backup.unpack(content, path)
        yield path


_KIND_NAMES = {"sqlite": "a file", "postgresql": "a database of PostgreSQL"}


def _check_version(manifest: Manifest, file: Path) -> None:
    if manifest.schema not in (*schema.OLDER, schema.HEAD) or manifest.kind not in _KIND_NAMES:
        raise StudyError(
            f"{file} was written by a newer fcpair ({manifest.fcpair}; its schema is {manifest.schema}, this one knows "
            f"{schema.HEAD}); `pip install --upgrade fcpair` installs one"
        )
