"""Statements: rows in, frames and arrays out; those that every answer needs; lists of numbers in them; and counts.

SQLAlchemy writes a `PreparedStatement` once. It takes several times as long over each as SQLite does, and an answer
needs eleven. A list of numbers is one parameter, however many they are, so that the statement stays the same.
"""

from __future__ import annotations

import json
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from sqlalchemy import ColumnElement, CursorResult, FromClause, Integer, Select, Table, bindparam, func, select, true
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.elements import ClauseElement
from sqlalchemy.sql.functions import GenericFunction

from fcpair.lazy import NDArray, np, pd
from fcpair.store.database import backends
from fcpair.store.database.backends.protocol import driver
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import POSTGRES

Convert = Callable[[Any], Any]
Ids = Iterable[int] | None  # None: whichever there are


class PreparedStatement:
    """A statement whose parameters are given by name, with SQLAlchemy's values. An INSERT names all `columns`."""

    def __init__(self, statement: ClauseElement, columns: Sequence[str] | None = None) -> None:
        self._statement, self._columns = statement, columns
        self._compiled: dict[str, _Compiled] = {}  # for each database

    def execute(self, tx: Tx, **params: Any) -> Any:
        """Execute it; returns the cursor of the driver, whose `rowcount` says how many rows were touched."""
        if (compiled := self._compiled.get(tx.dialect.name)) is None:
            compiled = self._compiled[tx.dialect.name] = _Compiled(self._statement, self._columns, tx.dialect)
        bound = compiled.fixed | params
        values = [bound[name] for name in compiled.names]
        for at, convert in compiled.going_in:
            values[at] = convert(values[at])
        return driver(tx).execute(compiled.sql, values)

    def first(self, tx: Tx, **params: Any) -> Any:
        """The first row, its columns as attributes; None if there is none."""
        raw_row = self.execute(tx, **params).fetchone()
        return None if raw_row is None else self._compiled[tx.dialect.name].row(raw_row)

    def all(self, tx: Tx, **params: Any) -> list[Any]:
        """Every row."""
        raw_rows = self.execute(tx, **params)
        return list(map(self._compiled[tx.dialect.name].row, raw_rows))


class _Compiled:
    """A statement as one database takes it; `row` makes of a row of the driver's one with named columns."""

    def __init__(self, statement: ClauseElement, columns: Sequence[str] | None, dialect: Dialect) -> None:
        compiled: Any = statement.compile(dialect=dialect, column_keys=columns)
        self.names: Sequence[str] = compiled.positiontup
        binds = {name: compiled.binds[name] for name in self.names}
        # What is part of the statement.
        self.fixed = {name: element.effective_value for name, element in binds.items() if not element.required}
        going_in = (compiled.binds[name].type.dialect_impl(dialect).bind_processor(dialect) for name in self.names)
        self.going_in = [(at, convert) for at, convert in enumerate(going_in) if convert is not None]
        self.row: Convert = tuple
        if isinstance(statement, Select):
            selected: list[Any] = list(statement.selected_columns)
            kind: Any = namedtuple("Row", [element.key for element in selected])  # type: ignore[misc]
            coming_out = (element.type.dialect_impl(dialect).result_processor(dialect, None) for element in selected)
            converts = [(at, convert) for at, convert in enumerate(coming_out) if convert is not None]

            def convert_row(raw_row: Sequence[Any]) -> Any:
                values = list(raw_row)
                for at, convert in converts:
                    values[at] = convert(values[at])
                return kind._make(values)

            self.row = convert_row if converts else kind._make
        self.sql = str(compiled)


@contextmanager
def tentative(tx: Tx, *, is_kept: bool) -> Iterator[None]:
    """Keep what is written meanwhile, or undo it, in the same time."""
    execute = driver(tx).execute
    execute("SAVEPOINT before")
    yield
    execute("SAVEPOINT after")
    execute(f"ROLLBACK TO SAVEPOINT {'after' if is_kept else 'before'}")
    execute("RELEASE SAVEPOINT before")


class _JsonEach(GenericFunction[Any]):
    """The numbers of a list that is written as JSON, a row each."""

    name = "json_each"
    inherit_cache = True


@compiles(_JsonEach, POSTGRES)
def _json_each_in_postgres(element: Any, compiler: Any, **kw: Any) -> str:
    array = f"CAST(translate({compiler.process(element.clauses, **kw)}, '[]', '{{}}') AS bigint[])"
    return f"(SELECT unnest({array}) AS value)"


def as_subquery(values: Iterable[int]) -> Select[tuple[Any]]:
    """A list of numbers as a subquery, whatever its length: one parameter instead of one for each."""
    return select(_JsonEach(as_param(values)).table_valued("value").c.value)


def among(column: ColumnElement[Any], values: Ids) -> ColumnElement[bool]:
    """Return whether a column has one of these numbers, or any number where none are named."""
    return true() if values is None else column.in_(as_subquery(values))


def param_subquery(name: str) -> Select[tuple[Any]]:
    """The same for a statement that is made once: the list is the parameter of this name, written by `as_param`."""
    return select(_JsonEach(bindparam(name)).table_valued("value").c.value)


def as_param(values: Iterable[int]) -> str:
    """A list of numbers as the parameter of `param_subquery`."""
    return json.dumps(list(values))


def count(tx: Tx, rows: FromClause, *conditions: ColumnElement[bool]) -> int:
    """Count the rows of a table, or of several that are joined, that meet these conditions."""
    return int(tx.execute(select(func.count()).select_from(rows).where(*conditions)).scalar_one())


def is_true(tx: Tx, condition: ColumnElement[bool]) -> bool:
    """Return whether a condition holds, such as that a row exists."""
    return bool(tx.execute(select(condition)).scalar_one())


CHUNK = 20_000
STREAMED = {"stream_results": True}  # options of a statement whose rows are fetched a few at a time, and not all kept


def insert_rows(tx: Tx, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert all rows, which have the same keys."""
    backends.backend_of(tx).insert(tx, table, rows)


def records(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The rows of a frame as plain Python values, with None for what is missing."""
    names = [str(name) for name in frame.columns]
    columns = (frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in frame.columns)
    return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))


def frame(tx: Tx, query: Select[Any], *, streamed: bool = False) -> pd.DataFrame:
    """The result of `query` as a frame; that of a large grid is `streamed`: its rows are never all here besides it."""
    columns = list(query.selected_columns)
    is_packed = not streamed and all(isinstance(column.type, Integer) for column in columns)
    if is_packed and (arrays := backends.backend_of(tx).integer_arrays(tx, query)) is not None:
        return pd.DataFrame(arrays)

    def convert(column: ColumnElement[Any], values: list[Any]) -> Any:  # whole numbers, if none is missing, at once
        is_whole = isinstance(column.type, Integer) and None not in values
        return np.fromiter(values, np.int64, len(values)) if is_whole else values

    parts = [
        pd.DataFrame({column.name: convert(column, values) for column, values in zip(columns, part, strict=True)})
        for part in column_chunks(tx, query, streamed=streamed)
    ]
    if not parts:
        return pd.DataFrame(columns=[column.name for column in columns], dtype="int64")
    return pd.concat(parts, ignore_index=True)


def integer_arrays(tx: Tx, query: Select[Any]) -> dict[str, NDArray[Any]]:
    """The result of a query of whole numbers as arrays, without pandas; where any is missing, floats, with NaN."""
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
    """The columns of the result of `query`, CHUNK rows or a few more at a time; `streamed` as in `frame`."""
    # Rows are read a few at a time and let go at once: many that live together set off full garbage collections, which
    # take a quarter of the time on a million rows. They come from the driver itself, which saves another quarter, if it
    # has them as they are wanted.
    result = cast("CursorResult[Any]", tx.execute(query, execution_options=STREAMED if streamed else {}))
    dialect, selected = result.dialect, list(query.selected_columns)
    source: Any = result
    if not streamed:
        kinds = [column.type.dialect_impl(dialect) for column in selected]
        described = zip(kinds, result.cursor.description, strict=True)
        if not any(kind.result_processor(dialect, description[1]) for kind, description in described):
            source = result.cursor
    columns: list[list[Any]] = [[] for _ in selected]
    while rows := source.fetchmany(500):
        for column, values in zip(columns, zip(*rows, strict=True), strict=True):
            column.extend(values)
        if len(columns[0]) >= CHUNK:
            yield columns
            columns = [[] for _ in selected]
    if columns[0]:
        yield columns
    result.close()
