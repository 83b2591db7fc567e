"""simulate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.options import recipe_params, with_grid
from fcpair.cli.output import print_run, status_spinner
from fcpair.cli.warnings import warn_of_simulated
from fcpair.params import Simulate

if TYPE_CHECKING:
    from fcpair.grid import Grid


@click.command()
@recipe_params(Simulate)
@with_grid
def simulate(grid: Grid, said: dict[str, Any]) -> None:
    """Let simulated people answer what is open.

    This is for planning or demonstrating a study; every figure that rests on it says so. Those below the pass mark of a
    qualification wait until `fcpair people let-on` lets them begin.

    \b
    Example:
      fcpair simulate --accuracy 0.9 --not-sure 0.05 --seed 13
    """
    with status_spinner("simulating"):
        run = grid.simulate(grid.recipe_options(Simulate, **said))
    print_run(run)
    warn_of_simulated(grid)
