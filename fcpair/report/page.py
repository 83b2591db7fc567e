"""The report as one HTML page: nothing outside it is loaded, nothing in it is run, and every text is escaped."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

from fcpair.evaluate.outcome import ALPHA
from fcpair.report import cells, formatting
from fcpair.report.data import IN_GRID, GridMap, ReportData
from fcpair.report.evaluation_section import evaluation_tables
from fcpair.report.figures import grid_map
from fcpair.report.figures.forest_markup import forest_markup
from fcpair.report.missing_figures import NO_TWO, find_gaps
from fcpair.report.survey_section import build_sections
from fcpair.report.table_rows import kappa_map, log_lines, tier_tables

if TYPE_CHECKING:
    from jinja2 import Environment

LONG_TABLE = 100
MOST_PAIRS = 1_000  # of annotators, whose agreement is shown pair by pair
FILTERS = (
    quote,
    formatting.bounds,
    formatting.count,
    formatting.counted,
    formatting.decimal,
    formatting.file_name,
    formatting.interval,
    formatting.moment,
    formatting.named,
    formatting.settings,
    formatting.share,
)


@dataclass(frozen=True)
class GridMaps:
    """The two maps of a grid with their legends; `rows` x `columns` cells are one block, 1 x 1 where none are."""

    coverage: grid_map.Image
    coverage_classes: tuple[cells.CellClass, ...]
    decisions: grid_map.Image
    decision_classes: tuple[cells.CellClass, ...]
    rows: int
    columns: int
    n_hs: int
    n_cn: int
    n_pairs: int
    n_labels: int


def render(data: ReportData) -> str:
    """The whole page. The same data give the same page, to the byte."""
    grid = None if data.main is None or data.main.grid is None else grid_maps(data.main.grid)
    legend = [] if grid is None else [*grid.coverage_classes, *grid.decision_classes]
    page = _environment().get_template("page.html.j2")
    return page.render(
        data=data,
        main=data.main,
        grid=grid,
        swatches={one.look: grid_map.swatch(one.look) for one in legend},
        evaluation=evaluation_tables(data.evaluation) if data.evaluation else None,
        alpha=ALPHA,
        log=log_lines(data.log),
        gaps=find_gaps(data),
    )


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("fcpair.report", ".")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update({of.__name__: of for of in FILTERS})
    environment.globals.update(
        long_table=LONG_TABLE, most_pairs=MOST_PAIRS, kappa_map=kappa_map, tier_tables=tier_tables, no_two=NO_TWO
    )
    environment.globals.update(sections=build_sections, draw=forest_markup)
    return environment


def grid_maps(grid: GridMap) -> GridMaps:
    """Both maps of a grid, cell by cell, or in blocks when there are too many cells to show."""
    coverage, decisions = cells.coverage(grid), cells.decisions(grid)
    rows, columns = cells.block_size(grid.shape)
    if rows == columns == 1:
        maps = grid_map.class_map(coverage), grid_map.class_map(decisions)
    else:
        maps = (
            grid_map.block_map(cells.coverage_blocks(grid), "mean labels per cell"),
            grid_map.block_map(cells.decision_blocks(grid), "share of positive labels"),
        )
    n_hs, n_cn = grid.shape
    n_pairs, n_labels = int((grid.place == IN_GRID).sum()), int(grid.labels.sum())
    shown = [tuple(one for one in kind.classes if one.n) for kind in (coverage, decisions)]
    return GridMaps(maps[0], shown[0], maps[1], shown[1], rows, columns, n_hs, n_cn, n_pairs, n_labels)
