"""The map of a grid in numbers: its classes, and what was answered in each row and each column."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from fcpair.report.formatting import named
from fcpair.web.current_grid import CurrentGrid

if TYPE_CHECKING:
    from fcpair.report.map_file import CellMap

MOST_LISTED = 200
"""Of a side with more texts there is only the file."""

SIDES: dict[str, Literal["row", "column"]] = {"rows": "row", "columns": "column"}
"""The sides of a map, as addresses name them, and the axis of each."""


def map_figures(here: CurrentGrid) -> dict[str, Any]:
    """The values of the panel: the map as it is now, each place without a cell by its reason, and both sides."""
    cell_map = here.monitor.cell_map()
    if cell_map is None:
        return {"map": None}
    return {
        "map": cell_map,
        "newest": "-".join(map(str, here.monitor.marks())),
        "heads": side_heads(cell_map)[2:],
        "sides": {name: _listed(here, cell_map, name) for name in SIDES},
    }


def side_heads(cell_map: CellMap) -> list[str]:
    """The heads of a table of one side: number, text, labels, the share of each, disagreement, skips."""
    shares = [f"share of {named(choice)}" for choice in cell_map.choices]
    return ["number", "text", "answers", *shares, *(["disagreement"] if shares else []), "skips"]


def side_rows(here: CurrentGrid, cell_map: CellMap, name: str) -> Iterator[list[Any]]:
    """The rows of that table; None where a share would rest on nothing."""
    figures = cell_map.rows if name == "rows" else cell_map.columns
    for at, text in enumerate(here.monitor.side_texts(SIDES[name])):
        shares = [*figures.shares[at].tolist(), *([float(figures.disagreement[at])] if cell_map.choices else [])]
        defined = (None if math.isnan(share) else share for share in shares)
        yield [at + 1, text, int(figures.n_answers[at]), *defined, int(figures.skips[at])]


def _listed(here: CurrentGrid, cell_map: CellMap, name: str) -> list[list[Any]]:
    n_texts = cell_map.shape[0 if name == "rows" else 1]
    return list(side_rows(here, cell_map, name)) if n_texts <= MOST_LISTED else []
