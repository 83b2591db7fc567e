"""The people of a study, under their pseudonyms; their sessions and guidelines, and attempts to come in that failed."""

from __future__ import annotations

from datetime import datetime, timedelta
from secrets import token_hex
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, bindparam, delete, exists, func, insert, select, update

from fcpair.records import Person, Role, Visitor
from fcpair.store import optouts
from fcpair.store.corpus import grids
from fcpair.store.database import backends, checksums, hash_chain, tables
from fcpair.store.database.statements import PreparedStatement, count, is_true
from fcpair.store.database.store import Tx, now
from fcpair.store.database.tables import assignment, attempt, ended_session, guideline, judgement, person, study
from fcpair.store.oversight import settings

SECRET_BYTES = 32


def add_people(tx: Tx, names: list[str], role: Role) -> list[Person]:
    """Add people in one role; their names must be new."""
    checksums.add(tx, person, ({"name": name, "role": role.value} for name in names))
    return [member for member in people(tx) if member.name in set(names)]


def people(tx: Tx, role: Role | None = None, *, active: bool = False) -> list[Person]:
    """The people, in the order in which they came; of one role, and without the retired, if asked."""
    rows = tx.execute(select(*person.c["id", "name", "role", "retired_at"]).order_by(person.c.id))
    everybody = (Person(row.id, row.name, Role(row.role), row.retired_at is not None) for row in rows)
    return [item for item in everybody if role in (None, item.role) and not (active and item.retired)]


def retire(tx: Tx, person_id: int, *, keeps_link: bool = False) -> None:
    """Note that a person takes no further part; a link that they keep lets nobody in, but says whose it was."""
    change(tx, person_id, retired_at=now(), **({} if keeps_link else {"token_hash": None}))
    tx.execute(delete(ended_session).where(ended_session.c.person_id == person_id))  # none can let them in any more


def change(tx: Tx, person_id: int, **values: Any) -> None:
    """Let a person have other values, from now on: `role`, `blurred` pages, `keeps_refused` texts, `language` of pages,
    `demographics`, topics `opted_out` of (as `optouts.to_stored` writes them), ...
    """
    tx.execute(update(person).where(person.c.id == person_id).values(**values))


def set_token(tx: Tx, person_id: int, token_hash: str | None) -> None:
    """Let a person in by the token with this hash, or by none; sessions rest on it, so those before end."""
    change(tx, person_id, token_hash=token_hash)
    tx.execute(delete(ended_session).where(ended_session.c.person_id == person_id))


def ids_with_token(tx: Tx) -> set[int]:
    """The ids of those who can be let in by a token."""
    return set(tx.scalars(select(person.c.id).where(person.c.token_hash.is_not(None) & person.c.retired_at.is_(None))))


def retired_keys(tx: Tx) -> dict[int, str]:
    """The hash of the token of everybody who takes no further part and has kept their link, by their id."""
    query = select(*person.c["id", "token_hash"]).where(person.c.retired_at.is_not(None))
    return {row.id: row.token_hash for row in tx.execute(query.where(person.c.token_hash.is_not(None)))}


SESSION_SECRET = select(study.c.session_secret).scalar_subquery()


def has_ended(session: BindParameter[Any]) -> ColumnElement[bool]:
    """Return whether somebody has ended a session."""
    return exists().where(ended_session.c.session == session)


_CONSENT, _ASKED_AT, _EARLIER = "consent", "asked_at", "earlier"  # settings of the first grid
_VISITOR = select(
    *person.c["id", "name", "role", "token_hash", "consented_at", "blurred", "keeps_refused", "language"],
    SESSION_SECRET.label("session_secret"),
    select(tables.setting.c.value)
    .where(tables.setting.c.key == f"{_CONSENT}.{_ASKED_AT}")
    .scalar_subquery()
    .label("asked_at"),
).where(person.c.retired_at.is_(None), person.c.token_hash.is_not(None))
_BY_HASH = PreparedStatement(_VISITOR.where(person.c.token_hash == bindparam("hash")))
_BY_ID = PreparedStatement(_VISITOR.where(person.c.id == bindparam("one"), ~has_ended(bindparam("session"))))


def visitor_by_hash(tx: Tx, token_hash: str) -> Visitor | None:
    """Find the owner of the token with this hash; None when it is nobody's, or its owner takes no further part."""
    return _to_visitor(_BY_HASH.first(tx, hash=token_hash))


def visitor_by_id(tx: Tx, person_id: int, session: str = "") -> Visitor | None:
    """The person of this id, if they can be let in; and have not ended the `session`, where one is named."""
    return _to_visitor(_BY_ID.first(tx, one=person_id, session=session))


def _to_visitor(row: Any) -> Visitor | None:
    if row is None:
        return None
    asked_again, facts = _precedes(row.consented_at, row.asked_at), (row.id, row.name, Role(row.role), row.token_hash)
    wishes = (bool(row.blurred), row.session_secret, bool(row.keeps_refused))
    consented = row.consented_at is not None and not asked_again
    return Visitor(*facts, consented, *wishes, asked_again=asked_again, language=row.language)


def _precedes(consented_at: str | None, asked_at: str | None) -> bool:
    return consented_at is not None and asked_at is not None and consented_at <= asked_at


def note_consent(tx: Tx, person_id: int, demographics: dict[str, str], sentence: str) -> None:
    """Note that a person agreed, the first time, and add what they said of themselves to theirs, not to simulated
    answers.
    """
    own, first = person.c.id == person_id, {"consented_at": now(), "consented_to": sentence, "demographics": None}
    tx.execute(update(person).where(own, person.c.consented_at.is_(None)).values(**first))
    earlier_answers = tx.scalar(select(person.c.demographics).where(own)) or {}
    change(tx, person_id, demographics={**earlier_answers, **demographics})


def n_consents(tx: Tx) -> int:
    """Number of people who take part and have consented."""
    return count(tx, person, person.c.consented_at.is_not(None), person.c.retired_at.is_(None))


def ask_consent_again(tx: Tx, run_id: int) -> None:
    """Let no consent that was given so far let anybody go on."""
    newest = tx.scalar(select(func.max(person.c.consented_at))) or ""
    with grids.on_first_grid(tx):
        settings.save_settings(tx, _CONSENT, {_ASKED_AT: max(now(), newest)}, run_id)


def is_asked_again(tx: Tx, person_id: int) -> bool:
    """Return whether a person consented before everybody was asked again, and has not since."""
    consented_at = tx.scalar(select(person.c.consented_at).where(person.c.id == person_id))
    return _precedes(consented_at, _asking(tx).get(_ASKED_AT))


def renew_consent(tx: Tx, person_id: int, sentence: str, run_id: int) -> None:
    """Let a person who was asked again have agreed to a sentence now; what they agreed to before is kept."""
    own, asking = person.c.id == person_id, _asking(tx)
    name, *consent = tx.execute(select(*person.c["name", "consented_at", "consented_to"]).where(own)).one()
    earlier = asking.get(_EARLIER, {})
    with grids.on_first_grid(tx):
        kept = {**earlier, name: [*earlier.get(name, []), consent]}
        settings.save_settings(tx, _CONSENT, {_EARLIER: kept}, run_id)
    next_time = datetime.fromisoformat(asking[_ASKED_AT]) + timedelta(milliseconds=1)
    consented_at = max(now(), next_time.isoformat(timespec="milliseconds"))
    change(tx, person_id, consented_at=consented_at, consented_to=sentence)


def _asking(tx: Tx) -> dict[str, Any]:
    """The settings about asking again: `asked_at`, and of each person the `earlier` consents."""
    with grids.on_first_grid(tx):
        return settings.of_stage(tx, _CONSENT)


def ids_without_demographics(tx: Tx, role: Role) -> list[int]:
    """Ids of people who take part in a role, have not consented, and of whom nothing is known, in order."""
    nobody_yet = person.c.retired_at.is_(None) & person.c.consented_at.is_(None) & person.c.demographics.is_(None)
    return list(tx.scalars(select(person.c.id).where(person.c.role == role.value, nobody_yet).order_by(person.c.id)))


def opt_outs(tx: Tx, person_id: int | None = None) -> dict[int, tuple[optouts.OptOut, ...]]:
    """Opt-outs of people, by person. Whoever opted out of nothing is left out."""
    own = () if person_id is None else (person.c.id == person_id,)
    rows = tx.execute(select(person.c.id, person.c.opted_out).where(*own).order_by(person.c.id))
    return {row.id: optouts.parse(row.opted_out) for row in rows if row.opted_out}


def terms(tx: Tx) -> list[dict[str, Any]]:
    """On what terms people take part: some columns of theirs, and `earlier_consents`, a time and a sentence each."""
    earlier = _asking(tx).get(_EARLIER, {})
    columns, all_terms = person.c["name", "role", "consented_at", "consented_to", "demographics", "opted_out"], []
    for row in tx.execute(select(*columns).order_by(person.c.id)):
        opted_out = optouts.topics_by_column(optouts.parse(row.opted_out))
        own = {"demographics": row.demographics or {}, "earlier_consents": earlier.get(row.name, [])}
        all_terms.append({**row._mapping, **own, "opted_out": opted_out})
    return all_terms


def forget(tx: Tx, person_id: int) -> None:
    """Delete what a person said about themselves, their refused texts, and of a retired one what they opted out of."""
    backends.backend_of(tx).erase_deleted(tx)
    own = select(assignment.c.id).where(assignment.c.person_id == person_id)
    tx.execute(update(tables.refusal).where(tables.refusal.c.assignment_id.in_(own)).values(body=None))
    change(tx, person_id, demographics=None)
    is_gone = (person.c.id == person_id) & person.c.retired_at.is_not(None)
    tx.execute(update(person).where(is_gone).values(opted_out=None))


def renew_session_secret(tx: Tx) -> None:
    """Sign sessions with a new secret from now on; those before are worthless."""
    tx.execute(update(study).values(session_secret=token_hex(SECRET_BYTES)))
    tx.execute(delete(ended_session))


def end_session(tx: Tx, person_id: int, session: str, lasts_s: float) -> None:
    """Note that a session has ended, which would be too old in `lasts_s` seconds; what is too old is forgotten."""
    tx.execute(delete(ended_session).where(ended_session.c.until < now()))
    if not is_true(tx, exists().where(ended_session.c.session == session)):
        tx.execute(insert(ended_session).values(session=session, person_id=person_id, until=now(lasts_s / 60)))


TimeSpan = tuple[str, str]  # after the first, and not after the second
_COUNTS = (attempt.c.at > bindparam("after")) & (attempt.c.at <= bindparam("until"))
_COUNTED = select(func.count().label("n"), func.min(attempt.c.at).label("oldest")).where(_COUNTS)
_TALLY, _TALLY_OF = map(PreparedStatement, (_COUNTED, _COUNTED.where(attempt.c.place == bindparam("from"))))


def hold_attempts(tx: Tx) -> None:
    """Let nobody else who holds them count attempts until the end of the transaction."""
    backends.backend_of(tx).hold_rows(tx, study, [1])  # there is one row


def tally_attempts(tx: Tx, span: TimeSpan, place: str | None = None) -> tuple[int, str | None]:
    """Count the attempts in a span of time, from one place or in all, and find when the first of them was."""
    params = {"after": span[0], "until": span[1], **({} if place is None else {"from": place})}
    row = (_TALLY if place is None else _TALLY_OF).first(tx, **params)
    return int(row.n), row.oldest


def add_attempt(tx: Tx, place: str, at: str) -> None:
    """Note an attempt."""
    tx.execute(insert(attempt), [{"place": place, "at": at}])


def has_attempts_outside(tx: Tx, span: TimeSpan) -> bool:
    """Return whether there are any outside a span of time."""
    return bool(tx.scalar(select(exists().where(~_COUNTS)), {"after": span[0], "until": span[1]}))


def forget_attempts_outside(tx: Tx, span: TimeSpan) -> None:
    """Delete those outside a span of time."""
    tx.execute(delete(attempt).where(~_COUNTS), {"after": span[0], "until": span[1]})


NEWEST_GUIDELINES = select(func.max(guideline.c.id)).scalar_subquery()  # the version that holds


def add_guidelines(tx: Tx, body: str, person_id: int | None) -> int:
    """Add a version, which holds from now on; returns its number."""
    number = checksums.add(tx, guideline, [{"body": body, "at": now(), "person_id": person_id}])
    hash_chain.count_one(tx, "guideline")
    return number


def current_guidelines(tx: Tx) -> tuple[int, str]:
    """The number and the Markdown of the version that holds."""
    row = tx.execute(select(guideline.c.id, guideline.c.body).where(guideline.c.id == NEWEST_GUIDELINES)).one()
    return row.id, row.body


def guideline_versions(tx: Tx) -> list[dict[str, Any]]:
    """Every version, oldest first: `version`, `body`, `at`, `by` (None: the recipe), `judgements` that rest on it."""
    number, by = guideline.c.id.label("version"), person.c.name.label("by")
    n = select(func.count(judgement.c.id)).where(judgement.c.guideline_id == guideline.c.id).correlate(guideline)
    query = select(number, *guideline.c["body", "at"], by, n.scalar_subquery().label("judgements"))
    query = query.outerjoin(person, person.c.id == guideline.c.person_id).order_by(guideline.c.id)
    return [dict(row._mapping) for row in tx.execute(query)]


def answers_by_guidelines(tx: Tx) -> dict[int, tuple[int, int]]:
    """The newest version under which each person, by id, has answered, and how many answers they gave under it."""
    key = (assignment.c.person_id, judgement.c.guideline_id)
    query = select(*key, func.count().label("n")).join(assignment, assignment.c.id == judgement.c.assignment_id)
    query = query.where(judgement.c.guideline_id.is_not(None)).group_by(*key).order_by(judgement.c.guideline_id)
    return {row.person_id: (row.guideline_id, row.n) for row in tx.execute(query)}
