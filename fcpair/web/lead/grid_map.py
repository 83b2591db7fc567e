"""The map of a grid: in numbers, and as one file for the browser that draws it, with the texts of its sides."""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterator
from functools import partial
from typing import Any, Literal

from fastapi import APIRouter, Response

from fcpair.errors import UnknownIdError
from fcpair.lazy import pd
from fcpair.report.formatting import named
from fcpair.report.map_file import CellMap, pack
from fcpair.sentences import Answer, join, mark, say
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.form import json_response, takes_gzip
from fcpair.web.lead.files import table_attachment
from fcpair.web.visits import LeadVisit, Visit
from fcpair.words import Noun

router = APIRouter(include_in_schema=False)
N_TEXTS, N_CHARACTERS = 100, 120  # sent at once, and of each of them
MOST_LISTED = 200  # texts of a side; of one with more there is only the file
SIDES: dict[str, Literal["row", "column"]] = {"rows": "row", "columns": "column"}
"""The sides of a map, as addresses name them, and the axis of each."""


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


@router.get("/lead/grid/map")
def cells(visit: LeadVisit, question: str = "") -> Response:
    """All cells with the classes that they are in, for the answers to a question, the first where none is named."""
    here, cell_map = _find_map(visit, question)
    version = "-".join(map(str, here.monitor.marks()))
    content = pack(cell_map, version, partial(visit.language.say, noun=Noun.of("pair")))
    media_type = "application/octet-stream"
    if not takes_gzip(visit.request):
        return Response(content, media_type=media_type)
    content = gzip.compress(content, 1, mtime=0)  # half a megabyte is sent sooner than its last tenth is squeezed out
    return Response(content, headers={"content-encoding": "gzip"}, media_type=media_type)


@router.get("/lead/grid/texts")
def texts(visit: LeadVisit, side: str = "rows", first: int = 0) -> Response:
    """The beginnings of some texts of a side, from place `first` on."""
    _check_side(side)
    bodies = visit.here.monitor.side_texts(SIDES[side], max(first, 0), N_TEXTS)
    return json_response(visit.request, [body[:N_CHARACTERS] + "…" * (len(body) > N_CHARACTERS) for body in bodies])


@router.get("/lead/grid/{side}.csv")
def side_file(visit: LeadVisit, side: str, question: str = "") -> Response:
    """Answers of each row, or of each column, as a file."""
    _check_side(side)
    here, cell_map = _find_map(visit, question)
    return table_attachment(pd.DataFrame(side_rows(here, cell_map, side), columns=side_heads(cell_map)), f"{side}.csv")


def _check_side(side: str) -> None:
    if side not in SIDES:
        raise UnknownIdError.say(
            "a grid has no side `%(name)s`; it has %(names)s", name=side, names=join(SIDES, mark(" and "))
        )


def _find_map(visit: Visit, question: str) -> tuple[CurrentGrid, CellMap]:
    cell_map = visit.here.monitor.cell_map(question)
    if cell_map is None:
        raise UnknownIdError.say("there is no map, because the grid has no pairs yet")
    return visit.here, cell_map
