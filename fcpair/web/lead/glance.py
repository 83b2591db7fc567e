"""The lead's first look: the stage, what is next, a tile for each headline figure, and the answers over the days."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate
from statistics import median
from typing import TYPE_CHECKING, Any

from fcpair.records import Figure, Role
from fcpair.report.formatting import NOTHING, bounds, count, decimal, share
from fcpair.stages.assignment.pace import NO_PACE
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.lead.navigation import AGREEMENT, CONFLICTS, PEOPLE, PROGRESS, has_decisions
from fcpair.web.lead.next_offers import offers

if TYPE_CHECKING:
    from fcpair.grid import StageActivity
    from fcpair.report.data import DecisionsPart

WIDTH, HEIGHT = 600, 140  # of the picture, in its own units


@dataclass(frozen=True)
class Tile:
    """A headline figure: its name, its value, what is beside it, and the page that has more.

    A value that is not known yet is a dash, and `why` says why.
    """

    name: str
    value: str
    beside: str = ""
    address: str = ""
    why: str = ""


@dataclass(frozen=True)
class BurnUp:
    """The answers over the days, as a picture and its table.

    `line` has the points of the answers so far, `outlook` those from the last of them to the estimated end, in units of
    WIDTH and HEIGHT; `rows` has of each day with answers its date, their number, and how many there were by its end.
    """

    line: str
    outlook: str
    rows: tuple[tuple[str, int, int], ...]
    wanted: int
    end: str


def glance(here: CurrentGrid) -> dict[str, Any]:
    """Values of the panel."""
    headlines, stages = here.monitor.headlines(), here.monitor.stages()
    primary = next(stage for stage in stages if stage.name == headlines.primary)
    decided = next((stage for stage in stages if stage.role is Role.ADJUDICATOR), None)
    all_offers = offers(headlines, here.grid.grid.name if here.is_planned else "")
    return {
        "first": all_offers[0],
        "others": all_offers[1:],
        "tiles": [
            _answered_tile(primary),
            *([_agreement_tile(here.monitor.alpha())] if here.has_labels else []),
            *(_decision_tiles(decided) if decided and has_decisions(here) else []),
            *([_tier_tile(here.monitor.decisions())] if has_decisions(here) else []),
            _time_tile(stages),
            Tile("Active now", count(len(headlines.active)), ", ".join(headlines.active[:3]), PEOPLE.path),
        ],
        "burn_up": draw_burn_up(headlines.by_day, primary.done + primary.open + primary.vacant, primary.end_at),
        "width": WIDTH,
        "height": HEIGHT,
    }


def _answered_tile(stage: StageActivity) -> Tile:
    wanted = stage.done + stage.open + stage.vacant
    why = "" if wanted else "nothing is assigned yet"
    value = f"{count(stage.done)} of {count(wanted)}" if wanted else NOTHING
    return Tile("Answered", value, share(stage.done, wanted) if wanted else "", PEOPLE.path, why)


def _agreement_tile(alpha: Figure | None) -> Tile:
    if alpha is None or alpha.value is None:
        why = (alpha and alpha.undefined) or "there are no labels yet"
        return Tile("Agreement", NOTHING, "", AGREEMENT.path, why)
    interval = "no interval" if alpha.low is None else bounds(alpha.low, alpha.high)
    return Tile("Agreement", decimal(alpha.value, 2), interval, AGREEMENT.path)


def _decision_tiles(stage: StageActivity) -> Iterator[Tile]:
    conflicts = stage.open - stage.again
    beside = f"{count(stage.by_policy)} more for a policy" if stage.by_policy else ""
    yield Tile("Conflicts", count(conflicts), beside, CONFLICTS.path)
    yield Tile("To be looked at", count(stage.again), "labels changed" if stage.again else "", CONFLICTS.path)


def _tier_tile(decisions: DecisionsPart) -> Tile:
    address = f"{PROGRESS.path}#tiers"
    if decisions.tiers is None:
        return Tile("Tiers now", NOTHING, "", address, decisions.no_tiers or "there are no labels yet")
    sizes = (list(row.values()) for row in decisions.tiers.tables[0])
    best, *rest = ((str(tier).capitalize(), n) for tier, n, *_ in sizes)
    return Tile(
        "Tiers now", f"{best[0]} {count(best[1])}", " · ".join(f"{tier} {count(n)}" for tier, n in rest), address
    )


def _time_tile(stages: Sequence[StageActivity]) -> Tile:
    """Hours of work left to everybody together, each at their own pace, or at the median one where it is not known."""
    open_work = [(one.open, one.outlook.pace_s) for stage in stages for one in stage.people if one.open]
    free = sum(stage.free + stage.vacant for stage in stages)
    if not open_work and not free:
        return Tile("Hours left", "0")
    paces = [one.outlook.pace_s for stage in stages for one in stage.people if one.outlook.pace_s is not None]
    if not paces:
        return Tile("Hours left", NOTHING, "", "", f"everybody has {NO_PACE}")
    usual = median(paces)
    left_s = sum(n * (pace or usual) for n, pace in open_work) + free * usual
    return Tile("Hours left", decimal(left_s / 3600, 1), "of all together")


def draw_burn_up(by_day: Sequence[tuple[str, int]], wanted: int, end_at: float | None) -> BurnUp | None:
    """Draw the answers of each day, of so many that are `wanted`; None where there are none yet."""
    if not by_day or not wanted:
        return None
    days = [date.fromisoformat(day) for day, _ in by_day]
    totals = list(accumulate(n for _, n in by_day))
    end = datetime.fromtimestamp(end_at, UTC).date() if end_at and totals[-1] < wanted else None
    begin, last = days[0] - timedelta(days=1), max(filter(None, (days[-1], end)))

    def point(day: date, total: int) -> str:
        across = WIDTH * (day - begin).days / (last - begin).days
        return f"{across:.1f},{HEIGHT * (1 - total / max(wanted, totals[-1])):.1f}"

    line, before = [point(begin, 0)], 0
    for day, total in zip(days, totals, strict=True):
        line += [point(day - timedelta(days=1), before), point(day, total)]
        before = total
    outlook = f"{line[-1]} {point(end, wanted)}" if end else ""
    rows = tuple((day, n, total) for (day, n), total in zip(by_day, totals, strict=True))
    return BurnUp(" ".join(line), outlook, rows, wanted, f"{end.day} {end:%B %Y}" if end else "")
