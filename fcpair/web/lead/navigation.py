"""The lead's pages: the one place for their names, their addresses, and in which grids each is of use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fcpair.sentences import mark
from fcpair.web.current_grid import CurrentGrid

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
    """A page of the lead's, with the panels that it shows; it is offered where it `fits` the grid.

    The addresses that begin as `parts` say are about one thing on it.
    """

    path: str
    title: str
    panels: tuple[str, ...] = ()
    fits: Fits = fits_always
    parts: tuple[str, ...] = ()

    def has_part(self, path: str) -> bool:
        """Whether what is at an address is about one thing on this page."""
        return path.startswith(self.parts)


PROGRESS = LeadPage(
    "/lead",
    mark("Progress"),
    ("glance", "progress", "tiers", "results"),
    parts=("/lead/examples", "/lead/imports", "/lead/generate", "/lead/notes"),
)
PEOPLE = LeadPage(
    "/lead/people",
    mark("People"),
    ("known_pairs", "pilots", "labels", "with_others", "speed", "exposure"),
    parts=("/lead/people/", "/lead/answers"),
)
AGREEMENT = LeadPage(
    "/lead/agreement", mark("Agreement"), ("agreement", "every_two", "disputed"), has_labels, ("/lead/calibration",)
)
CALIBRATION = LeadPage("/lead/calibration", mark("Calibration"), ("calibration",))
GRID = LeadPage("/lead/grid", mark("Grid"), ("coverage",), parts=("/lead/pair/", "/lead/grid/"))
CONFLICTS = LeadPage("/lead/conflicts", mark("Conflicts"), (), has_decisions, parts=("/lead/conflicts/",))
GUIDELINES = LeadPage(
    "/lead/guidelines", mark("Guidelines"), ("flags",), parts=("/lead/guidelines/", "/lead/words", "/lead/terms")
)
EVALUATION = LeadPage("/lead/evaluation", mark("Evaluation"), (), has_decisions, parts=("/lead/acts",))
DOWNLOADS = LeadPage("/lead/downloads", mark("Downloads"))
LEAD_PAGES = (PROGRESS, PEOPLE, AGREEMENT, GRID, CONFLICTS, GUIDELINES, EVALUATION, DOWNLOADS)


def lead_pages(here: CurrentGrid | None) -> list[LeadPage]:
    """The pages that are offered for a grid; of no grid in particular, those that any grid has."""
    return [page for page in LEAD_PAGES if (page.fits(here) if here else page.fits is fits_always)]
