"""Rounds: the forms that are put on the cells of a grid; and the distinct answers of each, once, with their texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, FromClause, ScalarSelect, bindparam, case, delete, func, select

from fcpair.errors import UnknownIdError
from fcpair.param_values import from_params
from fcpair.records import Known, Role, Round
from fcpair.round_options import RoundOptions
from fcpair.store.corpus.grids import current_grid_id
from fcpair.store.database import backends, checksums
from fcpair.store.database.statements import PreparedStatement, as_subquery, param_subquery
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import answer, assignment, round_, text

WRITTEN = "answer"  # the kind of texts that answers wrote


class Answer(NamedTuple):
    """An answer as a round keeps it."""

    digest: str  # the same for answers that are the same
    value: str  # as JSON
    code: int | None  # that stands for it in arrays, if there is one
    text: tuple[str, str] | None = None  # that it wrote, if any: its digest and itself
    answers: int | None = None  # the id of the text that this one answers
    meta: Mapping[str, Any] = MappingProxyType({})  # of the text


_WITH_DIGEST = select(answer.c.id).where(answer.c.digest == bindparam("digest"))
_FIND_ANSWER = PreparedStatement(_WITH_DIGEST.where(answer.c.round_id == bindparam("round")))
_IN_ROUND = _WITH_DIGEST.where(answer.c.round_id == round_.c.id).scalar_subquery().label("answer_id")
_FIND_IN_ROUNDS = PreparedStatement(  # not by a join, which SQLite would begin with every answer there is
    select(round_.c.id, _IN_ROUND).where(round_.c.form == bindparam("form"))
)
_FIND_TEXT = PreparedStatement(select(text.c.id).where(text.c.kind == WRITTEN, text.c.digest == bindparam("digest")))


def find_answer_in_rounds(tx: Tx, form: str, answer_: Answer) -> dict[int, int]:
    """The number of an answer in each round of a form that has had it, by the round."""
    rows = _FIND_IN_ROUNDS.all(tx, form=form, digest=answer_.digest)
    return {row.id: row.answer_id for row in rows if row.answer_id is not None}


def get_or_add_answer(tx: Tx, round_id: int, answer_: Answer) -> int:
    """The number of an answer in a round, which has it from now on if it has not had it before."""
    find = partial(_FIND_ANSWER.first, tx, round=round_id, digest=answer_.digest)
    if (row := find()) is None:
        # Who had it before may have given it just now, or written the same text.
        backends.backend_of(tx).hold_numbers(tx)
        if (row := find()) is None:
            add_answers(tx, round_id, [answer_])
            row = find()
    return int(row.id)


def add_answers(tx: Tx, round_id: int, answers: Sequence[Answer]) -> None:
    """Note answers that a round has not had."""
    rows = []
    for item in answers:
        text_id = None
        if item.text is not None:  # one text, however many answers wrote it
            digest, body = item.text
            if text_row := _FIND_TEXT.first(tx, digest=digest):
                text_id = int(text_row.id)
            else:
                same = {"kind": WRITTEN, "language": "", "meta": dict(item.meta), "answers_id": item.answers}
                text_id = checksums.add(tx, text, [{**same, "digest": digest, "body": body}])
        values = {"round_id": round_id, "digest": item.digest, "value": item.value, "code": item.code}
        rows.append({**values, "text_id": text_id})
    checksums.add(tx, answer, rows)


def get_or_add_answers(tx: Tx, round_id: int, answers: Sequence[Answer]) -> list[int]:
    """The numbers of answers in a round, which has them from now on if it has not had them before."""
    query = select(answer.c.digest, answer.c.id).where(answer.c.round_id == round_id)
    known = set(tx.scalars(query))
    if new := {item.digest: item for item in answers if item.digest not in known}:
        add_answers(tx, round_id, list(new.values()))
    ids_by_digest = {row.digest: row.id for row in tx.execute(query)}
    return [ids_by_digest[item.digest] for item in answers]


def answer_values(tx: Tx, ids: Sequence[int]) -> list[str]:
    """Values of these answers, as JSON, in their order."""
    query = select(answer.c.id, reading("value")).where(answer.c.id.in_(as_subquery(ids)))
    values_by_id = {row.id: row.value for row in tx.execute(query)}
    return [values_by_id[id_] for id_ in ids]


def reading(column: str, of: FromClause = answer) -> ColumnElement[Any]:
    """A column of an answer, or of the one that it reads as since labels were changed: the one place where that is
    looked up. `answer_id` is its id.
    """
    if column == "answer_id":
        return func.coalesce(of.c.reads_as, of.c.id).label(column)
    now = select(_now.c[column]).where(_now.c.id == of.c.reads_as).correlate(of).scalar_subquery()
    return case((of.c.reads_as.is_(None), of.c[column]), else_=now).label(column)


_now = answer.alias("now")


@cache
def value_of(table: FromClause, column: str = "value", *, as_given: bool = False) -> ScalarSelect[Any]:
    """Select the value, as JSON, of the answer a judgement or decision points at, as it reads now or was given; none
    where it points at none.
    """
    value = answer.c[column] if as_given else reading(column)
    return select(value).where(answer.c.id == table.c.answer_id).correlate(table).scalar_subquery()


def code_of(table: FromClause) -> ScalarSelect[Any]:
    """The code of the answer that a judgement or a decision points at; none where it points at none."""
    return value_of(table, "code")


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
    row |= {"blind": blind, "options": options.as_json() if options else {}}
    round_id = checksums.add(tx, round_, [row])
    add_answers(tx, round_id, list(initial_answers))
    return round_id


def remove_all(tx: Tx) -> None:
    """Forget the rounds of the grid, in a study that nobody has answered in, with the answers that they can have."""
    is_current = round_.c.grid_id == current_grid_id(tx)
    tx.execute(delete(answer).where(answer.c.round_id.in_(select(round_.c.id).where(is_current))))
    tx.execute(delete(round_).where(is_current))


# Whether an assignment is of a round, in any grid, whose answers count for decisions; that checks what was decided; or
# whose `ids` are the parameter `rounds`, for statements that are made once.
COUNTING = assignment.c.round_id.in_(select(round_.c.id).where(round_.c.counts))
CHECKING = assignment.c.round_id.in_(select(round_.c.id).where(round_.c.checks.is_not(None)))
ROUND_PARAM = assignment.c.round_id.in_(param_subquery("rounds"))


def in_round(of: Round) -> ColumnElement[bool]:
    """Return whether an assignment is of this round."""
    return assignment.c.round_id.in_(of.ids)


_COLUMNS = round_.c["id", "grid_id", "name", "role", "form", "counts", "checks", "options", "blind"]
_ALL = select(*_COLUMNS).order_by(*round_.c["grid_id", "id"])
_ROUNDS = PreparedStatement(_ALL.where(round_.c.grid_id == bindparam("grid")))
_OF_ROLE = PreparedStatement(_ALL.where(round_.c.role == bindparam("role")))


def of_grid(tx: Tx) -> list[Round]:
    """The rounds of the grid that the transaction is about, in their order; those of known pairs left out."""
    return [item for item in all_of_grid(tx) if not item.options.known]


def all_of_grid(tx: Tx) -> list[Round]:
    """The rounds of the grid with those of known pairs."""
    return _to_rounds(_ROUNDS.all(tx, grid=current_grid_id(tx)))


def of_known_pairs(tx: Tx, known_for: Round | None = None, use: Known | None = None) -> list[Round]:
    """The rounds of known pairs of the grid, or those that go with one round, or are for one use."""
    known_rounds = [item for item in all_of_grid(tx) if item.options.known and use in (None, item.options.known)]
    return [item for item in known_rounds if known_for is None or item.options.known_for == known_for.name]


def with_known_pairs(tx: Tx, of: Round) -> Round:
    """A round as people see it, who cannot tell the control pairs from the others: its `ids` are those of both."""
    ids = [controls.id for controls in of_known_pairs(tx, of, Known.CONTROLS)]
    return replace(of, ids=(*of.ids, *ids)) if ids else of


_UNCHECKING_OPTIONS = PreparedStatement(select(round_.c.id, round_.c.options).where(round_.c.checks.is_(None)))


def known_ids(tx: Tx, *, calibrations: bool = False) -> list[int]:
    """The ids of the rounds of known pairs of all grids, and of `calibrations`: their answers are no labels, either."""
    names = ("known", "calibrates") if calibrations else ("known",)
    return [row.id for row in _UNCHECKING_OPTIONS.all(tx) if any(map(row.options.get, names))]


def answer_rounds(tx: Tx) -> list[Round]:
    """Those of them that put the cells themselves before somebody, not what was decided, nor to calibrate people."""
    return [item for item in of_grid(tx) if item.checks is None and not item.options.calibrates]


def calibration_rounds(tx: Tx) -> list[Round]:
    """Those of them in which people calibrate themselves: the first, and the one after the discussion."""
    return [item for item in of_grid(tx) if item.options.calibrates]


def of_role(tx: Tx, role: Role) -> list[Round]:
    """The rounds of all grids that are answered in a role, those of the oldest grid first, without known pairs."""
    return [item for item in _to_rounds(_OF_ROLE.all(tx, role=role.value)) if not item.options.known]


def seen_in_role(tx: Tx, role: Role) -> list[Round]:
    """The same as people see them: with their control pairs, and behind what they qualify for first."""
    all_rounds, seen = _to_rounds(_OF_ROLE.all(tx, role=role.value)), []
    known_rounds = {(item.grid_id, item.options.known_for, item.options.known): item for item in all_rounds}
    for of in (item for item in all_rounds if not item.options.known):
        qualification, controls = (known_rounds.get((of.grid_id, of.name, use)) for use in Known)
        seen += [qualification] if qualification else []
        seen.append(replace(of, ids=(*of.ids, *controls.ids)) if controls else of)
    return seen


def has_known_pairs(seen: Sequence[Round]) -> bool:
    """Return whether any of these rounds, as `seen_in_role` has them, is of known pairs or has control pairs."""
    return any(item.options.known or (item.checks is None and len(item.ids) > 1) for item in seen)


def _to_rounds(rows: Sequence[Any]) -> list[Round]:
    blind = [(row.checks, row.id) for row in rows if row.blind]
    all_rounds = []
    for row in (row for row in rows if not row.blind):
        ids = (row.id, *(twin for checks, twin in blind if checks == row.checks))
        facts = (row.grid_id, row.name, Role(row.role), row.form, bool(row.counts), row.checks)
        all_rounds.append(Round(ids, *facts, from_params(RoundOptions, row.options)))
    return all_rounds


def by_name(tx: Tx, name: str | None) -> Round:
    """The round of this name in the grid, or without one the one that counts; raises UnknownIdError."""
    if name is None:
        return primary(tx)
    if (of := (rounds_by_name := {item.name: item for item in of_grid(tx)}).get(name)) is None:
        raise UnknownIdError.say(
            "there is no round `%(name)s` in this grid; its rounds: %(names)s", name=name, names=list(rounds_by_name)
        )
    return of


def by_id(tx: Tx, round_id: int) -> Round:
    """The round of the grid that has this id, or has it where it is asked blind."""
    return next(item for item in all_of_grid(tx) if round_id in item.ids)


_FORM = PreparedStatement(select(round_.c.form).where(round_.c.id == bindparam("round")))


def form(tx: Tx, round_id: int) -> str:
    """The form of a round by its id, which can be that of a blind one."""
    return str(_FORM.first(tx, round=round_id).form)


def primary(tx: Tx) -> Round:
    """The round whose answers count for decisions and tiers."""
    return next(item for item in of_grid(tx) if item.counts)


def validation(tx: Tx) -> Round:
    """The round in which decisions are validated; without ids where nothing is, in this grid."""
    all_rounds = of_grid(tx)
    counting = next(item for item in all_rounds if item.counts)
    no_round = Round((), counting.grid_id, "validate", Role.VALIDATOR, "", counts=False, checks=counting.id)
    return next((item for item in all_rounds if item.checks is not None), no_round)


_ANSWERS = PreparedStatement(
    select(answer.c.id, reading("answer_id"), reading("code")).where(answer.c.round_id == bindparam("round"))
)


def answer_ids(tx: Tx, round_id: int) -> dict[int, int]:
    """The id of each answer of a round that asks one closed question, by its code."""
    rows = _ANSWERS.all(tx, round=round_id)
    return {row.code: row.id for row in rows if row.code is not None and row.answer_id == row.id}


def label_ids(tx: Tx) -> dict[int, int]:
    """The id of each answer of the round whose answers count, by its code."""
    return answer_ids(tx, primary(tx).id)


def codes_by_id(tx: Tx) -> dict[int, int]:
    """The code of each answer of that round by its id, also of those that read as another since."""
    return {row.id: row.code for row in _ANSWERS.all(tx, round=primary(tx).id) if row.code is not None}


def reads_as(tx: Tx, answer_id: ColumnElement[Any]) -> ColumnElement[Any]:
    """The id of the label as which one is read, in a statement that does not join answers: as a rule its own."""
    moved = {row.id: row.answer_id for row in _ANSWERS.all(tx, round=primary(tx).id) if row.answer_id != row.id}
    return case(moved, value=answer_id, else_=answer_id) if moved else answer_id


_twin = round_.alias("twin")
_SEEING = select(_twin.c.name).where(_twin.c.checks == round_.c.checks, ~_twin.c.blind).correlate(round_)
NAME = case((round_.c.blind, _SEEING.scalar_subquery()), else_=round_.c.name)
"""The name of the round of an assignment that is joined with its row, blind or not."""
