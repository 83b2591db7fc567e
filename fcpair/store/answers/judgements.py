"""Judgements: what people and models answered. Rows are only ever added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Select, Subquery, bindparam, case, exists, func, null, or_, select, update

from fcpair.lazy import NDArray, np, pd
from fcpair.records import Origin, Round, Status, Verdict
from fcpair.store.assignment import rounds
from fcpair.store.database import hash_chain, latest_rows
from fcpair.store.database.statements import Ids, among, as_subquery, count, frame, integer_arrays, is_true, records
from fcpair.store.database.store import Tx, now
from fcpair.store.database.tables import adjudication, answer, assignment, cell, judgement, person, round_

SEEN_DECISION = adjudication.alias("seen")  # the decision that a verdict is about
IS_CURRENT = or_(
    SEEN_DECISION.c.answer_id == adjudication.c.answer_id,
    rounds.code_of(SEEN_DECISION) == rounds.code_of(adjudication),  # labels that were made one since
)
"""True where the label that a validator saw still stands; a verdict on another one does not count."""


def add_judgements(tx: Tx, judgements: pd.DataFrame, origin: Origin) -> None:
    """Add answers, with what became of their assignments: `assignment_id`, `skipped`, `code` or `answer_id` (missing
    for a skip), `note`, and where they are known `own_code`, `adjudication_id`, `seconds`, `at`, `run_id`.
    """
    rows = judgements.assign(origin=origin.value)
    if "code" in rows.columns:  # the answer is found by it, or where a validator answered blind by `own_code`
        assignment_ids = as_subquery(rows["assignment_id"].tolist())
        query = select(*assignment.c["id", "round_id"]).where(assignment.c.id.in_(assignment_ids))
        of_round = rows["assignment_id"].map({row[0]: row[1] for row in tx.execute(query)})
        own_codes = rows["own_code"] if "own_code" in rows.columns else rows["code"]
        codes = own_codes.where(own_codes.notna(), rows["code"]).astype("Int64")
        ids_by_round = {round_id: rounds.answer_ids(tx, int(round_id)) for round_id in of_round.dropna().unique()}
        answer_ids = {(round_id, code): at for round_id, ids in ids_by_round.items() for code, at in ids.items()}
        keys = pd.MultiIndex.from_arrays([of_round, codes])
        rows["answer_id"] = keys.map(answer_ids).to_series(index=rows.index).astype("Int64")
    rows = rows.drop(columns=["code", "own_code"], errors="ignore")
    rows["at"] = rows["at"].where(rows["at"] != "", now()) if "at" in rows.columns else now()
    _add(tx, records(rows))


# What became of assignments, and which judgement is their newest, by the judgements after one.
_added_judgement = judgement.alias("added")
# By a sum, so that no index is followed: it would read every judgement there is.
_NEWEST_ADDED = (
    select(func.max(_added_judgement.c.id))
    .where(_added_judgement.c.id > bindparam("before"))
    .group_by(_added_judgement.c.assignment_id + latest_rows.NOTHING)
)
_RECORD_JUDGEMENTS = (
    update(assignment)
    .where(assignment.c.id == judgement.c.assignment_id, judgement.c.id.in_(_NEWEST_ADDED))
    .values(
        judgement_id=judgement.c.id,
        status=case(
            (judgement.c.withdraws.is_not(None), assignment.c.status),  # whoever takes it back says what becomes of it
            (judgement.c.skipped, Status.SKIPPED.value),
            else_=Status.DONE.value,
        ),
    )
)


def _add(tx: Tx, rows: Iterable[Mapping[str, Any]]) -> None:
    before = newest_judgement(tx)
    hash_chain.add(tx, hash_chain.ANSWERS, rows)
    tx.execute(_RECORD_JUDGEMENTS, {"before": before})


def _select_answers(of: Round, *columns: str) -> Select[Any]:
    decided_answer = answer.alias("decided")
    own_code, value = rounds.reading("code"), rounds.reading("value")
    is_same = own_code == rounds.reading("code", decided_answer)
    agrees = case((is_same, int(Verdict.AGREE)), else_=int(Verdict.DISAGREE))
    available: dict[str, ColumnElement[Any]] = {
        **assignment.c,
        **judgement.c,
        **{"assignment_id": assignment.c.id, "hs_id": cell.c.row_id, "cn_id": cell.c.column_id},
        "annotator": person.c.name,
        "own_code": case((round_.c.blind, own_code)) if of.checks else null(),
        "code": case((round_.c.blind, agrees), else_=own_code) if of.checks else own_code,
        **{"value": value, "answer_id": rounds.reading("answer_id")},
        "has_note": case((judgement.c.note != "", 1), else_=0),
    }
    others = [table for table, names in ((person, {"annotator"}), (cell, {"hs_id", "cn_id"})) if names & set(columns)]
    query = (
        select(*(available[name].label(name) for name in columns))
        .select_from(latest_rows.joined(latest_rows.ANSWERED, *others))
        .outerjoin(answer, answer.c.id == judgement.c.answer_id)
        .where(rounds.in_round(of))
        .order_by(latest_rows.BY_CELL, latest_rows.BY_PERSON)
    )
    if of.checks:
        query = query.outerjoin(SEEN_DECISION, SEEN_DECISION.c.id == judgement.c.adjudication_id)
    if {"code", "own_code"} & set(columns) and of.checks:
        query = query.outerjoin(round_, round_.c.id == answer.c.round_id)
        query = query.outerjoin(decided_answer, decided_answer.c.id == SEEN_DECISION.c.answer_id)
    return query


def current_labels(
    tx: Tx, *columns: str, cell_ids: Ids = None, person_ids: Ids = None, of: Round | None = None, further: bool = True
) -> pd.DataFrame:
    """Each annotator's current label `of` a round, or of the one that counts, skips left out, by pair and annotator:
    columns as named, of `id`, `assignment_id`, `cell_id`, `person_id`, `annotator`, `hs_id`, `cn_id`, `code`,
    `answer_id`, `value` (JSON), `note`, `seconds`, `origin`, `at`. Without `further`, those are left out that a
    standing rule asked for.
    """
    read = tuple("person_id" if name == "annotator" else name for name in columns)
    query = _select_labels(tx, *dict.fromkeys(read), cell_ids=cell_ids, of=of, further=further)
    labels = frame(tx, query.where(among(assignment.c.person_id, person_ids)))
    if "annotator" not in columns:
        return labels

    # Names by id, which is quicker than to read one with every label.
    people = {row[0]: row[1] for row in tx.execute(select(person.c.id, person.c.name))}
    ids, place = np.unique(labels["person_id"].to_numpy(np.int64), return_inverse=True)
    names = pd.Series([people[id_] for id_ in ids.tolist()], dtype="str")
    return labels.assign(annotator=names.take(place).set_axis(labels.index))[list(columns)]


def label_arrays(
    tx: Tx, *columns: str, cell_ids: Ids = None, of: Round | None = None, further: bool = True
) -> dict[str, NDArray[np.int64]]:
    """The same as arrays, of those columns that are whole numbers."""
    return integer_arrays(tx, _select_labels(tx, *columns, cell_ids=cell_ids, of=of, further=further))


def n_further(tx: Tx) -> int:
    """Count the labels that standing rules asked for."""
    asked = _select_labels(tx, "id", cell_ids=None, of=None).where(assignment.c.because.is_not(None))
    return count(tx, asked.subquery())


def _select_labels(tx: Tx, *columns: str, cell_ids: Ids, of: Round | None, further: bool = True) -> Select[Any]:
    query = _select_answers(of or rounds.primary(tx), *columns)
    query = query if further else query.where(assignment.c.because.is_(None))
    return query.where(~judgement.c.skipped, among(assignment.c.cell_id, cell_ids))


def current_verdicts(tx: Tx, *columns: str) -> pd.DataFrame:
    """Each validator's current verdict on each pair, if it is about the label that the pair has now, skips left out:
    columns as named, or `assignment_id`, `cell_id`, `person_id`, `code`, `origin`.
    """
    columns = columns or ("assignment_id", "cell_id", "person_id", "code", "origin")
    return frame(tx, _current_verdicts_query(tx, *columns))


def _current_verdicts_query(tx: Tx, *columns: str, cell_ids: Ids = None) -> Select[Any]:
    query = _select_labels(tx, *columns, cell_ids=cell_ids, of=rounds.validation(tx))
    return query.join(adjudication, latest_rows.DECIDED).where(IS_CURRENT)


def verdict_arrays(tx: Tx, cell_ids: Ids = None) -> dict[str, NDArray[np.int64]]:
    """The cell (`cell_id`) and the `code` of each of `current_verdicts`, or of those on some pairs, as arrays."""
    return integer_arrays(tx, _current_verdicts_query(tx, "cell_id", "code", cell_ids=cell_ids))


def _counted_verdicts(tx: Tx) -> Subquery:
    """Each validator's current verdict: `cell_id`, `code`, and `counts`, 1 if it is about the label of now, else 0."""
    query = _select_labels(tx, "cell_id", "code", cell_ids=None, of=rounds.validation(tx))
    counts = case((IS_CURRENT, 1), else_=0).label("counts")
    return query.outerjoin(adjudication, latest_rows.DECIDED).add_columns(counts).order_by(None).subquery()


def lost_verdicts(tx: Tx) -> list[int]:
    """The pairs all of whose verdicts are about a label that is not theirs any more, by id."""
    verdicts = _counted_verdicts(tx)
    query = select(verdicts.c.cell_id).group_by(verdicts.c.cell_id).having(func.max(verdicts.c.counts) == 0)
    return list(tx.scalars(query.order_by(verdicts.c.cell_id)))


def verdict_balances(tx: Tx) -> dict[tuple[int, int], int]:
    """Count the pairs by how many verdicts agree with the current label, and how many do not; (0, 0): all are lost."""
    verdicts = _counted_verdicts(tx)
    agree = func.sum(case((verdicts.c.code == int(Verdict.AGREE), verdicts.c.counts), else_=0))
    disagree = func.sum(verdicts.c.counts) - agree
    balance = select(agree.label("agree"), disagree.label("disagree")).group_by(verdicts.c.cell_id).subquery().c
    return {(int(row[0]), int(row[1])): row[2] for row in tx.execute(select(*balance, func.count()).group_by(*balance))}


def current_answers(tx: Tx, of: Round, *columns: str, in_order: bool = True) -> pd.DataFrame:
    """Each person's current answer of a round, skips included, by pair and person or in no order: columns of
    `current_labels` (of a skip, `code`, `answer_id` and `value` are missing), `skipped`, `own_code` (of a blind
    verdict) and `has_note` (0 or 1).
    """
    query = _select_answers(of, *columns)
    answers = frame(tx, query if in_order else query.order_by(None))
    return answers.astype({"skipped": bool}) if "skipped" in columns else answers


def answer_history(tx: Tx, cell_id: int) -> pd.DataFrame:
    """Every answer that a pair ever got but as a known pair, and when one was withdrawn, oldest first: `round`,
    `person`, `code`, `value` (JSON), `given` (likewise, before labels changed), `skipped`, `withdrawn`, `note`,
    `origin`, `at`, `answered_at`, `run` (missing: not known).
    """
    # A blind answer amounts to the verdict on what had been decided, as it was then.
    seen = SEEN_DECISION.c.id == judgement.c.adjudication_id
    decided_code = select(rounds.code_of(SEEN_DECISION)).where(seen).correlate(judgement).scalar_subquery()
    verdict = case((rounds.code_of(judgement) == decided_code, int(Verdict.AGREE)), else_=int(Verdict.DISAGREE))
    of_answer = select(round_.c.blind).join(answer, answer.c.round_id == round_.c.id)
    was_blind = of_answer.where(answer.c.id == judgement.c.answer_id).correlate(judgement).scalar_subquery()
    code = case((was_blind, verdict), else_=rounds.code_of(judgement)).label("code")
    value, withdrawn = rounds.value_of(judgement).label("value"), judgement.c.withdraws.is_not(None).label("withdrawn")
    given = rounds.value_of(judgement, as_given=True).label("given")
    columns = (judgement.c.skipped, withdrawn, *judgement.c["note", "origin", "at", "answered_at"])
    by, run = person.c.name.label("person"), judgement.c.run_id.label("run")
    query = select(rounds.NAME.label("round"), by, code, value, given, *columns, run)
    query = query.select_from(latest_rows.joined(latest_rows.JUDGED, round_, person))
    query = query.where(assignment.c.cell_id == cell_id, assignment.c.round_id.not_in(rounds.known_ids(tx)))
    return frame(tx, query.order_by(judgement.c.id)).astype({"withdrawn": bool, "run": "Int64"})


def recorded_answers(tx: Tx, assignment_ids: Iterable[int]) -> set[tuple[int, int | None, str]]:
    """Every answer that these assignments ever got: the assignment, the id of the answer (None: a skip), the time."""
    query = select(*judgement.c["assignment_id", "answer_id", "at"])
    is_asked = judgement.c.assignment_id.in_(as_subquery(sorted(set(assignment_ids))))
    return {(row[0], row[1], row[2]) for row in tx.execute(query.where(is_asked, judgement.c.withdraws.is_(None)))}


def n_judgements(tx: Tx, of: Round | None = None) -> int:
    """Count the judgements, superseded ones included; of one round if asked."""
    return count(tx, judgement) if of is None else count(tx, latest_rows.JUDGED, rounds.in_round(of))


def n_by_people(tx: Tx) -> int:
    """Count the current judgements of every round that people gave, skips included."""
    return sum(n for origin, n in n_by_origin_of_all(tx).items() if origin not in (Origin.SIMULATED, Origin.GENERATED))


def n_by_origin(tx: Tx, of: Round | None = None) -> dict[str, int]:
    """Count the current judgements by origin: of a round, or of all but known pairs and, if there are others,
    calibrations.
    """
    if of is not None:
        return n_by_origin_of_all(tx, rounds.in_round(of))
    ids = (rounds.known_ids(tx, calibrations=calibrations) for calibrations in (True, False))
    counts = (n_by_origin_of_all(tx, assignment.c.round_id.not_in(left_out)) for left_out in ids)
    return next(counts) or next(counts)


def n_by_origin_of_all(tx: Tx, *is_meant: ColumnElement[bool]) -> dict[str, int]:
    """Count the current judgements of every round, or of those that are meant, by origin."""
    query = select(judgement.c.origin, func.count()).join(assignment, latest_rows.ANSWER).where(*is_meant)
    return {row[0]: row[1] for row in tx.execute(query.group_by(judgement.c.origin).order_by(judgement.c.origin))}


def answered_cells(tx: Tx, of: Round) -> list[int]:
    """The cells that have a current answer in a round, skips left out."""
    query = select(assignment.c.cell_id).join(judgement, latest_rows.ANSWER)
    return list(tx.scalars(query.where(rounds.in_round(of), ~judgement.c.skipped).distinct()))


def judged_cells(tx: Tx, of: Round, cell_ids: Iterable[int]) -> NDArray[np.int64]:
    """Those of these cells that were ever answered in a round, ascending, skips and what was taken back included."""
    is_asked = assignment.c.cell_id.in_(as_subquery(cell_ids)) & assignment.c.judgement_id.is_not(None)
    query = select(assignment.c.cell_id).where(rounds.in_round(of), is_asked).distinct()
    return integer_arrays(tx, query.order_by(assignment.c.cell_id))["cell_id"]


def is_answered(tx: Tx) -> bool:
    """Return whether anybody has answered anything, a skip included, that was not withdrawn."""
    # From the first answer on, one after the other: as a join, PostgreSQL would read all of them first.
    newest = select(assignment.c.judgement_id).where(assignment.c.id == judgement.c.assignment_id).correlate(judgement)
    answers = select(judgement.c.id).where(judgement.c.id == newest.scalar_subquery(), judgement.c.withdraws.is_(None))
    return is_true(tx, answers.exists())


def answers_of_run(tx: Tx, run_id: int) -> pd.DataFrame:
    """The answers that a run brought: `id`, `assignment_id`, `round` (of known pairs the one that they go with),
    `cell_id`, `person_id`, `person` (their name), `answer_id` (missing for a skip), `skipped`, `current`, `withdrawn`.
    """
    later = judgement.alias("later")
    same = later.c.assignment_id == judgement.c.assignment_id
    withdrawn = exists().where(same, later.c.withdraws == judgement.c.id).label("withdrawn")
    of = func.coalesce(round_.c.options["known_for"].as_string(), rounds.NAME).label("round")
    by, state = person.c.name.label("person"), (latest_rows.NEWEST.label("current"), withdrawn)
    columns = (of, *assignment.c["cell_id", "person_id"], by, *judgement.c["answer_id", "skipped"], *state)
    query = select(*judgement.c["id", "assignment_id"], *columns)
    query = query.select_from(latest_rows.joined(latest_rows.JUDGED, round_, person)).order_by(judgement.c.id)
    answers = frame(tx, query.where(judgement.c.run_id == run_id, judgement.c.withdraws.is_(None)))
    return answers.astype({"skipped": bool, "current": bool, "withdrawn": bool})


def withdraw(tx: Tx, ids: list[int], run_id: int, note: str = "") -> None:
    """Add to each of these judgements one that takes it back, by a run; their assignments are left as they are."""
    query = select(judgement.c.assignment_id, judgement.c.origin, judgement.c.id.label("withdraws"))
    taken_back = tx.execute(query.where(judgement.c.id.in_(as_subquery(ids))).order_by(judgement.c.id)).mappings()
    same = {"skipped": True, "note": note, "at": now(), "run_id": run_id}
    _add(tx, ({**row, **same} for row in taken_back.all()))


def newest_judgement(tx: Tx) -> int:
    """The number of the newest judgement; 0 if there is none."""
    return tx.execute(latest_rows.select_newest_id(judgement)).scalar_one()


def cells_to_discuss(tx: Tx, again: Round, person_id: int | None = None) -> list[int]:
    """The cells that people answer once more after a discussion, or one of them does, in the order of their shards."""
    own = among(assignment.c.person_id, None if person_id is None else [person_id])
    query = select(assignment.c.cell_id).where(rounds.in_round(again), own)
    return list(tx.scalars(query.group_by(assignment.c.cell_id).order_by(func.min(assignment.c.position))))
