"""Whether a study is what fcpair made: what was changed, lost or added behind its back, as far as rows can tell."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from shlex import quote
from typing import Any, NamedTuple
from warnings import catch_warnings

from sqlalchemy import Table, exists, func, inspect, select
from sqlalchemy.exc import DBAPIError, OperationalError

from fcpair.errors import StudyError
from fcpair.store.corpus import cells, grids
from fcpair.store.database import backends, checksums, hash_chain, latest_rows, schema
from fcpair.store.database.backends import sqlite
from fcpair.store.database.backends.protocol import driver
from fcpair.store.database.hash_chain import NOBODY, START, Chain, Head
from fcpair.store.database.store import Store, Tx
from fcpair.store.database.tables import (
    APPEND_ONLY,
    adjudication,
    answer,
    assignment,
    cell,
    grid,
    guideline,
    judgement,
    metadata,
    person,
    receipt,
    release,
    round_,
    run,
    setting,
    text,
)

NUMBERED = (
    text,
    grid,
    round_,
    answer,
    guideline,
    person,
    run,
    judgement,
    adjudication,
    release,
)  # from 1, with no number left out


class CheckOutcome(NamedTuple):
    """Number of things that a check rests on, and the faults it found, in a sentence each.

    `marks` are the digests that it went along, `note` says what it could not look at, or that a grid was drawn, and
    `advice` what to do, where that depends on the study.
    """

    n: int
    faults: list[str]
    marks: Sequence[bytes] = ()
    note: str = ""
    advice: str = ""


def unreadable_reason(store: Store) -> str | None:
    """Message of SQLite on a file that it cannot take for a database at all; None where it can.

    Raises StudyError where the place, not the file, is at fault.
    """
    try:
        with store.read() as tx:
            backends.backend_of(tx).n_pages(tx)
    except StudyError as error:
        cause = error.__cause__
        if isinstance(cause, OperationalError) and sqlite.NEEDS_UNDOING in str(cause.orig):
            raise StudyError(
                f"a command was interrupted in {store.place}; `fcpair status --study {quote(store.place)}` undoes "
                "what it had begun, and then this can be checked"
            ) from error
        if isinstance(cause, OperationalError):
            raise
        return str(getattr(cause, "orig", "the list of its tables is damaged"))
    return None


def is_in_file(tx: Tx) -> bool:
    """Whether the study is in a file, and not in a database of a server."""
    return tx.dialect.name == "sqlite"


def savepoint(tx: Tx) -> AbstractContextManager[object]:
    """Let a check that fails leave the transaction as it was."""
    return tx.begin_nested()


def check_schema(tx: Tx, place: str) -> None:
    """Raise StudyError where this is no study, or one of another schema; a damaged one is neither."""
    try:
        missing = set(metadata.tables) - set(inspect(tx).get_table_names())
        revision_ = schema.HEAD if len(missing) > len(metadata.tables) / 2 else schema.revision(tx)
    except DBAPIError:
        return
    if len(missing) > len(metadata.tables) / 2 or revision_ in schema.OLDER or revision_ > schema.HEAD:
        schema.check(tx, place)


def revision(tx: Tx) -> str:
    """The revision of the tables; empty where damage hides it."""
    with suppress(DBAPIError), savepoint(tx):
        return schema.revision(tx)
    return ""


def pages(tx: Tx) -> CheckOutcome:
    """Every page of the file can be read, and every index is that of its table."""
    return CheckOutcome(backends.backend_of(tx).n_pages(tx), backends.backend_of(tx).faults(tx))


def tables(tx: Tx) -> CheckOutcome:
    """The tables have the columns and indexes that they should have."""
    inspector = inspect(tx)
    names = set(inspector.get_table_names())
    schema_revision = schema.revision(tx)
    faults = (
        [] if schema_revision == schema.HEAD else [f"the schema is `{schema_revision}`, and should be `{schema.HEAD}`"]
    )
    for table in metadata.sorted_tables:
        if table.name not in names:
            faults.append(f"the table `{table.name}` is missing")
            continue
        columns = inspector.get_columns(table.name)
        actual = {column["name"]: _column_shape(tx, column["type"], column["nullable"]) for column in columns}
        expected = {column.name: _column_shape(tx, column.type, column.nullable) for column in table.columns}
        faults += [
            f"`{table.name}` lacks the column `{name}`, or has a different one"
            for name in expected
            if actual.get(name) != expected[name]
        ]
        faults += [
            f"`{table.name}` has a column `{name}` that is not fcpair's" for name in actual if name not in expected
        ]
        with catch_warnings(action="ignore"):  # an index that damage has made into another kind counts as missing
            indexes = {one["name"] for one in inspector.get_indexes(table.name)}
        faults += [f"the index `{one.name}` is missing" for one in table.indexes if one.name not in indexes]
    return CheckOutcome(len(metadata.sorted_tables), faults)


def _column_shape(tx: Tx, kind: Any, nullable: bool | None) -> tuple[str, bool]:
    return kind.compile(dialect=tx.dialect), bool(nullable)


def protection(tx: Tx) -> CheckOutcome:
    """Answers and decisions are append-only, and the grid is sealed once it is made; nothing else acts on a change."""
    expected = backends.backend_of(tx).expected_guards([table.name for table in APPEND_ONLY], cells.sealed_ranges(tx))
    actual = backends.backend_of(tx).actual_guards(tx)
    faults = [
        f"the trigger `{name}` {'is different' if name in actual else 'is missing'}"
        for name, sql in expected.items()
        if actual.get(name) != sql
    ]
    faults += [f"there is a trigger `{name}` that is not fcpair's" for name in actual if name not in expected]
    return CheckOutcome(len(expected), faults)


def references(tx: Tx) -> CheckOutcome:
    """Whatever a row refers to is there, and what is said to be the newest judgement of an assignment is.

    The pairs of the grid are held against its sides instead, which says more.
    """
    referring_tables = [table for table in metadata.sorted_tables if table is not cell and table.foreign_keys]
    faults = []
    for table in referring_tables:
        for key in table.foreign_keys:
            other = key.column.table.alias()
            is_there = exists().where(other.c[key.column.name] == key.parent)
            query = select(next(iter(table.primary_key))).where(key.parent.is_not(None), ~is_there)
            to = f"refers to a row of `{key.column.table.name}` that does not exist"
            faults += [f"row {number} of `{table.name}` {to}" for number in tx.execute(query).scalars()]
    each = select(judgement.c.assignment_id, func.max(judgement.c.id).label("id")).group_by(judgement.c.assignment_id)
    newest = each.subquery("newest")
    query = (
        select(assignment.c.id, assignment.c.judgement_id, newest.c.id)
        .outerjoin(newest, newest.c.assignment_id == assignment.c.id)
        .where(assignment.c.judgement_id.is_distinct_from(newest.c.id))
        .order_by(assignment.c.id)
    )
    faults += [
        f"row {number} of `assignment` says that its newest judgement is {said or 'none'}, but it is {found or 'none'}"
        for number, said, found in tx.execute(query)
    ]
    return CheckOutcome(len(referring_tables), faults)


def numbering(tx: Tx) -> CheckOutcome:
    """Rows that are never deleted are numbered from 1, and no number is missing; no other is given out twice."""
    n, faults = 0, []
    last = tx.execute(latest_rows.select_newest_id(assignment)).scalar_one()
    if last > backends.backend_of(tx).last_number(tx):
        faults.append(f"`assignment` has number {last}, and the database would use it again")
    for table in NUMBERED:
        n_rows, first, last = tx.execute(select(func.count(), func.min(table.c.id), func.max(table.c.id))).one()
        n += n_rows
        if n_rows and (first, last) != (1, n_rows):
            faults.append(f"`{table.name}` has {n_rows:,} rows, numbered from {first} to {last}")
    return CheckOutcome(n, faults)


def extents(tx: Tx) -> CheckOutcome:
    """The tables that only grow have as many rows as were written, and no gap."""
    return CheckOutcome(len(schema.GROWING), schema.torn_tables(driver(tx)))


def chain_links(tx: Tx, of: Chain) -> CheckOutcome:
    """Each answer or decision fits the one before it of the same person, and the newest is the one that was noted."""
    names = {row.id: f"`{row.name}`" for row in tx.execute(select(person.c.id, person.c.name))}
    names[NOBODY] = "rules and files"
    name_pair, cell_at = grids.pair_namer(tx), (*of.says, *of.of_cell).index("cell_id")
    ends: dict[int, Head] = {}
    faults = []
    for digest, says in hash_chain.read_rows(tx, of):
        person_id = says[of.person_at] or NOBODY
        before = ends.get(person_id, START)
        ends[person_id] = Head(before.n + 1, digest)
        try:
            fits = hash_chain.link(before.digest, says) == digest
        except TypeError:  # damage can make anything of a value
            fits = False
        if not fits:
            whose = names.get(person_id, f"person {person_id}")
            faults.append(
                f"{of.kind} {before.n + 1:,} of {whose} (row {says[0]}, {name_pair(says[cell_at])}) does not fit the "
                "one before it: one of them was changed, moved or deleted"
            )
    noted_heads = hash_chain.heads(tx, of)
    for person_id in sorted({*ends, *noted_heads}, key=str):
        end, noted = ends.get(person_id, START), noted_heads.get(person_id, START)
        whose = names.get(person_id, f"person {person_id}")
        if end.n != noted.n:
            faults.append(f"{of.kind}s of {whose}: {end.n:,} stored, {noted.n:,} given")
        elif end != noted:
            faults.append(f"the newest {of.kind} of {whose} is not the one that was recorded")
    marks = [end.digest for _, end in sorted(ends.items(), key=str)]
    return CheckOutcome(sum(end.n for end in ends.values()), faults, marks)


def row_checksums(tx: Tx, *tables: Table) -> CheckOutcome:
    """Each row of what answers rest on fits its checksum."""
    misfits = [(table.name, *checksums.misfits(tx, table)) for table in tables]
    faults = [f"{name} {number} was changed" for name, _, wrong, _ in misfits for number in wrong]
    return CheckOutcome(sum(n for _, n, _, _ in misfits), faults, [mark for *_, marks in misfits for mark in marks])


def receipts(tx: Tx) -> CheckOutcome:
    """Whatever was acknowledged online is there: the answer or the decision, and it is that person's."""
    n = int(tx.execute(select(func.count()).select_from(receipt)).scalar_one())
    answer = receipt.c.reply["judgement_id"].as_integer()
    decision = receipt.c.reply["decision_id"].as_integer()
    has_answer = (
        exists()
        .where(judgement.c.id == answer, assignment.c.id == judgement.c.assignment_id)
        .where(assignment.c.person_id == receipt.c.person_id)
    )
    has_decision = exists().where(adjudication.c.id == decision, adjudication.c.person_id == receipt.c.person_id)
    kinds = (("answer", answer, has_answer), ("decision", decision, has_decision))
    faults = []
    for kind, number, is_stored in kinds:
        query = select(person.c.name, number).join(person, person.c.id == receipt.c.person_id)
        lost = tx.execute(query.where(number.is_not(None), ~is_stored).order_by(number))
        faults += [f"{kind} {row[1]} of `{row[0]}` was acknowledged and is missing" for row in lost]
    neither = select(func.count()).select_from(receipt).where(answer.is_(None), decision.is_(None))
    if unread := int(tx.execute(neither).scalar_one()):
        faults.append(f"{unread:,} receipts name neither an answer nor a decision")
    return CheckOutcome(n, faults)


def setting_rows(tx: Tx) -> list[tuple[Any, ...]]:
    """Every setting: the name of its grid, its key and its value."""
    query = select(grid.c.name, setting.c.key, setting.c.value).join(grid, grid.c.id == setting.c.grid_id)
    return [tuple(row) for row in tx.execute(query.order_by(grid.c.id, setting.c.key))]


def log_rows(tx: Tx) -> list[tuple[Any, ...]]:
    """Every run with all that is kept of it: its number and its stage first."""
    return [tuple(row) for row in tx.execute(select(*run.c).order_by(run.c.id))]
