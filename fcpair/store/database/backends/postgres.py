"""Operations that are PostgreSQL's own; the server is reached by `postgres_server.py`.

Each is here for a promise or a figure that SQLAlchemy alone would not keep. Locks on the study, on numbers and on the
rows that somebody decides about let many people answer at once without a gap in the numbers and without two of them
having the same slot (`benchmarks teams`). COPY, a grid that is filled without looking each reference up, statistics
right after that, and numbers that the server packs keep five million judgements in bounds (`benchmarks five_million`
and `grid_server`). Triggers refuse what the design says that the database itself refuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any

import psycopg
from psycopg import errors
from psycopg.types.json import Json
from sqlalchemy import JSON, Boolean, Connection, Select, Table
from sqlalchemy.exc import DBAPIError

from fcpair.blocks import Rectangle
from fcpair.lazy import NDArray, np
from fcpair.store.database.backends.protocol import BUSY, SEAL, SEALED, UNREACHABLE, Backend, Spans, driver, refusal

STUDY, NUMBERS = 0x66637061, 0x66637062  # advisory locks of whoever writes, shared or alone, and of who numbers rows
_MISSING = -(2**63)
_REFUSE = "fcpair_refuse"
_REFUSES = "BEGIN RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation'; END"
# The references hold by construction; looking each of them up would take many times as long as writing the cells.
_CELL_REFERENCES = {"fk_cell_row_id_text": "row_id", "fk_cell_column_id_text": "column_id"}
# From one series of numbers: a join of both sides may go down the columns first, and then numbers come in no order.
_FILL = """
INSERT INTO cell (id, row_id, column_id)
SELECT %(before)s + k + 1, r.ids[%(first_row)s + k / %(n_columns)s + 1],
  c.ids[%(first_column)s + k %% %(n_columns)s + 1]
FROM (SELECT array_agg(text_id ORDER BY position) AS ids
  FROM side WHERE grid_id = %(grid)s AND axis = 'row' AND drawn) AS r
CROSS JOIN (SELECT array_agg(text_id ORDER BY position) AS ids
  FROM side WHERE grid_id = %(grid)s AND axis = 'column' AND drawn) AS c
CROSS JOIN generate_series(0, %(n_rows)s::bigint * %(n_columns)s - 1) AS k
"""
_READ_ONLY = "the server takes no changes (it is read-only, or a standby); name the one that does"
_FORBIDDEN = "this user may not do that in the database; name its owner in the URL, or have the rights granted"
_REMEDIES: tuple[tuple[type[psycopg.Error], str], ...] = (
    (errors.LockNotAvailable, BUSY),
    (errors.DeadlockDetected, BUSY),
    (errors.SerializationFailure, BUSY),
    (errors.DuplicateTable, "it has tables already; choose another database, or use that study"),
    (errors.DiskFull, "the server's disk is full; make room and try again"),
    (errors.ReadOnlySqlTransaction, _READ_ONLY),
    (errors.InsufficientPrivilege, _FORBIDDEN),
    (errors.DataCorrupted, "the database is damaged; restore it from a backup"),
    (errors.IndexCorrupted, "an index of the database is damaged; `REINDEX DATABASE` rebuilds it"),
)


def _copy_statement(table: Table, names: Iterable[str]) -> str:
    return f"COPY {_quoted((table.name,))} ({_quoted(names)}) FROM STDIN"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _plain_value(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


class _Postgres(Backend):
    ERRORS = (psycopg.Error, DBAPIError)
    MANY_WRITE = True
    SCHEMA = "SELECT quote_ident(current_schema())"
    GUARDS = """
SELECT tgname, pg_get_triggerdef(t.oid, true) || CASE tgenabled WHEN 'O' THEN '' ELSE ' [' || tgenabled::text || ']' END
FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
WHERE NOT tgisinternal AND c.relnamespace = current_schema()::regnamespace
UNION ALL SELECT proname, prosrc FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
"""
    REFUSAL = MappingProxyType({_REFUSE: _REFUSES})
    MAKE_REFUSAL = (f"CREATE OR REPLACE FUNCTION {_REFUSE}() RETURNS trigger LANGUAGE plpgsql AS $${_REFUSES}$$",)
    DROP_SEAL = f"DROP TRIGGER IF EXISTS {SEAL} ON cell"
    N_PAGES = "SELECT pg_database_size(current_database()) / current_setting('block_size')::bigint"

    def begin(self, conn: Connection, *, write: bool, alone: bool, patience_s: float) -> None:
        # Readers see the study as it was when they began. Writers share an advisory lock, or have it alone; what they
        # see follows what others commit, so whatever they decide about they hold first.
        conn.begin()
        raw_connection = driver(conn)
        if not write:
            raw_connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            return
        lock = "pg_advisory_xact_lock" if alone else "pg_advisory_xact_lock_shared"
        raw_connection.execute(f"SET LOCAL lock_timeout = {max(1, int(1000 * patience_s))}; SELECT {lock}({STUDY})")

    def hold_rows(self, conn: Connection, table: Table, numbers: Sequence[int]) -> None:
        # In their order, so that no two can wait for each other.
        locked = f'SELECT 1 FROM "{table.name}" WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE'
        driver(conn).execute(locked, (list(numbers),))

    def hold_numbers(self, conn: Connection) -> None:
        # One for all tables: of several, somebody would take the second before the first.
        driver(conn).execute(f"SELECT pg_advisory_xact_lock({NUMBERS})")

    def update_statistics(self, conn: Connection, tables: Sequence[Table]) -> None:
        # Which the server does by itself a minute later; until then, it takes every table for a small one.
        driver(conn).execute(f"ANALYZE {_quoted(table.name for table in tables)}")

    def insert(self, conn: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
        # By COPY, which takes a small part of the time of INSERT.
        remaining = iter(rows)
        while chunk := list(islice(remaining, 50_000)):
            converters = {
                name: Json if isinstance(kind, JSON) else bool if isinstance(kind, Boolean) else _plain_value
                for name, kind in ((name, table.c[name].type) for name in chunk[0])
            }
            with driver(conn).cursor().copy(_copy_statement(table, converters)) as copy:
                for row in chunk:
                    values = ((row[name], convert) for name, convert in converters.items())
                    copy.write_row([None if value is None else convert(value) for value, convert in values])

    def integer_arrays(self, conn: Connection, query: Select[Any]) -> dict[str, NDArray[Any]]:
        # Each column is one value, which the server packs: Python then makes no object of any number. What comes of a
        # sorted subquery is packed in its order, see PostgreSQL's chapter on aggregate functions.
        compiled = query.compile(dialect=conn.dialect).construct_expanded_state()
        processors, given = compiled.processors, compiled.parameters
        params = [processors.get(name, _plain_value)(given[name]) for name in compiled.positiontup or ()]
        names = [column.name for column in query.selected_columns]
        packed = ", ".join(f"string_agg(int8send(coalesce(c{at}, {_MISSING})::bigint), '')" for at in range(len(names)))
        whole = f"SELECT {packed} FROM ({compiled.statement}) AS q ({', '.join(f'c{at}' for at in range(len(names)))})"
        row = driver(conn).execute(whole, params, binary=True).fetchone()
        arrays = (np.frombuffer(cell or b"", ">i8").astype(np.int64) for cell in row)
        return {
            name: np.where(is_missing, np.nan, values) if (is_missing := values == _MISSING).any() else values
            for name, values in zip(names, arrays, strict=True)
        }

    def fill_grid(self, conn: Connection, grid: int, first: int, part: Rectangle) -> int:
        # The rows of both sides are there, so references need not be looked up, and none can be added afterwards.
        raw_connection = driver(conn)
        for name in _CELL_REFERENCES:
            raw_connection.execute(f"ALTER TABLE cell DROP CONSTRAINT IF EXISTS {name}")
        n = raw_connection.execute(_FILL, {"grid": grid, **part.as_params(first)}).rowcount
        for name, column in _CELL_REFERENCES.items():
            reference = f"FOREIGN KEY ({column}) REFERENCES text (id) NOT VALID"
            raw_connection.execute(f"ALTER TABLE cell ADD CONSTRAINT {name} {reference}")
        return int(n)

    def append_only_triggers(self, table: str) -> dict[str, str]:
        refuse = f"EXECUTE FUNCTION {_REFUSE}('{refusal(table)}')"
        each = {"update": "ROW", "delete": "ROW", "truncate": "STATEMENT"}
        when = {act: f"BEFORE {act.upper()} ON {table} FOR EACH {what} {refuse}" for act, what in each.items()}
        return {f"{table}_no_{act}": f"CREATE TRIGGER {table}_no_{act} {sql}" for act, sql in when.items()}

    def seal_trigger(self, spans: Spans) -> str:
        # Numbers are as PostgreSQL writes them in what it shows of a trigger.
        written = ([str(at) if at < 2**31 else f"'{at}'::bigint" for at in span] for span in spans)
        inside = " OR ".join(f"new.id >= {first} AND new.id <= {last}" for first, last in written)
        refuse = f"EXECUTE FUNCTION {_REFUSE}('{SEALED}')"
        return f"CREATE TRIGGER {SEAL} BEFORE INSERT ON cell FOR EACH ROW WHEN ({inside}) {refuse}"

    def raw_column(self, table: Table, column: str, of: str) -> str:
        # Whether something is so is a number, and JSON the text that it was written as.
        kind, named = table.c[column].type, f'{of}."{column}"'
        if isinstance(kind, JSON):
            return f"CAST({named} AS text)"
        return f"CAST({named} AS integer)" if isinstance(kind, Boolean) else named

    def faults(self, conn: Connection) -> list[str]:
        query = "SELECT checksum_failures FROM pg_stat_database WHERE datname = current_database()"
        (failed,) = driver(conn).execute(query).fetchone()
        return [f"PostgreSQL has found {failed:,} damaged pages in this database"] if failed else []

    def write_rows(self, conn: Connection, table: Table, rows: Sequence[Sequence[Any]]) -> None:
        with driver(conn).cursor().copy(_copy_statement(table, table.columns.keys())) as copy:
            for row in rows:
                copy.write_row(row)

    def last_number(self, conn: Connection) -> int:
        sequence = "pg_get_serial_sequence('assignment', 'id')::regclass"
        return int(driver(conn).execute(f"SELECT coalesce(pg_sequence_last_value({sequence}), 0)").fetchone()[0])

    def set_numbers(self, conn: Connection, tables: Sequence[Table], last: int) -> None:
        for table in tables:
            if "id" in table.columns:
                number = f"greatest(max(id), {last if table.name == 'assignment' else 0})"
                rows = f'SELECT {number} AS n FROM "{table.name}"'
                sequence = f"pg_get_serial_sequence('{table.name}', 'id')::regclass"
                driver(conn).execute(f"SELECT setval({sequence}, n) FROM ({rows}) AS q WHERE n > 0")

    def remedy(self, error: Exception) -> str | None:
        original = getattr(error, "orig", error)
        # `errors.QueryCanceled` is what the server makes of a statement that somebody ends, and stays as it is.
        is_lost = isinstance(original, psycopg.OperationalError) and not isinstance(original, errors.QueryCanceled)
        remedies = (remedy for kind, remedy in _REMEDIES if isinstance(original, kind))
        return next(remedies, UNREACHABLE if is_lost else None)


POSTGRES = _Postgres()
