"""The people of a study, under their pseudonyms."""

from __future__ import annotations

from sqlalchemy import insert, select, update

from fcpair.records import Person, Role
from fcpair.store.rows import now
from fcpair.store.store import Tx
from fcpair.store.tables import person


def add_people(tx: Tx, names: list[str], role: Role) -> list[Person]:
    """Add people in one role; their names must be new."""
    tx.execute(insert(person), [{"name": name, "role": role.value} for name in names])
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
    """Note that a person takes no further part; what they did stays."""
    tx.execute(update(person).where(person.c.id == person_id).values(retired_at=now()))


def set_role(tx: Tx, person_id: int, role: Role) -> None:
    """Give a person another role from now on."""
    tx.execute(update(person).where(person.c.id == person_id).values(role=role.value))
