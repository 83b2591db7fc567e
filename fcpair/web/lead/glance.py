"""The lead's first look: the stage, what is next, a tile for each headline figure, and the answers over the days."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate
from statistics import median
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fcpair.records import Role
from fcpair.report.formatting import NOTHING
from fcpair.sentences import mark, mark_plural
from fcpair.stages.assignment.pace import LEAST_INTERVALS, PAUSE_S
from fcpair.web.current_grid import AGREEMENT, CONFLICTS, DOWNLOADS, PEOPLE, PROGRESS, CurrentGrid, has_decisions
from fcpair.web.languages import Language
from fcpair.words import Noun

if TYPE_CHECKING:
    from fcpair.grid import Headlines, NextStep, StageActivity

WIDTH, HEIGHT = 600, 140  # of the picture, in its own units
SO_MANY_OF_ALL = mark("%(done)s of %(wanted)s")
NO_LABELS = mark("there are no labels yet")
BY_POLICY = mark_plural("%(n)s more for a policy", "%(n)s more for a policy")
NO_PACES = mark("everybody has fewer than %(least)s intervals of at most %(most)s minutes between answers on the pages")


ADDING = {
    Role.ANNOTATOR: mark("Add annotators"),
    Role.ADJUDICATOR: mark("Add an adjudicator"),
    Role.VALIDATOR: mark("Add validators"),
    Role.WRITER: mark("Add writers"),
    Role.RATER: mark("Add raters"),
    Role.RESPONDENT: mark("Add respondents"),
}
INVITING = {
    Role.ANNOTATOR: mark_plural("Invite %(n)s annotator", "Invite %(n)s annotators"),
    Role.VALIDATOR: mark_plural("Invite %(n)s validator", "Invite %(n)s validators"),
    Role.WRITER: mark_plural("Invite %(n)s writer", "Invite %(n)s writers"),
    Role.RATER: mark_plural("Invite %(n)s rater", "Invite %(n)s raters"),
    Role.RESPONDENT: mark_plural("Invite %(n)s respondent", "Invite %(n)s respondents"),
}


@dataclass(frozen=True)
class Offer:
    """The next act of a `stage`: a `button` does it, by a form of `fields`, or leads to an `address`."""

    stage: str
    text: str
    button: str = ""
    address: str = ""
    fields: tuple[tuple[str, str], ...] | None = None
    command: str = ""


@dataclass(frozen=True)
class Tile:
    """A headline figure: name, value, what is beside it, and the page that has more; `why` a value is not known yet."""

    name: str
    value: str
    beside: str = ""
    address: str = ""
    why: str = ""


@dataclass(frozen=True)
class BurnUp:
    """The answers over the days: the points of a line, and of its `outlook` to the end, in units of WIDTH and HEIGHT.

    `rows` has of each day with answers its date, their number, and how many there were by its end.
    """

    line: str
    outlook: str
    rows: tuple[tuple[str, int, int], ...]
    wanted: int
    end: date | None


def glance(here: CurrentGrid, language: Language) -> dict[str, Any]:
    """Values of the panel."""
    headlines, stages = here.monitor.headlines(), here.monitor.stages()
    primary = next(stage for stage in stages if stage.name == headlines.primary)
    all_offers = offers(headlines, here.grid.grid.name if here.is_planned else "", language)
    names, n_active = ", ".join(headlines.active[:3]), language.count(len(headlines.active))
    active = Tile(language.gettext(mark("Active now")), n_active, names, PEOPLE.path)
    return {
        "first": all_offers[0],
        "others": all_offers[1:],
        "tiles": [*_progress_tiles(here, language, primary, stages), _time_tile(language, stages), active],
        "burn_up": draw_burn_up(headlines.by_day, primary.done + primary.open + primary.vacant, primary.end_at),
        "width": WIDTH,
        "height": HEIGHT,
    }


def _progress_tiles(
    here: CurrentGrid, language: Language, primary: StageActivity, stages: Sequence[StageActivity]
) -> Iterator[Tile]:
    """Tiles of what is answered, and how far people agree; of what is to be decided, and the tiers."""
    say, wanted = language.gettext, primary.done + primary.open + primary.vacant
    answered, agreed = say(mark("Answered")), say(mark("Agreement"))
    if wanted:
        value = say(SO_MANY_OF_ALL, done=language.count(primary.done), wanted=language.count(wanted))
        yield Tile(answered, value, language.share(primary.done, wanted), PEOPLE.path)
    else:
        yield Tile(answered, NOTHING, "", PEOPLE.path, say(mark("nothing is assigned yet")))
    if here.has_labels:
        alpha = here.monitor.alpha()
        if alpha is None or alpha.value is None:
            why = language.say((alpha and alpha.undefined) or NO_LABELS, Noun.of("pair"))
            yield Tile(agreed, NOTHING, "", AGREEMENT.path, why)
        else:
            interval = say(mark("no interval")) if alpha.low is None else language.interval(alpha)
            yield Tile(agreed, language.decimal(alpha.value, 2), interval, AGREEMENT.path)
    if not has_decisions(here):
        return
    if stage := next((stage for stage in stages if stage.role is Role.ADJUDICATOR), None):
        beside = language.ngettext(*BY_POLICY, stage.by_policy) if stage.by_policy else ""
        yield Tile(say(mark("Conflicts")), language.count(stage.open - stage.again), beside, CONFLICTS.path)
        changed = say(mark("labels changed")) if stage.again else ""
        yield Tile(say(mark("To be looked at")), language.count(stage.again), changed, CONFLICTS.path)
    decisions, name, address = here.monitor.decisions(), say(mark("Tiers now")), f"{PROGRESS.path}#tiers"
    if decisions.tiers is None:
        why = language.say(decisions.no_tiers or NO_LABELS, Noun.of("pair"))
        yield Tile(name, NOTHING, "", address, why)
    else:
        rows = (list(row.values()) for row in decisions.tiers.tables[0])
        best, *rest = (f"{str(tier).capitalize()} {language.count(n)}" for tier, n, *_ in rows)
        yield Tile(name, best, " · ".join(rest), address)


def _time_tile(language: Language, stages: Sequence[StageActivity]) -> Tile:
    """Hours of work left to everybody together, each at their own pace, or at the median one where it is not known."""
    say = language.gettext
    name = say(mark("Hours left"))
    open_work = [(person.open, person.outlook.pace_s) for stage in stages for person in stage.people if person.open]
    free = sum(stage.free + stage.vacant for stage in stages)
    if not open_work and not free:
        return Tile(name, language.count(0))
    paces = [person.outlook.pace_s for stage in stages for person in stage.people if person.outlook.pace_s is not None]
    if not paces:
        return Tile(name, NOTHING, why=say(NO_PACES, least=LEAST_INTERVALS, most=round(PAUSE_S / 60)))
    usual = median(paces)
    left_s = sum(n * (pace or usual) for n, pace in open_work) + free * usual
    return Tile(name, language.decimal(left_s / 3600, 1), say(mark("of all together")))


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


def offers(headlines: Headlines, grid: str, language: Language) -> list[Offer]:
    """All that can be done now in a grid (named if it is planned), what a page does first; never empty."""
    all_offers = [_offer(step, headlines, grid, language) for step in headlines.steps]
    if not all_offers:
        say, stage = language.gettext, mark("Everything is answered and decided")
        text, button = mark("Nobody has anything left to do."), mark("Go to the downloads")
        return [Offer(say(stage), say(text), say(button), DOWNLOADS.path)]
    return sorted(all_offers, key=lambda offer: not offer.button)


def _offer(step: NextStep, headlines: Headlines, grid: str, language: Language) -> Offer:
    row, role = step.row, step.role or step.row.role

    def say(message: str | tuple[str, str]) -> str:
        if isinstance(message, str):
            return language.gettext(message, round=step.round) if message else ""
        return language.ngettext(*message, step.n, round=step.round)

    # What pairs are labelled in has no name that says more than that.
    named_acts = {"pair": bool(grid), "assign": bool(grid), "wait": bool(step.round)}
    is_named = named_acts.get(step.act, step.round not in ("", "label"))
    offer = Offer(say(row.stage), say((is_named and row.in_round) or row.text))
    if row.watches:
        if role and (n := headlines.uninvited.get(role, 0)):
            return replace(offer, button=language.ngettext(*INVITING[role], n), address=f"{PEOPLE.path}#links")
        return replace(offer, button=say(mark("See how people get on")), address=PEOPLE.path)
    if role and (row.adds or (row.role and role not in headlines.roles)):
        return replace(offer, button=say(ADDING[role]), address=f"{PEOPLE.path}?role={role}#add")
    button = (is_named and row.round_button) or row.button
    if not button:
        return replace(offer, command=row.command.format(grid=grid, round=step.round))
    address = row.page.format(query=urlencode({"round": step.round}))
    fields = None if row.fields is None else tuple((name, getattr(step, name)) for name in row.fields)
    return replace(offer, button=say(button), address=address, fields=fields)
