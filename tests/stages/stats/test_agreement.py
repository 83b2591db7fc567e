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
from fcpair.stages.stats.agreement import Agreement, compute_agreement, compute_alpha
from fcpair.stages.stats.kappa import SubsetAgreement, cohens_kappa

SCHEME = OneOf(
    (
        Choice(0, "not_appropriate"),
        Choice(1, "not_sure", definite=False),
        Choice(2, "appropriate", positive=True),
    )
)
TEXTS = Agree()

Given = dict[int, dict[str, int]]


def labels_of(given: Given) -> pd.DataFrame:
    """Labels from {pair: {annotator: code}}; pair p is HS p // 4 with CN p % 4."""
    rows = [(p, p // 4, p % 4, who, code) for p, codes in given.items() for who, code in codes.items()]
    return pd.DataFrame(rows, columns=["cell_id", "hs_id", "cn_id", "annotator", "code"])


def from_table(first: str, second: str, table: list[list[int]], start: int = 0) -> Given:
    """Labels of two annotators that fill `table`, whose classes are codes 0 and 2."""
    cells = [(2 * i, 2 * j) for i in (0, 1) for j in (0, 1) for _ in range(table[i][j])]
    return {start + p: {first: i, second: j} for p, (i, j) in enumerate(cells)}


def only(found: Agreement) -> SubsetAgreement:
    (subset,) = found.subsets
    return subset


def figures(found: Agreement) -> dict[str, Figure]:
    return {figure.name: figure for figure in (*found.summary, *found.pooled)}


COHEN = [[20, 5], [10, 15]]  # Wikipedia, Cohen's kappa, the example of 50 grant proposals: kappa 0.40
SAME_RAW = [[45, 15], [25, 15]], [[25, 35], [5, 35]]  # ibid., equal percentages: 0.1304 and 0.2593


# -- two annotators


def test_kappa_of_the_textbook_table() -> None:
    """Observed 35/50 = 0.7; by chance 0.5 x 0.6 + 0.5 x 0.4 = 0.5; kappa = 0.2 / 0.5 = 0.4."""
    subset = only(compute_agreement(labels_of(from_table("a", "b", COHEN)), SCHEME, TEXTS))
    assert subset.kappa.value == pytest.approx(0.4)
    assert subset.raw_agreement == pytest.approx(0.7)
    assert subset.kappa.n == subset.n == 50


def test_a_kappa_that_stands_on_one_hs_has_no_interval() -> None:
    """0 0, 0 2 / 2 2, 2 2: kappa is (3/4 - 1/2) / (1 - 1/2), but without the first HS both used one class."""
    given: Given = {0: {"a": 0, "b": 0}, 1: {"a": 0, "b": 2}, 4: {"a": 2, "b": 2}, 5: {"a": 2, "b": 2}}
    subset = only(compute_agreement(labels_of(given), SCHEME))
    assert subset.kappa.value == pytest.approx(0.5)
    assert (subset.kappa.low, subset.kappa_se) == (None, None)
    assert subset.kappa.note == "no interval: without one HS the figure is undefined"


def test_the_standard_deviation_of_kappa_has_no_interval_and_says_why() -> None:
    found = figures(compute_agreement(three_tables_and_one_undefined(), SCHEME, TEXTS))["standard deviation of kappa"]
    assert found.low is None
    assert "no interval: chance adds to it on small subsets" in found.note


def test_table_and_prevalence_have_the_classes_in_code_order_and_the_first_name_in_rows() -> None:
    given = {0: {"b": 2, "a": 0}, 1: {"a": 0, "b": 0}, 2: {"b": 1, "a": 2}, 3: {"a": 0, "b": 2}}
    found = compute_agreement(labels_of(given), SCHEME, TEXTS)
    assert found.classes == ("not_appropriate", "not_sure", "appropriate")
    assert only(found).annotators == ("a", "b")
    assert only(found).table == ((1, 0, 2), (0, 0, 0), (0, 1, 0))
    assert only(found).prevalence == pytest.approx((4 / 8, 1 / 8, 3 / 8))


def test_classes_follow_the_codes_even_if_the_scheme_lists_them_otherwise() -> None:
    shuffled = OneOf(SCHEME.choices[::-1])
    labels = labels_of(from_table("a", "b", COHEN))
    assert compute_agreement(labels, shuffled, TEXTS) == compute_agreement(labels, SCHEME, TEXTS)


@pytest.mark.parametrize(("weights", "power"), [("linear", 1), ("quadratic", 2)])
def test_weighted_kappa_by_loops(weights: Any, power: int) -> None:
    """1 - (disagreement seen) / (disagreement by chance), each cell weighted by its distance in ranks."""
    rng = np.random.default_rng(3)
    codes = rng.integers(3, size=(40, 2))
    given = {p: {"a": int(i), "b": int(j)} for p, (i, j) in enumerate(codes)}
    seen = np.mean([abs(i - j) ** power for i, j in codes])
    chance = np.mean([abs(i - j) ** power for i in codes[:, 0] for j in codes[:, 1]])
    found = only(compute_agreement(labels_of(given), SCHEME, replace(TEXTS, weights=weights)))
    assert found.kappa.value == pytest.approx(1 - seen / chance)
    assert found.kappa_se is not None


def test_weights_are_over_ranks_not_codes() -> None:
    wide = OneOf((Choice(0, "no"), Choice(1, "maybe"), Choice(50, "yes")))
    codes = [(0, 0), (0, 1), (1, 2), (2, 2), (2, 0), (1, 1)]
    found = [
        only(compute_agreement(labels_of({p: {"a": c[i], "b": c[j]} for p, (i, j) in enumerate(codes)}), s, linear))
        for s, c in ((wide, (0, 1, 50)), (SCHEME, (0, 1, 2)))
        for linear in [replace(TEXTS, weights="linear")]
    ]
    assert found[0].kappa == found[1].kappa


def test_a_pair_with_three_labels_is_in_three_subsets() -> None:
    found = compute_agreement(labels_of({0: {"c": 0, "a": 0, "b": 2}, 1: {"a": 0, "b": 0}}), SCHEME, TEXTS)
    assert {s.annotators: s.n for s in found.subsets} == {("a", "b"): 2, ("a", "c"): 1, ("b", "c"): 1}


def test_annotators_who_share_no_pair_have_no_subset() -> None:
    found = compute_agreement(labels_of({0: {"a": 0, "b": 0}, 1: {"b": 2, "c": 0}}), SCHEME, TEXTS)
    assert [s.annotators for s in found.subsets] == [("a", "b"), ("b", "c")]


# -- what is undefined


def test_kappa_is_undefined_where_both_use_the_same_single_class() -> None:
    subset = only(compute_agreement(labels_of({p: {"a": 0, "b": 0} for p in range(5)}), SCHEME, TEXTS))
    assert (subset.kappa.value, subset.kappa_se) == (None, None)
    assert subset.kappa.undefined is not None
    assert "same single class" in subset.kappa.undefined
    assert subset.raw_agreement == 1


@pytest.mark.parametrize("second", [0, 2])
def test_kappa_is_undefined_on_one_shared_pair(second: int) -> None:
    subset = only(compute_agreement(labels_of({0: {"a": 0, "b": second}}), SCHEME, TEXTS))
    assert subset.kappa == Figure("Cohen's kappa", None, 1, undefined="one shared pair: it has no variance")


@pytest.mark.parametrize(("table", "kappa"), [([[3, 0], [0, 4]], 1), ([[3, 4], [0, 0]], 0)])
@pytest.mark.parametrize("weights", ["none", "linear"])
def test_a_kappa_that_no_pair_moves_has_no_interval(table: list[list[int]], kappa: float, weights: Any) -> None:
    options = replace(TEXTS, weights=weights)
    subset = only(compute_agreement(spread_out(from_table("a", "b", table)), SCHEME, options))
    assert subset.kappa.value == pytest.approx(kappa)
    assert (subset.kappa.low, subset.kappa.high, subset.kappa_se) == (None, None, None)
    assert "changes nothing, so the error cannot be estimated" in subset.kappa.note


def spread_out(given: Given) -> pd.DataFrame:
    """The labels with the pairs along two diagonals of the grid, so that no HS and no CN has more than two of them."""
    labels = labels_of(given)
    n = len(given) // 2 + 1
    return labels.assign(hs_id=labels["cell_id"] % n, cn_id=(labels["cell_id"] % n + labels["cell_id"] // n) % n)


def test_no_interval_reaches_beyond_one() -> None:
    kappa = only(compute_agreement(spread_out(from_table("a", "b", [[10, 1], [0, 10]])), SCHEME, TEXTS)).kappa
    assert kappa.low is not None
    assert kappa.value is not None
    assert kappa.low < kappa.value < 1 == kappa.high


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3))
def test_kappa_equals_statsmodels(table: list[list[int]]) -> None:
    counts = np.array(table)
    assume(counts.sum() > 1)
    assume((counts.sum(axis=0) + counts.sum(axis=1)).max() < 2 * counts.sum())
    for weights in ("none", "linear", "quadratic"):
        with np.errstate(divide="ignore", invalid="ignore"):
            fit = inter_rater.cohens_kappa(counts, wt=None if weights == "none" else weights)
        assert cohens_kappa(counts, weights) == pytest.approx(fit.kappa, abs=1e-9)


@pytest.mark.parametrize("given", [{}, {0: {"a": 0}, 1: {"b": 2}}], ids=["no labels", "no overlap"])
def test_without_overlap_every_figure_says_why_it_is_undefined(given: Given) -> None:
    found = compute_agreement(labels_of(given), SCHEME, TEXTS)
    assert found.subsets == ()
    assert (found.n_pairs, found.n_overlapped, found.n_labels) == (len(given), 0, len(given))
    assert all(figure.value is None and figure.undefined for figure in (*found.summary, *found.pooled))
    assert figures(found)["mean kappa"].undefined == "no two annotators share a pair"


def test_one_class_leaves_only_raw_agreement_and_ac1() -> None:
    """AC1 = (1 - 0) / (1 - 0) by its formula; the others divide by 0."""
    found = compute_agreement(labels_of({p: {"a": 2, "b": 2} for p in range(8)}), SCHEME, TEXTS)
    defined = {name: figure.value for name, figure in figures(found).items() if figure.undefined is None}
    assert defined == {"raw agreement": 1, "Gwet's AC1": 1}
    assert all(figure.value is None for name, figure in figures(found).items() if name not in defined)


def test_one_pair_gives_raw_agreement_only() -> None:
    found = figures(compute_agreement(labels_of({0: {"a": 0, "b": 2, "c": 0}}), SCHEME, TEXTS))
    assert [name for name, figure in found.items() if figure.value is not None] == ["raw agreement"]
    assert found["raw agreement"].value == pytest.approx(1 / 3)


def test_a_scheme_that_keeps_one_class_has_no_chance_corrected_figure() -> None:
    scheme = OneOf((Choice(0, "unsure", definite=False), Choice(1, "yes", positive=True)))
    labels = labels_of({0: {"a": 1, "b": 1}, 5: {"a": 1, "b": 1}, 6: {"a": 1, "b": 0}})
    found = figures(compute_agreement(labels, scheme, replace(TEXTS, indefinite="drop")))
    assert [name for name, figure in found.items() if figure.value is not None] == ["raw agreement"]


def test_a_scheme_that_keeps_no_class_leaves_nothing() -> None:
    scheme = OneOf((Choice(0, "hm", definite=False), Choice(1, "well", definite=False)))
    found = compute_agreement(labels_of({0: {"a": 0, "b": 0}}), scheme, replace(TEXTS, indefinite="drop"))
    assert (found.classes, found.n_labels, found.subsets) == ((), 0, ())
    assert all(figure.value is None and figure.undefined for figure in figures(found).values())


def test_fleiss_rests_only_on_pairs_with_its_number_of_labels() -> None:
    given: Given = {0: {"a": 0, "b": 0}, 1: {"a": 2, "b": 2}, 2: {"a": 0, "b": 2, "c": 0, "d": 0}}
    found = figures(compute_agreement(labels_of(given), SCHEME, TEXTS))
    assert (found["Fleiss' kappa, 2 labels"].value, found["Fleiss' kappa, 2 labels"].n) == (1, 2)
    assert found["Fleiss' kappa, 3 labels"].undefined == "no pair has exactly 3 labels"
    assert found["Krippendorff's alpha, nominal"].n == 3


# -- summary


def three_tables_and_one_undefined() -> pd.DataFrame:
    return labels_of(
        from_table("a", "b", COHEN)
        | from_table("a", "c", SAME_RAW[0], 100)
        | from_table("b", "c", SAME_RAW[1], 300)
        | from_table("c", "d", [[4, 0], [0, 0]], 500)
    )


def test_summary_of_the_defined_kappas_by_hand() -> None:
    """Kappas 2/5, 3/23 and 7/27 on 50, 100 and 100 pairs; the fourth subset, of one class, is left out."""
    found = figures(compute_agreement(three_tables_and_one_undefined(), SCHEME, TEXTS))
    kappas = [2 / 5, 3 / 23, 7 / 27]
    mean = sum(kappas) / 3
    spread = (sum((kappa - mean) ** 2 for kappa in kappas) / 2) ** 0.5
    assert found["mean kappa"].value == pytest.approx(mean)
    assert found["standard deviation of kappa"].value == pytest.approx(spread)
    assert found["mean kappa weighted by n"].value == pytest.approx((50 * 2 / 5 + 300 / 23 + 700 / 27) / 250)
    assert found["mean kappa"].note.startswith("overlap subsets: 3 used, 1 undefined and left out; interval from")
    assert found["mean kappa"].n == 250


def test_the_summary_counts_a_pair_of_several_subsets_once() -> None:
    given = {p: dict(zip("abc", codes, strict=True)) for p, codes in enumerate([(0, 0, 2), (2, 2, 0), (0, 2, 0)])}
    assert figures(compute_agreement(labels_of(given), SCHEME, TEXTS))["mean kappa"].n == 3


def test_one_subset_has_no_standard_deviation() -> None:
    found = figures(compute_agreement(labels_of(from_table("a", "b", COHEN)), SCHEME, TEXTS))
    assert found["mean kappa"].value == found["mean kappa weighted by n"].value == pytest.approx(0.4)
    assert found["standard deviation of kappa"].value is None
    assert found["standard deviation of kappa"].undefined


# -- not sure, input, output


def test_dropped_indefinite_labels_are_left_out_before_anything_else() -> None:
    """Pair 1 loses one label and with it its overlap; pair 2 loses its only label."""
    given: Given = {0: {"a": 0, "b": 2}, 1: {"a": 0, "b": 1}, 2: {"a": 1}, 3: {"a": 2, "b": 2}}
    found = compute_agreement(labels_of(given), SCHEME, replace(TEXTS, indefinite="drop"))
    assert found.classes == ("not_appropriate", "appropriate")
    assert (found.n_pairs, found.n_overlapped, found.n_labels) == (3, 2, 5)
    assert only(found).table == ((0, 1), (0, 1))


def test_pairs_with_one_label_change_no_figure() -> None:
    labels = three_tables_and_one_undefined()
    alone = labels_of({900: {"a": 2}, 901: {"d": 1}})
    found, more = (compute_agreement(x, SCHEME, TEXTS) for x in (labels, pd.concat([labels, alone])))
    assert replace(more, n_pairs=found.n_pairs, n_labels=found.n_labels) == found


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"weights": "cubic"}, "weights is 'cubic'; expected one of none, linear, quadratic"),
        ({"indefinite": "guess"}, "indefinite is 'guess'; expected one of class, drop"),
        ({"intervals": "people"}, "intervals is 'people'; expected one of texts, annotators"),
        ({"level": 95}, "level is 95.0; expected a share between 0 and 1"),
        ({"level": float("nan")}, "level is nan; expected a number that is finite"),
    ],
)
def test_options_refuse_what_cannot_be_used(change: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Agree(**change)


def test_every_option_has_help() -> None:
    assert all(option.metadata["help"] for option in fields(Agree))


def test_labels_without_a_column_are_refused() -> None:
    with pytest.raises(InputError, match="lack the columns hs_id, code"):
        compute_agreement(labels_of({0: {"a": 0}}).drop(columns=["hs_id", "code"]), SCHEME)


def test_empty_cells_are_refused() -> None:
    labels = labels_of({0: {"a": 0, "b": 2}}).astype({"code": float})
    labels.loc[1, "code"] = np.nan
    with pytest.raises(InputError, match="empty cells in code"):
        compute_agreement(labels, SCHEME)


def test_codes_outside_the_scheme_are_refused_with_their_pairs() -> None:
    with pytest.raises(InputError, match=r"lacks \(7\), as on pairs 4, 5; expected 0, 1, 2"):
        compute_agreement(labels_of({3: {"a": 0}, 4: {"a": 7}, 5: {"b": 7}}), SCHEME)


def test_two_judgements_of_one_annotator_on_a_pair_are_refused() -> None:
    labels = labels_of({p: {"a": 0} for p in range(7)})
    with pytest.raises(InputError, match=r"pairs 0, 1, 2, 3, 4 and 2 more; give only the current"):
        compute_agreement(pd.concat([labels, labels]), SCHEME)


def test_a_pair_in_two_places_of_the_grid_is_refused() -> None:
    labels = labels_of({3: {"a": 0, "b": 0}}).assign(cn_id=[1, 2])
    with pytest.raises(InputError, match="one cell_id several hs_id or cn_id: pairs 3"):
        compute_agreement(labels, SCHEME)


def test_the_input_stays_as_it_was() -> None:
    labels = three_tables_and_one_undefined()
    before = labels.copy()
    compute_agreement(labels, SCHEME, TEXTS)
    pd.testing.assert_frame_equal(labels, before)


def test_as_dict_survives_json() -> None:
    found = compute_agreement(three_tables_and_one_undefined(), SCHEME, TEXTS)
    again = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert again["subsets"][0]["table"] == [[20, 0, 5], [0, 0, 0], [10, 0, 15]]
    assert again["pooled"][0]["name"] == "raw agreement"
    assert again["options"]["intervals"] == "texts"


def test_importing_the_module_imports_no_slow_library() -> None:
    slow = "{'pandas', 'scipy', 'statsmodels', 'krippendorff'}"
    found = f"{slow} & set(sys.modules)"
    code = f"import sys, fcpair.stages.stats.agreement; sys.exit(str({found}) if {found} else 0)"
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )


# -- what must hold for every input


@st.composite
def given_labels(draw: st.DrawFn) -> Given:
    n_pairs = draw(st.integers(1, 12))
    one = st.dictionaries(st.sampled_from("abcd"), st.sampled_from([0, 1, 2]), min_size=1)
    return {p: draw(one) for p in range(n_pairs)}


def values(found: Agreement, *left_out: str) -> dict[str, Any]:
    return {
        name: None if figure.value is None else pytest.approx(figure.value, abs=1e-9)
        for name, figure in figures(found).items()
        if name not in left_out
    }


@given(given_labels())
def test_every_figure_has_either_a_finite_value_or_a_reason(given_: Given) -> None:
    found = compute_agreement(labels_of(given_), SCHEME, TEXTS)
    for figure in (*found.summary, *found.pooled, *(subset.kappa for subset in found.subsets)):
        assert (figure.value is None) == (figure.undefined is not None)
        assert (figure.low is None) == (figure.high is None)
        for number in (figure.value, figure.low, figure.high):
            assert number is None or np.isfinite(number)
    json.dumps(found.as_dict(), allow_nan=False)


@given(given_labels(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing(given_: Given, random: Any) -> None:
    labels = labels_of(given_)
    order = random.sample(range(len(labels)), len(labels))
    assert compute_agreement(labels.iloc[order], SCHEME, TEXTS) == compute_agreement(labels, SCHEME, TEXTS)


@given(given_labels(), st.sampled_from(("nominal", "ordinal")), st.sampled_from(("class", "drop")))
def test_alpha_alone_is_that_of_all_figures_to_the_bit(given_: Given, distance: Any, not_sure: Any) -> None:
    labels, question, options = labels_of(given_), replace(SCHEME, distance=distance), Agree(indefinite=not_sure)
    columns = {name: labels[name].to_numpy(np.int64) for name in ("cell_id", "hs_id", "cn_id", "code")}
    annotator = labels["annotator"].map("abcd".index).to_numpy(np.int64)
    alpha = compute_alpha({**columns, "annotator": annotator}, question, options)
    assert alpha == compute_agreement(labels, question, options).alpha


@given(given_labels(), st.permutations("abcd"))
def test_the_names_of_the_annotators_change_no_figure(given_: Given, names: list[str]) -> None:
    labels = labels_of(given_)
    renamed = labels.assign(annotator=labels["annotator"].map(dict(zip("abcd", names, strict=True))))
    found, again = (compute_agreement(x, SCHEME, TEXTS) for x in (labels, renamed))
    assert again.pooled == found.pooled
    assert values(again) == values(found)
    assert sorted(s.n for s in again.subsets) == sorted(s.n for s in found.subsets)


@given(given_labels(), st.permutations([0, 1, 2]))
def test_the_codes_of_the_classes_matter_only_to_ordinal_alpha(given_: Given, codes: list[int]) -> None:
    labels = labels_of(given_)
    recoded = labels.assign(code=labels["code"].map(dict(enumerate(codes))))
    ordinal = "Krippendorff's alpha, ordinal"
    left_out = () if codes in ([0, 1, 2], [2, 1, 0]) else (ordinal,)
    found, again = (compute_agreement(x, SCHEME, TEXTS) for x in (labels, recoded))
    assert values(again, *left_out) == values(found, *left_out)


# -- the distance of the question


def question(text: str) -> Closed:
    found = parse_question(text)
    assert isinstance(found, Closed)
    return found


ALPHAS = ("nominal", "ordinal", "interval")


@pytest.mark.parametrize(
    ("text", "there", "own"),
    [
        ("one_of(no,unsure?,yes+)", 2, None),
        ("one_of(no,unsure?,yes+,distance=ordinal)", 2, "ordinal"),
        ("scale(1,2,0.5,positive=2)", 3, "interval"),
    ],
)
def test_alpha_is_given_up_to_the_distance_of_the_question_and_says_which_that_is(
    text: str, there: int, own: str | None
) -> None:
    found = compute_agreement(three_tables_and_one_undefined(), question(text))
    alphas = [figure for figure in found.pooled if "alpha" in figure.name]
    assert [figure.name for figure in alphas] == [f"Krippendorff's alpha, {name}" for name in ALPHAS[:there]]
    said = [name for name, figure in zip(ALPHAS, alphas, strict=False) if "the distance of the question" in figure.note]
    assert said == [own] * (own is not None)


def test_a_distance_changes_nothing_but_the_note_of_its_alpha() -> None:
    labels = three_tables_and_one_undefined()
    texts = ("one_of(a,b?,c+)", "one_of(a,b?,c+,distance=ordinal)")
    plain, ordinal = (figures(compute_agreement(labels, question(text))) for text in texts)
    note = plain["Krippendorff's alpha, ordinal"].note.replace("codes", "codes; the distance of the question")
    assert ordinal == {
        name: replace(figure, note=note) if name.endswith("ordinal") else figure for name, figure in plain.items()
    }


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


# -- FC-CONAN


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


def test_fc_conan_kappa_of_annotator_columns_1_and_2(fc_conan: pd.DataFrame) -> None:
    """0.377427 on 701 pairs, three classes: scikit-learn's cohen_kappa_score gives the same."""
    subset = compute_agreement(fc_conan, SCHEME, TEXTS).subsets[0]
    assert (subset.annotators, subset.n) == (("1", "2"), 701)
    assert subset.kappa.value == pytest.approx(0.377427, abs=5e-7)


def test_fc_conan_figures_stand_within_their_intervals(fc_conan: pd.DataFrame) -> None:
    found = compute_agreement(fc_conan, SCHEME)
    assert (found.n_overlapped, found.n_labels) == (701, 701 + 701 + 199)
    assert {f.name: f.n for f in found.pooled if f.n != 701} == {
        "Fleiss' kappa, 2 labels": 502,
        "Fleiss' kappa, 3 labels": 199,
    }
    for figure in found.pooled:
        assert figure.value is not None
        assert figure.low is not None
        assert figure.high is not None
        assert figure.low < figure.value < figure.high


def test_fc_conan_pairs_of_two_have_no_definite_conflict(fc_conan: pd.DataFrame) -> None:
    """Without "not sure", the released pairs with two labels agree throughout: selection, not reliability."""
    found = figures(compute_agreement(fc_conan, SCHEME, Agree(indefinite="drop")))["Fleiss' kappa, 2 labels"]
    assert (found.n, found.value, found.low, found.high) == (392, 1, None, None)
    assert "leaving out any one HS or CN changes nothing" in found.note
