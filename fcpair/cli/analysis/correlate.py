"""correlate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fcpair.cli.figures import figure_row, figure_table
from fcpair.cli.meanings import shared_option
from fcpair.cli.old_spellings import with_old_spellings
from fcpair.cli.options import format_option, resamples_option
from fcpair.cli.output import Table, emit, print_message
from fcpair.cli.table import Cell
from fcpair.cli.texts import Texts, with_texts

if TYPE_CHECKING:
    from fcpair.texts.correlate import CorrelationFigures


@with_old_spellings(measure="--score")
@click.command()
@with_texts
@click.option(
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
@click.option(
    "--population",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A table with the measure of all texts that could have been rated.",
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
    from fcpair.texts.rating_table import read_population, read_rated_texts

    rated = read_rated_texts(texts.frame, texts.place, measure, rating, text=text, rater=rater, by=by)
    population_values = read_population(population, measure, text, by, rated.kind) if population else None
    results = correlations(rated, population_values, resamples, seed)
    tables = [_table(result, measure, rating, by) for result in results]
    data = {
        "place": texts.place,
        "part": texts.part,
        "simulated": texts.simulated,
        "correlated": [result.as_dict() for result in results],
    }
    rows = [row for result in results for row in _rows(result)]
    emit(form, data=data, tables=tables, rows=rows, simulated=texts.simulated)
    for result in results:
        if result.picked.warning:
            print_message(f"Warning: {'' if result.of is None else f'{by} {result.of}: '}{result.picked.warning}.")


def _table(correlated: CorrelationFigures, measure: str, rating: str, by: str | None) -> Table:
    heading = "" if correlated.of is None else f"{by}: {correlated.of or '(nothing)'}\n"
    raters = f"{correlated.n_raters:,} rater{'s' * (correlated.n_raters != 1)}"
    counts = f"{measure} and mean {rating}: {correlated.n:,} texts, {correlated.n_ratings:,} ratings by {raters}"
    return figure_table(heading + counts, correlated.figures)


def _rows(correlated: CorrelationFigures) -> list[dict[str, Cell]]:
    return [
        {"of": correlated.of, **figure_row(figure), "warning": correlated.picked.warning}
        for figure in correlated.figures
    ]
