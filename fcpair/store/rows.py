"""Rows in and frames out: the two ways in which bulk data crosses the store's border."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import Result, Select, Table

from fcpair.store import backends
from fcpair.store.store import Tx

if TYPE_CHECKING:
    import pandas as pd

CHUNK = 20_000
STREAMED = {"stream_results": True}
"""The options of a statement whose rows are fetched a few at a time, and not all kept."""
READ = 500


def now(later_min: float = 0) -> str:
    """The time, or that of so many minutes later, as the study keeps it: UTC, ISO 8601, to the millisecond."""
    return (datetime.now(UTC) + timedelta(minutes=later_min)).isoformat(timespec="milliseconds")


def insert_rows(tx: Tx, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert all rows, which have the same keys."""
    backends.of(tx).insert(tx, table, rows)


def records(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The rows of a frame as plain Python values, with None for what is missing."""
    names = [str(name) for name in frame.columns]
    columns = (frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in frame.columns)
    return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))


def frame(tx: Tx, query: Select[Any]) -> pd.DataFrame:
    """The result of `query` as a frame whose columns are named as in the query."""
    import pandas as pd

    result = tx.execute(query, execution_options=STREAMED)
    names = list(result.keys())
    parts = [pd.DataFrame(dict(zip(names, part, strict=True))) for part in _columns(result, len(names))]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame({name: [] for name in names}, dtype="int64")


def _columns(result: Result[Any], n_columns: int) -> Iterator[list[list[Any]]]:
    """The columns of the result, CHUNK rows or a few more at a time.

    Rows are read a few at a time and let go at once: many that live together set off full garbage collections, which
    take a quarter of the time on a million rows.
    """
    columns: list[list[Any]] = [[] for _ in range(n_columns)]
    while rows := result.fetchmany(READ):
        for column, values in zip(columns, zip(*rows, strict=True), strict=True):
            column.extend(values)
        if len(columns[0]) >= CHUNK:
            yield columns
            columns = [[] for _ in range(n_columns)]
    if columns[0]:
        yield columns
