"""The newest evaluation of systems, and acts that take minutes: evaluating anew, and asking the models of a round."""

from __future__ import annotations

from http import HTTPStatus
from math import isfinite, nan
from pathlib import Path
from typing import Annotated, Any, cast

from fastapi import APIRouter, Form, Response
from fastapi.responses import PlainTextResponse
from starlette.concurrency import run_in_threadpool

from fcpair.errors import InputError, StageError, at_fault
from fcpair.params import Evaluate
from fcpair.sentences import mark, say
from fcpair.tier_plans import check_tier_name
from fcpair.web.current_grid import EVALUATION, PROGRESS, UPLOADS, CurrentGrid
from fcpair.web.form import Text
from fcpair.web.server.child_process import EVALUATE, GENERATE, IMPORT, Act, ChildProcess
from fcpair.web.server.held_files import HeldFiles
from fcpair.web.server.security import UPLOAD_RUN
from fcpair.web.start import take_file
from fcpair.web.visits import REFUSALS, LeadVisit, Visit, go_to

router = APIRouter(include_in_schema=False)
PATH, GENERATE_PATH = "/lead/acts", "/lead/generate"
PAGES = {EVALUATE: EVALUATION, GENERATE: PROGRESS, IMPORT: UPLOADS}  # that begin an act, and have its result
TITLES = {EVALUATE: mark("Evaluating"), GENERATE: mark("Asking models"), IMPORT: mark("Recording answers")}
EXAMPLES = ("bm25", "tfidf", "random")  # systems that need no model, for a study whose recipe names none
MOST_RUN = 20 * 1024 * 1024
TOO_LARGE = mark(
    "the run has more than %(number)s MB, which is the limit here; use `fcpair evaluate --system run:FILE` on the "
    "server"
)
EMPTY = say("the file is empty; choose a TREC run")


@router.get(EVALUATION.path)
def evaluation(visit: LeadVisit, run: int = 0, systems: str | None = None, tiers: str = "") -> Response:
    """Show what each system scores on each tier, and the forms by which that is found out.

    What was typed, if it is given, was refused: it is shown again, with what is wrong with it.
    """
    from fcpair.evaluate.outcome import group_by_system, undefined_reason
    from fcpair.report.page import strip_folders

    here, figures, act = visit.here, visit.study.latest_evaluation(), long_acts_of(visit).state
    values: dict[str, Any] = {"evaluation": figures, "scores": [], "notes": [], "simulated": None}
    values["act"] = act if act.is_running or (act.what, act.grid) == (EVALUATE, here.grid.grid.name) else None
    if EVALUATION.fits(here):
        options, sizes = here.grid.recipe_options(Evaluate), here.tier_sizes
        usual = {"systems": options.systems or EXAMPLES, "tiers": [tier for tier in options.tiers if sizes.get(tier)]}
        values |= {"sizes": sizes, "typed": usual, "most": MOST_RUN}
        if systems is not None:
            values["typed"] = {"systems": systems.splitlines(), "tiers": tiers.split()}
            try:
                _check(here, values["typed"])
            except REFUSALS as refusal:
                visit = visit.refused(refusal)
    if figures:
        outcome = strip_folders(figures.outcome)
        values["scores"] = [
            (tier, group_by_system([score for score in outcome.scores if score.tier == tier.tier]))
            for tier in outcome.tiers
        ]
        values["notes"] = [(system.short, note) for system in outcome.systems for note in system.notes]
        values["blocks_noted"] = here.grid.desk.block_notes
        values["simulated"] = outcome.simulated and (here.monitor.simulated_note() or outcome.simulated)
    # An outcome that was kept has mere texts.
    return visit.lead_page("lead_evaluation.html.j2", EVALUATION, run, undefined_reason=undefined_reason, **values)


@router.post(f"{EVALUATION.path}/begin")
def begin(visit: LeadVisit, systems: Text = "", tier: Annotated[list[str] | None, Form()] = None) -> Response:
    """Have systems evaluated, one a line, on the tiers that are ticked."""
    values = {"systems": [line.strip() for line in systems.splitlines() if line.strip()], "tiers": tier or []}
    try:
        _check(visit.here, values)
        return begin_act(visit, EVALUATE, values)
    except REFUSALS as refusal:  # the page, which another process makes, says why
        typed = {"systems": "\n".join(values["systems"]), "tiers": " ".join(values["tiers"])}
        return go_to(visit.here.address(EVALUATION.path + "#evaluating" * bool(refusal.parameter), **typed))


def _check(here: CurrentGrid, values: dict[str, Any]) -> None:
    """Raise InputError for systems or tiers that are none, before a process is begun."""
    from fcpair.evaluate.catalogue import parse_system

    with at_fault("systems"):
        if not values["systems"]:
            raise InputError.say("no system is named; name at least one, such as `bm25`")
        from_recipe = here.grid.recipe_options(Evaluate).systems
        for name in values["systems"]:
            if name not in from_recipe and ("run:" in name or "canned:" in name):
                raise InputError.say(
                    "`%(name)s` names a file of the server, which only the recipe and the command line can; send your "
                    "run below",
                    name=name,
                )
            parse_system(name)
    with at_fault("tiers"):
        if not values["tiers"]:
            raise InputError.say("no tier is ticked; tick at least one")
        for name in values["tiers"]:
            check_tier_name(name.strip().lower(), here.grid.desk.list_tiers())
    here.grid.recipe_options(Evaluate, **values)


@router.post(UPLOAD_RUN[1])
async def upload(visit: LeadVisit, name: str = "") -> Response:
    """Take a TREC run, whose bytes are the body, and have it evaluated on the tiers of the recipe."""
    held = await run_in_threadpool(HeldFiles(visit.study.start.folder, "runs").new, name)

    def check_run() -> dict[str, Any]:
        """The run, beside the systems of the recipe."""
        options = visit.here.grid.recipe_options(Evaluate)
        return {"systems": [f"run:{held.path}", *options.systems], "tiers": list(options.tiers)}

    async def evaluate_run() -> Response:
        begin_act(visit, EVALUATE, await run_in_threadpool(check_run), held.path.parent)
        return PlainTextResponse(PATH)

    return await take_file(visit, held.path, (MOST_RUN, TOO_LARGE, EMPTY), evaluate_run, held.discard)


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
        template = "lead_steps.html.j2" if part else "lead_act.html.j2"
        return visit.page(template, here, state=state, title=TITLES.get(state.what, ""), page=page, names={})
    onward = PATH if state.problem else here.address(page.path, run=state.run)
    return Response(status_code=HTTPStatus.NO_CONTENT, headers={"HX-Redirect": onward})


@router.post(f"{PATH}/stop")
def stop(visit: LeadVisit) -> Response:
    """Stop the act, if there is one."""
    long_acts_of(visit).end(visit.visitor.name)
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
            both = mark("the prices are those of a million tokens; give both as numbers, 0 if there is no charge")
            raise InputError.say(both)
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
