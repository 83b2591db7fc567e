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
from fcpair.examination_records import CopyReport
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
            _check_extents(tx, source_store.place)
            fill = partial(_copy_rows, tx, place=source_store.place, progress=progress)
            target_store = Store.create(target, lambda into: copied.append(fill(into)), bulk=True, create=create)
            target_store.close()
    finally:
        source_store.close()
    return copied[0]


def _check_extents(tx: Tx, place: str) -> None:
    if torn := table_extents.torn_tables(driver(tx), backends.backend_of(tx).ROWS):
        raise StudyError(f"{place} lacks what was written last: {'; '.join(torn)}; `fcpair doctor` says more")


def _copy_rows(source: Tx, target: Tx, *, place: str, progress: Progress) -> CopyReport:
    count = _ProgressCount(progress, 2 * sum(_n_rows(source, table) for table in TABLES))
    last = backends.lines_of(source).last_numbers(source, NEVER_AGAIN)
    source_digests = _write_all(source, target, place, last, count)
    cells.seal(target)
    target_digests = {
        table.name: _digest_lines(count.count_lines(table, backends.lines_of(target).read(target, table)))
        for table in TABLES
    }
    target_digests[NUMBERS] = _digest_numbers(backends.lines_of(target).last_numbers(target, NEVER_AGAIN))
    if different := [name for name, digest in source_digests.items() if target_digests[name] != digest]:
        raise StudyError(f"what was written differs from what {place} has: {', '.join(different)}; nothing was kept")
    return CopyReport(
        place, count.n_rows, _digest_lines(f"{name} {digest}\n".encode() for name, digest in target_digests.items())
    )


def _write_all(source: Tx, target: Tx, place: str, last: Mapping[str, int], count: _ProgressCount) -> dict[str, str]:
    """Write every table; returns the digest of each, as it was read."""
    reader, writer = backends.lines_of(source), backends.lines_of(target)
    digests = {}
    try:
        prepared = writer.begin(target)
        target.execute(extents.delete())  # a new study notes of each table that it is empty
        for table in TABLES:
            hashed = _HashedLines(count.count_lines(table, reader.read(source, table)))
            writer.write(target, table, hashed, _row_number_column(table))
            digests[table.name] = hashed.digest()
        writer.end(target, prepared)
        writer.set_last_numbers(target, last)
        backends.backend_of(target).update_statistics(target, metadata.sorted_tables)
    except OddRowError as error:
        raise StudyError(
            f"{place} cannot be copied: {_describe_row(error, reader, source)}; nothing was kept"
        ) from error
    return {**digests, NUMBERS: _digest_numbers(last)}


def _row_number_column(table: Table) -> str:
    number = table_extents.TABLES.get(table.name, "id")
    return "" if number == "id" else number


def _describe_row(error: OddRowError, reader: Lines, source: Tx) -> str:
    """Which row a database does not take, and why."""
    row = error.row
    if not row and error.line:
        table = metadata.tables[error.table]
        row = _key_of_line(table, error.line, reader.read(source, table))
    return f"row {row} of `{error.table}`: {error.reason}" if row else f"`{error.table}`: {error.reason}"


def _key_of_line(table: Table, line: int, blocks: Iterable[bytes]) -> str:
    lines = (one for block in blocks for one in block.decode(errors="replace").split("\n")[:-1])
    values = next(islice(lines, line - 1, None), "").split("\t")
    value_by_column = dict(zip((column.name for column in table.columns), values, strict=False))
    return ", ".join(value_by_column.get(column.name, "") for column in table.primary_key.columns)


def _n_rows(tx: Tx, table: Table) -> int:
    return int(tx.execute(select(func.count()).select_from(table)).scalar_one())


class _ProgressCount:
    """Count of the rows of each table that went by and were reported."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0
        self.n_rows: dict[str, int] = {}

    def count_lines(self, table: Table, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Lines of a table, as they come."""
        n = 0
        for block in blocks:
            n += block.count(b"\n")
            self._progress(self._done + n, max(self._total, self._done + n))
            yield block
        self._done += n
        self.n_rows[table.name] = n


class _HashedLines:
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


def _digest_lines(blocks: Iterable[bytes]) -> str:
    hashed = _HashedLines(blocks)
    for _ in hashed:
        pass
    return hashed.digest()


def _digest_numbers(last: Mapping[str, int]) -> str:
    return _digest_lines(f"{name} {number}\n".encode() for name, number in sorted(last.items()))
