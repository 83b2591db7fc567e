"""Figures with intervals, as files, on pages and in papers: every mark is where its figures are, no name is markup."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from fontTools.ttLib import TTFont
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.text import Text
from PIL import Image

from fcpair.params import FigureWidth
from fcpair.report.figures import forest, save
from fcpair.report.figures.colours import PAPER, Inks
from fcpair.report.figures.forest import SHAPES, Forest, Mark, draw_forest
from fcpair.report.figures.layout import make_printable
from fcpair.report.figures.save import KINDS, PaperStyle, render_for_paper

TWO = Forest(
    title="believed",
    axis="share of yes",
    marks=(
        Mark("Owls are late.", "early", 0.25, 0.1, 0.5),
        Mark("Owls are late.", "late", 0.75, 0.6, 0.9),
        Mark("Larks are proud.", "early", None),
        Mark("Larks are proud.", "late", 1.0),
    ),
    notes=("Of 30 people.",),
    line=0.6,
    bounds=(0, 1),
)
SHARES = st.floats(0, 1)


def axes_of(forest: Forest) -> Axes:
    with save.figure_settings():
        return draw_forest(forest).axes[0]


def drawn(axes: Axes) -> list[tuple[str, float, float]]:
    """The marks: their shape and their place."""
    return [
        (str(line.get_marker()), float(x[0]), float(y[0]))
        for line in axes.lines
        for x, y in [np.asarray(line.get_data(), float)]
        if line.get_marker() in SHAPES
    ]


def test_marks_intervals_and_the_line_are_drawn_where_they_are_by_the_shape_of_their_series() -> None:
    axes = axes_of(TWO)
    assert [(shape, x) for shape, x, _ in drawn(axes)] == [("o", 0.25), ("s", 0.75), ("s", 1.0)]
    lines = [np.asarray(line.get_xdata(), float) for line in axes.lines]
    assert [tuple(ends.tolist()) for ends in lines if len(ends) == 2] == [(0.6, 0.6), (0.1, 0.5), (0.6, 0.9)]
    assert [text.get_text() for text in axes.texts].count("undefined") == 1
    rows = tuple(Mark(f"row {at}", "", 0.5) for at in range(30))
    heights = [y for *_, y in drawn(axes_of(replace(TWO, marks=rows)))]
    assert all(lower - upper > 0.15 for upper, lower in pairwise(heights))
    axes = axes_of(Forest("x", "y", (Mark("a", "", None),)))
    assert [text.get_text() for text in axes.texts if text.get_text() != "a"] == ["undefined"]
    assert axes.get_xlim()[0] < axes.get_xlim()[1]


@given(st.lists(st.tuples(SHARES, SHARES, SHARES), min_size=1, max_size=5), st.sampled_from([None, (-1.0, 1.0)]))
def test_all_that_is_drawn_lies_within_the_axes(values: list[tuple[float, ...]], bounds: tuple[float, float]) -> None:
    marks = tuple(Mark(str(at), "", *(sorted(of)[i] for i in (1, 0, 2))) for at, of in enumerate(values))
    left, right = axes_of(Forest("x", "y", marks, bounds=bounds)).get_xlim()
    ends = [end for mark in marks for end in (mark.low, mark.high) if end is not None]
    assert left <= min(ends) <= max(ends) <= right


def save_as(kind: str, forest: Forest, inks: Inks = PAPER) -> bytes:
    return save.save_figure(lambda: draw_forest(forest, inks), kind, forest.title, forest.description)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_figure_gives_the_same_bytes(kind: str) -> None:
    assert save_as(kind, TWO) == save_as(kind, TWO)


def test_files_are_named_by_titles_and_texts_stay_texts() -> None:
    files = render_for_paper([TWO, replace(TWO, title="Heard?")])
    assert sorted(files) == sorted(f"{name}.{kind}" for name in ("Heard_", "believed") for kind in KINDS)
    svg = files["believed.svg"].decode()
    assert "Owls are late." in svg
    assert "Of 30 people." in svg
    assert "believed: share of yes of early, late in 2 rows. Of 30 people." in svg
    persian = "شب\u200cبیدارها"  # keeps what joins its letters
    assert make_printable(persian) == persian
    assert make_printable("a\nb") == "a\ufffdb"
    assert persian in save_as("svg", replace(TWO, marks=(Mark(persian, "", 0.5),))).decode()
    dark = Image.open(io.BytesIO(save_as("png", TWO, Inks(page="#181a1b", ink="#e1e1e1")))).convert("L")
    assert np.asarray(dark)[0, 0] < 40


# -- on pages

VALUES = st.floats(-50, 50, allow_subnormal=False)
SCALE = 1.02  # shares are drawn on 0 to 1 and a rim


def places(markup: str) -> list[float]:
    """Where marks are across, in percent."""
    return [float(x) for x in re.findall(r'<svg x="([\d.-]+)%"', markup)]


def ticks(markup: str) -> list[float]:
    named = re.findall(r'text-anchor="middle"[^>]*>([^<]+)<', markup)
    return [float(name.replace("\N{MINUS SIGN}", "-")) for name in named]


def test_markup_has_marks_intervals_and_the_line_where_they_are_and_is_described_in_words() -> None:
    markup = forest.forest_markup(TWO)
    assert places(markup) == pytest.approx([25 / SCALE, 75 / SCALE, 100 / SCALE], abs=0.01)
    shapes = re.findall(r'<svg x="[^>]+><path d="([^"]+)"', markup)
    round_, square = forest.SVG_SHAPES[:2]
    assert shapes == [round_, square, square]
    whiskers = re.findall(r'<line x1="([\d.]+)%" x2="([\d.]+)%"[^>]* stroke-width', markup)
    ends = [float(end) for whisker in whiskers for end in whisker]
    assert ends == pytest.approx([100 * end / SCALE for end in (0.1, 0.5, 0.6, 0.9)], abs=0.01)
    lines = re.findall(r'<line x1="([\d.]+)%" x2="\1%" y1="0%" y2="100%" stroke-dasharray', markup)
    assert [float(x) for x in lines] == [pytest.approx(60 / SCALE, abs=0.01)] * 2  # in each of the two rows
    assert markup.count(">undefined</text>") == 1
    assert markup.count('role="img"') == 1
    assert f'aria-label="{TWO.description} The table below has the numbers."' in markup
    legend = markup.partition("forest-legend")[2]
    assert re.findall(r'<span dir="auto">([^<]+)</span>', legend) == ["early", "late", "95 % interval"]
    single = Forest("one", "share", (Mark("a", "", 0.5),), bounds=(0, 1))
    assert "forest-legend" not in forest.forest_markup(single)


def test_names_are_text_and_no_markup() -> None:
    wicked = "<script>\"'&\n"
    named = replace(TWO, title=wicked, axis=wicked, marks=(Mark(wicked, wicked, 0.5),))
    markup = forest.forest_markup(named)
    assert "<script" not in markup
    assert markup.count("&lt;script&gt;") == 6  # title, axis and series in the description; row, axis and key


def test_a_picture_stays_small_and_takes_colours_from_its_page_alone() -> None:
    marks = tuple(Mark(f"statement {row}", series, 0.5, 0.4, 0.6) for row in range(60) for series in ("early", "late"))
    markup = forest.forest_markup(replace(TWO, marks=marks))
    assert len(markup) < 120_000
    assert markup.count(f'height="{2 * forest.SLOT_PX}"') == 60
    mixed = {f"color-mix(in srgb, currentColor {share}" for share in (55, 100)}
    assert set(re.findall(r'(?:fill|stroke)="([^"%]+)', markup)) == {"currentColor", "none"} | mixed


@given(st.lists(VALUES, min_size=1, max_size=5))
def test_whatever_the_values_all_are_on_the_axis_between_round_ticks(values: list[float]) -> None:
    marks = tuple(Mark(f"row {at}", "", value) for at, value in enumerate(values))
    markup = forest.forest_markup(Forest("a", "value", marks))
    across, named = places(markup), ticks(markup)
    assert len(across) == len(values)
    assert all(0 <= x <= 100 for x in across)
    assert 2 <= len(named) <= forest.MOST_TICKS
    assert named == sorted(set(named))
    order = sorted(range(len(values)), key=values.__getitem__)
    assert [across[at] for at in order] == sorted(across)


# -- as papers take them: their sizes, letters, fonts and captions


PLOT = Forest(
    "believed",
    "share of yes",
    (
        Mark("Owls are late.", "early", 0.4, 0.2, 0.6),
        Mark("Owls are late, and larks are as late as they.", "late", None),
    ),
    notes=("Of 30 people.",),
    simulated="40 of 40 judgements are SIMULATED",
    bounds=(0, 1),
)


@pytest.mark.parametrize(("width", "inches"), [("page", 6.9), ("column", 3.3)])
def test_a_figure_is_as_wide_as_a_page_or_a_column_with_letters_that_can_be_read(
    width: FigureWidth, inches: float
) -> None:
    """No letter is smaller than seven points; names and notes have eight."""
    files = render_for_paper([PLOT], PaperStyle(width))
    box = re.search(rb"/MediaBox \[ 0 0 ([0-9.]+)", files["believed.pdf"])
    assert box
    assert float(box[1]) == pytest.approx(72 * inches)
    assert f'width="{72 * inches:g}pt"' in files["believed.svg"].decode()
    assert render_for_paper([PLOT], PaperStyle(width)) == files
    with save.figure_settings():
        figure = draw_forest(PLOT, sheet=PaperStyle(width).sheet)
    sizes = {text.get_text(): float(text.get_fontsize()) for text in figure.findobj(Text) if text.get_text()}
    assert sizes.pop("undefined") == 7
    assert sizes.pop("believed") == 9
    assert {round(size, 6) for size in sizes.values()} == {8}


def test_files_have_their_fonts_in_them_an_svg_with_the_glyphs_of_its_letters_alone() -> None:
    files = render_for_paper([PLOT])
    assert b"/FontFile2" in files["believed.pdf"]
    assert b"/Type3" not in files["believed.pdf"]
    fonts = re.findall(r"font/woff;base64,([^)]+)\)", files["believed.svg"].decode())
    letters = [set(TTFont(io.BytesIO(base64.b64decode(font))).getBestCmap()) for font in fonts]
    assert len(letters) == 3  # upright, bold and slanted
    assert any({ord(letter) for letter in "Owls are late"} <= known for known in letters)
    assert max(map(len, letters)) < 60


def test_a_caption_stands_beside_a_figure_and_not_in_it_but_that_answers_were_made_up() -> None:
    files = render_for_paper([PLOT], PaperStyle(captions=True))
    shown = "".join(re.findall(r"<text[^>]*>([^<]*)</text>", files["believed.svg"].decode()))
    assert files["believed.txt"].decode() == f"{PLOT.description}\n"
    assert "SIMULATED" in shown
    assert "Of 30 people." not in shown
    assert "believed" not in shown
    assert "Of 30 people." in render_for_paper([PLOT], PaperStyle())["believed.svg"].decode()
    files = render_for_paper([replace(PLOT, simulated=None)], PaperStyle("column", captions=True))
    assert "SIMULATED" not in files["believed.svg"].decode()
    assert "SIMULATED" not in files["believed.txt"].decode()
