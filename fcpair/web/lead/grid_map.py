"""The map of a grid: its cells as one file for the browser that draws them, and the texts of its sides."""

from __future__ import annotations

import gzip
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from fastapi import APIRouter, Request, Response

from fcpair.errors import UnknownIdError
from fcpair.records import Role
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.lead.files import attachment
from fcpair.web.lead.map_figures import SIDES, side_heads, side_rows
from fcpair.web.refusals import translate
from fcpair.web.server.compression import json_response, takes_gzip
from fcpair.words import Noun

router = APIRouter(include_in_schema=False)
N_TEXTS, N_CHARACTERS = 100, 120  # sent at once, and of each of them
QUICK = 1  # of 9: half a megabyte is sent sooner than the last tenth is squeezed out of it
NO_MAP = "there is no map, because the grid has no pairs yet"


@router.get("/lead/grid/map")
@open_to(Role.LEAD)
def cells(request: Request, question: str = "") -> Response:
    """All cells with the classes that they are in, for the answers to a question, the first where none is named."""
    from fcpair.report.map_file import pack

    here = _here(request)
    cell_map = here.monitor.cell_map(question)
    if cell_map is None:
        raise UnknownIdError(NO_MAP)
    context = context_of(request)
    language = context.language(context.door.require_visitor(request))
    version = "-".join(map(str, here.monitor.marks()))
    content = pack(cell_map, version, partial(translate, language=language, noun=Noun.of("pair")))
    media_type = "application/octet-stream"
    if not takes_gzip(request):
        return Response(content, media_type=media_type)
    packed = gzip.compress(content, QUICK, mtime=0)
    return Response(packed, headers={"content-encoding": "gzip"}, media_type=media_type)


@router.get("/lead/grid/texts")
@open_to(Role.LEAD)
def texts(request: Request, side: str = "rows", first: int = 0) -> Response:
    """The beginnings of some texts of a side, from place `first` on."""
    here = _here(request, side)
    bodies = here.monitor.side_texts(SIDES[side], max(first, 0), N_TEXTS)
    return json_response(request, [body[:N_CHARACTERS] + "…" * (len(body) > N_CHARACTERS) for body in bodies])


@router.get("/lead/grid/{side}.csv")
@open_to(Role.LEAD)
def side_file(request: Request, side: str, question: str = "") -> Response:
    """What was answered in each row, or in each column, as a file."""
    import pandas as pd

    from fcpair.files.tables.tabular import write_table

    here = _here(request, side)
    cell_map = here.monitor.cell_map(question)
    if cell_map is None:
        raise UnknownIdError(NO_MAP)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{side}.csv"
        write_table(pd.DataFrame(side_rows(here, cell_map, side), columns=side_heads(cell_map)), path)
        return attachment(path)


def _here(request: Request, side: str = "rows") -> CurrentGrid:
    context = context_of(request)
    context.door.require_visitor(request)
    if side not in SIDES:
        raise UnknownIdError(f"a grid has no side `{side}`; it has {' and '.join(SIDES)}")
    return context.grids.from_request(request)
