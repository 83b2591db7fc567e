"""The requests that come with every answer, handed to their endpoints without the framework around them.

A framework finds the route, checks the shape of what was sent and makes of every error a response, in several layers
that cost more than an answer itself. Here somebody who came some moments ago asks for what is asked for most, in the
shape that clients send it. Whatever is otherwise goes the usual way, which ends in the same endpoints.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from fastapi import Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import ValidationError

from fcpair.errors import FcpairError, UnknownVisitorError
from fcpair.records import WORKERS
from fcpair.web.api.schemas import MOST_AHEAD, AnswerIn, task_json
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.errors import ErrorHandlers
from fcpair.web.form import BODY
from fcpair.web.server.compression import json_response
from fcpair.web.server.security import log_failure
from fcpair.work_records import Submission, Task

_TASK = r"[0-9]{16}(?:\.[0-9]{1,19})?"
_TASKS = rf"(?:{_TASK}(?:,{_TASK}){{0,{MOST_AHEAD - 1}}})?"
Have = Annotated[
    str,
    Query(
        pattern=f"^{_TASKS}$",
        description="The tasks that you have already: the `assignment_id` of each, with a point and its `decision_id` "
        "if it has one, separated by commas. They are not sent again.",
    ),
]
Count = Annotated[int, Query(ge=1, le=MOST_AHEAD, description="How many pairs.")]
Endpoint = Callable[..., Awaitable[Response]]
Read = Callable[[Mapping[str, Any]], tuple[Any, ...]]
_JSON = (b"content-type", b"application/json")
_WANTED = re.compile(rf"n=([1-9][0-9]?)(?:&have=({_TASKS}))?".encode())


@open_to(*WORKERS)
async def next_(request: Request, n: Count = 1, have: Have = "") -> Response:
    """The cells that you have to answer next; none when all is done, or a limit is reached (`/api/progress`).

    Asking again gives the same until you answer. Where pairs go to the next person who asks, at most ten are kept for
    you for a while, which begins again at each answer or request.
    """
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    tasks = context.work_queue.peek(visitor, n)
    if tasks is None:  # in open dealing, what is free is given first, which may wait for others
        tasks = await context.assigning.add((visitor, n))
    known = set(have.split(","))
    new = [task_json(one) for one in tasks if _name(one) not in known]
    return json_response(request, {"tasks": new, "order": [one.assignment_id for one in tasks]})


def _name(task: Task) -> str:
    """What tells a task from others, and from what it was before the label that it is about changed."""
    return f"{task.assignment_id}" if task.decision_id is None else f"{task.assignment_id}.{task.decision_id}"


@open_to(*WORKERS)
async def submit(request: Request, body: AnswerIn) -> Response:
    """Stored before the reply is sent. If no reply comes, send the same request again: it is stored once.

    A new answer on the same pair replaces the earlier one, which is kept.
    """
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    return JSONResponse(await context.intake.submit(visitor, Submission(**vars(body))))


class _OtherShapeError(Exception):
    """The content sent is not what clients usually send; it may still be right."""


def _parse_answer(scope: Mapping[str, Any]) -> tuple[AnswerIn]:
    if _JSON not in scope["headers"] or scope["query_string"]:
        raise _OtherShapeError
    try:
        sent = json.loads(scope[BODY])
    except (ValueError, RecursionError):
        raise _OtherShapeError from None
    return (AnswerIn.model_validate(sent),)


def _parse_wanted(scope: Mapping[str, Any]) -> tuple[int, str]:
    query = scope["query_string"]
    if not query:
        return 1, ""
    match = _WANTED.fullmatch(query)
    if match is None or int(match[1]) > MOST_AHEAD:
        raise _OtherShapeError
    return int(match[1]), (match[2] or b"").decode()


HOT: Mapping[tuple[str, str], tuple[Endpoint, Read]] = {
    ("GET", "/api/next"): (next_, _parse_wanted),
    ("POST", "/api/judgements"): (submit, _parse_answer),
}
"""The endpoints of these requests, and what reads their arguments.

A hop to a thread costs as much as all the rest of them. Reading is quick and waits for nobody; the intake sees to the
writing.
"""


async def respond_hot(request: Request, endpoint: Endpoint, read: Read, problems: ErrorHandlers) -> Response | None:
    """The response to somebody who is remembered; None where the request has to go the usual way."""
    scope = request.scope
    scope["endpoint"] = endpoint
    try:
        return await endpoint(request, *read(scope))
    except UnknownVisitorError:
        context_of(request).door.forget_visitor(request)
    except FcpairError as error:
        return problems.answer_known(request, error)
    except (_OtherShapeError, ValidationError):
        pass
    except Exception as error:
        log_failure(scope, error)
        return problems.answer_defect(request, error)
    return None
