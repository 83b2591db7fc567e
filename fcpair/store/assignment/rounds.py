"""Rounds: the forms that are put on the cells of a grid, and the distinct answers that each has had."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, ScalarSelect, Table, bindparam, case, delete, insert, select

from fcpair.errors import UnknownIdError
from fcpair.records import Known, Role, Round
from fcpair.store.assignment.distinct_answers import Answer
from fcpair.store.assignment.distinct_answers import add as add_answers
from fcpair.store.corpus.grids import current_grid_id
from fcpair.store.database import checksums, sql_lists
from fcpair.store.database.prepared import PreparedStatement
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import answer, assignment, judgement, round_

if TYPE_CHECKING:
    from fcpair.round_options import RoundOptions


def add(
    tx: Tx,
    grid_id: int,
    name: str,
    role: Role,
    form: str,
    initial_answers: Iterable[Answer],
    *,
    counts: bool = False,
    checks: int | None = None,
    blind: bool = False,
    options: RoundOptions | None = None,
) -> int:
    """Note a round of a grid with its `initial_answers`; returns its id."""
    row = {"grid_id": grid_id, "name": name, "role": role.value, "form": form, "checks": checks, "counts": counts}
    (summed_row,) = checksums.with_checksums(
        tx, round_, [{**row, "blind": blind, "options": options.as_json() if options else {}}]
    )
    tx.execute(insert(round_), [summed_row])
    add_answers(tx, summed_row["id"], list(initial_answers))
    return int(summed_row["id"])


def remove_all(tx: Tx) -> None:
    """Forget the rounds of the grid, in a study that nobody has answered in, with the answers that they can have."""
    is_current = round_.c.grid_id == current_grid_id(tx)
    tx.execute(delete(answer).where(answer.c.round_id.in_(select(round_.c.id).where(is_current))))
    tx.execute(delete(round_).where(is_current))


COUNTING = assignment.c.round_id.in_(select(round_.c.id).where(round_.c.counts))
"""Whether an assignment is of a round, in any grid, whose answers count for decisions."""

CHECKING = assignment.c.round_id.in_(select(round_.c.id).where(round_.c.checks.is_not(None)))
"""Whether an assignment is of a round, in any grid, that checks what was decided."""

ROUND_PARAM = assignment.c.round_id.in_(sql_lists.param_subquery("rounds"))
"""Whether an assignment is of a round whose `ids` are the parameter `rounds`, for statements that are made once."""


def in_round(of: Round) -> ColumnElement[bool]:
    """Whether an assignment is of this round."""
    return assignment.c.round_id.in_(of.ids)


def round_param(of: Round) -> Any:
    """Value of `ROUND_PARAM` for a round."""
    return sql_lists.as_param(of.ids)


_COLUMNS = tuple(round_.c[name] for name in ("id", "grid_id", "name", "role", "form", "counts", "checks", "options"))
_ALL = select(*_COLUMNS, round_.c.blind).order_by(round_.c.grid_id, round_.c.id)
_ROUNDS = PreparedStatement(_ALL.where(round_.c.grid_id == bindparam("grid")))
_OF_ROLE = PreparedStatement(_ALL.where(round_.c.role == bindparam("role")))


def of_grid(tx: Tx) -> list[Round]:
    """The rounds of the grid that the transaction is about, in their order; those of known pairs left out."""
    return [one for one in all_of_grid(tx) if not one.options.known]


def all_of_grid(tx: Tx) -> list[Round]:
    """The rounds of the grid with those of known pairs."""
    return _to_rounds(_ROUNDS.all(tx, grid=current_grid_id(tx)))


def of_known_pairs(tx: Tx, known_for: Round | None = None, use: Known | None = None) -> list[Round]:
    """The rounds of known pairs of the grid, or those that go with one round, or are for one use."""
    known_rounds = [one for one in all_of_grid(tx) if one.options.known and use in (None, one.options.known)]
    return [one for one in known_rounds if known_for is None or one.options.known_for == known_for.name]


def with_known_pairs(tx: Tx, of: Round) -> Round:
    """A round as people see it, who cannot tell the control pairs from the others: its `ids` are those of both."""
    ids = [one.id for one in of_known_pairs(tx, of, Known.CONTROLS)]
    return replace(of, ids=(*of.ids, *ids)) if ids else of


_UNCHECKING_OPTIONS = PreparedStatement(select(round_.c.id, round_.c.options).where(round_.c.checks.is_(None)))


def known_ids(tx: Tx) -> list[int]:
    """The ids of the rounds of known pairs of all grids."""
    return [row.id for row in _UNCHECKING_OPTIONS.all(tx) if row.options.get("known")]


def uncounted_ids(tx: Tx) -> list[int]:
    """The ids of the rounds of all grids whose answers are no labels: of known pairs, and of calibrations.

    Answers of a calibration that count are carried over into the round that it was for, and are counted there.
    """
    return [row.id for row in _UNCHECKING_OPTIONS.all(tx) if row.options.get("known") or row.options.get("calibrates")]


def answer_rounds(tx: Tx) -> list[Round]:
    """Those of them that put the cells themselves before somebody, not what was decided, nor to calibrate people."""
    return [one for one in of_grid(tx) if one.checks is None and not one.options.calibrates]


def calibration_rounds(tx: Tx) -> list[Round]:
    """Those of them in which people calibrate themselves: the first, and the one after the discussion."""
    return [one for one in of_grid(tx) if one.options.calibrates]


def of_role(tx: Tx, role: Role) -> list[Round]:
    """The rounds of all grids that are answered in a role, those of the oldest grid first, without known pairs."""
    return [one for one in _to_rounds(_OF_ROLE.all(tx, role=role.value)) if not one.options.known]


def seen_in_role(tx: Tx, role: Role) -> list[Round]:
    """The same as people see them: with their control pairs, and behind what they qualify for first."""
    all_rounds = _to_rounds(_OF_ROLE.all(tx, role=role.value))
    known_rounds = {(one.grid_id, one.options.known_for, one.options.known): one for one in all_rounds}
    seen = []
    for one in (one for one in all_rounds if not one.options.known):
        qualification, controls = (known_rounds.get((one.grid_id, one.name, use)) for use in Known)
        seen += [qualification] if qualification else []
        seen.append(replace(one, ids=(*one.ids, *controls.ids)) if controls else one)
    return seen


def has_known_pairs(seen: Sequence[Round]) -> bool:
    """Whether any of these rounds, as `seen_in_role` has them, is of known pairs or has control pairs."""
    return any(one.options.known or (one.checks is None and len(one.ids) > 1) for one in seen)


def _to_rounds(rows: Sequence[Any]) -> list[Round]:
    from fcpair.param_values import from_params
    from fcpair.round_options import RoundOptions

    blind = [(row.checks, row.id) for row in rows if row.blind]
    return [
        Round(
            (row.id, *(twin for checks, twin in blind if checks == row.checks)),
            row.grid_id,
            row.name,
            Role(row.role),
            row.form,
            bool(row.counts),
            row.checks,
            from_params(RoundOptions, row.options),
        )
        for row in rows
        if not row.blind
    ]


def by_name(tx: Tx, name: str | None) -> Round:
    """The round of this name in the grid, or without one the one that counts.

    Raises UnknownIdError, with the names there are, when there is none.
    """
    if name is None:
        return primary(tx)
    rounds_by_name = {one.name: one for one in of_grid(tx)}
    if name not in rounds_by_name:
        raise UnknownIdError(f"there is no round `{name}` in this grid; its rounds: {', '.join(rounds_by_name)}")
    return rounds_by_name[name]


def by_id(tx: Tx, round_id: int) -> Round:
    """The round of the grid that has this id, or has it where it is asked blind."""
    return next(one for one in all_of_grid(tx) if round_id in one.ids)


_FORM = PreparedStatement(select(round_.c.form).where(round_.c.id == bindparam("round")))


def form(tx: Tx, round_id: int) -> str:
    """The form of a round by its id, which can be that of a blind one."""
    return str(_FORM.first(tx, round=round_id).form)


def primary(tx: Tx) -> Round:
    """The round whose answers count for decisions and tiers."""
    return next(one for one in of_grid(tx) if one.counts)


def validation(tx: Tx) -> Round:
    """The round in which decisions are validated; without ids where nothing is, in this grid."""
    all_rounds = of_grid(tx)
    counting_round = next(one for one in all_rounds if one.counts)
    no_round = Round((), counting_round.grid_id, "validate", Role.VALIDATOR, "", counts=False, checks=counting_round.id)
    return next((one for one in all_rounds if one.checks is not None), no_round)


_ANSWERS = PreparedStatement(select(answer.c.id, answer.c.code).where(answer.c.round_id == bindparam("round")))


def answer_ids(tx: Tx, round_id: int) -> dict[int, int]:
    """The id of each answer of a round that asks one closed question, by its code."""
    return {row.code: row.id for row in _ANSWERS.all(tx, round=round_id) if row.code is not None}


def label_ids(tx: Tx) -> dict[int, int]:
    """The id of each answer of the round whose answers count, by its code."""
    return answer_ids(tx, primary(tx).id)


_twin = round_.alias("twin")
_SEEING = select(_twin.c.name).where(_twin.c.checks == round_.c.checks, ~_twin.c.blind).correlate(round_)
NAME = case((round_.c.blind, _SEEING.scalar_subquery()), else_=round_.c.name)
"""The name of the round of an assignment that is joined with its row, blind or not."""


@cache
def code_of(table: Table) -> ScalarSelect[Any]:
    """The code of the answer that a judgement or a decision points at; none where it points at none."""
    return select(answer.c.code).where(answer.c.id == table.c.answer_id).correlate(table).scalar_subquery()


def was_blind() -> ScalarSelect[Any]:
    """Whether a judgement was given blind: its answer says it, for a validator may be asked again in another way."""
    of_answer = select(round_.c.blind).join(answer, answer.c.round_id == round_.c.id)
    return of_answer.where(answer.c.id == judgement.c.answer_id).correlate(judgement).scalar_subquery()
