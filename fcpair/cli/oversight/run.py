"""init, run RECIPE, recipe."""

from __future__ import annotations

import tomllib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fcpair.cli.options import PATH, close_at_end, params, shared_option, study_option, with_study
from fcpair.cli.output import (
    collect_receipts,
    print_json,
    print_message,
    print_note,
    print_receipt,
    print_run,
    progress,
    warn_of_changes,
    warn_of_simulated,
)
from fcpair.cli.terminal import STOPPED, print_machine, print_wrapped
from fcpair.errors import RecipeEndError
from fcpair.params import Setup

if TYPE_CHECKING:
    from fcpair.study import Place, Study


@click.command()
@params(Setup, without=("scheme",))
@study_option
def init(study: Place, options: Setup) -> None:
    """Create a new, empty study.

    A label scheme of your own comes from a recipe: see `fcpair run`.

    \b
    Example:
      fcpair init --title "Cyclists and night owls" --guidelines guidelines.md
    """
    from fcpair.study import Study

    made = Study.create(study, options)
    made.close()
    print_receipt(f"{made.place}: a new study", {"study": str(made.place), "made": True})


@click.command()
@click.argument("recipe", type=PATH)
@shared_option("--loosen", is_flag=True, detail="The recipe may do so.")
@study_option
def run(study: Place, recipe: Path, loosen: bool) -> None:
    """Run a recipe as far as it goes.

    It goes grid by grid, starts at the first stage that is not done, and ends where people have to answer, or where the
    recipe has no section for the next stage. The study is created if it does not exist; one whose first run fails is
    not kept. Run it again when labels or verdicts have come in. A study that differs from the recipe is refused with
    the differences.

    \b
    Example:
      fcpair run examples/recipe.toml --study demo.db
    """
    from fcpair.recipe import load_recipe
    from fcpair.study import Study

    loaded = load_recipe(recipe)
    first = not Study.exists(study)
    create_study = partial(Study.create, study, loaded.setup, grids=() if loaded.has_main else loaded.grids)
    opened = close_at_end(create_study() if first else Study(study))
    try:
        with progress("encoding") as report:
            for step in opened.walk(loaded, progress=report, loosen=loosen):
                print_run(step)
    except BrokenPipeError:
        raise  # nobody reads on, but what was done stands
    except RecipeEndError as end:
        print_note(end)
    except BaseException as error:
        if not first:
            raise
        opened.remove()
        print_message(f"{opened.place} was not kept, because its first run failed")
        if isinstance(error, KeyboardInterrupt):
            raise SystemExit(STOPPED) from None
        raise
    state = opened.status()
    lines = [f"next: {state['next']}", *(f"also: {step}" for step in state["also"])]
    print_receipt("\n".join(lines), {"next": state["next"], "also": state["also"]}, print_wrapped)
    first_grid = opened.grid(opened.grids[0])
    warn_of_simulated(first_grid)
    warn_of_changes(first_grid)


@click.command()
@shared_option("--format", "form", choices=("toml", "json"), callback=collect_receipts)
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
