"""The steps of starting a study that say what is asked, of how many, and of whom: plan, labels and people."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from fastapi import APIRouter, Response

from fcpair.errors import InputError
from fcpair.params import DEFAULT_MODEL
from fcpair.stages.questions.base import keys_of
from fcpair.start_draft import GROUPS, MOST_LABELS, PARTS, TASKS, AnyPlan, Label, PeopleDraft, PlanDraft, SurveyDraft
from fcpair.web.context import START
from fcpair.web.form import fields, fields_of, parse_number, read_params
from fcpair.web.start import MOST_UPLOAD, PeopleVisit, PlanVisit, StepVisit
from fcpair.web.visits import REFUSALS, LeadVisit
from fcpair.words import COLOURS

router = APIRouter(include_in_schema=False)
ANSWERS = ("yes", "no", "decline")  # the fields of the names that the answers of a survey have


@router.get(f"{START}/plan")
@router.get(f"{START}/survey")
@router.get(f"{START}/asking")
def plan(visit: PlanVisit) -> Response:
    """Show the plan, or what is asked, and what it amounts to."""
    return _show_plan(visit, _chosen_plan(visit))


def _chosen_plan(visit: StepVisit) -> Any:
    plan: Any = visit.draft.plan or visit.start.default_plan(visit.draft)
    is_new = isinstance(plan, PlanDraft) and not visit.draft.plan
    return replace(plan, question=visit.translate(plan.question)) if is_new else plan


def _show_plan(visit: StepVisit, chosen: Any) -> Response:
    fields = fields_of(type(chosen))
    return visit.show(
        chosen=chosen,
        fields=fields,
        parts={part: [one for one in fields.values() if one.item.metadata.get("part") == part] for part in PARTS},
        beside=[*fields, *(f"{part}_{at}" for part in ("label", "key") for at in range(MOST_LABELS + 1))],
        **_label_rows(visit, chosen),
        meanings=ANSWERS,
        model=DEFAULT_MODEL,
        can_retrieve=visit.start.can_retrieve,
        preview=visit.start.preview(visit.draft),
        figures=None if visit.refusal else figures_of(visit, lambda: chosen),
    )


def _label_rows(visit: StepVisit, chosen: Any) -> dict[str, Any]:
    """The labels in their form, after one was added or removed there, with the key of each."""
    labels, act = [*(_typed_labels(visit) or getattr(chosen, "labels", ()))], visit.typed("act")
    if act == "add":
        labels.append(Label(""))
    elif act.startswith("drop-") and (at := parse_number(act.removeprefix("drop-"))) is not None:
        labels[at : at + 1] = []
    names = [getattr(label, "name", "") for label in labels]
    return {"labels": labels, "keys": keys_of(names), "colours": COLOURS, "most_labels": MOST_LABELS}


def _typed_labels(visit: StepVisit) -> tuple[Label, ...]:
    typed = fields(visit.request)
    numbers = sorted(int(name[6:]) for name in typed if re.fullmatch("label_[0-9]{1,2}", name))
    marks = {at: (typed.get(f"key_{at}", "").strip().lower(), typed.get(f"colour_{at}", "")) for at in numbers}
    return tuple(
        Label(typed[f"label_{at}"].strip(), cast(Any, typed.get(f"meaning_{at}", "negative")), *marks[at])
        for at in numbers
    )


@router.post(f"{START}/labels")
def labels(visit: LeadVisit) -> Response:
    """Show the labels with one more, or one less, as a part of their page."""
    step_visit = StepVisit.of(visit, "plan")
    return visit.page("_start_labels.html.j2", **_label_rows(step_visit, _chosen_plan(step_visit)))


def figures_of(visit: StepVisit, read: Callable[[], Any]) -> Any:
    """Figures of a plan or survey, or a sentence that says why it cannot be carried out."""
    try:
        return visit.start.figures(visit.draft, read())
    except REFUSALS as error:
        return str(error)


@router.post(f"{START}/figures")
def figures(visit: LeadVisit) -> Response:
    """Show the figures of the plan in the form, as a part of its page."""
    step_visit = StepVisit.of(visit, "plan")
    found = figures_of(step_visit, lambda: _parse_plan(step_visit))
    return visit.page("_start_amounts.html.j2", draft=step_visit.draft, figures=found)


@router.post(f"{START}/plan")
@router.post(f"{START}/survey")
@router.post(f"{START}/asking")
def save_plan(visit: PlanVisit) -> Response:
    """Keep the plan or survey; or show it with a label more, or less."""
    chosen = _chosen_plan(visit)
    if visit.typed("act"):
        return _show_plan(visit, chosen)
    return visit.keep(chosen, lambda: [_parse_plan(visit)], _show_plan)


def _parse_plan(visit: StepVisit) -> AnyPlan:
    """The plan or survey in the form; raises InputError for what cannot be."""
    typed, chosen = fields(visit.request), _chosen_plan(visit)
    if isinstance(chosen, SurveyDraft):
        answers = tuple(visit.typed(name) for name in ANSWERS)
        return read_params(replace(chosen, answers=answers), {"as_list": "no", **typed})
    if not isinstance(chosen, PlanDraft):
        return cast(AnyPlan, read_params(chosen, typed))
    if typed.get("kind") == "full":
        typed |= {"hs": str(visit.start.preview(visit.draft).n_hs), "k": str(PlanDraft.k), "candidates": ""}
    if written := _typed_labels(visit):
        chosen = replace(chosen, labels=tuple(label for label in written if label.name))
    return read_params(chosen, typed)


@router.get(f"{START}/people")
def people(visit: PeopleVisit) -> Response:
    """Show who takes part; numbered names are suggested, as many as the plan has."""
    try:
        return _show_people(visit, visit.draft.people or visit.start.suggested_people(visit.draft))
    except InputError as error:  # a recipe that does not fit its tables
        return replace(visit, part="table").refused(error).show(most=MOST_UPLOAD)


def _show_people(visit: StepVisit, chosen: PeopleDraft) -> Response:
    needed = visit.start.suggested_people(visit.draft)
    groups = [name for name in TASKS[visit.draft.kind].groups if visit.draft.kind != "recipe" or getattr(needed, name)]
    return visit.show(chosen=chosen, groups=groups, beside=[*GROUPS, "annotator_groups"])


@router.post(f"{START}/people")
def save_people(visit: PeopleVisit) -> Response:
    """Keep who takes part; their number goes into the plan."""
    plan = visit.draft.plan

    def names(lines: str) -> tuple[str, ...]:
        return tuple(filter(None, (name.strip() for line in lines.splitlines() for name in line.split(","))))

    overlap_groups = tuple(filter(None, map(names, visit.typed("annotator_groups").splitlines())))
    chosen = PeopleDraft(**{group: names(visit.typed(group)) for group in GROUPS}, annotator_groups=overlap_groups)
    if plan is not None:
        least = {group: int(getattr(plan, group) > 0) for group in GROUPS if hasattr(plan, group)}
        plan = replace(cast(Any, plan), **{group: max(len(getattr(chosen, group)), n) for group, n in least.items()})
    return visit.keep(chosen, lambda: [part for part in (chosen, plan) if part is not None], _show_people)
