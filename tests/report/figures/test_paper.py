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
