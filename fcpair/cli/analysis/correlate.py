"""correlate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fcpair.cli.figures import figure_row, figure_table
from fcpair.cli.options import format_option, resamples_option
from fcpair.cli.output import Table, emit, say
from fcpair.cli.table import Cell
from fcpair.cli.texts import Texts, with_texts

if TYPE_CHECKING:
    from fcpair.texts.correlate import Correlated


@click.command()
@with_texts
@click.option("--measure", required=True, metavar="COLUMN", help="A number for each text: what is to be held against.")
@click.option("--rating", required=True, metavar="COLUMN", help="What a rater gave the text; empty where nothing.")
@click.option("--text", metavar="COLUMN", help="Which text a row is about; without it each row is a text of its own.")
@click.option("--rater", metavar="COLUMN", help="Who rated; without it one person did.")
@click.option("--by", metavar="COLUMN", help="Correlations for each value of this column as well, such as a type.")
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
    """Measure how a measure of texts goes with ratings.

    FILE has a row for each text and rater. A text's rating is the mean of its raters'; intervals are for new texts and
    the mean of as many new raters. A warning says where the texts look picked by the extremes of the measure, which
    inflates correlations.

    \b
    Example:
      fcpair correlate rated.csv --measure bleurt --rating rating --text id --rater rater
      fcpair correlate rated.csv --measure bleurt --rating rating --by type --population all.csv
    """
    from fcpair.texts.correlate import correlate as correlations
    from fcpair.texts.rating_table import read_population, read_rated

    given = read_rated(texts.frame, texts.place, measure, rating, text=text, rater=rater, by=by)
    known = read_population(population, measure, text, by, given.kind) if population else None
    found = correlations(given, known, resamples, seed)
    tables = [_table(one, measure, rating, by) for one in found]
    data = {
        "place": texts.place,
        "part": texts.part,
        "simulated": texts.simulated,
        "correlated": [one.as_dict() for one in found],
    }
    rows = [row for one in found for row in _rows(one)]
    emit(form, data=data, tables=tables, rows=rows, simulated=texts.simulated)
    for one in found:
        if one.picked.warning:
            say(f"Warning: {'' if one.of is None else f'{by} {one.of}: '}{one.picked.warning}.")


def _table(found: Correlated, measure: str, rating: str, by: str | None) -> Table:
    which = "" if found.of is None else f"{by}: {found.of or '(nothing)'}\n"
    raters = f"{found.n_raters:,} rater{'s' * (found.n_raters != 1)}"
    counts = f"{measure} and mean {rating}: {found.n:,} texts, {found.n_ratings:,} ratings by {raters}"
    return figure_table(which + counts, found.figures)


def _rows(found: Correlated) -> list[dict[str, Cell]]:
    return [{"of": found.of, **figure_row(figure), "warning": found.picked.warning} for figure in found.figures]
