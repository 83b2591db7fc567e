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
    help="The markup of the text (default: as the file of --out, or markdown).",
)
@shared_option(
    "--out", type=click.Path(path_type=Path), detail="A .md or .tex file, or an output folder (default: print)."
)
@click.option("--evaluation", type=int, metavar="RUN", help="The evaluation to describe, by its number in the log.")
@with_study
def methods(study: Study, form: MethodsFormat | None, out: Path | None, evaluation: int | None) -> None:
    """Write the methods section of a paper.

    It says what was drawn, retrieved, assigned, labelled, agreed, adjudicated, validated and graded, as it stands now,
    with the seeds and models of the log, and cites the source of each statistic. With `--out`, the references are
    written beside it, in a `.bib` file. Of several evaluations, the newest by the study's own rules of tiers is
    described; standard error says which, and whether answers are newer.

    \b
    Example:
      fcpair methods
      fcpair methods --out paper/methods.tex
      fcpair methods --evaluation 12
    """
    section = study.methods(evaluation=evaluation)
    for note in section.notes:
        print_message(f"Note: {note}.")
    if out is None:
        text = section.text(form or "markdown")
        receipt = {
            "markup": form or "markdown",
            "text": text,
            "references": section.bib,
            "notes": list(section.notes),
        }
        print_receipt(text, receipt, partial(print_machine, end=""))
        return
    for path in section.write(out, form):
        print_receipt(f"methods: {path}", {"path": str(path)})
