"""Keywords: the log-odds of Monroe et al. (2008), by hand."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fcpair.texts.describe import find_keywords, log_odds_z

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
