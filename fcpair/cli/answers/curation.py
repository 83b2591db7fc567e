"""curation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fcpair.cli.figures import footnotes, remarks
from fcpair.cli.options import format_option, round_option, with_grid
from fcpair.cli.output import Table, emit, status_spinner
from fcpair.cli.table import Cell
from fcpair.round_options import ROW

if TYPE_CHECKING:
    from fcpair.grid import Curation, Grid
    from fcpair.stages.answers.curation import CurationSummary

COUNTS = ("source", "n", "accepted", "edited", "rejected")
MEANS = ("words_changed", "characters_changed")


@click.command()
@round_option
@format_option
@with_grid
def curation(grid: Grid, name: str | None, form: str) -> None:
    """Count accepted, edited and rejected texts.

    For a round that edits or curates: how many answers did which, by the person or model that wrote the text, and in
    all; and how many words and characters were changed in edited texts on average.

    \b
    Example:
      fcpair curation --grid replies
      fcpair curation --grid replies --round curate --format csv
    """
    with status_spinner("comparing texts"):
        measured = grid.curation(name)
    simulated = grid.simulated_note
    data = measured.as_dict() | {"simulated": simulated}
    all_curated = (*measured.sources, measured.all)
    emit(
        form,
        data=data,
        tables=_tables(measured, all_curated),
        rows=[_row(one) for one in all_curated],
        simulated=simulated,
    )


def _tables(measured: Curation, all_curated: tuple[CurationSummary, ...]) -> list[Table]:
    subject = "the rows" if measured.edits == ROW else f"the texts of round {measured.edits}"
    title = f"Round {measured.round}: what was done with {subject}"
    notes = ["words and characters changed: the mean of the edited ones"]
    notes += footnotes({curated.source: remarks(curated.words_changed) for curated in all_curated})
    if measured.lost:
        notes.append(f"{measured.lost:,} more answers are about a text that was empty, or was withdrawn since")
    rows = [[*_counts(curated), *_means(curated)] for curated in all_curated]
    tables = [Table(title, [name.replace("_", " ") for name in (*COUNTS, *MEANS)], rows, notes)]
    if measured.all.rejected:
        rejected = [(curated.source, reason, n) for curated in all_curated for reason, n in curated.reasons.items()]
        tables.append(Table("Why texts were rejected", ("source", "reason", "n"), rejected))
    return tables


def _row(curated: CurationSummary) -> dict[str, Cell]:
    reasons = {f"rejected: {reason}": n for reason, n in curated.reasons.items()}
    return {
        **dict(zip(COUNTS, _counts(curated), strict=True)),
        **reasons,
        **dict(zip(MEANS, _means(curated), strict=True)),
    }


def _counts(curated: CurationSummary) -> list[Cell]:
    return [curated.source, curated.n, curated.accepted, curated.edited, curated.rejected]


def _means(curated: CurationSummary) -> list[Cell]:
    return [curated.words_changed.value, curated.characters_changed.value]
