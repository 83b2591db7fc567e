"""Label models against loops, crowd-kit and examples by hand; no order and no name changes what they say."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.arrays import Floats, Ints
from fcpair.errors import MissingExtraError
from fcpair.stages.adjudication import label_models
from fcpair.stages.adjudication.label_models import (
    LabelFit,
    LabelTable,
    dawid_skene,
    majority,
    one_coin,
    round_for_sums,
)
from stages.adjudication.crowd_kit_figures import FIGURES, STEPS, crowd_kit_probabilities, drawn_labels

EM = (one_coin, dawid_skene)
Model = Callable[[LabelTable], LabelFit]
N_CLASSES = 3
# The class that somebody gave to a pair, by pair and person.
answers = st.dictionaries(
    st.tuples(st.integers(0, 9), st.integers(0, 4)), st.integers(0, N_CLASSES - 1), min_size=4, max_size=40
)


def table(rows: dict[tuple[int, int], int]) -> LabelTable:
    """The labels as a table; what is not there leaves no gap in the numbers."""
    columns = np.array([(pair, by, klass) for (pair, by), klass in sorted(rows.items())]).T
    pair, annotator, klass = (np.unique(column, return_inverse=True)[1] for column in columns)
    return LabelTable(pair, annotator, klass)


def renamed(labels: LabelTable, pairs: Ints, people: Ints, classes: Ints) -> LabelTable:
    """The same labels where pair i is called `pairs[i]`, and so on."""
    columns = pairs[labels.pair], people[labels.annotator], classes[labels.klass]
    order = np.lexsort((columns[1], columns[0]))
    return LabelTable(*(column[order] for column in columns))


def looped(labels: LabelTable, n_steps: int) -> list[list[float]]:
    """Dawid and Skene's EM in plain loops, without a floor."""
    rows = list(zip(labels.pair.tolist(), labels.annotator.tolist(), labels.klass.tolist(), strict=True))
    classes, people = range(labels.n_classes), range(labels.n_annotators)
    chance: list[list[float]] = majority(labels).probability.tolist()
    for _ in range(n_steps):
        prior = [sum(row[k] for row in chance) / len(chance) for k in classes]
        count = {(k, a, c): 0.0 for k in classes for a in people for c in classes}
        for pair, by, klass in rows:
            for k in classes:
                count[k, by, klass] += chance[pair][k]
        joint = [[log(prior[k]) for k in classes] for _ in chance]
        for pair, by, klass in rows:
            for k in classes:
                total = sum(count[k, by, c] for c in classes)
                joint[pair][k] += log(count[k, by, klass] / total) if count[k, by, klass] else -60.0
        chance = [[exp(one) / sum(map(exp, row)) for one in row] for row in joint]
    return chance


def test_majority_has_the_shares_of_a_pairs_labels() -> None:
    fit = majority(table({(0, 0): 0, (0, 1): 2, (0, 2): 2, (1, 0): 1}))
    np.testing.assert_allclose(fit.probability, np.array([[1 / 3, 0, 2 / 3], [0, 1, 0]]))
    assert (fit.log_likelihoods, fit.converged) == ((), None)


def test_one_step_of_one_coin_is_as_by_hand() -> None:
    # Pairs: 00, 01, 11 by a and b. Shares: (1, 0), (1/2, 1/2), (0, 1); both are right on 2.5 of 3: 5/6.
    labels = table({(0, 0): 0, (0, 1): 0, (1, 0): 0, (1, 1): 1, (2, 0): 1, (2, 1): 1})
    fit = one_coin(labels, most_steps=1)
    both = 25 / 26
    np.testing.assert_allclose(fit.probability, [[both, 1 - both], [0.5, 0.5], [1 - both, both]])
    likelihood = 2 * log(0.5 * (25 / 36 + 1 / 36)) + log(5 / 36)
    assert fit.log_likelihoods == pytest.approx([likelihood])


@pytest.mark.parametrize("n_steps", STEPS)
def test_both_are_those_of_loops_and_of_crowd_kit_after_as_many_steps(n_steps: int) -> None:
    expected, labels = json.loads(FIGURES.read_text("utf-8")), drawn_labels()
    np.testing.assert_allclose(dawid_skene(labels, n_steps, -1).probability, looped(labels, n_steps), atol=1e-6)
    for model, name in ((dawid_skene, "DawidSkene"), (one_coin, "OneCoinDawidSkene")):
        fit = model(labels, n_steps, -1)
        assert len(fit.log_likelihoods) == n_steps
        np.testing.assert_allclose(fit.probability, expected[f"{name} {n_steps}"], atol=1e-8)


@pytest.mark.slow
def test_crowd_kit_still_says_what_was_kept_of_it() -> None:
    pytest.importorskip("crowdkit", reason="crowd-kit is not installed")
    expected, labels = json.loads(FIGURES.read_text("utf-8")), drawn_labels()
    np.testing.assert_allclose(
        crowd_kit_probabilities(labels, "DawidSkene", n_iter=30, tol=-1.0), expected["DawidSkene 30"], atol=1e-8
    )
    np.testing.assert_allclose(label_models.glad(labels).probability, expected["GLAD"], atol=1e-5)
    np.testing.assert_allclose(label_models.mace(labels).probability, expected["MACE"], atol=1e-8)


@pytest.mark.parametrize("model", [label_models.glad, label_models.mace])
def test_what_is_not_installed_is_named_with_its_extra(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcpair.errors.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"needs crowdkit; install with `pip install 'fcpair\[models\]'`"):
        model(drawn_labels())


@given(answers)
def test_probabilities_sum_to_one_and_the_likelihood_never_falls(rows: dict[tuple[int, int], int]) -> None:
    labels = table(rows | {(10, 0): 0, (11, 1): 1})
    for model in EM:
        fit = model(labels)
        np.testing.assert_allclose(fit.probability.sum(axis=1), 1)
        assert (fit.probability >= 0).all()
        assert (np.diff(fit.log_likelihoods) > -1e-8 * len(labels.pair)).all()


@given(answers, st.randoms(use_true_random=False))
def test_names_and_their_order_change_nothing_at_all(rows: dict[tuple[int, int], int], random: object) -> None:
    labels = table(rows | {(10, 0): 0, (11, 1): 1})
    shuffle = np.random.default_rng(random.getrandbits(32)).permutation  # type: ignore[attr-defined]
    pairs, people, classes = map(shuffle, (labels.n_pairs, labels.n_annotators, labels.n_classes))
    for model in (majority, *EM):
        first, second = model(labels), model(renamed(labels, pairs, people, classes))
        assert np.array_equal(second.probability[pairs][:, classes], first.probability)
        assert second.log_likelihoods == first.log_likelihoods


@pytest.mark.parametrize("model", [majority, *EM])
def test_two_people_who_never_agree_leave_every_pair_tied(model: Model) -> None:
    rows = {(pair, by): (pair + by) % 2 for pair in range(40) for by in (0, 1)}
    np.testing.assert_array_equal(model(table(rows)).probability, np.full((40, 2), 0.5))


@pytest.mark.parametrize("model", EM)
def test_a_person_who_contradicts_many_is_outvoted_and_a_thousand_labels_on_a_pair_do_not_underflow(
    model: Model,
) -> None:
    rows = {(pair, by): pair % 2 for pair in range(30) for by in range(4)}
    rows |= {(pair, 4): pair % 3 % 2 for pair in range(30)} | {(30, 0): 1, (30, 4): 0}  # then one against one
    assert model(table(rows)).probability[30, 1] > 0.9
    many = {(pair, by): pair % 2 for pair in range(4) for by in range(1500)}
    np.testing.assert_allclose(model(table(many)).probability, [[1, 0], [0, 1]] * 2, atol=1e-12)


def test_rounded_numbers_have_the_same_sum_in_any_order() -> None:
    values = np.random.default_rng(13).random(100_001)
    rounded: Floats = round_for_sums(values, len(values))
    assert np.abs(rounded - values).max() < 3e-11
    assert len({rounded.sum(), rounded[::-1].sum(), np.sort(rounded).sum(), sum(rounded.tolist())}) == 1
