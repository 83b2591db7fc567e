"""labels sheets, import, withdraw, export."""

from __future__ import annotations

import click

from fcpair.cli.answers.round_files import add_round_files


@click.group()
def labels() -> None:
    """Labels of annotators: sheets, import, withdraw, export.

    They are the answers of the round that counts: `fcpair answers` does the same for any round.

    \b
    Example:
      fcpair labels sheets sheets/
      fcpair labels import sheets/a1.csv
    """


add_round_files(labels)
