"""The lead's page of the grid, its map as a file, its search, and acts on pairs, which say first what they would do."""

from __future__ import annotations

import gzip
import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import Any, NamedTuple

from fastapi import APIRouter, Response

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.grid import Grid
from fcpair.lazy import pd
from fcpair.params import Assign
from fcpair.records import Role, RunRecord
from fcpair.report.map_file import CellMap, pack
from fcpair.sentences import join, mark
from fcpair.web.current_grid import CONFLICTS, GRID, PEOPLE, CurrentGrid
from fcpair.web.form import Text, json_response, parse_number, parse_share, takes_gzip
from fcpair.web.lead.files import table_attachment
from fcpair.web.lead.pair_view import PairView, Query, ticked_pairs
from fcpair.web.lead.panels import SIDES, build_panels, side_heads, side_rows
from fcpair.web.visits import REFUSALS, LeadVisit, Visit
from fcpair.words import Noun
from fcpair.work_records import ExtraLabels

router = APIRouter(include_in_schema=False)
N_TEXTS, N_CHARACTERS = 100, 120  # sent at once, and of each of them
OVERLAP = "/lead/people/overlap"
FEWEST = (2, 3)  # labels for which a share can be given, in any study
SHOWN_PAIRS = 100
SHARE = "share"


@router.get(GRID.path)
def grid_pairs(visit: LeadVisit, query: Query, after: int = 0, run: int = 0) -> Response:
    """Show the grid: its map, and the pairs that match the filters of the address, or all, page by page."""
    here, view, values = visit.here, None, dict[str, Any]()
    if here.has_labels:
        view = PairView(visit, query)
        try:
            values = view.page(after)
            values["answer"] = dict(values)
        except (InputError, UnknownIdError) as refusal:
            visit, values = visit.refused(refusal), {"problem": str(refusal), "chips": view.chips()}
    acts = (  # on pairs that are found: the name in the address, the button, and whether it can be done
        ("labels", mark("Ask for another label"), view and view.choices.people and not here.is_planned),
        ("decisions", mark("Send to an adjudicator"), view and view.choices.has_answers and CONFLICTS.fits(here)),
    )
    return visit.lead_page(
        "lead_grid.html.j2",
        GRID,
        run,
        panels=build_panels(visit, GRID),
        simulated=here.monitor.simulated_note(),
        view=view,
        acts=[(act, button) for act, button, applies in acts if applies],
        **values,
    )


@router.get("/lead/grid/pairs")
def pairs_data(visit: LeadVisit, query: Query, after: int = 0) -> Response:
    """The same pairs, for the script that shows them."""
    view = PairView(visit, query)
    try:
        return json_response(visit.request, view.page(after))
    except (InputError, UnknownIdError) as refusal:
        return json_response(visit.request, {"problem": visit.translate(str(refusal), visit.here)})


@router.get("/lead/grid/pairs.csv")
def matching_file(visit: LeadVisit, query: Query) -> Response:
    """All pairs that match, or those of them that are ticked, as a file, with the columns that are shown."""
    found = PairView(visit, query).find(pairs=ticked_pairs(visit.request))
    return table_attachment(found.to_frame(), "pairs.csv")


@router.get("/lead/grid/map")
def cells(visit: LeadVisit, question: str = "") -> Response:
    """All cells with the classes that they are in, for the answers to a question, the first where none is named."""
    here, cell_map = _find_map(visit, question)
    version = "-".join(map(str, here.monitor.marks()))
    content = pack(cell_map, version, partial(visit.language.say, noun=Noun.of("pair")))
    media_type = "application/octet-stream"
    if not takes_gzip(visit.request):
        return Response(content, media_type=media_type)
    content = gzip.compress(content, 1, mtime=0)  # half a megabyte is sent sooner than its last tenth is squeezed out
    return Response(content, headers={"content-encoding": "gzip"}, media_type=media_type)


@router.get("/lead/grid/texts")
def texts(visit: LeadVisit, side: str = "rows", first: int = 0) -> Response:
    """The beginnings of some texts of a side, from place `first` on."""
    _check_side(side)
    bodies = visit.here.monitor.side_texts(SIDES[side], max(first, 0), N_TEXTS)
    return json_response(visit.request, [body[:N_CHARACTERS] + "…" * (len(body) > N_CHARACTERS) for body in bodies])


@router.get("/lead/grid/{side}.csv")
def side_file(visit: LeadVisit, side: str, question: str = "") -> Response:
    """Answers of each row, or of each column, as a file."""
    _check_side(side)
    here, cell_map = _find_map(visit, question)
    return table_attachment(pd.DataFrame(side_rows(here, cell_map, side), columns=side_heads(cell_map)), f"{side}.csv")


def _check_side(side: str) -> None:
    if side not in SIDES:
        unknown = mark("a grid has no side `%(name)s`; it has %(names)s")
        raise UnknownIdError.say(unknown, name=side, names=join(SIDES, mark(" and ")))


def _find_map(visit: Visit, question: str) -> tuple[CurrentGrid, CellMap]:
    cell_map = visit.here.monitor.cell_map(question)
    if cell_map is None:
        raise UnknownIdError.say("there is no map, because the grid has no pairs yet")
    return visit.here, cell_map


class PairAct(NamedTuple):
    """Something that is done with pairs: `forecast` says what that would be, `do` does it. `stage` tells its pace."""

    stage: str | None
    forecast: Callable[[Grid, list[int]], Any]
    do: Callable[[Grid, list[int]], RunRecord]


ACTS = {
    "labels": PairAct(
        None,
        lambda grid, pairs: grid.desk.plan_more_labels(pairs=pairs),
        lambda grid, pairs: grid.assign(more=True, pairs=pairs),
    ),
    "decisions": PairAct(
        "adjudicate",
        lambda grid, pairs: grid.desk.forecast_decision_requests(pairs),
        lambda grid, pairs: grid.request_decisions(pairs),
    ),
}


@router.get("/lead/grid/act/{act}")
def confirm(visit: LeadVisit, act: str, query: Query) -> Response:
    """Show what an act on pairs would do, and the button that does it."""
    return confirm_act(visit, act, _chosen_pairs(visit, query), PairView(visit, query).address())


@router.post("/lead/grid/act/{act}")
def do(visit: LeadVisit, act: str, query: Query, confirmed: Text = "") -> Response:
    """Do it, unless it would do something else by now than what was shown."""
    asked = PairView(visit, query).asked
    return do_act(visit, act, _chosen_pairs(visit, query), confirmed, GRID.path, {**query, **asked})


def do_act(
    visit: Visit, act: str, tiers: Mapping[int, str], confirmed: str, path: str, query: dict[str, str]
) -> Response:
    """Do an act on pairs as it was confirmed, or ask again; then lead back to a path."""
    grid, pairs, pair_act = visit.here.grid, list(tiers), _find_act(act)
    if confirmed != _digest(pair_act.forecast(grid, pairs), pairs):
        return confirm_act(visit, act, tiers, visit.here.address(path, **query), is_overtaken=bool(confirmed))
    return visit.act(lambda: pair_act.do(grid, pairs), path, **query)


def confirm_act(visit: Visit, act: str, tiers: Mapping[int, str], back: str, *, is_overtaken: bool = False) -> Response:
    """Show what an act on pairs, each with the names of its `tiers`, would do."""
    here, pairs, problem, forecast, pair_act = visit.here, list(tiers), "", None, _find_act(act)
    try:
        forecast = pair_act.forecast(here.grid, pairs)
    except StageError as error:
        problem = str(error)
    requested = getattr(forecast, "requested", ())
    stages = here.monitor.stages()
    stage = next((stage for stage in stages if pair_act.stage in (None, stage.name)), None)
    paces = [person.outlook.pace_s for person in stage.people if person.outlook.pace_s is not None] if stage else []
    return visit.page(
        "lead_confirm_pairs.html.j2",
        here,
        act=act,
        pairs=pairs,
        forecast=forecast,
        problem=problem,
        tiers=Counter(name for pair in requested for name in tiers[pair].split(", ") if name),
        pace_s=median(paces) if paces else None,
        confirmed=_digest(forecast, pairs),
        is_overtaken=is_overtaken,
        target=f"{visit.request.url.path}?{visit.request.url.query}",
        back=back,
    )


def _find_act(act: str) -> PairAct:
    if act not in ACTS:
        message = mark("there is no action `%(name)s` for pairs; expected one of %(names)s")
        raise UnknownIdError.say(message, name=act, names=[*ACTS])
    return ACTS[act]


def _chosen_pairs(visit: Visit, query: dict[str, str]) -> dict[int, str]:
    """The pairs that are meant, with their tiers: all that match, or those of them that are ticked."""
    rows = PairView(visit, query).find(pairs=ticked_pairs(visit.request)).to_frame()
    if rows.empty:
        raise InputError.say("none of these pairs matches the search any more; search again")
    return dict(zip(rows.iloc[:, 0].tolist(), rows["tier"].tolist(), strict=True))


def _digest(forecast: Any, pairs: list[int]) -> str:
    """Digest that confirms that so much is done with these pairs."""
    return hashlib.sha256(repr((forecast, pairs)).encode()).hexdigest()[:32]


@router.get(OVERLAP)
def preview_overlap(visit: LeadVisit, run: int = 0) -> Response:
    """Show the shares of pairs with several labels, and what the shares in the address would add."""
    query = visit.request.query_params.items()
    shares = {name.removeprefix(SHARE): value for name, value in query if name.startswith(SHARE)}
    return _show_overlap(visit, shares, run=run)


@router.post(OVERLAP)
def raise_overlap(visit: LeadVisit, overlap: Text = "", expected: Text = "") -> Response:
    """Assign further labels, so that the shares of pairs with several are those that were shown."""
    here, shares = visit.here, dict(part.split(":", 1) for part in overlap.split() if ":" in part)

    def assign() -> RunRecord:
        options = here.grid.recipe_options(Assign, more=True, overlap=parse_overlap(shares))
        return here.grid.assign(options, more=True, expected=parse_number(expected))

    return visit.act(assign, OVERLAP, lambda refused: _show_overlap(refused, shares, is_refused=True))


def parse_overlap(shares: Mapping[str, str]) -> dict[int, float]:
    """The overlap of a form: the percentage of pairs by number of labels; raises InputError for what is none."""
    overlap = {}
    for labels, text in shares.items():
        number, share = parse_number(labels), parse_share(text)
        if text.strip() and None in (number, share):
            raise InputError.say("`%(text)s` is not a share of pairs; enter a percentage from 0 to 100", text=text)
        if number and share:
            overlap[number] = share
    return overlap


def _show_overlap(visit: Visit, shares: Mapping[str, str], *, is_refused: bool = False, run: int = 0) -> Response:
    here, plan, current = visit.here, None, visit.here.grid.effective_options(Assign).overlap
    if shares and not is_refused:
        try:
            options = here.grid.recipe_options(Assign, more=True, overlap=parse_overlap(shares))
            plan = here.grid.desk.plan_more_labels(options)
        except REFUSALS as refusal:
            visit = visit.refused(refusal)
    numbers = sorted({*FEWEST, *current, *(int(share) for share in shares if share.isdecimal())})
    hours_by_name, hours = _added_hours(here, plan) if plan else ({}, None)
    return visit.page(
        "lead_overlap.html.j2",
        here,
        run,
        page=PEOPLE,
        current=sorted(current.items()),
        shares=[(n, shares.get(str(n), f"{100 * current[n]:.6g}" if n in current else "")) for n in numbers],
        sent=" ".join(f"{number}:{text.strip()}" for number, text in shares.items() if text.strip()),
        plan=plan,
        hours_by_name=hours_by_name,
        hours=hours,
        shown_pairs=SHOWN_PAIRS,
        is_refused=is_refused,
    )


def _added_hours(here: CurrentGrid, plan: ExtraLabels) -> tuple[dict[str, float], float | None]:
    """Hours that the new labels take each person, at their own or the median pace, and all; none without any pace."""
    people = (person for stage in here.monitor.stages() if stage.role is Role.ANNOTATOR for person in stage.people)
    paces = {person.name: person.outlook.pace_s for person in people if person.outlook.pace_s is not None}
    if not paces:
        return {}, None
    usual, n_by_name = median(paces.values()), {name: n for name, (n, _) in plan.by_person.items()}
    hours = {name: n * paces.get(name, usual) / 3600 for name, n in n_by_name.items()}
    return hours, sum(hours.values()) + (plan.n_new - sum(n_by_name.values())) * usual / 3600
