"""A study or a grid in one line: what it is, where, and how far; and as a table for notebooks."""

from __future__ import annotations

from fcpair.errors import FcpairError
from fcpair.notebook import frame_of, html_of
from fcpair.steps.base.context import STAGE_PRODUCTS, GridContext, StudyContext
from fcpair.steps.oversight.grid_status import overview
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import build_progress

COLUMNS = ("grid", "rows", "columns", "cells", "round", "role", "open", "done", "skipped")


def describe_study(study: StudyContext) -> str:
    """The study in one line."""
    try:
        with study._store.read() as tx:
            parts = [f"{one.name} ({_progress(tx)})" for one in grids.for_each_grid(tx)]
    except FcpairError as error:  # a repr never fails
        return f"<Study {study._store.place}: {error}>"
    return f"<Study {study._store.place}: grid{'s' * (len(parts) > 1)} {', '.join(parts)}>"


def describe_grid(grid: GridContext) -> str:
    """The grid in one line."""
    try:
        with grid._store.read() as tx:
            return f"<Grid {grid.grid.name} of {grid._store.place}: {_progress(tx)}>"
    except FcpairError as error:
        return f"<Grid {grid.grid.name} of {grid._store.place}: {error}>"


def study_html(study: StudyContext) -> str:
    """The study as HTML: its line, and a row for each round of each grid."""
    return html_of(describe_study(study), frame_of(_rows(study), COLUMNS))


def grid_html(grid: GridContext) -> str:
    """The grid as HTML: its line, and a row for each of its rounds."""
    rows = [row for row in _rows(grid) if row["grid"] == grid.grid.name]
    return html_of(describe_grid(grid), frame_of(rows, COLUMNS))


def _rows(study: StudyContext) -> list[dict[str, object]]:
    try:
        facts = overview(study)
    except FcpairError:
        return []
    return [
        {
            "grid": grid["name"],
            **{name: grid[name] for name in COLUMNS[1:4]},
            "round": round_["name"],
            **{name: round_[name] for name in COLUMNS[5:]},
        }
        for grid in facts
        for round_ in grid["rounds"]
    ]


def _progress(tx: Tx) -> str:
    """How far a grid has come: what its last building stage made, and how many answers it has."""
    n_built = build_progress.n_built(tx)
    made = [f"{n_built[stage]:,} {STAGE_PRODUCTS[stage]}" for stage in build_progress.BUILDING[:4] if n_built[stage]]
    n_answers = sum(judgements.n_judgements(tx, one) for one in rounds.of_grid(tx))
    return ", ".join([*made[-1:], *([f"{n_answers:,} answers"] if n_answers else [])]) or "empty"
