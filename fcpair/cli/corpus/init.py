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
    """Create a new, empty study.

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
    """Upgrade a study of an older fcpair.

    A backup of the study before the upgrade is kept: beside its file, or for a database in the working folder.

    \b
    Example:
      fcpair upgrade --study study.db
    """
    from fcpair.study import Study, display_name

    backup = Study.upgrade(study)
    name = display_name(study)
    state = "up to date already" if backup is None else f"upgraded; a backup from before is {backup}"
    print_receipt(f"{name}: {state}", {"study": str(name), "backup": None if backup is None else str(backup)})
