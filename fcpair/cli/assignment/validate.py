"""validate assign, sheets, import, withdraw."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.answers.old_sheets import warn_of_old_sheets
from fcpair.cli.meanings import shared_option
from fcpair.cli.old_spellings import with_old_values
from fcpair.cli.options import recipe_params, redo_option, sheet_option, supersede_option, with_grid
from fcpair.cli.output import for_each_file, print_run, status_spinner
from fcpair.cli.receipts import print_receipt
from fcpair.files.answers.sheets import SHEET_FORMATS, SheetFormat
from fcpair.params import Validate

if TYPE_CHECKING:
    from fcpair.grid import Grid


@click.group()
def validate() -> None:
    """Check labels: assign, sheets, import, withdraw.

    \b
    Example:
      fcpair validate assign --validators 4 --pairs 4000 --seed 13
    """


@validate.command()
@recipe_params(Validate)
@redo_option
@shared_option("--more", is_flag=True, detail="Pairs without a verdict are added.")
@with_grid
def assign(grid: Grid, said: dict[str, Any], redo: bool, more: bool) -> None:
    """Assign adjudicated pairs to validators who took no part in them.

    \b
    Example:
      fcpair validate assign --validators 4 --pairs 4000 --seed 13
    """
    with status_spinner("assigning pairs"):
        options = grid.recipe_options(Validate, more=more, **said)
        run = grid.assign_validation(options, redo=redo, more=more)
    print_run(run)


@with_old_values("--sheet-format", csv="csv", xlsx="xlsx")
@validate.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@shared_option(
    "--sheet-format",
    "form",
    type=click.Choice(SHEET_FORMATS),
    default="csv",
    show_default=True,
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
    rows_by_person = grid.write_validation_sheets(folder, form)
    for name, rows in rows_by_person.items():
        path = f"{folder / name}.{form}"
        print_receipt(f"{path}: {rows:,} pairs", {"file": path, "person": name, "pairs": rows})
    warn_of_old_sheets(grid.old_sheets(folder, checks=True), rows_by_person, "validate")


@validate.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
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


@validate.command()
@click.argument("run", type=int)
@with_grid
def withdraw(grid: Grid, run: int) -> None:
    """Withdraw all verdicts of a file that was imported by mistake.

    RUN is the number that the import printed; `fcpair log` has it too. Its verdicts stay on record as withdrawn, and
    their pairs are open again.

    \b
    Example:
      fcpair validate withdraw 12
    """
    print_run(grid.withdraw_verdicts(run))
