"""run RECIPE."""

from __future__ import annotations

from pathlib import Path

import click

from fcpair.cli.options import study_option
from fcpair.cli.output import done, progress
from fcpair.cli.work import warn_of_simulated


@click.command()
@click.argument("recipe", type=click.Path(path_type=Path))
@study_option
def run(study: Path, recipe: Path) -> None:
    """Walk a recipe as far as it goes.

    It starts at the first stage that is not done and ends where people have to answer. The study is
    made if it is not there. Call it again when labels or verdicts have come in.

    \b
    Example:
      fcpair run examples/recipe.toml --study demo.db
    """
    from fcpair.recipe import load_recipe
    from fcpair.study import Study

    read = load_recipe(recipe)
    opened = Study.open(study) if study.exists() else Study.create(study, read.setup)
    with progress("encoding") as report:
        for step in opened.walk(read, progress=report):
            done(step)
    click.echo(f"next: {opened.status()['next']}")
    warn_of_simulated(opened)
