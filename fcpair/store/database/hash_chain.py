"""The chains of answers and of decisions: each row has a digest that rests on the one before it, of the same person.

It is the SHA-256 of the digest before (32 zero bytes before the first) and, as JSON, of all that the row says and of
the cell that it is about, and of when it was given where it came later. So a row that is changed, deleted or given to
somebody else behind fcpair's back does not fit any more, or the one after it does not. How many rows a chain has and
its newest digest are kept beside it, which finds the last ones when they are gone. Decisions by rules, and by files
that name nobody, are the chain of NOBODY.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from math import isnan
from typing import Any, NamedTuple

from sqlalchemy import Integer, Select, Table, cast, insert, select, text

from fcpair.store.database import backends, latest_rows
from fcpair.store.database.statements import CHUNK, STREAMED, PreparedStatement, as_param, insert_rows, param_subquery
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import adjudication, assignment, cell, chain, judgement, round_

FIRST = bytes(32)
NOBODY = 0
_as_json = json.JSONEncoder(separators=(",", ":")).encode  # in ASCII, and the same in every Python


def link(before: bytes, says: Sequence[Any]) -> bytes:
    """Digest of a row that says this, after a row with the digest `before`."""
    return hashlib.sha256(before + _as_json(says).encode("ascii")).digest()


def plain_real(value: float) -> float | None:
    """A number as any database gives it back: no minus before a zero, and nothing for what is no number."""
    return None if isnan(value) else float(value) + 0.0


@dataclass(frozen=True)
class Chain:
    """A table whose rows are chained: what of a row is in its digest, and how its cell is found."""

    kind: str
    table: Table
    says: Mapping[str, Callable[[Any], Any] | None]  # columns, and what makes of a value that which comes back, if any
    of_cell: tuple[str, ...]  # what is known of the cell besides: `cells` finds it by `place`, `rows` reads it all
    place: str
    cells: Select[Any]
    rows: str
    late: str | None  # a column of schema 0013: at the end of what a row says, where it has a value

    def late_value(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """What a row says at its end: nothing where it came at once, so that older digests hold."""
        return () if self.late is None or row.get(self.late) is None else (row[self.late],)

    @cached_property
    def person_at(self) -> int:
        """Place of the person in a digest."""
        return (*self.says, *self.of_cell).index("person_id")


_COUNTS = cast(round_.c.counts, Integer)  # a number in a digest
# A column that some later schema adds to these tables stays out of `says`, or all digests would have to be made anew;
# one that is mostly empty can be `late`.
ANSWERS = Chain(
    "answer",
    judgement,
    {
        **{"id": int, "assignment_id": int, "skipped": int, "answer_id": int, "adjudication_id": int},
        **{"origin": None, "seconds": plain_real, "note": None, "at": None},
        **{"guideline_id": int, "run_id": int, "withdraws": int},
    },
    ("person_id", "cell_id", "counts", "row_id", "column_id"),
    "assignment_id",
    select(*assignment.c["id", "person_id", "cell_id"], _COUNTS.label("counts"), *cell.c["row_id", "column_id"])
    .join(cell, cell.c.id == assignment.c.cell_id)
    .join(round_, round_.c.id == assignment.c.round_id)
    .where(assignment.c.id.in_(param_subquery("places"))),
    "SELECT row.digest, {says}, a.person_id, a.cell_id, {counts}, c.row_id, c.column_id{late} FROM judgement AS row "
    "LEFT JOIN assignment AS a ON a.id = row.assignment_id LEFT JOIN round AS r ON r.id = a.round_id "
    "LEFT JOIN cell AS c ON c.id = a.cell_id "
    "WHERE row.id > :after ORDER BY row.id LIMIT :n",
    "answered_at",
)
DECISIONS = Chain(
    "decision",
    adjudication,
    {
        **{"id": int, "cell_id": int, "rule": None, "answer_id": int, "person_id": int, "note": None},
        **{"at": None, "flagged": int, "seen_judgement": int},
    },
    ("row_id", "column_id"),
    "cell_id",
    select(*cell.c["id", "row_id", "column_id"]).where(cell.c.id.in_(param_subquery("places"))),
    "SELECT row.digest, {says}, c.row_id, c.column_id{late} FROM adjudication AS row "
    "LEFT JOIN cell AS c ON c.id = row.cell_id WHERE row.id > :after ORDER BY row.id LIMIT :n",
    "decided_at",
)


class Head(NamedTuple):
    """End of a chain: how many rows it has, and the digest of the newest."""

    n: int
    digest: bytes


START = Head(0, FIRST)


def heads(tx: Tx, of: Chain) -> dict[int, Head]:
    """End of each person's chain, by person; NOBODY's too."""
    query = select(*chain.c["person_id", "n", "head"]).where(chain.c.kind == of.kind)
    return {row.person_id: Head(row.n, row.head) for row in tx.execute(query)}


def add(tx: Tx, of: Chain, rows: Iterable[Mapping[str, Any]]) -> int:
    """Add rows, all with the same keys and without `id` and `digest`, in their order; returns the newest number."""
    remaining, ends, number = iter(rows), dict[int, Head](), latest_rows.newest_number(tx, of.table)
    while part := list(islice(remaining, 2_000)):  # of more, the garbage collector takes its share
        ends = ends or heads(tx, of)
        linked = [{**row, "id": at} for at, row in enumerate(part, number + 1)]
        places = as_param(sorted({int(row[of.place]) for row in linked}))
        cells = {row[0]: tuple(row[1:]) for row in tx.execute(of.cells, {"places": places})}
        nowhere = (None,) * len(of.of_cell)  # the database refuses the row
        columns = (  # converted one at a time, which is faster
            [value if (value := row.get(name)) is None or convert is None else convert(value) for row in linked]
            for name, convert in of.says.items()
        )
        for row, says in zip(linked, zip(*columns, strict=True), strict=True):
            row["digest"] = extend_chain(of, says + cells.get(row[of.place], nowhere) + of.late_value(row), ends).digest
        insert_rows(tx, of.table, linked)
        number += len(linked)
    _store_heads(tx, of, ends)
    return number


def extend_chain(of: Chain, says: Sequence[Any], ends: dict[int, Head]) -> Head:
    """Put a row at the end of its chain; returns where that is now."""
    end = ends.get(person_id := says[of.person_at] or NOBODY, START)
    ends[person_id] = Head(end.n + 1, link(end.digest, says))
    return ends[person_id]


def _store_heads(tx: Tx, of: Chain, ends: Mapping[int, Head]) -> None:
    stored = heads(tx, of)
    for person_id, end in ends.items():
        if end != stored.get(person_id):
            _STORE_HEAD.execute(tx, kind=of.kind, person=person_id, n=end.n, head=end.digest)


_ADD_HEAD = (
    "INSERT INTO chain (kind, person_id, n, head) VALUES (:kind, :person, :n, :head) "
    "ON CONFLICT (kind, person_id) DO UPDATE SET"
)
_STORE_HEAD = PreparedStatement(text(f"{_ADD_HEAD} n = excluded.n, head = excluded.head"))
_COUNT_ONE = PreparedStatement(text(f"{_ADD_HEAD} n = chain.n + 1"))


def count_one(tx: Tx, kind: str) -> None:
    """Note that a row was added to a table that has no chain; see schema.py."""
    _COUNT_ONE.execute(tx, kind=kind, person=NOBODY, n=1, head=b"")


_ADD_ONE = PreparedStatement(insert(judgement), [*ANSWERS.says, "answered_at", "digest"])
PLACE = (
    _COUNTS.label("counted"),
    *cell.c["row_id", "column_id"],
    latest_rows.select_newest_id(judgement).scalar_subquery().label("newest"),
    chain.c.n.label("n_before"),
    chain.c.head.label("digest_before"),
)
"""Columns of an assignment joined with its round that `add_answer` needs, beside `person_id` and `cell_id`."""


def with_place(query: Select[Any]) -> Select[Any]:
    """A query of assignments, joined with what PLACE is of."""
    end = (chain.c.person_id == assignment.c.person_id) & (chain.c.kind == ANSWERS.kind)
    return query.join(cell, cell.c.id == assignment.c.cell_id).outerjoin(chain, end)


def add_answer(tx: Tx, row: Mapping[str, Any], place: Any) -> int:
    """Do what `add` does for one answer, looking nothing up: `row` has all columns of a judgement, `place` is of its
    assignment and holds as long as nobody else numbers rows.
    """
    number = int(place.newest) + 1
    says = {**row, "id": number}
    conversions = ((says[name], convert) for name, convert in ANSWERS.says.items())
    values = [value if value is None or convert is None else convert(value) for value, convert in conversions]
    values += (place.person_id, place.cell_id, place.counted, place.row_id, place.column_id)
    if (answered_at := row.get("answered_at")) is not None:
        values.append(answered_at)
    digest = link(place.digest_before or FIRST, values)
    _ADD_ONE.execute(tx, **{**says, "answered_at": answered_at}, digest=digest)
    _STORE_HEAD.execute(tx, kind=ANSWERS.kind, person=place.person_id, n=(place.n_before or 0) + 1, head=digest)
    return number


def read_rows(tx: Tx, of: Chain, after: int = 0, n: int = 2**62) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """The rows numbered after one, `n` of them or all: the digest that each has, and what it says, as in the file."""
    raw = backends.backend_of(tx).raw_column
    says, counts = ", ".join(raw(of.table, name, "row") for name in of.says), raw(round_, "counts", "r")
    late = f", {raw(of.table, of.late, 'row')}" if of.late else ""
    statement = text(of.rows.format(says=says, counts=counts, late=late))
    for row in tx.execute(statement, {"after": after, "n": n}, execution_options=STREAMED):
        yield row[0], tuple(row[1:-1] if of.late and row[-1] is None else row[1:])


def make(tx: Tx, of: Chain, misfits: Collection[int]) -> None:
    """Give all rows of a table as in schema 0005, not protected meanwhile, new digests; `misfits` fit nothing."""
    of = replace(of, late=None)
    ends, number = dict[int, Head](), 0
    set_digest = text(f"UPDATE {of.table.name} SET digest = :digest WHERE id = :id")
    while part := list(read_rows(tx, of, number, CHUNK)):
        new_digests = []
        for _, says in part:
            end = extend_chain(of, says, ends)
            if says[0] in misfits:
                ends[says[of.person_at] or NOBODY] = end = Head(end.n, b"")
            new_digests.append({"id": says[0], "digest": end.digest})
        tx.execute(set_digest, new_digests)
        number = part[-1][1][0]
    _store_heads(tx, of, ends)
