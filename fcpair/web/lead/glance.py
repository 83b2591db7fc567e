"""The lead's first look: the stage, what is next, a tile for each headline figure, and the answers over the days."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple
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
NO_LABELS = mark("there are no labels yet")
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


class Offer(NamedTuple):
    """The next act of a `stage`: a `button` does it, by a form of `fields`, or leads to an `address`."""

    stage: str
    text: str
    button: str = ""
    address: str = ""
    fields: tuple[tuple[str, str], ...] | None = None
    command: str = ""


class Tile(NamedTuple):
    """A headline figure: name, value, what is beside it, and the page that has more; `why` a value is not known yet."""

    name: str
    value: str
    beside: str = ""
    address: str = ""
    why: str = ""


class BurnUp(NamedTuple):
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
    # What a page does first; of a grid, which is named if it is planned.
    grid = here.grid.grid.name if here.is_planned else ""
    offers = sorted((_offer(step, headlines, grid, language) for step in headlines.steps), key=lambda of: not of.button)
    if not offers:
        done = mark("Everything is answered and decided"), mark("Nobody has anything left to do.")
        offers = [Offer(*map(language.gettext, (*done, mark("Go to the downloads"))), DOWNLOADS.path)]
    primary = next(stage for stage in stages if stage.name == headlines.primary)
    wanted = primary.done + primary.open + primary.vacant
    return {
        "first": offers[0],
        "others": offers[1:],
        "tiles": [*_tiles(here, language, headlines, stages, primary)],
        "burn_up": draw_burn_up(headlines.by_day, wanted, primary.end_at),
        "width": WIDTH,
        "height": HEIGHT,
    }


def _tiles(
    here: CurrentGrid, language: Language, headlines: Headlines, stages: Sequence[StageActivity], primary: StageActivity
) -> Iterator[Tile]:
    """Tiles of what is answered, and how far people agree; of what is to be decided, and the tiers; of time and people.

    Work that is left takes each person their own pace, or the median one where that is not known.
    """
    say, wanted, active = language.gettext, primary.done + primary.open + primary.vacant, headlines.active
    answered, agreed, left = say(mark("Answered")), say(mark("Agreement")), say(mark("Hours left"))
    if wanted:
        done = {"done": language.count(primary.done), "wanted": language.count(wanted)}
        value = say(mark("%(done)s of %(wanted)s"), **done)
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
    if has_decisions(here):
        if stage := next((stage for stage in stages if stage.role is Role.ADJUDICATOR), None):
            more = mark_plural("%(n)s more for a policy", "%(n)s more for a policy")
            beside = language.ngettext(*more, stage.by_policy) if stage.by_policy else ""
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
    people = [person for stage in stages for person in stage.people]
    open_work = [(person.open, person.outlook.pace_s) for person in people if person.open]
    free = sum(stage.free + stage.vacant for stage in stages)
    if not open_work and not free:
        yield Tile(left, language.count(0))
    elif paces := [person.outlook.pace_s for person in people if person.outlook.pace_s is not None]:
        usual = median(paces)
        left_s = sum(n * (pace or usual) for n, pace in open_work) + free * usual
        yield Tile(left, language.decimal(left_s / 3600, 1), say(mark("of all together")))
    else:
        message = mark(
            "everybody has fewer than %(least)s intervals of at most %(most)s minutes between answers on the pages"
        )
        yield Tile(left, NOTHING, why=say(message, least=LEAST_INTERVALS, most=round(PAUSE_S / 60)))
    yield Tile(say(mark("Active now")), language.count(len(active)), ", ".join(active[:3]), PEOPLE.path)


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
            return offer._replace(button=language.ngettext(*INVITING[role], n), address=f"{PEOPLE.path}#links")
        return offer._replace(button=say(mark("See how people get on")), address=PEOPLE.path)
    if role and (row.adds or (row.role and role not in headlines.roles)):
        return offer._replace(button=say(ADDING[role]), address=f"{PEOPLE.path}?role={role}#add")
    button = (is_named and row.round_button) or row.button
    if not button:
        return offer._replace(command=row.command.format(grid=grid, round=step.round))
    address = row.page.format(query=urlencode({"round": step.round}))
    fields = None if row.fields is None else tuple((name, getattr(step, name)) for name in row.fields)
    return offer._replace(button=say(button), address=address, fields=fields)
