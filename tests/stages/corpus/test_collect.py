"""What is left out of a source, and what is drawn from it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.stages.corpus.retrieve import draw_rows, have_many_slurs, labelled_by_majority


def test_what_most_people_found_normal_is_left_out_and_a_tie_stays() -> None:
    labels = ["normal; normal; hate", "normal, hate, hate", "Normal;hate", "", "normal"]
    assert labelled_by_majority(labels, ["normal"]).tolist() == [True, False, False, False, True]


def test_a_text_with_a_slur_needs_so_many_other_words() -> None:
    texts = ["Those tea-bags again", "tea-bags " + "word " * 9, "tea-bags " + "word " * 10, "short", "TEA-BAGS!"]
    assert have_many_slurs(texts, ["tea-bags"], 10).tolist() == [True, True, False, False, True]


def test_a_quota_that_cannot_be_reached_says_what_there_is() -> None:
    with pytest.raises(InputError, match=r"cats \(1 of 2\); the groups have cats 1, tea 3$"):
        draw_rows(["tea", "tea", "tea", "cats"], np.arange(4), {"tea": 2, "cats": 2}, None, None, 0)
    with pytest.raises(InputError, match=r"cats \(1 of 2\)"):
        draw_rows(["tea", "tea", "tea", "cats"], np.arange(4), {}, 2, None, 0)


def test_more_texts_than_there_are_cannot_be_drawn() -> None:
    with pytest.raises(InputError, match="5 texts cannot be drawn; there are 4"):
        draw_rows(["tea"] * 4, np.arange(4), {}, None, 5, 0)


@given(st.lists(st.sampled_from("abc"), min_size=3, max_size=40), st.integers(1, 3), st.integers(0, 5))
def test_of_every_group_as_many_as_asked_and_the_same_by_the_same_seed(groups: list[str], n: int, seed: int) -> None:
    n = min(n, *Counter(groups).values())
    drawn = draw_rows(groups, np.arange(len(groups)), {}, n, None, seed)
    found = Counter(group for group, is_in in zip(groups, drawn.tolist(), strict=True) if is_in)
    assert found == dict.fromkeys(set(groups), n)
    assert (draw_rows(groups, np.arange(len(groups)), {}, n, None, seed) == drawn).all()


def test_a_sample_is_drawn_of_what_the_quotas_leave() -> None:
    drawn = draw_rows(["a"] * 10 + ["b"] * 10, np.arange(20), {"a": 4}, None, 3, 1)
    assert drawn[:10].sum() == 3
    assert not drawn[10:].any()
