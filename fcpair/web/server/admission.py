"""Lets requests in so that nobody who works waits for those who look, nor for one person who asks too much at once.

The requests that come with every answer are handed to their endpoints without the framework around them. A framework
finds the route, checks the shape of what was sent and makes of every error a response, in several layers that cost
more than an answer itself. Here somebody who came some moments ago asks for what is asked for most, in the shape that
clients send it. Whatever is otherwise goes the usual way, which ends in the same endpoints.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Annotated, Any

from fastapi import Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fcpair.errors import BusyError, FcpairError, TooManyError, UnexaminedError, UnknownVisitorError
from fcpair.records import Visitor
from fcpair.sentences import say
from fcpair.web.api.schemas import MOST_AHEAD, AnswerIn
from fcpair.web.auth import Auth
from fcpair.web.context import context_of
from fcpair.web.errors import ErrorHandlers
from fcpair.web.form import BODY
from fcpair.web.server.compression import json_response
from fcpair.web.server.route_costs import Kind, kind_of
from fcpair.web.server.security import STATIC, log_failure
from fcpair.web.server.worker import ReportWorker
from fcpair.web.visits import Visit, WorkerVisit, roles_of
from fcpair.work_records import Submission, Task

MOST_OF_ONE = 6
"""So many requests of one person are under way at once, as browsers hold so many connections."""

STRANGERS = (16, 5.0)
"""... and so many of all together who are not signed in: a class that opens its links at once waits some seconds."""

AT_ONCE = {Kind.LIST: (2, 5.0), Kind.LOOK: (2, 5.0), Kind.ACT: (16, 0.0)}
"""Of a kind so many are let in at once, and others wait so many seconds for their turn.

Each takes a thread, of which there are 40, and an act may wait in it for somebody else who writes.
"""

LATER_S = 3
TOO_MUCH = say("too many requests at once; what was shown or saved before is safe. Please try again")

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


async def next_(visit: WorkerVisit, n: Count = 1, have: Have = "") -> Response:
    """The cells that you have to answer next; none when all is done, or a limit is reached (`/api/progress`).

    Asking again gives the same until you answer. Where pairs go to the next person who asks, at most ten are kept for
    you for a while, which begins again at each answer or request.
    """
    tasks = visit.context.work_queue.peek(visit.visitor, n)
    if tasks is None:  # in open dealing, what is free is given first, which may wait for others
        tasks = await visit.context.assigning.add((visit.visitor, n))
    known = set(have.split(","))
    new = [one for one in tasks if _name(one) not in known]
    return json_response(visit.request, {"tasks": new, "order": [one.assignment_id for one in tasks]})


def _name(task: Task) -> str:
    """What tells a task from others, and from what it was before the label that it is about changed."""
    return f"{task.assignment_id}" if task.decision_id is None else f"{task.assignment_id}.{task.decision_id}"


async def submit(visit: WorkerVisit, body: AnswerIn) -> Response:
    """Stored before the reply is sent. If no reply comes, send the same request again: it is stored once.

    A new answer on the same pair replaces the earlier one, which is kept.
    """
    submission = Submission(**vars(body))
    while True:
        try:
            return JSONResponse(await visit.context.intake.add((visit.visitor, submission)))
        except UnexaminedError:  # a text is held against the checks of its round: too long for everybody to wait
            await asyncio.to_thread(visit.context.work_queue.run_text_checks, visit.visitor, submission)
            submission = replace(submission, examined=True)


class _OtherShapeError(Exception):
    """The content sent is not what clients usually send; it may still be right."""


def _parse_answer(scope: Mapping[str, Any]) -> tuple[AnswerIn]:
    if _JSON not in scope["headers"] or scope["query_string"]:
        raise _OtherShapeError
    try:
        sent = json.loads(scope[BODY], object_pairs_hook=_members)
    except (ValueError, RecursionError):
        raise _OtherShapeError from None
    return (AnswerIn.model_validate(sent),)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _OtherShapeError
    return members


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


class AdmissionControl:
    """Stands around the app, inside the guard. Kinds that have a worker are answered by that."""

    def __init__(self, app: ASGIApp, door: Auth, problems: ErrorHandlers) -> None:
        self._app, self._door, self._problems = app, door, problems
        self._limits = {kind: _Limit(*most) for kind, most in AT_ONCE.items()}
        self._strangers = _Limit(*STRANGERS)
        self._under_way = Counter[int]()  # by person; there are only so many

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, or ask whoever sent it to come back."""
        if scope["type"] != "http" or scope["path"].startswith(STATIC):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        hot = HOT.get((scope["method"], scope["path"]))
        try:
            if hot is None or not await self._answer_hot(request, receive, send, *hot):
                await self._admit_in_turn(request, receive, send)
        except (BusyError, TooManyError) as error:
            await self._problems.answer_known(request, error)(scope, receive, send)

    async def _answer_hot(self, request: Request, receive: Receive, send: Send, endpoint: Endpoint, read: Read) -> bool:
        """Handle a request of somebody who is remembered; whether that was done, as it has to go the usual way else."""
        response, counted = None, None
        try:
            try:
                visitor = self._door.require_visitor(request, roles_of(endpoint), remembered=True)
                if self._under_way[visitor.id] >= MOST_OF_ONE:
                    raise BusyError(TOO_MUCH, 1)
                counted = visitor.id
                self._under_way[counted] += 1
                response = await endpoint(Visit(request, context_of(request), visitor), *read(request.scope))
            except UnknownVisitorError:
                self._door.forget_visitor(request)
            except FcpairError as error:
                response = self._problems.answer_known(request, error)
            except (_OtherShapeError, ValidationError):
                pass
            except Exception as error:
                log_failure(request.scope, error)
                response = self._problems.answer_defect(request, error)
            if response is not None:
                await response(request.scope, receive, send)
        finally:
            if counted is not None:
                self._under_way[counted] -= 1
        if response is None:
            self._door.forget_lookup(request)
        return response is not None

    async def _admit_in_turn(self, request: Request, receive: Receive, send: Send) -> None:
        visitor = self._visitor(request)
        if visitor is None:
            async with AsyncExitStack() as turn:
                await turn.enter_async_context(self._strangers.slot())
                if self._door.has_wrong_token(request):
                    await run_in_threadpool(self._door.visitor_counting_failures, request)
                await self._admit(None, request.scope, receive, _end_turn_before(turn, send))
            return
        if self._under_way[visitor.id] >= MOST_OF_ONE:
            raise BusyError(TOO_MUCH, 1)
        self._under_way[visitor.id] += 1
        try:
            await self._admit(visitor, request.scope, receive, send)
        finally:
            self._under_way[visitor.id] -= 1

    async def _admit(self, visitor: Visitor | None, scope: Scope, receive: Receive, send: Send) -> None:
        kind = kind_of(scope["method"], scope["path"])
        is_admitted_kind = kind is not None and (
            kind.role is None or (visitor is not None and visitor.role is kind.role)
        )
        limit = self._limits.get(kind) if kind is not None and is_admitted_kind else None
        if limit is None:
            await self._app(scope, receive, send)
            return
        worker: ReportWorker | None = scope["app"].state.workers.get(kind)
        async with limit.slot():
            response = await worker.forward(scope) if worker else None
            if response is None:
                await self._app(scope, receive, send)
        if response is not None:
            await response(scope, receive, send)

    def _visitor(self, request: Request) -> Visitor | None:
        try:
            return self._door.visitor(request)
        except FcpairError:  # the app will say so
            return None


def _end_turn_before(turn: AsyncExitStack, send: Send) -> Send:
    """Sends a stranger's answer, and ends their turn before: who does not read must keep nobody else from coming in."""

    async def send_after_turn(message: Message) -> None:
        await turn.aclose()
        await send(message)

    return send_after_turn


class _Limit:
    def __init__(self, n: int, patience_s: float) -> None:
        self._free, self._patience_s = asyncio.Semaphore(n), patience_s

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._patience_s):
                await self._free.acquire()
        except TimeoutError:
            raise BusyError(TOO_MUCH, LATER_S) from None
        try:
            yield
        finally:
            self._free.release()
