"""The newest evaluation of systems, and acts that take minutes: evaluating anew, and asking the models of a round."""

from __future__ import annotations

import re
import shutil
from functools import partial
from http import HTTPStatus
from math import isfinite, nan
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated, Any, cast

from fastapi import APIRouter, Form, Response
from fastapi.responses import PlainTextResponse
from starlette.concurrency import run_in_threadpool

from fcpair.errors import InputError, StageError
from fcpair.params import Evaluate
from fcpair.sentences import mark, say
from fcpair.tier_plans import check_tier_name
from fcpair.web.current_grid import EVALUATION, PROGRESS, CurrentGrid
from fcpair.web.form import Text
from fcpair.web.server.child_process import EVALUATE, GENERATE, Act, ChildProcess
from fcpair.web.server.security import UPLOAD_RUN
from fcpair.web.start import take_file
from fcpair.web.visits import LeadVisit, Visit, go_to

router = APIRouter(include_in_schema=False)
PATH, GENERATE_PATH = "/lead/acts", "/lead/generate"
PAGES = {EVALUATE: EVALUATION, GENERATE: PROGRESS}  # on which an act is begun, and that have its result
STOPPED = mark("%(name)s has stopped it; what models have replied is kept, and nothing else was written")
TITLES = {EVALUATE: mark("Evaluating"), GENERATE: mark("Asking models")}
EXAMPLES = ("bm25", "tfidf", "random")  # systems that need no model, for a study whose recipe names none
MOST_RUN = 20 * 1024 * 1024
TOO_LARGE = mark(
    "the run has more than %(number)s MB, which is the limit here; use `fcpair evaluate --system run:FILE` on the "
    "server"
)
EMPTY = say("the file is empty; choose a TREC run")


@router.get(EVALUATION.path)
def evaluation(visit: LeadVisit, run: int = 0) -> Response:
    """Show what each system scores on each tier, and the forms by which that is found out."""
    from fcpair.evaluate.outcome import group_by_system, undefined_reason
    from fcpair.report.page import strip_folders

    here, figures = visit.here, visit.study.latest_evaluation()
    values: dict[str, Any] = {"evaluation": figures, "scores": [], "notes": [], "simulated": None}
    if EVALUATION.fits(here):
        options = here.grid.recipe_options(Evaluate)
        tiers = [(tier, tier in options.tiers) for tier in here.grid.desk.list_tiers()]
        values |= {"tiers": tiers, "systems": options.systems or EXAMPLES, "most": MOST_RUN}
    if figures:
        outcome = strip_folders(figures.outcome)
        values["scores"] = [
            (tier, group_by_system([score for score in outcome.scores if score.tier == tier.tier]))
            for tier in outcome.tiers
        ]
        values["notes"] = [(system.short, note) for system in outcome.systems for note in system.notes]
        values["simulated"] = outcome.simulated and (here.monitor.simulated_note() or outcome.simulated)
    # An outcome that was kept has mere texts.
    return visit.lead_page("lead_evaluation.html.j2", EVALUATION, run, undefined_reason=undefined_reason, **values)


@router.post(f"{EVALUATION.path}/begin")
def begin(visit: LeadVisit, systems: Text = "", tier: Annotated[list[str] | None, Form()] = None) -> Response:
    """Have systems evaluated, one a line, on the tiers that are ticked."""
    names = [line.strip() for line in systems.splitlines() if line.strip()]
    from_recipe = visit.here.grid.recipe_options(Evaluate).systems
    if files := [name for name in names if name not in from_recipe and ("run:" in name or "canned:" in name)]:
        raise InputError.say(
            "`%(name)s` names a file of the server, which only the recipe and the command line can; send your run "
            "below",
            name=files[0],
        )
    values = {"systems": names, "tiers": tier or []}
    _check(visit.here, values)
    return begin_act(visit, EVALUATE, values)


def _check(here: CurrentGrid, values: dict[str, Any]) -> None:
    """Raise InputError for systems or tiers that are none, before a process is begun."""
    from fcpair.evaluate.catalogue import parse_system

    if not values["systems"]:
        raise InputError.say("no system is named; name at least one, such as bm25")
    if not values["tiers"]:
        raise InputError.say("no tier is ticked; tick at least one")
    here.grid.recipe_options(Evaluate, **values)
    for tier in values["tiers"]:
        check_tier_name(tier.strip().lower(), here.grid.desk.list_tiers())
    for system in values["systems"]:
        parse_system(system)


@router.post(UPLOAD_RUN[1])
async def upload(visit: LeadVisit, name: str = "") -> Response:
    """Take a TREC run, whose bytes are the body, and have it evaluated on the tiers of the recipe."""
    folder = Path(mkdtemp(prefix="fcpair-"))
    path = folder / (re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(name).name)[-60:].lstrip(".-") or "run.trec")

    def check_run() -> dict[str, Any]:
        """The run, beside the systems of the recipe."""
        options = visit.here.grid.recipe_options(Evaluate)
        values = {"systems": [f"run:{path}", *options.systems], "tiers": list(options.tiers)}
        _check(visit.here, values)
        return values

    async def evaluate_run() -> Response:
        begin_act(visit, EVALUATE, await run_in_threadpool(check_run), folder)
        return PlainTextResponse(PATH)

    discard = partial(shutil.rmtree, folder, ignore_errors=True)
    return await take_file(visit, path, (MOST_RUN, TOO_LARGE, EMPTY), evaluate_run, discard)


def long_acts_of(visit: Visit) -> ChildProcess:
    """The one process for such acts."""
    return cast(ChildProcess, visit.request.app.state.long_acts)


def begin_act(visit: Visit, what: str, values: dict[str, Any], folder: Path | None = None) -> Response:
    """Begin an act in the visitor's grid and name, and lead to how far it is; ConflictError while there is another."""
    grid = visit.here.grid.grid.name
    long_acts_of(visit).start(Act(what, visit.study.address, grid, visit.visitor.name, values, folder))
    return go_to(PATH)


@router.get(PATH)
def act(visit: LeadVisit, part: bool = False) -> Response:
    """Show how far the act is, as a page or as the `part` that is read anew; leads on when it has been done."""
    state = long_acts_of(visit).state
    page = PAGES.get(state.what, PROGRESS)
    here = visit.context.grids.by_name(state.grid) if state.grid else visit.context.grids.oldest
    if not part or state.is_running:
        template = "lead_act_state.html.j2" if part else "lead_act.html.j2"
        return visit.page(template, here, state=state, title=TITLES.get(state.what, ""), page=page)
    onward = PATH if state.problem else here.address(page.path, run=state.run)
    return Response(status_code=HTTPStatus.NO_CONTENT, headers={"HX-Redirect": onward})


@router.post(f"{PATH}/stop")
def stop(visit: LeadVisit) -> Response:
    """Stop the act, if there is one."""
    long_acts_of(visit).end(say(STOPPED, name=visit.visitor.name))
    return go_to(PATH)


@router.get(GENERATE_PATH)
def outlook(visit: LeadVisit, round: str = "", price_in: str = "", price_out: str = "") -> Response:
    """Show what asking the models of a round takes, and the button that begins it."""
    desk, prices = visit.here.grid.desk, (0.0, 0.0)  # of a million tokens that are read, and written
    if has_prices := bool(price_in.strip() or price_out.strip()):
        try:
            prices = float(price_in), float(price_out)
        except ValueError:
            prices = nan, nan
        if not all(isfinite(price) and price >= 0 for price in prices):
            raise InputError.say(
                "the prices are those of a million tokens; give both as numbers, 0 if there is no charge"
            )
    problem, estimates = desk.service_obstacle(round) or "", []
    try:
        estimates = desk.estimate_generation(round)
    except StageError as error:
        problem = str(error)
    return visit.page(
        "lead_generate.html.j2",
        visit.here,
        page=PROGRESS,
        round=round,
        models=[(model, estimate, estimate.cost(*prices)) for model, estimate in estimates],
        has_prices=has_prices,
        n_to_ask=sum(estimate.requests - estimate.cached for _, estimate in estimates),
        price_in=price_in,
        price_out=price_out,
        problem=problem,
    )


@router.post(GENERATE_PATH)
def ask_models(visit: LeadVisit, round: Text = "") -> Response:
    """Have the models asked."""
    if obstacle := visit.here.grid.desk.service_obstacle(round):
        raise StageError(obstacle)
    return begin_act(visit, GENERATE, {"round": round})
