"""calibrate start, discuss, close, show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.figures import footnotes
from fcpair.cli.meanings import shared_option
from fcpair.cli.options import as_click_type, format_option, recipe_params, with_grid
from fcpair.cli.output import Table, emit, print_run, status_spinner
from fcpair.param_values import N_PEOPLE
from fcpair.params import ANNOTATORS_HELP, Calibration

if TYPE_CHECKING:
    from fcpair.cli.table import Cell
    from fcpair.examination_records import CalibrationResult
    from fcpair.grid import Grid

PERSON_COLUMNS = ("name", "answered", "open", "again", "again open")
early_option = click.option("--early", is_flag=True, help="Go on without the answers that are still open.")


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


@calibrate.command()
@recipe_params(Calibration, without=("round",))
@shared_option(
    "--round", "round_", metavar="NAME", detail="People calibrate themselves for it. By default the one that counts."
)
@click.option(
    "--annotators", type=as_click_type(int, N_PEOPLE), help=f"{ANNOTATORS_HELP[0].upper()}{ANNOTATORS_HELP[1:]}."
)
@with_grid
def start(grid: Grid, said: dict[str, Any], round_: str | None, annotators: int | None) -> None:
    """Draw a batch, and assign it to everybody, before the pairs are assigned.

    \b
    Example:
      fcpair calibrate start --pairs 20 --annotators 3 --seed 13
      fcpair calibrate start --grid rate --pairs 10 --counts second
    """
    chosen = said | ({"round": round_} if round_ else {})
    print_run(grid.start_calibration(grid.recipe_options(Calibration, **chosen), annotators=annotators))


@calibrate.command()
@early_option
@with_grid
def discuss(grid: Grid, early: bool) -> None:
    """Open the discussion: who differed sees all answers, and answers again.

    The first answers stand from then on. Answers are shown without names, and only on pairs that a person has answered.

    \b
    Example:
      fcpair calibrate discuss
    """
    print_run(grid.open_discussion(early=early))


@calibrate.command()
@early_option
@with_grid
def close(grid: Grid, early: bool) -> None:
    """End the calibration, so that the pairs can be assigned.

    \b
    Example:
      fcpair calibrate close
    """
    print_run(grid.close_calibration(early=early))


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
        result = grid.measure_calibration()
    emit(form, data=result.as_dict(), tables=_tables(result), rows=list(result.rows()), simulated=grid.calibration_note)


def _tables(result: CalibrationResult) -> list[Table]:
    after = "" if result.n_differing_after is None else f", after the discussion on {result.n_differing_after:,}"
    title = (
        f"Calibration of round {result.round}: {result.n_pairs:,} pairs, {result.phase}; counts: {result.counts}\n"
        f"people differ on {result.n_differing:,}{after}"
    )
    people = [list(vars(one).values()) for one in result.people]
    tables = [Table(title, PERSON_COLUMNS, people)]
    parts = dict.fromkeys(change.part for change in result.figures)
    for part in parts:
        rows: list[list[Cell]] = [
            [row["figure"], *_figure_cells(row, "before"), *_figure_cells(row, "after")]
            for row in result.rows()
            if row["part"] == part
        ]
        of_part = f" on {part}" if len(parts) > 1 else ""
        interval = f"{100 * result.level:g} % interval"
        tables.append(
            Table(
                f"Agreement{of_part} before and after the discussion, over all pairs of the batch",
                ("figure", "before", interval, "n", "after", f"{interval} ", "n "),
                rows,
                footnotes(_reasons(result, part)),
            )
        )
    return tables


def _reasons(result: CalibrationResult, part: str) -> dict[str, str]:
    """Why figures on a part are undefined, by the figure."""
    rows = (row for row in result.rows() if row["part"] == part and row["undefined"])
    return {row["figure"]: f"undefined, because {row['undefined']}" for row in rows}


def _figure_cells(row: dict[str, Any], when: str) -> list[Cell]:
    """The value of a figure, its interval, and how many it rests on."""
    low, high = row[f"{when}_low"], row[f"{when}_high"]
    return [row[when], None if low is None else f"{low:.3f} to {high:.3f}", row[f"{when}_n"]]
