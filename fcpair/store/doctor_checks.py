"""The checks of `fcpair doctor`, as far as rows can tell: whether a study is what fcpair made, and the promises hold.

The promises are rules on people, work, codes and the grid: a rule is a statement that finds the rows which break it in
the whole study, on any database, and what each of these means.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from enum import StrEnum
from shlex import quote
from typing import Any, NamedTuple
from warnings import catch_warnings

from sqlalchemy import ColumnElement, Table, exists, false, func, inspect, or_, select
from sqlalchemy import text as sql
from sqlalchemy.exc import DBAPIError, OperationalError

from fcpair.errors import StudyError
from fcpair.lazy import np
from fcpair.records import BY_HAND, Origin, Role, Rule, Status
from fcpair.store.assignment.assignments import OPTED_OUT, RELEASED, TAKEN_BACK
from fcpair.store.corpus import cells, grids, sides
from fcpair.store.database import backends, checksums, hash_chain, latest_rows, schema
from fcpair.store.database.backends import sqlite
from fcpair.store.database.backends.protocol import driver
from fcpair.store.database.hash_chain import NOBODY, START, Chain, Head
from fcpair.store.database.statements import count
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
    side,
    text,
)

# From 1, with no number left out.
NUMBERED = (text, grid, round_, answer, guideline, person, run, judgement, adjudication, release)


class CheckOutcome(NamedTuple):
    """Number of things that a check rests on, and the faults it found, in a sentence each."""

    n: int
    faults: list[str]
    marks: Sequence[bytes] = ()  # the digests that it went along
    note: str = ""  # what it could not look at, or that a grid was drawn
    advice: str = ""  # what to do, where that depends on the study


def unreadable_reason(store: Store) -> str | None:
    """Message of SQLite on a file that is no database to it, or None; raises StudyError where the place is at fault."""
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


def check_schema(tx: Tx, place: str) -> str:
    """Raise StudyError where this is no study, or one of another schema, unless damaged; returns the revision."""
    revision = ""
    with suppress(DBAPIError), tx.begin_nested():
        if len(set(metadata.tables) - set(inspect(tx).get_table_names())) > len(metadata.tables) / 2:
            schema.check(tx, place)
        if (revision := schema.revision(tx)) in schema.OLDER or revision > schema.HEAD:
            schema.check(tx, place)
    return revision


def pages(tx: Tx) -> CheckOutcome:
    """Every page of the file can be read, and every index is that of its table."""
    return CheckOutcome(backends.backend_of(tx).n_pages(tx), backends.backend_of(tx).faults(tx))


def tables(tx: Tx) -> CheckOutcome:
    """The tables have the columns and indexes that they should have."""
    inspector = inspect(tx)
    names, revision = set(inspector.get_table_names()), schema.revision(tx)
    faults = [] if revision == schema.HEAD else [f"the schema is `{revision}`, and should be `{schema.HEAD}`"]

    def shape(kind: Any, nullable: bool | None) -> tuple[str, bool]:
        return kind.compile(dialect=tx.dialect), bool(nullable)

    for table in metadata.sorted_tables:
        if table.name not in names:
            faults.append(f"the table `{table.name}` is missing")
            continue
        columns = inspector.get_columns(table.name)
        actual = {column["name"]: shape(column["type"], column["nullable"]) for column in columns}
        expected = {column.name: shape(column.type, column.nullable) for column in table.columns}
        with catch_warnings(action="ignore"):  # an index that damage has made into another kind counts as missing
            indexes = {index["name"] for index in inspector.get_indexes(table.name)}
        lacking, others = (name for name in expected if actual.get(name) != expected[name]), actual.keys() - expected
        faults += [f"`{table.name}` lacks the column `{name}`, or has a different one" for name in lacking]
        faults += [f"`{table.name}` has a column `{name}` that is not fcpair's" for name in actual if name in others]
        faults += [f"the index `{index.name}` is missing" for index in table.indexes if index.name not in indexes]
    return CheckOutcome(len(metadata.sorted_tables), faults)


def protection(tx: Tx) -> CheckOutcome:
    """Answers and decisions are append-only, and the grid is sealed once it is made; nothing else acts on a change."""
    names, spans = [table.name for table in APPEND_ONLY], cells.sealed_ranges(tx)
    expected, actual = backends.backend_of(tx).guards(tx, names, spans)
    differing = (name for name, sql in expected.items() if actual.get(name) != sql)
    faults = [f"the trigger `{name}` {'is different' if name in actual else 'is missing'}" for name in differing]
    faults += [f"there is a trigger `{name}` that is not fcpair's" for name in actual if name not in expected]
    return CheckOutcome(len(expected), faults)


def references(tx: Tx) -> CheckOutcome:
    """Whatever a row refers to is there, and what is said to be the newest judgement of an assignment is."""
    # The pairs of the grid are held against its sides instead, which says more.
    referring_tables, faults = [item for item in metadata.sorted_tables if item is not cell and item.foreign_keys], []
    for key in (key for table in referring_tables for key in table.foreign_keys):
        is_there = exists().where(key.column.table.alias().c[key.column.name] == key.parent)
        query = select(next(iter(key.parent.table.primary_key))).where(key.parent.is_not(None), ~is_there)
        to = f"refers to a row of `{key.column.table.name}` that does not exist"
        faults += [f"row {number} of `{key.parent.table.name}` {to}" for number in tx.scalars(query)]
    each = select(judgement.c.assignment_id, func.max(judgement.c.id).label("id")).group_by(judgement.c.assignment_id)
    newest = each.subquery("newest")
    query = select(assignment.c.id, assignment.c.judgement_id, newest.c.id).order_by(assignment.c.id)
    query = query.outerjoin(newest, newest.c.assignment_id == assignment.c.id)
    query = query.where(assignment.c.judgement_id.is_distinct_from(newest.c.id))
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
    ends, faults = dict[int, Head](), list[str]()
    for digest, says in hash_chain.read_rows(tx, of):
        before, fits = ends.get(person_id := says[of.person_at] or NOBODY, START), False
        ends[person_id] = Head(before.n + 1, digest)
        with suppress(TypeError):  # damage can make anything of a value
            fits = hash_chain.link(before.digest, says) == digest
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
    answer, decision = (receipt.c.reply[name].as_integer() for name in ("judgement_id", "decision_id"))
    is_own = (assignment.c.id == judgement.c.assignment_id) & (assignment.c.person_id == receipt.c.person_id)
    has_answer = exists().where(judgement.c.id == answer, is_own)
    has_decision = exists().where(adjudication.c.id == decision, adjudication.c.person_id == receipt.c.person_id)
    faults = []
    for kind, number, is_stored in (("answer", answer, has_answer), ("decision", decision, has_decision)):
        query = select(person.c.name, number).join(person, person.c.id == receipt.c.person_id)
        lost = tx.execute(query.where(number.is_not(None), ~is_stored).order_by(number))
        faults += [f"{kind} {id_} of `{name}` was acknowledged and is missing" for name, id_ in lost]
    if unread := count(tx, receipt, answer.is_(None), decision.is_(None)):
        faults.append(f"{unread:,} receipts name neither an answer nor a decision")
    return CheckOutcome(count(tx, receipt), faults)


def setting_rows(tx: Tx) -> list[tuple[Any, ...]]:
    """Every setting: the name of its grid, its key and its value."""
    query = select(grid.c.name, setting.c.key, setting.c.value).join(grid, grid.c.id == setting.c.grid_id)
    return [tuple(row) for row in tx.execute(query.order_by(grid.c.id, setting.c.key))]


def log_rows(tx: Tx) -> list[tuple[Any, ...]]:
    """Every run with all that is kept of it: its number and its stage first."""
    return [tuple(row) for row in tx.execute(select(*run.c).order_by(run.c.id))]


def _break_rules(tx: Tx, about: Iterable[str], *rules: tuple[str, str]) -> CheckOutcome:
    """Hold rows against rules: of each what a row means that breaks it, by its columns, and a statement that finds such
    rows, in which the column `pair` is a cell's id. `about` has what is counted of them, as one has it after FROM.
    """
    name_pair, faults = grids.pair_namer(tx), list[str]()
    for means, rows in rules:
        for row in tx.execute(sql(rows)).mappings():
            faults.append(means.format(**{**row, **({"pair": name_pair(row["pair"])} if "pair" in row else {})}))
    return CheckOutcome(sum(tx.scalar(sql(f"SELECT count(*) FROM {table}")) for table in about), faults)


def _listed(values: Iterable[str | int]) -> str:
    """A list in a statement: of words that are fcpair's own, or of numbers."""
    return f"({', '.join(repr(entry.value if isinstance(entry, StrEnum) else entry) for entry in values)})"


def checkers(tx: Tx) -> CheckOutcome:
    """Validators of a pair neither labelled nor decided it, and whoever decided it did not label it, in any round."""
    by_hand, pairs = _listed(BY_HAND), "p.name, a.cell_id AS pair"
    checks = f"""assignment AS a JOIN person AS p ON p.id = a.person_id JOIN round AS r ON r.id = a.round_id
    WHERE r.checks IS NOT NULL AND a.status NOT IN {_listed(TAKEN_BACK)}"""
    decisions = f"adjudication AS a JOIN person AS p ON p.id = a.person_id WHERE a.rule IN {by_hand}"
    labelled = """EXISTS (SELECT 1 FROM assignment AS l JOIN judgement AS j ON j.assignment_id = l.id
    JOIN round AS o ON o.id = l.round_id
    WHERE l.cell_id = a.cell_id AND l.person_id = a.person_id AND j.withdraws IS NULL AND o.checks IS NULL)"""
    decided = f"""EXISTS (SELECT 1 FROM adjudication AS d
    WHERE d.cell_id = a.cell_id AND d.person_id = a.person_id AND d.rule IN {by_hand})"""
    return _break_rules(
        tx,
        (checks, decisions),
        ("`{name}` validates {pair}, and labelled it too", f"SELECT {pairs} FROM {checks} AND {labelled}"),
        ("`{name}` validates {pair}, and decided it too", f"SELECT {pairs} FROM {checks} AND {decided}"),
        ("`{name}` decided {pair}, and labelled it too", f"SELECT DISTINCT {pairs} FROM {decisions} AND {labelled}"),
    )


def slots(tx: Tx) -> CheckOutcome:
    """Done assignments have an answer, skipped ones a skip, those open to label none, and nobody has what is free."""
    otherwise = f"""SELECT p.name, a.cell_id AS pair, a.status FROM assignment AS a
    JOIN person AS p ON p.id = a.person_id JOIN round AS r ON r.id = a.round_id
    LEFT JOIN judgement AS j ON j.id = a.judgement_id AND j.withdraws IS NULL
    WHERE a.status = 'done' AND coalesce(j.skipped, true) OR a.status = 'skipped' AND NOT coalesce(j.skipped, false)
    OR a.status = 'open' AND r.counts AND NOT coalesce(j.skipped, true)
    OR a.status NOT IN {_listed((*Status, OPTED_OUT))} ORDER BY a.id"""
    taken = f"""SELECT s.cell_id AS pair FROM slot AS s
    WHERE EXISTS (SELECT 1 FROM assignment AS a WHERE a.id = s.replaces AND a.status NOT IN {_listed(RELEASED)})
    OR EXISTS (SELECT 1 FROM assignment AS a WHERE a.replaces = s.replaces) ORDER BY s.id"""
    return _break_rules(
        tx,
        ("assignment", "slot"),
        ("{pair} of `{name}` is {status}, but its answers say otherwise", otherwise),
        ("a slot of {pair} is free for anybody, but somebody has it", taken),
    )


def codes(tx: Tx, possible: Sequence[int]) -> CheckOutcome:
    """Every answer is one of its round or a skip, which has none; every decision is one of the `possible`, or none."""
    # Who answered blind may be asked in sight: both rounds are of one grid, and both count or neither.
    answers = f"""SELECT j.id FROM judgement AS j JOIN assignment AS a ON a.id = j.assignment_id
    LEFT JOIN round AS asked ON asked.id = a.round_id LEFT JOIN answer AS w ON w.id = j.answer_id
    LEFT JOIN round AS given ON given.id = w.round_id AND given.grid_id = asked.grid_id
    AND given.counts = asked.counts
    WHERE j.skipped <> (j.answer_id IS NULL) OR j.withdraws IS NOT NULL AND NOT j.skipped
    OR j.answer_id IS NOT NULL AND given.id IS NULL OR j.origin NOT IN {_listed(Origin)}"""
    decisions = f"answer_id NOT IN {_listed((-1, *possible))} OR rule NOT IN {_listed(Rule)}"
    return _break_rules(
        tx,
        ("judgement", "adjudication"),
        ("answer {id} is not a possible one", answers),
        ("decision {id} is not a possible one", f"SELECT id FROM adjudication WHERE {decisions}"),
        ("`{name}` has an unknown role", f"SELECT name FROM person WHERE role NOT IN {_listed(Role)}"),
    )


def consents(tx: Tx) -> CheckOutcome:
    """Nobody answered online who had not consented."""
    without = """SELECT p.name, count(*) AS times FROM person AS p JOIN assignment AS a ON a.person_id = p.id
    JOIN judgement AS j ON j.assignment_id = a.id
    WHERE j.origin = 'online' AND p.consented_at IS NULL GROUP BY p.name ORDER BY p.name"""
    means = "`{name}` answered online ({times:,}) and never consented"
    return _break_rules(tx, ("judgement WHERE origin = 'online'",), (means, without))


def whole_grid(tx: Tx, *, keep_known: bool) -> CheckOutcome:
    """The grid is the product of its sides less the pairs of the corpus, each under its number and so only once."""
    rows, columns, first = cells.ranked_texts(tx, "row"), cells.ranked_texts(tx, "column"), grids.cell_range(tx).first
    blocks, name_pair = cells.load_blocks(tx), grids.pair_namer(tx)
    faults, numbered = list[str](), list[ColumnElement[bool]]()
    for part in blocks.rectangles:
        before = first + part.before
        inside = cell.c.id.between(before + 1, before + len(part.rows) * len(part.columns))
        at = cell.c.id - before - 1
        misplaced = (
            select(cell.c.id)
            .outerjoin(rows, rows.c.at == at // len(part.columns) + part.rows.start + 1)
            .outerjoin(columns, columns.c.at == at % len(part.columns) + part.columns.start + 1)
            .where(inside)
            .where(
                rows.c.text_id.is_distinct_from(cell.c.row_id) | columns.c.text_id.is_distinct_from(cell.c.column_id)
            )
        )
        faults += [f"{name_pair(cell_id)} is not the one of its place in the grid" for cell_id in tx.scalars(misplaced)]
        numbered.append(inside)
    beyond = tx.scalars(select(cell.c.id).where(grids.cell_range(tx).holds(cell.c.id), ~or_(false(), *numbered)))
    faults += [f"{name_pair(cell_id)} is not the one of its place in the grid" for cell_id in beyond]
    n, n_known = cells.n_cells(tx), 0 if keep_known else len(cells.corpus_pairs(tx)["hs_id"])
    expected = blocks.shapes[-1][0] * blocks.shapes[-1][1] - n_known
    if n and n != expected:
        faults.append(f"the grid has {n:,} pairs, where it should have {expected:,}")
    return CheckOutcome(n, faults)


def drawn_grid(tx: Tx, n_drawn: int, sha256: str, *, keep_known: bool) -> CheckOutcome:
    """The cells of a grid are those that were drawn, each at its place and so only once, and none is of the corpus."""
    grid_cells, name_pair = cells.cells(tx), grids.pair_namer(tx)
    places, cell_id = cells.places_of(tx, grid_cells), grid_cells["cell_id"].to_numpy()
    corpus_places = cells.places_of(tx, cells.corpus_pairs(tx))[: 0 if keep_known else None]
    misplaced = (places < 0) | (np.diff(places, prepend=-1) <= 0)
    if cells.is_numbered_by_place(tx):
        misplaced |= cells.ids_at(tx, places) != cell_id
    of_corpus = np.isin(places, corpus_places)
    faults = [
        *(f"{name_pair(pair_id)} is not the one of its place in the grid" for pair_id in cell_id[misplaced].tolist()),
        *(f"{name_pair(pair_id)} is in the corpus" for pair_id in cell_id[of_corpus & ~misplaced].tolist()),
    ]
    if len(grid_cells) != n_drawn:
        faults.append(f"the grid has {len(grid_cells):,} pairs, where {n_drawn:,} were drawn")
    elif not faults and cells.digest(tx) != sha256:
        faults.append("the pairs of the grid are not those that were drawn")
    return CheckOutcome(len(grid_cells), faults)


def published_grid(tx: Tx) -> CheckOutcome:
    """Each pair of a grid that came from a file, or compares texts, is one of the two sides, and there once."""
    rows, columns = (select(side.c.text_id).where(sides.on_side(tx, axis)) for axis in ("row", "column"))
    inside, name_pair = grids.cell_range(tx).holds(cell.c.id), grids.pair_namer(tx)
    lost = select(cell.c.id).where(inside, cell.c.row_id.not_in(rows) | cell.c.column_id.not_in(columns))
    second_ids = select(func.max(cell.c.id)).where(inside).group_by(cell.c.row_id, cell.c.column_id)
    faults = [
        *(f"{name_pair(cell_id)} does not belong to the sides of the grid" for cell_id in tx.scalars(lost)),
        *(f"{name_pair(cell_id)} is duplicated" for cell_id in tx.scalars(second_ids.having(func.count() > 1))),
    ]
    return CheckOutcome(cells.n_cells(tx), faults)
