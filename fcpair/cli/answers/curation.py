"""curation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fcpair.cli.figures import footnotes, remarks
from fcpair.cli.options import format_option, round_option, with_grid
from fcpair.cli.output import Table, emit, working
from fcpair.cli.table import Cell
from fcpair.round_options import ROW

if TYPE_CHECKING:
    from fcpair.grid import Curation, Grid
    from fcpair.stages.answers.curation import Curated

COUNTS = ("source", "n", "accepted", "edited", "rejected")
MEANS = ("words_changed", "characters_changed")


@click.command()
@round_option
@format_option
@with_grid
def curation(grid: Grid, name: str | None, form: str) -> None:
    """Count what was accepted, edited and rejected of given texts.

    Of a round that edits or curates: how many answers did which, by who or which model wrote the text, and over all;
    and how many words and characters were changed in the mean of those that were edited.

    \b
    Example:
      fcpair curation --grid replies
      fcpair curation --grid replies --round curate --format csv
    """
    with working("comparing texts"):
        found = grid.curation(name)
    simulated = grid.simulated
    data = found.as_dict() | {"simulated": simulated}
    every = (*found.sources, found.all)
    emit(form, data=data, tables=_tables(found, every), rows=[_row(one) for one in every], simulated=simulated)


def _tables(found: Curation, every: tuple[Curated, ...]) -> list[Table]:
    given = "the rows" if found.edits == ROW else f"the texts of round {found.edits}"
    title = f"Round {found.round}: what was done with {given}"
    notes = ["words and characters changed: the mean of the edited ones"]
    notes += footnotes({one.source: remarks(one.words_changed) for one in every})
    if found.lost:
        notes.append(f"{found.lost:,} more answers are about a text that was empty, or has been taken back since")
    rows = [[*_counts(one), *_means(one)] for one in every]
    tables = [Table(title, [name.replace("_", " ") for name in (*COUNTS, *MEANS)], rows, notes)]
    if found.all.rejected:
        rejected = [(one.source, reason, n) for one in every for reason, n in one.reasons.items()]
        tables.append(Table("Why texts were rejected", ("source", "reason", "n"), rejected))
    return tables


def _row(one: Curated) -> dict[str, Cell]:
    reasons = {f"rejected: {reason}": n for reason, n in one.reasons.items()}
    return {**dict(zip(COUNTS, _counts(one), strict=True)), **reasons, **dict(zip(MEANS, _means(one), strict=True))}


def _counts(one: Curated) -> list[Cell]:
    return [one.source, one.n, one.accepted, one.edited, one.rejected]


def _means(one: Curated) -> list[Cell]:
    return [one.words_changed.value, one.characters_changed.value]
