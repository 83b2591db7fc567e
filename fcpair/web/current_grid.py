"""The grid that a page is about, which its address names, and the lead's pages: names, addresses, fitting grids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from fastapi import Request

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.grid import AdjudicationQueue, Grid, Monitor
from fcpair.params import MAIN
from fcpair.records import Role
from fcpair.sentences import mark
from fcpair.study import Study

GRID_PARAM = "grid"


@dataclass(frozen=True)
class CurrentGrid:
    """One grid of a study, with the views of it that only pages need, each made once; a `name`, where it has others."""

    grid: Grid
    name: str
    facts: dict[str, str]
    is_planned: bool
    has_labels: bool
    is_survey: bool

    @cached_property
    def adjudication_queue(self) -> AdjudicationQueue:
        """The adjudicators' work in it."""
        return AdjudicationQueue(self.grid)

    @cached_property
    def monitor(self) -> Monitor:
        """The lead's view of it."""
        return Monitor(self.grid)

    @property
    def tier_sizes(self) -> dict[str, int]:
        """The pairs of each tier as it is now; empty where there are no tiers."""
        tiers = self.monitor.decisions().tiers if has_decisions(self) else None
        return {str(tier): n for tier, n, *_ in map(dict.values, tiers.tables[0])} if tiers else {}

    def address(self, path: str, **query: Any) -> str:
        """An address that is about this grid: with `query`, and the grid if there are several."""
        path, hash_, anchor = path.partition("#")
        query_string = urlencode(query | ({GRID_PARAM: self.name} if self.name else {}))
        sign = ("&" if "?" in path else "?") if query_string else ""
        return f"{path}{sign}{query_string}{hash_}{anchor}"


class Grids:
    """The grids that are served. Each is one object, as its monitor and its queue keep what is slow to make."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._served: dict[tuple[str, str], CurrentGrid] = {}

    def from_request(self, request: Request) -> CurrentGrid:
        """The grid in an address, else `main`, the only one, or the first; UnknownIdError for no such grid."""
        names = self._study.grids
        return self._current(names, request.query_params.get(GRID_PARAM) or (MAIN if MAIN in names else names[0]))

    def by_name(self, name: str | None) -> CurrentGrid:
        """The grid of this name, or the only one; raises InputError if there are several and no name."""
        names = self._study.grids
        if not name and len(names) > 1:
            raise InputError.say(
                "this study has several grids; choose one with `?grid=NAME`: %(names)s", names=list(names)
            )
        return self._current(names, name or names[0])

    @property
    def oldest(self) -> CurrentGrid:
        """The oldest grid."""
        names = self._study.grids
        return self._current(names, names[0])

    def overview(self) -> list[tuple[CurrentGrid, dict[str, Any]]]:
        """Each grid, and how far it is (`Study.grid_overview`)."""
        overviews = self._study.grid_overview()
        return [(self._current([of["name"] for of in overviews], overview["name"]), overview) for overview in overviews]

    def with_policy(self) -> list[CurrentGrid]:
        """Those in which answers that differ wait for somebody's decision: of planned ones, where a policy holds."""
        names = self._study.grids
        grids = (self._current(names, name) for name in names)
        return [here for here in grids if here.has_labels and (not here.is_planned or here.grid.policy)]

    def first_with_work(self, person_id: int) -> CurrentGrid:
        """The first of these in which something waits for an adjudicator, else the first; StageError for none."""
        candidates = self.with_policy()
        if not candidates:
            raise StageError.say("there is nothing to decide in this study yet")
        several = candidates if len(candidates) > 1 else []
        return next((here for here in several if here.adjudication_queue.state(person_id).waiting), candidates[0])

    def _current(self, names: list[str], name: str) -> CurrentGrid:
        if name not in names:
            raise UnknownIdError.say(
                "there is no grid `%(name)s`; the grids of this study: %(names)s", name=name, names=list(names)
            )
        shown_name = name if len(names) > 1 else ""
        if served := self._served.get((name, shown_name)):
            return served
        grid = self._study.grid(name)
        kind = (grid.desk.is_planned, grid.desk.has_labels, grid.desk.primary_role is Role.RESPONDENT)
        made = CurrentGrid(grid, shown_name, grid.facts, *kind)
        return self._served.setdefault((name, shown_name), made)  # another request may have made it meanwhile


Fits = Callable[[CurrentGrid], bool]


def fits_always(_here: CurrentGrid) -> bool:
    """Any grid has it."""
    return True


def has_labels(here: CurrentGrid) -> bool:
    """The answers that count are labels."""
    return here.has_labels


def has_decisions(here: CurrentGrid) -> bool:
    """The answers that count are labels that somebody, or a policy, decides on; what respondents say is not decided."""
    return here.has_labels and (not here.is_survey or here.grid.policy is not None)


@dataclass(frozen=True)
class LeadPage:
    """A page of the lead's with its panels, offered where it `fits` the grid; what is one thing on it is at `parts`."""

    path: str
    title: str
    panels: tuple[str, ...] = ()
    fits: Fits = fits_always
    parts: tuple[str, ...] = ()


PROGRESS = LeadPage(
    "/lead", mark("Progress"), ("glance", "progress", "tiers", "results"), parts=("/lead/generate", "/lead/notes")
)
PEOPLE = LeadPage(
    "/lead/people",
    mark("People"),
    ("known_pairs", "pilots", "labels", "with_others", "speed", "exposure"),
    parts=("/lead/people/", "/lead/answers"),
)
AGREEMENT = LeadPage("/lead/agreement", mark("Agreement"), ("agreement", "every_two", "labels", "disputed"), has_labels)
CALIBRATION = LeadPage("/lead/calibration", mark("Calibration"), ("calibration",), has_labels)
GRID = LeadPage("/lead/grid", mark("Grid"), ("coverage",), parts=("/lead/pair/", "/lead/grid/"))
CONFLICTS = LeadPage("/lead/conflicts", mark("Conflicts"), (), has_decisions, parts=("/lead/conflicts/",))
LABELS = LeadPage(
    "/lead/labels", mark("Labels"), fits=lambda here: here.has_labels and here.grid.scheme.kind == "one_of"
)
EXAMPLES = LeadPage(
    "/lead/examples",
    mark("Examples"),
    fits=lambda here: here.is_planned and bool(here.grid.desk.rounds_with_examples()),
)
GUIDELINES = LeadPage("/lead/guidelines", mark("Guidelines"), ("flags",), parts=("/lead/guidelines/",))
WORDS = LeadPage("/lead/words", mark("Words"))
TERMS = LeadPage("/lead/terms", mark("Terms"))
TIERS = LeadPage("/lead/tiers", mark("Tiers"), (), has_decisions)
EVALUATION = LeadPage("/lead/evaluation", mark("Evaluation"), (), has_decisions, parts=("/lead/acts",))
UPLOADS = LeadPage("/lead/uploads", mark("Uploads"), parts=("/lead/uploads/", "/lead/imports"))
DOWNLOADS = LeadPage("/lead/downloads", mark("Downloads"))
RELEASES = LeadPage("/lead/releases", mark("Releases"), parts=("/lead/releases/",))
COMPONENTS = LeadPage("/lead/components", "Components")  # for those who build pages; not in the navigation
LEAD_PAGES: dict[str, tuple[LeadPage, ...]] = {  # by the groups of the navigation
    mark("Study"): (PROGRESS, WORDS, TERMS, GUIDELINES),
    mark("People"): (PEOPLE, CALIBRATION),
    mark("Data"): (GRID, CONFLICTS, LABELS, EXAMPLES, UPLOADS),
    mark("Results"): (AGREEMENT, TIERS, EVALUATION, DOWNLOADS, RELEASES),
}


def lead_pages(here: CurrentGrid | None) -> dict[str, list[LeadPage]]:
    """The pages that are offered for a grid, by group; of no grid in particular, those that any grid has."""
    groups = LEAD_PAGES.items()
    return {
        group: [page for page in pages if (page.fits(here) if here else page.fits is fits_always)]
        for group, pages in groups
    }
