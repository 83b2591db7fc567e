"""ratings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from fcpair.cli.figures import figure_row, footnotes, remarks
from fcpair.cli.meanings import shared_option
from fcpair.cli.options import format_option, resamples_option
from fcpair.cli.output import Table, emit
from fcpair.cli.table import Cell
from fcpair.cli.texts import Texts, with_texts

if TYPE_CHECKING:
    from fcpair.texts.ratings import SourceRatings

COLUMNS = ("source", "rater", "texts", "mean", "low", "high")


@click.command()
@with_texts
@shared_option(
    "--rating",
    "columns",
    multiple=True,
    required=True,
    metavar="COLUMN",
    detail="If repeated, each column is a criterion.",
)
@click.option("--criterion", metavar="COLUMN", help="The column of the criteria, if one column has all ratings.")
@shared_option("--source", metavar="COLUMN", detail="Without it, all are from one source.")
@shared_option("--rater", metavar="COLUMN", default="by", show_default=True)
@shared_option("--text", metavar="COLUMN", detail="Without it, each row is a text of its own.")
@resamples_option
@format_option
def ratings(
    texts: Texts,
    columns: tuple[str, ...],
    criterion: str | None,
    source: str | None,
    rater: str,
    text: str | None,
    resamples: int,
    seed: int,
    form: str,
) -> None:
    """Average ratings by source, criterion and rater.

    Without FILE, it reads the answers of a round. The mean of a source is the mean of its raters' means; intervals are
    for new texts, rated by the same people.

    \b
    Example:
      fcpair ratings rated.csv --rating fluency --rating tone --source model --rater rater --text id
      fcpair ratings --grid rate --rating rating --criterion column --text row_number
    """
    from fcpair.texts.ratings import average_ratings, read_ratings

    rating_rows = read_ratings(
        texts.frame, texts.place, columns, source=source, rater=rater, text=text, criterion=criterion
    )
    averages = average_ratings(rating_rows, resamples, seed)
    n = f"{len(rating_rows):,} ratings by {rating_rows['rater'].nunique():,} raters"
    data = {
        "place": texts.place,
        "part": texts.part,
        "simulated": texts.simulated,
        "ratings": [one.as_dict() for one in averages],
    }
    rows = [row for one in averages for row in _rows(one)]
    emit(form, data=data, tables=_tables(averages, n), rows=rows, simulated=texts.simulated)


def _tables(averages: Sequence[SourceRatings], n: str) -> list[Table]:
    """A table with a row for each source and rater of a criterion, criterion by criterion."""
    tables: list[Table] = []
    for criterion in dict.fromkeys(item.criterion for item in averages):
        of_criterion = [item for item in averages if item.criterion == criterion]
        figures = [(item.source, figure) for item in of_criterion for figure in (*item.raters, item.mean)]
        first = 0 if any(source for source, _ in figures) else 1  # without sources there is no column of them
        rows = [(source, item.name, item.n, item.value, item.low, item.high)[first:] for source, item in figures]
        notes = footnotes({f"{source} {item.name}".strip(): remarks(item) for source, item in figures})
        title = f"{criterion}: {n}" if not tables else criterion
        tables.append(Table(title, COLUMNS[first:], rows, notes))
    return tables


def _rows(source_ratings: SourceRatings) -> list[dict[str, Cell]]:
    return [
        {"source": source_ratings.source, "criterion": source_ratings.criterion, **figure_row(figure)}
        for figure in (*source_ratings.raters, source_ratings.mean)
    ]
