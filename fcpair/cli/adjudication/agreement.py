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
    table_of,
)
from fcpair.cli.table import Cell
from fcpair.params import Agree
from fcpair.records import Figure

if TYPE_CHECKING:
    from fcpair.grid import Grid
    from fcpair.stages.stats.agreement import Agreement, AgreementBlock

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
    shown = [(_tables(measured), _rows(measured))] if measured else [*map(_show_block, blocks)]
    tables, rows = [one for part, _ in shown for one in part], [one for _, part in shown for one in part]
    emit(form, data, tables, rows, simulated=grid.desk.simulated_note, sampled=grid.sample_size)
    for caution in _cautions(measured, blocks) if form == "table" else ():
        print_message(f"Warning: {caution}.")
    if named is None and not options.blocks:
        print_notes(other_options_notes(grid, options))


def _cautions(measured: Agreement | None, blocks: Sequence[AgreementBlock]) -> Iterator[str]:
    """Yield the cautions of the agreement as a whole, and those of each block with its name."""
    yield from measured.cautions if measured else ()
    for one in blocks:
        yield from (f"{_name(one)}: {caution}" for caution in (one.agreement.cautions if one.agreement else ()))


def _name(block: AgreementBlock) -> str:
    return ": ".join(filter(None, [block.part, block.of]))


def _tables(measured: Agreement, heading: str = "") -> list[Table]:
    options = measured.options
    basis = (
        f"Agreement: {measured.n_labels:,} labels on {measured.n_pairs:,} pairs, {measured.n_overlapped:,} with two or "
        f"more\nclasses {', '.join(measured.classes)} · weights {options.weights} · not sure: {options.indefinite}\n"
        f"{100 * options.level:g} % intervals for {measured.interval_scope}"
    )
    # Every two annotators on the classes of the question, and, where there are any, on bins.
    kinds = [("", measured.subsets)]
    if measured.bins:
        kinds.append((f" on bins {', '.join(measured.bins)}, unweighted,", measured.on_bins))
    return [figure_table(heading + basis, (*measured.pooled, *measured.summary))] + [
        Table(
            f"Cohen's kappa{on} of every two annotators; intervals for {measured.sides.new_texts}, the same two",
            SUBSET_COLUMNS,
            [
                (" and ".join(one.annotators), one.n, one.raw_agreement, one.kappa.value, one.kappa_se, *one.kappa.ends)
                for one in subsets
            ],
            footnotes({" and ".join(one.annotators): remarks(one.kappa) for one in subsets}),
        )
        for on, subsets in kinds
    ]


def _rows(measured: Agreement) -> list[dict[str, Cell]]:
    figures = [figure_row(figure) for figure in (*measured.pooled, *measured.summary)]
    figures += [
        figure_row(subset.kappa) | {"figure": f"{subset.kappa.name}, {' and '.join(subset.annotators)}"}
        for subset in (*measured.subsets, *measured.on_bins)
    ]
    return [{**row, "cautions": "; ".join(measured.cautions)} for row in figures]


def _show_block(block: AgreementBlock) -> tuple[list[Table], list[dict[str, Cell]]]:
    """The tables of a block, under its name, and its rows; that of every two annotators only where there are two."""
    if block.agreement:
        tables, rows = _tables(block.agreement, f"{_name(block)}\n"), _rows(block.agreement)
        tables = tables if block.agreement.subsets else tables[:1]
    else:
        undefined = Figure("agreement", None, 0, undefined=block.undefined)
        tables = [table_of(_name(block), [figure_row(undefined)], FIGURE_COLUMNS[:-1], [remarks(undefined)])]
        rows = [{**figure_row(undefined), "cautions": ""}]
    return tables, [{"part": block.part, "of": block.of, **row} for row in rows]
