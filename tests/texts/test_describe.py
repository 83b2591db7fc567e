"""Descriptions of a small table, each figure counted by hand; lengths, and rounding as printed tables do."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.texts.describe import (
    NO_NAME,
    Description,
    SharedRow,
    TextColumns,
    TextLabels,
    count_words,
    describe,
    find_keywords,
    log_odds_z,
    mean,
    often_repeated,
    own_copies,
    round_half_up,
    standard_deviation,
)

FRAME = pd.DataFrame(
    [
        # text, row, group, source, by
        ("Who says so?", "They park badly.", "cyclists", "people", "ana"),
        ("Come and have a cup of tea.", "They are late.", "drinkers", "models", "ben"),
        ("Who says so?", "They are late.", "drinkers", "people", "ana"),
        ("Ask one of them", "They park badly.", "drinkers", "people", "cem"),
        (" ", "They never wave.", "cyclists", "", ""),
    ],
    columns=["cn", "hs", "target", "from", "by"],
    dtype=object,
)
LABELS = [("q",), ("kind", "joke"), ("q", "joke"), (), ()]
ALL = TextColumns("cn", "hs", "target", "from", "by")
NUMBERS = st.lists(st.integers(0, 200), min_size=2, max_size=30)


def described(columns: TextColumns = ALL, frame: pd.DataFrame = FRAME, **limits: Any) -> Description:
    return describe(
        frame,
        columns,
        lines=range(2, 2 + len(frame)),
        labels=[TextLabels("kind", LABELS[: len(frame)], ("kind", "joke", "q"))],
        **limits,
    )


def value(found: Description, figure: str, of: str = "") -> object:
    (one,) = [one for one in found.figures if (one.figure, one.of) == (figure, of)]
    return one.value


@pytest.mark.parametrize(
    ("figure", "n"),
    [
        ("texts", 4),
        ("distinct texts", 3),
        ("rows", 3),
        ("rows without a text", 1),
        ("rows in several groups", 1),
        ("writers", 3),
        ("writers of more than one text", 1),
        ("copies of the writer's own text", 1),
        ("texts of 3 words or fewer", 2),
        ("texts of 7 words or more", 1),
        ("texts with several labels", 2),
        ("texts without a label", 1),
        ("texts repeated more than 10 times", 0),
    ],
)
def test_the_whole_table_is_counted(figure: str, n: int) -> None:
    assert value(described(more_than=3, under=7), figure) == n


def test_means_are_over_texts_and_groups_labels_in_declared_order_and_what_is_undefined_says_why() -> None:
    found = described()
    (words,) = [one for one in found.figures if one.figure == "mean words" and one.per == "all"]
    # cyclists 3; drinkers 7, 3 and 4 words
    assert (words.value, words.over_groups, words.n) == (Fraction(17, 4), (3 + Fraction(14, 3)) / 2, 4)
    assert value(found, "mean row words") == 3
    counts = [(one.of, one.value) for one in found.figures_per("label") if one.figure == "texts"]
    assert counts == [("kind", 1), ("joke", 2), ("q", 2)]
    assert [(one.of, one.value) for one in found.figures_per("labels")] == [("joke + kind", 1), ("joke + q", 1)]
    assert value(found, "share of texts", "joke") == Fraction(2, 4)
    assert value(found, "mean words", "joke") == Fraction(7 + 3, 2)
    assert found.shared == (SharedRow("They park badly.", ("cyclists", "drinkers"), (2, 5)),)
    undefined = {(one.figure, one.of): one.why for one in found.figures if one.value is None}
    alone = [(f"sd {of}words", name) for of in ("row ", "") for name in ("cyclists", "models")]
    assert undefined == dict.fromkeys([*alone, ("sd words", "kind")], "only one text")
    assert value(described(TextColumns("cn")), "lines without a text") == 1


@pytest.mark.parametrize(
    ("of", "texts", "rows", "mean_words"),
    [
        ("cyclists", 1, 1, 3),
        ("drinkers", 3, 2, Fraction(14, 3)),
        ("people", 3, 2, Fraction(10, 3)),
        ("models", 1, 1, 7),
    ],
)
def test_each_group_and_source_has_its_figures(of: str, texts: int, rows: int, mean_words: Fraction) -> None:
    found = described()
    assert [value(found, figure, of) for figure in ("texts", "rows", "mean words")] == [texts, rows, mean_words]


def test_a_group_that_nobody_answered_has_no_mean_and_is_in_no_mean_of_means() -> None:
    found = described(TextColumns("cn", "hs", group="hs"))
    means = {one.of: (one.value, one.why) for one in found.figures_per("group") if one.figure == "mean words"}
    assert means == {
        "They park badly.": (Fraction(7, 2), ""),
        "They are late.": (5, ""),
        "They never wave.": (None, "no text"),
    }
    (whole,) = [one for one in found.figures_per("all") if one.figure == "mean words"]
    assert (whole.over_groups, whole.n_groups) == (Fraction(17, 4), 2)


def test_a_text_without_a_group_is_told_and_a_line_with_neither_is_not() -> None:
    frame = FRAME.assign(target=["cyclists", "", "drinkers", "drinkers", ""])
    assert dict.fromkeys(one.of for one in described(frame=frame).figures_per("group")) == dict.fromkeys(
        ["cyclists", NO_NAME, "drinkers"]
    )


def test_a_mean_is_written_unrounded_and_half_up() -> None:
    frame = FRAME.iloc[:4].assign(cn=["a"] * 3 + ["a b"])
    (words,) = [
        one for one in described(TextColumns("cn"), frame=frame).figures_per("all") if one.figure == "mean words"
    ]
    assert (words.as_dict()["value"], words.as_dict()["rounded"]) == (1.25, "1.25")


# -- labels


def crossed(groups: list[tuple[str, ...]]) -> Description:
    kinds = [TextLabels("kind", LABELS, ("kind", "joke", "q")), TextLabels("tone", [("mild",), (), (), ("mild",), ()])]
    return describe(FRAME, TextColumns("cn"), lines=range(5), labels=kinds, groups=groups)


def test_each_label_of_each_column_is_counted_by_group_where_texts_have_several_of_both() -> None:
    found = crossed([("b",), ("a", "b"), ("b",), ("a",), ("c",)])
    counts = {one.of: (one.value, one.n) for one in found.figures_per("label by group") if one.figure == "texts"}
    assert counts == {
        **{"kind: kind x b": (1, 3), "kind: joke x b": (2, 3), "kind: q x b": (2, 3), "tone: mild x b": (1, 3)},
        **{"kind: kind x a": (1, 2), "kind: joke x a": (1, 2), "kind: q x a": (0, 2), "tone: mild x a": (1, 2)},
    }
    assert value(found, "share of texts", "kind: joke x b") == Fraction(2, 3)


def test_the_group_of_a_line_without_a_text_is_not_counted() -> None:
    groups: list[tuple[str, ...]] = [("a",), ("a",), ("a",), ("a",), ("c",)]
    assert not [one for one in crossed(groups).figures if one.of.endswith("x c")]


def test_words_are_parted_by_white_space_and_by_nothing_else() -> None:
    texts = pd.Series(["Tea, please.", " one\n\ttwo  three ", "", "می\u200cشود"], dtype=object)
    assert list(count_words(texts)) == [2, 3, 0, 1]


@given(NUMBERS)
def test_the_deviation_is_numpys(numbers: list[int]) -> None:
    found = standard_deviation(numbers)
    assert found is not None
    assert math.isclose(found, float(np.std(numbers, ddof=1)), rel_tol=1e-9, abs_tol=1e-9)
    assert mean(numbers) == Fraction(sum(numbers), len(numbers))
    assert (mean([]), standard_deviation([3])) == (None, None)


@pytest.mark.parametrize(
    ("value", "decimals", "printed"),
    [
        (Fraction(18955, 1000), 2, "18.96"),  # as a float it lies below the half
        (Fraction(23975, 1000), 2, "23.98"),
        (Fraction(5, 2), 0, "3"),
        (Fraction(-5, 2), 0, "-2"),
        (Fraction(1, 3), 4, "0.3333"),
        (7, 2, "7.00"),
    ],
)
def test_a_half_goes_up(value: Fraction, decimals: int, printed: str) -> None:
    assert str(round_half_up(value, decimals)) == printed


@given(st.fractions(-1000, 1000), st.integers(0, 5))
def test_what_is_rounded_is_within_half_a_unit(value: Fraction, decimals: int) -> None:
    gap = Fraction(round_half_up(value, decimals)) - value
    assert -Fraction(1, 2) < gap * 10**decimals <= Fraction(1, 2)


def test_only_texts_that_come_more_than_ten_times_are_often_repeated() -> None:
    texts = pd.Series(["ten"] * 10 + ["eleven"] * 10 + [" eleven "] + ["twelve"] * 12, dtype=object)
    assert often_repeated(texts).to_dict() == {"twelve": 12, "eleven": 11}
    assert list(often_repeated(texts).index) == ["twelve", "eleven"]


def test_a_copy_is_one_of_an_earlier_text_by_the_same_writer() -> None:
    texts = pd.Series(["Tea?", "Tea?", "Tea? ", "tea?"], dtype=object)
    assert list(own_copies(texts, pd.Series(["ana", "ben", "ana", "ana"]))) == [False, False, True, False]


# -- keywords: the log-odds of Monroe et al. (2008)


COUNTS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)).filter(any), min_size=2, max_size=8)


def test_z_is_that_of_the_formula_by_hand() -> None:
    # Two words, 3 and 1 times in one set of texts, 1 and 1 in the other; prior 4 and 2.
    (z, _) = log_odds_z(np.array([3, 1]), np.array([1, 1]))
    delta = math.log((3 + 4) / (4 + 6 - 3 - 4)) - math.log((1 + 4) / (2 + 6 - 1 - 4))
    assert math.isclose(z, delta / math.sqrt(1 / (3 + 4) + 1 / (1 + 4)))


@given(COUNTS)
def test_the_two_sets_have_opposite_signs(counts: list[tuple[int, int]]) -> None:
    own, others = (np.array(side) for side in zip(*counts, strict=True))
    np.testing.assert_allclose(log_odds_z(own, others), -log_odds_z(others, own), atol=1e-12)


def test_a_label_s_keywords_are_typical_of_it_and_counted() -> None:
    texts = ["Why tea? Why?", "Why not", "Tea it is", "Tea and rain"]
    (found,) = find_keywords(texts, [["question"], ["question"], [], []], ["question"], 1)
    assert [(one.word, one.n, one.n_others) for one in found.words] == [("why", 3, 0)]


def test_words_with_an_apostrophe_or_a_zero_width_non_joiner_are_whole() -> None:
    (found,) = find_keywords(["don't می\u200cشود", "other words"], [["a"], []], ["a"], 5)
    assert {one.word for one in found.words} == {"don't", "می\u200cشود"}


def test_keywords_are_undefined_and_say_why() -> None:
    def why(texts: list[str], labels: list[list[str]]) -> str:
        (found,) = find_keywords(texts, labels, ["a"], 5)
        assert found.words == ()
        return found.why

    assert why(["1", "2"], [["a"], []]) == "no text has a word"
    assert why(["tea", "rain"], [["a"], ["a"]]) == "texts without it have no word"
    assert why(["tea", "rain"], [[], []]) == "texts with it have no word"
    assert why(["tea", "tea"], [["a"], []]) == "all texts have the same word only"
