"""Copying a whole study into another database: all rows of one moment, and a digest of each table on both sides.

Indexes and references are made when the rows are there. Rows go over as what any database makes of them: a number is
missing where it is none, has no sign where it is zero, and as JSON is whole where it can be; whether something is so is
0 or 1. The digests are of these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any

from sqlalchemy import JSON, Connection, Float, Row, Table, func, select
from sqlalchemy import text as sql
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.schema import AddConstraint, DropConstraint

from fcpair.errors import StudyError
from fcpair.examination_records import CopyReport
from fcpair.store.corpus import cells
from fcpair.store.database import backends, schema
from fcpair.store.database.backends import Place
from fcpair.store.database.backends.protocol import driver
from fcpair.store.database.frames import STREAMED
from fcpair.store.database.hash_chain import plain_real
from fcpair.store.database.store import Store, Tx
from fcpair.store.database.tables import metadata

Progress = Callable[[int, int], None]
TABLES = tuple(metadata.sorted_tables)  # what is referred to comes first
BLOCK = 1_000  # rows that are read or written at once: of more, the garbage collector takes its share
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")


class _OddRowError(Exception):
    """A row that one database has and another cannot keep."""


def copy(source: Place, target: Place, progress: Progress, *, create: bool = False) -> CopyReport:
    """Copy the study at `source` to `target`, where none may be; the source may be served meanwhile.

    A database that a server does not have is made only to `create` it.

    `progress` is called with how many rows were copied or compared, of how many. Raises StudyError, and leaves nothing
    at the target, where the source is damaged, where the target cannot hold it, or where what was written is another.
    """
    source_store = Store.open(source)
    copied: list[CopyReport] = []
    try:
        source_store.examine()
        with source_store.read() as tx:
            place = source_store.place
            if torn := schema.torn_tables(driver(tx)):
                raise StudyError(f"{place} lacks what was written last: {'; '.join(torn)}; `fcpair doctor` says more")
            Store.create(
                target, lambda into: copied.append(_copy_rows(tx, into, place, progress)), bulk=True, create=create
            ).close()
    finally:
        source_store.close()
    return copied[0]


def _copy_rows(source: Tx, target: Tx, place: str, progress: Progress) -> CopyReport:
    backend, n_rows = backends.backend_of(target), dict[str, int]()
    n_expected = 2 * sum(source.execute(select(func.count()).select_from(table)).scalar_one() for table in TABLES)
    n_done = 0

    def digest(tx: Tx, table: Table) -> str:
        """The digest of a table, whose rows are written into the target as they are read from the source."""
        nonlocal n_done
        summed, n_rows[table.name] = sha256(), 0
        for rows in _read_blocks(tx, table):
            plain_rows = _plain_rows(table, rows)
            if tx is source:
                _write(target, table, plain_rows)
            summed.update(ascii(plain_rows).encode())
            n_rows[table.name] += len(rows)
            n_done += len(rows)
            progress(n_done, max(n_expected, n_done))
        return summed.hexdigest()

    last = backends.backend_of(source).last_number(source)
    source_digests = {"numbers": str(last)}
    try:
        _drop_made_later(target)
        source_digests |= {table.name: digest(source, table) for table in TABLES}
        _make_later(target)
    except _OddRowError as error:
        raise StudyError(f"{place} cannot be copied: {error}; nothing was kept") from error
    backend.set_numbers(target, TABLES, last)
    backend.update_statistics(target, TABLES)
    cells.seal(target)
    digests = {"numbers": str(backend.last_number(target)), **{table.name: digest(target, table) for table in TABLES}}
    if different := [name for name, there in source_digests.items() if digests[name] != there]:
        raise StudyError(f"what was written differs from what {place} has: {', '.join(different)}; nothing was kept")
    return CopyReport(place, n_rows, sha256(ascii(digests).encode()).hexdigest())


def _drop_made_later(target: Connection) -> None:
    """Drop indexes, which are made in far less time when all rows are there, and on a server the references, too."""
    for table in TABLES:
        for index in table.indexes:
            index.drop(target)
        for key in table.foreign_key_constraints if target.dialect.supports_alter else ():
            target.execute(DropConstraint(key))


def _make_later(target: Connection) -> None:
    for table in TABLES:
        for index in table.indexes:
            index.create(target)
        try:
            for key in table.foreign_key_constraints if target.dialect.supports_alter else ():
                target.execute(AddConstraint(key, isolate_from_table=False))
        except IntegrityError as error:
            raise _OddRowError(f"`{table.name}`: {str(error.orig).partition('DETAIL:')[2].strip()}") from error


def _read_blocks(tx: Tx, table: Table) -> Iterator[Sequence[Row[Any]]]:
    """Every row of a table, in the order of its key; raises _OddRowError where SQLite holds no text for one."""
    raw = backends.backend_of(tx).raw_column
    columns = ", ".join(f'{raw(table, column.name, "t")} AS "{column.name}"' for column in table.columns)
    order = ", ".join(f't."{column.name}"' for column in table.primary_key)
    query = sql(f'SELECT {columns} FROM "{table.name}" AS t ORDER BY {order}')
    try:
        yield from tx.execute(query, execution_options=STREAMED).partitions(BLOCK)
    except OperationalError as error:
        if "Could not decode to UTF-8" not in str(error):
            raise
        raise _OddRowError(f"`{table.name}`: it holds bytes that are not a text") from error


def _plain_rows(table: Table, rows: Sequence[Row[Any]]) -> list[tuple[Any, ...]]:
    """Rows with the values that any database has."""
    columns: list[Sequence[Any]] = []
    for of, values in zip(table.columns, zip(*rows, strict=True), strict=True):
        plain = plain_real if isinstance(of.type, Float) else _plain_json if isinstance(of.type, JSON) else None
        columns.append(values if plain is None else [None if value is None else plain(value) for value in values])
    return list(zip(*columns, strict=True))


def _write(target: Tx, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
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
                _write(target, table, [row])
        key = ", ".join(str(rows[0][table.columns.keys().index(one.name)]) for one in table.primary_key)
        raise _OddRowError(f"row {key} of `{table.name}`: {str(error).partition(chr(10))[0]}") from error


def _plain_json(value: str | float) -> str | float:
    """JSON that is but a number is one in SQLite, which would read some of their digits otherwise than they are."""
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            return value
        value = float(value) if set(value) & set(".eE") else int(value)
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**63 else value
