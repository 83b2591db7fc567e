"""generate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fcpair.cli.options import with_grid
from fcpair.cli.output import done, progress

if TYPE_CHECKING:
    from fcpair.grid import Grid


@click.command()
@click.option("--round", "name", required=True, help="The round that they answer.")
@with_grid
def generate(grid: Grid, name: str) -> None:
    """Ask the models of a round for their answers.

    Models of a service are asked over the network, at OPENAI_BASE_URL; replies are kept, so that what broke off goes on
    where it was. A reply that cannot be taken is a skip, and its note says why.

    \b
    Example:
      fcpair generate --grid replies --round propose
    """
    with progress("asking") as report:
        run = grid.generate(name, progress=report)
    done(run)
