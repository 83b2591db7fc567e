"""people qualify, controls, qualified, let-on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.options import format_option, recipe_params, with_grid
from fcpair.cli.output import emit, print_run
from fcpair.cli.people.known_scores import COLUMNS, score_table
from fcpair.errors import StageError
from fcpair.known_pairs import Controls, Qualification

if TYPE_CHECKING:
    from fcpair.grid import Grid

file_argument = click.argument("file", type=click.Path(path_type=Path, dir_okay=False))


@click.command()
@file_argument
@recipe_params(Qualification, without=("file",))
@with_grid
def qualify(grid: Grid, said: dict[str, Any], file: Path) -> None:
    """Set known pairs that everybody answers before their shard.

    The table has the columns `row`, `column`, `answer` and `explanation`, with texts of the grid or their ids. Set it
    before `fcpair assign`, which gives each person known pairs that are not in their shard. Below the pass mark people
    wait until you decide.

    \b
    Example:
      fcpair people qualify known.csv --pass-mark 0.75 --known-pairs 40
    """
    print_run(grid.save_qualification(grid.recipe_options(Qualification, file=file, **said)))


@click.command()
@file_argument
@recipe_params(Controls, without=("file",))
@with_grid
def controls(grid: Grid, said: dict[str, Any], file: Path) -> None:
    """Set known pairs that `fcpair assign` puts among those of each shard.

    The table is as for `fcpair people qualify`, but explanations may be missing. Nobody can tell a control pair, and
    none counts for a tier or a figure.

    \b
    Example:
      fcpair people controls controls.csv --rate 0.05
    """
    print_run(grid.save_controls(grid.recipe_options(Controls, file=file, **said)))


@click.command()
@with_grid
@format_option
def qualified(grid: Grid, form: str) -> None:
    """Show everybody's right answers to known pairs, and who waits for you.

    \b
    Example:
      fcpair people qualified
    """
    rows = grid.known_scores()
    if not rows:
        raise StageError("nobody has known pairs; `fcpair people qualify FILE` sets some before `fcpair assign`")
    emit(form, data=rows, tables=[score_table(rows, COLUMNS)], rows=rows)


@click.command("let-on")
@click.argument("name")
@with_grid
def let_on(grid: Grid, name: str) -> None:
    """Let somebody begin their shard who is below the pass mark.

    \b
    Example:
      fcpair people let-on ben
    """
    print_run(grid.let_on(name))
