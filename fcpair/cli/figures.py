"""Figures as rows of a table or a CSV, and their remarks below it."""

from __future__ import annotations

from collections.abc import Sequence

from fcpair.cli.output import Table
from fcpair.cli.table import Cell
from fcpair.records import Figure

FIGURE_COLUMNS = ("figure", "n", "value", "low", "high", "note")


def figure_row(figure: Figure) -> dict[str, Cell]:
    """A figure as a row of a CSV."""
    values = (figure.name, figure.n, figure.value, figure.low, figure.high, remarks(figure))
    return dict(zip(FIGURE_COLUMNS, values, strict=True))


def remarks(figure: Figure) -> str:
    """Why a figure is undefined, or what there is to say of it."""
    return f"undefined, because {figure.undefined}" if figure.undefined else figure.note


def footnotes(notes: dict[str, str]) -> list[str]:
    """Each remark once, with the figures that it is about."""
    names_by_remark: dict[str, list[str]] = {}
    for name, note in notes.items():
        for remark in filter(None, note.split("; ")):
            names_by_remark.setdefault(remark, []).append(name)
    return [f"{'; '.join(names)}: {remark}" for remark, names in names_by_remark.items()]


def figure_table(title: str, figures: Sequence[Figure]) -> Table:
    """A table of figures, with their remarks below it."""
    return Table(
        title,
        FIGURE_COLUMNS[:-1],
        [list(figure_row(figure).values())[:-1] for figure in figures],
        footnotes({figure.name: remarks(figure) for figure in figures}),
    )
