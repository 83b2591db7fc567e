"""Backups: a consistent copy of a study in one file, and bringing it back where none is; upgrades after one; copies.

A copy is made of all rows of one moment, with a digest of each table on both sides. Rows go over as what any database
makes of them: a number is missing where it is none, has no sign where it is zero, and as JSON is whole where it can be;
whether something is so is 0 or 1.
"""

from __future__ import annotations

import logging
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any

from sqlalchemy import JSON, Float, Table
from sqlalchemy import text as sql
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.schema import AddConstraint, DropConstraint

from fcpair.errors import StudyError
from fcpair.store.corpus import cells
from fcpair.store.database import backends, backup_format, schema, statements
from fcpair.store.database.backends import Place, sqlite, sqlite_file
from fcpair.store.database.backends.protocol import driver
from fcpair.store.database.hash_chain import plain_real
from fcpair.store.database.store import Store, Tx, now
from fcpair.store.database.tables import metadata
from fcpair.work_records import CopyReport

_log = logging.getLogger(__name__)


def back_up(place: Place, file: Path) -> backup_format.Manifest:
    """Write the study at `place`, of this or an older schema, to a new file; it may be served meanwhile. Raises
    StudyError, and leaves no file, where the study is damaged or the file cannot be written.
    """
    backup_format.check_name_free(file)
    with closing(Store(backends.at(place).find(place))) as store:
        store.examine()
        return _write(store, place, file)


def _write(store: Store, place: Place, file: Path) -> backup_format.Manifest:
    backend = backends.at(place)
    with store.read() as tx:
        revision = schema.older_revision(tx, store.place) or schema.HEAD
        manifest = backup_format.Manifest(
            backend.KIND, revision, version("fcpair"), now(), backend.MEMBER, backend.restore_facts(tx)
        )
        return backup_format.write(
            file, manifest, lambda to: backend.save(tx, store.address, to, file.absolute().parent)
        )


def restore(file: Path, place: Place, *, create: bool) -> backup_format.Manifest:
    """Bring the study of a backup back at `place`, where none may be; `create` as in `Places.make`. Raises StudyError,
    and leaves nothing there, where the backup is damaged, of another kind of database or of a newer fcpair.
    """
    with backup_format.open_backup(file) as (manifest, content):
        _check_version(manifest, file)
        if manifest.kind != (backend := backends.at(place)).KIND:
            raise StudyError(
                f"{file} is a backup of a study in {_KIND_NAMES[manifest.kind]}; restore it to one, and `fcpair copy` "
                f"takes it to {backends.display_name(place)}"
            )
        backend.restore(place, content, manifest.further, create=create)
    return manifest


def check(file: Path) -> backup_format.Manifest:
    """Check a backup and return its manifest; raises StudyError unless it is intact and this fcpair can restore it."""
    with backup_format.open_backup(file) as (manifest, _):
        _check_version(manifest, file)
    return manifest


@contextmanager
def unpacked_study(file: Path) -> Iterator[Path | None]:
    """The study of a backup, as long as it is looked at; None where that would take a server."""
    with tempfile.TemporaryDirectory() as folder, backup_format.open_backup(file) as (manifest, content):
        if path := Path(folder) / manifest.member if manifest.kind == "sqlite" else None:
            sqlite_file.unpack(content, path)
        yield path


_KIND_NAMES = {"sqlite": "a file", "postgresql": "a database of PostgreSQL"}


def _check_version(manifest: backup_format.Manifest, file: Path) -> None:
    if manifest.schema not in (*schema.OLDER, schema.HEAD) or manifest.kind not in _KIND_NAMES:
        raise StudyError(
            f"{file} was written by a newer fcpair ({manifest.fcpair}; its schema is {manifest.schema}, this one knows "
            f"{schema.HEAD}); `pip install --upgrade fcpair` installs one"
        )


def upgrade(place: Place, finish: Callable[[Tx], object]) -> Path | None:
    """Bring the tables of the study at `place` up to date, and do what is to be done `finish`, in one transaction.
    Returns the backup of before; None, and no backup, if there is nothing to do. Raises StudyError where others use
    the study.
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
        for n in count(1):  # a backup that is there already, as of an upgrade that was killed, is left alone
            file = backends.path_beside(place, f"-{revision}{f'-{n}' if n > 1 else ''}.backup")
            if not file.exists():
                break
            try:
                check(file)
            except StudyError:  # something else has the name
                backup_format.check_name_free(file)
        _write(store, place, file)
        try:
            with store.write(bulk=True) as tx:
                schema.upgrade(tx)
                finish(tx)
        except BaseException:
            file.unlink()
            raise
        # Up to 0.4.0, a study had the rights that the umask gave.
        if warning := sqlite.restrict_to_owner(store.place):
            _log.warning("%s", warning)
        return file
    finally:
        store.close()


TABLES = tuple(metadata.sorted_tables)  # what is referred to comes first
BLOCK = 1_000  # rows that are read or written at once: of more, the garbage collector takes its share


class _OddRowError(Exception):
    """A row that one database has and another cannot keep."""


def copy(source: Place, target: Place, progress: Callable[[int, int], None], *, create: bool = False) -> CopyReport:
    """Copy the study at `source`, which may be served meanwhile, to `target`, where none may be. `progress` is called
    with how many rows were copied or compared, of how many. Raises StudyError, and leaves nothing at the target, where
    the source is damaged, or the target cannot hold it or got something else.
    """
    copied: list[CopyReport] = []
    with closing(Store.open(source)) as source_store:
        source_store.examine()
        with source_store.read() as tx:
            place = source_store.place
            if torn := schema.torn_tables(driver(tx)):
                raise StudyError(f"{place} lacks what was written last: {'; '.join(torn)}; `fcpair doctor` says more")
            Store.create(
                target, lambda into: copied.append(_copy_rows(tx, into, place, progress)), bulk=True, create=create
            ).close()
    return copied[0]


def _copy_rows(source: Tx, target: Tx, place: str, progress: Callable[[int, int], None]) -> CopyReport:
    backend, n_rows = backends.backend_of(target), dict[str, int]()
    n_expected, n_done = 2 * sum(statements.count(source, table) for table in TABLES), 0
    references = [key for table in TABLES for key in table.foreign_key_constraints if target.dialect.supports_alter]

    def digest(tx: Tx, table: Table) -> str:
        """The digest of a table, whose rows are written into the target as they are read from the source."""
        nonlocal n_done
        summed, n_rows[table.name] = sha256(), 0
        for rows in _read_blocks(tx, table):
            if tx is source:
                _write_rows(target, table, rows)
            summed.update(ascii(rows).encode())
            n_rows[table.name] += len(rows)
            n_done += len(rows)
            progress(n_done, max(n_expected, n_done))
        return summed.hexdigest()

    last = backends.backend_of(source).last_number(source)
    # Indexes are made in far less time when all rows are there, and on a server the references, too.
    indexes = [index for table in TABLES for index in table.indexes]
    for index in indexes:
        index.drop(target)
    for key in references:
        target.execute(DropConstraint(key))
    try:
        source_digests = {"numbers": str(last), **{table.name: digest(source, table) for table in TABLES}}
        for index in indexes:
            index.create(target)
        for key in references:
            try:
                target.execute(AddConstraint(key, isolate_from_table=False))
            except IntegrityError as error:
                raise _OddRowError(f"`{key.table.name}`: {str(error.orig).partition('DETAIL:')[2].strip()}") from error
    except _OddRowError as error:
        raise StudyError(f"{place} cannot be copied: {error}; nothing was kept") from error
    backend.set_numbers(target, TABLES, last)
    backend.update_statistics(target, TABLES)
    cells.seal(target)
    digests = {"numbers": str(backend.last_number(target)), **{table.name: digest(target, table) for table in TABLES}}
    if different := [name for name, there in source_digests.items() if digests[name] != there]:
        raise StudyError(f"what was written differs from what {place} has: {', '.join(different)}; nothing was kept")
    return CopyReport(place, n_rows, sha256(ascii(digests).encode()).hexdigest())


def _read_blocks(tx: Tx, table: Table) -> Iterator[list[tuple[Any, ...]]]:
    """Every row of a table, by its key, as any database has it; raises _OddRowError where SQLite holds no text."""
    raw = backends.backend_of(tx).raw_column
    columns = ", ".join(f'{raw(table, column.name, "t")} AS "{column.name}"' for column in table.columns)
    order = ", ".join(f't."{column.name}"' for column in table.primary_key)
    query = sql(f'SELECT {columns} FROM "{table.name}" AS t ORDER BY {order}')
    kinds = (column.type for column in table.columns)
    converts = [plain_real if isinstance(of, Float) else _plain_json if isinstance(of, JSON) else None for of in kinds]
    try:
        for rows in tx.execute(query, execution_options=statements.STREAMED).partitions(BLOCK):
            converted = (
                values if plain is None else [None if value is None else plain(value) for value in values]
                for plain, values in zip(converts, zip(*rows, strict=True), strict=True)
            )
            yield list(zip(*converted, strict=True))
    except OperationalError as error:
        if "Could not decode to UTF-8" not in str(error):
            raise
        raise _OddRowError(f"`{table.name}`: it holds bytes that are not a text") from error


def _write_rows(target: Tx, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Write rows as they are; raises _OddRowError for one that the database does not take."""
    backend = backends.backend_of(target)
    try:
        with target.begin_nested():
            backend.write_rows(target, table, rows)
    except Exception as error:
        if backend.remedy(error):
            raise
        if len(rows) > 1:  # one of them is at fault
            for row in rows:
                _write_rows(target, table, [row])
        key = ", ".join(str(rows[0][table.columns.keys().index(column.name)]) for column in table.primary_key)
        raise _OddRowError(f"row {key} of `{table.name}`: {str(error).partition(chr(10))[0]}") from error


def _plain_json(value: str | float) -> str | float:
    """JSON that is but a number is one in SQLite, which would read some of their digits otherwise than they are."""
    if isinstance(value, str):
        if not re.fullmatch(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", value):
            return value
        value = float(value) if set(value) & set(".eE") else int(value)
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**63 else value
