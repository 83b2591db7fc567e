"""One measure as a picture: a bar for each system and tier, its interval, and what the missing labels could hide.

The tiers differ in lightness and in hatching, so that the picture can be read in grey and by the colour-blind.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

from fcpair.evaluate.outcome import Outcome, Score, drop_random_draws
from fcpair.records import TIERS
from fcpair.report.figures import layout
from fcpair.report.figures.captions import fine_print, warnings
from fcpair.report.figures.colours import PAPER, Inks
from fcpair.report.figures.layout import LINE, MARGIN, Canvas, Sheet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

SLOT, BAR, BAND = 0.22, 0.12, 0.05  # of one tier, in inches: all of its height, the bar, and the band below the bar
GAP = 0.14  # between two systems
MOST_SHOWN = 1.02  # a bar or a whisker that ends at 1 is drawn whole
# Where a tier stands on the map cividis, which rises evenly from dark to light, and how it is hatched; best tier first.
LOOKS = ((0.0, ""), (0.4, "/////"), (0.7, "|||||"), (1.0, "xxxxx"))
OWN_LOOKS = ((0.2, "....."), (0.55, "-----"), (0.85, "+++++"), (0.3, "ooooo"))
"""The looks of a study's own tiers."""


@dataclass(frozen=True)
class _Slot:
    """Score drawn for a system on a tier, or the exact expectation where the system ranks at random."""

    tier: int
    score: Score


@dataclass(frozen=True)
class _Group:
    """A system: its name in lines, its place from `top` on, and its slots."""

    name: list[str]
    top: float
    height: float
    slots: list[_Slot]

    @property
    def tops(self) -> Iterator[tuple[float, _Slot]]:
        """Where each slot begins; the slots stand in the middle of a group whose name is higher."""
        start = self.top + (self.height - SLOT * len(self.slots)) / 2
        return ((start + SLOT * at, slot) for at, slot in enumerate(self.slots))


def draw_chart(outcome: Outcome, measure: str, inks: Inks = PAPER, sheet: Sheet = layout.SCREEN) -> Figure:
    """The picture of a measure; to be drawn and saved in the settings that `fcpair.report.figures.save` makes."""
    scores = drop_random_draws([score for score in outcome.scores if score.measure == measure])
    groups = list(_groups(outcome, scores, sheet))
    notes = layout.note_lines([*(fine_print(outcome, scores) if sheet.has_caption else warnings(outcome))], sheet)
    legends = [
        layout.wrap_legend(marks, sheet)
        for marks in (_tier_marks(outcome, scores, inks), _legend_marks(outcome, scores, inks))
    ]
    is_stacked = sheet.legend_columns == 1
    n_legend_lines = (sum if is_stacked else max)(map(layout.n_lines, legends))
    bars = groups[-1].top + groups[-1].height + GAP / 2
    canvas = layout.make_canvas(sheet, bars, layout.LEGEND_LINE * n_legend_lines + MARGIN, len(notes), inks)
    layout.set_frame(canvas, bars, (0, _axis_end(scores)), f"{measure}, mean over HS")
    for group in groups:
        _draw_group(canvas, group, _tier_looks(outcome))
    layout.write_title_and_notes(canvas, measure, notes)
    layout.draw_legend(canvas, MARGIN, legends[0])
    if is_stacked:
        layout.draw_legend(canvas, MARGIN, legends[1], below=layout.n_lines(legends[0]))
    else:
        layout.draw_legend(canvas, sheet.width * 0.55, legends[1])
    return canvas.figure


def _groups(outcome: Outcome, scores: Sequence[Score], sheet: Sheet) -> Iterator[_Group]:
    score_by_key = {(score.system, score.tier): score for score in scores}
    top = GAP / 2
    for system in outcome.systems:
        slots = [_Slot(at, score_by_key[system.short, one.tier]) for at, one in enumerate(outcome.tiers)]
        name = layout.name_lines(system.short, sheet)
        height = max(SLOT * len(slots), LINE * len(name))
        yield _Group(name, top, height, slots)
        top += height + GAP


def _axis_end(scores: Sequence[Score]) -> float:
    """Where the horizontal axis ends: at the tenth above everything that is drawn."""
    ends = [end for score in scores for end in (score.score, score.high, score.highest) if end is not None]
    return min((math.floor(10 * max(ends, default=0.9)) + 1) / 10, MOST_SHOWN)


def _tier_looks(outcome: Outcome) -> list[tuple[float, str]]:
    """Look of each tier: of the four the same in every picture, whichever there are."""
    own_looks = cycle(OWN_LOOKS)
    return [LOOKS[TIERS.index(one.tier)] if one.tier in TIERS else next(own_looks) for one in outcome.tiers]


def _draw_group(canvas: Canvas, group: _Group, looks: Sequence[tuple[float, str]]) -> None:
    layout.write_name(canvas, group.name, group.top + group.height / 2)
    for top, slot in group.tops:
        _draw_slot(canvas, top, slot, looks[slot.tier])


def _draw_slot(canvas: Canvas, top: float, slot: _Slot, look: tuple[float, str]) -> None:
    score, middle, axes, inks = slot.score, top + BAR / 2, canvas.axes, canvas.inks
    if score.score is None:
        layout.write_undefined(canvas, 0, middle)
        return
    for patch in _bar(score.score, middle, look, inks):
        axes.add_patch(patch)
    if score.lowest is not None and score.highest is not None:
        _draw_band(axes, (score.lowest, score.highest), top + BAR + BAND / 2, inks)
    if score.low is not None and score.high is not None:
        _draw_interval(axes, (score.low, score.high), middle, inks)
    if score.expected:
        axes.plot([score.score], [middle], **_diamond(inks))


def _bar(end: float, middle: float, look: tuple[float, str], inks: Inks) -> Iterator[Patch]:
    """The bar and, apart from it, its outline: hatching takes the colour of an outline."""
    from matplotlib.patches import Rectangle

    place = ((0, middle - BAR / 2), end, BAR)
    yield Rectangle(*place, **_fill(look), zorder=2)
    yield Rectangle(*place, fill=False, edgecolor=inks.ink, linewidth=0.8, zorder=2.1)


def _fill(look: tuple[float, str]) -> dict[str, Any]:
    from matplotlib import colormaps

    at, hatch = look
    hatching = "#ffffff" if at < 0.55 else "#000000"
    return {"facecolor": colormaps["cividis"](at), "hatch": hatch, "edgecolor": hatching, "linewidth": 0}


def _draw_band(axes: Axes, ends: tuple[float, float], middle: float, inks: Inks) -> None:
    from matplotlib.patches import Rectangle

    place = ((ends[0], middle - BAND / 2), ends[1] - ends[0], BAND)
    axes.add_patch(Rectangle(*place, **_band_fill(inks), zorder=1.9))
    axes.plot(ends, [middle, middle], linestyle="", marker="|", markersize=4.5, color=inks.ink, zorder=2.2)


def _band_fill(inks: Inks) -> dict[str, Any]:
    return {"facecolor": inks.soft, "alpha": 0.7, "linewidth": 0}


def _draw_interval(axes: Axes, ends: tuple[float, float], middle: float, inks: Inks) -> None:
    """A whisker with a rim of the page's colour, so that it is seen on dark, light and hatched bars."""
    for colour, wider, zorder in ((inks.page, 1.2, 3), (inks.ink, 0, 3.1)):
        axes.plot(ends, [middle, middle], **layout.whisker_style(colour, wider), zorder=zorder)


def _diamond(inks: Inks) -> dict[str, Any]:
    return {
        "marker": "D",
        "markersize": 5,
        "markerfacecolor": inks.page,
        "markeredgecolor": inks.ink,
        "linestyle": "",
        "zorder": 4,
    }


def _tier_marks(outcome: Outcome, scores: Sequence[Score], inks: Inks) -> dict[str, Artist]:
    """Legend entries: what each tier rests on, and a sample of how it looks."""
    from matplotlib.patches import Patch

    marks: dict[str, Artist] = {}
    for one, look in zip(outcome.tiers, _tier_looks(outcome), strict=True):
        n = next(score.n for score in scores if score.tier == one.tier)
        hs = f"{n:,} HS" if n == one.hs else f"{n:,} of {one.hs:,} HS"
        label = f"{one.tier.capitalize()}: {hs}, {one.judged:,} of {one.cells:,} pairs judged"
        marks[label] = Patch(**{**_fill(look), "linewidth": 0.4})
    return marks


def _legend_marks(outcome: Outcome, scores: Sequence[Score], inks: Inks) -> dict[str, Artist]:
    """Legend entries: what each mark means, for those that the picture has."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    marks: dict[str, Artist] = {}
    if any(score.low is not None for score in scores):
        marks[f"95 % interval ({outcome.interval})"] = Line2D([], [], **layout.whisker_style(inks.ink))
    if any(score.lowest is not None for score in scores):
        marks["lowest to highest that missing labels allow"] = Patch(**_band_fill(inks))
    if any(score.expected for score in scores):
        marks["exact expectation of a random order"] = Line2D([], [], **_diamond(inks))
    return marks
