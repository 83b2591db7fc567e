"""Figures with intervals on pages: every mark is at its place, each is named, and nothing in a name is markup."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.report.figures import Forest, Mark
from fcpair.report.figures.forest_markup import MOST_TICKS, SHAPES, SLOT_PX, forest_markup
from report.figures.test_forest import TWO

VALUES = st.floats(-50, 50, allow_subnormal=False)
SCALE = 1.02  # shares are drawn on 0 to 1 and a rim


def places(markup: str) -> list[float]:
    """Where marks are across, in percent."""
    return [float(x) for x in re.findall(r'<svg x="([\d.-]+)%"', markup)]


def ticks(markup: str) -> list[float]:
    named = re.findall(r'text-anchor="middle"[^>]*>([^<]+)<', markup)
    return [float(name.replace("\N{MINUS SIGN}", "-")) for name in named]


def test_every_value_is_drawn_at_its_place_by_the_shape_of_its_series() -> None:
    markup = forest_markup(TWO)
    assert places(markup) == pytest.approx([25 / SCALE, 75 / SCALE, 100 / SCALE], abs=0.01)
    shapes = re.findall(r'<svg x="[^>]+><path d="([^"]+)"', markup)
    assert shapes == [SHAPES[0], SHAPES[1], SHAPES[1]]


def test_intervals_and_the_line_are_drawn_where_they_are() -> None:
    markup = forest_markup(TWO)
    whiskers = re.findall(r'<line x1="([\d.]+)%" x2="([\d.]+)%"[^>]* stroke-width', markup)
    ends = [float(end) for whisker in whiskers for end in whisker]
    assert ends == pytest.approx([100 * end / SCALE for end in (0.1, 0.5, 0.6, 0.9)], abs=0.01)
    lines = re.findall(r'<line x1="([\d.]+)%" x2="\1%" y1="0%" y2="100%" stroke-dasharray', markup)
    assert [float(x) for x in lines] == [pytest.approx(60 / SCALE, abs=0.01)] * 2  # in each of the two rows


def test_a_value_that_is_undefined_is_called_so() -> None:
    assert forest_markup(TWO).count(">undefined</text>") == 1


def test_it_is_one_picture_that_is_described_in_words_with_a_key_to_its_marks() -> None:
    markup = forest_markup(TWO)
    assert markup.count('role="img"') == 1
    assert f'aria-label="{TWO.description} The table below has the numbers."' in markup
    legend = markup.partition("forest-legend")[2]
    assert re.findall(r'<span dir="auto">([^<]+)</span>', legend) == ["early", "late", "95 % interval"]
    assert "forest-legend" not in forest_markup(Forest("one", "share", (Mark("a", "", 0.5),), bounds=(0, 1)))


def test_names_are_text_and_no_markup() -> None:
    wicked = "<script>\"'&\n"
    markup = forest_markup(replace(TWO, title=wicked, axis=wicked, marks=(Mark(wicked, wicked, 0.5),)))
    assert "<script" not in markup
    assert markup.count("&lt;script&gt;") == 6  # title, axis and series in the description; row, axis and key


def test_a_picture_stays_small_and_takes_colours_from_its_page_alone() -> None:
    marks = tuple(Mark(f"statement {row}", series, 0.5, 0.4, 0.6) for row in range(60) for series in ("early", "late"))
    markup = forest_markup(replace(TWO, marks=marks))
    assert len(markup) < 120_000
    assert markup.count(f'height="{2 * SLOT_PX}"') == 60
    colours = set(re.findall(r'(?:fill|stroke)="([^"%]+)', markup))
    assert colours == {
        "currentColor",
        "none",
        "color-mix(in srgb, currentColor 100",
        "color-mix(in srgb, currentColor 55",
    }


@given(st.lists(VALUES, min_size=1, max_size=5))
def test_whatever_the_values_all_are_on_the_axis_between_round_ticks(values: list[float]) -> None:
    markup = forest_markup(Forest("a", "value", tuple(Mark(f"row {at}", "", value) for at, value in enumerate(values))))
    across, named = places(markup), ticks(markup)
    assert len(across) == len(values)
    assert all(0 <= x <= 100 for x in across)
    assert 2 <= len(named) <= MOST_TICKS
    assert named == sorted(set(named))
    order = sorted(range(len(values)), key=values.__getitem__)
    assert [across[at] for at in order] == sorted(across)
