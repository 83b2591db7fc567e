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


class Found(NamedTuple):
    """How many things a check rests on, and what it found, in a sentence each.

    `marks` are the digests that it went along, `note` says what it could not look at, or that a grid was drawn, and
    `advice` what to do, where that depends on the study.
    """

    n: int
    faults: list[str]
    marks: Sequence[bytes] = ()
    note: str = ""
    advice: str = ""


def unreadable(store: Store) -> str | None:
    """What SQLite says of a file that it cannot take for a database at all; None where it can.

    Raises StudyError where the place, not the file, is at fault.
    """
    try:
        with store.read() as tx:
            backends.of(tx).n_pages(tx)
    except StudyError as error:
        cause = error.__cause__
        if isinstance(cause, OperationalError) and sqlite.NEEDS_UNDOING in str(cause.orig):
            raise StudyError(
                f"a command was stopped half way in {store.place}; `fcpair status --study {quote(store.place)}` undoes "
                "what it had begun, and then this can be looked at"
            ) from error
        if isinstance(cause, OperationalError):
            raise
        return str(getattr(cause, "orig", "the list of its tables is damaged"))
    return None


def is_in_file(tx: Tx) -> bool:
    """Whether the study is in a file, and not in a database of a server."""
    return tx.dialect.name == "sqlite"


def apart(tx: Tx) -> AbstractContextManager[object]:
    """Let a check that fails leave the transaction as it was."""
    return backends.of(tx).apart(tx)


def check_schema(tx: Tx, place: str) -> None:
    """Raise StudyError where this is no study, or one of another schema; a damaged one is neither."""
    try:
        missing = set(metadata.tables) - set(inspect(tx).get_table_names())
        is_other = len(missing) > len(metadata.tables) / 2 or _is_other(schema.revision(tx))
    except DBAPIError:
        return
    if is_other:
        schema.check(tx, place)


def revision(tx: Tx) -> str:
    """The revision of the tables; empty where damage hides it."""
    with suppress(DBAPIError), apart(tx):
        return schema.revision(tx)
    return ""


def _is_other(revision: str) -> bool:
    return revision in schema.OLDER or revision > schema.HEAD


def pages(tx: Tx) -> Found:
    """Every page of the file can be read, and every index is that of its table."""
    return Found(backends.of(tx).n_pages(tx), backends.of(tx).faults(tx))


def tables(tx: Tx) -> Found:
    """The tables have the columns and indexes that they should have."""
    there = inspect(tx)
    names = set(there.get_table_names())
    found_at = schema.revision(tx)
    faults = [] if found_at == schema.HEAD else [f"the schema is `{found_at}`, and should be `{schema.HEAD}`"]
    for table in metadata.sorted_tables:
        if table.name not in names:
            faults.append(f"the table `{table.name}` is missing")
            continue
        columns = there.get_columns(table.name)
        found = {column["name"]: _shape(tx, column["type"], column["nullable"]) for column in columns}
        wanted = {column.name: _shape(tx, column.type, column.nullable) for column in table.columns}
        faults += [
            f"`{table.name}` should have the column `{name}` and has not, or it is another"
            for name in wanted
            if found.get(name) != wanted[name]
        ]
        faults += [f"`{table.name}` has a column `{name}` that is not fcpair's" for name in found if name not in wanted]
        with catch_warnings(
            action="ignore"
        ):  # of an index that damage has made into another kind: it counts as missing
            indexes = {one["name"] for one in there.get_indexes(table.name)}
        faults += [f"the index `{one.name}` is missing" for one in table.indexes if one.name not in indexes]
    return Found(len(metadata.sorted_tables), faults)


def _shape(tx: Tx, kind: Any, nullable: bool | None) -> tuple[str, bool]:
    return kind.compile(dialect=tx.dialect), bool(nullable)


def protection(tx: Tx) -> Found:
    """Answers and decisions are append-only, and the grid is sealed once it is made; nothing else acts on a change."""
    wanted = backends.of(tx).guards([table.name for table in APPEND_ONLY], cells.sealed(tx))
    there = backends.of(tx).guarding(tx)
    faults = [
        f"the trigger `{name}` {'is another one' if name in there else 'is missing'}"
        for name, sql in wanted.items()
        if there.get(name) != sql
    ]
    faults += [f"there is a trigger `{name}` that is not fcpair's" for name in there if name not in wanted]
    return Found(len(wanted), faults)


def references(tx: Tx) -> Found:
    """Whatever a row refers to is there, and what is said to be the newest judgement of an assignment is.

    The pairs of the grid are held against its sides instead, which says more.
    """
    of = [table for table in metadata.sorted_tables if table is not cell and table.foreign_keys]
    faults = [
        f"row {number} of `{table.name}` refers to a row of `{missing}` that is not there"
        for table in of
        for number, missing in backends.of(tx).dangling(tx, table)
    ]
    return Found(len(of), faults + _not_newest(tx))


def _not_newest(tx: Tx) -> list[str]:
    each = select(judgement.c.assignment_id, func.max(judgement.c.id).label("id")).group_by(judgement.c.assignment_id)
    newest = each.subquery("newest")
    query = (
        select(assignment.c.id, assignment.c.judgement_id, newest.c.id)
        .outerjoin(newest, newest.c.assignment_id == assignment.c.id)
        .where(assignment.c.judgement_id.is_distinct_from(newest.c.id))
        .order_by(assignment.c.id)
    )
    return [
        f"row {number} of `assignment` says that its newest judgement is {said}, and that is {found}"
        for number, *both in tx.execute(query)
        for said, found in [("none" if one is None else one for one in both)]
    ]


def numbering(tx: Tx) -> Found:
    """Rows that are never deleted are numbered from 1, and no number is left out; no other is given out twice."""
    n, faults = 0, []
    given = backends.lines_of(tx).last_numbers(tx, NEVER_AGAIN)
    for table in NEVER_AGAIN:
        if (last := tx.execute(select(func.max(table.c.id))).scalar_one() or 0) > given.get(table.name, 0):
            faults.append(f"`{table.name}` has number {last}, and the database would give it out again")
    for table in NUMBERED:
        there, first, last = tx.execute(select(func.count(), func.min(table.c.id), func.max(table.c.id))).one()
        n += there
        if there and (first, last) != (1, there):
            faults.append(f"`{table.name}` has {there:,} rows, numbered from {first} to {last}")
    return Found(n, faults)


def extents(tx: Tx) -> Found:
    """The tables that only grow go as far as they did with the last write."""
    return Found(len(table_extents.TABLES), table_extents.differences(driver(tx), backends.of(tx).ROWS))


def linked(tx: Tx, of: Chain) -> Found:
    """Each answer or decision fits the one before it of the same person, and the newest is the one that was noted."""
    names, called = _names(tx), grids.pair_names(tx)
    ends: dict[int, Head] = {}
    faults = []
    for digest, says in hash_chain.read(tx, of):
        whose = says[of.person_at] or NOBODY
        before = ends.get(whose, START)
        ends[whose] = Head(before.n + 1, digest)
        if not _fits(before.digest, says, digest):
            faults.append(_misfit(of, says, names.get(whose, f"person {whose}"), before.n + 1, called))
    noted = hash_chain.heads(tx, of)
    for whose in sorted({*ends, *noted}, key=str):
        faults += _at_the_end(of, names.get(whose, f"person {whose}"), ends.get(whose, START), noted.get(whose, START))
    return Found(sum(end.n for end in ends.values()), faults, [end.digest for _, end in sorted(ends.items(), key=str)])


def _names(tx: Tx) -> dict[int, str]:
    rows = tx.execute(select(person.c.id, person.c.name))
    return {row.id: f"`{row.name}`" for row in rows} | {NOBODY: "rules and files"}


def _fits(before: Any, says: tuple[Any, ...], digest: Any) -> bool:
    try:
        return bool(hash_chain.link(before, says) == digest)
    except TypeError:  # damage can make anything of a value
        return False


def _misfit(of: Chain, says: tuple[Any, ...], whose: str, at: int, called: Callable[[Any], str]) -> str:
    cell_id = dict(zip((*of.says, *of.of_cell), says, strict=True))["cell_id"]
    return (
        f"{of.kind} {at:,} of {whose} (row {says[0]}, {called(cell_id)}) does not fit: it or the one before it was "
        "changed, put elsewhere or deleted"
    )


def _at_the_end(of: Chain, whose: str, end: Head, noted: Head) -> list[str]:
    if end.n != noted.n:
        return [f"{of.kind}s of {whose} that are there: {end.n:,}; that were given: {noted.n:,}"]
    return [] if end == noted else [f"the newest {of.kind} of {whose} is not the one that was noted"]


def unchanged(tx: Tx, *tables: Table) -> Found:
    """Each row of what answers rest on fits its checksum."""
    found = [(table.name, *checksums.misfits(tx, table)) for table in tables]
    faults = [f"{name} {number} was changed" for name, _, wrong, _ in found for number in wrong]
    return Found(sum(n for _, n, _, _ in found), faults, [mark for *_, marks in found for mark in marks])


def receipts(tx: Tx) -> Found:
    """Whatever was acknowledged online is there: the answer or the decision, and it is that person's."""
    n = int(tx.execute(select(func.count()).select_from(receipt)).scalar_one())
    answer = receipt.c.reply["judgement_id"].as_integer()
    decision = receipt.c.reply["decision_id"].as_integer()
    given = (
        exists()
        .where(judgement.c.id == answer, assignment.c.id == judgement.c.assignment_id)
        .where(assignment.c.person_id == receipt.c.person_id)
    )
    made = exists().where(adjudication.c.id == decision, adjudication.c.person_id == receipt.c.person_id)
    named = (("answer", answer, given), ("decision", decision, made))
    faults = []
    for kind, number, there in named:
        query = select(person.c.name, number).join(person, person.c.id == receipt.c.person_id)
        lost = tx.execute(query.where(number.is_not(None), ~there).order_by(number))
        faults += [f"{kind} {row[1]} of `{row[0]}` was acknowledged and is not there" for row in lost]
    neither = select(func.count()).select_from(receipt).where(answer.is_(None), decision.is_(None))
    if unread := int(tx.execute(neither).scalar_one()):
        faults.append(f"{unread:,} receipts name neither an answer nor a decision")
    return Found(n, faults)
