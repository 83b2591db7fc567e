"""evaluate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from fcpair.cli.figure_files import FigureFolder, figures_option
from fcpair.cli.meanings import shared_option
from fcpair.cli.old_spellings import with_old_spellings
from fcpair.cli.options import effective_params, format_option, with_grid
from fcpair.cli.output import Table, emit, print_message, progress
from fcpair.cli.reading import note_writing
from fcpair.cli.table import Cell, format_cell
from fcpair.cli.warnings import warn_of_changes
from fcpair.evaluate.outcome import ALPHA, group_by_system
from fcpair.evaluate.summary import AVERAGE
from fcpair.params import Evaluate, Partition
from fcpair.report.figures.captions import significance_cautions

if TYPE_CHECKING:
    from fcpair.evaluate.outcome import Comparison, Outcome, Score, Spread, TierFacts
    from fcpair.evaluate.ranking import Cost
    from fcpair.grid import Grid

SCORE_COLUMNS = ("system, measure", "score", "interval", "left out", "right", "bounds")
SPREAD_COLUMNS = ("system, measure", "mean", "min", "max", "CV %")
ROOM, BETWEEN = 58, 3  # characters for all columns but the first on a terminal of 80, and between two of them
KEY = (
    "score: unjudged pairs count as not appropriate.",
    "interval: of the score, 95 %, {interval} ({resamples:,} resamples).",
    "left out: unjudged pairs are removed from the ranking.",
    "right: unjudged pairs count as appropriate.",
    "bounds: the least and the greatest score that their labels could give.",
)


@with_old_spellings(k="--cutoff")
@click.command()
@with_grid
@effective_params(Evaluate)
@effective_params(Partition, "rules")
@click.option("--runs", type=click.Path(path_type=Path, file_okay=False), help="A folder to write TREC runs to.")
@figures_option
@shared_option("--dry-run", is_flag=True, detail="It counts what a service would be asked.")
@format_option
def evaluate(
    grid: Grid,
    rules: Partition,
    options: Evaluate,
    runs: Path | None,
    figures: FigureFolder | None,
    dry_run: bool,
    form: str,
) -> None:
    """Rank by systems, and score them on tiers.

    A system ranks the CNs of the pool for each HS; a CN is right if the tier labels the pair appropriate.
    Systems: random, tfidf, bm25, sbert:NAME, cross:NAME, embed:MODEL, llm:MODEL, rerank(...), run:FILE.
    A run has the corpus's own ids if there are any, or the study's numbers as run:FILE(ids=study).

    \b
    Example:
      fcpair evaluate --system sbert:all-MiniLM-L6-v2 --system "bm25(k1=1.2)" --system random
      fcpair evaluate --system run:mine.trec --pool positive --tier gold --format json
    """
    from fcpair.evaluate.catalogue import check_cutoff

    if click.get_current_context().get_parameter_source("k") is ParameterSource.COMMANDLINE:
        check_cutoff(options)
    if dry_run:
        _print_costs(grid.evaluation_costs(options, rules), form)
        return
    note_writing()
    with progress("evaluating", at_once=True) as report:
        folder, style = (figures.path, figures.style) if figures else (None, None)
        outcome = grid.evaluate(options, rules, runs=runs, figures=folder, figure_style=style, progress=report)
    data = {**outcome.as_data(), "diamond": rules.diamond, "cautions": [*significance_cautions(outcome)]}
    rows = [asdict(score) for score in outcome.scores]
    emit(
        form, data=data, tables=list(_tables(outcome)), rows=rows, simulated=outcome.simulated, sampled=outcome.sampled
    )
    warn_of_changes(grid)
    for system in outcome.systems:
        for note in system.notes:
            print_message(f"{system.short}: {note}")
    for caution in significance_cautions(outcome):
        print_message(f"Warning: {caution}.")


def _print_costs(costs: list[tuple[str, Cost]], form: str) -> None:
    rows: list[dict[str, Cell]] = [
        {"system": name, "requests": cost.requests, "cached": cost.cached, "tokens": cost.tokens}
        for name, cost in costs
    ]
    notes = [
        "requests: all that are needed; cached: those already answered.",
        "tokens: what the model reads for the others; an estimate, four characters each.",
    ]
    table = Table("What a service would be asked", list(rows[0]), [list(row.values()) for row in rows], notes)
    emit(form, data=rows, tables=[table], rows=rows)


def _tables(outcome: Outcome) -> Iterator[Table]:
    for tier in outcome.tiers:
        scores = [score for score in outcome.scores if score.tier == tier.tier]
        yield Table(_describe_basis(tier, outcome), SCORE_COLUMNS, list(_score_rows(scores)), _notes(scores, outcome))
    if outcome.spreads:
        yield _spread_table(outcome)
    if outcome.comparisons:
        yield _comparison_table(outcome)
    if len(outcome.systems) > 1 and len(outcome.tiers) > 1:
        yield from _concordance_tables(outcome)


def _describe_basis(tier: TierFacts, outcome: Outcome) -> str:
    treatment = "each scores 0" if outcome.no_positives == "zero" else "left out"
    parts = (
        f"{tier.tier} ({tier.rule}): {tier.hs:,} HS x {tier.pool:,} CNs of the pool `{outcome.pool}`",
        f"{tier.judged:,} of {tier.cells:,} pairs judged, {tier.positive:,} of them appropriate",
        f"{tier.outside:,} judged pairs outside the pool",
        f"{tier.without_positives:,} HS without an appropriate CN ({treatment})",
    )
    return "; ".join(parts)


def _score_rows(scores: list[Score]) -> Iterator[list[Cell]]:
    for name, own in group_by_system(scores):
        yield [name, *[""] * (len(SCORE_COLUMNS) - 1)]
        for score in own:
            interval, bounds = _format_range(score.low, score.high), _format_range(score.lowest, score.highest)
            yield [
                f"  {score.measure}",
                *_four_decimals(score.score),
                interval,
                *_four_decimals(score.left_out, score.right),
                bounds,
            ]


def _four_decimals(*values: float | None) -> list[str]:
    return ["-" if value is None else f"{value:z.4f}" for value in values]


def _format_range(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:z.3f}–{high:z.3f}"


def _notes(scores: list[Score], outcome: Outcome) -> list[str]:
    undefined = dict.fromkeys(score.undefined for score in scores if score.undefined)
    if scores[0].tier != outcome.tiers[-1].tier:
        return [f"undefined, because {why}." for why in undefined]
    return [
        *(f"undefined, because {why}." for why in undefined),
        *([f"{outcome.gains}."] if outcome.gains else []),
        *(line.format(interval=outcome.interval, resamples=outcome.resamples) for line in KEY),
    ]


def _spread_table(outcome: Outcome) -> Table:
    rows: list[list[Cell]] = []
    for name, own in group_by_system(outcome.spreads):
        rows.append([name, *[""] * (len(SPREAD_COLUMNS) - 1)])
        rows += [
            [f"  {row.measure}", *_four_decimals(row.mean, row.minimum, row.maximum), _format_variation(row)]
            for row in own
        ]
    title = f"Over {len(outcome.tiers)} tiers: mean, minimum, maximum, population coefficient of variation"
    why = dict.fromkeys(row.undefined for row in outcome.spreads if row.undefined)
    return Table(title, SPREAD_COLUMNS, rows, [f"undefined, because {reason}." for reason in why])


def _format_variation(row: Spread) -> str:
    return "-" if row.cv is None else f"{row.cv:.{3 if row.measure == AVERAGE else 1}f}"


def _comparison_table(outcome: Outcome) -> Table:
    """Every two systems with a significant difference: of twelve systems all tests would be more than a thousand."""
    rows: list[list[Cell]] = []
    tests = {(test.one, test.other, test.measure, test.tier): test for test in outcome.comparisons}
    tiers, measures = ([*dict.fromkeys(key[at] for key in tests)] for at in (3, 2))
    for system, other in dict.fromkeys((key[0], key[1]) for key in tests):
        if any(test.is_significant for key, test in tests.items() if key[:2] == (system, other)):
            rows.append([f"{system} less {other}", *[""] * len(tiers)])
            rows += [
                [f"  {name}", *(_format_difference(tests[system, other, name, tier]) for tier in tiers)]
                for name in measures
            ]
    n_found = sum(test.is_significant for test in outcome.comparisons)
    title = f"Differences between two systems; * p < {ALPHA}: {n_found:,} of {len(outcome.comparisons):,} tests"
    family = "one pair of systems" if outcome.n_pairs == 1 else f"all {outcome.n_pairs:,} pairs of systems"
    notes = [
        f"paired randomisation tests, corrected after Holm, for each tier and measure apart, over {family}.",
        "systems without any * between them are left out; --format json has every p.",
    ]
    return Table(title, ("systems, measure", *tiers), rows, notes)


def _format_difference(test: Comparison) -> str:
    return f"{test.difference:+z.4f}{'*' if test.is_significant else ' '}"


def _concordance_tables(outcome: Outcome) -> Iterator[Table]:
    """As many tables as it takes to keep the names of the measures in one line each."""
    measures = list(dict.fromkeys(item.measure for item in outcome.concordances))
    cells = {(item.one, item.other, item.measure): item for item in outcome.concordances}
    pairs = list(dict.fromkeys((item.one, item.other) for item in outcome.concordances))
    title = f"Kendall's tau between the rankings of {len(outcome.systems)} systems on two tiers"
    for shown_now in _column_groups(measures):
        rows: list[list[Cell]] = [
            [f"{item}, {other}", *(_two_decimals(cells[item, other, name].tau) for name in shown_now)]
            for item, other in pairs
        ]
        why = dict.fromkeys(
            item.undefined for item in outcome.concordances if item.measure in shown_now and item.undefined
        )
        yield Table(title, ("tiers", *shown_now), rows, [f"undefined, because {reason}." for reason in why])


def _column_groups(names: list[str]) -> Iterator[list[str]]:
    """The names in groups that fit beside each other, at least one in each."""
    group: list[str] = []
    for name in names:
        if group and sum(len(one) + BETWEEN for one in [*group, name]) > ROOM:
            yield group
            group = []
        group.append(name)
    yield group


def _two_decimals(value: float | None) -> str:
    return format_cell(None) if value is None else f"{value:z.2f}"
