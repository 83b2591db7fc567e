"""The newest evaluation of systems, as the lead sees it, and evaluating anew: by systems, or of a run that is sent."""

from __future__ import annotations

import re
import shutil
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import PlainTextResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from fcpair.errors import FcpairError, InputError
from fcpair.params import Evaluate
from fcpair.records import Role
from fcpair.tier_plans import check_tier_name
from fcpair.web.acts.act_progress import PATH, long_acts_of, show_act
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.errors import status_of
from fcpair.web.lead.navigation import EVALUATION
from fcpair.web.lead.panels import SHOWN_BY
from fcpair.web.lead.runs import find_run
from fcpair.web.server.long_acts import EVALUATE, LongActs
from fcpair.web.server.security import UPLOAD_RUN
from fcpair.web.start.table_upload import receive_file

router = APIRouter(include_in_schema=False)
EXAMPLES = ("bm25", "tfidf", "random")
"""Systems that need no model, for a study whose recipe names none."""
MOST_RUN = 20 * 1024 * 1024
TOO_LARGE = (
    "the run has more than {:,} MB, which is the limit here; use `fcpair evaluate --system run:FILE` on the server"
)
EMPTY = "the file is empty; choose a TREC run"
OWN_FILES = "`{}` names a file of the server, which only the recipe and the command line can; send your run below"
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
Text = Annotated[str, Form()]


@router.get(EVALUATION.path)
@open_to(Role.LEAD)
def evaluation(request: Request, run: int = 0) -> Response:
    """Show what each system scores on each tier, and the forms by which that is found out."""
    from fcpair.evaluate.outcome import group_by_system
    from fcpair.report.evaluation_section import strip_folders

    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    figures = context.study.latest_evaluation()
    outcome = strip_folders(figures.outcome) if figures else None
    values = {
        "page": EVALUATION,
        "grids": context.grids.overview() if here.name else [],
        "evaluation": figures,
        "scores": [
            (tier, group_by_system([one for one in outcome.scores if one.tier == tier.tier])) for tier in outcome.tiers
        ]
        if outcome
        else [],
        "notes": [(system.short, note) for system in outcome.systems for note in system.notes] if outcome else [],
        "simulated": outcome.simulated if outcome else None,
        "done": find_run(context.study.log(), run) if run else None,
        **(_form_values(here) if EVALUATION.fits(here) else {}),
    }
    return context.page(request, visitor, "lead_evaluation.html.j2", here, **SHOWN_BY, **values)


def _form_values(here: CurrentGrid) -> dict[str, Any]:
    options = here.grid.recipe_options(Evaluate)
    return {
        "tiers": [(tier, tier in options.tiers) for tier in here.grid.list_tiers()],
        "systems": options.systems or EXAMPLES,
        "most": MOST_RUN,
    }


@router.post(f"{EVALUATION.path}/begin")
@open_to(Role.LEAD)
def begin(request: Request, systems: Text = "", tier: Annotated[list[str] | None, Form()] = None) -> Response:
    """Have systems evaluated, one a line, on the tiers that are ticked."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    names = [line.strip() for line in systems.splitlines() if line.strip()]
    from_recipe = here.grid.recipe_options(Evaluate).systems
    if files := [name for name in names if name not in from_recipe and ("run:" in name or "canned:" in name)]:
        raise InputError(OWN_FILES.format(files[0]))
    values = {"systems": names, "tiers": tier or []}
    _check(here, values)
    long_acts_of(request).begin(EVALUATE, grid=here.grid.grid.name, by=visitor.name, values=values)
    return show_act()


def _check(here: CurrentGrid, values: dict[str, Any]) -> None:
    """Raise InputError for systems or tiers that are none, before a process is begun."""
    from fcpair.evaluate.catalogue import parse_system

    if not values["systems"]:
        raise InputError("no system is named; name at least one, such as bm25")
    if not values["tiers"]:
        raise InputError("no tier is ticked; tick at least one")
    here.grid.recipe_options(Evaluate, **values)
    for tier in values["tiers"]:
        check_tier_name(tier.strip().lower(), here.grid.list_tiers())
    for system in values["systems"]:
        parse_system(system)


@router.post(UPLOAD_RUN[1])
@open_to(Role.LEAD)
async def upload(request: Request, name: str = "") -> Response:
    """Take a TREC run, whose bytes are the body, and have it evaluated on the tiers of the recipe."""
    context = context_of(request)
    visitor = await run_in_threadpool(context.door.require_visitor, request)
    folder = LongActs.new_folder()
    try:
        here = await run_in_threadpool(context.grids.from_request, request)
        path = folder / (_UNSAFE.sub("-", Path(name).name)[-60:].lstrip(".-") or "run.trec")
        await receive_file(request, path, MOST_RUN, too_large=TOO_LARGE, empty=EMPTY)
        values = await run_in_threadpool(_values_for_run, here, path)
        begin_act = long_acts_of(request).begin
        begin_act(EVALUATE, grid=here.grid.grid.name, by=visitor.name, values=values, folder=folder)
    except FcpairError as error:
        shutil.rmtree(folder, ignore_errors=True)
        sentence = context.translate_sentence(str(error), visitor, context.language(visitor))
        return PlainTextResponse(sentence, status_of(error))
    except ClientDisconnect:
        shutil.rmtree(folder, ignore_errors=True)
        return Response(status_code=HTTPStatus.BAD_REQUEST)
    return PlainTextResponse(PATH)


def _values_for_run(here: CurrentGrid, path: Path) -> dict[str, Any]:
    """The run, beside the systems of the recipe."""
    options = here.grid.recipe_options(Evaluate)
    values = {"systems": [f"run:{path}", *options.systems], "tiers": list(options.tiers)}
    _check(here, values)
    return values
