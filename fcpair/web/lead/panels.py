"""The panels of the lead's pages: what each of them shows, and the words and numbers in which it does."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from fastapi import Request
from markupsafe import Markup

from fcpair.errors import StageError, UnknownIdError
from fcpair.records import Role, Visitor
from fcpair.report.table_rows import KappaCell, kappa_map, tier_tables
from fcpair.stages.assignment.pace import LAST_INTERVALS, LEAST_INTERVALS, PAUSE_S, RATE_DAYS
from fcpair.stages.assignment.reading_load import FASTEST_WPM, MEAN_WPM
from fcpair.stages.questions.labels import VERDICT
from fcpair.stages.stats.people_agreement import agreement_with_others, extreme_subsets
from fcpair.web.context import context_of
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.languages import ENGLISH, Language
from fcpair.web.lead.glance import glance
from fcpair.web.lead.map_figures import map_figures
from fcpair.web.lead.navigation import Fits, LeadPage, fits_always, has_decisions, has_labels
from fcpair.web.local_formatting import LocalFormatting
from fcpair.web.page_phrases import mark
from fcpair.web.refusals import translate
from fcpair.web.text_direction import direction
from fcpair.words import Noun

if TYPE_CHECKING:
    from fcpair.grid import PersonShares
    from fcpair.report.data import PersonFigures
    from fcpair.report.figures import Forest
    from fcpair.stages.questions import Closed

FAST_SHOWN = 20
MOST_IN_MAP = 15  # people
EXTREMES = 5  # of the most and the least agreeing two people
MOST_LINKS = 8  # pairs of one text
HEATS = 10
DESCRIBED = mark("%(title)s. The table below has the numbers.")
LABELS, VERDICTS = mark("Labels"), mark("Verdicts")
QUESTION_OF_ROUND = mark("Round “%(round)s”, %(question)s")
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
Values = dict[str, Any]


@dataclass(frozen=True)
class Panel:
    """One part of a page that is read anew by itself; it is there where it `fits` the grid.

    One that is `folded` shows its title alone until somebody opens it.
    """

    title: str
    values: Callable[[CurrentGrid, LocalFormatting], Values]
    fits: Fits = fits_always
    folded: bool = False


@dataclass(frozen=True)
class Shares:
    """Answers of the people in one round: `answers` are the names of the columns, `round` has them one by one."""

    title: str
    answers: tuple[str, ...]
    people: Sequence[PersonFigures | PersonShares]
    round: str = ""


def _progress(here: CurrentGrid, words: LocalFormatting) -> Values:
    return {"stages": [(stage_title(words.language, one.name, one.role), one) for one in here.monitor.stages()]}


def stage_title(language: Language, name: str, role: Role) -> str:
    """A stage or round in words: `Labelling`, and of a round of one's own `Round “rate”, answered by raters`."""
    if (name, role) in STAGES:
        return language.gettext(STAGES[name, role])
    return language.gettext(STAGES_BY_ROLE[role], round=name)


def _agreement(here: CurrentGrid, _words: LocalFormatting) -> Values:
    return {"found": here.monitor.agreement()}


def _calibration(here: CurrentGrid, _words: LocalFormatting) -> Values:
    """The calibration so far; None where none was begun."""
    try:
        return {"result": here.grid.measure_calibration()}
    except StageError:
        return {"result": None}


def _every_two(here: CurrentGrid, _words: LocalFormatting) -> Values:
    """Every two people; where these are too many for a map, those who agree least and most."""
    figures = here.monitor.agreement()
    subsets = figures.subsets if figures else ()
    is_map = len(compared_people(here)) <= MOST_IN_MAP
    lowest, highest = extreme_subsets(subsets, EXTREMES)
    extremes = ((mark("The lowest kappa"), lowest), (mark("The highest kappa"), highest))
    return {
        "found": figures,
        "kappas": kappa_map(figures) if figures and is_map else [],
        "extremes": [] if is_map else [(title, of) for title, of in extremes if of],
        "most": MOST_IN_MAP,
    }


def compared_people(here: CurrentGrid) -> list[str]:
    """The names of those who share a pair with somebody."""
    figures = here.monitor.agreement()
    return sorted({name for subset in figures.subsets for name in subset.annotators}) if figures else []


def _with_others(here: CurrentGrid, _words: LocalFormatting) -> Values:
    figures = here.monitor.agreement()
    return {"people": agreement_with_others(figures.subsets) if figures else (), "found": figures}


def _disputed(here: CurrentGrid, _words: LocalFormatting) -> Values:
    return {"sides": here.monitor.disputed_texts(), "found": here.monitor.agreement(), "most": MOST_LINKS}


def _results(here: CurrentGrid, words: LocalFormatting) -> Values:
    return {"sections": here.monitor.survey_sections(), "draw": partial(_draw, words)}


def _draw(words: LocalFormatting, forest: Forest) -> Markup:
    """The figure of a table, in the language of the page; only in English it is described by more than its title."""
    from fcpair.report.figures.forest_markup import ForestWords, forest_markup

    if words.language is ENGLISH:
        return forest_markup(forest)
    say = partial(translate, language=words.language, noun=Noun.of("pair"))
    label = words.language.gettext(DESCRIBED, title=say(forest.title))
    return forest_markup(forest, ForestWords(label, say, words.language.figure))


def _labels(here: CurrentGrid, words: LocalFormatting) -> Values:
    if here.is_planned:
        return _answers(here, words)
    data = here.monitor.people()
    return {
        "rounds": (
            Shares(words.language.gettext(LABELS), _names(words, data.question), data.annotators),
            Shares(words.language.gettext(VERDICTS), _names(words, VERDICT), data.validators),
        )
    }


def _answers(here: CurrentGrid, words: LocalFormatting) -> Values:
    """The same of a planned grid, question by question."""
    shares = (
        Shares(
            words.language.gettext(QUESTION_OF_ROUND, round=one.round, question=words.named(one.question)),
            tuple(map(words.named, one.choices)),
            one.people,
            one.round,
        )
        for one in here.monitor.shares()
    )
    return {"rounds": tuple(shares)}


def _names(words: LocalFormatting, question: Closed) -> tuple[str, ...]:
    return tuple(words.named(choice.name) for choice in question)


def _speed(here: CurrentGrid, _words: LocalFormatting) -> Values:
    return {"found": here.monitor.speed(), "most": FAST_SHOWN}


def _tiers(here: CurrentGrid, _words: LocalFormatting) -> Values:
    data = here.monitor.decisions()
    tables = tier_tables(data.tiers, data.question) if data.tiers else []
    return {"tiers": data.tiers, "no_tiers": data.no_tiers, "tables": tables, "waiting": data.n_need_person}


def _flags(here: CurrentGrid, _words: LocalFormatting) -> Values:
    """The flags by the sentence at which they are; those that are at none last."""
    flags = here.monitor.flags()
    sentences = here.grid.guideline_sentences()
    places = dict.fromkeys((*sentences, *(one.sentence for one in flags if one.sentence), ""))
    at_place = {sentence: [one for one in flags if one.sentence == sentence] for sentence in places}
    return {
        "flags": flags,
        "at_place": {sentence: of for sentence, of in at_place.items() if of},
        "sentences": sentences,
        "flagged_pairs": sorted({one.cell_id for one in flags}),
    }


def _exposure(here: CurrentGrid, _words: LocalFormatting) -> Values:
    return {"people": here.monitor.exposures()}


def _pilots(here: CurrentGrid, _words: LocalFormatting) -> Values:
    return {"pilots": [(pilot, _pilot_results(here, pilot.round)) for pilot in here.grid.pilots()]}


def _pilot_results(here: CurrentGrid, round_name: str) -> list[dict[str, Any]]:
    """The results of a pilot; none while nobody has written in it, or nothing is judged."""
    try:
        return here.grid.pilot_results(round_name)
    except StageError:
        return []


def _map_figures(here: CurrentGrid, _words: LocalFormatting) -> Values:
    return map_figures(here)


def _known_pairs(here: CurrentGrid, _words: LocalFormatting) -> Values:
    return {"scores": here.grid.known_scores(), "standings": STANDINGS}


def _has_known_pairs(here: CurrentGrid) -> bool:
    return bool(here.grid.known_scores())


def _has_pilots(here: CurrentGrid) -> bool:
    return here.is_planned and bool(here.grid.pilots())


def _may_have_surveys(here: CurrentGrid) -> bool:
    return here.monitor.may_have_surveys()


PANELS = {
    "glance": Panel(mark("At a glance"), glance),
    "progress": Panel(mark("Progress and pace"), _progress),
    "tiers": Panel(mark("Tiers as they would be now"), _tiers, has_decisions),
    "results": Panel(mark("Results of surveys and comparisons"), _results, _may_have_surveys),
    "coverage": Panel(mark("The map in numbers"), _map_figures),
    "agreement": Panel(mark("Over all pairs"), _agreement, has_labels),
    "calibration": Panel(mark("How far it is, and agreement"), _calibration),
    "every_two": Panel(mark("Every two people"), _every_two, has_labels),
    "disputed": Panel(mark("Where people disagree most"), _disputed, has_labels, folded=True),
    "with_others": Panel(mark("Agreement of each person with the others"), _with_others, has_labels, folded=True),
    "known_pairs": Panel(mark("Known pairs"), _known_pairs, _has_known_pairs),
    "pilots": Panel(mark("Who has passed the pilot"), _pilots, _has_pilots),
    "labels": Panel(mark("What each person answered"), _labels),
    "speed": Panel(mark("Answers too fast to have been read"), _speed, folded=True),
    "exposure": Panel(mark("What each person has read"), _exposure, folded=True),
    "flags": Panel(mark("Where the guidelines should say more"), _flags, has_decisions),
}


def find_panel(here: CurrentGrid, name: str) -> Panel:
    """The panel of this name; raises UnknownIdError when there is none, or none of this grid."""
    if name not in PANELS:
        raise UnknownIdError(f"there is no panel `{name}`; there are {', '.join(PANELS)}")
    if not PANELS[name].fits(here):
        raise UnknownIdError(f"this grid has no panel `{name}`, because of what its rounds ask and whom")
    return PANELS[name]


def build_panels(request: Request, visitor: Visitor, here: CurrentGrid, page: LeadPage) -> list[Values]:
    """The panels of a page, as they are now; nothing is computed for any other."""
    return [build_panel(request, visitor, here, name) for name in page.panels if PANELS[name].fits(here)]


def build_panel(request: Request, visitor: Visitor, here: CurrentGrid, name: str) -> Values:
    """A panel as it is now: `name`, `title`, `html`, whether it is `folded`, and a `digest`, by which a page asks for a
    newer one.
    """
    panel, context = find_panel(here, name), context_of(request)
    values = panel.values(here, LocalFormatting(context.language(visitor)))
    page = context.page(request, visitor, f"lead_{name}.html.j2", here, **SHOWN_BY, **values)
    html = bytes(page.body).decode()
    facts = {"name": name, "title": panel.title, "folded": panel.folded}
    return {**facts, "html": Markup(html), "digest": _digest(html)}


def _digest(html: str) -> str:
    """Digest that tells whether a panel has changed since it was last read."""
    return hashlib.sha256(html.encode()).hexdigest()[:16]


def iso(at: float) -> str:
    """A POSIX time as a browser reads it: `2026-03-02T12:00:00+00:00`."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def heat_class(cell: KappaCell) -> str:
    """The class of a cell of the kappa map: `heat-0` for 0 or less, up to `heat-9`."""
    return f"heat-{min(max(int(float(cell.kappa) * HEATS), 0), HEATS - 1)}"


SHOWN_BY: Values = {
    "direction": direction,
    "iso": iso,
    "heat": heat_class,
    "LEAST_INTERVALS": LEAST_INTERVALS,
    "RATE_DAYS": RATE_DAYS,
    "LAST_INTERVALS": LAST_INTERVALS,
    "PAUSE_MINUTES": round(PAUSE_S / 60),
    "FASTEST_WPM": FASTEST_WPM,
    "MEAN_WPM": MEAN_WPM,
}
"""What the lead's templates write texts and times with, and the constants that they quote."""
