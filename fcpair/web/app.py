"""The web app: the pages and the JSON API of one study."""

from __future__ import annotations

import asyncio
import gc
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import cached_property
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from fcpair.params import DEFAULT_SERVER_URL, Annotate
from fcpair.study import Study
from fcpair.web.api import adjudication, routes
from fcpair.web.auth import Auth
from fcpair.web.context import Context, load_templates
from fcpair.web.errors import ErrorHandlers
from fcpair.web.lead import (
    conflicts,
    evaluation,
    examples,
    files,
    guidelines,
    inspection,
    invitations,
    people,
    policy,
    progress,
    search,
    start,
    start_build,
    start_upload,
)
from fcpair.web.pages import adjudicate, annotator, login, offline
from fcpair.web.server.admission import AdmissionControl
from fcpair.web.server.security import Guard, GuardedApp
from fcpair.web.server.static_files import static_files
from fcpair.web.server.study_builder import StudyBuilder
from fcpair.web.server.worker import ReportWorker
from fcpair.web.server.worker_parent import WorkerParent

STUDY = "FCPAIR_STUDY"
ANNOTATE = "FCPAIR_ANNOTATE"
URL = "FCPAIR_URL"
FORGET_S = 30.0
ABOUT_API = """
For clients other than the pages. Every request carries the token of the person's invite link as
`Authorization: Bearer TOKEN`. All answers are JSON; an error has a `detail` that says what to do.

Annotators and validators: `GET /api/me`, once `POST /api/consent`, then `GET /api/next` and `POST /api/judgements` in
turn. Make up a new `request_id` for each answer, and if no reply comes, send the same request again.
"""

TOKEN = {"type": "http", "scheme": "bearer", "description": "The token of an invite link: what follows the `#`."}


class _App(GuardedApp):
    @cached_property
    def description_json(self) -> bytes:
        """Description by `openapi`, as it is sent: written once, since that costs more than most answers do."""
        return bytes(JSONResponse(self.openapi()).body)

    def openapi(self) -> dict[str, Any]:
        """The description of the API. It names the token here, as a dependency would cost time at every request."""
        description = super().openapi()
        description.setdefault("components", {})["securitySchemes"] = {"token": TOKEN}
        return {**description, "security": [{"token": []}]}


_description = APIRouter(include_in_schema=False)


@_description.get("/api/openapi.json")
async def description(request: Request) -> Response:
    """Send the description of the API, for anybody to read."""
    return Response(request.app.description_json, media_type="application/json")


_START = (start, start_upload, start_build)
_LEADS = (
    inspection,
    *_START,
    progress,
    people,
    invitations,
    policy,
    conflicts,
    examples,
    guidelines,
    evaluation,
    files,
    search,
)
_MODULES = (routes, adjudication, login, annotator, offline, adjudicate, *_LEADS)
ROUTERS = (_description, *(module.router for module in _MODULES))


def create_app(
    study: Study, annotate: Annotate, url: str = DEFAULT_SERVER_URL, parent: WorkerParent | None = None
) -> FastAPI:
    """The app that serves a study on these terms; it lets go of the study's file when it ends.

    Links that it makes lead to `url`, whatever a request says of where it was sent. The process that looks is forked by
    its `parent`, where there is one.
    """
    unworded, annotate = annotate, annotate.worded(study.facts["hs_name"])

    def begin_anew() -> None:
        """Show the study as it is, now that it has been built."""
        terms = unworded.worded(study.facts["hs_name"])
        app.state.context = Context(study, terms, context.door, context.templates, url)
        if worker := getattr(app.state, "aside", None):
            worker.begin_anew(terms)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        study.share()
        study.access.spare()
        app.state.aside = worker = ReportWorker(study, annotate, parent)
        ended = asyncio.Event()
        forgetting = asyncio.create_task(_forget_attempts(study, ended))
        warming = asyncio.create_task(run_in_threadpool(context.work_queue.warm_up, ended.is_set))
        gc.freeze()  # what is loaded by now stays as long as the server: no need to look through it again and again
        yield
        gc.unfreeze()
        ended.set()
        await asyncio.wait([forgetting, warming])
        await worker.end()
        app.state.builder.end()
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
    context = app.state.context = Context(study, annotate, Auth(study.access), load_templates(), url)
    app.state.builder = StudyBuilder(study, begin_anew)
    problems = ErrorHandlers(context)
    problems.register(app)
    app.guard_by(
        lambda inner: Guard(AdmissionControl(inner, context.door, problems), context.door.visitor_counting_failures)
    )
    for router in ROUTERS:
        # Not included: FastAPI would parse them anew for each app, and take longer to find them at every request.
        app.router.routes.extend(router.routes)
    app.mount("/static", static_files())
    return app


async def _forget_attempts(study: Study, ended: asyncio.Event) -> None:
    """Keep nothing of failed attempts to come in that does not count any more."""
    while not ended.is_set():
        await run_in_threadpool(study.access.attempts.delete_expired)
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), FORGET_S)


def from_environment() -> FastAPI:
    """The app of the study that FCPAIR_STUDY names, for people who reach it at FCPAIR_URL.

    The terms are those in FCPAIR_ANNOTATE, as JSON; without it, the study's own.
    """
    parent = WorkerParent.fork()
    study = Study.open(os.environ[STUDY])
    terms = json.loads(os.environ.get(ANNOTATE, "{}"))
    options, url = study.effective_options(Annotate, **terms), os.environ.get(URL, DEFAULT_SERVER_URL)
    return create_app(study, options, url, parent)
