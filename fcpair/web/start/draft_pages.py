"""Starting a study in the browser: columns, plan, people and guidelines, each on a page of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, NamedTuple

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from fcpair.errors import ConflictError, FcpairError, InputError, StageError
from fcpair.params import DEFAULT_MODEL
from fcpair.records import Role, Visitor
from fcpair.start_draft import (
    ColumnsDraft,
    Draft,
    DraftPart,
    GuidelinesDraft,
    PeopleDraft,
    PlanDraft,
    StudyKind,
    SurveyDraft,
    TableDraft,
    TablePreview,
)
from fcpair.study import StudyStart
from fcpair.web.auth import open_to
from fcpair.web.context import START, context_of
from fcpair.web.errors import status_of
from fcpair.web.form import field, parse_number
from fcpair.web.lead.panels import SHOWN_BY
from fcpair.web.page_phrases import mark
from fcpair.web.pages.markdown import render
from fcpair.web.start.form_numbers import number_of, percentage_of

router = APIRouter(include_in_schema=False)
NOT_SAVED = (ConflictError, StageError, InputError)


class Step(NamedTuple):
    """One step: the part of the draft that it settles, its address, and its name."""

    part: str
    address: str
    name: str

    @property
    def template(self) -> str:
        """What its template is called: by its address, but for the last step."""
        return self.part if self.part == "start" else self.address.rpartition("/")[2]


STEP_NAMES = {
    "table": mark("Table"),
    "columns": mark("Columns"),
    "plan": mark("Plan"),
    "people": mark("People"),
    "guidelines": mark("Guidelines"),
    "start": mark("Start"),
}


def _steps(**address_by_part: str) -> tuple[Step, ...]:
    return tuple(Step(part, f"{START}/{address}", STEP_NAMES[part]) for part, address in address_by_part.items())


_SHARED = {"people": "people", "guidelines": "guidelines", "start": "begin"}
STEPS: dict[StudyKind, tuple[Step, ...]] = {
    "pairs": _steps(table="table", columns="columns", plan="plan", **_SHARED),
    "survey": _steps(table="table", columns="statements", plan="survey", **_SHARED),
}


def step_of(draft: Draft, part: str) -> Step:
    """The step that settles a part of a draft."""
    return next(step for step in STEPS[draft.kind] if step.part == part)


def start_of(request: Request) -> StudyStart:
    """The start of the study that a request is about."""
    return context_of(request).study.start


def go_to(address: str) -> Response:
    """Lead to another page, by GET."""
    return RedirectResponse(address, HTTPStatus.SEE_OTHER)


@dataclass(frozen=True)
class StepVisit:
    """A lead's visit to the step that settles a part of the draft, which is as it was when the request came."""

    request: Request
    part: str
    visitor: Visitor
    start: StudyStart
    draft: Draft

    @classmethod
    def of(cls, request: Request, part: str) -> StepVisit:
        """The visit by a request; refused to those who are not a lead."""
        visitor = context_of(request).door.require_visitor(request)
        start = start_of(request)
        return cls(request, part, visitor, start, start.draft())

    def detour(self, kind: StudyKind | None = None) -> Response | None:
        """Lead elsewhere from a step that is not due: to the first one that is missing, or away where all is done.

        A step of one `kind` of study leads to the same of another, if that is what the table is for.
        """
        if not self.start.is_open:
            return go_to("/lead")
        parts = [step.part for step in STEPS[self.draft.kind]]
        if parts.index(self.draft.next_step) < parts.index(self.part):
            return self.go_to(self.draft.next_step)
        return self.go_to(self.part) if kind not in (None, self.draft.kind) else None

    def go_to(self, part: str) -> Response:
        """Lead to the step of a part."""
        return go_to(step_of(self.draft, part).address)

    def save(self, *parts: DraftPart) -> Draft:
        """Keep parts of the draft, of which the form has seen a version."""
        seen = parse_number(field(self.request, "seen")) or 0
        return self.start.save(*parts, by=self.visitor.name, seen=seen)

    def at(self, part: str) -> StepVisit:
        """The same visit at the step of another part."""
        return replace(self, part=part)

    def renewed(self) -> StepVisit:
        """The visit with the draft as it is now, which somebody else may have changed."""
        return replace(self, draft=self.start.draft())

    def show(self, error: FcpairError | None = None, **values: Any) -> Response:
        """The page of the step, with what went wrong."""
        steps, step = STEPS[self.draft.kind], step_of(self.draft, self.part)
        index = steps.index(step)
        shared = {
            "step": step,
            "steps": steps,
            "n_open": steps.index(step_of(self.draft, self.draft.next_step)) + 1,
            "back": steps[index - 1] if index else None,
            "draft": self.draft,
            "problem": str(error) if error else "",
        }
        page = self.show_part(f"lead_start_{step.template}.html.j2", **shared, **values)
        page.status_code = status_of(error) if error else HTTPStatus.OK
        return page

    def show_part(self, template: str, **values: Any) -> Response:
        """A page, or a part of one, from a template."""
        return context_of(self.request).page(self.request, self.visitor, template, None, **SHOWN_BY, **values)


def due_step(
    part: str, kind: StudyKind | None = None
) -> Callable[[Callable[[StepVisit], Response]], Callable[[Request], Response]]:
    """Have an endpoint, below `open_to`, take the visit to a step; it is not called where the step is not due."""

    def take_visit(endpoint: Callable[[StepVisit], Response]) -> Callable[[Request], Response]:
        def visit_step(request: Request) -> Response:
            visit = StepVisit.of(request, part)
            return visit.detour(kind) or endpoint(visit)

        return visit_step

    return take_visit


@router.get(START)
@open_to(Role.LEAD)
def start(request: Request) -> Response:
    """Lead to the first step that is not done."""
    context_of(request).door.require_visitor(request)
    begun = start_of(request)
    draft = begun.draft()
    return go_to(step_of(draft, draft.next_step).address if begun.is_open else "/lead")


def _optional(request: Request, name: str) -> str | None:
    return field(request, name).strip() or None


@router.get(f"{START}/columns")
@open_to(Role.LEAD)
@due_step(ColumnsDraft.step, "pairs")
def columns(visit: StepVisit) -> Response:
    """Show which column is what, and the first rows as people will see them."""
    try:
        guess = visit.start.guess(visit.draft)
    except InputError as error:  # the file was changed or deleted
        return visit.at(TableDraft.step).show(error)
    return _show_columns(visit, guess)


def _show_columns(visit: StepVisit, chosen: ColumnsDraft, error: FcpairError | None = None) -> Response:
    preview: TablePreview = visit.start.preview(visit.draft, chosen)
    shown = error or (InputError(preview.problem) if preview.problem else None)
    header, columns = visit.start.header(visit.draft), visit.draft.columns
    values = {"chosen": chosen, "preview": preview, "header": header}
    values["replaced"] = isinstance(columns, ColumnsDraft) and columns.hs not in header
    return visit.show(shown, **values)


@router.post(f"{START}/columns")
@open_to(Role.LEAD)
@due_step(ColumnsDraft.step, "pairs")
def save_columns(visit: StepVisit) -> Response:
    """Show the rows with the columns that were chosen, or keep these."""
    chosen = visit.start.guess(visit.draft)
    try:
        chosen = _parse_columns(visit.request, chosen)
        if field(visit.request, "act") == "save":
            visit.save(chosen)
            return visit.go_to(PlanDraft.step)
    except NOT_SAVED as error:
        return _show_columns(visit.renewed(), chosen, error)
    return _show_columns(visit, chosen)


def _parse_columns(request: Request, usual: ColumnsDraft) -> ColumnsDraft:
    def text(name: str, otherwise: str) -> str:
        return field(request, name).strip() or otherwise

    return replace(
        usual,
        hs=text("hs", usual.hs),
        cn=text("cn", usual.cn),
        hs_id=_optional(request, "hs_id"),
        cn_id=_optional(request, "cn_id"),
        language=_optional(request, "language"),
        unpaired=bool(field(request, "unpaired")),
        title=field(request, "title").strip(),
        hs_name=field(request, "hs_name").strip(),
        cn_name=field(request, "cn_name").strip(),
        labels=tuple(field(request, f"label_{i}").strip() for i in range(3)),
    )


@router.get(f"{START}/plan")
@open_to(Role.LEAD)
@due_step(PlanDraft.step, "pairs")
def plan(visit: StepVisit) -> Response:
    """Show the plan, and what it amounts to."""
    return _show_plan(visit, _chosen_plan(visit))


def _chosen_plan(visit: StepVisit) -> PlanDraft:
    plan = visit.draft.plan
    return plan if isinstance(plan, PlanDraft) else visit.start.default_plan(visit.draft)


def _show_plan(visit: StepVisit, chosen: PlanDraft, error: FcpairError | None = None) -> Response:
    values = {"chosen": chosen, "model": DEFAULT_MODEL, "can_retrieve": visit.start.can_retrieve}
    preview = visit.start.preview(visit.draft)
    figures = None if error else _figures_or_problem(visit, chosen)
    return visit.show(error, **values, preview=preview, figures=figures)


def _figures_or_problem(visit: StepVisit, chosen: PlanDraft) -> Any:
    """What a plan amounts to, or a sentence that says why it cannot be carried out."""
    try:
        return visit.start.figures(visit.draft, chosen)
    except InputError as error:
        return str(error)


@router.post(f"{START}/figures")
@open_to(Role.LEAD)
def figures(request: Request) -> Response:
    """What the plan in the form amounts to, as a part of its page."""
    visit = StepVisit.of(request, PlanDraft.step)
    try:
        shown = _figures_or_problem(visit, _parse_plan(visit))
    except NOT_SAVED as error:
        shown = str(error)
    return visit.show_part("lead_start_figures.html.j2", figures=shown)


@router.post(f"{START}/plan")
@open_to(Role.LEAD)
@due_step(PlanDraft.step, "pairs")
def save_plan(visit: StepVisit) -> Response:
    """Keep the plan."""
    chosen = _chosen_plan(visit)
    try:
        chosen = _parse_plan(visit)
        visit.save(chosen)
    except NOT_SAVED as error:
        return _show_plan(visit.renewed(), chosen, error)
    return visit.go_to(PeopleDraft.step)


def _parse_plan(visit: StepVisit) -> PlanDraft:
    """The plan of a form; with all HS, their number is that of the table. Raises InputError for what is no number."""
    request = visit.request
    kind: Any = field(request, "kind")
    is_full = kind == "full"
    has_candidates = not is_full and _optional(request, "candidates")
    return PlanDraft(
        kind,
        hs=visit.start.preview(visit.draft).n_hs if is_full else number_of(request, "hs", mark("First texts to draw")),
        k=PlanDraft.k if is_full else number_of(request, "k", mark("Neighbours of each known second text")),
        candidates=number_of(request, "candidates", mark("Candidates to draw")) if has_candidates else None,
        seed=number_of(request, "seed", mark("Seed of every draw")),
        annotators=number_of(request, "annotators", mark("Annotators")),
        twice=percentage_of(request, "twice", mark("Pairs with two labels, in percent")),
        thrice=percentage_of(request, "thrice", mark("Pairs with three labels, in percent")),
        validators=number_of(request, "validators", mark("Validators")),
        seconds=number_of(request, "seconds", mark("Seconds for a pair")),
    )


@router.get(f"{START}/people")
@open_to(Role.LEAD)
@due_step(PeopleDraft.step)
def people(visit: StepVisit) -> Response:
    """Show who takes part; numbered names are suggested."""
    return visit.show(chosen=visit.draft.people or _suggested_people(visit.draft))


def _suggested_people(draft: Draft) -> PeopleDraft:
    """As many as the plan has, numbered."""
    if isinstance(draft.plan, SurveyDraft):
        return PeopleDraft(respondents=_numbered("p", draft.plan.respondents))
    assert draft.plan is not None
    return PeopleDraft(_numbered("a", draft.plan.annotators), ("adjudicator",), _numbered("v", draft.plan.validators))


def _numbered(prefix: str, n: int) -> tuple[str, ...]:
    return tuple(f"{prefix}{i}" for i in range(1, n + 1))


@router.post(f"{START}/people")
@open_to(Role.LEAD)
@due_step(PeopleDraft.step)
def save_people(visit: StepVisit) -> Response:
    """Keep who takes part; their number goes into the plan."""
    assert visit.draft.plan is not None
    groups = ("annotators", "adjudicators", "validators", "respondents")
    chosen = PeopleDraft(*(_parse_names(field(visit.request, group)) for group in groups))
    try:
        visit.save(chosen, _planned_for(visit.draft.plan, chosen))
    except NOT_SAVED as error:
        return visit.renewed().show(error, chosen=chosen)
    return visit.go_to(GuidelinesDraft.step)


def _planned_for(plan: PlanDraft | SurveyDraft, people: PeopleDraft) -> PlanDraft | SurveyDraft:
    """The plan with as many people as take part."""
    if isinstance(plan, SurveyDraft):
        return replace(plan, respondents=max(len(people.respondents), 1))
    return replace(plan, annotators=max(len(people.annotators), 1), validators=len(people.validators))


def _parse_names(text: str) -> tuple[str, ...]:
    """The names of a pasted list, one a line or between commas."""
    return tuple(name.strip() for line in text.splitlines() for name in line.split(",") if name.strip())


@router.get(f"{START}/guidelines")
@open_to(Role.LEAD)
@due_step(GuidelinesDraft.step)
def guidelines(visit: StepVisit) -> Response:
    """Show the guidelines, to be written now or later."""
    return visit.show(body=visit.start.guidelines_text(visit.draft), preview=None)


@router.post(f"{START}/guidelines")
@open_to(Role.LEAD)
@due_step(GuidelinesDraft.step)
def save_guidelines(visit: StepVisit) -> Response:
    """Show how the text will look, keep it, or leave it for later."""
    body, act = field(visit.request, "body").replace("\r\n", "\n"), field(visit.request, "act")
    if act == "preview":
        return visit.show(body=body, preview=render(body))
    try:
        visit.save(visit.start.keep_guidelines(visit.draft, "" if act == "later" else body))
    except NOT_SAVED as error:
        return visit.renewed().show(error, body=body, preview=None)
    return visit.go_to("start")
