"""The sheet that figures with a name on the left of each row stand on: lengths, frame, title, small print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fcpair.report.figures.colours import Inks
from fcpair.report.figures.labels import make_printable, wrap_text

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

# All lengths are in inches. One unit of the vertical axis is an inch too, counted downward from the top of the rows.
WIDTH, NAMES, RIGHT = 8.0, 2.3, 0.3
LINE = 0.15  # of small print
TITLE, LEGEND_LINE, AXIS, MARGIN = 0.42, 0.2, 0.45, 0.12
NAME_SIGNS, PRINT_SIGNS = 29, 132
NAME_SIZE, SMALL = 9, 8


def make_sheet(rows: float, legend: float, n_notes: int, inks: Inks) -> tuple[Figure, Axes, float]:
    """An empty figure with axes that are `rows` high, room for a legend and for lines of notes; and its height."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    height = TITLE + legend + rows + AXIS + LINE * n_notes + MARGIN
    figure = Figure(figsize=(WIDTH, height), facecolor=inks.page)
    FigureCanvasAgg(figure)  # measures all names with one renderer; else each makes its own
    axes = figure.add_axes(
        (NAMES / WIDTH, (height - TITLE - legend - rows) / height, (WIDTH - NAMES - RIGHT) / WIDTH, rows / height),
        facecolor=inks.page,
    )
    return figure, axes, height


def set_frame(axes: Axes, rows: float, reach: tuple[float, float], inks: Inks) -> None:
    """Set the axes' limits, numbers and lines."""
    from matplotlib.ticker import MaxNLocator

    axes.set_xlim(*reach)
    axes.set_ylim(rows, 0)
    axes.set_yticks([])
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    axes.tick_params(colors=inks.ink, labelsize=SMALL)
    axes.grid(axis="x", color=inks.soft, alpha=0.35, linewidth=0.6)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side in {"left", "bottom"})
        spine.set_color(inks.ink)


def name_lines(name: str) -> list[str]:
    """The name of a row, in the lines in which it is written."""
    return wrap_text(make_printable(name), NAME_SIGNS)


def write_name(axes: Axes, lines: Sequence[str], middle: float, inks: Inks) -> None:
    """Write the name of a row to its left."""
    place: dict[str, Any] = {"ha": "right", "va": "center", "transform": axes.get_yaxis_transform()}
    name = axes.text(-0.02, middle, "\n".join(lines), fontsize=NAME_SIZE, color=inks.ink, linespacing=1.15, **place)
    _shrink_to_width(axes, name, NAMES - 2 * MARGIN)


def _shrink_to_width(axes: Axes, text: Text, inches: float) -> None:
    """Set the text smaller where it is wider than that: letters differ in width."""
    width = axes.transAxes.inverted().transform_bbox(text.get_window_extent()).width * (WIDTH - NAMES - RIGHT)
    text.set_fontsize(NAME_SIZE * min(1, inches / width))


def write_undefined(axes: Axes, at: float, middle: float, inks: Inks) -> None:
    """Write that a figure is undefined, at the place of its mark."""
    style: dict[str, Any] = {"va": "center", "fontsize": SMALL - 1, "style": "italic"}
    axes.annotate("undefined", (at, middle), (3, 0), textcoords="offset points", color=inks.ink, **style)


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


def write_title_and_notes(figure: Figure, height: float, title: str, notes: Sequence[str], inks: Inks) -> None:
    """Write the title above, and notes in small print below."""
    style: dict[str, Any] = {"fontsize": 13, "fontweight": "bold", "va": "top", "color": inks.ink}
    figure.text(MARGIN / WIDTH, 1 - MARGIN / height, title, **style)
    for below, line in zip(reversed(range(len(notes))), notes, strict=True):
        figure.text(MARGIN / WIDTH, (MARGIN + LINE * below) / height, line, fontsize=SMALL - 0.5, color=inks.ink)


def draw_legend(figure: Figure, height: float, left: float, marks: dict[str, Artist], inks: Inks) -> None:
    """Say below the title what marks mean, from `left` inches on."""
    box = figure.legend(
        list(marks.values()),
        list(marks),
        loc="upper left",
        bbox_to_anchor=(left / WIDTH, 1 - TITLE / height),
        fontsize=SMALL,
        labelcolor=inks.ink,
        frameon=False,
        borderpad=0,
        borderaxespad=0,
        labelspacing=0.55,
        handlelength=2.6,
        handleheight=1.1,
    )
    box.set_in_layout(False)
