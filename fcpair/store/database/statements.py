"""Statements: those that every answer needs, which the driver runs; lists of numbers in them; and counts.

SQLAlchemy writes a `PreparedStatement` once. It takes several times as long over each as SQLite does, and an answer
needs eleven. A list of numbers is one parameter, however many they are, so that the statement stays the same.
"""

from __future__ import annotations

import json
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, bindparam, func, select
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.elements import ClauseElement
from sqlalchemy.sql.functions import GenericFunction

from fcpair.store.database.backends.protocol import driver
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import POSTGRES

Convert = Callable[[Any], Any]


class PreparedStatement:
    """A statement whose parameters are given by name; what goes in and comes out is what SQLAlchemy would make of it.

    An INSERT names all the `columns` that it is given; nothing else is filled in.
    """

    def __init__(self, statement: ClauseElement, columns: Sequence[str] | None = None) -> None:
        self._statement, self._columns = statement, columns
        self._compiled: dict[str, _Compiled] = {}  # for each database

    def execute(self, tx: Tx, **params: Any) -> int:
        """Execute what returns no rows; returns how many it has touched."""
        return int(self._for(tx).execute(tx, params).rowcount)

    def first(self, tx: Tx, **params: Any) -> Any:
        """The first row, its columns as attributes; None where there is none."""
        compiled = self._for(tx)
        raw_row = compiled.execute(tx, params).fetchone()
        return None if raw_row is None else compiled.row(raw_row)

    def all(self, tx: Tx, **params: Any) -> list[Any]:
        """Every row."""
        compiled = self._for(tx)
        return list(map(compiled.row, compiled.execute(tx, params)))

    def _for(self, tx: Tx) -> _Compiled:
        if (compiled := self._compiled.get(tx.dialect.name)) is None:
            compiled = self._compiled[tx.dialect.name] = _Compiled(self._statement, self._columns, tx.dialect)
        return compiled


class _Compiled:
    """A statement as one database takes it; `row` makes of a row of the driver's one with named columns."""

    def __init__(self, statement: ClauseElement, columns: Sequence[str] | None, dialect: Dialect) -> None:
        compiled: Any = statement.compile(dialect=dialect, column_keys=columns)
        self._names: Sequence[str] = compiled.positiontup
        binds = {name: compiled.binds[name] for name in self._names}
        # What is part of the statement.
        self._fixed = {name: element.effective_value for name, element in binds.items() if not element.required}
        self._going_in = _with_index(
            compiled.binds[name].type.dialect_impl(dialect).bind_processor(dialect) for name in self._names
        )
        self.row: Convert = tuple
        if isinstance(statement, Select):
            selected: list[Any] = list(statement.selected_columns)
            kind: Any = namedtuple("Row", [element.key for element in selected])  # type: ignore[misc]
            coming_out = _with_index(
                element.type.dialect_impl(dialect).result_processor(dialect, None) for element in selected
            )
            self.row = partial(_convert_row, kind, coming_out) if coming_out else kind._make
        self._sql = str(compiled)

    def execute(self, tx: Tx, params: dict[str, Any]) -> Any:
        """The cursor of the driver."""
        bound = self._fixed | params
        values = [bound[name] for name in self._names]
        for at, convert in self._going_in:
            values[at] = convert(values[at])
        return driver(tx).execute(self._sql, values)


def _with_index(converts: Iterable[Convert | None]) -> list[tuple[int, Convert]]:
    return [(at, convert) for at, convert in enumerate(converts) if convert is not None]


def _convert_row(kind: Any, converts: list[tuple[int, Convert]], raw_row: Sequence[Any]) -> Any:
    values = list(raw_row)
    for at, convert in converts:
        values[at] = convert(values[at])
    return kind._make(values)


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
    """Whether a condition holds, such as that a row exists."""
    return bool(tx.execute(select(condition)).scalar_one())
