"""The report as one HTML page: nothing outside it is loaded, nothing in it is run, and every text is escaped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fcpair.report import cells, figures, paint, words
from fcpair.report.data import GridMap, ReportData
from fcpair.report.undefined import gaps

if TYPE_CHECKING:
    from jinja2 import Environment

    from fcpair.agree import Agreement, SubsetAgreement
    from fcpair.records import RunRecord

LONG_TABLE = 30


@dataclass(frozen=True)
class GridMaps:
    """The two maps of a grid with their legends; `rows` x `columns` cells are one block, 1 x 1 where none are."""

    coverage: figures.Image
    coverage_classes: tuple[cells.CellClass, ...]
    decisions: figures.Image
    decision_classes: tuple[cells.CellClass, ...]
    rows: int
    columns: int
    n_hs: int
    n_cn: int
    n_pairs: int
    n_labels: int


@dataclass(frozen=True)
class KappaCell:
    """One cell of the map annotators x annotators: `state` is `same`, `apart`, `undefined` or `kappa`."""

    state: str
    kappa: str = ""
    n: int = 0
    style: str = ""


@dataclass(frozen=True)
class LogLine:
    """A run, or several decisions by hand in a row that are told in one line."""

    first: RunRecord
    last: RunRecord
    n: int


def render(data: ReportData) -> str:
    """The whole page. The same data give the same page, to the byte."""
    grid = None if data.grid is None else grid_maps(data.grid)
    legend = [] if grid is None else [*grid.coverage_classes, *grid.decision_classes]
    page = _environment().get_template("page.html.j2")
    return page.render(
        data=data,
        grid=grid,
        swatches={one.look: figures.swatch(one.look) for one in legend},
        kappas=kappa_map(data.agreement) if data.agreement else None,
        log=log_lines(data.runs),
        gaps=gaps(data),
        long_table=LONG_TABLE,
    )


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("fcpair.report", ".")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    for of in (words.count, words.counted, words.decimal, words.share, words.interval, words.moment, words.named):
        environment.filters[of.__name__] = of
    environment.filters["settings"] = words.settings
    environment.filters["file_name"] = words.file_name
    return environment


def grid_maps(grid: GridMap) -> GridMaps:
    """Both maps of a grid, cell by cell, or in blocks when there are too many cells to show."""
    coverage, decisions = cells.coverage(grid), cells.decisions(grid)
    rows, columns = cells.block_size(grid.place.shape)
    if rows == columns == 1:
        maps = figures.class_map(coverage), figures.class_map(decisions)
    else:
        maps = (
            figures.block_map(cells.coverage_blocks(grid), "mean labels per cell"),
            figures.block_map(cells.decision_blocks(grid), "share of positive labels"),
        )
    n_hs, n_cn = grid.place.shape
    n_pairs, n_labels = int((grid.place == cells.IN_GRID).sum()), int(grid.labels.sum())
    shown = [tuple(one for one in kind.classes if one.n) for kind in (coverage, decisions)]
    return GridMaps(maps[0], shown[0], maps[1], shown[1], rows, columns, n_hs, n_cn, n_pairs, n_labels)


def kappa_map(agreement: Agreement) -> list[tuple[str, list[KappaCell]]]:
    """One row of cells for each annotator who shares a pair with another, in the order of their names."""
    found = {frozenset(subset.annotators): subset for subset in agreement.subsets}
    names = sorted({name for subset in agreement.subsets for name in subset.annotators})
    return [(one, [_kappa_cell(one, other, found.get(frozenset((one, other)))) for other in names]) for one in names]


def _kappa_cell(one: str, other: str, subset: SubsetAgreement | None) -> KappaCell:
    if subset is None:
        return KappaCell("same" if one == other else "apart")
    if subset.kappa.value is None:
        return KappaCell("undefined", n=subset.n)
    ground = paint.cividis(subset.kappa.value)
    style = f"background:rgb{ground};color:rgb{paint.ink_on(ground)}".replace(" ", "")
    return KappaCell("kappa", words.decimal(subset.kappa.value), subset.n, style)


def log_lines(runs: tuple[RunRecord, ...]) -> list[LogLine]:
    """The runs in their order; decisions by hand that follow each other by the same person are one line."""
    lines: list[LogLine] = []
    for run in runs:
        if lines and _by_hand(run) is not None and _by_hand(run) == _by_hand(lines[-1].last):
            lines[-1] = LogLine(lines[-1].first, run, lines[-1].n + 1)
        else:
            lines.append(LogLine(run, run, 1))
    return lines


def _by_hand(run: RunRecord) -> tuple[Any, ...] | None:
    """Who made which kind of decision on a single pair; None for any other run."""
    return (run.params.get("by"), tuple(run.counts)) if "pair" in run.params else None
