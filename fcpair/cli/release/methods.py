"""methods."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from fcpair.cli.meanings import shared_option
from fcpair.cli.options import with_study
from fcpair.cli.output import print_message
from fcpair.cli.receipts import print_receipt
from fcpair.cli.terminal import print_machine
from fcpair.params import MethodsFormat

if TYPE_CHECKING:
    from fcpair.study import Study


@click.command()
@click.option(
    "--markup",
    "form",
    type=click.Choice(get_args(MethodsFormat)),
    default="markdown",
    show_default=True,
    help="The markup of the text.",
)
@shared_option("--out", type=click.Path(path_type=Path, file_okay=False), detail="Output folder (default: print).")
@with_study
def methods(study: Study, form: MethodsFormat, out: Path | None) -> None:
    """Write the methods section of a paper from the log.

    It says what was drawn, retrieved, assigned, labelled, agreed, adjudicated, validated and graded, with each number
    of the log, and cites the source of each statistic. With `--out`, the folder gets the text and `methods.bib`. What
    the log lacks, or has from before the newest answers, is said on standard error.

    \b
    Example:
      fcpair methods
      fcpair methods --markup latex --out paper/
    """
    section = study.methods()
    for note in section.notes:
        print_message(f"Note: {note}.")
    if out is None:
        text = section.text(form)
        receipt = {"markup": form, "text": text, "references": section.bib, "notes": list(section.notes)}
        print_receipt(text, receipt, partial(print_machine, end=""))
        return
    for path in section.write(out, form):
        print_receipt(f"methods: {path}", {"path": str(path)})
