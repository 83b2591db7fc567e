"""Building the study of its draft, or the example: how far that is, cancelling it, and the links that follow."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Response

from fcpair.errors import InputError
from fcpair.sentences import mark, say
from fcpair.start_draft import TASKS, BegunDraft
from fcpair.web.context import START
from fcpair.web.lead.people import uninvited_people
from fcpair.web.server.child_process import BUILD, EXAMPLE, Act, ProcessState
from fcpair.web.start import StepVisit, builder_of
from fcpair.web.start_plan import figures_of
from fcpair.web.visits import REFUSALS, LeadVisit, go_to

router = APIRouter(include_in_schema=False)
LINKS = f"{START}/links"
BEGIN = f"{START}/begin"
STAGE_NAMES = {  # of a build, as its page lists them
    **{"init": mark("Names and labels"), "import": mark("Texts"), "select": mark("Selecting")},
    **{"retrieve": mark("Candidates"), "pair": mark("Pairs"), "assign": mark("Assigning")},
    **{"grid": mark("Statements and questions"), "annotate": mark("Terms"), "simulate": mark("Simulated answers")},
    **{"adjudicate": mark("Decisions"), "validate": mark("Assigning to validators")},
    **{"agreement": mark("Agreement"), "partition": mark("Tiers"), "evaluate": mark("Evaluation")},
}
BeginVisit = Annotated[StepVisit, StepVisit.due("start")]


@router.get(BEGIN)
def begin(visit: BeginVisit) -> Response:
    """Show the recipe, and the button that has it carried out; or how far that is."""
    state = builder_of(visit).state
    if not state.is_running and visit.draft.start is not None:
        interrupted = say("the study was not built to the end, and nothing of it was kept; press the button again")
        visit = visit.refused(InputError(state.problem or interrupted))
    return _show(visit, state)


def _show(visit: StepVisit, state: ProcessState) -> Response:
    recipe = "" if state.is_running else visit.start.recipe_text(visit.draft)
    figures = figures_of(visit, lambda: visit.draft.plan) if recipe and visit.draft.plan else None
    return visit.show(recipe=recipe, figures=figures, tasks=TASKS, state=state, names=STAGE_NAMES)


@router.post(BEGIN)
def build(visit: BeginVisit) -> Response:
    """Have the study built; only one lead does, as the other's page is out of date then."""
    builder = builder_of(visit)
    try:
        if not builder.state.is_running:
            visit.save(BegunDraft(visit.visitor.name))
            builder.start(Act(BUILD, visit.study.address, by=visit.visitor.name))
    except REFUSALS as refusal:
        return _show(visit.refused(refusal), builder.state)
    return go_to(BEGIN)


@router.post(f"{START}/example")
def build_example(visit: LeadVisit) -> Response:
    """Have the example study made, where there is no other; simulated people answer in it."""
    visit.study.start.check_example()
    builder_of(visit).start(Act(EXAMPLE, visit.study.address, by=visit.visitor.name))
    return go_to(BEGIN)


@router.get(f"{START}/progress")
def progress(visit: LeadVisit) -> Response:
    """Show how far the building is, as a part of its page; leads on when that has ended, well or not."""
    state = builder_of(visit).state
    if state.is_running:
        return visit.page("lead_steps.html.j2", state=state, names=STAGE_NAMES)
    onward = START if visit.study.start.is_open else "/lead" if state.what == EXAMPLE else LINKS
    return Response(status_code=HTTPStatus.NO_CONTENT, headers={"HX-Redirect": onward})


@router.post(f"{START}/cancel")
def cancel(visit: LeadVisit) -> Response:
    """End the building, if it goes on; the study and its draft are as they were before it."""
    builder_of(visit).end(visit.visitor.name)
    visit.study.start.take_back(visit.visitor.name)
    return go_to(START)


@router.get(LINKS)
def invitations(visit: LeadVisit) -> Response:
    """Offer a link for everybody who has none yet."""
    if visit.study.start.is_open:
        return go_to(START)
    built = [run for run in visit.study.log() if run.stage in ("retrieve", "pair", "assign")]
    values = {"uninvited": uninvited_people(visit.study), "plan": visit.study.start.draft().plan}
    return visit.page("lead_start_links.html.j2", built=built, **values)
