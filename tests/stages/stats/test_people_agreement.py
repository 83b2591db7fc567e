"""Two people side by side and each with all others: tables and kappas by hand."""

from __future__ import annotations

import pytest

from fcpair.params import Agree
from fcpair.stages.stats.agreement import compute_agreement
from fcpair.stages.stats.people_agreement import agreement_with_others, compare_labels, extreme_subsets
from stages.stats.test_agreement import SCHEME, Given, from_table, labels_of

# Of 20 pairs both say no on 8, yes on 6; ana alone yes on 2, zoe alone yes on 4. By chance they agree on
# (12 * 10 + 8 * 10) / 400 = 0.5, so that kappa is (0.7 - 0.5) / 0.5 = 0.4.
TWO = from_table("ana", "zoe", [[8, 4], [2, 6]])


def test_the_table_has_the_first_person_in_its_rows() -> None:
    both = compare_labels(labels_of(TWO), ("ana", "zoe"), SCHEME)
    assert both.table == ((8, 0, 4), (0, 0, 0), (2, 0, 6))
    turned = compare_labels(labels_of(TWO), ("zoe", "ana"), SCHEME)
    assert turned.table == ((8, 0, 2), (0, 0, 0), (4, 0, 6))
    assert turned.kappa == both.kappa


def test_kappa_rests_on_the_shared_pairs_and_has_an_interval() -> None:
    alone: Given = {100: {"ana": 2}, 101: {"ana": 0}, 102: {"zoe": 2}}
    both = compare_labels(labels_of(TWO | alone), ("ana", "zoe"), SCHEME)
    assert (both.n, both.n_labels, both.raw_agreement) == (20, (22, 21), 0.7)
    assert both.kappa.value == pytest.approx(0.4)
    assert both.kappa.low is not None
    assert both.kappa.low < 0.4


def test_two_people_agree_as_among_all_others() -> None:
    labels = labels_of({pair: codes | {"mia": 2} for pair, codes in TWO.items()})
    (subset,) = (one for one in compute_agreement(labels, SCHEME).subsets if one.annotators == ("ana", "zoe"))
    both = compare_labels(labels[labels["annotator"] != "mia"], ("ana", "zoe"), SCHEME)
    assert (both.table, both.kappa) == (subset.table, subset.kappa)


def test_without_a_shared_pair_the_figures_say_why() -> None:
    both = compare_labels(labels_of({0: {"ana": 2}, 1: {"zoe": 2}}), ("ana", "zoe"), SCHEME)
    assert (both.n, both.raw_agreement, both.kappa.value) == (0, None, None)
    assert both.kappa.undefined == "there is no pair that both have labelled"
    assert sum(map(sum, both.table)) == 0


def test_indefinite_labels_are_left_out_where_they_do_not_count() -> None:
    unsure: Given = {100: {"ana": 1, "zoe": 2}}
    both = compare_labels(labels_of(TWO | unsure), ("ana", "zoe"), SCHEME, Agree(indefinite="drop"))
    assert (both.classes, both.table) == (("not_appropriate", "appropriate"), ((8, 4), (2, 6)))
    assert both.n_labels == (20, 21)


def test_the_frame_is_the_table_row_by_row() -> None:
    rows = compare_labels(labels_of(TWO), ("ana", "zoe"), SCHEME).to_frame()
    assert rows.columns.tolist() == ["ana", "zoe", "n"]
    assert rows.iloc[2].tolist() == ["not_appropriate", "appropriate", 4]


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


def test_a_mean_of_undefined_kappas_says_why_and_names_nobody() -> None:
    (ana, _) = agreement_with_others(compute_agreement(labels_of({0: {"ana": 2, "ben": 2}}), SCHEME).subsets)
    assert (ana.kappa.value, ana.kappa.undefined) == (None, "kappa is undefined with each of the others")
    assert ana.farthest is None


def test_the_lowest_and_the_highest_share_nobody() -> None:
    subsets = compute_agreement(labels_of(THREE), SCHEME).subsets
    lowest, highest = extreme_subsets(subsets, 1)
    assert [one.annotators for one in (*lowest, *highest)] == [("ana", "cleo"), ("ana", "ben")]
    lowest, highest = extreme_subsets(subsets, 5)
    assert ([one.annotators for one in lowest], highest) == ([("ana", "cleo"), ("ana", "ben")], [])
