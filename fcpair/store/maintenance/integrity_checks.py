"""Whether a study is what fcpair made: what was changed, lost or added behind its back, as far as rows can tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from shlex import quote
from typing import Any, NamedTuple
from warnings import catch_warnings

from sqlalchemy import Table, exists, func, inspect, select
from sqlalchemy.exc import DBAPIError, OperationalError

from fcpair.errors import StudyError
from fcpair.store.corpus import cells, grids
from fcpair.store.database import backends, checksums, hash_chain, schema, table_extents
from fcpair.store.database.backends import sqlite
from fcpair.store.database.backends.protocol import driver
from fcpair.store.database.hash_chain import NOBODY, START, Chain, Head
from fcpair.store.database.store import Store, Tx
from fcpair.store.database.tables import (
    APPEND_ONLY,
    NEVER_AGAIN,
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
    return backends.backend_of(tx).savepoint(tx)


def check_schema(tx: Tx, place: str) -> None:
    """Raise StudyError where this is no study, or one of another schema; a damaged one is neither."""
    try:
        missing = set(metadata.tables) - set(inspect(tx).get_table_names())
        is_other = len(missing) > len(metadata.tables) / 2 or _is_other_revision(schema.revision(tx))
    except DBAPIError:
        return
    if is_other:
        schema.check(tx, place)


def revision(tx: Tx) -> str:
    """The revision of the tables; empty where damage hides it."""
    with suppress(DBAPIError), savepoint(tx):
        return schema.revision(tx)
    return ""


def _is_other_revision(revision: str) -> bool:
    return revision in schema.OLDER or revision > schema.HEAD


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
        with catch_warnings(
            action="ignore"
        ):  # of an index that damage has made into another kind: it counts as missing
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
    faults = [
        f"row {number} of `{table.name}` refers to a row of `{missing}` that does not exist"
        for table in referring_tables
        for number, missing in backends.backend_of(tx).dangling_references(tx, table)
    ]
    return CheckOutcome(len(referring_tables), faults + _wrong_newest(tx))


def _wrong_newest(tx: Tx) -> list[str]:
    each = select(judgement.c.assignment_id, func.max(judgement.c.id).label("id")).group_by(judgement.c.assignment_id)
    newest = each.subquery("newest")
    query = (
        select(assignment.c.id, assignment.c.judgement_id, newest.c.id)
        .outerjoin(newest, newest.c.assignment_id == assignment.c.id)
        .where(assignment.c.judgement_id.is_distinct_from(newest.c.id))
        .order_by(assignment.c.id)
    )
    return [
        f"row {number} of `assignment` says that its newest judgement is {said}, but it is {found}"
        for number, *both in tx.execute(query)
        for said, found in [("none" if one is None else one for one in both)]
    ]


def numbering(tx: Tx) -> CheckOutcome:
    """Rows that are never deleted are numbered from 1, and no number is missing; no other is given out twice."""
    n, faults = 0, []
    last_numbers = backends.lines_of(tx).last_numbers(tx, NEVER_AGAIN)
    for table in NEVER_AGAIN:
        if (last := tx.execute(select(func.max(table.c.id))).scalar_one() or 0) > last_numbers.get(table.name, 0):
            faults.append(f"`{table.name}` has number {last}, and the database would use it again")
    for table in NUMBERED:
        n_rows, first, last = tx.execute(select(func.count(), func.min(table.c.id), func.max(table.c.id))).one()
        n += n_rows
        if n_rows and (first, last) != (1, n_rows):
            faults.append(f"`{table.name}` has {n_rows:,} rows, numbered from {first} to {last}")
    return CheckOutcome(n, faults)


def extents(tx: Tx) -> CheckOutcome:
    """The tables that only grow go as far as they did with the last write."""
    return CheckOutcome(len(table_extents.TABLES), table_extents.torn_tables(driver(tx), backends.backend_of(tx).ROWS))


def chain_links(tx: Tx, of: Chain) -> CheckOutcome:
    """Each answer or decision fits the one before it of the same person, and the newest is the one that was noted."""
    names, name_pair = _person_names(tx), grids.pair_namer(tx)
    ends: dict[int, Head] = {}
    faults = []
    for digest, says in hash_chain.read_rows(tx, of):
        person_id = says[of.person_at] or NOBODY
        before = ends.get(person_id, START)
        ends[person_id] = Head(before.n + 1, digest)
        if not _fits(before.digest, says, digest):
            faults.append(
                _describe_misfit(of, says, names.get(person_id, f"person {person_id}"), before.n + 1, name_pair)
            )
    noted_heads = hash_chain.heads(tx, of)
    for person_id in sorted({*ends, *noted_heads}, key=str):
        faults += _chain_end_faults(
            of,
            names.get(person_id, f"person {person_id}"),
            ends.get(person_id, START),
            noted_heads.get(person_id, START),
        )
    return CheckOutcome(
        sum(end.n for end in ends.values()), faults, [end.digest for _, end in sorted(ends.items(), key=str)]
    )


def _person_names(tx: Tx) -> dict[int, str]:
    rows = tx.execute(select(person.c.id, person.c.name))
    return {row.id: f"`{row.name}`" for row in rows} | {NOBODY: "rules and files"}


def _fits(before: Any, says: tuple[Any, ...], digest: Any) -> bool:
    try:
        return bool(hash_chain.link(before, says) == digest)
    except TypeError:  # damage can make anything of a value
        return False


def _describe_misfit(of: Chain, says: tuple[Any, ...], whose: str, at: int, name_pair: Callable[[Any], str]) -> str:
    cell_id = dict(zip((*of.says, *of.of_cell), says, strict=True))["cell_id"]
    return (
        f"{of.kind} {at:,} of {whose} (row {says[0]}, {name_pair(cell_id)}) does not fit the one before it: one of "
        "them was changed, moved or deleted"
    )


def _chain_end_faults(of: Chain, whose: str, end: Head, noted: Head) -> list[str]:
    if end.n != noted.n:
        return [f"{of.kind}s of {whose}: {end.n:,} stored, {noted.n:,} given"]
    return [] if end == noted else [f"the newest {of.kind} of {whose} is not the one that was recorded"]


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
