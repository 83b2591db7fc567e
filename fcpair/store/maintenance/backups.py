"""Backups: a consistent copy of a study in one file, and bringing it back where none is; and upgrades, after one."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from itertools import count
from pathlib import Path

from fcpair.errors import StudyError
from fcpair.store.database import backends, backup_format, file_permissions, schema
from fcpair.store.database.backends import Place, sqlite_file
from fcpair.store.database.backup_format import Manifest
from fcpair.store.database.store import Store, Tx, now

_log = logging.getLogger(__name__)


def back_up(place: Place, file: Path) -> Manifest:
    """Write the study at `place`, of this or an older schema, to a new file; it may be served meanwhile.

    Raises StudyError, and leaves no file, where the study is damaged or the file cannot be written.
    """
    backup_format.check_name_free(file)
    store = Store(backends.at(place).find(place))
    try:
        store.examine()
        return _write(store, place, file)
    finally:
        store.close()


def _write(store: Store, place: Place, file: Path) -> Manifest:
    """Write a study that is open, be all of it there or not, to a new file."""
    backend = backends.at(place)
    with store.read() as tx:
        revision = schema.older_revision(tx, store.place) or schema.HEAD
        manifest = Manifest(backend.KIND, revision, version("fcpair"), now(), backend.MEMBER, backend.restore_facts(tx))
        return backup_format.write(
            file, manifest, lambda to: backend.save(tx, store.address, to, file.absolute().parent)
        )


def restore(file: Path, place: Place, *, create: bool) -> Manifest:
    """Bring the study of a backup back at `place`, where none may be; `create` as in `Places.make`.

    Raises StudyError, and leaves nothing there, where the backup is damaged, of another kind of database or of a newer
    fcpair.
    """
    with backup_format.open_backup(file) as (manifest, content):
        _check_version(manifest, file)
        backend = backends.at(place)
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

        path = Path(folder) / manifest.member
        sqlite_file.unpack(content, path)
        yield path


_KIND_NAMES = {"sqlite": "a file", "postgresql": "a database of PostgreSQL"}


def _check_version(manifest: Manifest, file: Path) -> None:
    if manifest.schema not in (*schema.OLDER, schema.HEAD) or manifest.kind not in _KIND_NAMES:
        raise StudyError(
            f"{file} was written by a newer fcpair ({manifest.fcpair}; its schema is {manifest.schema}, this one knows "
            f"{schema.HEAD}); `pip install --upgrade fcpair` installs one"
        )


def upgrade(place: Place, finish: Callable[[Tx], object]) -> Path | None:
    """Bring the tables of the study at `place` up to date, and do what is to be done `finish`, in one transaction.

    A file that everybody could read is kept to its owner from now on. Returns the backup of before; None, and no
    backup, where there is nothing to do. Raises StudyError where others use the study, such as a server.
    """
    home = backends.at(place).find(place)
    store = Store(home)
    try:
        with store.read() as tx:
            revision = schema.older_revision(tx, store.place)
        if revision is None:
            return None
        store.close()  # which takes in the log of a server that was killed
        home.check_alone()
        file = _free_backup_path(place, revision)
        _write(store, place, file)
        try:
            with store.write(bulk=True) as tx:
                schema.upgrade(tx)
                finish(tx)
        except BaseException:
            file.unlink()
            raise
        # Up to 0.4.0, a study had the rights that the umask gave.
        if warning := file_permissions.restrict_to_owner(store.place):
            _log.warning("%s", warning)
        return file
    finally:
        store.close()


def _free_backup_path(place: Place, revision: str) -> Path:
    """Where the backup goes. One that is there already, as of an upgrade that was killed, is left alone.

    Raises StudyError where something else has the name.
    """
    for n in count(1):
        file = backends.path_beside(place, f"-{revision}{f'-{n}' if n > 1 else ''}.backup")
        if not file.exists():
            break
        try:
            check(file)
        except StudyError:
            backup_format.check_name_free(file)
    return file
