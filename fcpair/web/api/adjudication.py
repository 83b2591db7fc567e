"""The adjudicators' part of the JSON API."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import JSONResponse

from fcpair.grid import ConflictCase, DecisionRequest
from fcpair.records import Role
from fcpair.web.api.schemas import (
    LARGEST_ID,
    CaseOut,
    DecisionMade,
    DecisionsOut,
    NextCaseOut,
    RulingIn,
    UndoIn,
    error_responses,
    text_json,
)
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.work_records import ShownText

router = APIRouter()
PairId = Annotated[int, Path(ge=1, le=LARGEST_ID, description="The number of the pair.")]
Before = Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="Only those before this `decision_id`.")]
InGrid = Annotated[
    str | None, Query(description="The name of the grid, if the study has several: each numbers its own pairs.")
]
After = Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="Leave this pair for later.")]


@router.get(
    "/api/conflicts/next",
    summary="Your next conflict",
    response_model=NextCaseOut,
    responses=error_responses(404, 409),
)
@open_to(Role.ADJUDICATOR)
def next_(request: Request, after: After = None, grid: InGrid = None) -> Response:
    """The next pair whose labels differ, null when none waits or a limit is reached.

    Without `grid`, it is from the first grid in which something waits.
    """
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    here = context.grids.by_name(grid) if grid else context.grids.first_with_work(visitor.id)
    docket = context.adjudication_queue(here)
    case, allowed = docket.next(visitor.id, after), docket.reading_allowance(visitor.id)
    queue, reading = vars(docket.state(visitor.id)), allowed.to_dict()
    content = {"case": _case_json(case) if case else None, "queue": queue, "reading": reading}
    return JSONResponse({"grid": here.grid.grid.name, **content})


@router.get(
    "/api/conflicts/{cell_id}", summary="A conflict", response_model=CaseOut, responses=error_responses(404, 409)
)
@open_to(Role.ADJUDICATOR)
def case(request: Request, cell_id: PairId, grid: InGrid = None) -> Response:
    """A pair that waits, or that you have decided: its texts, and its labels without names."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    return JSONResponse(_case_json(context.adjudication_queue(context.grids.by_name(grid)).case(visitor.id, cell_id)))


@router.post(
    "/api/decisions",
    summary="Decide a conflict",
    response_model=DecisionMade,
    responses=error_responses(400, 404, 409, 413),
)
@open_to(Role.ADJUDICATOR)
def decide(request: Request, body: RulingIn, grid: InGrid = None) -> Response:
    """Stored before the reply is sent, and only once, however often the request is repeated."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    return JSONResponse(
        context.adjudication_queue(context.grids.by_name(grid)).decide(visitor.id, DecisionRequest(**vars(body)))
    )


@router.post(
    "/api/decisions/{cell_id}/undo",
    summary="Take a decision back",
    response_model=DecisionMade,
    responses=error_responses(400, 404, 409, 413),
)
@open_to(Role.ADJUDICATOR)
def undo(request: Request, cell_id: PairId, body: UndoIn, grid: InGrid = None) -> Response:
    """Only your own decision. The pair waits again, or the decision that yours replaced counts again."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    return JSONResponse(
        context.adjudication_queue(context.grids.by_name(grid)).undo(visitor.id, cell_id, body.request_id)
    )


@router.get("/api/decided", summary="Decisions", response_model=DecisionsOut, responses=error_responses(404, 409))
@open_to(Role.ADJUDICATOR)
def decided(
    request: Request,
    before: Annotated[
        int | None, Query(ge=1, le=LARGEST_ID, description="Only those before this `decision_id`.")
    ] = None,
    n: Annotated[int, Query(ge=1, le=100, description="How many decisions.")] = 50,
    grid: InGrid = None,
) -> Response:
    """List the current decisions and who made them, newest first."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    queue = context.adjudication_queue(context.grids.by_name(grid))
    decisions = queue.decisions(limit=n, before=before, reader=visitor.id)
    return JSONResponse({"decisions": [{**vars(one), **_texts_json(one.hs, one.cn)} for one in decisions]})


def _case_json(case: ConflictCase) -> dict[str, Any]:
    answers = [{"label": label, "note": note} for label, note in case.answers]
    return {**vars(case), **_texts_json(case.hs, case.cn), "answers": answers}


def _texts_json(hs: ShownText, cn: ShownText) -> dict[str, Any]:
    return {"hs": text_json(hs), "cn": text_json(cn)}
