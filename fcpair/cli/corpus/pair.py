"""pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.options import recipe_params, redo_option, with_grid
from fcpair.cli.output import print_run, status_spinner
from fcpair.params import Pair

if TYPE_CHECKING:
    from fcpair.grid import Grid


@click.command()
@recipe_params(Pair)
@redo_option
@with_grid
def pair(grid: Grid, said: dict[str, Any], redo: bool) -> None:
    """Cross the HS with the candidates.

    Pairs that occur in the corpus are left out: only novel pairs are assigned, unless `--keep-known` is given.

    \b
    Example:
      fcpair pair --candidates 129 --seed 13
    """
    with status_spinner("making the grid"):
        run = grid.pair(grid.recipe_options(Pair, **said), redo=redo)
    print_run(run)
