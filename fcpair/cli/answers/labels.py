"""labels sheets, import, withdraw, export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fcpair.cli.options import sheet_format_option, supersede_option, with_grid
from fcpair.cli.output import for_each_file, print_run, status_spinner
from fcpair.cli.terminal import print_raw
from fcpair.cli.warnings import warn_of_old_sheets, warn_of_simulated
from fcpair.errors import StageError

if TYPE_CHECKING:
    from fcpair.files.answers.sheets import SheetFormat
    from fcpair.grid import Grid
    from fcpair.records import RunRecord


@click.group()
def labels() -> None:
    """Labels of annotators: sheets, import, withdraw, export.

    \b
    Example:
      fcpair labels sheets sheets/
      fcpair labels import sheets/a1.csv
    """


@labels.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@sheet_format_option
@with_grid
def sheets(grid: Grid, folder: Path, form: SheetFormat) -> None:
    """Write each annotator's open shard, in its order, as a sheet to fill in.

    The column `label` takes a code or a name of the label scheme, or `skip`. A file with answers in it is never
    overwritten.

    \b
    Example:
      fcpair labels sheets sheets/
      fcpair labels sheets sheets/ --format xlsx
    """
    rows_by_person = grid.write_sheets(folder, form)
    for name, rows in rows_by_person.items():
        print_raw(f"{folder / name}.{form}: {rows:,} pairs")
    warn_of_old_sheets(grid.old_sheets(folder), rows_by_person, "labels")


@labels.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["long", "fc-conan"]),
    default="long",
    show_default=True,
    help="A long table (a filled-in sheet is one), or a published FC-CONAN partition.",
)
@supersede_option
@with_grid
def import_(grid: Grid, paths: tuple[Path, ...], form: str, supersede: bool) -> None:
    """Record labels from files, each of them whole or not at all.

    A long table has the columns `pair` (or `hs` and `cn`), `annotator`, `label` and, if known, `seconds`, `time`,
    `note`. Rows without a label are left out.

    \b
    Example:
      fcpair labels import labels.csv
      fcpair labels import sheets/*.csv
      fcpair labels import bronze_partition_df.csv --format fc-conan
    """

    def record(path: Path) -> RunRecord:
        with status_spinner(f"recording {path}"):
            if form == "fc-conan":
                return grid.import_published(path)
            return grid.import_labels(path, supersede=supersede)

    for_each_file(paths, record)


@labels.command()
@click.argument("run", type=int)
@with_grid
def withdraw(grid: Grid, run: int) -> None:
    """Take a file back that was imported by mistake, as a whole.

    RUN is the number that the import printed; `fcpair log` has it too. Its labels stay on record as withdrawn, and
    their pairs wait again, so that the right file can be imported. Simulated labels can be taken back in the same way.

    \b
    Example:
      fcpair labels withdraw 7
    """
    print_run(grid.withdraw_labels(run))


@labels.command()
@click.option("--out", required=True, type=click.Path(path_type=Path), help="A .csv, .jsonl or .parquet file.")
@with_grid
def export(grid: Grid, out: Path) -> None:
    """Write every annotator's current answer, with its origin.

    \b
    Example:
      fcpair labels export --out labels.csv
    """
    from fcpair.files.tables.tabular import write_table

    rows = grid.labels()
    if rows.empty:
        raise StageError("there are no labels yet; run `fcpair labels import` or `fcpair simulate`")
    write_table(rows, out)
    warn_of_simulated(grid)
    print_raw(f"{out}: {len(rows):,} answers")
