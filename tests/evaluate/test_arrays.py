"""Measures straight from arrays, against the long way by a full ranking, and the largest values of each row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from fcpair.errors import InputError
from fcpair.evaluate import arrays as measured_arrays
from fcpair.evaluate.arrays import measure_arrays
from fcpair.evaluate.judged_rankings import label_ranking
from fcpair.evaluate.measures import MAP, MEASURES, MRR, NDCG, Accuracy, HitRatio, JudgedAt, Measure
from fcpair.evaluate.systems import sort_by_score
from fcpair.stages.corpus.nearest_neighbours import top_columns

EVERY: list[Measure] = [cls() for cls in MEASURES.values()]
CUT: list[Measure] = [HitRatio(2), MRR(3), NDCG(4), MAP(1, "all"), Accuracy(3), JudgedAt(2)]
shapes = st.tuples(st.integers(1, 5), st.integers(1, 14))


@st.composite
def worlds(draw: st.DrawFn) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Scores of which many tie, and labels."""
    shape = draw(shapes)
    scores = draw(arrays(np.float64, shape, elements=st.sampled_from([-np.inf, -1.5, 0.0, 0.25, 3.0])))
    return scores, draw(arrays(np.int8, shape, elements=st.integers(-1, 1)))


@given(worlds(), st.sampled_from([EVERY, CUT]))
def test_figures_are_those_of_the_full_ranking(
    world: tuple[NDArray[np.float64], NDArray[np.int8]], measures: list[Measure]
) -> None:
    scores, labels = world
    judged = label_ranking(sort_by_score(scores)[0], labels)
    expected = np.stack([measure(judged) for measure in measures], axis=1)
    assert measure_arrays(scores, labels, measures) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("cells", [1, 40, 99])
def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    rng = np.random.default_rng(1)
    scores, labels = rng.integers(0, 5, (13, 10)).astype(float), rng.integers(-1, 2, (13, 10)).astype(np.int8)
    whole = measure_arrays(scores, labels, EVERY)
    monkeypatch.setattr(measured_arrays, "BLOCK_CELLS", cells)
    assert measure_arrays(scores, labels, EVERY) == pytest.approx(whole, abs=1e-12)


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.uint8, np.bool_])
def test_scores_and_labels_may_be_of_any_kind_of_number(kind: type[np.generic]) -> None:
    found = measure_arrays(np.array([[0, 1, 0]]).astype(kind), np.array([[0, 1, 0]], np.int8), [MRR(3)])
    assert found.tolist() == [[1]]
    labels = np.array([[0, 1, 0]]).astype(np.int8 if kind is np.float32 else kind)  # labels of whole numbers alone
    found = measure_arrays(np.array([[1.0, 2, 3]]), labels, [MRR(3), NDCG(1)])
    assert found.tolist() == [[0.5, 0]]


def test_no_measures_give_no_columns() -> None:
    assert measure_arrays(np.ones((3, 2)), np.ones((3, 2), np.int8), []).shape == (3, 0)


@pytest.mark.parametrize(
    ("scores", "labels", "message"),
    [
        (np.ones((2, 3)), np.ones((3, 2)), r"the shapes \(2, 3\) and \(3, 2\); expected the same two"),
        (np.ones(3), np.ones(3), r"the shapes \(3,\) and \(3,\)"),
        (np.ones((0, 3)), np.ones((0, 3)), r"the shapes \(0, 3\)"),
        (np.ones((3, 0)), np.ones((3, 0)), r"the shapes \(3, 0\)"),
        (np.array([[1.0, np.nan]]), np.ones((1, 2)), "1 scores are NaN"),
        (np.ones((1, 2)), np.array([[1, 2]]), "labels must be 1, 0 or -1"),
        (np.ones((1, 2)), np.array([[-2, 1]]), "labels must be 1, 0 or -1"),
        (np.ones((1, 2)), np.array([[0.5, 1]]), "labels must be 1, 0 or -1"),
    ],
)
def test_arrays_that_cannot_be_measured_are_refused(
    scores: NDArray[np.float64], labels: NDArray[np.int8], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        measure_arrays(scores, labels, [MRR(3)])


# -- the largest values


@given(worlds(), st.integers(0, 14))
def test_the_top_is_the_head_of_a_stable_sort(world: tuple[NDArray[np.float64], NDArray[np.int8]], places: int) -> None:
    scores, _ = world
    places = min(places, scores.shape[1])
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :places]
    assert top_columns(scores, places).tolist() == expected.tolist()
