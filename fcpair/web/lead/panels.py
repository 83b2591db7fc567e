"""The panels of the lead's pages: what each of them shows, and the words and numbers in which it does."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from markupsafe import Markup

from fcpair.errors import StageError, UnknownIdError
from fcpair.grid import PersonShares
from fcpair.records import Role
from fcpair.report.data import PersonFigures
from fcpair.report.figures.forest import Forest, ForestWords, forest_markup
from fcpair.report.table_rows import kappa_map, tier_tables
from fcpair.sentences import mark
from fcpair.stages.questions.labels import VERDICT
from fcpair.stages.stats.people_agreement import agreement_with_others, extreme_subsets
from fcpair.web.current_grid import CurrentGrid, Fits, LeadPage, fits_always, has_decisions, has_labels
from fcpair.web.languages import ENGLISH, Language
from fcpair.web.lead.glance import glance
from fcpair.web.lead.grid_map import map_figures
from fcpair.web.visits import Visit
from fcpair.words import Noun

FAST_SHOWN = 20
MOST_IN_MAP = 15  # people
EXTREMES = 5  # of the most and the least agreeing two people
MOST_LINKS = 8  # pairs of one text
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
Made = TypeVar("Made")


@dataclass(frozen=True)
class Panel:
    """One part of a page that is read anew by itself, where it `fits` the grid; `folded`, it shows its title alone."""

    title: str
    values: Callable[[CurrentGrid, Language], Values]
    fits: Fits = fits_always
    folded: bool = False


@dataclass(frozen=True)
class Shares:
    """Answers of the people in one round: `answers` are the names of the columns, `round` has them one by one."""

    title: str
    answers: tuple[str, ...]
    people: Sequence[PersonFigures | PersonShares]
    round: str = ""


def stage_title(language: Language, name: str, role: Role) -> str:
    """A stage or round in words: `Labelling`, and of a round of one's own `Round “rate”, answered by raters`."""
    if (name, role) in STAGES:
        return language.gettext(STAGES[name, role])
    return language.gettext(STAGES_BY_ROLE[role], round=name)


def if_measured(measure: Callable[[], Made]) -> Made | None:
    """Measure, or return None while nothing is there to measure."""
    try:
        return measure()
    except StageError:
        return None


def _every_two(here: CurrentGrid, _language: Language) -> Values:
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


def _draw(language: Language, forest: Forest) -> Markup:
    """The figure of a table, in the language of the page; only in English it is described by more than a title."""
    if language is ENGLISH:
        return forest_markup(forest)
    say = partial(language.say, noun=Noun.of("pair"))
    label = language.gettext(DESCRIBED, title=say(forest.title))
    return forest_markup(forest, ForestWords(label, say, language.figure))


def _labels(here: CurrentGrid, language: Language) -> Values:
    """The labels and verdicts of each person; of a planned grid, the answers question by question."""
    if here.is_planned:
        shares = (
            Shares(
                language.gettext(QUESTION_OF_ROUND, round=share.round, question=language.answer_name(share.question)),
                tuple(map(language.answer_name, share.choices)),
                share.people,
                share.round,
            )
            for share in here.monitor.shares()
        )
        return {"rounds": tuple(shares)}
    data = here.monitor.people()
    rounds = ((LABELS, data.question, data.annotators), (VERDICTS, VERDICT, data.validators))
    return {
        "rounds": tuple(
            Shares(language.gettext(title), tuple(language.answer_name(choice.name) for choice in question), people)
            for title, question, people in rounds
        )
    }


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
    "coverage": Panel(mark("The map in numbers"), lambda here, _language: map_figures(here)),
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
            "most": MOST_LINKS,
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
        folded=True,
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
        mark("Answers too fast to have been read"),
        lambda here, _language: {"found": here.monitor.speed(), "most": FAST_SHOWN},
        folded=True,
    ),
    "exposure": Panel(
        mark("What each person has read"), lambda here, _language: {"people": here.monitor.exposures()}, folded=True
    ),
    "flags": Panel(mark("Where the guidelines should say more"), _flags, has_decisions),
}


def build_panels(visit: Visit, page: LeadPage) -> list[Values]:
    """The panels of a page, as they are now; nothing is computed for any other."""
    return [build_panel(visit, name) for name in page.panels if PANELS[name].fits(visit.here)]


def build_panel(visit: Visit, name: str) -> Values:
    """A panel as it is now, with a `digest` by which a page asks for a newer one; UnknownIdError for none."""
    if name not in PANELS:
        raise UnknownIdError.say("there is no panel `%(name)s`; there are %(names)s", name=name, names=list(PANELS))
    panel = PANELS[name]
    if not panel.fits(visit.here):
        raise UnknownIdError.say(
            "this grid has no panel `%(name)s`, because of what its rounds ask and whom", name=name
        )
    values = panel.values(visit.here, visit.language)
    html = bytes(visit.page(f"lead_{name}.html.j2", visit.here, **values).body).decode()
    facts = {"name": name, "title": panel.title, "folded": panel.folded}
    return {**facts, "html": Markup(html), "digest": hashlib.sha256(html.encode()).hexdigest()[:16]}
