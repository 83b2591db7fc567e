"""People who answer online, on the small study."""

from __future__ import annotations

from itertools import count

from fcpair.params import Annotate
from fcpair.records import Submission, Visitor
from fcpair.steps.desk import Desk
from fcpair.study import Study

_REQUESTS = count()


def admit(study: Study, name: str) -> Visitor:
    """Invite somebody, and have them come in and consent."""
    visitor = study.access.by_token(study.access.invite(name))
    assert visitor is not None
    study.access.consent(visitor.id, {})
    return visitor


def at_desk(study: Study, name: str, annotate: Annotate | None = None) -> tuple[Desk, int]:
    """The desk, and the id of somebody who sits at it."""
    return study.desk(annotate or Annotate()), admit(study, name).id


def give(desk: Desk, person_id: int, answer: str, assignment_id: int | None = None, **given: object) -> dict[str, int]:
    """Answer one pair, the next open one if none is named, with a new request."""
    tasks = desk.tasks(person_id) if assignment_id is None else []
    one = assignment_id if assignment_id is not None else tasks[0].assignment_id
    if tasks and tasks[0].decision_id is not None:
        given.setdefault("decision_id", tasks[0].decision_id)
    return desk.submit(person_id, Submission(f"request-{next(_REQUESTS)}", one, answer, **given))  # type: ignore[arg-type]
