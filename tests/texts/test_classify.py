"""How well labels were predicted: by hand, as scikit-learn has it, and GPT-4's types on CrowdCounter."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from fcpair.errors import InputError
from fcpair.records import Figure
from fcpair.texts.classify import ClassificationFigures, LabelTable, classify, read_label_table

LABELS = ("a", "b", "c", "d")
FEW = 200  # draws


def labelled(truth: list[str], predicted: list[str]) -> LabelTable:
    """Labels from strings such as `ab`."""
    marks = [np.array([[one in row for one in LABELS] for row in side]) for side in (truth, predicted)]
    return LabelTable(LABELS, marks[0], marks[1])


def one(truth: list[str], predicted: list[str], **more: Any) -> ClassificationFigures:
    (found,) = classify(labelled(truth, predicted), draws=FEW, **more)
    return found


def figures(found: ClassificationFigures) -> dict[str, Figure]:
    return {figure.name: figure for figure in (*found.figures, *found.averages)}


def values(found: ClassificationFigures) -> dict[str, float | None]:
    return {name: figure.value for name, figure in figures(found).items()}


# -- by hand


def test_the_figures_of_three_rows_by_the_formulas() -> None:
    """Y ab, c, ad; Z ac, c, abcd: |Y n Z| 1, 1, 2; unions 3, 1, 4; differences 2, 0, 2 of 4 labels."""
    found = values(one(["ab", "c", "ad"], ["ac", "c", "abcd"]))
    assert found["accuracy"] == pytest.approx((1 / 3 + 1 + 2 / 4) / 3)
    assert found["precision"] == pytest.approx((1 / 2 + 1 + 2 / 4) / 3)
    assert found["recall"] == pytest.approx((1 / 2 + 1 + 2 / 2) / 3)
    assert found["F1"] == pytest.approx(2 * (2 / 3) * (5 / 6) / (2 / 3 + 5 / 6))
    assert found["Hamming loss"] == pytest.approx((2 / 4 + 0 + 2 / 4) / 3)
    assert found["samples F1"] == pytest.approx((2 / 4 + 1 + 4 / 6) / 3)
    assert found["exact match"] == pytest.approx(1 / 3)


def test_a_row_without_a_prediction_counts_0_and_says_so() -> None:
    found = one(["ab", "c"], ["ab", ""])
    assert (found.n, found.n_no_prediction, found.n_no_truth, found.n_empty) == (2, 1, 0, 0)
    assert [values(found)[name] for name in ("accuracy", "precision", "recall")] == [0.5, 0.5, 0.5]
    precision = figures(found)["precision"]
    assert precision.n == 2
    assert "1 row without a prediction count 0" in precision.note
    assert (values(found)["samples precision"], figures(found)["samples precision"].n) == (1.0, 1)


def test_a_row_without_a_true_label_is_left_out_of_recall_alone() -> None:
    found = one(["ab", ""], ["ab", "c"])
    assert found.n_no_truth == 1
    assert [values(found)[name] for name in ("accuracy", "precision", "recall")] == [0.5, 0.5, 1.0]
    assert figures(found)["recall"].n == 1
    assert "1 row left out: 0/0" in figures(found)["recall"].note


def test_a_row_without_any_label_is_left_out_of_all_but_the_hamming_loss() -> None:
    found = one(["ab", ""], ["a", ""])
    assert found.n_empty == 1
    assert {name: figures(found)[name].n for name in ("accuracy", "precision", "F1", "Hamming loss")} == {
        "accuracy": 1,
        "precision": 1,
        "F1": 1,
        "Hamming loss": 2,
    }
    assert values(found)["accuracy"] == 0.5
    assert values(found)["Hamming loss"] == 1 / 8


def test_what_is_0_over_0_is_undefined_with_a_reason_and_never_a_number() -> None:
    nothing = figures(one(["", ""], ["", ""]))
    assert {name for name, figure in nothing.items() if figure.value is not None} == {"Hamming loss", "exact match"}
    assert nothing["precision"].undefined == "no row has a label, true or predicted"
    wrong = figures(one(["a", "b"], ["b", "a"]))
    assert (wrong["precision"].value, wrong["recall"].value, wrong["F1"].value) == (0.0, 0.0, None)
    assert wrong["F1"].undefined == "precision and recall are both 0, or one of them is undefined"


def test_each_label_has_its_figures_and_its_support() -> None:
    """a: true 2, predicted 1, both 1; b: true 1, predicted 2, both 1; c: never predicted; d: never there at all."""
    found = one(["a", "a", "bc"], ["a", "b", "b"])
    a, b, c, d = found.per_label
    assert (a.n_true, a.n_predicted, a.precision.value, a.recall.value) == (2, 1, 1.0, 0.5)
    assert (b.precision.value, b.recall.value) == (0.5, 1.0)
    assert b.f1.value == pytest.approx(2 / 3)
    assert (c.precision.undefined, c.recall.value, c.f1.value) == ("it is never predicted", 0.0, 0.0)
    assert d.f1.undefined == "no row has it, and it is never predicted"
    assert (a.f1.n, d.recall.n) == (2, 0)
    macro = figures(found)["macro F1"]
    assert macro.value == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert "1 label left out: 0/0" in macro.note


# -- scikit-learn


def marks(n_rows: int) -> st.SearchStrategy[npt.NDArray[np.bool_]]:
    rows = st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=n_rows, max_size=n_rows)
    return rows.map(np.array)


@given(st.integers(1, 12).flatmap(lambda n: st.tuples(marks(n), marks(n))))
def test_the_averages_are_scikit_learn_s(both: tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]) -> None:
    truth, predicted = both
    (measured,) = classify(LabelTable(LABELS, truth, predicted), draws=100)
    found = values(measured)
    for average in ("samples", "micro", "macro"):
        expected = metrics.precision_recall_fscore_support(truth, predicted, average=average, zero_division=np.nan)
        for name, value in zip(("precision", "recall", "F1"), expected[:3], strict=True):
            said = found[f"{average} {name}"]
            assert (np.nan if said is None else said) == pytest.approx(value, abs=1e-12, nan_ok=True), (average, name)
    assert found["exact match"] == pytest.approx(metrics.accuracy_score(truth, predicted))
    assert found["Hamming loss"] == pytest.approx(metrics.hamming_loss(truth, predicted))


# -- parts and intervals


def test_each_value_of_by_has_the_figures_of_its_rows_alone() -> None:
    given = labelled(["a", "b", "a", "c"], ["a", "b", "c", "c"])
    whole, east, west = classify(given, by=["west", "east", "west", "east"], draws=FEW)
    assert [(one.of, one.n, values(one)["accuracy"]) for one in (whole, east, west)] == [
        (None, 4, 0.75),
        ("east", 2, 1.0),
        ("west", 2, 0.5),
    ]


def test_an_interval_holds_its_figure_and_follows_the_seed_and_not_the_order_of_rows() -> None:
    rng = np.random.default_rng(2)
    truth, predicted = (["".join(rng.choice(list(LABELS), 2)) for _ in range(40)] for _ in range(2))
    first = one(truth, predicted, seed=1)
    for figure in figures(first).values():
        assert figure.low is not None
        assert figure.high is not None
        assert figure.low <= (figure.value or 0.0) <= figure.high
    order = rng.permutation(40)
    moved = one([truth[at] for at in order], [predicted[at] for at in order], seed=1)
    assert figures(moved)["F1"].low == pytest.approx(figures(first)["F1"].low, abs=1e-12)
    assert one(truth, predicted, seed=2) != first == one(truth, predicted, seed=1)


def test_the_bounds_of_a_share_are_those_of_the_binomial_distribution() -> None:
    """60 of 100 rows are right: the share of right ones among 100 drawn lies between 0.50 and 0.69 or 0.70 in 95 %."""
    (found,) = classify(labelled(["a"] * 100, ["a"] * 60 + ["b"] * 40), draws=20_000)
    accuracy = figures(found)["accuracy"]
    assert accuracy.low == pytest.approx(0.50, abs=0.011)
    assert accuracy.high == pytest.approx(0.70, abs=0.011)


def test_groups_that_are_drawn_whole_give_wider_intervals_where_their_rows_are_alike() -> None:
    truth, predicted = ["a"] * 60, (["a"] * 6 + ["b"] * 6) * 5
    alone = figures(one(truth, predicted))["accuracy"]
    groups = figures(one(truth, predicted, group=[str(at // 6) for at in range(60)]))["accuracy"]
    assert alone.value == groups.value == 0.5
    assert groups.high is not None
    assert groups.low is not None
    assert groups.high - groups.low > 1.5 * ((alone.high or 0) - (alone.low or 0))
    assert "interval from 10 groups" in groups.note


def test_a_figure_has_no_interval_where_nothing_varies_or_one_group_is_all_there_is() -> None:
    same = figures(one(["a", "b"], ["a", "b"]))["accuracy"]
    assert (same.value, same.low) == (1.0, None)
    assert "gives the same" in same.note
    alone = figures(one(["a", "b"], ["a", "c"], group=["x", "x"]))["accuracy"]
    assert "no interval: it needs at least 2 groups, found 1" in alone.note


def test_a_figure_that_many_draws_leave_undefined_has_no_interval() -> None:
    """One row of ten has `d`: a third of the draws lack it."""
    found = one(["a"] * 9 + ["d"], ["a", "b"] * 4 + ["a", "d"])
    recall = found.per_label[3].recall
    assert (recall.value, recall.low) == (1.0, None)
    assert "no interval: undefined in" in recall.note


def test_the_same_seed_gives_the_same_bytes() -> None:
    texts = [json.dumps(asdict(one(["ab", "c", "d"], ["a", "cd", "b"], seed=5)), allow_nan=False) for _ in range(2)]
    assert texts[0] == texts[1]


def test_no_rows_and_draws_that_cannot_carry_an_interval_are_refused() -> None:
    with pytest.raises(InputError, match="no rows"):
        classify(LabelTable(LABELS, np.zeros((0, 4), np.bool_), np.zeros((0, 4), np.bool_)))
    for draws in (0, 99, 1_000_001):
        with pytest.raises(InputError, match="expected 100 to 1,000,000"):
            classify(labelled(["a"], ["a"]), draws=draws)


# -- CrowdCounter


@pytest.fixture(scope="module")
def crowdcounter(data: Path) -> pd.DataFrame:
    """All texts of CrowdCounter with their types and GPT-4's, as a file would have them."""
    path = data / "crowdcounter" / "Final_Dataset_additional_context_gpt4.json"
    written = [(hs, one) for hs, texts in json.loads(path.read_text("utf-8")).items() for one in texts.values()]
    return pd.DataFrame(
        {
            "hs": [hs for hs, _ in written],
            "required": [one["type_required"] for _, one in written],
            "more": [json.dumps(one["additional_types"]) for _, one in written],
            "gpt4": [json.dumps(one["gpt4-types"]) for _, one in written],
        }
    )


def test_gpt_4_s_types_on_crowdcounter_are_as_right_as_was_recomputed(crowdcounter: pd.DataFrame) -> None:
    given = read_label_table(crowdcounter, "crowdcounter", ["required", "more"], "gpt4", ignored=["sarcasm"])
    (measured,) = classify(given, group=crowdcounter["hs"].tolist(), draws=FEW)
    found = values(measured)
    assert (measured.n, measured.n_no_prediction, measured.n_no_truth, given.n_ignored) == (3435, 23, 0, 1)
    assert {name: round(found[name] or 0, 6) for name in ("accuracy", "precision", "recall", "F1", "Hamming loss")} == {
        "accuracy": 0.423086,
        "precision": 0.504575,
        "recall": 0.625163,
        "F1": 0.558433,
        "Hamming loss": 0.262445,
    }
    assert round(found["samples F1"] or 0, 6) == 0.519036
    assert figures(measured)["samples precision"].n == 3412


def test_the_one_type_that_gpt_4_made_up_is_found_on_its_row(crowdcounter: pd.DataFrame) -> None:
    lined = crowdcounter.assign(line=range(2, len(crowdcounter) + 2))
    with pytest.raises(InputError) as caught:
        read_label_table(lined, "crowdcounter", ["required", "more"], "gpt4")
    (finding,) = caught.value.findings
    assert finding.line == 908
    assert "`sarcasm` is not a label" in finding.message
