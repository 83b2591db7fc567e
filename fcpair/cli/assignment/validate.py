"""validate sheets, import, and acts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fcpair.cli.acts import add_acts
from fcpair.cli.options import FOLDER, PATH, shared_option, sheet_option, supersede_option, with_grid
from fcpair.cli.output import for_each_file
from fcpair.files.answers.sheets import SHEET_FORMATS, SheetFormat

if TYPE_CHECKING:
    from fcpair.grid import Grid


@click.group()
def validate() -> None:
    """Check labels: assign, sheets, import, withdraw.

    \b
    Example:
      fcpair validate assign --validators 4 --pairs 4000 --seed 13
    """


add_acts(validate)


@validate.command()
@click.argument("folder", type=FOLDER)
@shared_option(
    "--sheet-format",
    "form",
    choices=SHEET_FORMATS,
    detail="A CSV, or an Excel workbook with the answers to choose from and the guidelines.",
)
@with_grid
def sheets(grid: Grid, folder: Path, form: SheetFormat) -> None:
    """Write each validator's open pairs as a sheet to fill in.

    The column `verdict` takes `agree`, `disagree` or `skip`; in a blind round `own_label` takes a label instead.
    A file with answers in it is never overwritten.

    \b
    Example:
      fcpair validate sheets verdicts/
      fcpair validate sheets verdicts/ --sheet-format xlsx
    """
    from fcpair.cli.answers.answers import report_sheets

    rows_by_person = grid.sheets.write_verdicts(folder, form)
    old = grid.sheets.old(folder, checks=True)
    report_sheets(folder, form, "pairs", rows_by_person, old, "fcpair validate import")


@validate.command("import")
@click.argument("paths", nargs=-1, required=True, type=PATH)
@supersede_option
@sheet_option
@with_grid
def import_(grid: Grid, paths: tuple[Path, ...], supersede: bool) -> None:
    """Record verdicts from files, each file whole or not at all.

    They have the columns `pair` (or `hs` and `cn`), `validator`, `verdict` and, if known, `seconds`, `time`, `note`.

    \b
    Example:
      fcpair validate import verdicts.csv
    """
    for_each_file(paths, lambda path: grid.import_verdicts(path, supersede=supersede))
