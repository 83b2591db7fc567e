"""Starting a study in the browser: columns, plan, people and guidelines, each on a page of its own."""

from __future__ import annotations

from dataclasses import replace
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
    TablePreview,
)
from fcpair.study import StudyStart
from fcpair.web.auth import open_to
from fcpair.web.context import START, context_of
from fcpair.web.errors import status_of
from fcpair.web.form import field, parse_number
from fcpair.web.lead.panels import SHOWN_BY
from fcpair.web.page_hints import replace_commands
from fcpair.web.pages.markdown import render

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


def _steps(**address_by_part: str) -> tuple[Step, ...]:
    names = {"plan": "Plan", "start": "Start"}
    return tuple(
        Step(part, f"{START}/{address}", names.get(part, part.capitalize()))
        for part, address in address_by_part.items()
    )


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


def detour(start: StudyStart, draft: Draft, part: str, kind: StudyKind | None = None) -> Response | None:
    """Lead elsewhere from a step that is not due: to the first one that is missing, or away where all is done.

    A step of one `kind` of study leads to the same of another, if that is what the table is for.
    """
    if not start.is_open:
        return go_to("/lead")
    parts = [step.part for step in STEPS[draft.kind]]
    if parts.index(draft.next_step) < parts.index(part):
        return go_to(step_of(draft, draft.next_step).address)
    return go_to(step_of(draft, part).address) if kind not in (None, draft.kind) else None


def show_step(
    request: Request, visitor: Visitor, part: str, draft: Draft, error: FcpairError | None = None, **values: Any
) -> Response:
    """The page of a step, with what went wrong."""
    steps, step = STEPS[draft.kind], step_of(draft, part)
    index = steps.index(step)
    shared = {
        "step": step,
        "steps": steps,
        "n_open": steps.index(step_of(draft, draft.next_step)) + 1,
        "back": steps[index - 1] if index else None,
        "draft": draft,
        "problem": replace_commands(str(error)) if error else "",
    }
    page = context_of(request).page(
        request, visitor, f"lead_start_{step.template}.html.j2", None, **SHOWN_BY, **shared, **values
    )
    page.status_code = status_of(error) if error else HTTPStatus.OK
    return page


@router.get(START)
@open_to(Role.LEAD)
def start(request: Request) -> Response:
    """Lead to the first step that is not done."""
    context_of(request).door.require_visitor(request)
    begun = start_of(request)
    draft = begun.draft()
    return go_to(step_of(draft, draft.next_step).address if begun.is_open else "/lead")


def save_parts(request: Request, visitor: Visitor, *parts: DraftPart) -> Draft:
    """Keep parts of the draft, of which a form has seen a version."""
    return start_of(request).save(*parts, by=visitor.name, seen=parse_number(field(request, "seen")) or 0)


def _optional(request: Request, name: str) -> str | None:
    return field(request, name).strip() or None


@router.get(f"{START}/columns")
@open_to(Role.LEAD)
def columns(request: Request) -> Response:
    """Show which column is what, and the first rows as people will see them."""
    visitor = context_of(request).door.require_visitor(request)
    begun = start_of(request)
    draft = begun.draft()
    if elsewhere := detour(begun, draft, ColumnsDraft.step, "pairs"):
        return elsewhere
    try:
        guess = begun.guess(draft)
    except InputError as error:  # the file was changed or deleted
        return show_step(request, visitor, "table", draft, error)
    return _show_columns(request, visitor, draft, guess)


def _show_columns(
    request: Request, visitor: Visitor, draft: Draft, chosen: ColumnsDraft, error: FcpairError | None = None
) -> Response:
    begun = start_of(request)
    preview: TablePreview = begun.preview(draft, chosen)
    shown = error or (InputError(preview.problem) if preview.problem else None)
    header = begun.header(draft)
    values = {"chosen": chosen, "preview": preview, "header": header}
    values["replaced"] = isinstance(draft.columns, ColumnsDraft) and draft.columns.hs not in header
    return show_step(request, visitor, ColumnsDraft.step, draft, shown, **values)


@router.post(f"{START}/columns")
@open_to(Role.LEAD)
def save_columns(request: Request) -> Response:
    """Show the rows with the columns that were chosen, or keep these."""
    visitor = context_of(request).door.require_visitor(request)
    begun = start_of(request)
    draft = begun.draft()
    if elsewhere := detour(begun, draft, ColumnsDraft.step, "pairs"):
        return elsewhere
    chosen = begun.guess(draft)
    try:
        chosen = _parse_columns(request, chosen)
        if field(request, "act") == "save":
            save_parts(request, visitor, chosen)
            return go_to(step_of(draft, PlanDraft.step).address)
    except NOT_SAVED as error:
        return _show_columns(request, visitor, begun.draft(), chosen, error)
    return _show_columns(request, visitor, draft, chosen)


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
def plan(request: Request) -> Response:
    """Show the plan, and what it amounts to."""
    visitor = context_of(request).door.require_visitor(request)
    begun = start_of(request)
    draft = begun.draft()
    if elsewhere := detour(begun, draft, PlanDraft.step, "pairs"):
        return elsewhere
    return _show_plan(request, visitor, draft, _chosen_plan(begun, draft))


def _chosen_plan(begun: StudyStart, draft: Draft) -> PlanDraft:
    return draft.plan if isinstance(draft.plan, PlanDraft) else begun.default_plan(draft)


def _show_plan(
    request: Request, visitor: Visitor, draft: Draft, chosen: PlanDraft, error: FcpairError | None = None
) -> Response:
    begun = start_of(request)
    values = {"chosen": chosen, "model": DEFAULT_MODEL, "can_retrieve": begun.can_retrieve}
    preview = begun.preview(draft)
    figures = None if error else _figures_or_problem(begun, draft, chosen)
    return show_step(request, visitor, PlanDraft.step, draft, error, **values, preview=preview, figures=figures)


def _figures_or_problem(begun: StudyStart, draft: Draft, chosen: PlanDraft) -> Any:
    """What a plan amounts to, or a sentence that says why it cannot be carried out."""
    try:
        return begun.figures(draft, chosen)
    except InputError as error:
        return str(error)


@router.post(f"{START}/figures")
@open_to(Role.LEAD)
def figures(request: Request) -> Response:
    """What the plan in the form amounts to, as a part of its page."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    begun = start_of(request)
    draft = begun.draft()
    try:
        shown = _figures_or_problem(begun, draft, _parse_plan(request, draft))
    except NOT_SAVED as error:
        shown = str(error)
    return context.page(request, visitor, "lead_start_figures.html.j2", None, **SHOWN_BY, figures=shown)


@router.post(f"{START}/plan")
@open_to(Role.LEAD)
def save_plan(request: Request) -> Response:
    """Keep the plan."""
    visitor = context_of(request).door.require_visitor(request)
    begun = start_of(request)
    draft = begun.draft()
    if elsewhere := detour(begun, draft, PlanDraft.step, "pairs"):
        return elsewhere
    chosen = _chosen_plan(begun, draft)
    try:
        chosen = _parse_plan(request, draft)
        save_parts(request, visitor, chosen)
    except NOT_SAVED as error:
        return _show_plan(request, visitor, begun.draft(), chosen, error)
    return go_to(step_of(draft, PeopleDraft.step).address)


def _parse_plan(request: Request, draft: Draft) -> PlanDraft:
    """The plan of a form; with all HS, their number is that of the table. Raises InputError for what is no number."""
    kind: Any = field(request, "kind")
    is_full = kind == "full"
    has_candidates = not is_full and _optional(request, "candidates")
    return PlanDraft(
        kind,
        hs=start_of(request).preview(draft).n_hs if is_full else number_of(request, "hs", "the number of first texts"),
        k=PlanDraft.k if is_full else number_of(request, "k", "the number of neighbours"),
        candidates=number_of(request, "candidates", "the number of candidates") if has_candidates else None,
        seed=number_of(request, "seed", "the seed"),
        annotators=number_of(request, "annotators", "the number of annotators"),
        twice=_percentage(request, "twice", "the share with two labels"),
        thrice=_percentage(request, "thrice", "the share with three labels"),
        validators=number_of(request, "validators", "the number of validators"),
        seconds=number_of(request, "seconds", "the seconds for a pair"),
    )


def number_of(request: Request, name: str, what: str) -> int:
    """The number in a field of a form; raises InputError for what is none."""
    text = field(request, name).strip()
    number = parse_number(text)
    if number is None:
        raise InputError(f"{what} is `{text}`; enter a whole number")
    return number


def _percentage(request: Request, name: str, what: str) -> float:
    text = field(request, name).strip()
    try:
        share = float(text.replace(",", ".")) / 100
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InputError(f"{what} is `{text}`; enter a percentage from 0 to 100")
    return round(share, 6)


@router.get(f"{START}/people")
@open_to(Role.LEAD)
def people(request: Request) -> Response:
    """Show who takes part; numbered names are suggested."""
    visitor = context_of(request).door.require_visitor(request)
    begun = start_of(request)
    draft = begun.draft()
    if elsewhere := detour(begun, draft, PeopleDraft.step):
        return elsewhere
    chosen = draft.people or _suggested_people(draft)
    return show_step(request, visitor, PeopleDraft.step, draft, chosen=chosen)


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
def save_people(request: Request) -> Response:
    """Keep who takes part; their number goes into the plan."""
    visitor = context_of(request).door.require_visitor(request)
    begun = start_of(request)
    draft = begun.draft()
    if elsewhere := detour(begun, draft, PeopleDraft.step):
        return elsewhere
    assert draft.plan is not None
    groups = ("annotators", "adjudicators", "validators", "respondents")
    chosen = PeopleDraft(*(_parse_names(field(request, group)) for group in groups))
    try:
        save_parts(request, visitor, chosen, _planned_for(draft.plan, chosen))
    except NOT_SAVED as error:
        return show_step(request, visitor, PeopleDraft.step, begun.draft(), error, chosen=chosen)
    return go_to(step_of(draft, GuidelinesDraft.step).address)


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
def guidelines(request: Request) -> Response:
    """Show the guidelines, to be written now or later."""
    visitor = context_of(request).door.require_visitor(request)
    begun = start_of(request)
    draft = begun.draft()
    if elsewhere := detour(begun, draft, GuidelinesDraft.step):
        return elsewhere
    return show_step(request, visitor, GuidelinesDraft.step, draft, body=begun.guidelines_text(draft), preview=None)


@router.post(f"{START}/guidelines")
@open_to(Role.LEAD)
def save_guidelines(request: Request) -> Response:
    """Show how the text will look, keep it, or leave it for later."""
    visitor = context_of(request).door.require_visitor(request)
    begun = start_of(request)
    draft = begun.draft()
    if elsewhere := detour(begun, draft, GuidelinesDraft.step):
        return elsewhere
    body = field(request, "body").replace("\r\n", "\n")
    if field(request, "act") == "preview":
        return show_step(request, visitor, GuidelinesDraft.step, draft, body=body, preview=render(body))
    try:
        save_parts(request, visitor, begun.keep_guidelines(draft, "" if field(request, "act") == "later" else body))
    except NOT_SAVED as error:
        return show_step(request, visitor, GuidelinesDraft.step, begun.draft(), error, body=body, preview=None)
    return go_to(step_of(draft, "start").address)
