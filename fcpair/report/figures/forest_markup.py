"""Forests on pages: rows of HTML, so that long names wrap and run their own way, with marks in SVG beside them.

All is drawn in the colour of the text around it, which suits light, dark and forced colours alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from fcpair.report.figures.forest import Forest, Mark, axis_range
from fcpair.report.figures.labels import make_printable

SLOT_PX = 20  # of one mark
MOST_TICKS = 6
SHAPES = (  # around the origin: circle, square, diamond, triangles, plus and cross, as in papers' figures
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    "M-4.5-4.5h9v9h-9z",
    "M0-6l6 6-6 6-6-6z",
    "M0-6l5.5 10h-11z",
    "M0 6l5.5-10h-11z",
    "M-2-6h4v4h4v4h-4v4h-4v-4h-4v-4h4z",
    "M-6-3l3-3 3 3 3-3 3 3-3 3 3 3-3 3-3-3-3 3-3-3 3-3z",
)
TONES = (100, 55, 25, 0)  # shares of the text's colour, in percent

_FOREST = Markup('<div class="forest" role="img" aria-label="{label}">\n{rows}{axis}{legend}</div>')
_ROW = Markup('<div class="forest-row"><span dir="auto">{name}</span>{plot}</div>\n')
_PLOT = Markup('<svg aria-hidden="true" height="{height}" stroke="currentColor" fill="none">{lines}</svg>')
_LINE = Markup('<line x1="{left}%" x2="{right}%" y1="{top}%" y2="{bottom}%"{look}></line>')
_TEXT = Markup(
    '<text x="{x}%" y="{y}%" dy="0.35em" text-anchor="{anchor}" font-size="13" fill="currentColor" stroke="none">'
    "{text}</text>"
)
_MARK = Markup('<svg x="{x}%" y="{y}%">{shape}</svg>')
_SHAPE = Markup('<path d="{path}" fill="color-mix(in srgb, currentColor {tone}%, Canvas)"></path>')
_KEY = Markup(
    '<span><svg aria-hidden="true" width="16" height="16" stroke="currentColor">'
    '<g transform="translate(8 8)">{shape}</g></svg> '
    '<span dir="auto">{name}</span></span>'
)
_WHISKER = Markup('<path d="M-7 0h14" stroke-width="1.5"></path>')
_GRID, _THRESHOLD, _INTERVAL = map(Markup, (' stroke-opacity="0.2"', ' stroke-dasharray="4 3"', ' stroke-width="1.5"'))


TABLE_BELOW = "The table below has the numbers."
INTERVAL, UNDEFINED = "95 % interval", "undefined"


def as_in_english(written: str) -> str:
    """Words or a figure as they are."""
    return written


@dataclass(frozen=True)
class ForestWords:
    """How a page says what is written in a figure: `say` words, `figure` a value; `label` describes it."""

    label: str
    say: Callable[[str], str] = as_in_english
    figure: Callable[[str], str] = as_in_english


def forest_markup(forest: Forest, words: ForestWords | None = None) -> Markup:
    """The figure as a part of a page, described in words to those who do not see it; its table is for the page.

    Without `words` it is in English.
    """
    words = words or ForestWords(f"{forest.description} {TABLE_BELOW}")
    low, high = axis_range(forest)
    scale = _Scale(low, high)
    rows: dict[str, list[Mark]] = {}
    for mark in forest.marks:
        rows.setdefault(mark.row, []).append(mark)
    return _FOREST.format(
        label=words.label,
        rows=Markup().join(_draw_row(name, marks, forest, scale, words) for name, marks in rows.items()),
        axis=_draw_axis(forest.axis, scale, words),
        legend=_draw_legend(forest, words),
    )


class _Scale:
    """The horizontal axis between two values, in percent of its width."""

    def __init__(self, low: float, high: float) -> None:
        self._low, self._high = low, high

    def percent(self, value: float) -> float:
        """The place of a value; what lies outside is at the end."""
        return round(100 * min(max((value - self._low) / (self._high - self._low), 0), 1), 2)

    @property
    def ticks(self) -> list[float]:
        """Round values on the axis, from two to MOST_TICKS."""
        rough = (self._high - self._low) / (MOST_TICKS - 1)
        power = 10 ** math.floor(math.log10(rough))
        step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= rough)
        first, last = math.ceil(self._low / step - 1e-9), math.floor(self._high / step + 1e-9)
        return [at * step for at in range(first, last + 1)]


def _draw_row(name: str, marks: Sequence[Mark], forest: Forest, scale: _Scale, words: ForestWords) -> Markup:
    lines = [_draw_upright(scale.percent(tick), _GRID) for tick in scale.ticks]
    if forest.line is not None:
        lines.append(_draw_upright(scale.percent(forest.line), _THRESHOLD))
    for at, mark in enumerate(marks):
        y = round(100 * (at + 0.5) / len(marks), 2)
        if mark.value is None:
            lines.append(_TEXT.format(x=0, y=y, anchor="start", text=words.say(UNDEFINED)))
        else:
            lines += _draw_mark(mark, mark.value, y, forest.series.index(mark.series), scale)
    plot = _PLOT.format(height=SLOT_PX * len(marks), lines=Markup().join(lines))
    return _ROW.format(name=make_printable(name), plot=plot)


def _draw_upright(x: float, look: Markup) -> Markup:
    return _LINE.format(left=x, right=x, top=0, bottom=100, look=look)


def _draw_mark(mark: Mark, value: float, y: float, series: int, scale: _Scale) -> Iterator[Markup]:
    if mark.low is not None and mark.high is not None:
        left, right = scale.percent(mark.low), scale.percent(mark.high)
        yield _LINE.format(left=left, right=right, top=y, bottom=y, look=_INTERVAL)
    yield _MARK.format(x=scale.percent(value), y=y, shape=_shape(series))


def _shape(at: int) -> Markup:
    return _SHAPE.format(path=SHAPES[at % len(SHAPES)], tone=TONES[at % len(TONES)])


def _draw_axis(name: str, scale: _Scale, words: ForestWords) -> Markup:
    ticks = (
        _TEXT.format(x=scale.percent(tick), y=50, anchor="middle", text=_write_tick(tick, words))
        for tick in scale.ticks
    )
    return _ROW.format(name=words.say(name), plot=_PLOT.format(height=SLOT_PX, lines=Markup().join(ticks)))


def _write_tick(tick: float, words: ForestWords) -> str:
    return words.figure(f"{tick:.6g}").replace("-", "\N{MINUS SIGN}")


def _draw_legend(forest: Forest, words: ForestWords) -> Markup:
    keys = [_KEY.format(shape=_shape(at), name=make_printable(name)) for at, name in enumerate(forest.series) if name]
    if any(mark.low is not None for mark in forest.marks):
        keys.append(_KEY.format(shape=_WHISKER, name=words.say(INTERVAL)))
    return Markup('<p class="forest-legend">{}</p>\n').format(Markup("\n").join(keys)) if keys else Markup()
