"""Bringing a study of an older fcpair up to date, after a backup of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fcpair.store import backends, backups, schema
from fcpair.store.backends import Place
from fcpair.store.store import Store, Tx


def upgrade(place: Place, then: Callable[[Tx], object]) -> Path | None:
    """Bring the tables of the study at `place` up to date, and do what is to be done `then`, in one transaction.

    Returns the backup of before; None, and no backup, where there is nothing to do.
    """
    store = Store(backends.find(place))
    try:
        with store.read() as tx:
            revision = schema.outdated(tx, store.place)
        return None if revision is None else _upgrade(store, place, revision, then)
    finally:
        store.close()


def _upgrade(store: Store, place: Place, revision: str, then: Callable[[Tx], object]) -> Path:
    file = backends.beside(place, f"-{revision}.backup")
    backups.save(store, place, file)
    try:
        with store.write(bulk=True) as tx:
            schema.upgrade(tx)
            then(tx)
    except BaseException:
        file.unlink()
        raise
    return file
