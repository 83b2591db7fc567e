"""answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fcpair.cli.notes import warn_of_simulated
from fcpair.cli.options import with_grid
from fcpair.cli.terminal import show
from fcpair.errors import StageError

if TYPE_CHECKING:
    from fcpair.grid import Grid


@click.command()
@click.option("--round", "name", help="The round; the one that counts if not given.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="A .csv, .jsonl or .parquet file.")
@with_grid
def answers(grid: Grid, name: str | None, out: Path) -> None:
    """Write what was answered in a round.

    A row for everybody's current answer on each cell, and a column for each question, with the answer as people read
    it. What was skipped has none.

    \b
    Example:
      fcpair answers --grid write --out replies.csv
      fcpair answers --grid replies --round propose --out proposed.jsonl
    """
    from fcpair.files.tabular import write_table

    rows = grid.answers(name)
    if rows.empty:
        raise StageError("nothing has been answered in this round yet")
    write_table(rows, out)
    warn_of_simulated(grid)
    show(f"{out}: {len(rows):,} answers")
