"""answers export, sheets, import, refusals, replies, withdraw."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fcpair.cli.answers.round_files import add_round_files
from fcpair.cli.meanings import shared_option
from fcpair.cli.options import format_option, round_option, with_grid
from fcpair.cli.output import Table, emit
from fcpair.cli.receipts import print_receipt
from fcpair.errors import StageError

if TYPE_CHECKING:
    from fcpair.cli.table import Cell
    from fcpair.grid import Grid


@click.group()
def answers() -> None:
    """Answers of any round: export, sheets, import, replies, withdraw.

    \b
    Example:
      fcpair answers export --grid write --out replies.csv
      fcpair answers sheets sheets/ --grid write
      fcpair answers import sheets/*.csv --grid write
    """


add_round_files(answers)


@answers.command()
@round_option
@format_option
@with_grid
def refusals(grid: Grid, name: str | None, form: str) -> None:
    """List what checks refused while people wrote: which rule, which version of it, and with which score.

    The text itself is listed only if its writer agreed to keep it.

    \b
    Example:
      fcpair answers refusals --grid write --format csv
    """
    from fcpair.files.tables.tabular import plain_rows

    frame = grid.refusals(name)
    columns = [str(column) for column in frame.columns]
    rows: list[dict[str, Cell]] = list(plain_rows(frame))
    table = Table("Refused texts", columns, [[row[column] for column in columns] for row in rows])
    emit(form, data=rows, tables=[table], rows=rows, columns=columns)


@answers.command()
@shared_option("--round", "name", required=True, metavar="NAME", detail="Models answer it.")
@shared_option("--out", required=True, type=click.Path(path_type=Path), detail="A .csv, .jsonl or .parquet file.")
@with_grid
def replies(grid: Grid, name: str, out: Path) -> None:
    """Write every reply that models gave in a round, verbatim, with its marks and its run.

    A prompt that was sent again has several replies, the oldest first.

    \b
    Example:
      fcpair answers replies --grid replies --round propose --out raw.csv
    """
    from fcpair.files.tables.tabular import write_table

    rows = grid.replies(name)
    if rows.empty:
        raise StageError(f"no model has replied in round `{name}`; `fcpair generate` asks them")
    write_table(rows, out)
    print_receipt(f"{out}: {len(rows):,} replies", {"file": str(out), "replies": len(rows)})
