"""Training sets: what is drawn, and that no HS stands on both sides; and the corpus less some HS and some CNs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.files.release.tier import (
    COLUMNS,
    Kind,
    TrainingSets,
    draw_for_sizes,
    draw_negatives,
    draw_test_hs,
    remaining_rows,
    training_sets,
)
from fcpair.params import Export

# HS 1 has two positives and three negatives, HS 2 one and one, HS 3 no positive, HS 4 no negative.
JUDGED = pd.DataFrame(
    {
        "hs_id": [1, 1, 2, 1, 1, 1, 2, 3, 4],
        "cn_id": [10, 11, 12, 13, 14, 15, 16, 10, 11],
        "appropriate": [True, False, True, True, False, False, False, False, True],
    }
)
BODIES = pd.Series({one: f"text {one} é" for one in range(1, 40)})
KINDS = list(COLUMNS)


def sets(kind: Kind, pairs: pd.DataFrame = JUDGED, **given: Any) -> TrainingSets:
    options: dict[str, Any] = {"negatives": 2, "test_share": 0.5, "seed": 4, **given}
    return training_sets(kind, pairs, BODIES, Export(**options))


def both(made: TrainingSets) -> pd.DataFrame:
    return pd.concat([made.train, made.test], ignore_index=True)


def drawn(n: int, seed: int = 0) -> dict[tuple[int, int], list[int]]:
    """The negatives of each HS and positive."""
    found: dict[tuple[int, int], list[int]] = {}
    for hs, positive, negative in draw_negatives(JUDGED, BODIES, n, seed).to_numpy().tolist():
        found.setdefault((hs, positive), []).append(negative)
    return found


def test_all_negatives_are_taken_where_there_are_fewer() -> None:
    assert drawn(5) == {(1, 10): [11, 14, 15], (2, 12): [16], (1, 13): [11, 14, 15]}


def test_as_many_as_asked_are_drawn_for_each_positive_and_none_twice() -> None:
    for seed in range(20):
        found = drawn(2, seed)
        assert {key: len(set(of)) for key, of in found.items()} == {(1, 10): 2, (2, 12): 1, (1, 13): 2}
        assert set(found[1, 10]) | set(found[1, 13]) <= {11, 14, 15}


def test_positives_of_one_hs_do_not_share_a_draw() -> None:
    assert any(drawn(1, seed)[1, 10] != drawn(1, seed)[1, 13] for seed in range(20))


def test_every_negative_is_as_likely_as_another() -> None:
    picked = draw_for_sizes(np.full(30_000, 5), 2, np.random.default_rng(1))
    assert np.bincount(picked.ravel()) / 30_000 == pytest.approx([0.4] * 5, abs=0.02)


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(1, 12), st.integers(0, 99))
def test_a_draw_from_each_size_is_within_it_and_without_replacement(sizes: list[int], n: int, seed: int) -> None:
    picked = draw_for_sizes(np.array(sizes, np.int64), n, np.random.default_rng(seed))
    for size, row in zip(sizes, picked.tolist(), strict=True):
        there = [one for one in row if one >= 0]
        assert len(there) == min(size, n) == len(set(there))
        assert all(one < size for one in there)


def test_fewer_than_one_negative_is_refused() -> None:
    with pytest.raises(InputError, match="negatives is 0; expected a whole number, 1 or more"):
        sets("triplets", negatives=0)


def test_triplets_and_preferences_have_the_columns_of_their_tools_and_the_same_rows() -> None:
    triplets, preferences = sets("triplets"), sets("preferences")
    assert list(triplets.train) == list(triplets.test) == ["anchor", "positive", "negative"]
    assert list(preferences.train) == list(preferences.test) == ["prompt", "chosen", "rejected"]
    assert triplets.train.to_numpy().tolist() == preferences.train.to_numpy().tolist()
    assert triplets.test.to_numpy().tolist() == preferences.test.to_numpy().tolist()


def test_pairs_have_every_judged_pair_once_with_its_label() -> None:
    made = sets("pairs")
    assert list(made.train) == ["sentence1", "sentence2", "label"]
    expected = {(f"text {hs} é", f"text {cn} é", int(good)) for hs, cn, good in JUDGED.itertuples(index=False)}
    assert set(both(made).itertuples(index=False, name=None)) == expected
    assert len(both(made)) == len(JUDGED)


def test_hs_that_give_no_triplet_are_counted() -> None:
    counts = sets("triplets").counts
    assert (counts["hs_without_positive"], counts["hs_without_negative"]) == (1, 1)
    assert counts["train"] + counts["test"] == 5
    assert counts["train_hs"] == counts["test_hs"] == 1


def test_an_hs_is_on_the_same_side_in_every_kind() -> None:
    anchors = {kind: set(sets(kind).test.iloc[:, 0]) for kind in KINDS}
    assert anchors["triplets"] == anchors["preferences"] <= anchors["pairs"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_the_same_rows_and_another_seed_others(kind: Kind) -> None:
    many = pd.DataFrame([(hs, cn, (hs + cn) % 3 == 0) for hs in range(1, 10) for cn in range(10, 40)])
    many.columns = pd.Index(["hs_id", "cn_id", "appropriate"])
    assert sets(kind, many, seed=1).train.equals(sets(kind, many, seed=1).train)
    assert not sets(kind, many, seed=1).train.equals(sets(kind, many, seed=2).train)


@given(
    st.dictionaries(st.tuples(st.integers(1, 6), st.integers(10, 16)), st.booleans(), min_size=1),
    st.sampled_from(KINDS),
    st.floats(0.05, 0.95),
    st.integers(0, 99),
)
def test_no_hs_stands_on_both_sides_and_every_row_was_judged(
    judged: dict[tuple[int, int], bool], kind: Kind, share: float, seed: int
) -> None:
    pairs = pd.DataFrame([(*key, good) for key, good in judged.items()], columns=["hs_id", "cn_id", "appropriate"])
    try:
        made = sets(kind, pairs, test_share=share, seed=seed)
    except InputError:
        return
    assert len(made.train)
    assert len(made.test)
    assert not set(made.train.iloc[:, 0]) & set(made.test.iloc[:, 0])
    said = {(f"text {hs} é", f"text {cn} é"): good for (hs, cn), good in judged.items()}
    for hs, one, other in both(made).itertuples(index=False, name=None):
        if kind == "pairs":
            assert said[hs, one] == bool(other)
        else:
            assert said[hs, one]
            assert not said[hs, other]


def test_the_test_side_has_its_share_of_hs() -> None:
    hs = pd.Series([3, 1, 1, 2, 9, 8, 7, 6, 5, 4, 10])
    assert len(draw_test_hs(hs, BODIES, 0.2, 0)) == 2
    assert set(draw_test_hs(hs, BODIES, 0.2, 0)) <= set(hs)


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.01, r"0.01 of 4 HS leaves the test side empty; name a larger one \(0.25 is one HS\)"),
        (0.99, "0.99 of 4 HS leaves the train side empty; name a smaller one"),
    ],
)
def test_a_split_that_leaves_a_side_without_hs_is_refused(share: float, said: str) -> None:
    with pytest.raises(InputError, match=said):
        sets("pairs", test_share=share)


def test_a_single_hs_cannot_be_split() -> None:
    with pytest.raises(InputError, match="1 HS cannot be split into two sides"):
        sets("pairs", JUDGED[JUDGED["hs_id"] == 1])


def test_a_side_whose_hs_give_no_triplet_is_refused() -> None:
    only_one = JUDGED[JUDGED["hs_id"].isin([1, 3, 4])]
    with pytest.raises(InputError, match=r"no triplets fall on the (train|test) side .*change it, or the --seed"):
        sets("triplets", only_one)


def test_a_tier_without_any_triplet_is_refused() -> None:
    with pytest.raises(InputError, match="no HS has both an appropriate and a not appropriate CN"):
        sets("preferences", JUDGED[JUDGED["hs_id"] > 2])


def rows(*meta: dict[str, str], language: str | None = "") -> pd.DataFrame:
    sides = [(1, 10), (2, 10), (1, 11), (3, 12)]
    given: list[dict[str, Any]] = [{"hs_id": hs, "cn_id": cn, "hs": f"h{hs}", "cn": f"c{cn}"} for hs, cn in sides]
    described = meta or ({},) * 4
    return pd.DataFrame([{**one, "language": language, "meta": of} for one, of in zip(given, described, strict=True)])


def test_rows_with_one_of_the_hs_or_one_of_the_cns_go() -> None:
    left = remaining_rows(rows(), {2}, {11})
    assert left.to_dict("list") == {"hs": ["h1", "h3"], "cn": ["c10", "c12"], "hs_id": [1, 3], "cn_id": [10, 12]}


def test_metadata_become_columns_and_are_empty_where_a_row_has_none() -> None:
    left = remaining_rows(rows({"age": "61"}, {}, {"age": "25", "type": "facts"}, {}), {2}, set())
    assert left["age"].tolist() == ["61", "25", ""]
    assert left["type"].tolist() == ["", "facts", ""]


def test_a_column_of_the_corpus_goes_before_the_number_of_the_study() -> None:
    left = remaining_rows(rows(*({"cn_id": f"EN{at}"} for at in range(4))), {2}, set())
    assert left["cn_id"].tolist() == ["EN0", "EN2", "EN3"]
    assert left["hs_id"].tolist() == [1, 1, 3]


def test_the_language_is_written_where_it_is_known() -> None:
    assert remaining_rows(rows(language="en"), set(), {10})["language"].tolist() == ["en", "en"]
    assert "language" not in remaining_rows(rows(language=None), set(), {10})
