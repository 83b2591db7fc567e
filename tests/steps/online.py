"""People who answer online, on the small study."""

from __future__ import annotations

from itertools import count
from typing import Any

from fcpair.params import Annotate
from fcpair.records import Visitor
from fcpair.steps.answers.work_queue import WorkQueue
from fcpair.steps.base.context import load_opaque_ids
from fcpair.study import Study
from fcpair.work_records import Submission, Task

_REQUESTS = count()


def admit(study: Study, name: str) -> Visitor:
    """Invite somebody, and have them come in and consent."""
    token = study.access.invite(name)
    study.access.consent(next(one.id for one in study.people if one.name == name), {})
    visitor = study.access.by_token(token)
    assert visitor is not None
    return visitor


def at_desk(study: Study, name: str, annotate: Annotate | None = None) -> tuple[WorkQueue, Visitor]:
    """The desk, and somebody who sits at it."""
    return study.work_queue(annotate or Annotate()), admit(study, name)


def give(
    desk: WorkQueue, visitor: Visitor, answer: Any, assignment_id: int | None = None, **given: object
) -> dict[str, int]:
    """Answer one pair, the next open one if none is named, with a new request."""
    tasks = desk.tasks(visitor) if assignment_id is None else []
    one = assignment_id if assignment_id is not None else tasks[0].assignment_id
    if tasks and tasks[0].decision_id is not None:
        given.setdefault("decision_id", tasks[0].decision_id)
    return desk.submit(visitor, Submission(f"request-{next(_REQUESTS)}", one, answer, **given))  # type: ignore[arg-type]


def choices(desk: WorkQueue, visitor: Visitor) -> dict[bool, tuple[str, ...]]:
    """What somebody can choose from, in the order of the keys: where decisions are checked blind, and where not."""
    return {one.blind: tuple(one.form[0]["choices"]) for one in desk.rounds(visitor)}


def stored_id(study: Study, task: Task) -> int:
    """The number that the assignment of a task has in the study."""
    with study._store.read() as tx:
        return load_opaque_ids(tx).decrypt_assignment(task.assignment_id)


def column_of(task: Task) -> str:
    """The text of the column of a task that shows it."""
    assert task.column is not None
    return task.column.body
