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
    """A figure under way on a sheet, with its axes and colours."""

    sheet: Sheet
    figure: Figure
    axes: Axes
    inks: Inks


@dataclass(frozen=True)
class Legend:
    """Meaning of the marks, by their names: from `left` inches on, and `below` so many lines."""

    marks: dict[str, Artist]
    left: float = MARGIN
    below: int = 0


def make_canvas(
    sheet: Sheet,
    title: str,
    rows: float,
    legends: Sequence[Legend],
    notes: Sequence[str],
    inks: Inks,
    axis_names: tuple[str, str] = ("", ""),
    left: float | None = None,
) -> Canvas:
    """A figure with empty axes that are `rows` high, and what stands around them.

    That is the title above, unless it is in a caption, legends below it, and lines of small print at the bottom. The
    axes begin `left` of the names of rows, or so many inches in. A figure whose vertical axis has a name has lines
    across its axes, too.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    across, along = axis_names
    left = sheet.names if left is None else left
    legend_height = LEGEND_LINE * max((legend.below + n_lines(legend.marks) for legend in legends), default=0)
    legend_height += MARGIN if legends else 0
    height = sheet.top + legend_height + rows + AXIS + LINE * len(notes) + MARGIN
    bottom = height - sheet.top - legend_height - rows
    if along:  # added up in another order, whose last bit is in the ids of an SVG
        bottom = AXIS + LINE * len(notes) + MARGIN
        height = sheet.top + legend_height + rows + bottom
    figure = Figure(figsize=(sheet.width, height), facecolor=inks.page)
    FigureCanvasAgg(figure)  # measures all names with one renderer; else each makes its own
    place = (left / sheet.width, bottom / height, (sheet.width - left - sheet.right) / sheet.width, rows / height)
    axes = figure.add_axes(place, facecolor=inks.page)
    axes.tick_params(colors=inks.ink, labelsize=sheet.size)
    axes.set_xlabel(across, color=inks.ink, fontsize=sheet.name_size)
    axes.set_ylabel(along, color=inks.ink, fontsize=sheet.name_size)
    axes.grid(axis="both" if along else "x", color=inks.soft, alpha=0.35, linewidth=0.6)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side in {"left", "bottom"})
        spine.set_color(inks.ink)
    if sheet.has_caption:
        style: dict[str, Any] = {"fontsize": sheet.title_size, "fontweight": "bold", "va": "top", "color": inks.ink}
        figure.text(MARGIN / sheet.width, 1 - MARGIN / height, title, **style)
    for below, line in zip(reversed(range(len(notes))), notes, strict=True):
        at = (MARGIN + LINE * below) / height
        figure.text(MARGIN / sheet.width, at, line, fontsize=sheet.print_size, color=inks.ink)
    for legend in legends:
        corner = (legend.left / sheet.width, 1 - (sheet.top + LEGEND_LINE * legend.below) / height)
        place_style: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": corner, "frameon": False, "borderpad": 0}
        place_style |= {"borderaxespad": 0, "labelspacing": 0.55, "handlelength": 2.6, "handleheight": 1.1}
        words: dict[str, Any] = {"fontsize": sheet.size, "labelcolor": inks.ink}
        box = figure.legend(list(legend.marks.values()), list(legend.marks), **place_style, **words)
        box.set_in_layout(False)
    return Canvas(sheet, figure, axes, inks)


def set_rows(canvas: Canvas, rows: float, reach: tuple[float, float]) -> None:
    """Set the limits of the axes, of values and of `rows`, and the numbers of values."""
    from matplotlib.ticker import MaxNLocator

    canvas.axes.set_xlim(*reach)
    canvas.axes.set_ylim(rows, 0)
    canvas.axes.set_yticks([])
    canvas.axes.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))


@dataclass(frozen=True)
class Band(Generic[T]):
    """A row: its name in lines, its place from `top` on, and what stands in its slots, in inches."""

    name: list[str]
    top: float
    height: float
    items: list[T]

    def slots(self, slot: float) -> Iterator[tuple[float, T]]:
        """Position at which each slot begins; they stand in the middle of a row whose name is higher."""
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
    ends = {"marker": "|", "markersize": 5 + wider, "markeredgewidth": 1.0 + wider}
    return {"color": colour, "linewidth": 1.0 + wider, **ends, "solid_capstyle": "butt", "clip_on": False}


def note_lines(notes: Sequence[str], sheet: Sheet) -> list[str]:
    """Sentences of small print in the lines in which they are written."""
    signs = int((sheet.width - 2 * MARGIN) * SIGNS_PER_INCH / sheet.print_size)
    return wrap_text(" ".join(notes), signs) if notes else []


def wrap_legend(marks: dict[str, Artist], sheet: Sheet) -> dict[str, Artist]:
    """The entries of a legend, with names in lines that are no longer than a column of it."""
    signs = int((sheet.width / sheet.legend_columns - 0.55) * SIGNS_PER_INCH / sheet.size)
    return {"\n".join(wrap_text(name, signs)): mark for name, mark in marks.items()}


def n_lines(marks: dict[str, Artist]) -> int:
    """Number of lines of the entries of a legend."""
    return sum(1 + name.count("\n") for name in marks)
