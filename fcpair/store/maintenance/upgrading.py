"""Bringing a study of an older fcpair up to date, after a backup of it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import count
from pathlib import Path

from fcpair.errors import StudyError
from fcpair.store.database import backends, backup_format, file_permissions, schema
from fcpair.store.database.backends import Place
from fcpair.store.database.store import Store, Tx
from fcpair.store.maintenance import backups

_log = logging.getLogger(__name__)


def upgrade(place: Place, finish: Callable[[Tx], object]) -> Path | None:
    """Bring the tables of the study at `place` up to date, and do what is to be done `finish`, in one transaction.

    A file that everybody could read is kept to its owner from now on. Returns the backup of before; None, and no
    backup, where there is nothing to do. Raises StudyError where others use the study, such as a server.
    """
    home = backends.find(place)
    store = Store(home)
    try:
        with store.read() as tx:
            revision = schema.older_revision(tx, store.place)
        if revision is None:
            return None
        store.close()  # which takes in the log of a server that was killed
        home.check_alone()
        return _migrate(store, place, revision, finish)
    finally:
        store.close()


def _migrate(store: Store, place: Place, revision: str, finish: Callable[[Tx], object]) -> Path:
    file = _free_backup_path(place, revision)
    backups.write_backup(store, place, file)
    try:
        with store.write(bulk=True) as tx:
            schema.upgrade(tx)
            finish(tx)
    except BaseException:
        file.unlink()
        raise
    if warning := file_permissions.restrict_to_owner(
        store.place
    ):  # up to 0.4.0, a study had the rights that the umask gave
        _log.warning("%s", warning)
    return file


def _free_backup_path(place: Place, revision: str) -> Path:
    """Where the backup goes. One that is there already, as of an upgrade that was killed, is left alone.

    Raises StudyError where something else has the name.
    """
    for n in count(1):
        file = backends.path_beside(place, f"-{revision}{f'-{n}' if n > 1 else ''}.backup")
        if not file.exists():
            break
        try:
            backups.check(file)
        except StudyError:
            backup_format.check_name_free(file)
    return file
