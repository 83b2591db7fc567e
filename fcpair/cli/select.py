"""select."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fcpair.cli.options import params, redo_option, with_study
from fcpair.cli.output import done
from fcpair.params import Select

if TYPE_CHECKING:
    from fcpair.study import Study


@click.command()
@params(Select)
@redo_option
@with_study
def select(study: Study, options: Select, redo: bool) -> None:
    """Choose the HS, by seed or from a file.

    \b
    Example:
      fcpair select --hs 45 --seed 13
      fcpair select --list hs45.csv
    """
    done(study.select(options, redo=redo))
