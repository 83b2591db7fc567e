"""Two people side by side, the texts disputed most, and kappa on bins of a scale: by hand and against scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from fcpair.errors import InputError
from fcpair.params import Agree
from fcpair.stages.questions import Scale, parse_form, parse_question
from fcpair.stages.stats.agreement import (
    Agreement,
    check_bins,
    compute_agreement,
    drop_unfit_bins,
    parse_bins,
    part_agreements,
)
from fcpair.stages.stats.people_agreement import (
    TextDispute,
    agreement_with_others,
    compare_labels,
    extreme_subsets,
    most_disputed,
)
from stages.stats.test_agreement import SCHEME, Given, figures, from_table, labels_of

# Of 20 pairs both say no on 8, yes on 6; ana alone yes on 2, zoe alone yes on 4. By chance they agree on
# (12 * 10 + 8 * 10) / 400 = 0.5, so that kappa is (0.7 - 0.5) / 0.5 = 0.4.
TWO = from_table("ana", "zoe", [[8, 4], [2, 6]])


def test_the_table_has_the_first_person_in_its_rows_and_the_frame_follows_it_row_by_row() -> None:
    both = compare_labels(labels_of(TWO), ("ana", "zoe"), SCHEME)
    assert both.table == ((8, 0, 4), (0, 0, 0), (2, 0, 6))
    turned = compare_labels(labels_of(TWO), ("zoe", "ana"), SCHEME)
    assert turned.table == ((8, 0, 2), (0, 0, 0), (4, 0, 6))
    assert turned.kappa == both.kappa
    rows = both.to_frame()
    assert rows.columns.tolist() == ["ana", "zoe", "n"]
    assert rows.iloc[2].tolist() == ["not_appropriate", "appropriate", 4]


def test_kappa_rests_on_the_shared_pairs_and_has_an_interval_or_a_reason() -> None:
    alone: Given = {100: {"ana": 2}, 101: {"ana": 0}, 102: {"zoe": 2}}
    both = compare_labels(labels_of(TWO | alone), ("ana", "zoe"), SCHEME)
    assert (both.n, both.n_labels, both.raw_agreement) == (20, (22, 21), 0.7)
    assert both.kappa.value == pytest.approx(0.4)
    assert both.kappa.low is not None
    assert both.kappa.low < 0.4
    apart = compare_labels(labels_of({0: {"ana": 2}, 1: {"zoe": 2}}), ("ana", "zoe"), SCHEME)
    assert (apart.n, apart.raw_agreement, apart.kappa.value) == (0, None, None)
    assert apart.kappa.undefined == "there is no pair that both have labelled"
    assert sum(map(sum, apart.table)) == 0


def test_two_people_agree_as_among_all_others_and_labels_that_do_not_count_are_left_out() -> None:
    labels = labels_of({pair: codes | {"mia": 2} for pair, codes in TWO.items()})
    (subset,) = (one for one in compute_agreement(labels, SCHEME).subsets if one.annotators == ("ana", "zoe"))
    both = compare_labels(labels[labels["annotator"] != "mia"], ("ana", "zoe"), SCHEME)
    assert (both.table, both.kappa) == (subset.table, subset.kappa)
    unsure: Given = {100: {"ana": 1, "zoe": 2}}
    definite = compare_labels(labels_of(TWO | unsure), ("ana", "zoe"), SCHEME, Agree(indefinite="drop"))
    assert (definite.classes, definite.table) == (("not_appropriate", "appropriate"), ((8, 4), (2, 6)))
    assert definite.n_labels == (20, 21)


# ana and ben agree on 4 of 4 pairs, kappa 1; ana and cleo on 2 of 4, as by chance, kappa 0; ben and cleo share none.
THREE: Given = {
    **{pair: {"ana": code, "ben": code} for pair, code in enumerate((0, 0, 2, 2))},
    **{10 + pair: {"ana": one, "cleo": other} for pair, (one, other) in enumerate(((0, 0), (0, 2), (2, 0), (2, 2)))},
}


def test_each_person_is_compared_with_all_who_share_a_pair() -> None:
    ana, ben, cleo = agreement_with_others(compute_agreement(labels_of(THREE), SCHEME).subsets)
    assert [(one.name, one.n_others, one.n, one.raw_agreement) for one in (ana, ben, cleo)] == [
        ("ana", 2, 8, 0.75),
        ("ben", 1, 4, 1.0),
        ("cleo", 1, 4, 0.5),
    ]
    assert (ana.kappa.value, ana.kappa.n) == (0.5, 8)  # (1 * 4 + 0 * 4) / 8
    assert ana.farthest
    assert ana.farthest.annotators == ("ana", "cleo")
    (alone, _) = agreement_with_others(compute_agreement(labels_of({0: {"ana": 2, "ben": 2}}), SCHEME).subsets)
    assert (alone.kappa.value, alone.kappa.undefined) == (None, "kappa is undefined with each of the others")
    assert alone.farthest is None


def test_the_lowest_and_the_highest_share_nobody() -> None:
    subsets = compute_agreement(labels_of(THREE), SCHEME).subsets
    lowest, highest = extreme_subsets(subsets, 1)
    assert [one.annotators for one in (*lowest, *highest)] == [("ana", "cleo"), ("ana", "ben")]
    lowest, highest = extreme_subsets(subsets, 5)
    assert ([one.annotators for one in lowest], highest) == ([("ana", "cleo"), ("ana", "ben")], [])


# cell, row, column, code. Row 1: pairs 1 (disputed), 2 (alike), 3 (one label); row 2: 4, 5 (disputed); row 3: 6 alike.
ROWS = [(1, 1, 7, 0), (1, 1, 7, 2), (2, 1, 8, 2), (2, 1, 8, 2), (3, 1, 9, 0), (4, 2, 7, 0)]
ROWS += [(4, 2, 7, 0), (4, 2, 7, 1), (5, 2, 8, 2), (5, 2, 8, 0), (6, 3, 9, 1), (6, 3, 9, 1)]
LABELS = dict(zip(("cell_id", "hs_id", "cn_id", "code"), np.array(ROWS).T, strict=True))


def test_rows_and_columns_are_ordered_by_their_disputed_pairs_and_all_are_counted() -> None:
    rows = [TextDispute(2, 2, (4, 5)), TextDispute(1, 2, (1,))]
    assert most_disputed(LABELS, "row", 10) == (rows, 2)
    assert most_disputed(LABELS, "row", 1) == (rows[:1], 2)
    assert most_disputed(LABELS, "column", 10)[0] == [TextDispute(7, 2, (1, 4)), TextDispute(8, 2, (5,))]
    assert most_disputed({name: column[:0] for name, column in LABELS.items()}, "row", 10) == ([], 0)


HALVES = "scale(1,5,0.5)"
PARSCN = ("1-2", "2.5-3.5", "4-5")


def scale(printed: str = HALVES) -> Scale:
    question = parse_question(printed)
    assert isinstance(question, Scale)
    return question


def rated(one: list[float], other: list[float], options: Agree) -> Agreement:
    """Agreement of two raters on texts that are one row each."""
    question = scale()
    rows = [
        (at, at, 0, who, question.read(f"{number:g}"))
        for who, numbers in (("a1", one), ("a2", other))
        for at, number in enumerate(numbers)
    ]
    labels = pd.DataFrame(rows, columns=["cell_id", "hs_id", "cn_id", "annotator", "code"])
    return compute_agreement(labels, question, options)


def test_kappa_on_bins_of_a_worked_example() -> None:
    """In bins L L M M H H and L M M H H H: 4 of 6 agree, by chance 1/3 (1/6 + 2/6 + 3/6) = 1/3, kappa = 1/2.

    The figures on the numbers stay what they are without bins.
    """
    ratings = [1, 2, 3, 3.5, 4, 5], [1.5, 2.5, 3, 4, 4.5, 5]
    plain, binned = (rated(*ratings, Agree("quadratic", bins=bins)) for bins in ((), PARSCN))
    (subset,) = binned.on_bins
    assert binned.bins == PARSCN
    assert subset.kappa.value == pytest.approx(0.5)
    assert subset.raw_agreement == pytest.approx(4 / 6)
    assert subset.table == ((1, 1, 0), (0, 1, 1), (0, 0, 2))
    assert figures(binned)["mean kappa on bins"].value == pytest.approx(0.5)
    assert (binned.subsets, binned.pooled, binned.summary[:3]) == (plain.subsets, plain.pooled, plain.summary)
    assert (plain.bins, plain.on_bins) == ((), ())
    assert not {"bins", "on_bins"} & set(plain.as_dict())


def test_ratings_that_all_are_in_one_bin_have_no_kappa_on_bins_and_say_why() -> None:
    found = rated([4, 4.5, 5], [4.5, 4, 5], Agree(bins=PARSCN))
    (subset,) = found.on_bins
    assert subset.kappa.value is None
    assert "both used the same single bin" in (subset.kappa.undefined or "")
    assert figures(found)["mean kappa on bins"].value is None
    assert figures(found)["mean kappa"].value is not None  # the numbers themselves differ


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=2, max_size=30))
def test_kappa_on_bins_is_scikit_learn_s_on_the_classes(codes: list[tuple[int, int]]) -> None:
    one, other = (
        [code // 2 + 1 if code % 2 == 0 else code / 2 + 1 for code in side] for side in zip(*codes, strict=True)
    )
    classes = [np.searchsorted([2, 3.5], side) for side in (one, other)]
    assume(len({*classes[0].tolist(), *classes[1].tolist()}) > 1)
    (subset,) = rated(list(one), list(other), Agree("quadratic", bins=PARSCN)).on_bins
    assert subset.kappa.value == pytest.approx(cohen_kappa_score(*classes), abs=1e-12)


@pytest.mark.parametrize(
    ("printed", "given", "names", "bin_of"),
    [
        (HALVES, ("4 - 5", "[1-2]", "2,5-3.5"), PARSCN, [0, 0, 0, 1, 1, 1, 2, 2, 2]),
        ("scale(-2,2,1)", ("-2--1", "0-0", "1-2"), ("-2--1", "0", "1-2"), [0, 0, 1, 2, 2]),
    ],
)
def test_bins_are_sorted_and_named_by_their_ends(
    printed: str, given: tuple[str, ...], names: tuple[str, ...], bin_of: list[int]
) -> None:
    bin_names, bin_of_code = parse_bins(scale(printed), given)
    assert (bin_names, bin_of_code.tolist()) == (names, bin_of)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (("1-2", "2-5"), "bins 1-2 and 2-5 overlap"),
        (("1-2", "2.5-5", "3-4"), "bins 2.5-5 and 3-4 overlap"),
        (("1-2", "3-5"), "no bin has 2.5"),
        (("1-5",), "1 bin; expected two or more"),
        (("2-1", "2.5-5"), "ends before it begins"),
        (("1-2.25", "2.5-5"), "between the steps of the scale; the nearest are 2 and 2.5"),
        (("0-2", "2.5-5"), "outside of the scale; expected 1 to 5 by 0.5"),
        (("low", "2.5-5"), "cannot be read"),
    ],
)
def test_bins_that_cannot_be_are_refused(given: tuple[str, ...], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_bins(scale(), given)


def test_bins_are_for_scales_only() -> None:
    labels = pd.DataFrame(columns=["cell_id", "hs_id", "cn_id", "annotator", "code"])
    with pytest.raises(InputError, match=r"bins are for numbers on a scale, and this asks one_of\(no,yes\)"):
        compute_agreement(labels, parse_question("one_of(no,yes)"), Agree(bins=PARSCN))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="asks for none"):
        check_bins(parse_form("fit: one_of(no,yes); why: text()"), PARSCN)
    with pytest.raises(InputError, match=r"`points`: bin `2\.5-3\.5`: `2\.5` is between the steps"):
        check_bins(parse_form(f"tone: {HALVES}; points: scale(0,10,1)"), PARSCN)
    options = Agree(bins=PARSCN)  # which fall away where they do not fit the form of another round
    assert drop_unfit_bins(parse_form("fit: one_of(no,yes)"), options) == Agree()
    assert drop_unfit_bins(parse_form(f"tone: {HALVES}"), options) is options


def test_a_form_with_a_scale_and_others_has_bins_on_the_scale_alone() -> None:
    form = parse_form(f"fit: one_of(no,yes); tone: {HALVES}")
    answers = pd.DataFrame(
        {"cell_id": [1, 1, 2, 2], "hs_id": [1, 1, 2, 2], "cn_id": 0, "annotator": ["a", "b"] * 2, "answer": range(4)}
    )
    codes: Any = np.array([[0, 0], [0, 1], [1, 8], [1, 5]])
    fit, tone = part_agreements(answers, form, codes, Agree(bins=PARSCN))
    assert fit.agreement is not None
    assert tone.agreement is not None
    assert (fit.agreement.bins, tone.agreement.bins) == ((), PARSCN)
    assert tone.agreement.on_bins[0].table == ((1, 0, 0), (0, 0, 0), (0, 1, 0))
