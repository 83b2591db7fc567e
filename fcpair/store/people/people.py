"""The people of a study, under their pseudonyms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import bindparam, insert, select, update

from fcpair.records import Person, Role, Visitor
from fcpair.store.database import backends, checksums
from fcpair.store.database.prepared import PreparedStatement
from fcpair.store.database.store import Tx, now
from fcpair.store.database.tables import assignment, person, refusal
from fcpair.store.people import optouts, sessions
from fcpair.store.people.optouts import OptOut


def add_people(tx: Tx, names: list[str], role: Role) -> list[Person]:
    """Add people in one role; their names must be new."""
    rows = checksums.with_checksums(tx, person, ({"name": name, "role": role.value} for name in names))
    tx.execute(insert(person), list(rows))
    return [one for one in people(tx) if one.name in set(names)]


def people(tx: Tx, role: Role | None = None, *, active: bool = False) -> list[Person]:
    """The people, in the order in which they came; of one role, and without the retired, if asked."""
    query = select(person.c.id, person.c.name, person.c.role, person.c.retired_at).order_by(person.c.id)
    if role is not None:
        query = query.where(person.c.role == role.value)
    if active:
        query = query.where(person.c.retired_at.is_(None))
    return [Person(row.id, row.name, Role(row.role), row.retired_at is not None) for row in tx.execute(query)]


def retire(tx: Tx, person_id: int) -> None:
    """Note that a person takes no further part and cannot come in any more; what they did stays."""
    tx.execute(update(person).where(person.c.id == person_id).values(retired_at=now(), token_hash=None))
    sessions.forget(tx, person_id)


def set_role(tx: Tx, person_id: int, role: Role) -> None:
    """Give a person another role from now on."""
    tx.execute(update(person).where(person.c.id == person_id).values(role=role.value))


def set_token(tx: Tx, person_id: int, token_hash: str | None) -> None:
    """Let a person in by the token with this hash from now on, and by no other; None shuts the door.

    Sessions rest on the token, so those before end with it.
    """
    tx.execute(update(person).where(person.c.id == person_id).values(token_hash=token_hash))
    sessions.forget(tx, person_id)


def ids_with_token(tx: Tx) -> set[int]:
    """The ids of those who can be let in by a token."""
    return set(tx.execute(select(person.c.id).where(person.c.token_hash.is_not(None))).scalars())


_VISITOR = select(
    *(person.c[name] for name in ("id", "name", "role", "token_hash", "consented_at")),
    *(person.c[name] for name in ("blurred", "keeps_refused", "language")),
    sessions.SECRET.label("session_secret"),
).where(person.c.retired_at.is_(None), person.c.token_hash.is_not(None))
_BY_HASH = PreparedStatement(_VISITOR.where(person.c.token_hash == bindparam("hash")))
_BY_ID = PreparedStatement(_VISITOR.where(person.c.id == bindparam("one"), ~sessions.has_ended(bindparam("session"))))


def visitor_by_hash(tx: Tx, token_hash: str) -> Visitor | None:
    """Find the owner of the token with this hash; None when it is nobody's, or its owner takes no further part."""
    return _to_visitor(_BY_HASH.first(tx, hash=token_hash))


def visitor_by_id(tx: Tx, person_id: int, session: str = "") -> Visitor | None:
    """The person of this id, if they can be let in; and have not ended the `session`, where one is named."""
    return _to_visitor(_BY_ID.first(tx, one=person_id, session=session))


def _to_visitor(row: Any) -> Visitor | None:
    if row is None:
        return None
    consented = row.consented_at is not None
    settings = (bool(row.blurred), row.session_secret, bool(row.keeps_refused))
    return Visitor(row.id, row.name, Role(row.role), row.token_hash, consented, *settings, language=row.language)


def note_consent(tx: Tx, person_id: int, demographics: dict[str, str], sentence: str) -> None:
    """Note that a person agreed to a sentence, the first time, and add to what they said about themselves.

    What simulated people said in their place before is not theirs.
    """
    own = person.c.id == person_id
    first = {"consented_at": now(), "consented_to": sentence, "demographics": None}
    tx.execute(update(person).where(own, person.c.consented_at.is_(None)).values(**first))
    earlier_answers = tx.execute(select(person.c.demographics).where(own)).scalar() or {}
    tx.execute(update(person).where(own).values(demographics={**earlier_answers, **demographics}))


def set_demographics(tx: Tx, demographics_by_id: Mapping[int, dict[str, str]]) -> None:
    """Note what simulated people say about themselves, by the id of the person in whose place they answer."""
    for person_id, demographics in demographics_by_id.items():
        tx.execute(update(person).where(person.c.id == person_id).values(demographics=demographics))


def ids_without_demographics(tx: Tx, role: Role) -> list[int]:
    """Ids of people who take part in a role, have not consented, and of whom nothing is known, in order."""
    nobody_yet = person.c.retired_at.is_(None) & person.c.consented_at.is_(None) & person.c.demographics.is_(None)
    query = select(person.c.id).where(person.c.role == role.value, nobody_yet).order_by(person.c.id)
    return list(tx.execute(query).scalars())


def set_blurred(tx: Tx, person_id: int, blurred: bool) -> None:
    """Remember whether a person wants the HS blurred until they ask for it."""
    tx.execute(update(person).where(person.c.id == person_id).values(blurred=blurred))


def set_keeps_refused(tx: Tx, person_id: int, keeps: bool) -> None:
    """Remember whether a person lets their texts be kept that checks refuse, from now on."""
    tx.execute(update(person).where(person.c.id == person_id).values(keeps_refused=keeps))


def set_language(tx: Tx, person_id: int, language: str) -> None:
    """Remember the language in which a person wants the pages."""
    tx.execute(update(person).where(person.c.id == person_id).values(language=language))


def opt_outs(tx: Tx, person_id: int | None = None) -> dict[int, tuple[OptOut, ...]]:
    """Opt-outs of people, by person. Whoever opted out of nothing is left out."""
    query = select(person.c.id, person.c.opted_out).order_by(person.c.id)
    if person_id is not None:
        query = query.where(person.c.id == person_id)
    return {row.id: optouts.parse(row.opted_out) for row in tx.execute(query) if row.opted_out}


def set_opt_outs(tx: Tx, person_id: int, opted_out: Iterable[OptOut]) -> None:
    """Note what a person has opted out of."""
    tx.execute(update(person).where(person.c.id == person_id).values(opted_out=optouts.to_stored(opted_out)))


def terms(tx: Tx) -> list[dict[str, Any]]:
    """On what terms people take part: `name`, `role`, `consented_at`, `consented_to`, `demographics`, `opted_out`."""
    columns = ("name", "role", "consented_at", "consented_to", "demographics", "opted_out")
    rows = tx.execute(select(*(person.c[name] for name in columns)).order_by(person.c.id))
    return [
        {
            **row._mapping,
            "demographics": row.demographics or {},
            "opted_out": optouts.topics_by_column(optouts.parse(row.opted_out)),
        }
        for row in rows
    ]


def forget(tx: Tx, person_id: int) -> None:
    """Delete what a person said about themselves and texts of theirs that were refused, and of one who takes no further
    part what they opted out of.
    """
    backends.backend_of(tx).erase_deleted(tx)
    own = select(assignment.c.id).where(assignment.c.person_id == person_id)
    tx.execute(update(refusal).where(refusal.c.assignment_id.in_(own)).values(body=None))
    tx.execute(update(person).where(person.c.id == person_id).values(demographics=None))
    gone = (person.c.id == person_id) & person.c.retired_at.is_not(None)
    tx.execute(update(person).where(gone).values(opted_out=None))
