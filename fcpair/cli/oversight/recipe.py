"""recipe."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import click

from fcpair.cli.machine_output import print_json
from fcpair.cli.meanings import shared_option
from fcpair.cli.options import with_study
from fcpair.cli.receipts import collect_receipts
from fcpair.cli.terminal import print_machine

if TYPE_CHECKING:
    from fcpair.study import Study


@click.command()
@shared_option(
    "--format",
    "form",
    type=click.Choice(["toml", "json"]),
    default="toml",
    show_default=True,
    callback=collect_receipts,
)
@with_study
def recipe(study: Study, form: str) -> None:
    """Print the current recipe of the study.

    It is the recipe that was run first, with all that was changed since, on a page or by a command. `fcpair run` runs
    what is printed, and changes nothing that is done. For a study that was made without a recipe, it is made from the
    study's settings.

    \b
    Example:
      fcpair recipe
    """
    text = study.recipe_text()
    if form == "json":
        print_json(tomllib.loads(text))
    else:
        print_machine(text, end="")
