"""The lead's first look: the stage, what is next, a tile for each headline figure, and the answers over the days."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate
from statistics import median
from typing import TYPE_CHECKING, Any

from fcpair.records import Figure, Role
from fcpair.stages.assignment.pace import LEAST_INTERVALS, PAUSE_S
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.lead.navigation import AGREEMENT, CONFLICTS, PEOPLE, PROGRESS, has_decisions
from fcpair.web.lead.next_offers import offers
from fcpair.web.local_formatting import LocalFormatting
from fcpair.web.page_phrases import mark, mark_plural
from fcpair.web.refusals import translate
from fcpair.words import Noun

if TYPE_CHECKING:
    from fcpair.grid import StageActivity
    from fcpair.report.data import DecisionsPart

WIDTH, HEIGHT = 600, 140  # of the picture, in its own units
SO_MANY_OF_ALL = mark("%(done)s of %(wanted)s")
NO_LABELS = mark("there are no labels yet")
BY_POLICY = mark_plural("%(n)s more for a policy", "%(n)s more for a policy")
NO_PACES = mark("everybody has fewer than %(least)s intervals of at most %(most)s minutes between answers on the pages")


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
    end: date | None


def glance(here: CurrentGrid, words: LocalFormatting) -> dict[str, Any]:
    """Values of the panel."""
    headlines, stages = here.monitor.headlines(), here.monitor.stages()
    primary = next(stage for stage in stages if stage.name == headlines.primary)
    decided = next((stage for stage in stages if stage.role is Role.ADJUDICATOR), None)
    all_offers = offers(headlines, here.grid.grid.name if here.is_planned else "", words.language)
    return {
        "first": all_offers[0],
        "others": all_offers[1:],
        "tiles": [
            _answered_tile(words, primary),
            *([_agreement_tile(words, here.monitor.alpha())] if here.has_labels else []),
            *(_decision_tiles(words, decided) if decided and has_decisions(here) else []),
            *([_tier_tile(words, here.monitor.decisions())] if has_decisions(here) else []),
            _time_tile(words, stages),
            _active_tile(words, headlines.active),
        ],
        "burn_up": draw_burn_up(headlines.by_day, primary.done + primary.open + primary.vacant, primary.end_at),
        "width": WIDTH,
        "height": HEIGHT,
    }


def _answered_tile(words: LocalFormatting, stage: StageActivity) -> Tile:
    say, wanted = words.language.gettext, stage.done + stage.open + stage.vacant
    name = say(mark("Answered"))
    if not wanted:
        return Tile(name, words.NOTHING, "", PEOPLE.path, say(mark("nothing is assigned yet")))
    value = say(SO_MANY_OF_ALL, done=words.count(stage.done), wanted=words.count(wanted))
    return Tile(name, value, words.share(stage.done, wanted), PEOPLE.path)


def _agreement_tile(words: LocalFormatting, alpha: Figure | None) -> Tile:
    say = words.language.gettext
    name = say(mark("Agreement"))
    if alpha is None or alpha.value is None:
        why = _translate(words, (alpha and alpha.undefined) or NO_LABELS)
        return Tile(name, words.NOTHING, "", AGREEMENT.path, why)
    interval = say(mark("no interval")) if alpha.low is None else words.interval(alpha)
    return Tile(name, words.decimal(alpha.value, 2), interval, AGREEMENT.path)


def _decision_tiles(words: LocalFormatting, stage: StageActivity) -> Iterator[Tile]:
    say, conflicts = words.language.gettext, stage.open - stage.again
    beside = words.language.ngettext(*BY_POLICY, stage.by_policy) if stage.by_policy else ""
    yield Tile(say(mark("Conflicts")), words.count(conflicts), beside, CONFLICTS.path)
    changed = say(mark("labels changed")) if stage.again else ""
    yield Tile(say(mark("To be looked at")), words.count(stage.again), changed, CONFLICTS.path)


def _tier_tile(words: LocalFormatting, decisions: DecisionsPart) -> Tile:
    name, address = words.language.gettext(mark("Tiers now")), f"{PROGRESS.path}#tiers"
    if decisions.tiers is None:
        return Tile(name, words.NOTHING, "", address, _translate(words, decisions.no_tiers or NO_LABELS))
    rows = (list(row.values()) for row in decisions.tiers.tables[0])
    best, *rest = (f"{str(tier).capitalize()} {words.count(n)}" for tier, n, *_ in rows)
    return Tile(name, best, " · ".join(rest), address)


def _time_tile(words: LocalFormatting, stages: Sequence[StageActivity]) -> Tile:
    """Hours of work left to everybody together, each at their own pace, or at the median one where it is not known."""
    say = words.language.gettext
    name = say(mark("Hours left"))
    open_work = [(one.open, one.outlook.pace_s) for stage in stages for one in stage.people if one.open]
    free = sum(stage.free + stage.vacant for stage in stages)
    if not open_work and not free:
        return Tile(name, words.count(0))
    paces = [one.outlook.pace_s for stage in stages for one in stage.people if one.outlook.pace_s is not None]
    if not paces:
        why = say(NO_PACES, least=LEAST_INTERVALS, most=round(PAUSE_S / 60))
        return Tile(name, words.NOTHING, "", "", why)
    usual = median(paces)
    left_s = sum(n * (pace or usual) for n, pace in open_work) + free * usual
    return Tile(name, words.decimal(left_s / 3600, 1), say(mark("of all together")))


def _active_tile(words: LocalFormatting, active: Sequence[str]) -> Tile:
    name = words.language.gettext(mark("Active now"))
    return Tile(name, words.count(len(active)), ", ".join(active[:3]), PEOPLE.path)


def _translate(words: LocalFormatting, sentence: str) -> str:
    return translate(sentence, words.language, Noun.of("pair"))


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
    return BurnUp(" ".join(line), outlook, rows, wanted, end)
