"""The lead's page of the grid, its map as a file, its search, and acts on pairs, which say first what they would do."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Depends, Request, Response

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.grid import Grid
from fcpair.lazy import pd
from fcpair.pair_filter import FilterState, PairFilter, check_name
from fcpair.params import Assign
from fcpair.records import Role, RunRecord
from fcpair.report.formatting import named
from fcpair.report.map_file import CellMap, pack
from fcpair.sentences import join, mark
from fcpair.web.current_grid import CONFLICTS, GRID, PEOPLE, CurrentGrid
from fcpair.web.form import Text, json_response, parse_number, parse_share, takes_gzip
from fcpair.web.languages import Language
from fcpair.web.lead.files import table_attachment
from fcpair.web.lead.panels import SIDES, build_panels, side_heads, side_rows
from fcpair.web.visits import REFUSALS, LeadVisit, Visit
from fcpair.words import Noun
from fcpair.work_records import ExtraLabels

router = APIRouter(include_in_schema=False)
PAGE = 50  # pairs on one page of them
N_TEXTS, N_CHARACTERS = 100, 120  # sent at once, and of each of them
NO_VALUE = {
    "skipped": mark("there is no value of `skipped` `%(name)s`; %(hint)s"),
    "noted": mark("there is no value of `noted` `%(name)s`; %(hint)s"),
}
YES_OR_NO = {"yes": True, "no": False}
NAMED = ("answer", "other_answer", "tier", "skipped", "noted")  # filters whose values have names in a language
TITLES = {
    "words": mark("Words in either text"),
    "person": mark("Given to"),
    "answer": mark("Label"),
    "state": mark("State"),
    "tier": mark("Tier"),
    "skipped": mark("Skipped"),
    "noted": mark("With a note"),
    "other": mark("And given to"),
    "other_answer": mark("Label of theirs"),
}
"""The name of each filter, in the order of the page; those of metadata come after them."""
STATES = {
    FilterState.OPEN: mark("open, a label is missing"),
    FilterState.LABELLED: mark("labelled"),
    FilterState.WAITING: mark("waits for a person"),
    FilterState.DECIDED: mark("decided"),
    FilterState.DISCARDED: mark("discarded"),
    FilterState.VALID: mark("valid"),
    FilterState.NOT_VALID: mark("not valid"),
}
METADATA = re.compile(r"(hs|cn|row|column)\..+", re.DOTALL)
OVERLAP = "/lead/people/overlap"
FEWEST = (2, 3)  # labels for which a share can be given, in any study
SHOWN_PAIRS = 100
SHARE = "share"


async def read_query(request: Request) -> dict[str, str]:
    """The filters in an address, as they are written there; those that ask nothing left out."""
    asked = request.query_params
    names = [*TITLES, *filter(METADATA.fullmatch, asked)]
    return {name: text for name in names if (text := asked.get(name, "").strip())}


Query = Annotated[dict[str, str], Depends(read_query)]


@router.get(GRID.path)
def grid_pairs(visit: LeadVisit, query: Query, after: int = 0, run: int = 0) -> Response:
    """Show the grid, cell by cell; or, where the address has filters, the pairs that match them."""
    here, language = visit.here, visit.language
    is_search = here.has_labels and any(name in TITLES or name in query for name in visit.request.query_params)
    choices = here.grid.desk.search_choices() if here.has_labels else None

    def name_value(name: str, value: str) -> str:
        """Name that people read for a value of a filter; a person, and what a text came with, as it is."""
        if name == "state" and value in STATES:
            return language.find(STATES[FilterState(value)])
        return language.say(named(value), Noun.of("pair")) if name in NAMED else value

    values: dict[str, Any] = {}
    try:
        if is_search:
            matching = here.grid.find_pairs(**conditions_of(query), first=after, n=PAGE)
            rest = {name: {other: query[other] for other in query if other != name} for name in query}
            values = {
                "matching": matching,
                "rows": [_translate_record(record, language) for record in matching.records],
                "without": [(name, value, _search_address(here, rest[name])) for name, value in query.items()],
            }
    except InputError as refusal:
        visit, values = visit.refused(refusal), {"problem": str(refusal)}
    # What filters by metadata are called, by their names: those that are offered, and those that are asked for.
    titles = {name: language.find(title) for name, title in TITLES.items()}
    for name in (*(choice.name for choice in (choices.metadata if choices else ())), *query):
        if name not in TITLES:
            side, _, key = name.partition(".")
            titles[name] = f"{here.facts['hs_name' if side in ('hs', 'row') else 'cn_name'].capitalize()}: {key}"
    acts = (  # on pairs that are found: the name in the address, the button, and whether it can be done
        ("labels", mark("Ask for another label"), choices and choices.people and not here.is_planned),
        ("decisions", mark("Send to an adjudicator"), choices and choices.has_answers and CONFLICTS.fits(here)),
    )
    return visit.lead_page(
        "lead_grid.html.j2",
        GRID,
        run,
        panels=[] if is_search else build_panels(visit, GRID),
        simulated=here.monitor.simulated_note(),
        titles=titles,
        named=name_value,
        size=PAGE,
        query=query,
        choices=choices,
        is_search=is_search,
        acts=[(act, button) for act, button, applies in acts if applies],
        **values,
    )


def _translate_record(record: tuple[Any, ...], language: Language) -> tuple[Any, ...]:
    """A pair as a search has it, with its labels (`2 not_appropriate, 1 appropriate`), decision, verdict and tier."""
    *texts, labels, decision, verdict, tier = record
    counts = (part.partition(" ") for part in labels.split(", ") if part)
    said = language.find(", ").join(f"{language.number(int(n))} {language.answer_name(name)}" for n, _, name in counts)
    facts = (language.say(named(fact), Noun.of("pair")) for fact in (decision, verdict))
    return *texts, said, *facts, ", ".join(language.say(named(name), Noun.of("pair")) for name in tier.split(", "))


def _search_address(here: CurrentGrid, query: dict[str, str]) -> str:
    return here.address(GRID.path, **(query or {"words": ""}))


def conditions_of(query: dict[str, str]) -> dict[str, Any]:
    """The conditions that an address has, as `find_pairs` takes them; raises InputError for what is none."""
    conditions: dict[str, Any] = {name: value for name, value in query.items() if name in TITLES}
    conditions["metadata"] = {name: value for name, value in query.items() if name not in TITLES}
    for name in ("skipped", "noted"):
        check_name(NO_VALUE[name], query.get(name, ""), YES_OR_NO)
        conditions[name] = YES_OR_NO.get(query.get(name, ""))
    return PairFilter(**conditions).chosen


@router.get("/lead/grid/pairs.csv")
def matching_file(visit: LeadVisit, query: Query) -> Response:
    """All pairs that match, as a file."""
    return table_attachment(visit.here.grid.find_pairs(**conditions_of(query)).to_frame(), "pairs.csv")


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
        raise UnknownIdError.say(
            "a grid has no side `%(name)s`; it has %(names)s", name=side, names=join(SIDES, mark(" and "))
        )


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
    return _show(visit, act, query, _chosen_pairs(visit, query))


@router.post("/lead/grid/act/{act}")
def do(visit: LeadVisit, act: str, query: Query, confirmed: Text = "") -> Response:
    """Do it, unless it would do something else by now than what was shown."""
    grid, rows = visit.here.grid, _chosen_pairs(visit, query)
    pairs, pair_act = rows.iloc[:, 0].tolist(), _find_act(act)
    if confirmed != _digest(pair_act.forecast(grid, pairs), pairs):
        return _show(visit, act, query, rows, is_overtaken=bool(confirmed))
    return visit.act(lambda: pair_act.do(grid, pairs), GRID.path, **(query or {"words": ""}))


def _show(visit: Visit, act: str, query: dict[str, str], rows: pd.DataFrame, *, is_overtaken: bool = False) -> Response:
    here, pairs, problem, forecast, pair_act = visit.here, rows.iloc[:, 0].tolist(), "", None, _find_act(act)
    try:
        forecast = pair_act.forecast(here.grid, pairs)
    except StageError as error:
        problem = str(error)
    is_requested = rows.iloc[:, 0].isin(set(getattr(forecast, "requested", ())))
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
        tiers=Counter(name for names in rows["tier"][is_requested] for name in names.split(", ") if name),
        pace_s=median(paces) if paces else None,
        confirmed=_digest(forecast, pairs),
        is_overtaken=is_overtaken,
        target=f"{visit.request.url.path}?{visit.request.url.query}",
        back=_search_address(here, query),
    )


def _find_act(act: str) -> PairAct:
    if act not in ACTS:
        raise UnknownIdError.say(
            "there is no action `%(name)s` for pairs; expected one of %(names)s", name=act, names=list(ACTS)
        )
    return ACTS[act]


def _chosen_pairs(visit: Visit, query: dict[str, str]) -> pd.DataFrame:
    """The pairs that are meant, as the search has them: all that match, or those of them that are ticked."""
    rows = visit.here.grid.find_pairs(**conditions_of(query)).to_frame()
    if visit.request.query_params.get("scope") == "ticked":
        ticked = {parse_number(number) for number in visit.request.query_params.getlist("pair")}
        if not ticked:
            raise InputError.say("no pair is ticked; tick those that are meant, or choose all that match")
        rows = rows[rows.iloc[:, 0].isin(ticked)]
    if rows.empty:
        raise InputError.say("none of these pairs matches the search any more; search again")
    return rows


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
