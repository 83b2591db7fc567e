"""Rows in, frames and arrays out: the ways in which bulk data crosses the store's border."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import CursorResult, Integer, Select, Table

from fcpair.store.database import backends
from fcpair.store.database.store import Tx

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

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
    import pandas as pd

    is_integer = [isinstance(column.type, Integer) for column in query.selected_columns]
    if (
        all(is_integer)
        and not streamed
        and (number_arrays := backends.backend_of(tx).integer_arrays(tx, query)) is not None
    ):
        return pd.DataFrame(number_arrays)
    names = [column.name for column in query.selected_columns]
    parts = [
        pd.DataFrame({name: _as_integers(part[at]) if is_integer[at] else part[at] for at, name in enumerate(names)})
        for part in column_chunks(tx, query, streamed=streamed)
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame({name: [] for name in names}, dtype="int64")


def integer_arrays(tx: Tx, query: Select[Any]) -> dict[str, NDArray[Any]]:
    """The result of a query of whole numbers as arrays that are named as in the query, without loading pandas.

    Where numbers are missing, they are floats, with NaN.
    """
    import numpy as np

    if (arrays := backends.backend_of(tx).integer_arrays(tx, query)) is not None:
        return arrays
    names = [column.name for column in query.selected_columns]
    parts = [[_as_numbers(values) for values in part] for part in column_chunks(tx, query)]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)] or [np.zeros(0, np.int64) for _ in names]
    return dict(zip(names, columns, strict=True))


def _as_numbers(values: list[Any]) -> NDArray[Any]:
    import numpy as np

    return np.array(values, np.float64 if None in values else np.int64)


def column_chunks(tx: Tx, query: Select[Any], *, streamed: bool = False) -> Iterator[list[list[Any]]]:
    """The columns of the result of `query`, CHUNK rows or a few more at a time; `streamed` as in `frame`."""
    result = cast("CursorResult[Any]", tx.execute(query, execution_options=STREAMED if streamed else {}))
    yield from _column_chunks(result if streamed else _row_source(result, query), len(query.selected_columns))
    result.close()


def _as_integers(values: list[Any]) -> Any:
    """Whole numbers as an array, at once; as they are where some are missing."""
    import numpy as np

    return values if None in values else np.fromiter(values, np.int64, len(values))


def _row_source(result: CursorResult[Any], query: Select[Any]) -> Any:
    """Where rows come from: the driver itself, which saves a quarter of the time, if it has them as they are wanted."""
    dialect = result.dialect
    kinds = (column.type.dialect_impl(dialect) for column in query.selected_columns)
    of_driver = (column[1] for column in result.cursor.description)
    converted = (one.result_processor(dialect, code) for one, code in zip(kinds, of_driver, strict=True))
    return result if any(converted) else result.cursor


def _column_chunks(source: Any, n_columns: int) -> Iterator[list[list[Any]]]:
    """The columns of the rows, CHUNK rows or a few more at a time.

    Rows are read a few at a time and let go at once: many that live together set off full garbage collections, which
    take a quarter of the time on a million rows.
    """
    columns: list[list[Any]] = [[] for _ in range(n_columns)]
    while rows := source.fetchmany(READ):
        for column, values in zip(columns, zip(*rows, strict=True), strict=True):
            column.extend(values)
        if len(columns[0]) >= CHUNK:
            yield columns
            columns = [[] for _ in range(n_columns)]
    if columns[0]:
        yield columns
