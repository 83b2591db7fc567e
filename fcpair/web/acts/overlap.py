"""Raising the overlap on the lead's pages: which pairs would get further labels, from whom, and the time it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from fastapi import APIRouter, Response

from fcpair.errors import InputError
from fcpair.params import Assign
from fcpair.records import Role, RunRecord
from fcpair.sentences import say
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.form import Text, parse_number, parse_share
from fcpair.web.lead.navigation import PEOPLE
from fcpair.web.visits import REFUSALS, LeadVisit, Visit
from fcpair.work_records import ExtraLabels

router = APIRouter(include_in_schema=False)
PATH = "/lead/people/overlap"
FEWEST = (2, 3)  # labels for which a share can be given, in any study
SHOWN_PAIRS = 100
SHARE = "share"


@dataclass(frozen=True)
class Addition:
    """Work that would be added for one person, in labels and in hours at their pace; None where no pace is known."""

    name: str
    n_new: int
    n_moved: int
    hours: float | None


@router.get(PATH)
def preview_overlap(visit: LeadVisit, run: int = 0) -> Response:
    """Show the shares of pairs with several labels, and what the shares in the address would add."""
    query = visit.request.query_params.items()
    shares = {name.removeprefix(SHARE): value for name, value in query if name.startswith(SHARE)}
    return _show(visit, shares, run=run)


@router.post(PATH)
def raise_overlap(visit: LeadVisit, overlap: Text = "", expected: Text = "") -> Response:
    """Assign further labels, so that the shares of pairs with several are those that were shown."""
    here, shares = visit.here, dict(part.split(":", 1) for part in overlap.split() if ":" in part)

    def assign() -> RunRecord:
        options = here.grid.recipe_options(Assign, more=True, overlap=parse_overlap(shares))
        return here.grid.assign(options, more=True, expected=parse_number(expected))

    return visit.act(assign, PATH, lambda refused: _show(refused, shares, is_refused=True))


def parse_overlap(shares: Mapping[str, str]) -> dict[int, float]:
    """The overlap of a form: the percentage of pairs by number of labels; raises InputError for what is none."""
    overlap = {}
    for labels, text in shares.items():
        number, share = parse_number(labels), parse_share(text)
        if text.strip() and (number is None or share is None):
            raise InputError(say("`%(text)s` is not a share of pairs; enter a percentage from 0 to 100", text=text))
        if number and share:
            overlap[number] = share
    return overlap


def _show(visit: Visit, shares: Mapping[str, str], *, is_refused: bool = False, run: int = 0) -> Response:
    here = visit.here
    current = here.grid.effective_options(Assign).overlap
    plan = None
    if shares and not is_refused:
        try:
            options = here.grid.recipe_options(Assign, more=True, overlap=parse_overlap(shares))
            plan = here.grid.desk.plan_more_labels(options)
        except REFUSALS as refusal:
            visit = visit.refused(refusal)
    numbers = sorted({*FEWEST, *current, *(int(one) for one in shares if one.isdecimal())})
    paces = _paces(here) if plan else {}
    values = {
        "page": PEOPLE,
        "current": sorted(current.items()),
        "shares": [(n, shares.get(str(n), f"{100 * current[n]:.6g}" if n in current else "")) for n in numbers],
        "sent": " ".join(f"{number}:{text.strip()}" for number, text in shares.items() if text.strip()),
        "plan": plan,
        "additions": _additions(paces, plan) if plan else [],
        "hours": _total_hours(paces, plan) if plan else None,
        "shown_pairs": SHOWN_PAIRS,
        "is_refused": is_refused,
    }
    return visit.page("lead_overlap.html.j2", here, run, **values)


def _paces(here: CurrentGrid) -> dict[str, float]:
    """Seconds a label of each annotator of whom they are known."""
    people = (one for stage in here.monitor.stages() if stage.role is Role.ANNOTATOR for one in stage.people)
    return {one.name: one.outlook.pace_s for one in people if one.outlook.pace_s is not None}


def _additions(paces: Mapping[str, float], plan: ExtraLabels) -> list[Addition]:
    usual = median(paces.values()) if paces else None

    def hours(name: str, n: int) -> float | None:
        pace = paces.get(name, usual)
        return None if pace is None else n * pace / 3600

    return [Addition(name, n_new, n_moved, hours(name, n_new)) for name, (n_new, n_moved) in plan.by_person.items()]


def _total_hours(paces: Mapping[str, float], plan: ExtraLabels) -> float | None:
    """Hours that the new labels take everybody together: each at their own pace, else at the median one."""
    if not paces:
        return None
    usual = median(paces.values())
    n_of_nobody = plan.n_new - sum(n for n, _ in plan.by_person.values())
    named = sum(n * paces.get(name, usual) for name, (n, _) in plan.by_person.items())
    return float(named + n_of_nobody * usual) / 3600
