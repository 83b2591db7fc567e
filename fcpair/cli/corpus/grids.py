"""grids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.options import format_option, with_study
from fcpair.cli.output import Table, emit

if TYPE_CHECKING:
    from fcpair.cli.table import Cell
    from fcpair.study import Study

COLUMNS = ("grid", "rows", "columns", "cells", "round", "role", "open", "done", "vacant")
COUNTS = COLUMNS[6:]


@click.command()
@format_option
@with_study
def grids(study: Study, form: str) -> None:
    """List the grids, their sides and rounds.

    A round that is not yet assigned shows `-` in place of counts.

    \b
    Example:
      fcpair grids
      fcpair grids --format json
    """
    listed = study.grid_overview()
    rows = [row for one in listed for row in grid_rows(one)]
    table = Table("Grids", COLUMNS, [[row[name] for name in COLUMNS] for row in rows])
    emit(form, data=listed, tables=[table], rows=rows)


def grid_rows(grid: dict[str, Any]) -> list[dict[str, Cell]]:
    """A grid as rows of a table, one for each of its rounds."""
    sides = {"grid": grid["name"], **{name: grid[name] for name in ("rows", "columns", "cells")}}
    rows = []
    for round_ in grid["rounds"]:
        counts = {name: round_[name] if round_["dealt"] else "-" for name in COUNTS}
        rows.append({**sides, "round": round_["name"], "role": round_["role"], **counts})
    return rows
