"""The guidelines: every version that there was; the newest holds."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select

from fcpair.store.database import checksums, hash_chain
from fcpair.store.database.store import Tx, now
from fcpair.store.database.tables import assignment, guideline, judgement, person

NEWEST = select(func.max(guideline.c.id)).scalar_subquery()
"""The number of the version that holds."""


def add_version(tx: Tx, body: str, person_id: int | None) -> int:
    """Add a version, which holds from now on; returns its number."""
    number = checksums.add(tx, guideline, [{"body": body, "at": now(), "person_id": person_id}])
    hash_chain.count_one(tx, "guideline")
    return number


def current_version(tx: Tx) -> tuple[int, str]:
    """The number and the Markdown of the version that holds."""
    row = tx.execute(select(guideline.c.id, guideline.c.body).where(guideline.c.id == NEWEST)).one()
    return row.id, row.body


def versions(tx: Tx) -> list[dict[str, Any]]:
    """Every version, oldest first: `version`, `body`, `at`, `by` (None: the recipe), `judgements` that rest on it."""
    number, by = guideline.c.id.label("version"), person.c.name.label("by")
    n = select(func.count(judgement.c.id)).where(judgement.c.guideline_id == guideline.c.id).correlate(guideline)
    query = select(number, *guideline.c["body", "at"], by, n.scalar_subquery().label("judgements"))
    query = query.outerjoin(person, person.c.id == guideline.c.person_id).order_by(guideline.c.id)
    return [dict(row._mapping) for row in tx.execute(query)]


def answers_by_person(tx: Tx) -> dict[int, tuple[int, int]]:
    """The newest version under which each person, by id, has answered, and how many answers they gave under it."""
    key = (assignment.c.person_id, judgement.c.guideline_id)
    query = select(*key, func.count().label("n")).join(assignment, assignment.c.id == judgement.c.assignment_id)
    query = query.where(judgement.c.guideline_id.is_not(None)).group_by(*key).order_by(judgement.c.guideline_id)
    return {row.person_id: (row.guideline_id, row.n) for row in tx.execute(query)}
