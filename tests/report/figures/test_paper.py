"""Figures as papers take them: their sizes, letters, fonts and captions."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import replace

import pytest
from fontTools.ttLib import TTFont
from matplotlib.text import Text

from fcpair.params import FigureWidth
from fcpair.report.figures import Forest, Mark, PaperStyle, render_for_paper, save
from fcpair.report.figures.forest import draw_forest

INCHES = {"page": 6.9, "column": 3.3}
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
WIDTHS = pytest.mark.parametrize("width", INCHES)


def svg_of(style: PaperStyle) -> str:
    return render_for_paper([PLOT], style)["believed.svg"].decode()


def embedded_fonts(svg: str) -> list[TTFont]:
    return [TTFont(io.BytesIO(base64.b64decode(one))) for one in re.findall(r"font/woff;base64,([^)]+)\)", svg)]


@WIDTHS
def test_a_figure_is_as_wide_as_a_page_or_a_column(width: FigureWidth) -> None:
    files = render_for_paper([PLOT], PaperStyle(width))
    points = 72 * INCHES[width]
    drawn = re.search(rb"/MediaBox \[ 0 0 ([0-9.]+)", files["believed.pdf"])
    assert drawn
    assert float(drawn[1]) == pytest.approx(points)
    assert f'width="{points:g}pt"' in files["believed.svg"].decode()


@WIDTHS
def test_no_letter_is_smaller_than_seven_points_and_names_and_notes_have_eight(width: FigureWidth) -> None:
    with save.figure_settings():
        figure = draw_forest(PLOT, sheet=PaperStyle(width).sheet)
    sizes = {text.get_text(): float(text.get_fontsize()) for text in figure.findobj(Text) if text.get_text()}
    assert sizes.pop("undefined") == 7
    assert sizes.pop("believed") == 9
    assert {round(size, 6) for size in sizes.values()} == {8}


def test_the_fonts_of_a_pdf_are_in_it_as_true_type() -> None:
    pdf = render_for_paper([PLOT])["believed.pdf"]
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf


def test_an_svg_has_its_fonts_with_the_glyphs_of_its_letters_alone() -> None:
    svg = svg_of(PaperStyle())
    letters = [set(font.getBestCmap()) for font in embedded_fonts(svg)]
    assert len(letters) == 3  # upright, bold and slanted
    assert any({ord(letter) for letter in "Owls are late"} <= one for one in letters)
    assert max(map(len, letters)) < 60


def test_a_caption_stands_beside_a_figure_and_not_in_it_but_that_answers_were_made_up() -> None:
    files = render_for_paper([PLOT], PaperStyle(captions=True))
    svg = files["believed.svg"].decode()
    shown = "".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg))
    assert files["believed.txt"].decode() == f"{PLOT.description}\n"
    assert "SIMULATED" in shown
    assert "Of 30 people." not in shown
    assert "believed" not in shown
    assert "Of 30 people." in svg_of(PaperStyle())


def test_a_figure_without_made_up_answers_has_no_small_print_beside_its_caption() -> None:
    files = render_for_paper([replace(PLOT, simulated=None)], PaperStyle("column", captions=True))
    assert "SIMULATED" not in files["believed.svg"].decode()
    assert "SIMULATED" not in files["believed.txt"].decode()


@WIDTHS
def test_the_same_figure_gives_the_same_bytes(width: FigureWidth) -> None:
    assert render_for_paper([PLOT], PaperStyle(width)) == render_for_paper([PLOT], PaperStyle(width))
