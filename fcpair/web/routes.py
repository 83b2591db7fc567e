"""The JSON API: what the pages of those who answer and decide do, for other clients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field

from fcpair.errors import InputError
from fcpair.grid import AdjudicationQueue, ConflictCase, DecisionRequest
from fcpair.sentences import say
from fcpair.web import schemas
from fcpair.web.form import RecordResponse, StrictJsonRoute, json_response
from fcpair.web.pages.participant import consent_sentence, desk_version, read_particulars
from fcpair.web.server import admission
from fcpair.web.server.admission import Count
from fcpair.web.visits import AdjudicatorVisit, AnyVisit, Visit, WorkerVisit
from fcpair.words import Noun

router = APIRouter(route_class=StrictJsonRoute)
Before = Annotated[
    int | None, Query(ge=1, le=schemas.LARGEST_ID, description="Only those before this `assignment_id`.")
]
PairId = Annotated[int, Path(ge=1, le=schemas.LARGEST_ID, description="The number of the pair.")]
BeforeDecision = Annotated[
    int | None, Query(ge=1, le=schemas.LARGEST_ID, description="Only those before this `decision_id`.")
]
InGrid = Annotated[
    str | None, Query(description="The name of the grid, if the study has several: each numbers its own pairs.")
]
After = Annotated[int | None, Query(ge=1, le=schemas.LARGEST_ID, description="Leave this pair for later.")]


Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


def _route(method: str, path: str, summary: str, model: type | None, *statuses: int) -> Callable[[Endpoint], Endpoint]:
    """Declare an endpoint, with the model of what it gives (None: no content), and the errors of its own."""
    responses, status = schemas.error_responses(*statuses), HTTPStatus.OK if model else HTTPStatus.NO_CONTENT
    declare: Callable[..., Callable[[Endpoint], Endpoint]] = getattr(router, method)
    return declare(path, summary=summary, response_model=model, status_code=status, responses=responses)


class RenumberIn(schemas.RequestModel):
    """Old numbers of assignments."""

    assignment_ids: list[schemas.Id] = Field(max_length=1_000)


class RenumberedOut(BaseModel):
    """New numbers of assignments, by the old ones; those that are not yours are left out."""

    assignment_ids: dict[int, int]


@_route("get", "/api/me", "Who you are", schemas.Me)
def me(visit: AnyVisit) -> Response:
    """Your name, your role, and what you can answer."""
    own = {name: getattr(visit.visitor, name) for name in ("name", "role", "consented", "blurred", "keeps_refused")}
    facts = {"language": visit.language.code, "guideline_version": visit.study.guidelines[0]}
    return RecordResponse({**own, **facts, "rounds": visit.context.work_queue.rounds(visit.visitor)})


@_route("post", "/api/consent", "Agree to take part", None, 400, 413)
def consent(visit: AnyVisit, body: schemas.ConsentIn) -> Response:
    """Needed before the first pair, and anew if the study asks again. The study's page says what you agree to."""
    lines, answers = visit.context.annotate.demographics, body.demographics  # both by the label of a question
    labels = [particular.label for particular in read_particulars(lines)]
    if unknown := sorted(set(answers) - set(labels)):
        raise InputError.say(
            "the study does not ask `%(name)s`; it asks %(names)s", name=unknown[0], names=labels or say("nothing")
        )
    particulars = read_particulars(lines, [answers.get(label, "") for label in labels])
    demographics = {particular.label: particular.given for particular in particulars if particular.given}
    visit.study.access.consent(visit.visitor.id, demographics, consent_sentence(visit))
    return Response(status_code=204)


@_route("put", "/api/settings", "Change your settings", None, 400, 413)
def settings(visit: AnyVisit, body: schemas.SettingsIn) -> Response:
    """Say whether the pages blur a text until you ask for it, and whether your refused texts may be kept."""
    if body.blurred is not None:
        visit.study.access.set_blurred(visit.visitor.id, body.blurred)
    if body.keeps_refused is not None:
        visit.study.access.set_keeps_refused(visit.visitor.id, body.keeps_refused)
    return Response(status_code=204)


_route("get", "/api/next", "Your next pairs", schemas.NextOut)(admission.next_)
_route("post", "/api/judgements", "Answer a pair", schemas.Recorded, 400, 409, 413)(admission.submit)


@_route("post", "/api/check", "Check a text", schemas.RemarksOut, 400, 413)
def check(visit: WorkerVisit, body: schemas.TextIn) -> Response:
    """Check an unfinished text by the rules of the round: what would refuse it, and warnings.

    Nothing is stored, unless the text is `final`: then what refuses it is recorded, as when a text is sent as an
    answer; the text itself is kept only with its writer's consent.
    """
    remarks = visit.context.work_queue.check_text(visit.visitor, body.assignment_id, body.answer, keep=body.final)
    read = partial(visit.language.say, noun=Noun.of("text"))
    return RecordResponse({"remarks": [replace(remark, sentence=read(remark.sentence)) for remark in remarks]})


@_route("get", "/api/answers", "Your own answers", schemas.TasksOut)
def answers(visit: WorkerVisit, before: Before = None, n: Count = 1) -> Response:
    """The pairs that you answered, newest first. To change an answer, send another one on the same pair."""
    return json_response(visit.request, {"tasks": visit.context.work_queue.answers(visit.visitor, before, n)})


@_route("post", "/api/renumber", "Numbers of fcpair 0.7", RenumberedOut, 400, 413)
def renumber(visit: WorkerVisit, body: RenumberIn) -> Response:
    """For clients that kept the `assignment_id`s of fcpair 0.7, which counted assignments: those that stand for them.

    Refused (403) where the study has known pairs, which the old ones would tell.
    """
    return RecordResponse({"assignment_ids": visit.context.work_queue.renumber(visit.visitor, body.assignment_ids)})


@_route("get", "/api/progress", "How far you are", schemas.ProgressOut)
def progress(visit: WorkerVisit) -> Response:
    """Count your open and answered pairs, and estimate how long the rest takes at your own pace."""
    progress = visit.context.work_queue.progress(visit.visitor)
    limit = progress.limit and visit.translate(progress.limit)
    return RecordResponse({**vars(progress), "limit": limit, "desk_version": desk_version(visit)})


@_route("get", "/api/conflicts/next", "Your next conflict", schemas.NextCaseOut, 404, 409)
def next_(visit: AdjudicatorVisit, after: After = None, grid: InGrid = None) -> Response:
    """The next pair whose labels differ, null when none waits or a limit is reached.

    Without `grid`, it is from the first grid in which something waits.
    """
    grids, person_id = visit.context.grids, visit.visitor.id
    here = grids.by_name(grid) if grid else grids.first_with_work(person_id)
    queue = visit.context.adjudication_queue(here)
    case, reading = queue.next(person_id, after), queue.reading_allowance(person_id).shown
    content = {"case": case, "queue": queue.state(person_id), "reading": reading}
    return RecordResponse({"grid": here.grid.grid.name, **content})


@_route("get", "/api/conflicts/{cell_id}", "A conflict", ConflictCase, 404, 409)
def case(visit: AdjudicatorVisit, cell_id: PairId, grid: InGrid = None) -> Response:
    """A pair that waits, or that you have decided: its texts, and its labels without names."""
    return RecordResponse(_queue_of(visit, grid).case(visit.visitor.id, cell_id))


def _queue_of(visit: Visit, grid: str | None) -> AdjudicationQueue:
    return visit.context.adjudication_queue(visit.context.grids.by_name(grid))


@_route("post", "/api/decisions", "Decide a conflict", schemas.DecisionMade, 400, 404, 409, 413)
def decide(visit: AdjudicatorVisit, body: schemas.RulingIn, grid: InGrid = None) -> Response:
    """Stored before the reply is sent, and only once, however often the request is repeated."""
    return RecordResponse(_queue_of(visit, grid).decide(visit.visitor.id, DecisionRequest(**vars(body))))


@_route("post", "/api/decisions/{cell_id}/undo", "Take a decision back", schemas.DecisionMade, 400, 404, 409, 413)
def undo(visit: AdjudicatorVisit, cell_id: PairId, body: schemas.UndoIn, grid: InGrid = None) -> Response:
    """Only your own decision. The pair waits again, or the decision that yours replaced counts again."""
    return RecordResponse(_queue_of(visit, grid).undo(visit.visitor.id, cell_id, body.request_id))


@_route("get", "/api/decided", "Decisions", schemas.DecisionsOut, 404, 409)
def decided(
    visit: AdjudicatorVisit,
    before: BeforeDecision = None,
    n: Annotated[int, Query(ge=1, le=100, description="How many decisions.")] = 50,
    grid: InGrid = None,
) -> Response:
    """List the current decisions and who made them, newest first."""
    decisions = _queue_of(visit, grid).decisions(limit=n, before=before, reader=visit.visitor.id)
    return RecordResponse({"decisions": decisions})
