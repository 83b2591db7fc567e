"""Agreement of labels: tables by hand, published examples, FC-CONAN's labels, and what must always hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats import inter_rater

from fcpair.errors import InputError
from fcpair.params import Agree
from fcpair.records import Figure
from fcpair.stages.questions import Choice, Closed, OneOf, parse_question
from fcpair.stages.questions.labels import APPROPRIATENESS
from fcpair.stages.stats.agreement import Agreement, compute_agreement, compute_alpha
from fcpair.stages.stats.kappa import SubsetAgreement, cohens_kappa

SCHEME = APPROPRIATENESS
TEXTS, DROP = Agree(), Agree(indefinite="drop")
Given = dict[int, dict[str, int]]
"""Labels as {pair: {annotator: code}}."""


def labels_of(given: Given) -> pd.DataFrame:
    """The labels as a table; pair p is HS p // 4 with CN p % 4."""
    rows = [(p, p // 4, p % 4, who, code) for p, codes in given.items() for who, code in codes.items()]
    return pd.DataFrame(rows, columns=["cell_id", "hs_id", "cn_id", "annotator", "code"])


def from_table(first: str, second: str, table: list[list[int]], start: int = 0) -> Given:
    """Labels of two annotators that fill `table`, whose classes are codes 0 and 2."""
    cells = [(2 * i, 2 * j) for i in (0, 1) for j in (0, 1) for _ in range(table[i][j])]
    return {start + p: {first: i, second: j} for p, (i, j) in enumerate(cells)}


def spread_out(given: Given) -> pd.DataFrame:
    """The labels with the pairs along two diagonals of the grid, so that no HS and no CN has more than two of them."""
    labels = labels_of(given)
    n = len(given) // 2 + 1
    return labels.assign(hs_id=labels["cell_id"] % n, cn_id=(labels["cell_id"] % n + labels["cell_id"] // n) % n)


def measured(given: Given, options: Agree = TEXTS, scheme: Closed = SCHEME) -> Agreement:
    return compute_agreement(labels_of(given), scheme, options)


def only(found: Agreement) -> SubsetAgreement:
    (subset,) = found.subsets
    return subset


def figures(found: Agreement) -> dict[str, Figure]:
    return {figure.name: figure for figure in (*found.summary, *found.pooled)}


def bounds(figure: Figure) -> tuple[float, float, float]:
    """The lower bound, the value and the upper bound of a figure that has them all."""
    numbers = [number for number in (figure.low, figure.value, figure.high) if number is not None]
    low, value, high = numbers
    return low, value, high


def defined(found: Agreement) -> list[str]:
    """The names of the figures that have a value; all others say why they have none."""
    assert all((figure.value is None) == bool(figure.undefined) for figure in figures(found).values())
    return [name for name, figure in figures(found).items() if figure.value is not None]


COHEN = [[20, 5], [10, 15]]  # Wikipedia, Cohen's kappa, the example of 50 grant proposals: kappa 0.40
SAME_RAW = [[45, 15], [25, 15]], [[25, 35], [5, 35]]  # ibid., equal percentages: 0.1304 and 0.2593
MOST = from_table("a", "b", COHEN) | from_table("a", "c", SAME_RAW[0], 100) | from_table("b", "c", SAME_RAW[1], 300)
ONE_CLASS = from_table("c", "d", [[4, 0], [0, 0]], 500)


def test_kappa_of_the_textbook_table() -> None:
    """Observed 35/50 = 0.7; by chance 0.5 x 0.6 + 0.5 x 0.4 = 0.5; kappa = 0.2 / 0.5 = 0.4."""
    subset = only(measured(from_table("a", "b", COHEN)))
    assert subset.kappa.value == pytest.approx(0.4)
    assert subset.raw_agreement == pytest.approx(0.7)
    assert subset.kappa.n == subset.n == 50


def test_table_and_prevalence_have_the_classes_in_code_order_and_the_first_name_in_rows() -> None:
    given = {0: {"b": 2, "a": 0}, 1: {"a": 0, "b": 0}, 2: {"b": 1, "a": 2}, 3: {"a": 0, "b": 2}}
    found = measured(given)
    assert found.classes == ("not_appropriate", "not_sure", "appropriate")
    assert only(found).annotators == ("a", "b")
    assert only(found).table == ((1, 0, 2), (0, 0, 0), (0, 1, 0))
    assert only(found).prevalence == pytest.approx((4 / 8, 1 / 8, 3 / 8))
    assert measured(given, scheme=OneOf(SCHEME.choices[::-1])) == found


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_weights_are_over_ranks_not_codes_and_as_in_statsmodels(weights: Any) -> None:
    wide = OneOf((Choice(0, "no"), Choice(1, "maybe"), Choice(50, "yes")))
    ranks = np.random.default_rng(3).integers(3, size=(40, 2)).tolist()
    subsets = [
        only(measured({p: {"a": c[i], "b": c[j]} for p, (i, j) in enumerate(ranks)}, Agree(weights), scheme))
        for scheme, c in ((wide, (0, 1, 50)), (SCHEME, (0, 1, 2)))
    ]
    expected = inter_rater.cohens_kappa(np.array(subsets[0].table), wt=weights).kappa
    assert subsets[0].kappa == subsets[1].kappa
    assert subsets[0].kappa.value == pytest.approx(expected)
    assert subsets[0].kappa_se is not None


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3))
def test_kappa_equals_statsmodels(table: list[list[int]]) -> None:
    counts = np.array(table)
    assume(counts.sum() > 1)
    assume((counts.sum(axis=0) + counts.sum(axis=1)).max() < 2 * counts.sum())
    for weights in ("none", "linear", "quadratic"):
        with np.errstate(divide="ignore", invalid="ignore"):
            fit = inter_rater.cohens_kappa(counts, wt=None if weights == "none" else weights)
        assert cohens_kappa(counts, weights) == pytest.approx(fit.kappa, abs=1e-9)


def test_every_two_annotators_who_share_a_pair_have_a_subset_and_a_pair_counts_once_in_the_summary() -> None:
    found = measured({0: {"c": 0, "a": 0, "b": 2}, 1: {"a": 0, "b": 0}, 2: {"d": 0, "b": 2}})
    sizes = {("a", "b"): 2, ("a", "c"): 1, ("b", "c"): 1, ("b", "d"): 1}
    assert {subset.annotators: subset.n for subset in found.subsets} == sizes
    given = {p: dict(zip("abc", codes, strict=True)) for p, codes in enumerate([(0, 0, 2), (2, 2, 0), (0, 2, 0)])}
    assert figures(measured(given))["mean kappa"].n == 3


@pytest.mark.parametrize(
    ("given", "raw", "why"),
    [
        ({p: {"a": 0, "b": 0} for p in range(5)}, 1, "same single class"),
        ({0: {"a": 0, "b": 0}}, 1, "one shared pair: it has no variance"),
        ({0: {"a": 0, "b": 2}}, 0, "one shared pair: it has no variance"),
    ],
)
def test_kappa_is_undefined_for_a_reason(given: Given, raw: float, why: str) -> None:
    subset = only(measured(given))
    assert (subset.kappa.value, subset.kappa_se, subset.raw_agreement) == (None, None, raw)
    assert why in str(subset.kappa.undefined)


@pytest.mark.parametrize(("table", "kappa"), [([[3, 0], [0, 4]], 1), ([[3, 4], [0, 0]], 0)])
@pytest.mark.parametrize("weights", ["none", "linear"])
def test_a_kappa_that_no_pair_moves_has_no_interval(table: list[list[int]], kappa: float, weights: Any) -> None:
    subset = only(compute_agreement(spread_out(from_table("a", "b", table)), SCHEME, Agree(weights)))
    assert subset.kappa.value == pytest.approx(kappa)
    assert (subset.kappa.low, subset.kappa.high, subset.kappa_se) == (None, None, None)
    assert "changes nothing, so the error cannot be estimated" in subset.kappa.note


def test_a_kappa_that_stands_on_one_hs_has_no_interval_and_none_reaches_beyond_one() -> None:
    """0 0, 0 2 / 2 2, 2 2: kappa is (3/4 - 1/2) / (1 - 1/2), but without the first HS both used one class."""
    subset = only(measured({0: {"a": 0, "b": 0}, 1: {"a": 0, "b": 2}, 4: {"a": 2, "b": 2}, 5: {"a": 2, "b": 2}}))
    assert subset.kappa.value == pytest.approx(0.5)
    assert (subset.kappa.low, subset.kappa_se) == (None, None)
    assert subset.kappa.note == "no interval: without one HS the figure is undefined"
    kappa = only(compute_agreement(spread_out(from_table("a", "b", [[10, 1], [0, 10]])), SCHEME, TEXTS)).kappa
    low, value, high = bounds(kappa)
    assert low < value < 1 == high


SURE, UNSURE = parse_question("one_of(unsure?,yes+)"), parse_question("one_of(hm?,well?)")


@pytest.mark.parametrize(
    ("given", "options", "scheme", "n_pairs", "names"),
    [
        ({}, TEXTS, SCHEME, 0, []),
        ({0: {"a": 0}, 1: {"b": 2}}, TEXTS, SCHEME, 2, []),
        # AC1 = (1 - 0) / (1 - 0) by its formula; the others divide by 0
        ({p: {"a": 2, "b": 2} for p in range(8)}, TEXTS, SCHEME, 8, ["raw agreement", "Gwet's AC1"]),
        ({0: {"a": 0, "b": 2, "c": 0}}, TEXTS, SCHEME, 1, ["raw agreement"]),
        ({0: {"a": 1, "b": 1}, 5: {"a": 1, "b": 1}, 6: {"a": 1, "b": 0}}, DROP, SURE, 3, ["raw agreement"]),
        ({0: {"a": 0, "b": 0}}, DROP, UNSURE, 0, []),
    ],
    ids=["no labels", "no overlap", "one class", "one pair", "one class is definite", "no class is definite"],
)
def test_figures_that_cannot_be_say_why(
    given: Given, options: Agree, scheme: Any, n_pairs: int, names: list[str]
) -> None:
    found = measured(given, options, scheme)
    assert defined(found) == names
    assert (found.n_pairs, bool(found.subsets)) == (n_pairs, bool(names))
    if not names:
        assert figures(found)["mean kappa"].undefined == "no two annotators share a pair"
    if n_pairs == 1:  # of three labels, one pair of three agrees
        assert figures(found)["raw agreement"].value == pytest.approx(1 / 3)


def test_fleiss_rests_only_on_pairs_with_its_number_of_labels() -> None:
    found = figures(measured({0: {"a": 0, "b": 0}, 1: {"a": 2, "b": 2}, 2: {"a": 0, "b": 2, "c": 0, "d": 0}}))
    assert (found["Fleiss' kappa, 2 labels"].value, found["Fleiss' kappa, 2 labels"].n) == (1, 2)
    assert found["Fleiss' kappa, 3 labels"].undefined == "no pair has exactly 3 labels"
    assert found["Krippendorff's alpha, nominal"].n == 3


def test_summary_of_the_defined_kappas_by_hand() -> None:
    """Kappas 2/5, 3/23 and 7/27 on 50, 100 and 100 pairs; the fourth subset, of one class, is left out."""
    found = figures(measured(MOST | ONE_CLASS))
    kappas = [2 / 5, 3 / 23, 7 / 27]
    mean = sum(kappas) / 3
    spread = (sum((kappa - mean) ** 2 for kappa in kappas) / 2) ** 0.5
    deviation = found["standard deviation of kappa"]
    assert found["mean kappa"].value == pytest.approx(mean)
    assert deviation.value == pytest.approx(spread)
    assert deviation.low is None
    assert "no interval: chance adds to it on small subsets" in deviation.note
    assert found["mean kappa weighted by n"].value == pytest.approx((50 * 2 / 5 + 300 / 23 + 700 / 27) / 250)
    assert found["mean kappa"].note.startswith("overlap subsets: 3 used, 1 undefined and left out; interval from")
    assert found["mean kappa"].n == 250
    one_subset = figures(measured(from_table("a", "b", COHEN)))
    assert one_subset["mean kappa"].value == one_subset["mean kappa weighted by n"].value == pytest.approx(0.4)
    assert one_subset["standard deviation of kappa"].value is None
    assert one_subset["standard deviation of kappa"].undefined


def test_dropped_indefinite_labels_are_left_out_before_anything_else() -> None:
    """Pair 1 loses one label and with it its overlap; pair 2 loses its only label."""
    found = measured({0: {"a": 0, "b": 2}, 1: {"a": 0, "b": 1}, 2: {"a": 1}, 3: {"a": 2, "b": 2}}, DROP)
    assert found.classes == ("not_appropriate", "appropriate")
    assert (found.n_pairs, found.n_overlapped, found.n_labels) == (3, 2, 5)
    assert only(found).table == ((0, 1), (0, 1))


def test_pairs_with_one_label_change_no_figure_and_the_input_stays_as_it_was() -> None:
    labels = labels_of(MOST | ONE_CLASS)
    before = labels.copy()
    found = compute_agreement(labels, SCHEME, TEXTS)
    pd.testing.assert_frame_equal(labels, before)
    more = measured(MOST | ONE_CLASS | {900: {"a": 2}, 901: {"d": 1}})
    assert (more.n_pairs, more.n_labels) == (found.n_pairs + 2, found.n_labels + 2)
    assert replace(more, n_pairs=found.n_pairs, n_labels=found.n_labels) == found


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": "cubic"}, "weights is 'cubic'; expected one of none, linear, quadratic"),
        ({"indefinite": "guess"}, "indefinite is 'guess'; expected one of class, drop"),
        ({"intervals": "people"}, "intervals is 'people'; expected one of texts, annotators"),
        ({"level": 95}, "level is 95.0; expected a share between 0 and 1"),
        ({"level": float("nan")}, "level is nan; expected a number that is finite"),
    ],
)
def test_options_refuse_what_cannot_be_used(change: dict[str, Any], message: str) -> None:
    assert all(option.metadata["help"] for option in fields(Agree))
    with pytest.raises(InputError, match=message):
        Agree(**change)


SEVEN = labels_of({p: {"a": 0} for p in range(7)})
PAIR = labels_of({3: {"a": 0, "b": 2}})


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (PAIR.drop(columns=["hs_id", "code"]), "lack the columns hs_id, code"),
        (PAIR.assign(code=[0, np.nan]), "empty cells in code"),
        (labels_of({3: {"a": 0}, 4: {"a": 7}, 5: {"b": 7}}), r"lacks \(7\), as on pairs 4, 5; expected 0, 1, 2"),
        (pd.concat([SEVEN, SEVEN]), r"pairs 0, 1, 2, 3, 4 and 2 more; give only the current"),
        (PAIR.assign(cn_id=[1, 2]), "one cell_id several hs_id or cn_id: pairs 3"),
    ],
    ids=["a column is missing", "an empty cell", "codes of no choice", "two by one person", "a pair in two places"],
)
def test_labels_that_cannot_be_measured_are_refused(labels: pd.DataFrame, message: str) -> None:
    with pytest.raises(InputError, match=message):
        compute_agreement(labels, SCHEME)


def test_as_dict_survives_json() -> None:
    again = json.loads(json.dumps(measured(MOST | ONE_CLASS).as_dict(), allow_nan=False))
    assert again["subsets"][0]["table"] == [[20, 0, 5], [0, 0, 0], [10, 0, 15]]
    assert again["pooled"][0]["name"] == "raw agreement"
    assert again["options"]["intervals"] == "texts"


def test_importing_the_module_imports_no_slow_library() -> None:
    loaded = "{'pandas', 'scipy', 'statsmodels', 'krippendorff'} & set(sys.modules)"
    code = f"import sys, fcpair.stages.stats.agreement; sys.exit(str({loaded}) if {loaded} else 0)"
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )


CODES = st.dictionaries(st.sampled_from("abcd"), st.sampled_from([0, 1, 2]), min_size=1)
given_labels = st.lists(CODES, min_size=1, max_size=12).map(lambda pairs: dict(enumerate(pairs)))


def values(found: Agreement, *left_out: str) -> dict[str, Any]:
    return {
        name: None if figure.value is None else pytest.approx(figure.value, abs=1e-9)
        for name, figure in figures(found).items()
        if name not in left_out
    }


@given(given_labels, st.randoms(use_true_random=False), st.permutations("abcd"))
def test_every_figure_has_a_finite_value_or_a_reason_and_neither_order_nor_names_change_any(
    given_: Given, random: Any, names: list[str]
) -> None:
    labels = labels_of(given_)
    found = compute_agreement(labels, SCHEME, TEXTS)
    for figure in (*found.summary, *found.pooled, *(subset.kappa for subset in found.subsets)):
        assert (figure.value is None) == (figure.undefined is not None)
        assert (figure.low is None) == (figure.high is None)
        for number in (figure.value, figure.low, figure.high):
            assert number is None or np.isfinite(number)
    json.dumps(found.as_dict(), allow_nan=False)
    order = random.sample(range(len(labels)), len(labels))
    assert compute_agreement(labels.iloc[order], SCHEME, TEXTS) == found
    renamed = labels.assign(annotator=labels["annotator"].map(dict(zip("abcd", names, strict=True))))
    again = compute_agreement(renamed, SCHEME, TEXTS)
    assert again.pooled == found.pooled
    assert values(again) == values(found)
    assert sorted(s.n for s in again.subsets) == sorted(s.n for s in found.subsets)


@given(given_labels, st.sampled_from(("nominal", "ordinal")), st.sampled_from(("class", "drop")))
def test_alpha_alone_is_that_of_all_figures_to_the_bit(given_: Given, distance: Any, not_sure: Any) -> None:
    labels, question, options = labels_of(given_), replace(SCHEME, distance=distance), Agree(indefinite=not_sure)
    columns = {name: labels[name].to_numpy(np.int64) for name in ("cell_id", "hs_id", "cn_id", "code")}
    annotator = labels["annotator"].map("abcd".index).to_numpy(np.int64)
    alpha = compute_alpha({**columns, "annotator": annotator}, question, options)
    assert alpha == compute_agreement(labels, question, options).alpha


@given(given_labels, st.permutations([0, 1, 2]))
def test_the_codes_of_the_classes_matter_only_to_ordinal_alpha(given_: Given, codes: list[int]) -> None:
    labels = labels_of(given_)
    recoded = labels.assign(code=labels["code"].map(dict(enumerate(codes))))
    ordinal = "Krippendorff's alpha, ordinal"
    left_out = () if codes in ([0, 1, 2], [2, 1, 0]) else (ordinal,)
    found, again = (compute_agreement(x, SCHEME, TEXTS) for x in (labels, recoded))
    assert values(again, *left_out) == values(found, *left_out)


def question(text: str) -> Closed:
    found = parse_question(text)
    assert isinstance(found, Closed)
    return found


@pytest.mark.parametrize(
    ("text", "n_alphas", "own"),
    [
        ("one_of(no,unsure?,yes+)", 2, None),
        ("one_of(no,unsure?,yes+,distance=ordinal)", 2, "ordinal"),
        ("scale(1,2,0.5,positive=2)", 3, "interval"),
    ],
)
def test_alpha_is_given_up_to_the_distance_of_the_question_and_says_which_that_is(
    text: str, n_alphas: int, own: str | None
) -> None:
    """Nothing else rests on the distance."""
    labels = labels_of(MOST | ONE_CLASS)
    found = figures(compute_agreement(labels, question(text)))
    alphas = {name.partition(", ")[2]: figure for name, figure in found.items() if "alpha" in name}
    assert list(alphas) == ["nominal", "ordinal", "interval"][:n_alphas]
    assert [name for name, alpha in alphas.items() if "the distance of the question" in alpha.note] == [own] * (
        own is not None
    )
    if own == "ordinal":
        plain = figures(compute_agreement(labels, question("one_of(no,unsure?,yes+)")))
        note = alphas[own].note.replace("codes; the distance of the question", "codes")
        assert found | {alphas[own].name: replace(alphas[own], note=note)} == plain


def test_the_interval_distance_is_that_of_the_numbers() -> None:
    """1 1, 1 3, 5 5 as in the tests of the coefficient: 24 / 29, whatever the unit and the start."""
    for text, step in (("scale(1,5,1)", 1), ("scale(-2,2,0.5)", 2), ("scale(0,0.004,0.001)", 1)):
        low, middle, high = 0, 2 * step, 4 * step
        labels = labels_of({0: {"a": low, "b": low}, 1: {"a": low, "b": middle}, 5: {"a": high, "b": high}})
        found = figures(compute_agreement(labels, question(text)))["Krippendorff's alpha, interval"]
        assert found.value == pytest.approx(24 / 29)


def test_a_scale_of_101_points_takes_little_memory() -> None:
    """A number for each two cells of a table of two would take 101 to the fourth, 830 MB for every two annotators."""
    rng = np.random.default_rng(0)
    pairs = np.repeat(np.arange(600), 2)
    codes = rng.integers(101, size=600)[pairs] + rng.integers(-3, 4, size=1200)
    labels = pd.DataFrame({"cell_id": pairs, "hs_id": pairs // 30, "cn_id": pairs % 30, "code": codes.clip(0, 100)})
    labels["annotator"] = [f"p{(pair + at) % 4}" for at, pair in enumerate(pairs)]
    tracemalloc.start()
    found = compute_agreement(labels, question("scale(0,100,1)"), Agree(weights="quadratic", intervals="annotators"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60 * 1024**2
    assert all(figure.value is not None for figure in figures(found).values() if "Fleiss" not in figure.name)


@pytest.fixture(scope="module")
def fc_conan() -> pd.DataFrame:
    """The 701 pairs of Bronze that have annotator columns, as labels of three annotators."""
    if "FCPAIR_DATA" not in os.environ:
        pytest.skip("FCPAIR_DATA does not name the folder with the published data")
    bronze = pd.read_csv(Path(os.environ["FCPAIR_DATA"]) / "fc-conan" / "bronze_partition_df.csv")
    wide = bronze.iloc[:, -3:].set_axis(["1", "2", "3"], axis="columns")
    wide["cell_id"] = bronze["original_index"]
    wide["hs_id"] = pd.factorize(bronze["hate speech"])[0]
    wide["cn_id"] = pd.factorize(bronze["counternarrative"])[0]
    long = wide.melt(["cell_id", "hs_id", "cn_id"], var_name="annotator", value_name="code")
    return long.dropna().astype({"code": int})


def test_fc_conan_figures(fc_conan: pd.DataFrame) -> None:
    """Kappa of the first two is 0.377427 on 701 pairs, as by scikit-learn's cohen_kappa_score.

    Without "not sure", the released pairs with two labels agree throughout: selection, not reliability.
    """
    found = compute_agreement(fc_conan, SCHEME)
    first = found.subsets[0]
    assert (first.annotators, first.n) == (("1", "2"), 701)
    assert first.kappa.value == pytest.approx(0.377427, abs=5e-7)
    assert (found.n_overlapped, found.n_labels) == (701, 701 + 701 + 199)
    assert {f.name: f.n for f in found.pooled if f.n != 701} == {
        "Fleiss' kappa, 2 labels": 502,
        "Fleiss' kappa, 3 labels": 199,
    }
    for figure in found.pooled:
        low, value, high = bounds(figure)
        assert low < value < high
    definite = figures(compute_agreement(fc_conan, SCHEME, DROP))["Fleiss' kappa, 2 labels"]
    assert (definite.n, definite.value, definite.low, definite.high) == (392, 1, None, None)
    assert "leaving out any one HS or CN changes nothing" in definite.note
