"""The lead's list of conflicts, a pair with all that happened to it, and deciding it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import accumulate
from operator import itemgetter
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Depends, Request, Response

from fcpair.errors import FcpairError, InputError, RefusedError, StageError
from fcpair.grid import ConflictList
from fcpair.pair_filter import CONFLICT_ORDERS, CONFLICT_REASONS, MapPart, PairFilter
from fcpair.params import Note
from fcpair.records import BY_HAND, UNDECIDED, Origin, Role, RunRecord
from fcpair.sentences import mark
from fcpair.web.current_grid import CONFLICTS, GRID
from fcpair.web.form import Text, Ticked, fields, parse_number, read_params
from fcpair.web.lead.pair_view import PairView, Query
from fcpair.web.lead.search import confirm_act, do_act
from fcpair.web.schemas import LONGEST_NOTE
from fcpair.web.visits import REFUSALS, LeadVisit, Visit, go_to

router = APIRouter(include_in_schema=False)
PAGE = 50  # pairs on one page of the list
CONDITIONS = ("split", "reason", "days", "person", "words", "order")
AGES = (1, 3, 7, 14, 30)  # days


async def read_conditions(request: Request) -> dict[str, str]:
    """The conditions on conflicts in an address, as they are written there."""
    return {name: text for name in CONDITIONS if (text := request.query_params.get(name, "").strip())}


Conditions = Annotated[dict[str, str], Depends(read_conditions)]


def _list_conflicts(visit: Visit, conditions: dict[str, str], first: int = 0) -> ConflictList:
    """The conflicts that meet the conditions; raises InputError for what is none."""
    here, days = visit.here, conditions.get("days", "0")
    if (least := parse_number(days)) is None:
        raise InputError.say("`%(text)s` is not a number of days; enter a whole number", text=days)
    doubts = here.adjudication_queue.doubts(estimates=not visit.request.app.state.workers)
    chosen: dict[str, Any] = conditions | {"days": least}
    return here.grid.desk.conflicts(**chosen, doubts=doubts, first=first, n=PAGE)


@router.get(CONFLICTS.path)
def conflicts(visit: LeadVisit, query: Conditions, after: int = 0, run: int = 0, decided: int = 0) -> Response:
    """List the pairs that wait for a person's decision, as far as they meet the conditions in the address."""
    here, values, now = visit.here, dict[str, Any](), datetime.now(UTC)
    notes = visit.context.grids.oldest.monitor.notes()
    if is_decided := CONFLICTS.fits(here) and (not here.is_planned or here.grid.policy is not None):
        try:
            listed = _list_conflicts(visit, query, after)
        except InputError as refusal:
            visit, listed = visit.refused(refusal), _list_conflicts(visit, {})
        ages = [max((now - datetime.fromisoformat(one.since)).total_seconds(), 0) for one in listed.records]
        values = {"listed": listed, "rows": list(zip(listed.records, ages, strict=True))}
    stages = here.monitor.stages() if CONFLICTS.fits(here) else ()
    stage = next((stage for stage in stages if stage.role is Role.ADJUDICATOR), None)
    people = (person for person in visit.study.people if person.role is Role.ADJUDICATOR and not person.retired)
    return visit.lead_page(
        "lead_conflicts.html.j2",
        CONFLICTS,
        run,
        query=query,
        way={"from": "conflicts", **query},
        decided=decided,
        is_decided=is_decided,
        n_for_policy=stage.by_policy if stage else 0,
        has_answers=bool(here.has_labels and here.grid.desk.search_choices().has_answers),
        adjudicators=[person.name for person in people],
        is_ranked=here.adjudication_queue.is_ranked,
        reasons=CONFLICT_REASONS,
        orders=CONFLICT_ORDERS,
        ages=AGES,
        size=PAGE,
        simulated=notes.simulated,
        notes=notes.notes,
        **values,
    )


class Trail(NamedTuple):
    """The list from which somebody came to a pair: its `query` and address, and the pairs before and after it."""

    query: dict[str, str]
    back: str
    title: str
    before: int | None
    after: int | None


def find_trail(visit: LeadVisit, cell_id: int, query: Query, conditions: Conditions) -> Trail:
    """Follow `from` in the address: the list of conflicts, a search, or without either all pairs by number."""
    here, origin = visit.here, visit.request.query_params.get("from", "")
    if origin == "conflicts":
        numbers = _list_conflicts(visit, conditions).numbers
        at = numbers.index(cell_id) if cell_id in numbers else -1  # a pair that waits no more is before the first
        before, after = numbers[at - 1] if at > 0 else None, numbers[at + 1] if at + 1 < len(numbers) else None
        back = here.address(CONFLICTS.path, **conditions)
        return Trail({"from": origin, **conditions}, back, mark("Conflicts"), before, after)
    if origin == "search" and here.has_labels:
        view = PairView(visit, query)
        return Trail({"from": origin, **query, **view.asked}, view.address(), mark("Search"), *view.neighbours(cell_id))
    beside = here.monitor.neighbours(cell_id, PairFilter(), MapPart())
    return Trail({}, here.address(GRID.path), mark("Grid"), *beside)


CameFrom = Annotated[Trail, Depends(find_trail)]


@router.get("/lead/pair/{cell_id}")
def pair(visit: LeadVisit, cell_id: int, trail: CameFrom, run: int = 0) -> Response:
    """Explain why a pair is where it is, with the pairs beside it and what can be done with it."""
    here, by = visit.here, visit.visitor.name
    explanation = here.grid.explain(cell_id)
    newest, answers = {(row["round"], row["person"]): row for row in explanation.answers}, []
    for place, row in enumerate(explanation.answers):
        last = newest[row["round"], row["person"]]
        # An answer that its person gave anew, or that was withdrawn, stays on record.
        over = "" if last is row else "withdrawn" if last["withdrawn"] else "replaced"
        answers.append({**row, "place": place, "over": over})
    current = [row for row in answers if not row["over"] and not row["withdrawn"]]
    # A decision that stands again has the time at which it was made.
    decided = accumulate((str(row["at"]) for row in explanation.decisions), max)
    decisions = [{**row, "over": "replaced"} for row in explanation.decisions]
    if decisions:
        decisions[-1]["over"] = ""
    timed = [*((str(row["at"]), row) for row in answers), *zip(decided, decisions, strict=True)]
    last_rule = explanation.decisions[-1]["rule"] if explanation.decisions else None
    offered, why_not = set[str](), ""
    if CONFLICTS.fits(here) and answers:
        try:
            here.grid.desk.conflict(cell_id, by=by)
            offered.add("decide")
        except FcpairError as refusal:  # it may wait for somebody else, or for its labels
            if isinstance(refusal, RefusedError) or last_rule in {None, *UNDECIDED}:
                why_not = visit.translate(str(refusal), here)
        with suppress(StageError):
            offered |= {"send"} if here.grid.desk.forecast_decision_requests([cell_id]).requested else set()
        if last_rule in BY_HAND:
            offered.add("take back")
    if here.has_labels and not here.is_planned and here.grid.desk.search_choices().people and last_rule not in BY_HAND:
        able = {of.name for of in visit.study.people if of.role is Role.ANNOTATOR and not of.retired}
        offered |= {"label"} if able - {row["person"] for row in current} else set()
    brought = {record.id for record in visit.study.log() if "format" not in record.params}
    return visit.page(
        "lead_pair.html.j2",
        here,
        run,
        page=GRID,
        story=explanation,
        events=[row for _, row in sorted(timed, key=itemgetter(0))],
        current=current,
        withdrawable=[row["run"] for row in current if row["run"] in brought and row["origin"] != Origin.ONLINE],
        flags=[flag for flag in here.monitor.flags() if flag.cell_id == cell_id],
        offered=offered,
        why_not=why_not,
        trail=trail,
    )


@router.get("/lead/pair/{cell_id}/decide")
def consider(visit: LeadVisit, cell_id: int, trail: CameFrom, decided: int = 0) -> Response:
    """Show a pair that waits as adjudicators see it, without names, with the buttons that decide it."""
    return _show_case(visit, cell_id, trail, decided=decided)


def _show_case(
    visit: Visit, cell_id: int, trail: Trail, note: str = "", *, flagged: bool = False, decided: int = 0
) -> Response:
    desk, case = visit.here.grid.desk, None
    try:
        case = desk.conflict(cell_id, by=visit.visitor.name)
        if visit.refusal:
            case = replace(case, note=note, flagged=flagged)
    except (*REFUSALS, RefusedError) as refusal:
        visit = visit if visit.refusal else visit.refused(refusal)
    return visit.page(
        "lead_decide.html.j2",
        visit.here,
        page=CONFLICTS,
        number=cell_id,
        case=case,
        trail=trail,
        decided=decided,
        longest=LONGEST_NOTE,
    )


@router.post("/lead/pair/{cell_id}/decide")
def decide(
    visit: LeadVisit,
    cell_id: int,
    trail: CameFrom,
    outcome: Text = "",
    note: Text = "",
    flagged: Ticked = False,
    seen_decision: Text = "",
    seen_answer: Text = "",
) -> Response:
    """Decide a pair in the lead's own name, then show the next one of the list, or that it is empty, or the pair."""
    here, by = visit.here, visit.visitor.name
    try:
        case = here.grid.desk.conflict(cell_id, by=by)
        codes = dict(zip(case.choices, (*here.grid.scheme.definite, None), strict=True))
        if outcome not in codes or len(note) > LONGEST_NOTE:
            unknown = mark("`%(name)s` is not an outcome; expected one of %(names)s")
            raise InputError.say(unknown, name=outcome[:50], names=list(codes))
        decision, answer = parse_number(seen_decision), parse_number(seen_answer)
        seen = replace(case, decision_id=decision, answer_id=answer or case.answer_id, flagged=flagged)
        here.grid.decide(cell_id, codes[outcome], by=by, note=note.strip(), seen=seen)
    except (*REFUSALS, RefusedError) as refusal:
        return _show_case(visit.refused(refusal), cell_id, trail, note, flagged=flagged)
    if trail.query.get("from") == "conflicts":
        onward = trail.after or trail.before
        path = f"/lead/pair/{onward}/decide" if onward else CONFLICTS.path
        return go_to(here.address(path, **trail.query, decided=cell_id))
    return go_to(here.address(f"/lead/pair/{cell_id}", **trail.query))


@router.post("/lead/pair/{cell_id}/take-back")
def take_back(visit: LeadVisit, cell_id: int, trail: CameFrom) -> Response:
    """Take the decision by hand on a pair back, and show the pair."""
    try:
        visit.here.grid.take_back(cell_id, by=visit.visitor.name)
    except REFUSALS as refusal:
        return pair(visit.refused(refusal), cell_id, trail)
    return go_to(visit.here.address(f"/lead/pair/{cell_id}", **trail.query))


@router.post("/lead/pair/{cell_id}/flag")
def flag(visit: LeadVisit, cell_id: int, trail: CameFrom) -> Response:
    """Flag a pair for the discussion of the guidelines, with a note, or remove the flag that a note set."""
    typed, desk = fields(visit.request), visit.here.grid.desk
    return _act_on(visit, cell_id, trail, lambda: desk.add_note(read_params(Note(pair=cell_id), typed)))


@router.post("/lead/pair/{cell_id}/withdraw")
def withdraw(visit: LeadVisit, cell_id: int, trail: CameFrom, answer: Text = "", note: Text = "") -> Response:
    """Withdraw one answer to a pair, by its place in the history, to which rows are only added."""
    grid, place = visit.here.grid, parse_number(answer)
    row = dict[int | None, Any](enumerate(grid.explain(cell_id).answers)).get(place, {"at": ""})
    about = {"who": row.get("person"), "round": row.get("round"), "seen": str(row["at"]), "note": note[:LONGEST_NOTE]}
    return _act_on(visit, cell_id, trail, lambda: grid.withdraw(pair=cell_id, **about))


def _act_on(visit: Visit, cell_id: int, trail: Trail, act: Callable[[], RunRecord]) -> Response:
    """Do something with a pair, and show it with what was done, or why it was not."""
    return visit.act(act, f"/lead/pair/{cell_id}", lambda refused: pair(refused, cell_id, trail), **trail.query)


@router.get("/lead/pair/{cell_id}/act/{act}")
def confirm(visit: LeadVisit, cell_id: int, act: str, trail: CameFrom) -> Response:
    """Show what an act on a pair would do, and the button that does it."""
    back = visit.here.address(f"/lead/pair/{cell_id}", **trail.query)
    return confirm_act(visit, act, _tiers_of(visit, cell_id), back)


@router.post("/lead/pair/{cell_id}/act/{act}")
def do(visit: LeadVisit, cell_id: int, act: str, trail: CameFrom, confirmed: Text = "") -> Response:
    """Do it, unless it would do something else by now than what was shown."""
    return do_act(visit, act, _tiers_of(visit, cell_id), confirmed, f"/lead/pair/{cell_id}", trail.query)


def _tiers_of(visit: Visit, cell_id: int) -> dict[int, str]:
    """The names of the tiers of a pair by its number."""
    explanation = visit.here.grid.explain(cell_id)
    return {cell_id: ", ".join(filter(None, (explanation.tier, *explanation.own_tiers)))}
