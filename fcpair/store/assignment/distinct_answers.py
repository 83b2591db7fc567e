"""The distinct answers of a round, each kept once, and the texts that they wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import ScalarSelect, Table, bindparam, insert, select

from fcpair.store.database import backends, checksums, sql_lists
from fcpair.store.database.prepared import PreparedStatement
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import answer, round_, text

WRITTEN = "answer"
"""The kind of texts that answers wrote."""


class Answer(NamedTuple):
    """An answer as a round keeps it: a digest that is the same for answers that are the same, what it says, as JSON,
    the code that stands for it in arrays, if there is one, the text that it wrote, if any (its digest and itself), the
    id of the text that this one `answers`, and its metadata.
    """

    digest: str
    value: str
    code: int | None
    text: tuple[str, str] | None = None
    answers: int | None = None
    meta: Mapping[str, Any] = MappingProxyType({})


_FIND = PreparedStatement(
    select(answer.c.id).where(answer.c.round_id == bindparam("round"), answer.c.digest == bindparam("digest"))
)
_IN_ROUND = select(answer.c.id).where(answer.c.round_id == round_.c.id, answer.c.digest == bindparam("digest"))
_FIND_IN_ROUNDS = PreparedStatement(  # not by a join, which SQLite would begin with every answer there is
    select(round_.c.id, _IN_ROUND.scalar_subquery().label("answer_id")).where(round_.c.form == bindparam("form"))
)
_FIND_TEXT = PreparedStatement(select(text.c.id).where(text.c.kind == WRITTEN, text.c.digest == bindparam("digest")))


def find(tx: Tx, round_id: int, answer_: Answer) -> int | None:
    """The number of an answer in a round; None where the round has not had it yet."""
    row = _FIND.first(tx, round=round_id, digest=answer_.digest)
    return None if row is None else int(row.id)


def find_in_rounds(tx: Tx, form: str, answer_: Answer) -> dict[int, int]:
    """The number of an answer in each round of a form that has had it, by the round."""
    rows = _FIND_IN_ROUNDS.all(tx, form=form, digest=answer_.digest)
    return {row.id: row.answer_id for row in rows if row.answer_id is not None}


def get_or_add(tx: Tx, round_id: int, answer_: Answer) -> int:
    """The number of an answer in a round, which has it from now on if it has not had it before."""
    if (known_id := find(tx, round_id, answer_)) is not None:
        return known_id
    backends.backend_of(tx).hold_numbers(tx)  # who had it before may have given it just now, or written the same text
    if find(tx, round_id, answer_) is None:
        add(tx, round_id, [answer_])
    return int(_FIND.first(tx, round=round_id, digest=answer_.digest).id)


def add(tx: Tx, round_id: int, answers: Sequence[Answer]) -> None:
    """Note answers that a round has not had."""
    rows = [
        {"round_id": round_id, "digest": one.digest, "value": one.value, "code": one.code, "text_id": _text_id(tx, one)}
        for one in answers
    ]
    if rows:
        tx.execute(insert(answer), list(checksums.with_checksums(tx, answer, rows)))


def get_or_add_all(tx: Tx, round_id: int, answers: Sequence[Answer]) -> list[int]:
    """The numbers of answers in a round, which has them from now on if it has not had them before."""
    ids_by_digest = _ids_by_digest(tx, round_id)
    if new := {one.digest: one for one in answers if one.digest not in ids_by_digest}:
        add(tx, round_id, list(new.values()))
        ids_by_digest = _ids_by_digest(tx, round_id)
    return [ids_by_digest[one.digest] for one in answers]


def _ids_by_digest(tx: Tx, round_id: int) -> dict[str, int]:
    query = select(answer.c.digest, answer.c.id).where(answer.c.round_id == round_id)
    return {row.digest: row.id for row in tx.execute(query)}


def _text_id(tx: Tx, answer_: Answer) -> int | None:
    """The number of the text that an answer wrote; one text, however many answers wrote it."""
    if answer_.text is None:
        return None
    digest, body = answer_.text
    if not (text_row := _FIND_TEXT.first(tx, digest=digest)):
        same = {"kind": WRITTEN, "language": ""}
        row = {**same, "digest": digest, "body": body, "meta": dict(answer_.meta), "answers_id": answer_.answers}
        tx.execute(insert(text), list(checksums.with_checksums(tx, text, [row])))
        text_row = _FIND_TEXT.first(tx, digest=digest)
    return int(text_row.id)


def answer_values(tx: Tx, ids: Sequence[int]) -> list[str]:
    """Values of these answers, as JSON, in their order."""
    query = select(answer.c.id, answer.c.value).where(answer.c.id.in_(sql_lists.as_subquery(list(ids))))
    values_by_id = {row.id: row.value for row in tx.execute(query)}
    return [values_by_id[one] for one in ids]


@cache
def value_of(table: Table) -> ScalarSelect[Any]:
    """Select the value, as JSON, of the answer a judgement or decision points at; none where it points at none."""
    return select(answer.c.value).where(answer.c.id == table.c.answer_id).correlate(table).scalar_subquery()
