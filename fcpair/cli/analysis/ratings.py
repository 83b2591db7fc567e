"""ratings, correlate: averages of ratings, and measures of texts beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fcpair.cli.options import PATH, format_option, option, resamples_option, shared_option
from fcpair.cli.output import Table, figure_row, figure_table, footnotes, print_message, remarks
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
@option("--criterion", metavar="COLUMN", help="The column of the criteria, if one column has all ratings.")
@shared_option("--source", metavar="COLUMN", detail="Without it, all are from one source.")
@shared_option("--rater", metavar="COLUMN", default="by")
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
    rows = [
        {"source": one.source, "criterion": one.criterion, **figure_row(figure)}
        for one in averages
        for figure in (*one.raters, one.mean)
    ]
    texts.emit(form, _tables(averages, n), rows, ratings=[asdict(one) for one in averages])


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


@click.command()
@with_texts
@option(
    "--score",
    "measure",
    required=True,
    metavar="COLUMN",
    help="The column with a number for each text, to correlate with the ratings.",
)
@shared_option("--rating", required=True, metavar="COLUMN", detail="Empty where a rater gave none.")
@shared_option("--text", metavar="COLUMN", detail="Without it, each row is a text of its own.")
@shared_option("--rater", metavar="COLUMN", detail="Without it, one person rated all.")
@shared_option("--by", metavar="COLUMN", detail="Each group, such as a type, has correlations, too.")
@option(
    "--population", type=PATH, metavar="FILE", help="A table with the measure of all texts that could have been rated."
)
@resamples_option
@format_option
def correlate(
    texts: Texts,
    measure: str,
    rating: str,
    text: str | None,
    rater: str | None,
    by: str | None,
    population: Path | None,
    resamples: int,
    seed: int,
    form: str,
) -> None:
    """Correlate a measure of texts with ratings.

    FILE has a row for each text and rater. A text's rating is the mean of its raters'; intervals are for new texts and
    the mean of as many new raters. A warning is printed if the texts seem to be picked by the extremes of the
    measure, which inflates correlations.

    \b
    Example:
      fcpair correlate rated.csv --score bleurt --rating rating --text id --rater rater
      fcpair correlate rated.csv --score bleurt --rating rating --by type --population all.csv
    """
    from fcpair.texts.correlate import correlate as correlations
    from fcpair.texts.ratings import read_population, read_rated_texts

    rated = read_rated_texts(texts.frame, texts.place, measure, rating, text=text, rater=rater, by=by)
    population_values = read_population(population, measure, text, by, rated.kind) if population else None
    results = correlations(rated, population_values, resamples, seed)
    tables = []
    for result in results:
        heading = "" if result.of is None else f"{by}: {result.of or '(nothing)'}\n"
        raters = f"{result.n_raters:,} rater{'s' * (result.n_raters != 1)}"
        counts = f"{measure} and mean {rating}: {result.n:,} texts, {result.n_ratings:,} ratings by {raters}"
        tables.append(figure_table(heading + counts, result.figures))
    rows = [
        {"of": result.of, **figure_row(figure), "warning": result.picked.warning}
        for result in results
        for figure in result.figures
    ]
    texts.emit(form, tables, rows, correlated=[asdict(result) for result in results])
    for result in results:
        if result.picked.warning:
            print_message(f"Warning: {'' if result.of is None else f'{by} {result.of}: '}{result.picked.warning}.")
