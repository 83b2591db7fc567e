"""assign."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.meanings import shared_option
from fcpair.cli.old_spellings import with_old_spellings
from fcpair.cli.options import recipe_params, redo_option, with_grid
from fcpair.cli.output import print_run, status_spinner
from fcpair.params import Assign

if TYPE_CHECKING:
    from fcpair.grid import Grid


@with_old_spellings(group="--annotator-group")
@click.command()
@recipe_params(Assign)
@redo_option
@shared_option(
    "--more",
    is_flag=True,
    detail="Assign what is not yet assigned, raise the overlap to `--overlap`, and give late joiners their share.",
)
@click.option(
    "--pairs-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With `--more`: ask for one label more of each pair whose number is in the column `pair` of this table.",
)
@click.option(
    "--close",
    is_flag=True,
    help="End open assignment: remove what nobody has; what people hold stays theirs for good.",
)
@shared_option("--round", "round_", metavar="NAME", detail="In a planned grid, it is assigned by its own options.")
@with_grid
def assign(
    grid: Grid,
    said: dict[str, Any],
    redo: bool,
    more: bool,
    close: bool,
    round_: str | None,
    pairs_file: Path | None,
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
    from fcpair.files.answers.pair_files import read_pair_numbers

    with status_spinner("assigning pairs"):
        if close:
            run = grid.close_open_assignment()
        elif round_:
            run = grid.assign_round(round_, redo=redo)
        else:
            pairs = read_pair_numbers(pairs_file) if pairs_file else None
            run = grid.assign(grid.recipe_options(Assign, more=more, **said), redo=redo, more=more, pairs=pairs)
    print_run(run)
