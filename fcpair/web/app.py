"""The web app: the pages and the JSON API of one study."""

from __future__ import annotations

import asyncio
import gc
import json
import os
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import fields
from functools import cached_property
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from fcpair.errors import FcpairError
from fcpair.params import DEFAULT_SERVER_URL, Annotate
from fcpair.study import Study
from fcpair.web import building, routes, start, start_plan, start_tables
from fcpair.web.auth import Auth
from fcpair.web.context import Context, ServedTerms, load_templates
from fcpair.web.errors import ErrorHandlers
from fcpair.web.lead import (
    agreement,
    conflicts,
    evaluation,
    extension,
    files,
    guidelines,
    help,
    people,
    policy,
    progress,
    releases,
    search,
    uploads,
)
from fcpair.web.pages import adjudicate, participant
from fcpair.web.server.admission import AdmissionControl, Kind
from fcpair.web.server.child_process import BUILD_KILLED, BUILDING, KILLED, RUNNING, ChildProcess
from fcpair.web.server.security import Guard
from fcpair.web.server.static_files import static_files
from fcpair.web.server.worker import ReportWorker, WorkerPool

UPKEEP_S = 30.0
ABOUT_API = """
For clients other than the pages. Every request carries the token of the person's invite link as
`Authorization: Bearer TOKEN`. All answers are JSON; an error has a `detail` that says what to do.

Annotators and validators: `GET /api/me`, once `POST /api/consent`, then `GET /api/next` and `POST /api/judgements` in
turn. Make up a new `request_id` for each answer, and if no reply comes, send the same request again.
"""

TOKEN = {"type": "http", "scheme": "bearer", "description": "The token of an invite link: what follows the `#`."}


class _App(FastAPI):
    @cached_property
    def description_json(self) -> bytes:
        """Description by `openapi`, as it is sent: written once, since that costs more than most answers do."""
        return bytes(JSONResponse(self.openapi()).body)

    def openapi(self) -> dict[str, Any]:
        """The description of the API. It names the token here, as a dependency would cost time at every request."""
        description = super().openapi()
        description.setdefault("components", {})["securitySchemes"] = {"token": TOKEN}
        return {**description, "security": [{"token": []}]}


own_router = APIRouter(include_in_schema=False)


@own_router.get("/api/openapi.json")
async def description(request: Request) -> Response:
    """Send the description of the API, for anybody to read."""
    return Response(request.app.description_json, media_type="application/json")


PAGES = (
    *(participant, adjudicate, start, start_tables, start_plan, building),
    *(
        agreement,
        conflicts,
        policy,
        progress,
        guidelines,
        evaluation,
        extension,
        files,
        uploads,
        releases,
        search,
        help,
    ),
    people,  # last: the name of a person may be any word
)


def create_app(
    study: Study,
    annotate: Annotate,
    url: str = DEFAULT_SERVER_URL,
    given: Collection[str] | None = None,
    pool: WorkerPool | None = None,
) -> FastAPI:
    """The app that serves a study on these terms; it lets go of the study's file when it ends.

    Links that it makes lead to `url`. The terms that are `given`, by default those that differ from the study's own,
    hold whatever that comes to say of them. Leads look by the process of `pool`, if there is one.
    """
    if given is None:
        own = study.effective_options(Annotate)
        given = [item.name for item in fields(Annotate) if getattr(annotate, item.name) != getattr(own, item.name)]
    served = ServedTerms(study, {name: getattr(annotate, name) for name in given})

    def begin_anew() -> None:
        """Show the study as it is now, built or on other terms."""
        app.state.context = Context(study, served.now(), context.door, context.templates, url, served)
        context.door.forget_everybody()
        for worker in app.state.workers.values():
            worker.begin_anew(served)

    def follow_terms() -> None:
        """Serve on other terms where somebody else has set them, as `fcpair run` does."""
        if app.state.context.annotate != served.now():
            begin_anew()

    async def keep_up(ended: asyncio.Event) -> None:
        """Keep nothing of failed attempts to come in that does not count any more, and serve on the terms that hold."""
        while not ended.is_set():
            await run_in_threadpool(study.access.attempts.delete_expired)
            with suppress(FcpairError):  # a study that cannot be read now, or a setting that cannot be used
                await run_in_threadpool(follow_terms)
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), UPKEEP_S)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        study.share()
        study.access.spare()
        app.state.workers = {
            Kind.LOOK: ReportWorker(create_app, served, pool),
            Kind.LIST: ReportWorker(create_app, served),
        }
        ended = asyncio.Event()
        upkeep = asyncio.create_task(keep_up(ended))
        warming = asyncio.create_task(run_in_threadpool(context.work_queue.warm_up, ended.is_set))
        gc.freeze()  # what is loaded by now stays as long as the server: no need to look through it again and again
        yield
        gc.unfreeze()
        ended.set()
        await asyncio.wait([upkeep, warming])
        await asyncio.gather(*(worker.end() for worker in app.state.workers.values()))
        app.state.builder.end()
        app.state.long_acts.end()
        study.close()

    app = _App(
        title="fcpair",
        version=version("fcpair"),
        description=ABOUT_API,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},
        lifespan=lifespan,
    )
    context = app.state.context = Context(study, served.now(), Auth(study.access), load_templates(), url, served)
    app.state.workers = {}
    app.state.begin_anew = begin_anew
    app.state.builder = ChildProcess(busy=BUILDING, killed=BUILD_KILLED, on_done=begin_anew)
    app.state.long_acts = ChildProcess(busy=RUNNING, killed=KILLED)
    problems = ErrorHandlers()
    app.exception_handlers |= problems.by_kind()
    admission = AdmissionControl(app.build_middleware_stack(), context.door, problems)
    # Around everything, even around what answers the app's own failures.
    app.middleware_stack = Guard(admission, context.door.visitor_counting_failures)
    for router in (own_router, routes.router, *(page.router for page in PAGES)):
        # Not included: FastAPI would parse them anew for each app, and take longer to find them at every request.
        app.router.routes.extend(router.routes)
    app.mount("/static", static_files())
    return app


def from_environment() -> FastAPI:
    """The app of the study that FCPAIR_STUDY names, for people who reach it at FCPAIR_URL.

    The terms in FCPAIR_ANNOTATE, as JSON, hold whatever the study says; the others are the study's own.
    """
    load_templates()  # before the fork, which shares them
    pool = WorkerPool.forked()
    study = Study(os.environ["FCPAIR_STUDY"])
    terms = json.loads(os.environ.get("FCPAIR_ANNOTATE", "{}"))
    url = os.environ.get("FCPAIR_URL", DEFAULT_SERVER_URL)
    return create_app(study, study.effective_options(Annotate, **terms), url, given=terms.keys(), pool=pool)
