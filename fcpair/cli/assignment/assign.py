"""assign, calibrate show, validate sheets and import, and acts of calibrate and validate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.acts import add_acts
from fcpair.cli.options import (
    FILE,
    FOLDER,
    PATH,
    format_option,
    option,
    recipe_params,
    redo_option,
    shared_option,
    sheet_option,
    supersede_option,
    with_grid,
)
from fcpair.cli.output import Table, emit, footnotes, for_each_file, print_run, status_spinner
from fcpair.files.answers.sheets import SHEET_FORMATS, SheetFormat
from fcpair.params import Assign

if TYPE_CHECKING:
    from fcpair.cli.terminal import Cell
    from fcpair.grid import Grid


@click.command()
@recipe_params(Assign)
@redo_option
@shared_option(
    "--more",
    is_flag=True,
    detail="Assign what is not yet assigned, raise the overlap to `--overlap`, and give late joiners their share.",
)
@option(
    "--pairs-file",
    type=FILE,
    help="With `--more`: ask for one label more of each pair whose number is in the column `pair` of this table.",
)
@option(
    "--close", is_flag=True, help="End open assignment: remove what nobody has; what people hold stays theirs for good."
)
@shared_option("--round", "round_", metavar="NAME", detail="In a planned grid, it is assigned by its own options.")
@with_grid
def assign(
    grid: Grid, said: dict[str, Any], redo: bool, more: bool, close: bool, round_: str | None, pairs_file: Path | None
) -> None:
    """Assign the pairs to annotators.

    `--overlap` gives some pairs to two or more annotators. `--more` adds to what is assigned: answers and open work
    stay, but people who joined since take over an even share of what is open. With `--open`, nobody has a shard: people
    who ask in the browser are given the next pairs that they may have, and what they leave goes to others after
    `--lease-minutes`. In a planned grid, `--round` is assigned to those who answer it, as its plan says.

    \b
    Example:
      fcpair assign --annotators 9 --overlap 2:0.126 --overlap 3:0.05 --seed 13
      fcpair assign --more --overlap 2:0.3
      fcpair assign --more --pairs-file pairs.csv
      fcpair assign --open --overlap 2:0.126
      fcpair assign --grid rate --round rate
    """
    if more and redo:
        raise click.UsageError("give either --more or --redo, not both")
    if round_ is not None and (more or said):
        raise click.UsageError("a round is assigned as planned; with --round, give only --redo or nothing")
    if pairs_file and (not more or said):
        raise click.UsageError("give --pairs-file with --more alone")
    if close and (more or redo or round_ is not None or said):
        raise click.UsageError("give --close alone")
    from fcpair.files.answers.answer_files import read_pair_numbers

    with status_spinner("assigning pairs"):
        if close:
            run = grid.desk.close_open_assignment()
        elif round_:
            run = grid.assign_round(round_, redo=redo)
        else:
            pairs = read_pair_numbers(pairs_file) if pairs_file else None
            run = grid.assign(grid.recipe_options(Assign, more=more, **said), redo=redo, more=more, pairs=pairs)
    print_run(run)


CALIBRATED = ("name", "answered", "open", "again", "again open")


@click.group()
def calibrate() -> None:
    """A first batch that everybody answers, discusses, and answers again.

    \b
    Example:
      fcpair calibrate start --pairs 20 --annotators 3
      fcpair calibrate discuss
      fcpair calibrate close
      fcpair calibrate show
    """


add_acts(calibrate)


@calibrate.command()
@format_option
@with_grid
def show(grid: Grid, form: str) -> None:
    """Show who has answered, and agreement before and after the discussion.

    \b
    Example:
      fcpair calibrate show
      fcpair calibrate show --format json
    """
    with status_spinner("measuring agreement"):
        result, simulated = grid.calibration.measure(), grid.calibration.simulated_note
    after = "" if result.n_differing_after is None else f", after the discussion on {result.n_differing_after:,}"
    title = (
        f"Calibration of round {result.round}: {result.n_pairs:,} pairs, {result.phase}; counts: {result.counts}\n"
        f"people differ on {result.n_differing:,}{after}"
    )
    tables = [Table(title, CALIBRATED, [[*vars(one).values()] for one in result.people])]
    interval = f"{100 * result.level:g} % interval"
    columns = ("figure", "before", interval, "n", "after", f"{interval} ", "n ")
    parts = dict.fromkeys(change.part for change in result.figures)
    for part in parts:
        rows = [row for row in result.rows() if row["part"] == part]
        notes = {row["figure"]: f"undefined, because {row['undefined']}" for row in rows if row["undefined"]}
        of_part = f" on {part}" if len(parts) > 1 else ""
        title = f"Agreement{of_part} before and after the discussion, over all pairs of the batch"
        cells = [[row["figure"], *_figure_cells(row, "before"), *_figure_cells(row, "after")] for row in rows]
        tables.append(Table(title, columns, cells, footnotes(notes)))
    emit(form, result, tables, simulated=simulated)


def _figure_cells(row: dict[str, Any], when: str) -> list[Cell]:
    """The value of a figure, its interval, and how many it rests on."""
    low, high = row[f"{when}_low"], row[f"{when}_high"]
    return [row[when], None if low is None else f"{low:.3f} to {high:.3f}", row[f"{when}_n"]]


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
