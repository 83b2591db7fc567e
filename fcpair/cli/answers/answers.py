"""answers export, sheets, import, refusals, replies, withdraw."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fcpair.cli.options import format_option, round_option, sheet_format_option, supersede_option, with_grid
from fcpair.cli.output import Table, emit, for_each_file, print_run, status_spinner
from fcpair.cli.terminal import print_raw
from fcpair.cli.warnings import warn_of_old_sheets, warn_of_simulated
from fcpair.errors import StageError

if TYPE_CHECKING:
    from fcpair.cli.table import Cell
    from fcpair.files.answers.sheets import SheetFormat
    from fcpair.grid import Grid
    from fcpair.records import RunRecord


@click.group()
def answers() -> None:
    """Answers of any round: export, sheets, import, replies, withdraw.

    \b
    Example:
      fcpair answers export --grid write --out replies.csv
      fcpair answers sheets sheets/ --grid write
      fcpair answers import sheets/*.csv --grid write
    """


@answers.command()
@round_option
@click.option("--out", required=True, type=click.Path(path_type=Path), help="A .csv, .jsonl or .parquet file.")
@with_grid
def export(grid: Grid, name: str | None, out: Path) -> None:
    """Write what was answered in a round.

    A row for everybody's current answer on each cell, and a column for each question, with the answer as people read
    it. What was skipped has none.

    \b
    Example:
      fcpair answers export --grid write --out replies.csv
      fcpair answers export --grid replies --round propose --out proposed.jsonl
    """
    from fcpair.files.tables.tabular import write_table

    rows = grid.answers(name)
    if rows.empty:
        raise StageError("nothing has been answered in this round yet")
    write_table(rows, out)
    warn_of_simulated(grid)
    print_raw(f"{out}: {len(rows):,} answers")


@answers.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@round_option
@sheet_format_option
@with_grid
def sheets(grid: Grid, folder: Path, name: str | None, form: SheetFormat) -> None:
    """Write what each person has open in a round as a sheet to fill in.

    There is an empty column for each question, which takes what a person would write there; `skip` skips the cell.
    A round that edits shows the text in the column `original`. A file with answers in it is never overwritten.

    \b
    Example:
      fcpair answers sheets sheets/ --grid write
      fcpair answers sheets sheets/ --grid rate --round rate --format xlsx
    """
    rows_by_person = grid.write_answer_sheets(folder, name, form)
    for person, rows in rows_by_person.items():
        print_raw(f"{folder / person}.{form}: {rows:,} cells")
    options = f" --grid {grid.grid.name}{f' --round {name}' if name else ''}"
    warn_of_old_sheets(grid.old_answer_sheets(folder, name), rows_by_person, "answers", options)


@answers.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@round_option
@supersede_option
@with_grid
def import_(grid: Grid, paths: tuple[Path, ...], name: str | None, supersede: bool) -> None:
    """Record the answers of files in a round, each file whole or not at all.

    They have the columns `cell` (or `row` and `column`), `by`, one for each question and, if known, `skipped`,
    `seconds`, `time`, `note`. Rows without an answer are left out.

    \b
    Example:
      fcpair answers import sheets/*.csv --grid write
      fcpair answers import ratings.csv --grid rate --round rate --supersede
    """

    def record(path: Path) -> RunRecord:
        with status_spinner(f"recording {path}"):
            return grid.import_answers(path, name, supersede=supersede)

    for_each_file(paths, record)


@answers.command()
@round_option
@format_option
@with_grid
def refusals(grid: Grid, name: str | None, form: str) -> None:
    """List what checks refused while people wrote: which rule, which version of it, and with which score.

    A text itself is there only where its writer lets it be kept.

    \b
    Example:
      fcpair answers refusals --grid write --format csv
    """
    from fcpair.files.tables.tabular import plain_rows

    frame = grid.refusals(name)
    columns = [str(column) for column in frame.columns]
    rows: list[dict[str, Cell]] = list(plain_rows(frame))
    table = Table("Refused texts", columns, [[row[column] for column in columns] for row in rows])
    emit(form, data=rows, tables=[table], rows=rows)


@answers.command()
@click.option("--round", "name", required=True, help="The round that models answer.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="A .csv, .jsonl or .parquet file.")
@with_grid
def replies(grid: Grid, name: str, out: Path) -> None:
    """Write every reply that models gave in a round, verbatim, with its marks and its run.

    What was asked again has several, the oldest first.

    \b
    Example:
      fcpair answers replies --grid replies --round propose --out raw.csv
    """
    from fcpair.files.tables.tabular import write_table

    rows = grid.replies(name)
    if rows.empty:
        raise StageError(f"no model has replied in round `{name}`; `fcpair generate` asks them")
    write_table(rows, out)
    print_raw(f"{out}: {len(rows):,} replies")


@answers.command()
@click.argument("run", type=int)
@with_grid
def withdraw(grid: Grid, run: int) -> None:
    """Take the answers of a file back that was imported by mistake, as a whole.

    RUN is the number that the import printed; `fcpair log` has it too. Its answers stay on record as withdrawn, and
    their cells wait again. What simulated people said can be taken back in the same way.

    \b
    Example:
      fcpair answers withdraw 12 --grid write
    """
    print_run(grid.withdraw_answers(run))
