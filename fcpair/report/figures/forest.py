"""Figures with their intervals, one row for each thing and one mark for each series: what is known as a forest plot.

Series differ in shape and in lightness, so that the picture can be read in grey and by the colour-blind. On pages they
are rows of HTML, so that long names wrap and run their own way, with marks in SVG in the colour of the text around.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from fcpair.lazy import matplotlib
from fcpair.report.figures import layout
from fcpair.report.figures.colours import PAPER, Inks
from fcpair.report.figures.layout import MARGIN, Legend, Sheet, make_printable
from fcpair.sentences import Written, say

if TYPE_CHECKING:
    from jinja2 import Environment, Template
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

SLOT, GAP = 0.2, 0.1  # of one mark, and between two rows, in inches
SHAPES = ("o", "s", "D", "^", "v", "P", "X")
TONES = (0.0, 0.45, 0.7, 0.9)  # on the map cividis, which rises evenly from dark to light
RIM = 0.02  # beyond the bounds, so that a mark on one is drawn whole


@dataclass(frozen=True)
class Mark:
    """A value of a series with the ends of its interval; None where it is undefined, or has none."""

    row: str
    series: str
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Forest:
    """Contents of a figure: marks in the order of their rows and series, and what they rest on (`notes`, sentences).

    `simulated` says that answers were made up, and stands in the picture even where its notes are in a caption. `axis`
    names the values, `line` is one of them that stands out, such as no difference or a threshold; `bounds` are those
    that values can have, None where they have none.
    """

    title: str
    axis: str
    marks: tuple[Mark, ...]
    notes: tuple[str, ...] = ()
    simulated: str | None = None
    line: float | None = None
    bounds: tuple[float, float] | None = None

    @property
    def series(self) -> list[str]:
        """The names of the series, each once."""
        return list(dict.fromkeys(mark.series for mark in self.marks))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len({mark.row for mark in self.marks})

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that stand in the picture, wherever the others are."""
        return (f"{self.simulated}.",) if self.simulated else ()

    def draw(self, sheet: Sheet) -> Figure:
        """The figure itself, as papers and notebooks take it."""
        return draw_forest(self, sheet=sheet)

    @property
    def description(self) -> str:
        """Description of the figure in words."""
        of = ", ".join(make_printable(name) for name in filter(None, self.series))
        shown = f"{self.title}: {self.axis}{f' of {of}' if of else ''} in {self.n_rows:,} rows."
        return " ".join([shown, *self.warnings, *self.notes])


def draw_forest(forest: Forest, inks: Inks = PAPER, sheet: Sheet = layout.SCREEN) -> Figure:
    """The figure itself, to be drawn in the settings that `fcpair.report.figures.save` makes."""
    from matplotlib.lines import Line2D

    marks_by_row: dict[str, list[Mark]] = {}
    for mark in forest.marks:
        marks_by_row.setdefault(mark.row, []).append(mark)
    bands = layout.place_rows(marks_by_row.items(), sheet, GAP, SLOT, GAP)
    rows = bands[-1].top + bands[-1].height + GAP
    sentences = (*forest.warnings, *forest.notes) if sheet.has_caption else forest.warnings
    notes = layout.note_lines([make_printable(sentence) for sentence in sentences], sheet)
    entries: dict[str, Artist] = {  # what each mark means, for those that the figure has
        make_printable(name): Line2D([], [], **_mark_style(at, inks))
        for at, name in enumerate(filter(None, forest.series))
    }
    if any(mark.low is not None for mark in forest.marks):
        entries["95 % interval"] = Line2D([], [], **layout.whisker_style(inks.ink))
    marks = layout.wrap_legend(entries, sheet)
    names, length, n = list(marks), math.ceil(len(marks) / sheet.legend_columns), sheet.legend_columns
    columns = ([(name, marks[name]) for name in names[at * length : (at + 1) * length]] for at in range(n))
    legends = [Legend(dict(column), at * sheet.width / n or MARGIN) for at, column in enumerate(columns) if column]
    canvas = layout.make_canvas(sheet, make_printable(forest.title), rows, legends, notes, inks, (forest.axis, ""))
    reach, axes = axis_range(forest), canvas.axes
    layout.set_rows(canvas, rows, reach)
    if forest.line is not None and reach[0] <= forest.line <= reach[1]:
        axes.axvline(forest.line, color=inks.ink, linewidth=0.8, linestyle="--", zorder=1.5)
    for band in bands:
        layout.write_name(canvas, band)
        for top, mark in band.slots(SLOT):
            middle = top + SLOT / 2
            if mark.value is None:
                layout.write_undefined(canvas, axes.get_xlim()[0], middle)
                continue
            if mark.low is not None and mark.high is not None:
                axes.plot([mark.low, mark.high], [middle, middle], **layout.whisker_style(inks.ink), zorder=3)
            axes.plot([mark.value], [middle], **_mark_style(forest.series.index(mark.series), inks))
    return canvas.figure


def axis_range(forest: Forest) -> tuple[float, float]:
    """Ends of the horizontal axis: at round numbers around what is drawn; shares are on all of 0 to 1."""
    ends = [end for mark in forest.marks for end in (mark.value, mark.low, mark.high) if end is not None]
    ends += [] if forest.line is None else [forest.line]
    low, high = (min(ends), max(ends)) if ends else (forest.bounds or (0.0, 1.0))
    step = 10 ** math.floor(math.log10(max(high - low, 0.1)))
    low, high = (math.floor(low / step - 0.2) * step, math.ceil(high / step + 0.2) * step)
    if forest.bounds is None:
        return low, high
    least, most = forest.bounds
    rim = RIM * (most - least)
    return (0.0, most + rim) if least == 0 else (max(low, least - rim), min(high, most + rim))


def _mark_style(at: int, inks: Inks) -> dict[str, Any]:
    face = {"markerfacecolor": matplotlib.colormaps["cividis"](TONES[at % len(TONES)]), "markeredgecolor": inks.ink}
    style = {"marker": SHAPES[at % len(SHAPES)], "markersize": 6, "markeredgewidth": 0.8, "linestyle": ""}
    return {**style, **face, "zorder": 4, "clip_on": False}


SLOT_PX = 20  # of one mark
MOST_TICKS = 6
SVG_SHAPES = (  # around the origin: circle, square, diamond, triangles, plus and cross, as in papers' figures
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    "M-4.5-4.5h9v9h-9z",
    "M0-6l6 6-6 6-6-6z",
    "M0-6l5.5 10h-11z",
    "M0 6l5.5-10h-11z",
    "M-2-6h4v4h4v4h-4v4h-4v-4h-4v-4h4z",
    "M-6-3l3-3 3 3 3-3 3 3-3 3 3 3-3 3-3-3-3 3-3-3 3-3z",
)
SVG_TONES = (100, 55, 25, 0)  # shares of the text's colour, in percent

TABLE_BELOW = "The table below has the numbers."
INTERVAL, UNDEFINED = say("%(percent)s interval", percent=Written("95 %")), say("undefined")


@dataclass(frozen=True)
class ForestWords:
    """The words of a figure on a page: `say` words, `figure` a value; `label` describes it."""

    label: str
    say: Callable[[str], str] = str  # in English
    figure: Callable[[str], str] = str


def forest_markup(forest: Forest, words: ForestWords | None = None) -> Markup:
    """The figure as a part of a page, described in words (`words`, else in English) to those who do not see it; its
    table is for the page.
    """
    low, high = axis_range(forest)
    rows: dict[str, list[Mark]] = {}
    for mark in forest.marks:
        rows.setdefault(mark.row, []).append(mark)
    words = words or ForestWords(f"{forest.description} {TABLE_BELOW}")
    keys: list[tuple[int | None, str]] = [(at, make_printable(name)) for at, name in enumerate(forest.series) if name]
    if any(mark.low is not None for mark in forest.marks):
        keys.append((None, words.say(INTERVAL)))

    def place(value: float) -> float:  # what lies outside is at the end
        return round(100 * min(max((value - low) / (high - low), 0), 1), 2)

    values = {"forest": forest, "words": words, "rows": rows, "keys": keys, "place": place}
    values["ticks"] = round_ticks(low, high, MOST_TICKS)
    return Markup(_template().render(values))


def round_ticks(low: float, high: float, most: int) -> list[float]:
    """Round values from `low` to `high`: from two to `most`."""
    rough = (high - low) / (most - 1)
    power = 10 ** math.floor(math.log10(rough))
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= rough)
    return [at * step for at in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


@cache
def _template() -> Template:
    environment = page_templates()
    environment.filters["printable"] = make_printable
    environment.globals |= {"SHAPES": SVG_SHAPES, "TONES": SVG_TONES, "SLOT_PX": SLOT_PX, "UNDEFINED": UNDEFINED}
    return environment.get_template("forest.html.j2")


def page_templates() -> Environment:
    """The templates of pages that stand alone; every text in them is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("fcpair.report", ".")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
