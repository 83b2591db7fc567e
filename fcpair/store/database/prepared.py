"""Statements that every answer needs: SQLAlchemy writes them once, and the driver runs them.

SQLAlchemy takes several times as long over each as SQLite does, and an answer needs eleven.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Select
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.elements import ClauseElement

from fcpair.store.database.backends.protocol import driver
from fcpair.store.database.store import Tx

Convert = Callable[[Any], Any]


class Ready:
    """A statement whose parameters are given by name; what goes in and comes out is what SQLAlchemy would make of it.

    An INSERT names all the `columns` that it is given; nothing else is filled in.
    """

    def __init__(self, statement: ClauseElement, columns: Sequence[str] | None = None) -> None:
        self._statement, self._columns = statement, columns
        self._made: dict[str, _Made] = {}  # for each database

    def run(self, tx: Tx, **given: Any) -> int:
        """Execute what returns no rows; returns how many it has touched."""
        return int((self._made.get(tx.dialect.name) or self._make(tx)).execute(tx, given).rowcount)

    def first(self, tx: Tx, **given: Any) -> Any:
        """The first row, its columns as attributes; None where there is none."""
        made = self._made.get(tx.dialect.name) or self._make(tx)
        found = made.execute(tx, given).fetchone()
        return None if found is None else made.row(found)

    def all(self, tx: Tx, **given: Any) -> list[Any]:
        """Every row."""
        made = self._made.get(tx.dialect.name) or self._make(tx)
        return list(map(made.row, made.execute(tx, given)))

    def _make(self, tx: Tx) -> _Made:
        made = self._made[tx.dialect.name] = _Made(self._statement, self._columns, tx.dialect)
        return made


class _Made:
    """A statement as one database takes it; `row` makes of a row of the driver's one with named columns."""

    def __init__(self, statement: ClauseElement, columns: Sequence[str] | None, of: Dialect) -> None:
        compiled: Any = statement.compile(dialect=of, column_keys=columns)
        self._names: Sequence[str] = compiled.positiontup
        binds = [compiled.binds[name] for name in self._names]
        named = zip(self._names, binds, strict=True)
        self._fixed = {name: one.effective_value for name, one in named if not one.required}  # part of the statement
        self._going_in = _each(one.type.dialect_impl(of).bind_processor(of) for one in binds)
        self.row: Convert = tuple
        if isinstance(statement, Select):
            wanted: list[Any] = list(statement.selected_columns)
            kind: Any = namedtuple("Row", [one.key for one in wanted])  # type: ignore[misc]
            coming_out = _each(one.type.dialect_impl(of).result_processor(of, None) for one in wanted)
            self.row = partial(_row, kind, coming_out) if coming_out else kind._make
        self._sql = str(compiled)

    def execute(self, tx: Tx, given: dict[str, Any]) -> Any:
        """The cursor of the driver."""
        every = self._fixed | given
        values = [every[name] for name in self._names]
        for at, convert in self._going_in:
            values[at] = convert(values[at])
        return driver(tx).execute(self._sql, values)


def _each(converts: Iterable[Convert | None]) -> list[tuple[int, Convert]]:
    return [(at, convert) for at, convert in enumerate(converts) if convert is not None]


def _row(kind: Any, converts: list[tuple[int, Convert]], found: Sequence[Any]) -> Any:
    values = list(found)
    for at, convert in converts:
        values[at] = convert(values[at])
    return kind._make(values)
