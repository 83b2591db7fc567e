"""Forests on pages: rows of HTML, so that long names wrap and run their own way, with marks in SVG beside them.

All is drawn in the colour of the text around it, which suits light, dark and forced colours alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from fcpair.report.figures.forest import Forest, Mark, axis_range
from fcpair.report.figures.layout import make_printable
from fcpair.sentences import Written, say

if TYPE_CHECKING:
    from jinja2 import Environment, Template

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

TABLE_BELOW = "The table below has the numbers."
INTERVAL, UNDEFINED = say("%(percent)s interval", percent=Written("95 %")), say("undefined")


def as_in_english(written: str) -> str:
    """Words or a figure as they are."""
    return written


@dataclass(frozen=True)
class ForestWords:
    """The words of a figure on a page: `say` words, `figure` a value; `label` describes it."""

    label: str
    say: Callable[[str], str] = as_in_english
    figure: Callable[[str], str] = as_in_english


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

    # round values on the axis, from two to MOST_TICKS
    rough = (high - low) / (MOST_TICKS - 1)
    power = 10 ** math.floor(math.log10(rough))
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= rough)
    ticks = [at * step for at in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    values = {"forest": forest, "words": words, "rows": rows, "keys": keys, "ticks": ticks, "place": place}
    return Markup(_template().render(values))


@cache
def _template() -> Template:
    environment = page_templates()
    environment.filters["printable"] = make_printable
    environment.globals |= {"SHAPES": SHAPES, "TONES": TONES, "SLOT_PX": SLOT_PX, "UNDEFINED": UNDEFINED}
    return environment.get_template("forest.html.j2")


def page_templates() -> Environment:
    """The templates of pages that stand alone; every text in them is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("fcpair.report", ".")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
