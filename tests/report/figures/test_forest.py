"""Figures with intervals: every mark is where its figures are, and the same figure gives the same bytes."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from PIL import Image

from fcpair.report.figures import PAPER, Forest, Inks, Mark, render_for_paper, save
from fcpair.report.figures.forest import SHAPES, draw_forest
from fcpair.report.figures.layout import make_printable
from fcpair.report.figures.save import KINDS

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


def test_every_value_is_drawn_at_its_place_by_the_shape_of_its_series() -> None:
    assert [(shape, x) for shape, x, _ in drawn(axes_of(TWO))] == [("o", 0.25), ("s", 0.75), ("s", 1.0)]


def test_intervals_and_the_line_are_drawn_where_they_are() -> None:
    lines = [np.asarray(line.get_xdata(), float) for line in axes_of(TWO).lines]
    spans = [tuple(ends.tolist()) for ends in lines if len(ends) == 2]
    assert spans == [(0.6, 0.6), (0.1, 0.5), (0.6, 0.9)]


def test_what_is_undefined_is_called_so() -> None:
    written = [text.get_text() for text in axes_of(TWO).texts]
    assert written.count("undefined") == 1


def test_rows_are_in_their_order_and_do_not_overlap() -> None:
    heights = [y for *_, y in drawn(axes_of(replace(TWO, marks=tuple(Mark(f"row {at}", "", 0.5) for at in range(30)))))]
    assert all(other - one > 0.15 for one, other in pairwise(heights))


@given(st.lists(st.tuples(SHARES, SHARES, SHARES), min_size=1, max_size=5), st.sampled_from([None, (-1.0, 1.0)]))
def test_all_that_is_drawn_lies_within_the_axes(values: list[tuple[float, ...]], bounds: tuple[float, float]) -> None:
    marks = tuple(Mark(str(at), "", *(sorted(of)[i] for i in (1, 0, 2))) for at, of in enumerate(values))
    left, right = axes_of(Forest("x", "y", marks, bounds=bounds)).get_xlim()
    ends = [end for mark in marks for end in (mark.low, mark.high) if end is not None]
    assert left <= min(ends) <= max(ends) <= right


def test_a_figure_without_any_value_is_drawn() -> None:
    axes = axes_of(Forest("x", "y", (Mark("a", "", None),)))
    assert [text.get_text() for text in axes.texts if text.get_text() != "a"] == ["undefined"]
    assert axes.get_xlim()[0] < axes.get_xlim()[1]


def save_as(kind: str, forest: Forest, inks: Inks = PAPER) -> bytes:
    return save.save_figure(lambda: draw_forest(forest, inks), kind, forest.title, forest.description)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_figure_gives_the_same_bytes(kind: str) -> None:
    assert save_as(kind, TWO) == save_as(kind, TWO)


def test_files_are_named_by_titles_and_texts_stay_texts() -> None:
    found = render_for_paper([TWO, replace(TWO, title="Heard?")])
    assert sorted(found) == sorted(f"{name}.{kind}" for name in ("Heard_", "believed") for kind in KINDS)
    svg = found["believed.svg"].decode()
    assert "Owls are late." in svg
    assert "Of 30 people." in svg
    assert "believed: share of yes of early, late in 2 rows. Of 30 people." in svg


def test_it_stands_on_dark_pages() -> None:
    dark = Image.open(io.BytesIO(save_as("png", TWO, Inks(page="#181a1b", ink="#e1e1e1")))).convert("L")
    assert np.asarray(dark)[0, 0] < 40


def test_persian_keeps_what_joins_its_letters() -> None:
    told = "شب\u200cبیدارها"
    assert make_printable(told) == told
    assert make_printable("a\nb") == "a\ufffdb"
    svg = save_as("svg", replace(TWO, marks=(Mark(told, "", 0.5),))).decode()
    assert re.search(told, svg)
