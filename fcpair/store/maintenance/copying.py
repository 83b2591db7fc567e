"""Copying a whole study into another database: all rows of one moment, and a digest of each table on both sides.

Rows go over as lines that do not depend on the database (backends/table_dump.py), and the digests are of those lines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice

from sqlalchemy import Table, func, select

from fcpair.errors import StudyError
from fcpair.records import Copied
from fcpair.store.corpus import cells
from fcpair.store.database import backends, table_extents
from fcpair.store.database.backends import Place
from fcpair.store.database.backends.protocol import Lines, OddRowError, driver
from fcpair.store.database.store import Store, Tx
from fcpair.store.database.tables import NEVER_AGAIN, metadata
from fcpair.store.database.tables import extent as extents

Progress = Callable[[int, int], None]
TABLES = tuple(metadata.sorted_tables)  # what is referred to comes first
NUMBERS = "numbers"


def copy(source: Place, target: Place, progress: Progress, *, create: bool = False) -> Copied:
    """Copy the study at `source` to `target`, where none may be; the source may be served meanwhile.

    A database that a server does not have is made only to `create` it.

    `progress` is called with how many rows were copied or compared, of how many. Raises StudyError, and leaves nothing
    at the target, where the source is damaged, where the target cannot hold it, or where what was written is another.
    """
    before = Store.open(source)
    made: list[Copied] = []
    try:
        before.examine()
        with before.read() as tx:
            _check_extents(tx, before.place)
            fill = partial(_fill, tx, place=before.place, progress=progress)
            after = Store.create(target, lambda into: made.append(fill(into)), bulk=True, create=create)
            after.close()
    finally:
        before.close()
    return made[0]


def _check_extents(tx: Tx, place: str) -> None:
    if found := table_extents.differences(driver(tx), backends.of(tx).ROWS):
        raise StudyError(f"{place} lacks what was written last: {'; '.join(found)}; `fcpair doctor` says more")


def _fill(source: Tx, target: Tx, *, place: str, progress: Progress) -> Copied:
    count = _Count(progress, 2 * sum(_n_rows(source, table) for table in TABLES))
    last = backends.lines_of(source).last_numbers(source, NEVER_AGAIN)
    taken = _write_all(source, target, place, last, count)
    cells.seal(target)
    there = {table.name: _digest(count.each(table, backends.lines_of(target).read(target, table))) for table in TABLES}
    there[NUMBERS] = _of_numbers(backends.lines_of(target).last_numbers(target, NEVER_AGAIN))
    if different := [name for name, digest in taken.items() if there[name] != digest]:
        raise StudyError(f"what was written is not what {place} has: {', '.join(different)}; nothing was kept")
    return Copied(place, count.n_rows, _digest(f"{name} {digest}\n".encode() for name, digest in there.items()))


def _write_all(source: Tx, target: Tx, place: str, last: Mapping[str, int], count: _Count) -> dict[str, str]:
    """Write every table; returns the digest of each, as it was read."""
    reader, writer = backends.lines_of(source), backends.lines_of(target)
    taken = {}
    try:
        begun = writer.begin(target)
        target.execute(extents.delete())  # a new study notes of each table that it is empty
        for table in TABLES:
            hashed = _Hashed(count.each(table, reader.read(source, table)))
            writer.write(target, table, hashed, _number(table))
            taken[table.name] = hashed.digest()
        writer.end(target, begun)
        writer.set_last_numbers(target, last)
        backends.of(target).take_stock(target, metadata.sorted_tables)
    except OddRowError as error:
        raise StudyError(f"{place} cannot be copied: {_named(error, reader, source)}; nothing was kept") from error
    return {**taken, NUMBERS: _of_numbers(last)}


def _number(table: Table) -> str:
    number = table_extents.TABLES.get(table.name, "id")
    return "" if number == "id" else number


def _named(error: OddRowError, reader: Lines, source: Tx) -> str:
    """Which row a database does not take, and why."""
    row = error.row
    if not row and error.line:
        table = metadata.tables[error.table]
        row = _key_of_line(table, error.line, reader.read(source, table))
    return f"row {row} of `{error.table}`: {error.said}" if row else f"`{error.table}`: {error.said}"


def _key_of_line(table: Table, line: int, blocks: Iterable[bytes]) -> str:
    lines = (one for block in blocks for one in block.decode(errors="replace").split("\n")[:-1])
    values = next(islice(lines, line - 1, None), "").split("\t")
    named = dict(zip((column.name for column in table.columns), values, strict=False))
    return ", ".join(named.get(column.name, "") for column in table.primary_key.columns)


def _n_rows(tx: Tx, table: Table) -> int:
    return int(tx.execute(select(func.count()).select_from(table)).scalar_one())


class _Count:
    """How many rows of each table went by, and were told."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0
        self.n_rows: dict[str, int] = {}

    def each(self, table: Table, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Lines of a table, as they come."""
        n = 0
        for block in blocks:
            n += block.count(b"\n")
            self._progress(self._done + n, max(self._total, self._done + n))
            yield block
        self._done += n
        self.n_rows[table.name] = n


class _Hashed:
    """Lines, and the digest of those that went by."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks, self._sum = blocks, hashlib.sha256()

    def __iter__(self) -> Iterator[bytes]:
        for block in self._blocks:
            self._sum.update(block)
            yield block

    def digest(self) -> str:
        """Of all lines so far."""
        return self._sum.hexdigest()


def _digest(blocks: Iterable[bytes]) -> str:
    hashed = _Hashed(blocks)
    for _ in hashed:
        pass
    return hashed.digest()


def _of_numbers(last: Mapping[str, int]) -> str:
    return _digest(f"{name} {number}\n".encode() for name, number in sorted(last.items()))
