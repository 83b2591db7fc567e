"""The figures of an evaluation, one per measure, and the words on them; the same outcome gives the same bytes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import cycle
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from fcpair.evaluate.outcome import ALPHA, Outcome, Score, TierFacts, drop_random_draws
from fcpair.lazy import matplotlib
from fcpair.records import TIERS
from fcpair.report.figures import layout
from fcpair.report.figures.colours import PAPER, Inks
from fcpair.report.figures.layout import SCREEN, Canvas, Legend, Sheet, make_printable
from fcpair.report.figures.save import PaperFigure, save_figure
from fcpair.stages.stats.paired_tests import needed_hs, needed_resamples

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure


def fine_print(outcome: Outcome, scores: Sequence[Score]) -> Iterator[str]:
    """Yield sentences on what the figure of a measure rests on; `scores` are those of the measure."""
    yield from warnings(outcome)
    if outcome.sampled:
        yield f"Grid: {outcome.sampled}."
    yield f"Pool {make_printable(PurePath(outcome.pool).name)}: {outcome.tiers[0].pool:,} CNs."
    if outcome.gains and any(score.measure.startswith("NDCG") for score in scores):
        yield f"{outcome.gains[0].upper()}{outcome.gains[1:]}."
    if any(score.lowest is not None for score in scores):
        yield "Bars: unjudged pairs count as not appropriate."
    elif any(score.score is not None for score in scores):
        yield "Unjudged pairs are counted in one way only, so there is no lowest and no highest score."
    if tier_counts := _format_tier_counts(outcome.tiers, "without_positives"):
        treatment = "counted too" if outcome.no_positives == "zero" else "left out"
        yield f"HS without an appropriate CN in the pool, {treatment}: {tier_counts}."
    if outside := _format_tier_counts(outcome.tiers, "outside"):
        yield f"Judged pairs outside of the pool, left out: {outside}."
    tiers_by_reason: dict[str, dict[str, None]] = {}
    for score in scores:
        if score.undefined:
            tiers_by_reason.setdefault(score.undefined, {})[score.tier.capitalize()] = None
    for why, tiers in tiers_by_reason.items():
        yield f"Undefined on {', '.join(tiers)}: {why}."


def warnings(outcome: Outcome) -> Iterator[str]:
    """Yield what stands in a picture even where all else is in a caption: that answers were made up."""
    if outcome.simulated:
        yield f"{outcome.simulated}."


def significance_cautions(outcome: Outcome) -> Iterator[str]:
    """Warn where no test between two systems can be significant, whatever they score, and say what it would take."""
    if not outcome.n_pairs:
        return
    n_pairs = "1 pair" if outcome.n_pairs == 1 else f"{outcome.n_pairs:,} pairs"
    family = f"Holm's correction multiplies it by the {n_pairs} of systems of a tier and measure"
    enough = needed_hs(outcome.n_pairs, ALPHA)
    n_hs = {test.tier: test.n for test in outcome.comparisons}
    for tier, n in n_hs.items():
        if n < enough:
            yield (
                f"no test on {tier} can reach p < {ALPHA}: the least p of {n} HS is 2 / {2**n:,}, and {family}; "
                f"it takes {enough} HS, however often it is resampled"
            )
    needed = needed_resamples(outcome.n_pairs, ALPHA)
    if outcome.resamples < needed and max(n_hs.values(), default=0) >= enough:
        yield (
            f"no test can reach p < {ALPHA}: the least p of {outcome.resamples:,} resamples is "
            f"1 / {outcome.resamples + 1:,}, and {family}; it takes --resamples {needed} or more"
        )


def _format_tier_counts(tiers: Sequence[TierFacts], count: str) -> str:
    counts = {tier.tier: getattr(tier, count) for tier in tiers}
    return ", ".join(f"{tier.capitalize()}\u00a0{n:,}" for tier, n in counts.items() if n)


def outcome_figures(outcome: Outcome) -> list[PaperFigure]:
    """The figure of each measure as papers and notebooks take it."""
    return [
        PaperFigure(measure, description(outcome, measure), partial(draw_chart, outcome, measure, PAPER))
        for measure in outcome.measures
    ]


def png(outcome: Outcome, measure: str, inks: Inks = PAPER) -> bytes:
    """The figure of a measure as PNG for pages, in the colours given, with a title and a description."""
    draw = partial(draw_chart, outcome, measure, inks, SCREEN)
    return save_figure(draw, "png", measure, description(outcome, measure))


def description(outcome: Outcome, measure: str) -> str:
    """Describe in words what a figure shows."""
    scores = [score for score in outcome.scores if score.measure == measure]
    systems = ", ".join(make_printable(system.short) for system in outcome.systems)
    tiers = ", ".join(tier.tier.capitalize() for tier in outcome.tiers)
    shown = f"{measure} of {systems} on {tiers}: a bar for each system and tier, from 0."
    return " ".join([shown, *fine_print(outcome, scores)])


SLOT, BAR, BAND = 0.22, 0.12, 0.05  # of one tier, in inches: all of its height, the bar, and the band below the bar
GAP = 0.14  # between two systems
MOST_SHOWN = 1.02  # a bar or a whisker that ends at 1 is drawn whole
# Where a tier stands on the map cividis, which rises evenly from dark to light, and how it is hatched; best tier first.
LOOKS = ((0.0, ""), (0.4, "/////"), (0.7, "|||||"), (1.0, "xxxxx"))
OWN_LOOKS = ((0.2, "....."), (0.55, "-----"), (0.85, "+++++"), (0.3, "ooooo"))
"""The looks of a study's own tiers."""


def draw_chart(outcome: Outcome, measure: str, inks: Inks = PAPER, sheet: Sheet = layout.SCREEN) -> Figure:
    """The picture of a measure; to be drawn and saved in the settings that `fcpair.report.figures.save` makes."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    scores = drop_random_draws([score for score in outcome.scores if score.measure == measure])
    score_by_key = {(score.system, score.tier): score for score in scores}
    rows = [
        (system.short, [score_by_key[system.short, tier.tier] for tier in outcome.tiers]) for system in outcome.systems
    ]
    bands = layout.place_rows(rows, sheet, GAP / 2, SLOT, GAP)
    notes = layout.note_lines([*(fine_print(outcome, scores) if sheet.has_caption else warnings(outcome))], sheet)
    tier_marks: dict[str, Artist] = {}  # of each tier what it rests on, with a sample of how it looks
    for tier, look in zip(outcome.tiers, _tier_looks(outcome), strict=True):
        n = next(score.n for score in scores if score.tier == tier.tier)
        hs = f"{n:,} HS" if n == tier.hs else f"{n:,} of {tier.hs:,} HS"
        label = f"{tier.tier.capitalize()}: {hs}, {tier.judged:,} of {tier.cells:,} pairs judged"
        tier_marks[label] = Patch(**{**_fill(look), "linewidth": 0.4})
    marks: dict[str, Artist] = {}
    if any(score.low is not None for score in scores):
        marks[f"95 % interval ({outcome.interval})"] = Line2D([], [], **layout.whisker_style(inks.ink))
    if any(score.lowest is not None for score in scores):
        marks["lowest to highest that missing labels allow"] = Patch(**_band_fill(inks))
    if any(score.expected for score in scores):
        marks["exact expectation of a random order"] = Line2D([], [], **_diamond(inks))
    tiers, meanings = (layout.wrap_legend(entries, sheet) for entries in (tier_marks, marks))
    is_stacked = sheet.legend_columns == 1
    beside = Legend(meanings, below=layout.n_lines(tiers)) if is_stacked else Legend(meanings, sheet.width * 0.55)
    bars = bands[-1].top + bands[-1].height + GAP / 2
    names = (f"{measure}, mean over HS", "")
    canvas = layout.make_canvas(sheet, measure, bars, [Legend(tiers), beside], notes, inks, names)
    ends = [end for score in scores for end in (score.score, score.high, score.highest) if end is not None]
    layout.set_rows(canvas, bars, (0, min((math.floor(10 * max(ends, default=0.9)) + 1) / 10, MOST_SHOWN)))
    for band in bands:
        layout.write_name(canvas, band)
        for (top, score), look in zip(band.slots(SLOT), _tier_looks(outcome), strict=True):
            _draw_slot(canvas, top, score, look)
    return canvas.figure


def _tier_looks(outcome: Outcome) -> list[tuple[float, str]]:
    """Look of each tier: of the four the same in every picture, whichever there are."""
    own_looks = cycle(OWN_LOOKS)
    return [LOOKS[TIERS.index(tier.tier)] if tier.tier in TIERS else next(own_looks) for tier in outcome.tiers]


def _draw_slot(canvas: Canvas, top: float, score: Score, look: tuple[float, str]) -> None:
    from matplotlib.patches import Rectangle

    middle, axes, inks = top + BAR / 2, canvas.axes, canvas.inks
    if score.score is None:
        layout.write_undefined(canvas, 0, middle)
        return
    bar = ((0, top), score.score, BAR)
    axes.add_patch(Rectangle(*bar, **_fill(look), zorder=2))
    # apart from its outline, whose colour hatching would take
    axes.add_patch(Rectangle(*bar, fill=False, edgecolor=inks.ink, linewidth=0.8, zorder=2.1))
    if score.lowest is not None and score.highest is not None:
        band = ((score.lowest, top + BAR), score.highest - score.lowest, BAND)
        axes.add_patch(Rectangle(*band, **_band_fill(inks), zorder=1.9))
        bounds, beside = (score.lowest, score.highest), top + BAR + BAND / 2
        axes.plot(bounds, [beside, beside], linestyle="", marker="|", markersize=4.5, color=inks.ink, zorder=2.2)
    if score.low is not None and score.high is not None:
        ends = (score.low, score.high)
        for colour, wider, zorder in ((inks.page, 1.2, 3), (inks.ink, 0, 3.1)):
            axes.plot(ends, [middle, middle], **layout.whisker_style(colour, wider), zorder=zorder)
    if score.expected:
        axes.plot([score.score], [middle], **_diamond(inks))


def _fill(look: tuple[float, str]) -> dict[str, Any]:
    at, hatch = look
    hatching = "#ffffff" if at < 0.55 else "#000000"
    return {"facecolor": matplotlib.colormaps["cividis"](at), "hatch": hatch, "edgecolor": hatching, "linewidth": 0}


def _band_fill(inks: Inks) -> dict[str, Any]:
    return {"facecolor": inks.soft, "alpha": 0.7, "linewidth": 0}


def _diamond(inks: Inks) -> dict[str, Any]:
    colours = {"markerfacecolor": inks.page, "markeredgecolor": inks.ink}
    return {"marker": "D", "markersize": 5, **colours, "linestyle": "", "zorder": 4}
