"""The sheets that figures with a name on the left of each row stand on: sizes, frame, title, small print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fcpair.params import FigureWidth
from fcpair.report.figures.colours import Inks

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

T = TypeVar("T")
_PARTS = re.compile(r"[^ ,:;(/_-]*(?: +|[,:;(/_-]+ *|$)")


_JOINERS = "\u200c\u200d\u200e\u200f"  # which Persian and other scripts are spelt with


def make_printable(name: str) -> str:
    """The name with a sign in place of everything that cannot be printed, such as a line feed."""
    return "".join(sign if sign.isprintable() or sign in _JOINERS else "\ufffd" for sign in name)


def wrap_text(text: str, signs: int) -> list[str]:
    """The text in lines of at most `signs` signs, broken behind spaces and the punctuation of names where it can."""
    lines = [""]
    for part in _PARTS.findall(text):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > signs:
            lines.append("")
        while len(lines[-1]) + len(part.rstrip()) > signs:
            lines[-1], part = part[:signs], part[signs:]  # noqa: PLW2901
            lines.append("")
        lines[-1] += part
    return [line.rstrip() for line in lines if line.strip()] or [""]


# All lengths are in inches. One unit of the vertical axis is an inch too, counted downward from the top of the rows.
LINE = 0.15  # of small print
LEGEND_LINE, AXIS, MARGIN = 0.2, 0.45, 0.12
SIGNS_PER_INCH = 128  # of letters of one point: an average, as they differ in width


@dataclass(frozen=True)
class Sheet:
    """Sizes of a sheet: its `width`, and that of the names and of what is right of the axes, in inches; of a title, a
    name, other words and small print, in points. One that `has_caption` has its title and notes in the picture.
    """

    width: float
    names: float
    right: float = 0.3
    title_size: float = 13
    name_size: float = 9
    size: float = 8
    print_size: float = 7.5
    legend_columns: int = 2
    has_caption: bool = True

    @property
    def top(self) -> float:
        """Inches above the legend."""
        return 0.42 if self.has_caption else MARGIN


SCREEN = Sheet(8.0, 2.3)
PAPER_SHEETS: dict[FigureWidth, Sheet] = {
    "page": Sheet(6.9, 1.9, title_size=9, name_size=8, print_size=8),
    "column": Sheet(3.3, 1.05, right=0.15, title_size=9, name_size=8, print_size=8, legend_columns=1),
}
"""The sheets of papers, whose letters have 8 points: two columns wide, or one."""


@dataclass(frozen=True)
class Canvas:
    """A figure under way on a sheet, with its axes and colours; `height` in inches."""

    sheet: Sheet
    figure: Figure
    axes: Axes
    height: float
    inks: Inks


def make_canvas(sheet: Sheet, rows: float, legend: float, n_notes: int, inks: Inks) -> Canvas:
    """An empty figure with axes that are `rows` high, room for a legend and for lines of notes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    height = sheet.top + legend + rows + AXIS + LINE * n_notes + MARGIN
    figure = Figure(figsize=(sheet.width, height), facecolor=inks.page)
    FigureCanvasAgg(figure)  # measures all names with one renderer; else each makes its own
    axes = figure.add_axes(
        (
            sheet.names / sheet.width,
            (height - sheet.top - legend - rows) / height,
            (sheet.width - sheet.names - sheet.right) / sheet.width,
            rows / height,
        ),
        facecolor=inks.page,
    )
    return Canvas(sheet, figure, axes, height, inks)


def set_frame(canvas: Canvas, rows: float, reach: tuple[float, float], label: str) -> None:
    """Set the axes' limits, numbers, lines and label."""
    from matplotlib.ticker import MaxNLocator

    axes, inks = canvas.axes, canvas.inks
    axes.set_xlim(*reach)
    axes.set_ylim(rows, 0)
    axes.set_yticks([])
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    axes.tick_params(colors=inks.ink, labelsize=canvas.sheet.size)
    axes.set_xlabel(label, color=inks.ink, fontsize=canvas.sheet.name_size)
    axes.grid(axis="x", color=inks.soft, alpha=0.35, linewidth=0.6)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side in {"left", "bottom"})
        spine.set_color(inks.ink)


@dataclass(frozen=True)
class Band(Generic[T]):
    """A row: its name in lines, its place from `top` on, and what stands in its slots, in inches."""

    name: list[str]
    top: float
    height: float
    items: list[T]

    def slots(self, slot: float) -> Iterator[tuple[float, T]]:
        """Where each slot begins; they stand in the middle of a row whose name is higher."""
        start = self.top + (self.height - slot * len(self.items)) / 2
        return ((start + slot * at, item) for at, item in enumerate(self.items))


def place_rows(rows: Iterable[tuple[str, list[T]]], sheet: Sheet, top: float, slot: float, gap: float) -> list[Band[T]]:
    """Rows by their names one below the other from `top` on, each as high as its slots, or its name."""
    bands: list[Band[T]] = []
    for name, items in rows:
        lines = wrap_text(make_printable(name), int(sheet.names * SIGNS_PER_INCH * 0.887 / sheet.name_size))
        bands.append(Band(lines, top, max(slot * len(items), LINE * len(lines)), items))
        top += bands[-1].height + gap
    return bands


def write_name(canvas: Canvas, row: Band[Any]) -> None:
    """Write the name of a row to its left, smaller where it is wider than there is room: letters differ in width."""
    axes, sheet = canvas.axes, canvas.sheet
    place: dict[str, Any] = {"ha": "right", "va": "center", "transform": axes.get_yaxis_transform()}
    style: dict[str, Any] = {"fontsize": sheet.name_size, "color": canvas.inks.ink, "linespacing": 1.15}
    name = axes.text(-0.02, row.top + row.height / 2, "\n".join(row.name), **style, **place)
    share = axes.transAxes.inverted().transform_bbox(name.get_window_extent()).width
    width = share * (sheet.width - sheet.names - sheet.right)
    name.set_fontsize(sheet.name_size * min(1, (sheet.names - 2 * MARGIN) / width))


def write_undefined(canvas: Canvas, at: float, middle: float) -> None:
    """Write that a figure is undefined, at the place of its mark."""
    style: dict[str, Any] = {"va": "center", "fontsize": canvas.sheet.size - 1, "style": "italic"}
    canvas.axes.annotate("undefined", (at, middle), (3, 0), textcoords="offset points", color=canvas.inks.ink, **style)


def whisker_style(colour: str, wider: float = 0) -> dict[str, Any]:
    """Line style of an interval."""
    return {
        "color": colour,
        "linewidth": 1.0 + wider,
        "marker": "|",
        "markersize": 5 + wider,
        "markeredgewidth": 1.0 + wider,
        "solid_capstyle": "butt",
        "clip_on": False,
    }


def note_lines(notes: Sequence[str], sheet: Sheet) -> list[str]:
    """Sentences of small print in the lines in which they are written."""
    return (
        wrap_text(" ".join(notes), int((sheet.width - 2 * MARGIN) * SIGNS_PER_INCH / sheet.print_size)) if notes else []
    )


def write_title_and_notes(canvas: Canvas, title: str, lines: Sequence[str]) -> None:
    """Write the title above, unless it is in a caption, and lines of small print below."""
    sheet, ink, left = canvas.sheet, canvas.inks.ink, MARGIN / canvas.sheet.width
    if sheet.has_caption:
        style: dict[str, Any] = {"fontsize": sheet.title_size, "fontweight": "bold", "va": "top", "color": ink}
        canvas.figure.text(left, 1 - MARGIN / canvas.height, title, **style)
    for below, line in zip(reversed(range(len(lines))), lines, strict=True):
        at = (MARGIN + LINE * below) / canvas.height
        canvas.figure.text(left, at, line, fontsize=sheet.print_size, color=ink)


def wrap_legend(marks: dict[str, Artist], sheet: Sheet) -> dict[str, Artist]:
    """The entries of a legend, with names in lines that are no longer than a column of it."""
    signs = int((sheet.width / sheet.legend_columns - 0.55) * SIGNS_PER_INCH / sheet.size)
    return {"\n".join(wrap_text(name, signs)): mark for name, mark in marks.items()}


def n_lines(marks: dict[str, Artist]) -> int:
    """Number of lines of the entries of a legend."""
    return sum(1 + name.count("\n") for name in marks)


def draw_legend(canvas: Canvas, left: float, marks: dict[str, Artist], below: int = 0) -> None:
    """Say below the title what marks mean, from `left` inches on, and `below` so many lines."""
    top = canvas.sheet.top + LEGEND_LINE * below
    box = canvas.figure.legend(
        list(marks.values()),
        list(marks),
        loc="upper left",
        bbox_to_anchor=(left / canvas.sheet.width, 1 - top / canvas.height),
        fontsize=canvas.sheet.size,
        labelcolor=canvas.inks.ink,
        frameon=False,
        borderpad=0,
        borderaxespad=0,
        labelspacing=0.55,
        handlelength=2.6,
        handleheight=1.1,
    )
    box.set_in_layout(False)
