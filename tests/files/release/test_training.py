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
    negatives: dict[tuple[int, int], list[int]] = {}
    for hs, positive, negative in draw_negatives(JUDGED, BODIES, n, seed).to_numpy().tolist():
        negatives.setdefault((hs, positive), []).append(negative)
    return negatives


def test_as_many_negatives_as_asked_are_drawn_for_each_positive_apart_and_none_twice() -> None:
    assert drawn(5) == {(1, 10): [11, 14, 15], (2, 12): [16], (1, 13): [11, 14, 15]}
    for seed in range(20):
        negatives = drawn(2, seed)
        assert {key: len(set(of)) for key, of in negatives.items()} == {(1, 10): 2, (2, 12): 1, (1, 13): 2}
        assert set(negatives[1, 10]) | set(negatives[1, 13]) <= {11, 14, 15}
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


def test_each_kind_has_the_columns_of_its_tools_and_its_hs_on_the_same_side() -> None:
    triplets, preferences, made = sets("triplets"), sets("preferences"), sets("pairs")
    assert list(triplets.train) == list(triplets.test) == ["anchor", "positive", "negative"]
    assert list(preferences.train) == list(preferences.test) == ["prompt", "chosen", "rejected"]
    assert triplets.train.to_numpy().tolist() == preferences.train.to_numpy().tolist()
    assert triplets.test.to_numpy().tolist() == preferences.test.to_numpy().tolist()
    assert list(made.train) == ["sentence1", "sentence2", "label"]
    expected = {(f"text {hs} é", f"text {cn} é", int(good)) for hs, cn, good in JUDGED.itertuples(index=False)}
    assert set(both(made).itertuples(index=False, name=None)) == expected
    assert len(both(made)) == len(JUDGED)
    assert set(triplets.test["anchor"]) == set(preferences.test["prompt"]) <= set(made.test["sentence1"])
    counts = triplets.counts
    assert (counts["hs_without_positive"], counts["hs_without_negative"]) == (1, 1)
    assert counts["train"] + counts["test"] == 5
    assert counts["train_hs"] == counts["test_hs"] == 1


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


REFUSED: list[tuple[Kind, list[int], dict[str, Any], str]] = [
    ("triplets", [1, 2, 3, 4], {"negatives": 0}, "negatives is 0; expected a whole number, 1 or more"),
    (
        *("pairs", [1, 2, 3, 4], {"test_share": 0.01}),
        r"0.01 of 4 HS leaves the test side empty; name a larger one \(0.25 is one HS\)",
    ),
    ("pairs", [1, 2, 3, 4], {"test_share": 0.99}, "0.99 of 4 HS leaves the train side empty; name a smaller one"),
    ("pairs", [1], {}, "1 HS cannot be split into two sides"),
    ("triplets", [1, 3, 4], {}, r"no triplets fall on the (train|test) side .*change it, or the --seed"),
    ("preferences", [3, 4], {}, "no HS has both an appropriate and a not appropriate CN"),
]


@pytest.mark.parametrize(("kind", "hs", "options", "message"), REFUSED)
def test_sets_that_lack_something_are_refused(kind: Kind, hs: list[int], options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sets(kind, JUDGED[JUDGED["hs_id"].isin(hs)], **options)


def rows(*meta: dict[str, str], language: str | None = "") -> pd.DataFrame:
    sides = [(1, 10), (2, 10), (1, 11), (3, 12)]
    given: list[dict[str, Any]] = [{"hs_id": hs, "cn_id": cn, "hs": f"h{hs}", "cn": f"c{cn}"} for hs, cn in sides]
    described = meta or ({},) * 4
    return pd.DataFrame([{**one, "language": language, "meta": of} for one, of in zip(given, described, strict=True)])


def test_rows_with_one_of_the_hs_or_one_of_the_cns_go() -> None:
    left = remaining_rows(rows(), {2}, {11})
    assert left.to_dict("list") == {"hs": ["h1", "h3"], "cn": ["c10", "c12"], "hs_id": [1, 3], "cn_id": [10, 12]}


def test_metadata_and_known_languages_become_columns_before_the_numbers_of_the_study() -> None:
    left = remaining_rows(rows({"age": "61"}, {}, {"age": "25", "type": "facts"}, {}), {2}, set())
    assert left["age"].tolist() == ["61", "25", ""]
    assert left["type"].tolist() == ["", "facts", ""]
    left = remaining_rows(rows(*({"cn_id": f"EN{at}"} for at in range(4))), {2}, set())
    assert left["cn_id"].tolist() == ["EN0", "EN2", "EN3"]
    assert left["hs_id"].tolist() == [1, 1, 3]
    assert remaining_rows(rows(language="en"), set(), {10})["language"].tolist() == ["en", "en"]
    assert "language" not in remaining_rows(rows(language=None), set(), {10})
