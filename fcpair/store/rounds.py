"""Rounds: the forms that are put on the cells of a grid, and the distinct answers that each has had."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, ScalarSelect, Table, bindparam, case, insert, select

from fcpair.records import Round
from fcpair.store import checksums
from fcpair.store.grids import here
from fcpair.store.ready import Ready
from fcpair.store.store import Tx
from fcpair.store.tables import answer, assignment, judgement, round_


class Answer(NamedTuple):
    """An answer as a round keeps it: a digest that is the same for answers that are the same, what it says, as JSON,
    and the code that stands for it in arrays, if there is one.
    """

    digest: str
    value: str
    code: int | None


def add(
    tx: Tx,
    grid_id: int,
    name: str,
    role: str,
    form: str,
    answers: Iterable[Answer],
    *,
    checks: int | None = None,
    blind: bool = False,
) -> int:
    """Note a round of a grid, which counts unless it checks another, with the `answers` known beforehand.

    Returns its id.
    """
    row = {"grid_id": grid_id, "name": name, "role": role, "form": form, "checks": checks, "counts": checks is None}
    (made,) = checksums.summed(tx, round_, [{**row, "blind": blind, "options": {}}])
    tx.execute(insert(round_), [made])
    known = [{"round_id": made["id"], "text_id": None, **one._asdict()} for one in answers]
    tx.execute(insert(answer), list(checksums.summed(tx, answer, known)))
    return int(made["id"])


def is_of(kind: Round) -> ColumnElement[bool]:
    """Whether an assignment is of a round whose answers count, or of one that checks what was decided."""
    wanted = round_.c.counts if kind is Round.LABEL else round_.c.checks.is_not(None)
    return assignment.c.round_id.in_(select(round_.c.id).where(wanted))


def is_given(kind: Round) -> ColumnElement[bool]:
    """The same, in the grid that is the parameter `grid`, for statements that are made once."""
    wanted = round_.c.counts if kind is Round.LABEL else round_.c.checks.is_not(None)
    return assignment.c.round_id.in_(select(round_.c.id).where(round_.c.grid_id == bindparam("grid"), wanted))


def is_here(tx: Tx, kind: Round) -> ColumnElement[bool]:
    """The same, in the grid that the transaction is about."""
    wanted = round_.c.counts if kind is Round.LABEL else round_.c.checks.is_not(None)
    return assignment.c.round_id.in_(select(round_.c.id).where(round_.c.grid_id == here(tx), wanted))


_KIND = select(round_.c.id, round_.c.counts, round_.c.blind).where(round_.c.grid_id == bindparam("grid"))
_KINDS = Ready(_KIND.order_by(round_.c.id))


def ids(tx: Tx, kind: Round) -> dict[bool, int]:
    """The rounds of a kind in the grid, by whether they are blind."""
    found = _KINDS.all(tx, grid=here(tx))
    return {bool(row.blind): row.id for row in found if bool(row.counts) is (kind is Round.LABEL)}


def form(tx: Tx, kind: Round = Round.LABEL) -> str:
    """The form of the round whose answers count."""
    return str(tx.execute(select(round_.c.form).where(round_.c.id == ids(tx, kind)[False])).scalar_one())


_ANSWERS = Ready(select(answer.c.id, answer.c.code).where(answer.c.round_id == bindparam("round")))


def answers(tx: Tx, round_id: int) -> dict[int, int]:
    """The id of each answer of a round that asks one closed question, by its code."""
    return {row.code: row.id for row in _ANSWERS.all(tx, round=round_id) if row.code is not None}


def labels(tx: Tx) -> dict[int, int]:
    """The id of each answer of the round whose answers count, by its code."""
    return answers(tx, ids(tx, Round.LABEL)[False])


KIND = case((round_.c.counts, Round.LABEL.value), else_=Round.VALIDATE.value)
"""What an assignment that is joined with its round was given for."""


@cache
def code_of(table: Table) -> ScalarSelect[Any]:
    """The code of the answer that a judgement or a decision points at; none where it points at none."""
    return select(answer.c.code).where(answer.c.id == table.c.answer_id).correlate(table).scalar_subquery()


def was_blind() -> ScalarSelect[Any]:
    """Whether a judgement was given blind: its answer says it, for a validator may be asked again in another way."""
    of_answer = select(round_.c.blind).join(answer, answer.c.round_id == round_.c.id)
    return of_answer.where(answer.c.id == judgement.c.answer_id).correlate(judgement).scalar_subquery()
