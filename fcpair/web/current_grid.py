"""The grid that a page is about: the address names it, and so does every link, form and request of the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

from fastapi import Request

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.grid import Grid
from fcpair.params import MAIN
from fcpair.study import Study

GRID = "grid"


@dataclass(frozen=True)
class Here:
    """One grid of a study. It has a `name` where the study has others; `facts` call its sides what it calls them."""

    grid: Grid
    name: str
    facts: dict[str, str]
    is_planned: bool
    has_labels: bool

    def to(self, path: str, **asked: Any) -> str:
        """An address that is about this grid: with what is `asked`, and the grid where there are several."""
        given = urlencode(asked | ({GRID: self.name} if self.name else {}))
        return f"{path}?{given}" if given else path


class _Served(NamedTuple):
    grid: Grid
    facts: dict[str, str]
    is_planned: bool
    has_labels: bool


class Grids:
    """The grids that are served. Each is one object, as its monitor and its docket keep what is slow to make."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._served: dict[str, _Served] = {}

    def at(self, request: Request) -> Here:
        """The grid in the address of a request; without one `main`, the only one, or the first.

        Raises UnknownIdError, with the names there are, when there is none of that name.
        """
        there = self._study.grids
        return self._here(there, request.query_params.get(GRID) or (MAIN if MAIN in there else there[0]))

    def one(self, name: str | None) -> Here:
        """The grid of this name, or the only one; raises InputError where there are several and no name."""
        there = self._study.grids
        if not name and len(there) > 1:
            raise InputError(f"this study has several grids; say which by `?{GRID}=NAME`: {', '.join(there)}")
        return self._here(there, name or there[0])

    @property
    def first(self) -> Here:
        """The oldest grid."""
        there = self._study.grids
        return self._here(there, there[0])

    def overview(self) -> list[tuple[Here, dict[str, Any]]]:
        """Each grid, and how far it is (`Study.grid_overview`)."""
        found = self._study.grid_overview()
        return [(self._here([of["name"] for of in found], one["name"]), one) for one in found]

    def deciding(self) -> list[Here]:
        """Those in which answers that differ wait for somebody's decision: of planned ones, where a policy holds."""
        there = self._study.grids
        found = (self._here(there, name) for name in there)
        return [one for one in found if one.has_labels and (not one.is_planned or one.grid.policy)]

    def waiting(self, person_id: int) -> Here:
        """The first of these in which something waits for an adjudicator, else the first; StageError for none."""
        there = self.deciding()
        if not there:
            raise StageError("nothing is to be decided in this study yet")
        waits = (one for one in there if len(there) > 1 and one.grid.docket.state(person_id).waiting)
        return next(waits, there[0])

    def _here(self, there: list[str], name: str) -> Here:
        if name not in there:
            raise UnknownIdError(f"there is no grid `{name}`; the grids of this study: {', '.join(there)}")
        if name not in self._served:
            grid = self._study.grid(name)
            self._served[name] = _Served(grid, grid.facts, grid.is_planned, grid.has_labels)
        return Here(self._served[name].grid, name if len(there) > 1 else "", *self._served[name][1:])
