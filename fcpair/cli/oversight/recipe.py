"""recipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fcpair.cli.options import with_study
from fcpair.cli.terminal import print_machine

if TYPE_CHECKING:
    from fcpair.study import Study


@click.command()
@with_study
def recipe(study: Study) -> None:
    """Print the recipe that the study has come to.

    It is the recipe that the study was walked by first, with all that was done otherwise since, on a page or by a
    command. `fcpair run` walks what is printed, and changes nothing that is done. Of a study that was made without a
    recipe, it is what the study's settings amount to.

    \b
    Example:
      fcpair recipe
    """
    print_machine(study.recipe_text(), end="")
