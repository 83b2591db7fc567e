"""Widths from FC-CONAN's published labels as a pilot: they are near those that all of its overlap has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fcpair.files.corpus.fc_conan import read_published
from fcpair.params import Plan
from fcpair.stages.assignment.width_sources import PilotLabels, PredictedWidth
from fcpair.stages.questions.labels import APPROPRIATENESS
from fcpair.stages.stats.agreement import compute_agreement, find_overlap
from fcpair.stages.stats.predicted_widths import OverlapSize

ALPHA = "Krippendorff's alpha, nominal"
N_HS, N_CN, N_ANNOTATORS, N_THIRDS = 45, 130, 9, 40


@pytest.fixture(scope="module")
def overlap(data: Path) -> pd.DataFrame:
    """The published labels of the 701 pairs with two or three, which are on 24 CNs."""
    published = read_published(data / "fc-conan" / "bronze_partition_df.csv")
    labels = published.labels.merge(published.pairs[["pair", "hs", "cn"]], on="pair")
    labels = labels.rename(columns={"pair": "cell_id", "person": "annotator"})
    labels = labels.assign(hs_id=labels["hs"].factorize()[0], cn_id=labels["cn"].factorize()[0])
    return labels[labels.duplicated("cell_id", keep=False)]


def printed_width(overlap: pd.DataFrame) -> float:
    """The width of the interval that `agreement` prints for alpha."""
    alpha = next(one for one in compute_agreement(overlap, APPROPRIATENESS).pooled if one.name == ALPHA)
    assert alpha.low is not None
    assert alpha.high is not None
    return alpha.high - alpha.low


def pairs_of(overlap: pd.DataFrame) -> dict[int, int]:
    n_labels = np.bincount(overlap.groupby("cell_id").size())
    return {2: int(n_labels[2]), 3: int(n_labels[3])}


def predict(pilot: pd.DataFrame, size: OverlapSize) -> PredictedWidth:
    return PilotLabels(Plan(), APPROPRIATENESS, find_overlap(pilot, APPROPRIATENESS)).predict(ALPHA, size)


@pytest.mark.slow
def test_random_thirds_predict_the_width_that_all_of_the_overlap_has(overlap: pd.DataFrame) -> None:
    rng, cells = np.random.default_rng(1), overlap["cell_id"].unique()
    size = OverlapSize(N_HS, overlap["cn_id"].nunique(), N_ANNOTATORS, pairs_of(overlap))
    thirds = [rng.choice(cells, round(len(cells) / 3), replace=False) for _ in range(N_THIRDS)]
    predicted = [predict(overlap[overlap["cell_id"].isin(third)], size) for third in thirds]
    width = printed_width(overlap)
    assert width == pytest.approx(0.417, abs=0.001)
    assert np.median([one.width for one in predicted]) == pytest.approx(width, rel=0.1)
    assert np.mean([one.low <= width <= one.high for one in predicted]) >= 0.8  # type: ignore[operator]
    assert max(one.high / one.low for one in predicted) <= 3  # type: ignore[operator]


@pytest.mark.slow
def test_where_the_overlap_is_on_few_cns_the_width_is_that_of_few_cns(overlap: pd.DataFrame) -> None:
    """On all 130 CNs, as many pairs would leave an interval half as wide."""
    pairs = overlap.drop_duplicates("cell_id")
    of_texts = (tuple(pairs.groupby(name).size()) for name in ("hs_id", "cn_id"))
    there = predict(overlap, OverlapSize(N_HS, N_CN, N_ANNOTATORS, pairs_of(overlap), *of_texts))
    spread = predict(overlap, OverlapSize(N_HS, N_CN, N_ANNOTATORS, pairs_of(overlap)))
    assert there.width == pytest.approx(printed_width(overlap), rel=0.1)
    assert spread.width is not None
    assert spread.width < 0.6 * printed_width(overlap)
