"""agreement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from fcpair.cli.options import effective_params, format_option, shared_option, with_grid
from fcpair.cli.output import (
    FIGURE_COLUMNS,
    Table,
    emit,
    figure_row,
    figure_table,
    footnotes,
    other_options_notes,
    print_message,
    print_notes,
    remarks,
    status_spinner,
)
from fcpair.cli.table import Cell
from fcpair.params import Agree
from fcpair.records import Figure

if TYPE_CHECKING:
    from fcpair.grid import Grid
    from fcpair.stages.stats.agreement import Agreement, AgreementBlock
    from fcpair.stages.stats.kappa import SubsetAgreement

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
    with status_spinner("measuring agreement"):
        blocks = grid.agreement(options, round=name) if name else ()
        measured = None if name else grid.agreement(options)
    data = measured.as_dict() if measured else {"round": name, "blocks": [one.as_dict() for one in blocks]}
    tables = _tables(measured) if measured else [table for one in blocks for table in _block_tables(one)]
    rows = _rows(measured) if measured else [row for one in blocks for row in _block_rows(one)]
    emit(form, data, tables, rows, simulated=grid.desk.simulated_note, sampled=grid.sample_size)
    for caution in _cautions(measured, blocks) if form == "table" else ():
        print_message(f"Warning: {caution}.")
    if named is None and not options.blocks:
        print_notes(other_options_notes(grid, options))


def _cautions(measured: Agreement | None, blocks: Sequence[AgreementBlock]) -> Iterator[str]:
    """Yield the cautions of the agreement as a whole, and those of each block with its name."""
    yield from measured.cautions if measured else ()
    for one in blocks:
        name = ": ".join(filter(None, [one.part, one.of]))
        yield from (f"{name}: {caution}" for caution in (one.agreement.cautions if one.agreement else ()))


def _tables(measured: Agreement, heading: str = "") -> list[Table]:
    tables = [figure_table(heading + _describe_basis(measured), (*measured.pooled, *measured.summary))]
    return tables + [
        Table(
            f"Cohen's kappa{on} of every two annotators; intervals for {measured.sides.new_texts}, the same two",
            SUBSET_COLUMNS,
            [_subset_row(one) for one in subsets],
            footnotes({" and ".join(one.annotators): remarks(one.kappa) for one in subsets}),
        )
        for on, subsets in _subsets_by_kind(measured)
    ]


def _subsets_by_kind(measured: Agreement) -> Iterator[tuple[str, tuple[SubsetAgreement, ...]]]:
    """Every two annotators on the classes of the question, and, where there are any, on bins."""
    yield "", measured.subsets
    if measured.bins:
        yield f" on bins {', '.join(measured.bins)}, unweighted,", measured.on_bins


def _rows(measured: Agreement) -> list[dict[str, Cell]]:
    figures = [figure_row(figure) for figure in (*measured.pooled, *measured.summary)]
    figures += [
        figure_row(subset.kappa) | {"figure": f"{subset.kappa.name}, {' and '.join(subset.annotators)}"}
        for subset in (*measured.subsets, *measured.on_bins)
    ]
    return [{**row, "cautions": "; ".join(measured.cautions)} for row in figures]


def _block_tables(block: AgreementBlock) -> list[Table]:
    """The tables of a block, under its name; that of every two annotators only where there are two."""
    name = ": ".join(filter(None, [block.part, block.of]))
    if block.agreement:
        tables = _tables(block.agreement, f"{name}\n")
        return tables if block.agreement.subsets else tables[:1]
    nothing = list(_undefined_row(block).values())
    return [Table(name, FIGURE_COLUMNS[:-1], [nothing[:-1]], [str(nothing[-1])])]


def _block_rows(block: AgreementBlock) -> list[dict[str, Cell]]:
    rows = _rows(block.agreement) if block.agreement else [{**_undefined_row(block), "cautions": ""}]
    return [{"part": block.part, "of": block.of, **row} for row in rows]


def _undefined_row(block: AgreementBlock) -> dict[str, Cell]:
    return figure_row(Figure("agreement", None, 0, undefined=block.undefined))


def _describe_basis(measured: Agreement) -> str:
    options = measured.options
    return (
        f"Agreement: {measured.n_labels:,} labels on {measured.n_pairs:,} pairs, {measured.n_overlapped:,} with two or "
        f"more\nclasses {', '.join(measured.classes)} · weights {options.weights} · not sure: {options.indefinite}\n"
        f"{100 * options.level:g} % intervals for {measured.interval_scope}"
    )


def _subset_row(subset: SubsetAgreement) -> list[Cell]:
    row = figure_row(subset.kappa)
    names = " and ".join(subset.annotators)
    return [names, subset.n, subset.raw_agreement, row["value"], subset.kappa_se, row["low"], row["high"]]
