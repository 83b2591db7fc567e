"""evaluate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from fcpair.cli.options import (
    FOLDER,
    PATH,
    FigureFolder,
    effective_params,
    figures_option,
    format_option,
    option,
    shared_option,
    with_grid,
)
from fcpair.cli.output import Table, emit, note_writing, print_message, print_note, print_rows, progress
from fcpair.cli.terminal import Cell
from fcpair.evaluate.outcome import ALPHA, AVERAGE, group_by_system
from fcpair.params import Evaluate, Partition
from fcpair.report.figures.evaluation_figures import significance_cautions

if TYPE_CHECKING:
    from fcpair.evaluate.outcome import Concordance, Outcome, Score, Spread
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


@click.command()
@with_grid
@effective_params(Evaluate)
@effective_params(Partition, "rules")
@option("--runs", type=FOLDER, help="A folder to write TREC runs to.")
@figures_option
@option(
    "--unjudged",
    type=PATH,
    help="A .csv, .jsonl or .parquet file for pairs that measures read and nobody was given, those first that narrow "
    "the bounds most; `fcpair assign --cells` takes it.",
)
@shared_option("--dry-run", is_flag=True, detail="It counts what a service would be asked.")
@format_option
def evaluate(
    grid: Grid,
    rules: Partition,
    options: Evaluate,
    runs: Path | None,
    figures: FigureFolder | None,
    unjudged: Path | None,
    dry_run: bool,
    form: str,
) -> None:
    """Rank by systems, and score them on tiers.

    A system ranks the CNs of the pool for each HS; a CN is right if the tier labels the pair appropriate.
    Systems: random, tfidf, bm25, sbert:NAME, cross:NAME, embed:MODEL, llm:MODEL, rerank(...), run:FILE.
    `--ids` is about runs that are read and written, and a pool that lists ids; run:FILE(ids=study) is about one run.

    \b
    Example:
      fcpair evaluate --system sbert:all-MiniLM-L6-v2 --system "bm25(k1=1.2)" --system random
      fcpair evaluate --system run:mine.trec --pool positive --tier gold --format json
    """
    from fcpair.evaluate.catalogue import check_cutoff

    if click.get_current_context().get_parameter_source("cutoff") is ParameterSource.COMMANDLINE:
        check_cutoff(options)
    if dry_run:
        costs: list[dict[str, Cell]] = [
            {"system": name, "requests": cost.requests, "cached": cost.cached, "tokens": cost.tokens}
            for name, cost in grid.tiers(rules).costs(options)
        ]
        notes = [
            "requests: all that are needed; cached: those already answered.",
            "tokens: what the model reads for the others; an estimate, four characters each.",
        ]
        print_rows(form, "What a service would be asked", costs, [*costs[0]], notes)
        return
    note_writing()
    with progress("evaluating", at_once=True) as report:
        folder, style = figures or (None, None)
        outcome = grid.tiers(rules).evaluate(
            options, runs=runs, figures=folder, figure_style=style, unjudged=unjudged, progress=report
        )
    cautions = [*significance_cautions(outcome)]
    data = {**outcome.as_data(), "diamond": rules.diamond, "cautions": cautions}
    emit(form, data, _tables(outcome), [*outcome.rows()], simulated=outcome.simulated, sampled=outcome.sampled)
    print_note(*grid.desk.basis_notes)
    if runs is not None:
        print_message(f"{runs}: {grid.desk.describe_ids(options.ids)}")
    for system in outcome.systems:
        for note in system.notes:
            print_message(f"{system.short}: {note}")
    for caution in cautions:
        print_message(f"Warning: {caution}.")


def _tables(outcome: Outcome) -> Iterator[Table]:
    for tier in outcome.tiers:
        scores = [score for score in outcome.scores if score.tier == tier.tier]
        treatment = "each scores 0" if outcome.no_positives == "zero" else "left out"
        basis = (
            f"{tier.tier} ({tier.rule}): {tier.hs:,} HS x {tier.pool:,} CNs of the pool `{outcome.pool}`",
            f"{tier.judged:,} of {tier.cells:,} pairs judged, {tier.positive:,} of them appropriate",
            f"{tier.outside:,} judged pairs outside the pool",
            f"{tier.without_positives:,} HS without an appropriate CN ({treatment})",
        )
        notes = _undefined_notes(scores)
        if tier is outcome.tiers[-1]:
            notes += [f"{outcome.gains}."] if outcome.gains else []
            notes += [line.format(interval=outcome.interval, resamples=outcome.resamples) for line in KEY]
        groups = [(name, [*map(_score_row, own)]) for name, own in group_by_system(scores)]
        yield Table("; ".join(basis), SCORE_COLUMNS, _under_heads(groups), notes)
    if outcome.spreads:
        groups = [(name, [*map(_spread_row, own)]) for name, own in group_by_system(outcome.spreads)]
        title = f"Over {len(outcome.tiers)} tiers: mean, minimum, maximum, population coefficient of variation"
        yield Table(title, SPREAD_COLUMNS, _under_heads(groups), _undefined_notes(outcome.spreads))
    if outcome.comparisons:
        yield _comparison_table(outcome)
    if len(outcome.systems) > 1 and len(outcome.tiers) > 1:
        cells = {(item.one, item.other, item.measure): item for item in outcome.concordances}
        pairs = list(dict.fromkeys((item.one, item.other) for item in outcome.concordances))
        title = f"Kendall's tau between the rankings of {len(outcome.systems)} systems on two tiers"
        # The measures in groups that fit beside each other, at least one in each.
        shown: list[list[str]] = [[]]
        for name in dict.fromkeys(item.measure for item in outcome.concordances):
            if shown[-1] and sum(len(measure) + BETWEEN for measure in [*shown[-1], name]) > ROOM:
                shown.append([])
            shown[-1].append(name)
        for shown_now in filter(None, shown):
            taus = [
                [f"{item}, {other}", *(_decimals(cells[item, other, name].tau, 2) for name in shown_now)]
                for item, other in pairs
            ]
            notes = _undefined_notes(item for item in outcome.concordances if item.measure in shown_now)
            yield Table(title, ("tiers", *shown_now), taus, notes)


def _undefined_notes(figures: Iterable[Score | Spread | Concordance]) -> list[str]:
    reasons = dict.fromkeys(figure.undefined for figure in figures if figure.undefined)
    return [f"undefined, because {reason}." for reason in reasons]


def _under_heads(groups: Iterable[tuple[str, Sequence[Sequence[Cell]]]]) -> list[Sequence[Cell]]:
    """The rows of each group, which has some, under its name."""
    return [row for name, rows in groups for row in ([name, *[""] * (len(rows[0]) - 1)], *rows)]


def _score_row(of: Score) -> list[Cell]:
    score, left_out, right = map(_decimals, (of.score, of.left_out, of.right))
    interval, bounds = _format_range(of.low, of.high), _format_range(of.lowest, of.highest)
    return [f"  {of.measure}", score, interval, left_out, right, bounds]


def _spread_row(of: Spread) -> list[Cell]:
    cv = "-" if of.cv is None else f"{of.cv:.{3 if of.measure == AVERAGE else 1}f}"
    return [f"  {of.measure}", *map(_decimals, (of.mean, of.minimum, of.maximum)), cv]


def _decimals(value: float | None, places: int = 4) -> str:
    return "-" if value is None else f"{value:z.{places}f}"


def _format_range(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:z.3f}–{high:z.3f}"


def _comparison_table(outcome: Outcome) -> Table:
    """Every two systems with a significant difference: of twelve systems all tests would be more than a thousand."""
    shown = {
        (test.one, test.other, test.measure, test.tier): f"{test.difference:+z.4f}{'*' if test.is_significant else ' '}"
        for test in outcome.comparisons
    }
    tiers, measures = ([*dict.fromkeys(key[at] for key in shown)] for at in (3, 2))
    differing = {(test.one, test.other) for test in outcome.comparisons if test.is_significant}
    groups = []
    for one, other in dict.fromkeys(key[:2] for key in shown):
        own = [[f"  {name}", *(shown[one, other, name, tier] for tier in tiers)] for name in measures]
        groups += [(f"{one} less {other}", own)] * ((one, other) in differing)
    n_found = sum(test.is_significant for test in outcome.comparisons)
    title = f"Differences between two systems; * p < {ALPHA}: {n_found:,} of {len(outcome.comparisons):,} tests"
    family = "one pair of systems" if outcome.n_pairs == 1 else f"all {outcome.n_pairs:,} pairs of systems"
    notes = [
        f"paired randomisation tests, corrected after Holm, for each tier and measure apart, over {family}.",
        "systems without any * between them are left out; --format json has every p.",
    ]
    return Table(title, ("systems, measure", *tiers), _under_heads(groups), notes)
