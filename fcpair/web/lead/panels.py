"""The panels of the lead's pages: what each of them shows, and how; first the stage, what is next, and headlines."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar
from urllib.parse import urlencode

from markupsafe import Markup

from fcpair.errors import StageError, UnknownIdError
from fcpair.grid import PersonShares
from fcpair.records import Role
from fcpair.report.data import PersonFigures
from fcpair.report.figures.days import chart_days
from fcpair.report.figures.forest import Forest, ForestWords, forest_markup
from fcpair.report.formatting import NOTHING, named
from fcpair.report.map_file import CellMap
from fcpair.report.table_rows import kappa_map, tier_tables
from fcpair.sentences import Answer, mark, mark_plural, say
from fcpair.stages.assignment.pace import LEAST_INTERVALS, PAUSE_S
from fcpair.stages.questions.labels import VERDICT
from fcpair.stages.stats.people_agreement import agreement_with_others, extreme_subsets
from fcpair.web.current_grid import (
    AGREEMENT,
    CONFLICTS,
    DOWNLOADS,
    PEOPLE,
    TIERS,
    CurrentGrid,
    Fits,
    LeadPage,
    fits_always,
    has_decisions,
    has_labels,
)
from fcpair.web.languages import ENGLISH, Language
from fcpair.web.visits import Visit
from fcpair.words import Noun

if TYPE_CHECKING:
    from fcpair.grid import Headlines, NextStep, StageActivity

MOST_IN_MAP, MANY = 40, 15  # people; in a map of many, each two have one cell without n
HASTY = 0.05  # the share of somebody's answers that may be too fast to have been read before a lead is told
MOST_LISTED = 200  # texts of a side of the grid; of one with more there is only the file
SIDES: dict[str, Literal["row", "column"]] = {"rows": "row", "columns": "column"}
"""The sides of a grid's map, as addresses name them, and the axis of each."""
EXTREMES = 5  # of the most and the least agreeing two people
STAGES = {
    ("label", Role.ANNOTATOR): mark("Labelling"),
    ("adjudicate", Role.ADJUDICATOR): mark("Adjudicating"),
    ("validate", Role.VALIDATOR): mark("Validating"),
}
STAGES_BY_ROLE = {
    Role.ANNOTATOR: mark("Round “%(round)s”, answered by annotators"),
    Role.VALIDATOR: mark("Round “%(round)s”, answered by validators"),
    Role.WRITER: mark("Round “%(round)s”, answered by writers"),
    Role.RATER: mark("Round “%(round)s”, answered by raters"),
    Role.RESPONDENT: mark("Round “%(round)s”, answered by respondents"),
    Role.MODEL: mark("Round “%(round)s”, answered by models"),
}
STANDINGS = {
    "": mark("control pairs"),
    "open": mark("qualification, open"),
    "passed": mark("qualification, passed"),
    "waits": mark("qualification, below the pass mark: waits for you"),
    "let on": mark("qualification, let on by a lead"),
}
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
Values = dict[str, Any]
Made = TypeVar("Made")


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


def glance(here: CurrentGrid, language: Language) -> dict[str, Any]:
    """Values of the panel."""
    headlines, stages = here.monitor.headlines(), here.monitor.stages()
    # What a page does first; of a grid, which is named if it is planned.
    grid = here.grid.grid.name if here.is_planned else ""
    offers = sorted((_offer(step, headlines, grid, language) for step in headlines.steps), key=lambda of: not of.button)
    if not offers:
        done = mark("Everything is answered and decided"), mark("Nobody has anything left to do.")
        stage, text, button = map(language.gettext, (*done, mark("Go to the downloads")))
        offers = [Offer(stage, text, button, DOWNLOADS.path)]
    primary = next(stage for stage in stages if stage.name == headlines.primary)
    chart = chart_days(headlines.by_day, primary.done + primary.open + primary.vacant, primary.end_at)
    hasty = [fast for fast in here.monitor.speed().people if fast.n_too_fast > HASTY * fast.n_timed]
    return {
        "hasty": sorted(hasty, key=lambda fast: -fast.n_too_fast),
        "first": offers[0],
        "others": offers[1:],
        "tiles": [*_tiles(here, language, headlines, stages, primary)],
        "days": chart,
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
            interval = say(mark("no interval")) if alpha.low is None else language.bounds(alpha.low, alpha.high)
            yield Tile(agreed, language.decimal(alpha.value, 2), interval, AGREEMENT.path)
    if has_decisions(here):
        if stage := next((stage for stage in stages if stage.role is Role.ADJUDICATOR), None):
            more = mark_plural("%(n)s more for a policy", "%(n)s more for a policy")
            beside = language.ngettext(*more, stage.by_policy) if stage.by_policy else ""
            yield Tile(say(mark("Conflicts")), language.count(stage.open - stage.again), beside, CONFLICTS.path)
            changed = say(mark("labels changed")) if stage.again else ""
            yield Tile(say(mark("To be looked at")), language.count(stage.again), changed, CONFLICTS.path)
        decisions, name, address = here.monitor.decisions(), say(mark("Tiers now")), TIERS.path
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
    names = language.find(", ").join(map(language.isolate, active[:3]))
    more = mark_plural("%(names)s and %(n)s other", "%(names)s and %(n)s others")
    names = language.ngettext(*more, n, names=names) if (n := len(active[3:])) else names
    yield Tile(say(mark("Active now")), language.count(len(active)), names, PEOPLE.path)


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


class Panel(NamedTuple):
    """One part of a page that is read anew by itself, where it `fits` the grid; `folded`, it shows its title alone."""

    title: str
    values: Callable[[CurrentGrid, Language], Values]
    fits: Fits = fits_always
    folded: bool = False


class Shares(NamedTuple):
    """Answers of the people in one round: `answers` are the names of the columns, `round` has them one by one."""

    title: str
    answers: Sequence[str]
    people: Sequence[PersonFigures | PersonShares]
    round: str = ""


def stage_title(language: Language, name: str, role: Role) -> str:
    """A stage or round in words: `Labelling`, and of a round of one's own `Round “rate”, answered by raters`."""
    return language.gettext(STAGES.get((name, role)) or STAGES_BY_ROLE[role], round=name)


def if_measured(measure: Callable[[], Made]) -> Made | None:
    """Measure, or return None while nothing is there to measure."""
    try:
        return measure()
    except StageError:
        return None


def _every_two(here: CurrentGrid, _language: Language) -> Values:
    """Every two people; where these are too many for a map, those who agree least and most."""
    figures, is_map = here.monitor.agreement(), len(compared_people(here)) <= MOST_IN_MAP
    lowest, highest = extreme_subsets(figures.subsets if figures else (), EXTREMES)
    extremes = ((mark("The lowest kappa"), lowest), (mark("The highest kappa"), highest))
    return {
        "found": figures,
        "kappas": kappa_map(figures) if figures and is_map else [],
        "extremes": [] if is_map else [(title, of) for title, of in extremes if of],
        "most": MOST_IN_MAP,
        "least_many": MANY,
    }


def compared_people(here: CurrentGrid) -> list[str]:
    """The names of those who share a pair with somebody."""
    figures = here.monitor.agreement()
    return sorted({name for subset in figures.subsets for name in subset.annotators}) if figures else []


def _draw(language: Language, forest: Forest) -> Markup:
    """The figure of a table, in the language of the page; only in English it is described by more than a title."""
    if language is ENGLISH:
        return forest_markup(forest)
    say = partial(language.say, noun=Noun.of("pair"))
    label = language.gettext(mark("%(title)s. The table below has the numbers."), title=say(forest.title))
    return forest_markup(forest, ForestWords(label, say, language.figure))


def _labels(here: CurrentGrid, language: Language) -> Values:
    """The labels and verdicts of each person; of a planned grid, the answers question by question."""
    shares = []
    if here.is_planned:
        for share in here.monitor.shares():
            question = {"round": share.round, "question": language.answer_name(share.question)}
            title = language.gettext(mark("Round “%(round)s”, %(question)s"), **question)
            shares.append(Shares(title, [*map(language.answer_name, share.choices)], share.people, share.round))
        return {"rounds": shares}
    data = here.monitor.people()
    labels, verdicts = (mark("Labels"), data.question, data.annotators), (mark("Verdicts"), VERDICT, data.validators)
    for title, choices, people in (labels, verdicts):
        names = [language.answer_name(choice.name) for choice in choices]
        shares.append(Shares(language.gettext(title), names, people))
    return {"rounds": shares}


def _tiers(here: CurrentGrid, _language: Language) -> Values:
    data = here.monitor.decisions()
    tables = tier_tables(data.tiers, data.question) if data.tiers else []
    return {"tiers": data.tiers, "no_tiers": data.no_tiers, "tables": tables, "waiting": data.n_need_person}


def _flags(here: CurrentGrid, _language: Language) -> Values:
    """The flags by the sentence at which they are; those that are at none last."""
    flags, sentences = here.monitor.flags(), here.grid.desk.guideline_sentences()
    places = dict.fromkeys((*sentences, *(flag.sentence for flag in flags if flag.sentence), ""))
    at_place = {place: own for place in places if (own := [flag for flag in flags if flag.sentence == place])}
    flagged_pairs = sorted({flag.cell_id for flag in flags})
    return {"flags": flags, "at_place": at_place, "sentences": sentences, "flagged_pairs": flagged_pairs}


def map_figures(here: CurrentGrid) -> dict[str, Any]:
    """The values of the panel: the map as it is now, each place without a cell by its reason, and both sides."""
    if (cell_map := here.monitor.cell_map()) is None:
        return {"map": None}
    return {
        "map": cell_map,
        "newest": "-".join(map(str, here.monitor.marks())),
        "heads": side_heads(cell_map)[2:],
        "sides": {
            name: list(side_rows(here, cell_map, name)) if n_texts <= MOST_LISTED else []
            for name, n_texts in zip(SIDES, cell_map.shape, strict=True)
        },
    }


def side_heads(cell_map: CellMap) -> list[str]:
    """The heads of a table of one side: number, text, labels, the share of each, disagreement, skips."""
    shares: list[str] = [say("share of %(answer)s", answer=Answer(named(choice))) for choice in cell_map.choices]
    disputes = [mark("disagreement")] if shares else []
    return [mark("number"), "text", mark("answers"), *shares, *disputes, mark("skips")]


def side_rows(here: CurrentGrid, cell_map: CellMap, name: str) -> Iterator[list[Any]]:
    """The rows of that table; None where a share would rest on nothing."""
    figures = cell_map.rows if name == "rows" else cell_map.columns
    for at, text in enumerate(here.monitor.side_texts(SIDES[name])):
        shares = [*figures.shares[at].tolist(), *([float(figures.disagreement[at])] if cell_map.choices else [])]
        defined = (None if math.isnan(share) else share for share in shares)
        yield [at + 1, text, int(figures.n_answers[at]), *defined, int(figures.skips[at])]


PANELS = {
    "glance": Panel(mark("At a glance"), glance),
    "progress": Panel(
        mark("Progress and pace"),
        lambda here, language: {
            "stages": [(stage_title(language, stage.name, stage.role), stage) for stage in here.monitor.stages()]
        },
    ),
    "tiers": Panel(mark("Tiers as they would be now"), _tiers, has_decisions),
    "results": Panel(
        mark("Results of surveys and comparisons"),
        lambda here, language: {"sections": here.monitor.survey_sections(), "draw": partial(_draw, language)},
        lambda here: here.monitor.may_have_surveys(),
    ),
    "coverage": Panel(mark("The map in numbers"), lambda here, _language: map_figures(here), folded=True),
    "agreement": Panel(mark("Over all pairs"), lambda here, _language: {"found": here.monitor.agreement()}, has_labels),
    "calibration": Panel(
        mark("How far it is, and agreement"),
        lambda here, _language: {"result": if_measured(here.grid.calibration.measure)},
    ),
    "every_two": Panel(mark("Every two people"), _every_two, has_labels),
    "disputed": Panel(
        mark("Where people disagree most"),
        lambda here, _language: {
            "sides": here.monitor.disputed_texts(),
            "found": here.monitor.agreement(),
            "most": 8,  # pairs of one text
        },
        has_labels,
        folded=True,
    ),
    "with_others": Panel(
        mark("Agreement of each person with the others"),
        lambda here, _language: {
            "people": agreement_with_others(found.subsets) if (found := here.monitor.agreement()) else (),
            "found": found,
        },
        has_labels,
    ),
    "known_pairs": Panel(
        mark("Known pairs"),
        lambda here, _language: {"scores": here.grid.desk.known_scores(), "standings": STANDINGS},
        lambda here: bool(here.grid.desk.known_scores()),
    ),
    "pilots": Panel(
        mark("Who has passed the pilot"),
        lambda here, _language: {  # none while nobody has written in one, or nothing is judged
            "pilots": [
                (pilot, if_measured(partial(here.grid.desk.pilot_results, pilot.round)))
                for pilot in here.grid.desk.pilots()
            ]
        },
        lambda here: here.is_planned and bool(here.grid.desk.pilots()),
    ),
    "labels": Panel(mark("What each person answered"), _labels),
    "speed": Panel(
        mark("Answers too fast to have been read"), lambda here, _language: {"found": here.monitor.speed(), "most": 20}
    ),
    "exposure": Panel(mark("What each person has read"), lambda here, _language: {"people": here.monitor.exposures()}),
    "flags": Panel(mark("Where the guidelines should say more"), _flags, has_decisions),
}


def build_panels(visit: Visit, page: LeadPage) -> list[Values]:
    """The panels of a page, as they are now; what is in a folded one is asked for when somebody unfolds it."""
    return [build_panel(visit, name, unfold=False) for name in page.panels if PANELS[name].fits(visit.here)]


def build_panel(visit: Visit, name: str, *, unfold: bool = True) -> Values:
    """A panel as it is now, a folded one empty unless one is to `unfold` it; UnknownIdError for none. By its `digest` a
    page asks for a newer one.
    """
    if name not in PANELS:
        raise UnknownIdError.say("there is no panel `%(name)s`; there are %(names)s", name=name, names=list(PANELS))
    panel = PANELS[name]
    if not panel.fits(visit.here):
        unfit = mark("this grid has no panel `%(name)s`, because of what its rounds ask and whom")
        raise UnknownIdError.say(unfit, name=name)
    html = b""
    if unfold or not panel.folded:
        html = bytes(visit.page(f"lead_{name}.html.j2", visit.here, **panel.values(visit.here, visit.language)).body)
    facts = {"name": name, "title": panel.title, "folded": panel.folded}
    return {**facts, "html": Markup(html.decode()), "digest": hashlib.sha256(html).hexdigest()[:16]}
