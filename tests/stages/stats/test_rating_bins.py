"""Kappa on bins of a scale: worked by hand, against scikit-learn, and bins that cannot be."""

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
from fcpair.records import Figure
from fcpair.stages.questions import Scale, parse_form, parse_question
from fcpair.stages.stats.agreement import (
    Agreement,
    check_bins,
    compute_agreement,
    drop_unfit_bins,
    parse_bins,
    part_agreements,
)

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


def figures(found: Agreement) -> dict[str, Figure]:
    return {figure.name: figure for figure in (*found.summary, *found.pooled)}


# -- kappa


def test_kappa_on_bins_of_a_worked_example() -> None:
    """In bins L L M M H H and L M M H H H: 4 of 6 agree, by chance 1/3 (1/6 + 2/6 + 3/6) = 1/3, kappa = 1/2."""
    found = rated([1, 2, 3, 3.5, 4, 5], [1.5, 2.5, 3, 4, 4.5, 5], Agree(bins=PARSCN))
    (subset,) = found.on_bins
    assert found.bins == PARSCN
    assert subset.kappa.value == pytest.approx(0.5)
    assert subset.raw_agreement == pytest.approx(4 / 6)
    assert subset.table == ((1, 1, 0), (0, 1, 1), (0, 0, 2))
    assert figures(found)["mean kappa on bins"].value == pytest.approx(0.5)


def test_the_figures_on_the_numbers_stay_what_they_are_without_bins() -> None:
    ratings = [1, 2, 3, 3.5, 4, 5], [1.5, 2.5, 3, 4, 4.5, 5]
    plain, binned = (rated(*ratings, Agree("quadratic", bins=bins)) for bins in ((), PARSCN))
    assert binned.subsets == plain.subsets
    assert binned.pooled == plain.pooled
    assert binned.summary[:3] == plain.summary
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


# -- bins


def test_bins_are_sorted_and_named_by_their_ends() -> None:
    bins = parse_bins(scale(), ("4 - 5", "[1-2]", "2,5-3.5"))
    assert bins.names == PARSCN
    assert bins.bin_of.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_a_bin_of_one_number_and_numbers_below_0() -> None:
    bins = parse_bins(scale("scale(-2,2,1)"), ("-2--1", "0-0", "1-2"))
    assert bins.names == ("-2--1", "0", "1-2")
    assert bins.bin_of.tolist() == [0, 0, 1, 2, 2]


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


def test_bins_fall_away_where_they_do_not_fit_the_form_of_another_round() -> None:
    options = Agree(bins=PARSCN)
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
