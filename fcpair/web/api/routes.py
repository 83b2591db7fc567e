"""The JSON API: what the pages of annotators and validators do, for other clients."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from fcpair.errors import InputError
from fcpair.records import WORKERS, Role
from fcpair.web import refusals
from fcpair.web.api.schemas import (
    LARGEST_ID,
    ConsentIn,
    Id,
    Me,
    NextOut,
    ProgressOut,
    Recorded,
    RemarksOut,
    RequestModel,
    SettingsIn,
    TasksOut,
    TextIn,
    error_responses,
    task_json,
)
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.pages.annotator import consent_sentence, desk_version, read_particulars
from fcpair.web.server.compression import json_response
from fcpair.web.server.hot_routes import Count, next_, submit
from fcpair.words import Noun

router = APIRouter()
Before = Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="Only those before this `assignment_id`.")]


class RenumberIn(RequestModel):
    """Old numbers of assignments."""

    assignment_ids: list[Id] = Field(max_length=1_000)


class RenumberedOut(BaseModel):
    """New numbers of assignments, by the old ones; those that are not yours are left out."""

    assignment_ids: dict[int, int]


@router.get("/api/me", summary="Who you are", response_model=Me, responses=error_responses())
@open_to(*Role)
def me(request: Request) -> Response:
    """Your name, your role, and what you can answer."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    facts = {"name": visitor.name, "role": visitor.role, "consented": visitor.consented}
    facts |= {"blurred": visitor.blurred, "keeps_refused": visitor.keeps_refused}
    facts["language"] = context.language(visitor).code
    facts["guideline_version"] = context.study.guidelines[0]
    return JSONResponse({**facts, "rounds": [vars(one) for one in context.work_queue.rounds(visitor)]})


@router.post("/api/consent", summary="Agree to take part", status_code=204, responses=error_responses(400, 413))
@open_to(*Role)
def consent(request: Request, body: ConsentIn) -> Response:
    """Needed before the first pair, and anew if the study asks again. The study's page says what you agree to."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    context.study.access.consent(
        visitor.id,
        _parse_demographics(context.annotate.demographics, body.demographics),
        consent_sentence(context, visitor),
    )
    return Response(status_code=204)


@router.put("/api/settings", summary="Change your settings", status_code=204, responses=error_responses(400, 413))
@open_to(*Role)
def settings(request: Request, body: SettingsIn) -> Response:
    """Say whether the pages blur a text until you ask for it, and whether your refused texts may be kept."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    if body.blurred is not None:
        context.study.access.set_blurred(visitor.id, body.blurred)
    if body.keeps_refused is not None:
        context.study.access.set_keeps_refused(visitor.id, body.keeps_refused)
    return Response(status_code=204)


router.get("/api/next", summary="Your next pairs", response_model=NextOut, responses=error_responses())(next_)
router.post(
    "/api/judgements", summary="Answer a pair", response_model=Recorded, responses=error_responses(400, 409, 413)
)(submit)


@router.post("/api/check", summary="Check a text", response_model=RemarksOut, responses=error_responses(400, 413))
@open_to(*WORKERS)
def check(request: Request, body: TextIn) -> Response:
    """Check an unfinished text by the rules of the round: what would refuse it, and warnings.

    Nothing is stored, unless the text is `final`: then what refuses it is recorded, as when a text is sent as an
    answer; the text itself is kept only with its writer's consent.
    """
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    remarks = context.work_queue.check_text(visitor, body.assignment_id, body.answer, keep=body.final)
    language = context.language(visitor)
    noun = Noun.of("text")
    translated = [replace(one, sentence=refusals.translate(one.sentence, language, noun)) for one in remarks]
    return JSONResponse({"remarks": [vars(one) for one in translated]})


@router.get("/api/answers", summary="Your own answers", response_model=TasksOut, responses=error_responses())
@open_to(*WORKERS)
def answers(request: Request, before: Before = None, n: Count = 1) -> Response:
    """The pairs that you answered, newest first. To change an answer, send another one on the same pair."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    tasks = [task_json(one) for one in context.work_queue.answers(visitor, before, n)]
    return json_response(request, {"tasks": tasks})


@router.post(
    "/api/renumber", summary="Numbers of fcpair 0.7", response_model=RenumberedOut, responses=error_responses(400, 413)
)
@open_to(*WORKERS)
def renumber(request: Request, body: RenumberIn) -> Response:
    """For clients that kept the `assignment_id`s of fcpair 0.7, which counted assignments: those that stand for them.

    Refused (403) where the study has known pairs, which the old ones would tell.
    """
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    return JSONResponse({"assignment_ids": context.work_queue.renumber(visitor, body.assignment_ids)})


@router.get("/api/progress", summary="How far you are", response_model=ProgressOut, responses=error_responses())
@open_to(*WORKERS)
def progress(request: Request) -> Response:
    """Count your open and answered pairs, and estimate how long the rest takes at your own pace."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    progress = context.work_queue.progress(visitor)
    if progress.limit:
        limit = context.translate_sentence(progress.limit, visitor, context.language(visitor))
        progress = replace(progress, limit=limit)
    return JSONResponse({**vars(progress), "desk_version": desk_version(context, visitor)})


def _parse_demographics(lines: tuple[str, ...], answers: dict[str, str]) -> dict[str, str]:
    """Parse what a person says about themselves, checked against what the study asks; both by the question's label."""
    labels = [particular.label for particular in read_particulars(lines)]
    if unknown := sorted(set(answers) - set(labels)):
        raise InputError(f"the study does not ask `{unknown[0]}`; it asks {', '.join(labels) or 'nothing'}")
    particulars = read_particulars(lines, [answers.get(label, "") for label in labels])
    return {particular.label: particular.given for particular in particulars if particular.given}
