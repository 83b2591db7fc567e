"""Starting a study or a survey in the browser, a page a step, from the table, which goes to a file as it comes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast
from urllib.parse import urlencode

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from fcpair.errors import FcpairError, InputError, StudyError
from fcpair.params import DEFAULT_MODEL
from fcpair.records import Role
from fcpair.sentences import mark, say
from fcpair.start_draft import (
    BegunDraft,
    ColumnsDraft,
    Draft,
    DraftPart,
    PeopleDraft,
    PlanDraft,
    StatementsDraft,
    StudyKind,
    SurveyDraft,
    TableDraft,
    TablePreview,
)
from fcpair.study import StudyStart
from fcpair.web.context import START
from fcpair.web.form import field, fields, fields_of, parse_number, read_params
from fcpair.web.lead.people import uninvited_people
from fcpair.web.pages.markdown import render
from fcpair.web.server.admission import Kind
from fcpair.web.server.child_process import BUILD, Act, ChildProcess, ProcessState
from fcpair.web.server.security import UPLOAD_TABLE
from fcpair.web.server.worker import ReportWorker
from fcpair.web.visits import REFUSALS, ElsewhereError, LeadVisit, Visit, enter_by, go_to, status_of

router = APIRouter(include_in_schema=False)
LINKS = f"{START}/links"
BUILD_STAGES = {
    "init": mark("Names and labels"),
    "import": mark("Texts"),
    "select": mark("Selecting"),
    "retrieve": mark("Candidates"),
    "pair": mark("Pairs"),
    "assign": mark("Assigning"),
}
ANSWERS = ("yes", "no", "decline")  # the fields of the names that the answers of a survey have
MOST_UPLOAD = 50 * 1024 * 1024
PATIENCE_S = 600.0
LONGEST_NAME = 255
TOO_LARGE = mark(
    "the file has more than %(number)s MB, which is the limit here; leave out rows or columns that the study does not "
    "need, or use `fcpair run` on the server"
)
EMPTY = say("the file is empty; choose one with a row of column names and at least one pair")
KEEP = f"{START}/keep"
UPLOADED = re.compile(r"[0-9a-f]{16}\.[a-z]+")


class Step(NamedTuple):
    """One step: the part of the draft that it settles, its address, and its name."""

    part: str
    address: str
    name: str


STEP_NAMES = {
    **{"table": mark("Table"), "columns": mark("Columns"), "plan": mark("Plan"), "people": mark("People")},
    **{"guidelines": mark("Guidelines"), "start": mark("Start")},
}
_ADDRESSES: dict[StudyKind, dict[str, str]] = {  # of parts whose addresses are not called as they are
    "pairs": {"start": "begin"},
    "survey": {"columns": "statements", "plan": "survey", "start": "begin"},
}
STEPS = {
    kind: {part: Step(part, f"{START}/{addresses.get(part, part)}", name) for part, name in STEP_NAMES.items()}
    for kind, addresses in _ADDRESSES.items()
}
PARTS = list(STEP_NAMES)


@dataclass(frozen=True, kw_only=True)
class StepVisit(Visit):
    """A lead's visit to the step that settles a part of the draft, which is as it was when the request came."""

    part: str
    draft: Draft

    @classmethod
    def of(cls, visit: Visit, part: str) -> StepVisit:
        """A visit to the step of a part."""
        return cls(visit.request, visit.context, visit.visitor, part=part, draft=visit.study.start.draft())

    @classmethod
    def due(cls, part: str) -> Any:
        """The dependency by which an endpoint gets the visit to the step of a part, where that is due.

        From one that is not due it leads to the first that is missing, or away where all is done; from a step of one
        kind of study to the same of another, if that is what the table is for.
        """

        def enter(visit: LeadVisit) -> StepVisit:
            step_visit = cls.of(visit, part)
            due_part = min(step_visit.draft.next_step, part, key=PARTS.index)
            address = STEPS[step_visit.draft.kind][due_part].address if step_visit.start.is_open else "/lead"
            # The last step is due while the study is being built, too.
            is_building = part == "start" and _builder_of(visit).state.is_running
            if visit.request.url.path != address and not is_building:
                raise ElsewhereError(address)
            return step_visit

        return enter_by(enter, Role.LEAD)

    @property
    def start(self) -> StudyStart:
        """The start of the study."""
        return self.study.start

    def typed(self, name: str) -> str:
        """Text that was typed into a field of the form."""
        return field(self.request, name).strip()

    def save(self, *parts: DraftPart) -> Draft:
        """Keep parts of the draft, of which the form has seen a version."""
        return self.start.save(*parts, by=self.visitor.name, seen=parse_number(field(self.request, "seen")) or 0)

    def keep(
        self, chosen: Any, read: Callable[[], Sequence[Any]], show: Callable[[StepVisit, Any], Response]
    ) -> Response:
        """Keep the parts that a form is read into, and go on; show it where it is only to be shown, or is refused.

        It is shown with the first of these parts, or as it was `chosen` where they cannot be read.
        """
        parts = [chosen]
        try:
            parts = [*read()]
            if self.typed("act") == "show":
                return show(self, parts[0])
            self.save(*parts)
        except REFUSALS as refusal:
            return show(self.refused(refusal), parts[0])
        return go_to(STEPS[self.draft.kind][PARTS[PARTS.index(self.part) + 1]].address)

    def refused(self, refusal: FcpairError) -> StepVisit:
        """The visit with the draft as it is now, which somebody else may have changed."""
        return replace(self, refusal=refusal, draft=self.start.draft())

    def show(self, **values: Any) -> Response:
        """The page of the step, with what went wrong."""
        steps, index = [*STEPS[self.draft.kind].values()], PARTS.index(self.part)
        step, n_open = steps[index], PARTS.index(self.draft.next_step) + 1
        template = step.part if step.part == "start" else step.address.rpartition("/")[2]
        shared = {"step": step, "steps": steps, "n_open": n_open, "back": steps[index - 1] if index else None}
        return self.page(f"lead_start_{template}.html.j2", **shared, draft=self.draft, problem=self.why, **values)


ColumnsVisit = Annotated[StepVisit, StepVisit.due("columns")]
PlanVisit = Annotated[StepVisit, StepVisit.due("plan")]
PeopleVisit = Annotated[StepVisit, StepVisit.due("people")]
GuidelinesVisit = Annotated[StepVisit, StepVisit.due("guidelines")]
BeginVisit = Annotated[StepVisit, StepVisit.due("start")]


def _builder_of(visit: Visit) -> ChildProcess:
    return cast(ChildProcess, visit.request.app.state.builder)


@router.get(START)
def start(visit: LeadVisit) -> Response:
    """Lead to the first step that is not done."""
    draft = visit.study.start.draft()
    return go_to(STEPS[draft.kind][draft.next_step].address if visit.study.start.is_open else "/lead")


@router.get(f"{START}/table")
def table(visit: Annotated[StepVisit, StepVisit.due("table")]) -> Response:
    """Show where a table is uploaded, and the one that was."""
    return visit.show(most=MOST_UPLOAD)


@router.post(UPLOAD_TABLE[1])
async def upload(visit: LeadVisit, name: str = "", seen: str = "", kind: str = "pairs") -> Response:
    """Take a table for pairs or a survey, whose bytes are the body; answers with the next step, or what is wrong."""
    try:
        path = await run_in_threadpool(visit.study.start.new_table, name[:LONGEST_NAME])
    except FcpairError as error:
        return await run_in_threadpool(_refusal, visit, error)

    async def have_kept() -> Response:
        """Have the file kept by the process that looks, if there is one: reading tables takes much memory."""
        worker: ReportWorker | None = visit.request.app.state.workers.get(Kind.LOOK)
        if worker is None:
            return await run_in_threadpool(keep, visit, path.name, name, seen, kind)
        query = urlencode({"file": path.name, "name": name[:LONGEST_NAME], "seen": seen, "kind": kind})
        address = {"path": KEEP, "raw_path": KEEP.encode(), "query_string": query.encode()}
        return await worker.forward({**visit.request.scope, **address})

    return await take_file(visit, path, (MOST_UPLOAD, TOO_LARGE, EMPTY), have_kept, path.unlink)


@router.post(KEEP)
def keep(visit: LeadVisit, file: str = "", name: str = "", seen: str = "", kind: str = "pairs") -> Response:
    """Let the draft have a table that was uploaded, in the place of an earlier one, whose file goes."""
    begun = visit.study.start
    try:
        if not UPLOADED.fullmatch(file) or not (begun.folder / file).is_file():
            raise InputError.say("there is no such file any more; upload the table again")
        earlier, table = begun.draft().table, TableDraft(file, name[:LONGEST_NAME], cast(StudyKind, kind))
        draft = begun.save(table, by=visit.visitor.name, seen=parse_number(seen) or 0)
    except FcpairError as error:
        return _refusal(visit, error)
    if earlier is not None and earlier.file != file:
        (begun.folder / earlier.file).unlink(missing_ok=True)
    return PlainTextResponse(STEPS[draft.kind]["columns"].address)


async def take_file(
    visit: Visit,
    path: Path,
    limits: tuple[int, str, str],
    use: Callable[[], Awaitable[Response]],
    discard: Callable[[], object],
) -> Response:
    """Write the body to a file, and answer with what `use` makes of it; where that is not OK, `discard` the file.

    The `limits` are how many bytes it may have, and the messages for one that has more, or none. What is too large,
    slow or empty is refused, and so is all on a full disk.
    """
    most, too_large, empty = limits
    refusal = InputError.say(too_large, number=most // 1024**2)
    response, n_bytes = Response(status_code=HTTPStatus.BAD_REQUEST), 0  # which nobody reads any more
    try:
        if (parse_number(visit.request.headers.get("content-length", "0")) or 0) > most:
            raise refusal
        try:
            with path.open("wb") as file:
                async with asyncio.timeout(PATIENCE_S):
                    async for chunk in visit.request.stream():
                        n_bytes += len(chunk)
                        if n_bytes > most:
                            raise refusal
                        await run_in_threadpool(file.write, chunk)
        except TimeoutError:
            raise InputError.say("the file came in too slowly; try again with a better connection") from None
        except OSError as error:
            raise StudyError.say(
                "the server's disk is full or read-only; make room there, or tell those who run it, and send the file "
                "again"
            ) from error
        if not n_bytes:
            raise InputError(empty)
        response = await use()
    except FcpairError as error:
        response = await run_in_threadpool(_refusal, visit, error)
    except ClientDisconnect:
        pass
    finally:
        if response.status_code != HTTPStatus.OK:
            discard()
    return response


def _refusal(visit: Visit, error: FcpairError) -> Response:
    """Say what is wrong, as its script shows it: in the language of the page."""
    return PlainTextResponse(visit.translate(str(error)), status_of(error))


@router.get(f"{START}/columns")
@router.get(f"{START}/statements")
def columns(visit: ColumnsVisit) -> Response:
    """Show which column is what, or has the statements of a survey, and the first rows as people will see them."""
    try:
        guess = visit.start.guess(visit.draft)
    except InputError as error:  # the file was changed or deleted
        return replace(visit, part="table").refused(error).show()
    return _show_columns(visit, guess)


def _show_columns(visit: StepVisit, chosen: ColumnsDraft | StatementsDraft) -> Response:
    preview: TablePreview = visit.start.preview(visit.draft, chosen)
    if preview.problem and not visit.refusal:
        visit = replace(visit, refusal=InputError(preview.problem))
    header, columns = visit.start.header(visit.draft), visit.draft.columns
    is_replaced = isinstance(columns, ColumnsDraft) and columns.hs not in header
    return visit.show(chosen=chosen, preview=preview, header=header, replaced=is_replaced)


@router.post(f"{START}/columns")
@router.post(f"{START}/statements")
def save_columns(visit: ColumnsVisit) -> Response:
    """Show the rows with the columns that were chosen, or keep these."""
    guess = visit.start.guess(visit.draft)

    def read() -> list[ColumnsDraft | StatementsDraft]:
        if isinstance(guess, StatementsDraft):
            return [StatementsDraft(visit.typed("statement") or guess.statement, visit.typed("title"))]
        values: dict[str, Any] = {name: visit.typed(name) for name in ("title", "hs_name", "cn_name")}
        values |= {name: visit.typed(name) or getattr(guess, name) for name in ("hs", "cn")}
        values |= {name: visit.typed(name) or None for name in ("hs_id", "cn_id", "language")}
        labels = tuple(visit.typed(f"label_{i}") for i in range(3))
        return [replace(guess, **values, unpaired=bool(visit.typed("unpaired")), labels=labels)]

    return visit.keep(guess, read, _show_columns)


@router.get(f"{START}/plan")
@router.get(f"{START}/survey")
def plan(visit: PlanVisit) -> Response:
    """Show the plan, or what the survey asks, and what it amounts to."""
    return _show_plan(visit, _chosen_plan(visit))


def _chosen_plan(visit: StepVisit) -> PlanDraft | SurveyDraft:
    return visit.draft.plan or visit.start.default_plan(visit.draft)


def _show_plan(visit: StepVisit, chosen: PlanDraft | SurveyDraft) -> Response:
    return visit.show(
        chosen=chosen,
        fields=fields_of(type(chosen)),
        meanings=ANSWERS,
        model=DEFAULT_MODEL,
        can_retrieve=visit.start.can_retrieve,
        preview=visit.start.preview(visit.draft),
        figures=None if visit.refusal else _figures(visit, lambda: chosen),
    )


def _figures(visit: StepVisit, read: Callable[[], Any]) -> Any:
    """Figures of a plan or survey, or a sentence that says why it cannot be carried out."""
    try:
        return visit.start.figures(visit.draft, read())
    except REFUSALS as error:
        return str(error)


@router.post(f"{START}/figures")
@router.post(f"{START}/survey-figures")
def figures(visit: LeadVisit) -> Response:
    """Show the figures of the plan in the form, as a part of its page."""
    step_visit = StepVisit.of(visit, "plan")
    template = "lead_start_survey_figures" if step_visit.draft.kind == "survey" else "lead_start_figures"
    return visit.page(f"{template}.html.j2", figures=_figures(step_visit, lambda: _parse_plan(step_visit)))


@router.post(f"{START}/plan")
@router.post(f"{START}/survey")
def save_plan(visit: PlanVisit) -> Response:
    """Keep the plan."""
    return visit.keep(_chosen_plan(visit), lambda: [_parse_plan(visit)], _show_plan)


def _parse_plan(visit: StepVisit) -> PlanDraft | SurveyDraft:
    """The plan of a form; with all HS, their number is that of the table. Raises InputError for what cannot be."""
    typed, chosen = fields(visit.request), _chosen_plan(visit)
    if isinstance(chosen, SurveyDraft):
        answers = tuple(visit.typed(name) for name in ANSWERS)
        return read_params(replace(chosen, answers=answers), {"as_list": "no", **typed})
    if typed.get("kind") == "full":
        typed |= {"hs": str(visit.start.preview(visit.draft).n_hs), "k": str(PlanDraft.k), "candidates": ""}
    return read_params(chosen, typed)


@router.get(f"{START}/people")
def people(visit: PeopleVisit) -> Response:
    """Show who takes part; numbered names are suggested, as many as the plan has."""
    plan, chosen = visit.draft.plan, visit.draft.people
    if chosen is None and isinstance(plan, SurveyDraft):
        chosen = PeopleDraft(respondents=tuple(f"p{i + 1}" for i in range(plan.respondents)))
    elif chosen is None and isinstance(plan, PlanDraft):
        annotators = tuple(f"a{i + 1}" for i in range(plan.annotators))
        chosen = PeopleDraft(annotators, ("adjudicator",), tuple(f"v{i + 1}" for i in range(plan.validators)))
    return visit.show(chosen=chosen)


@router.post(f"{START}/people")
def save_people(visit: PeopleVisit) -> Response:
    """Keep who takes part; their number goes into the plan."""
    plan = visit.draft.plan
    assert plan is not None
    groups = (visit.typed(group).splitlines() for group in ("annotators", "adjudicators", "validators", "respondents"))
    names = ([name.strip() for line in lines for name in line.split(",")] for lines in groups)
    chosen = PeopleDraft(*(tuple(filter(None, group)) for group in names))
    if isinstance(plan, SurveyDraft):
        plan = replace(plan, respondents=max(len(chosen.respondents), 1))
    else:
        plan = replace(plan, annotators=max(len(chosen.annotators), 1), validators=len(chosen.validators))
    return visit.keep(chosen, lambda: (chosen, plan), lambda step, people: step.show(chosen=people))


@router.get(f"{START}/guidelines")
def guidelines(visit: GuidelinesVisit) -> Response:
    """Show the guidelines, to be written now or later."""
    return visit.show(body=visit.start.guidelines_text(visit.draft), preview=None)


@router.post(f"{START}/guidelines")
def save_guidelines(visit: GuidelinesVisit) -> Response:
    """Show how the text will look, keep it, or leave it for later."""
    body, act = field(visit.request, "body").replace("\r\n", "\n"), visit.typed("act")
    if act == "preview":
        return visit.show(body=body, preview=render(body))
    return visit.keep(
        body,
        lambda: [visit.start.keep_guidelines(visit.draft, "" if act == "later" else body)],
        lambda step, _: step.show(body=body, preview=None),
    )


@router.get(f"{START}/begin")
def begin(visit: BeginVisit) -> Response:
    """Show the recipe, and the button that has it carried out; or how far that is."""
    state = _builder_of(visit).state
    if not state.is_running and visit.draft.start is not None:
        interrupted = say("the study was not built to the end, and nothing of it was kept; press the button again")
        visit = visit.refused(InputError(state.problem or interrupted))
    return _show(visit, state)


def _show(visit: StepVisit, state: ProcessState) -> Response:
    return visit.show(recipe=visit.start.recipe_text(visit.draft), state=state, stages=BUILD_STAGES)


@router.post(f"{START}/begin")
def build(visit: BeginVisit) -> Response:
    """Have the study built; only one lead does, as the other's page is out of date then."""
    builder = _builder_of(visit)
    try:
        if not builder.state.is_running:
            visit.save(BegunDraft(visit.visitor.name))
            builder.start(Act(BUILD, visit.study.address))
    except REFUSALS as refusal:
        return _show(visit.refused(refusal), builder.state)
    return go_to(f"{START}/begin")


@router.get(f"{START}/progress")
def progress(visit: LeadVisit) -> Response:
    """Show how far the building is, as a part of its page; leads on when that has ended, well or not."""
    state = _builder_of(visit).state
    if state.is_running:
        return visit.page("lead_start_progress.html.j2", state=state, stages=BUILD_STAGES)
    onward = f"{START}/begin" if visit.study.start.is_open else LINKS
    return Response(status_code=HTTPStatus.NO_CONTENT, headers={"HX-Redirect": onward})


@router.get(LINKS)
def invitations(visit: LeadVisit) -> Response:
    """Offer a link for everybody who has none yet."""
    if visit.study.start.is_open:
        return go_to(START)
    return visit.page("lead_start_links.html.j2", uninvited=uninvited_people(visit.study))
