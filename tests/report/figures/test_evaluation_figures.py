"""The figures: what they show, that they can be read, and that the same outcome gives the same bytes."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from evaluate.outcomes import TIERS, TWELVE, TWO, outcome
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from fcpair.evaluate.outcome import NO_HS, Outcome, Score
from fcpair.evaluate.systems import Random
from fcpair.report.figures import evaluation_figures, save
from fcpair.report.figures.colours import PAPER, Inks
from fcpair.report.figures.evaluation_figures import LOOKS, draw_chart, significance_cautions
from fcpair.report.figures.layout import PAPER_SHEETS, SCREEN, Sheet, wrap_text
from fcpair.report.figures.save import render_for_paper


def drawn(result: Outcome, measure: str = "NDCG@5", inks: Inks | None = None) -> Figure:
    with save.figure_settings():
        return draw_chart(result, measure, inks or PAPER)


@pytest.fixture(scope="module")
def rendered() -> dict[str, bytes]:
    """All figures of `outcome()`."""
    return render_for_paper(evaluation_figures.outcome_figures(outcome()))


def scores_of(result: Outcome, measure: str = "NDCG@5") -> list[Score]:
    """In the order of the bars; the first system ranks at random."""
    own = [score for score in result.scores if score.measure == measure]
    own = [score for score in own if score.expected is (score.system == result.systems[0].short)]
    places = {system.short: at for at, system in enumerate(result.systems)}
    return sorted(own, key=lambda score: places[score.system])


def bars(figure: Figure) -> list[Rectangle]:
    """The bars themselves, without outlines and bands, from top to bottom."""
    patches = [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle)]
    return [patch for patch in patches if patch.get_zorder() == 2]


def words_of(figure: Figure) -> str:
    texts = [text.get_text().replace("\n", "") for text in figure.findobj(Text) if isinstance(text, Text)]
    return " ".join(" ".join(texts).replace("\u00a0", " ").split())


def test_each_measure_has_an_svg_a_pdf_and_a_png() -> None:
    drawn = render_for_paper(evaluation_figures.outcome_figures(outcome(measures=("NDCG", "MAP(by=all)"))))
    names = ("NDCG@5", "MAP_by-all@5")
    assert list(drawn) == [f"{name}.{kind}" for name in names for kind in ("svg", "pdf", "png")]
    assert [content[:4] for content in drawn.values()] == [b"<?xm", b"%PDF", b"\x89PNG"] * 2


@pytest.mark.parametrize(
    ("measures", "names"),
    [
        (("NDCG@10", "bpref", "RBP(p=0.8)"), ["NDCG@10", "bpref", "RBP_p-0.8"]),
        (("MAP@10", "MAP(by=all)@10"), ["MAP@10", "MAP_by-all@10"]),
        (("a/b", "a\\b", "A:B", "a b"), ["a_b", "a_b-2", "A_B-3", "a_b-4"]),
    ],
)
def test_file_names_can_be_used_everywhere_and_never_collide(measures: tuple[str, ...], names: list[str]) -> None:
    assert save.file_names(measures) == names


def test_the_same_outcome_gives_the_same_bytes_whatever_the_user_has_set(rendered: dict[str, bytes]) -> None:
    with mpl.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.facecolor": "red"}):
        two = render_for_paper(evaluation_figures.outcome_figures(Outcome.from_data(outcome().as_data())))
    assert rendered == two
    assert all(mpl.__version__.encode() not in content for content in rendered.values())


def test_bars_bands_and_whiskers_are_as_long_as_the_scores_say() -> None:
    """Systems are in their order, the best tier first; a random system is drawn by its exact expectation."""
    result = outcome()
    figure, scores = drawn(result), scores_of(result)
    axes = figure.axes[0]
    assert [bar.get_width() for bar in bars(figure)] == [score.score for score in scores]
    assert [score.tier for score in scores] == [*TIERS, *TIERS]
    tops = [bar.get_y() for bar in bars(figure)]
    assert tops == sorted(tops)
    bands = [patch for patch in axes.patches if patch.get_zorder() == 1.9]
    ends = [[band.get_x(), band.get_x() + band.get_width()] for band in bands if isinstance(band, Rectangle)]
    expected = [[score.lowest or 0, score.highest or 0] for score in scores if not score.expected]
    assert np.array(ends) == pytest.approx(np.array(expected))
    whiskers = [list(np.asarray(line.get_xdata())) for line in axes.lines if line.get_zorder() == 3.1]
    assert whiskers == [[score.low, score.high] for score in scores if not score.expected]
    marked = [np.asarray(line.get_xdata())[0] for line in axes.lines if line.get_marker() == "D"]
    exact = [score.score for score in scores if score.expected]
    assert marked == exact == [bar.get_width() for bar in bars(figure)][: len(TIERS)]
    assert len(exact) == len(TIERS)
    assert "exact expectation" in words_of(figure)
    assert "exact expectation" not in words_of(drawn(outcome(TWO[1:])))
    for shown in (result, outcome((Random(),), TIERS[:1])):  # the axis begins at 0 and holds everything
        low, high = drawn(shown).axes[0].get_xlim()
        ends_of = [end for score in scores_of(shown) for end in (score.score, score.high, score.highest) if end]
        assert low == 0
        assert max(ends_of) <= high <= 1.02


def test_a_random_system_looks_the_same_whatever_was_drawn(rendered: dict[str, bytes]) -> None:
    result = outcome()
    scores = [
        replace(score, score=0.9, low=0.8, high=0.95, highest=1.0)
        if score.system == "random" and not score.expected
        else score
        for score in result.scores
    ]
    assert render_for_paper(evaluation_figures.outcome_figures(replace(result, scores=tuple(scores)))) == rendered


def test_a_figure_says_what_it_rests_on() -> None:
    result = outcome(without=("diamond",), pool="/home/me/pool.csv")
    text = words_of(drawn(result))
    tier = result.tiers[1]
    assert f"Gold: 9 HS, {tier.judged} of 180 pairs judged" in text
    assert "Pool pool.csv: 20 CNs. Bars: unjudged pairs count as not appropriate." in text
    assert "95 % interval (Bayesian bootstrap over HS)" in text
    assert "HS without an appropriate CN in the pool, counted too: Diamond 9." in text
    assert "Judged pairs outside of the pool, left out: Gold 1, Silver 2, Bronze 3." in text
    assert "SIMULATED" not in text
    result = replace(outcome(), simulated="5 of 9 judgements are SIMULATED")
    assert "5 of 9 judgements are SIMULATED." in words_of(drawn(result))
    assert "SIMULATED" in evaluation_figures.description(result, result.measures[0])


def test_a_measure_with_one_reading_has_no_band_and_says_so() -> None:
    figure = drawn(outcome(), "judged@5")
    assert not [patch for patch in figure.axes[0].patches if patch.get_zorder() == 1.9]
    assert "lowest to highest" not in words_of(figure)
    assert "counted in one way only" in words_of(figure)
    assert "count as not appropriate" not in words_of(figure)


def test_what_is_undefined_has_no_bar_or_whisker_and_the_figure_says_why() -> None:
    figure = drawn(outcome(without=("diamond",), no_positives="leave_out"))
    assert len(bars(figure)) == len(TWO) * (len(TIERS) - 1)
    assert words_of(figure).count("undefined") == len(TWO)
    assert f"Undefined on Diamond: {NO_HS}." in words_of(figure)
    assert "Diamond: 0 of 9 HS" in words_of(figure)
    assert bars(drawn(outcome(without=TIERS, no_positives="leave_out"))) == []
    text = words_of(drawn(outcome(n_hs=1)))
    assert "95 % interval" not in text
    assert "Undefined on Diamond, Gold, Silver, Bronze: 1 HS gives no interval; it takes 5 or more." in text


def test_an_svg_is_xml_with_title_description_and_every_name_as_text() -> None:
    result = outcome(TWELVE, measures=("NDCG",))
    tree = ElementTree.fromstring(render_for_paper(evaluation_figures.outcome_figures(result))["NDCG@5.svg"])
    tag = "{http://www.w3.org/2000/svg}"
    assert tree.findtext(f"{tag}title") == "NDCG@5"
    text = "".join(line.text or "" for line in tree.iter(f"{tag}text")).replace(" ", "")
    (described,) = tree.iter("{http://purl.org/dc/elements/1.1/}description")
    for system in result.systems:
        name = system.short.replace("\n", "\ufffd").replace("\x01", "\ufffd")
        assert name.replace(" ", "") in text
        assert name in str(described.text)
    for tier in TIERS:
        assert f"{tier.capitalize()}:9HS" in text


def assert_in_the_picture(figure: Figure) -> None:
    """No text leaves the picture, and no name of a system stands on another."""
    figure.draw_without_rendering()
    width, height = figure.get_size_inches() * figure.get_dpi()
    axes = figure.axes[0]
    in_legends = [text for legend in figure.legends for text in legend.get_texts()]
    for text in (*figure.texts, *axes.texts, *in_legends, axes.xaxis.label):
        box = text.get_window_extent()
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= width
        assert box.y1 <= height
    names = [text.get_window_extent() for text in axes.texts if text.get_horizontalalignment() == "right"]
    assert all(upper.y0 >= lower.y1 for upper, lower in pairwise(names))


@pytest.mark.parametrize("sheet", [SCREEN, *PAPER_SHEETS.values()])
@pytest.mark.parametrize("tiers", [TIERS, TIERS[:1], TIERS[2:]])
@pytest.mark.parametrize("systems", [TWELVE, TWELVE[7:8]])
def test_texts_stay_in_the_picture_and_apart(systems: Any, tiers: tuple[str, ...], sheet: Sheet) -> None:
    with save.figure_settings():
        assert_in_the_picture(draw_chart(outcome(systems, tiers), "NDCG@5", sheet=sheet))


def lightness(colour: Any) -> float:
    """Relative luminance as WCAG 2 defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def test_tiers_differ_in_hatching_and_lightness_and_look_the_same_in_every_picture() -> None:
    tier_bars = bars(drawn(outcome(TWO[:1])))
    assert len({bar.get_hatch() for bar in tier_bars}) == len(TIERS) == len(LOOKS)
    luminance = [lightness(bar.get_facecolor()) for bar in tier_bars]
    contrasts = [(other + 0.05) / (first + 0.05) for first, other in pairwise(luminance)]
    assert min(contrasts) > 1.7
    for bar in tier_bars[1:]:  # hatching stands out on its colour
        darker, lighter = sorted((lightness(bar.get_facecolor()), lightness(bar.get_edgecolor())))
        assert (lighter + 0.05) / (darker + 0.05) > 3
    (alone,), silver = bars(drawn(outcome(TWO[:1], ("silver",)))), tier_bars[2]
    assert (alone.get_hatch(), alone.get_facecolor()) == (silver.get_hatch(), silver.get_facecolor())


def test_a_picture_for_dark_pages_is_dark() -> None:
    dark = drawn(outcome(), inks=Inks(page="#181a1b", ink="#e1e1e1"))
    assert to_rgb(dark.get_facecolor()) == to_rgb("#181a1b")
    colours = {to_rgb(text.get_color()) for text in dark.findobj(Text) if isinstance(text, Text) and text.get_text()}
    assert colours == {to_rgb("#e1e1e1")}


@given(st.text("ab -/:(,_W字", max_size=80), st.integers(1, 12))
def test_a_name_in_lines_loses_nothing_but_spaces(text: str, signs: int) -> None:
    lines = wrap_text(text, signs)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(len(line) <= signs for line in lines)


def test_names_are_broken_behind_punctuation() -> None:
    assert wrap_text("bm25(k1=0.9,b=0.4,tokens=space)", 29) == ["bm25(k1=0.9,b=0.4,", "tokens=space)"]
    assert all(line != other for line, other in combinations(wrap_text("sbert:a/b-c", 4), 2))


# -- tests that cannot be significant


def test_a_caution_says_how_many_resamples_or_hs_a_test_takes() -> None:
    """Of six pairs of systems, 6 / 101 is above 0.05, and 6 / 121 is the first below; so are 6 * 2 / 2**7 and 2**8."""
    four, three = (tuple(Random(seed=seed) for seed in range(n)) for n in (4, 3))

    def cautions(systems: tuple[Random, ...], *tiers: str, resamples: int, n_hs: int) -> list[str]:
        return list(significance_cautions(outcome(systems, tiers or TIERS, resamples=resamples, n_hs=n_hs)))

    assert cautions(four, resamples=100, n_hs=20) == [
        "no test can reach p < 0.05: the least p of 100 resamples is 1 / 101, and Holm's correction multiplies it by "
        "the 6 pairs of systems of a tier and measure; it takes --resamples 120 or more"
    ]
    assert cautions(four, resamples=120, n_hs=20) == cautions(three, resamples=100, n_hs=20) == []
    gold, bronze = cautions(four, "gold", "bronze", resamples=100, n_hs=7)
    assert gold.startswith("no test on gold can reach p < 0.05:")
    assert bronze.startswith("no test on bronze can reach p < 0.05:")
    assert "the least p of 7 HS is 2 / 128" in gold
    assert gold.endswith("it takes 8 HS, however often it is resampled")
    assert cautions(four, resamples=120, n_hs=8) == cautions(four[:1], resamples=100, n_hs=5) == []
