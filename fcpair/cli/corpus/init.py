"""init, upgrade."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.options import params, study_option
from fcpair.cli.receipts import print_receipt
from fcpair.params import Setup

if TYPE_CHECKING:
    from fcpair.study import Place


@click.command()
@params(Setup, without=("scheme",))
@study_option
def init(study: Place, options: dict[str, Any]) -> None:
    """Make a new, empty study.

    A label scheme of your own comes from a recipe: see `fcpair run`.

    \b
    Example:
      fcpair init --title "Cyclists and night owls" --guidelines guidelines.md
    """
    from fcpair.study import Study

    made = Study.create(study, Setup(**options))
    made.close()
    print_receipt(f"{made.place}: a new study", {"study": str(made.place), "made": True})


@click.command()
@study_option
def upgrade(study: Place) -> None:
    """Bring a study of an older fcpair up to date.

    A backup of the study as it was is kept: beside its file, or, of a database, in the working folder.

    \b
    Example:
      fcpair upgrade --study study.db
    """
    from fcpair.study import Study, display_name

    backup = Study.upgrade(study)
    name = display_name(study)
    state = "up to date already" if backup is None else f"upgraded; as it was, it is in {backup}"
    print_receipt(f"{name}: {state}", {"study": str(name), "backup": None if backup is None else str(backup)})
