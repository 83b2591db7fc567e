"""examples find, list, sheet, review."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from fcpair.cli.meanings import shared_option
from fcpair.cli.options import format_option, redo_option, sheet_option, with_grid
from fcpair.cli.output import Table, emit, print_run, progress
from fcpair.cli.receipts import print_receipt
from fcpair.cli.warnings import warn_of_simulated
from fcpair.errors import InputError, StageError

if TYPE_CHECKING:
    import pandas as pd

    from fcpair.cli.table import Cell
    from fcpair.grid import Grid

round_option = shared_option(
    "--round", "name", required=True, metavar="NAME", detail="Its models are shown the examples."
)


@click.group()
def examples() -> None:
    """Examples that models are shown: find, list, sheet, review.

    They are texts that were written in an earlier grid, on the rows nearest to those of the round.

    \b
    Example:
      fcpair examples find --grid replies --round propose
      fcpair examples sheet examples.csv --grid replies --round propose
      fcpair examples review examples.csv --grid replies --round propose
    """


@examples.command("find")
@round_option
@redo_option
@with_grid
def find(grid: Grid, name: str, redo: bool) -> None:
    """Find the examples of each row of a round.

    None of them answers the row's own text. With --redo, reviews of examples that are found again are kept.

    \b
    Example:
      fcpair examples find --grid replies --round propose
    """
    with progress("encoding") as report:
        run = grid.find_examples(name, redo=redo, progress=report)
    print_run(run)


@examples.command("list")
@round_option
@format_option
@with_grid
def list_(grid: Grid, name: str, form: str) -> None:
    """List the examples of a round, row by row, each with its review.

    \b
    Example:
      fcpair examples list --grid replies --round propose --format csv
    """
    from fcpair.files.tables.tabular import plain_rows

    frame = _load_examples(grid, name)
    columns = [str(column) for column in frame.columns]
    rows: list[dict[str, Cell]] = list(plain_rows(frame))
    table = Table(f"Examples of round {name}", columns, [[row[column] for column in columns] for row in rows])
    emit(form, data=rows, tables=[table], rows=rows, columns=columns)
    warn_of_simulated(grid)


@examples.command()
@click.argument("out", type=click.Path(path_type=Path))
@round_option
@with_grid
def sheet(grid: Grid, out: Path, name: str) -> None:
    """Write the examples of a round as a sheet to be reviewed.

    Its column `used` has the reviews so far; fill in yes or no. OUT is a .csv, .jsonl or .parquet file that is not
    there yet.

    \b
    Example:
      fcpair examples sheet examples.csv --grid replies --round propose
    """
    from fcpair.files.tables.tabular import write_table

    frame = _load_examples(grid, name)
    if out.exists():
        raise InputError(f"{out}: exists already and may hold reviews; move it away, or name another file")
    write_table(frame, out)
    warn_of_simulated(grid)
    print_receipt(f"{out}: {len(frame):,} examples", {"file": str(out), "examples": len(frame)})


@examples.command()
@click.argument("path", type=click.Path(path_type=Path))
@round_option
@sheet_option
@with_grid
def review(grid: Grid, path: Path, name: str) -> None:
    """Import a sheet in which `used` was filled in: yes or no.

    Rows in which it is empty are left out, and the newest review of an example counts.

    \b
    Example:
      fcpair examples review examples.csv --grid replies --round propose
    """
    print_run(grid.review_examples(name, path), path)


def _load_examples(grid: Grid, name: str) -> pd.DataFrame:
    frame = grid.examples(name)
    if frame.empty:
        on = f"--grid {quote(grid.grid.name)} --round {quote(name)}"
        raise StageError(f"round `{name}` has no examples yet; run `fcpair examples find {on}`")
    return frame
