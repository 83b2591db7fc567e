"""simulate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fcpair.cli.notes import warn_of_simulated
from fcpair.cli.options import params, with_grid
from fcpair.cli.output import done, working
from fcpair.params import Simulate

if TYPE_CHECKING:
    from fcpair.grid import Grid


@click.command()
@params(Simulate)
@with_grid
def simulate(grid: Grid, options: Simulate) -> None:
    """Let simulated people answer what is open.

    This is for planning or demonstrating a study; every figure that rests on it says so.

    \b
    Example:
      fcpair simulate --accuracy 0.9 --not-sure 0.05 --seed 13
    """
    with working("simulating"):
        run = grid.simulate(options)
    done(run)
    warn_of_simulated(grid)
