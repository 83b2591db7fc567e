"""Statements that every answer needs: SQLAlchemy writes them once, and the driver runs them.

SQLAlchemy takes several times as long over each as SQLite does, and an answer needs eleven.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import Select
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.elements import ClauseElement

from fcpair.store.backends.protocol import driver
from fcpair.store.store import Tx

Convert = Callable[[Any], Any]


class Ready:
    """A statement whose parameters are given by name; what goes in and comes out is what SQLAlchemy would make of it.

    An INSERT names all the `columns` that it is given; nothing else is filled in.
    """

    def __init__(self, statement: ClauseElement, columns: Sequence[str] | None = None) -> None:
        self._statement, self._columns = statement, columns
        self._sql = ""
        self._names: Sequence[str] = ()
        self._fixed: dict[str, Any] = {}  # parameters that are part of the statement
        self._row: Callable[..., Any] = tuple
        self._going_in: dict[int, Convert] = {}
        self._coming_out: dict[int, Convert] = {}

    def run(self, tx: Tx, **given: Any) -> int:
        """Execute what returns no rows; returns how many it has touched."""
        return int(self._execute(tx, given).rowcount)

    def first(self, tx: Tx, **given: Any) -> Any:
        """The first row, its columns as attributes; None where there is none."""
        found = self._execute(tx, given).fetchone()
        return None if found is None else self._row(*_converted(found, self._coming_out))

    def all(self, tx: Tx, **given: Any) -> list[Any]:
        """Every row."""
        return [self._row(*_converted(row, self._coming_out)) for row in self._execute(tx, given)]

    def _execute(self, tx: Tx, given: dict[str, Any]) -> Any:
        if not self._sql:
            self._make(tx.dialect)
        every = self._fixed | given
        return driver(tx).execute(self._sql, _converted([every[name] for name in self._names], self._going_in))

    def _make(self, of: Dialect) -> None:
        compiled: Any = self._statement.compile(dialect=of, column_keys=self._columns)
        self._names = compiled.positiontup
        binds = [compiled.binds[name] for name in self._names]
        named = zip(self._names, binds, strict=True)
        self._fixed = {name: one.effective_value for name, one in named if not one.required}
        self._going_in = _each(one.type.dialect_impl(of).bind_processor(of) for one in binds)
        if isinstance(self._statement, Select):
            columns: list[Any] = list(self._statement.selected_columns)
            self._row = namedtuple("Row", [one.key for one in columns])  # type: ignore[misc]
            self._coming_out = _each(one.type.dialect_impl(of).result_processor(of, None) for one in columns)
        self._sql = str(compiled)


def _each(converts: Iterable[Convert | None]) -> dict[int, Convert]:
    return {at: convert for at, convert in enumerate(converts) if convert is not None}


def _converted(values: Sequence[Any], converts: dict[int, Convert]) -> Sequence[Any]:
    if not converts:
        return values
    changed = list(values)
    for at, convert in converts.items():
        changed[at] = convert(changed[at])
    return changed
