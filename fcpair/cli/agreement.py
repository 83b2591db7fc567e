"""agreement, ranking, aggregate: figures of answers as they were given, and of what models make of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fcpair.cli import output
from fcpair.cli.given_options import take_effect
from fcpair.cli.options import (
    PATH,
    FigureFolder,
    effective_params,
    figures_option,
    format_option,
    look_at_grid,
    option,
    params,
    round_option,
    seed_option,
    shared_option,
    with_grid,
    write_figures,
)
from fcpair.cli.output import tabular
from fcpair.cli.terminal import Cell
from fcpair.params import Agree, Rank
from fcpair.records import Figure
from fcpair.stages.adjudication.aggregate import DAWID_SKENE, LABEL_MODELS, MACE, USUAL_MODELS

if TYPE_CHECKING:
    from fcpair.grid import Grid
    from fcpair.stages.adjudication.aggregate import Aggregation
    from fcpair.stages.stats.agreement import Agreement, AgreementBlock
    from fcpair.stages.stats.ranking import Ranking

SUBSET_COLUMNS = ("annotators", "n", "raw", "kappa", "se", "low", "high")


@click.command()
@shared_option("--round", "name", metavar="NAME", detail="Each part of its form has figures.")
@with_grid
@effective_params(Agree)
@format_option
def agreement(grid: Grid, name: str | None, options: Agree, form: str) -> None:
    """Measure how far annotators agree.

    It prints raw agreement, Fleiss' kappa, Krippendorff's alpha and Gwet's AC1, then Cohen's kappa of every two
    annotators, all on the labels as they were given, before adjudication. Intervals come from leaving out one HS and
    one CN at a time, and one annotator if they are to generalise to new annotators too; an undefined figure is shown
    with the reason.

    \b
    Example:
      fcpair agreement --weights linear --indefinite drop
      fcpair agreement --intervals annotators
      fcpair agreement --grid rate --blocks column
      fcpair agreement --grid rate --weights quadratic --bin 1-2 --bin 2.5-3.5 --bin 4-5
      fcpair agreement --grid write --round write
      fcpair agreement --format json
    """
    named, name = name, name or grid.desk.round_of_blocks(options)
    with output.status_spinner("measuring agreement"):
        blocks = grid.agreement(options, round=name) if name else ()
        measured = None if name else grid.agreement(options)
    data = measured.as_dict() if measured else {"round": name, "blocks": [block.as_dict() for block in blocks]}
    shown = [(_tables(measured), _rows(measured))] if measured else [*map(_show_block, blocks)]
    tables, rows = [table for part, _ in shown for table in part], [row for _, part in shown for row in part]
    output.emit(form, data, tables, rows, simulated=grid.desk.simulated_note, sampled=grid.sample_size)
    cautions = [*measured.cautions] if measured else []
    for block in blocks:
        cautions += [f"{_name(block)}: {caution}" for caution in (block.agreement.cautions if block.agreement else ())]
    for caution in cautions if form == "table" else ():
        output.print_message(f"Warning: {caution}.")
    output.print_note(*grid.desk.block_notes)
    if named is None and not options.blocks:
        output.print_note(*output.other_options_notes(grid, options))


def _name(block: AgreementBlock) -> str:
    return ": ".join(filter(None, [block.part, block.of]))


def _tables(measured: Agreement, heading: str = "") -> list[output.Table]:
    options = measured.options
    basis = (
        f"Agreement: {measured.n_labels:,} labels on {measured.n_pairs:,} pairs, {measured.n_overlapped:,} with two or "
        f"more\nclasses {', '.join(measured.classes)} · weights {options.weights} · not sure: {options.indefinite}\n"
        f"{100 * options.level:g} % intervals for {measured.interval_scope}"
    )
    tables = [output.figure_table(heading + basis, (*measured.pooled, *measured.summary))]
    # Every two annotators on the classes of the question, and, if there are any, on bins.
    on_bins = [(f" on bins {', '.join(measured.bins)}, unweighted,", measured.on_bins)] if measured.bins else []
    for on, subsets in (("", measured.subsets), *on_bins):
        title = f"Cohen's kappa{on} of every two annotators; intervals for {measured.sides.new_texts}, the same two"
        rows = [
            (names, of.n, of.raw_agreement, of.kappa.value, of.kappa_se, *of.kappa.ends)
            for names, of in ((" and ".join(subset.annotators), subset) for subset in subsets)
        ]
        notes = output.footnotes({" and ".join(subset.annotators): output.remarks(subset.kappa) for subset in subsets})
        tables.append(output.Table(title, SUBSET_COLUMNS, rows, notes))
    return tables


def _rows(measured: Agreement) -> list[dict[str, Cell]]:
    figures = [output.figure_row(figure) for figure in (*measured.pooled, *measured.summary)]
    figures += [
        output.figure_row(subset.kappa) | {"figure": f"{subset.kappa.name}, {' and '.join(subset.annotators)}"}
        for subset in (*measured.subsets, *measured.on_bins)
    ]
    return [{**row, "cautions": "; ".join(measured.cautions)} for row in figures]


def _show_block(block: AgreementBlock) -> tuple[list[output.Table], list[dict[str, Cell]]]:
    """The tables of a block, under its name, and its rows; that of every two annotators only if there are two."""
    if block.agreement:
        tables, rows = _tables(block.agreement, f"{_name(block)}\n"), _rows(block.agreement)
        tables = tables if block.agreement.subsets else tables[:1]
    else:
        undefined = Figure("agreement", None, 0, undefined=block.undefined)
        tables = [
            output.table_of(
                _name(block), [output.figure_row(undefined)], output.FIGURE_COLUMNS[:-1], [output.remarks(undefined)]
            )
        ]
        rows = [{**output.figure_row(undefined), "cautions": ""}]
    return tables, [{"part": block.part, "of": block.of, **row} for row in rows]


SIZES = ("block", "added", "hs", "cn", "pairs", "labelled", "overlapped", "decided")
FIGURES = ("block", "agreement", "alpha", "low", "high", "positive")
DIFFERENCES = ("block", "side", "figure", "new", "old", "p", "p_holm")


@click.command()
@look_at_grid
@format_option
def blocks(grid: Grid, form: str) -> None:
    """Show the blocks of a grid that was extended, and whether they differ.

    A block is what the grid was made with, or what one `fcpair extend` added. New texts of a side are compared with
    those that were there, on the same texts of the other side; p is of texts put into the block otherwise.

    \b
    Example:
      fcpair blocks
      fcpair blocks --format json
    """
    with output.status_spinner("comparing blocks"):
        measured = grid.blocks()
    rows = [asdict(block) for block in measured.blocks]
    tested = [asdict(difference) for difference in measured.differences]
    why = {f"{row['side']}, {row['figure']}": row["undefined"] for row in tested if row["undefined"]}
    notes = output.footnotes({name: f"undefined, because {reason}" for name, reason in why.items()})
    tables = [
        output.table_of("Blocks: the texts that each brought, and its pairs", rows, SIZES),
        output.table_of(
            "Figures of each block",
            rows,
            FIGURES,
            [
                "agreement: raw, of pairs with two labels or more; alpha: Krippendorff's, with its interval",
                "positive: of the decided pairs, the share with a positive label",
            ],
        ),
        output.table_of("New texts and those that were there", tested, DIFFERENCES, notes),
    ]
    data = {"blocks": rows, "differences": tested, "verdict": measured.verdict}
    output.emit(form, data, tables if tested else tables[:2], rows, simulated=grid.desk.simulated_note)
    output.print_note(*grid.desk.block_notes)


RANKS = ("rank", "text", "n", "wins", "of", "score", "low", "high")
ENDS = ("score", "low", "high")
TEXT_WIDTH = 22


@click.command()
@round_option
@with_grid
@params(Rank)
@figures_option
@format_option
def ranking(grid: Grid, name: str | None, options: Rank, figures: FigureFolder | None, form: str) -> None:
    """Rank texts that were compared, row by row.

    Scores of a grid whose columns `compare` texts are after Bradley and Terry, in log-odds, 0 the mean of the row, and
    have intervals. Then it prints how far people agree on each two texts of a comparison, and how often what one person
    says of three texts is an order. An undefined figure is shown with the reason.

    \b
    Example:
      fcpair ranking --grid rank
      fcpair ranking --grid rank --prior 0 --tie left-out --format csv
    """
    with output.status_spinner("ranking"):
        ranked = grid.ranking(options, round=name)
    simulated = grid.desk.simulated_note
    if figures is not None:
        write_figures(figures, output.plots.of_ranking(ranked, simulated))
    output.emit(form, ranked, [*_ranking_tables(ranked)], simulated=simulated)


def _ranking_tables(ranked: Ranking) -> Iterator[output.Table]:
    counts = f"{ranked.n_answers:,} answers by {ranked.n_people:,} people to {ranked.n_comparisons:,} comparisons"
    for row, texts in groupby(ranked.rows(), key=itemgetter("row")):
        rows, notes, title = list[Sequence[Cell]](), dict[str, None](), ""
        for item in texts:
            title = f"Row {row}: {_shorten(item['row_text'])}"
            figures = (item["n"], f"{item['wins']:g}", item["n_pairs"], *(item[end] for end in ENDS))
            rows.append([item["rank"], _shorten(item["text"]), *figures])
            if item["undefined"]:
                notes[f"undefined, because {item['undefined']}"] = None
        yield output.Table(title, RANKS, rows, [*notes])
    pooled = ranked.agreement.pooled if ranked.agreement else ()
    lacking = [] if pooled else ["no two people have answered the same comparison, so there is no agreement"]
    table = output.figure_table(f"{counts}; agreement on each two texts of one", (*pooled, ranked.transitive))
    yield replace(table, notes=[*table.notes, *lacking, *ranked.methods])


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TEXT_WIDTH else f"{line[: TEXT_WIDTH - 1]}…"


CHECKS = ("model", "against", "n", "right", "low", "high", "tied pairs")


@click.command()
@take_effect("--seed", only_with=f"--label-model {MACE}")
@option(
    "--label-model",
    "models",
    multiple=True,
    metavar="NAME",
    help=f"A label model: {', '.join(LABEL_MODELS)}; the last two need the extra `models`. May be repeated.  "
    f"[default: {', '.join(USUAL_MODELS)}]",
)
@round_option
@shared_option("--out", type=PATH, detail="The probabilities of each pair: a .csv, .jsonl or .parquet file.")
@seed_option
@with_grid
@format_option
def aggregate(grid: Grid, models: tuple[str, ...], name: str | None, out: Path | None, seed: int, form: str) -> None:
    """Compare label models with what people have decided.

    A label model estimates from all definite labels how probable each class of a pair is, and how far each annotator is
    right. It decides nothing, and no tier rests on it. Printed are how often each model says what people have decided,
    what each person answers on pairs of each class, and the pairs in most doubt; JSON and `--out` have all pairs. A
    tie is reported as a tie. The seed is that of MACE.

    \b
    Example:
      fcpair aggregate
      fcpair aggregate --label-model majority --label-model dawid-skene --out probabilities.csv
      fcpair aggregate --grid rate --round rate --format json
    """
    if out is not None:
        tabular.check_suffix(out)
    with output.status_spinner("fitting label models"):
        aggregation = grid.aggregate(models, round=name, seed=seed)
    rows, sampled = [*_figure_rows(aggregation)], grid.sample_size
    output.emit(
        form, aggregation, _model_tables(aggregation), rows, simulated=grid.desk.simulated_note, sampled=sampled
    )
    for caution in aggregation.cautions if form != "json" else ():
        output.print_message(f"Warning: {caution}.")
    if out is not None:
        tabular.write_table(aggregation.to_frame(), out)
        output.print_message(f"{out}: {aggregation.n_pairs:,} pairs.")


def _model_tables(aggregation: Aggregation) -> Iterator[output.Table]:
    left_out = f", {aggregation.n_left_out:,} pairs have no definite label" if aggregation.n_left_out else ""
    title = (
        f"Label models: {aggregation.n_labels:,} definite labels by {aggregation.n_people:,} people on "
        f"{aggregation.n_pairs:,} pairs, {aggregation.n_single:,} with one label{left_out}"
    )
    checks: list[list[Cell]] = []
    notes: dict[str, str] = {}
    for model in aggregation.models:
        name = f"{model.model}, {model.steps:,} steps" if model.steps else model.model
        for figure in model.checks:
            checks.append([name, figure.name, figure.n, figure.value, figure.low, figure.high, model.n_tied])
            notes[f"{model.model}, {figure.name}"] = output.remarks(figure)
        if not model.checks:  # a round on which no decision rests
            checks.append([name, "", *[None] * 4, model.n_tied])
    notes_below = [*output.footnotes(notes), "people decide the pairs on which labels differ, which are the hardest"]
    yield output.Table(title, CHECKS, checks, notes_below)
    for model in aggregation.models:
        rows: list[list[Cell]] = [
            [person.person, true, f"{sum(expected):.1f}", *(shares or [None] * len(model.classes))]
            for person in model.people
            for true, expected, shares in zip(model.classes, person.expected, person.shares, strict=True)
        ]
        few = dict.fromkeys(str(row["note"]) for row in model.person_rows() if row["note"])
        title = f"{model.model}: share of each label by class, on pairs that somebody else labelled too"
        columns = ("person", "true class", "labels", *(f"says {name}" for name in model.classes))
        yield output.Table(title, columns, rows, list(few))
    shown = next((model for model in aggregation.models if model.model == DAWID_SKENE), aggregation.models[-1])
    doubts: list[list[Cell]] = [
        [row["pair"], row["n_labels"], row["label"] or f"tie: {row['tied']}", row["doubt"]]
        + [row[f"p_{name}"] for name in shown.classes]
        for row in sorted(shown.rows(), key=lambda row: (-row["doubt"], row["pair"]))[:10]
    ]
    columns = ("pair", "labels", "class", "doubt", *(f"p {name}" for name in shown.classes))
    title = f"{shown.model}: the pairs in most doubt"
    yield output.Table(title, columns, doubts, n=len(shown.pairs), all_rows="`--out` has all")


def _figure_rows(aggregation: Aggregation) -> Iterator[dict[str, Cell]]:
    """Rows of a CSV: what each model is right on, then the shares of each person's labels, each with what is behind."""
    empty: dict[str, Cell] = dict.fromkeys(("person", "true", "label"), "")
    cautions = {"cautions": "; ".join(aggregation.cautions)}
    for model in aggregation.models:
        for row in model.check_rows():
            note = f"undefined, because {row['undefined']}" if row["undefined"] else row["note"]
            figure = {name: row[name] for name in ("n", "value", "low", "high")}
            yield {"model": model.model, "against": row["against"], **empty, **figure, "note": note, **cautions}
        for row in model.person_rows():
            figure = {"n": row["n"], "value": row["share"], "low": None, "high": None, "note": row["note"]}
            yield {"model": model.model, "against": "", **{name: row[name] for name in empty}, **figure, **cautions}
