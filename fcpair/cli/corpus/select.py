"""select."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.old_spellings import with_old_spellings
from fcpair.cli.options import recipe_params, redo_option, sheet_option, with_grid
from fcpair.cli.output import print_run
from fcpair.params import Select

if TYPE_CHECKING:
    from fcpair.grid import Grid


@with_old_spellings(list="--hs-list")
@click.command()
@recipe_params(Select)
@redo_option
@sheet_option
@with_grid
def select(grid: Grid, said: dict[str, Any], redo: bool) -> None:
    """Choose the HS, by seed or from a file.

    \b
    Example:
      fcpair select --hs 45 --seed 13
      fcpair select --hs-list hs45.csv
    """
    print_run(grid.select(grid.recipe_options(Select, **said), redo=redo))
