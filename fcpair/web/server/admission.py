"""Lets requests in so that nobody who works waits for those who look, nor for one person who asks too much at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fcpair.errors import BusyError, FcpairError, TooManyError
from fcpair.records import Visitor
from fcpair.web.auth import Auth
from fcpair.web.server.hot_routes import HOT, respond_hot
from fcpair.web.server.route_costs import Kind, kind_of
from fcpair.web.server.security import STATIC

if TYPE_CHECKING:
    from fcpair.web.errors import ErrorHandlers
    from fcpair.web.server.hot_routes import Endpoint, Read
    from fcpair.web.server.worker import ReportWorker

MOST_OF_ONE = 6
"""So many requests of one person are under way at once, as browsers hold so many connections."""

STRANGERS = (16, 5.0)
"""... and so many of all together who are not signed in: a class that opens its links at once waits some seconds."""

AT_ONCE = {Kind.LIST: (2, 5.0), Kind.LOOK: (2, 5.0), Kind.ACT: (16, 0.0)}
"""Of a kind so many are let in at once, and others wait so many seconds for their turn.

Each takes a thread, of which there are 40, and an act may wait in it for somebody else who writes.
"""

WORKER_KINDS = (Kind.LIST, Kind.LOOK)
"""What a process of its own does, which would otherwise take the time of those who answer."""

LATER_S = 3
TOO_MUCH = "too many requests at once; what was shown or saved before is safe. Please try again"


class AdmissionControl:
    """Stands around the app, inside the guard; `aside` is the process that looks, where there is one."""

    def __init__(self, app: ASGIApp, door: Auth, problems: ErrorHandlers) -> None:
        self._app, self._door, self._problems = app, door, problems
        self._limits = {kind: _Limit(*most) for kind, most in AT_ONCE.items()}
        self._strangers = _Limit(*STRANGERS)
        self._under_way: dict[int, int] = {}  # by person; there are only so many

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
        visitor = self._door.remembered_visitor(request)
        if visitor is None:
            return False
        self._count_request(visitor.id)
        try:
            response = await respond_hot(request, endpoint, read, self._problems)
            if response is not None:
                await response(request.scope, receive, send)
        finally:
            self._under_way[visitor.id] -= 1
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
        self._count_request(visitor.id)
        try:
            await self._admit(visitor, request.scope, receive, send)
        finally:
            self._under_way[visitor.id] -= 1

    def _count_request(self, person_id: int) -> None:
        """Count a request of a person that is under way."""
        under_way = self._under_way.get(person_id, 0)
        if under_way >= MOST_OF_ONE:
            raise BusyError(TOO_MUCH, 1)
        self._under_way[person_id] = under_way + 1

    async def _admit(self, visitor: Visitor | None, scope: Scope, receive: Receive, send: Send) -> None:
        kind = kind_of(scope["method"], scope["path"])
        is_admitted_kind = kind is not None and (
            kind.role is None or (visitor is not None and visitor.role is kind.role)
        )
        limit = self._limits.get(kind) if kind is not None and is_admitted_kind else None
        if limit is None:
            await self._app(scope, receive, send)
            return
        worker: ReportWorker | None = getattr(scope["app"].state, "aside", None) if kind in WORKER_KINDS else None
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
