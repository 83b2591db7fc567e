"""Lets requests in so that nobody who works waits for those who look, nor for one person who asks too much at once.

The requests that come with every answer are handed to their endpoints without the framework, whose layers cost more
than an answer itself: of somebody who came some moments ago, and in the shape that clients send. Whatever is otherwise
goes the usual way, which ends in the same endpoints.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from enum import Enum
from typing import Annotated, Any

from fastapi import Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fcpair.errors import BusyError, FcpairError, TooManyError, UnexaminedError, UnknownVisitorError
from fcpair.records import Role, Visitor
from fcpair.sentences import say
from fcpair.web.auth import Auth
from fcpair.web.context import context_of
from fcpair.web.errors import ErrorHandlers
from fcpair.web.form import BODY, json_response
from fcpair.web.schemas import MOST_AHEAD, AnswerIn
from fcpair.web.server.security import STATIC, log_failure
from fcpair.web.server.worker import ReportWorker
from fcpair.web.visits import Visit, WorkerVisit, roles_of
from fcpair.work_records import Submission


class Kind(Enum):
    """Work that a request does, and so how many of its kind are let in at once, see AT_ONCE."""

    ACT = "writes, and waits for others who do"
    LIST = "reads what many pairs make together: the adjudicators' conflicts"
    LOOK = "reads the whole study: what the lead sees, and files"


ROLES = {Kind.LIST: Role.ADJUDICATOR, Kind.LOOK: Role.LEAD}  # whose requests alone are of a kind: others get little
# The cost of each address, which stands for all below it that are not here themselves. What is not named reads a few
# rows if it is fetched, and waits for others who write if it is sent.
_STEPS_THAT_READ = ("keep", "reading", "columns", "plan", "people", "figures", "statements", "survey", "asking")
_PATHS: tuple[tuple[str, Kind | None, tuple[str, ...]], ...] = (
    ("GET", Kind.LIST, ("/thanks", "/adjudicate", "/api/conflicts", "/api/decided")),
    ("GET", Kind.LOOK, ("/lead",)),
    ("GET", None, ("/lead/acts", *(f"/lead/start/{step}" for step in ("task", "progress", "begin", "links")))),
    ("POST", Kind.LOOK, ("/lead/tiers", "/lead/people/overlap", "/lead/download", "/lead/grid/act", "/lead/pair")),
    ("GET", None, ("/lead/releases/file",)),
    ("POST", Kind.LOOK, ("/lead/uploads", "/lead/releases/form", "/lead/start/recipe")),
    ("POST", Kind.ACT, ("/lead/download/backup", "/lead/uploads/begin", "/lead/uploads/file")),  # for the server
    ("POST", Kind.LOOK, tuple(f"/lead/start/{step}" for step in _STEPS_THAT_READ)),
    ("POST", None, ("/join", "/api/judgements", "/api/renumber")),  # answers are for the intake
)
KINDS = {(method, path): kind for method, kind, paths in _PATHS for path in paths}


def kind_of(method: str, path: str) -> Kind | None:
    """The kind of a request; None where it is quick."""
    while path:
        if (method, path) in KINDS:
            return KINDS[method, path]
        path = path.rpartition("/")[0]
    return Kind.ACT if method in {"POST", "PUT"} else None


MOST_OF_ONE = 6  # requests of one person are under way at once, as browsers hold so many connections
STRANGERS = (16, 5.0)  # and of all together who are not signed in: a class that opens its links at once waits some s
# Of a kind so many are let in at once, and others wait so many seconds for their turn. Each takes a thread, of which
# there are 40, and an act may wait in it for somebody else who writes.
AT_ONCE = {Kind.LIST: (2, 5.0), Kind.LOOK: (2, 5.0), Kind.ACT: (16, 0.0)}
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
_KEY = re.compile(rb'"\s*:')
_WANTED = re.compile(rf"n=([1-9][0-9]?)(?:&have=({_TASKS}))?".encode())


async def next_(visit: WorkerVisit, n: Count = 1, have: Have = "") -> Response:
    """The cells that you have to answer next; none when all is done, or a limit is reached (`/api/progress`).

    Asking again gives the same until you answer. Where pairs go to the next person who asks, at most ten are kept for
    you for a while, which begins again at each answer or request.
    """
    tasks = visit.context.work_queue.peek(visit.visitor, n)
    if tasks is None:  # in open assignment, what is free is given first, which may wait for others
        tasks = await visit.context.assigning.add((visit.visitor, n))
    known, new = set(have.split(",")), []
    for task in tasks:
        # A task is told from others, and from what it was before the label that it is about changed.
        name = str(task.assignment_id) + (f".{task.decision_id}" if task.decision_id is not None else "")
        if name not in known:
            new.append(task)
    return json_response(visit.request, {"tasks": new, "order": [task.assignment_id for task in tasks]})


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
    if (b"content-type", b"application/json") not in scope["headers"] or scope["query_string"]:
        raise _OtherShapeError
    try:
        sent = json.loads(scope[BODY])
    except (ValueError, RecursionError):
        raise _OtherShapeError from None
    objects = [sent] if isinstance(sent, dict) else []
    for members in objects:
        objects += [member for member in members.values() if isinstance(member, dict)]
    if len(_KEY.findall(scope[BODY])) != sum(map(len, objects)):  # a key twice in an object, or a text with such signs
        raise _OtherShapeError
    return (AnswerIn.model_validate(sent),)


def _parse_wanted(scope: Mapping[str, Any]) -> tuple[int, str]:
    if not (query := scope["query_string"]):
        return 1, ""
    match = _WANTED.fullmatch(query)
    if match is None or int(match[1]) > MOST_AHEAD:
        raise _OtherShapeError
    return int(match[1]), (match[2] or b"").decode()


Endpoint = Callable[..., Awaitable[Response]]
Read = Callable[[Mapping[str, Any]], tuple[Any, ...]]
HOT: Mapping[tuple[str, str], tuple[Endpoint, Read]] = {
    ("GET", "/api/next"): (next_, _parse_wanted),
    ("POST", "/api/judgements"): (submit, _parse_answer),
}
"""The endpoints of these requests, and what reads their arguments; in no thread, as that would cost as much again."""


class AdmissionControl:
    """Stands around the app, inside the guard. Kinds that have a worker are answered by that."""

    def __init__(self, app: ASGIApp, door: Auth, problems: ErrorHandlers) -> None:
        self._app, self._door, self._problems = app, door, problems
        self._limits = {kind: (asyncio.Semaphore(n), patience_s) for kind, (n, patience_s) in AT_ONCE.items()}
        self._strangers = asyncio.Semaphore(STRANGERS[0]), STRANGERS[1]
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
            if response is None:
                self._door.forget_lookup(request)
            else:
                await response(request.scope, receive, send)
            return response is not None
        finally:
            if counted is not None:
                self._under_way[counted] -= 1

    async def _admit_in_turn(self, request: Request, receive: Receive, send: Send) -> None:
        visitor = None
        with suppress(FcpairError):  # the app will say so
            visitor = self._door.visitor(request)
        if visitor is not None:
            if self._under_way[visitor.id] >= MOST_OF_ONE:
                raise BusyError(TOO_MUCH, 1)
            self._under_way[visitor.id] += 1
            try:
                await self._admit(visitor, request.scope, receive, send)
            finally:
                self._under_way[visitor.id] -= 1
            return
        async with AsyncExitStack() as turn:

            async def send_after_turn(message: Message) -> None:
                """End a stranger's turn before the answer: who does not read must keep nobody from coming in."""
                await turn.aclose()
                await send(message)

            await turn.enter_async_context(_turn(*self._strangers))
            if self._door.has_wrong_token(request):
                await run_in_threadpool(self._door.visitor_counting_failures, request)
            await self._admit(None, request.scope, receive, send_after_turn)

    async def _admit(self, visitor: Visitor | None, scope: Scope, receive: Receive, send: Send) -> None:
        kind = kind_of(scope["method"], scope["path"])
        if kind is None or ROLES.get(kind) not in (None, visitor and visitor.role):
            await self._app(scope, receive, send)
            return
        worker: ReportWorker | None = scope["app"].state.workers.get(kind)
        async with _turn(*self._limits[kind]):
            response = await worker.forward(scope) if worker else None
            if response is None:
                await self._app(scope, receive, send)
        if response is not None:
            await response(scope, receive, send)


@asynccontextmanager
async def _turn(free: asyncio.Semaphore, patience_s: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(patience_s):
            await free.acquire()
    except TimeoutError:
        raise BusyError(TOO_MUCH, 3) from None
    try:
        yield
    finally:
        free.release()
