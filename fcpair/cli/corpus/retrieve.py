"""retrieve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.old_spellings import with_old_spellings
from fcpair.cli.options import recipe_params, redo_option, sheet_option, with_grid
from fcpair.cli.output import print_run, progress
from fcpair.params import Retrieve

if TYPE_CHECKING:
    from fcpair.grid import Grid


@with_old_spellings(list="--cn-list")
@click.command()
@recipe_params(Retrieve)
@redo_option
@sheet_option
@with_grid
def retrieve(grid: Grid, said: dict[str, Any], redo: bool) -> None:
    """Retrieve candidate CNs.

    They are the CNs nearest to those that the corpus pairs with the selected HS, those of a list, those at the top of
    TREC runs, or all that the corpus has.

    \b
    Example:
      fcpair retrieve --k 2 --count-duplicates
      fcpair retrieve --backend onnx --dask local:4
      fcpair retrieve --cn-list candidates.csv
      fcpair retrieve --run bm25.trec --run dense.trec --depth 20
    """
    with progress("retrieving") as report:
        run = grid.retrieve(grid.recipe_options(Retrieve, **said), redo=redo, progress=report)
    print_run(run)
