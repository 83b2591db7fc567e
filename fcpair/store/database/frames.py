"""Rows in, frames and arrays out: the ways in which bulk data crosses the store's border."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from sqlalchemy import CursorResult, Integer, Select, Table

from fcpair.lazy import NDArray, np, pd
from fcpair.store.database import backends
from fcpair.store.database.store import Tx

CHUNK = 20_000
STREAMED = {"stream_results": True}
"""The options of a statement whose rows are fetched a few at a time, and not all kept: on PostgreSQL by one process.
"""
READ = 500


def insert_rows(tx: Tx, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert all rows, which have the same keys."""
    backends.backend_of(tx).insert(tx, table, rows)


def records(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The rows of a frame as plain Python values, with None for what is missing."""
    names = [str(name) for name in frame.columns]
    columns = (frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in frame.columns)
    return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))


def frame(tx: Tx, query: Select[Any], *, streamed: bool = False) -> pd.DataFrame:
    """The result of `query` as a frame whose columns are named as in the query.

    What may be a whole large grid is `streamed`: on PostgreSQL its rows are never all here besides the frame.
    """
    columns = list(query.selected_columns)
    is_packed = not streamed and all(isinstance(column.type, Integer) for column in columns)
    if is_packed and (arrays := backends.backend_of(tx).integer_arrays(tx, query)) is not None:
        return pd.DataFrame(arrays)
    parts = []
    for part in column_chunks(tx, query, streamed=streamed):
        values_by_name: dict[str, Any] = {}
        for column, values in zip(columns, part, strict=True):  # whole numbers as an array, at once, if none is missing
            is_whole = isinstance(column.type, Integer) and None not in values
            values_by_name[column.name] = np.fromiter(values, np.int64, len(values)) if is_whole else values
        parts.append(pd.DataFrame(values_by_name))
    if not parts:
        return pd.DataFrame({column.name: [] for column in columns}, dtype="int64")
    return pd.concat(parts, ignore_index=True)


def integer_arrays(tx: Tx, query: Select[Any]) -> dict[str, NDArray[Any]]:
    """The result of a query of whole numbers as arrays that are named as in the query, without loading pandas.

    Where numbers are missing, they are floats, with NaN.
    """
    if (arrays := backends.backend_of(tx).integer_arrays(tx, query)) is not None:
        return arrays
    names = [column.name for column in query.selected_columns]
    parts = [
        [np.array(values, np.float64 if None in values else np.int64) for values in part]
        for part in column_chunks(tx, query)
    ]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)] or [np.zeros(0, np.int64) for _ in names]
    return dict(zip(names, columns, strict=True))


def column_chunks(tx: Tx, query: Select[Any], *, streamed: bool = False) -> Iterator[list[list[Any]]]:
    """The columns of the result of `query`, CHUNK rows or a few more at a time; `streamed` as in `frame`.

    Rows are read a few at a time and let go at once: many that live together set off full garbage collections, which
    take a quarter of the time on a million rows. They come from the driver itself, which saves another quarter, if it
    has them as they are wanted.
    """
    result = cast("CursorResult[Any]", tx.execute(query, execution_options=STREAMED if streamed else {}))
    dialect, selected = result.dialect, list(query.selected_columns)
    source: Any = result
    if not streamed:
        kinds = [column.type.dialect_impl(dialect) for column in selected]
        described = zip(kinds, result.cursor.description, strict=True)
        if not any(kind.result_processor(dialect, description[1]) for kind, description in described):
            source = result.cursor
    columns: list[list[Any]] = [[] for _ in selected]
    while rows := source.fetchmany(READ):
        for column, values in zip(columns, zip(*rows, strict=True), strict=True):
            column.extend(values)
        if len(columns[0]) >= CHUNK:
            yield columns
            columns = [[] for _ in selected]
    if columns[0]:
        yield columns
    result.close()
