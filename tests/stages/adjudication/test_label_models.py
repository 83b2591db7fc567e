"""Label models against loops, crowd-kit and by hand, and several side by side: ties, errors of people, decisions."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.arrays import Floats, Ints
from fcpair.errors import InputError, MissingExtraError
from fcpair.stages.adjudication.aggregate import (
    LEAST_LABELS,
    USUAL_MODELS,
    Aggregation,
    LabelData,
    LabelFit,
    LabelTable,
    Reference,
    check_models,
    compute_aggregation,
    dawid_skene,
    fit_crowdkit,
    majority,
    one_coin,
    prepare_labels,
    round_for_sums,
)
from fcpair.stages.questions.labels import APPROPRIATENESS
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
    np.testing.assert_allclose(fit_crowdkit(labels, "glad").probability, expected["GLAD"], atol=1e-5)
    np.testing.assert_allclose(fit_crowdkit(labels, "mace").probability, expected["MACE"], atol=1e-8)


@pytest.mark.parametrize("model", ["glad", "mace"])
def test_what_is_not_installed_is_named_with_its_extra(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcpair.errors.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"needs crowdkit; install with `pip install 'fcpair\[models\]'`"):
        fit_crowdkit(drawn_labels(), model)


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


NOT, UNSURE, YES = 0, 1, 2
Label = tuple[int, int, int]  # pair, person, code


def prepared_of(labels: list[Label]) -> LabelData:
    pair, by, code = (np.array(column) for column in zip(*labels, strict=True))
    return prepare_labels(pair, by, code, APPROPRIATENESS)


def aggregated(labels: list[Label], *references: Reference, **options: object) -> Aggregation:
    """The models of labels; the people are called `p1`, `p2` and so on."""
    prepared = prepared_of(labels)
    people = [f"p{by}" for by in prepared.annotators]
    return compute_aggregation(
        prepared,
        APPROPRIATENESS,
        people,
        prepared.cell_ids.tolist(),
        references,
        **options,  # type: ignore[arg-type]
    )


def panel(n_pairs: int, n_people: int = 4) -> list[Label]:
    """Labels by all people on all pairs: they agree, but the last says the opposite on every fifth pair."""
    codes = [YES if pair % 2 else NOT for pair in range(n_pairs)]
    return [
        (pair, by, YES - codes[pair] if by == n_people and pair % 5 == 0 else codes[pair])
        for pair in range(n_pairs)
        for by in range(1, n_people + 1)
    ]


TIED = [*panel(30), (90, 1, YES), (90, 2, NOT)]


def test_a_pair_has_its_most_probable_class_and_its_doubt_or_is_tied() -> None:
    found = aggregated([*panel(30), (90, 1, YES), (90, 2, NOT), (90, 3, YES)])
    frame = found.to_frame()
    assert list(frame.columns[2:]) == ["n_labels", "label", "tied", "doubt", "p_not_appropriate", "p_appropriate"]
    row = next(row for row in found["majority"].rows() if row["pair"] == 90)
    assert (row["n_labels"], row["label"], row["tied"]) == (3, "appropriate", "")
    assert row["doubt"] == pytest.approx(1 / 3)
    assert row["p_appropriate"] == pytest.approx(2 / 3)
    assert len(frame) == 31 * len(USUAL_MODELS)
    model = aggregated(TIED)["majority"]
    last = model.to_frame().iloc[-1]
    assert (last["label"], last["tied"], last["doubt"]) == ("", "not_appropriate, appropriate", 0.5)
    assert (model.n_tied, repr(model)) == (1, "<LabelModel: majority on 31 pairs, 1 tied>")


def test_neither_labels_that_are_not_definite_nor_the_order_of_rows_change_anything() -> None:
    shuffled = [TIED[at] for at in np.random.default_rng(13).permutation(len(TIED))]
    plain = aggregated(TIED)
    for other in (aggregated(shuffled), aggregated([*TIED, (91, 1, UNSURE), (3, 9, UNSURE)])):
        assert plain.to_frame().equals(other.to_frame())
        assert plain.people().equals(other.people())
        assert other.classes == ("not_appropriate", "appropriate")


def test_the_errors_of_a_person_rest_on_the_pairs_that_others_labelled_too() -> None:
    labels = [*panel(60), *((pair, 4, YES) for pair in range(100, 200))]
    last = aggregated(labels)["majority"].people[-1]
    assert (last.person, last.n_labels, last.n_shared) == ("p4", 160, 60)
    # 12 of its labels differ from three others, 6 on each class: a share of 3/4 for theirs, 1/4 for its own.
    assert np.array(last.expected) == pytest.approx(np.array([[24 + 6 / 4, 6 * 3 / 4], [6 * 3 / 4, 24 + 6 / 4]]))
    assert last.shares[0] == pytest.approx((25.5 / 30, 4.5 / 30))


def test_with_too_few_labels_no_share_is_shown_and_the_reason_is() -> None:
    n = 2 * LEAST_LABELS
    enough, few = aggregated(panel(n))["majority"].people[0], aggregated(panel(n - 2))["majority"].people[0]
    assert [sum(row) for row in enough.expected] == pytest.approx([20, 20])
    assert None not in enough.shares
    assert [shares is None for shares in few.shares] == [True, True]
    rows = aggregated(panel(n - 2)).people()
    assert rows["share"].isna().all()
    assert set(rows["note"]) == {"too few labels: 20 are needed"}
    assert set(aggregated(panel(n)).people()["note"]) == {""}


def test_a_model_is_right_where_it_has_the_label_that_holds_or_not_the_wrong_one() -> None:
    decided = Reference("decided", np.array([1, 2, 90, 77]), np.array([YES, YES, YES, YES]), np.ones(4, bool))
    checked = Reference("checked", np.array([1, 2, 3]), np.array([YES, YES, YES]), np.array([True, False, False]))
    nothing = Reference("nothing", np.array([77]), np.array([YES]), np.ones(1, bool))
    figures = aggregated(TIED, decided, checked, nothing)["majority"].checks
    assert [(figure.name, figure.value, figure.n) for figure in figures] == [
        ("decided", pytest.approx(1 / 3), 3),
        ("checked", pytest.approx(2 / 3), 3),
        ("nothing", None, 0),
    ]
    assert figures[0].note == "1 tied, which are not right"
    assert [figures[0].low, figures[0].high] == pytest.approx([0.0615, 0.7923], abs=1e-4)
    assert figures[2].undefined == "there are none on these pairs"
    given_by_nobody = Reference("decided", np.array([1]), np.array([UNSURE]), np.ones(1, bool))
    assert aggregated(panel(30), given_by_nobody)["majority"].checks[0].value == 0


def test_pairs_with_one_label_are_counted_and_what_labels_cannot_tell_is_said() -> None:
    found = aggregated([*panel(30), (90, 1, YES)], n_left_out=3)
    assert (found.n_single, found.n_left_out, found.n_pairs, found.n_labels, found.n_people) == (1, 3, 31, 121, 4)
    assert found["majority"].to_frame().iloc[-1]["p_appropriate"] == 1
    assert found["dawid-skene"].doubt[-1] < 0.01
    assert repr(found) == "<Aggregation: majority, one-coin, dawid-skene on 121 labels of 31 pairs>"
    assert found.cautions == ()
    assert aggregated([*panel(30, 2), (90, 7, YES)]).cautions == (
        "fewer than 3 people share pairs, and so nothing tells which of them is right",
        "nothing is known about p7, who share no pair with anybody",
    )


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([(1, 1, UNSURE)], "there are no definite labels"),
        ([(1, 1, YES), (2, 1, NOT)], "the definite labels are of one annotator; a label model compares annotators"),
        ([(1, 1, YES), (1, 2, YES)], "all definite labels are `appropriate`"),
        ([(1, 1, YES), (2, 2, NOT)], "no pair has two definite labels"),
    ],
)
def test_labels_of_which_no_model_says_anything_are_refused(labels: list[Label], message: str) -> None:
    with pytest.raises(InputError, match=message):
        prepared_of(labels)


def test_an_unknown_model_is_refused_with_the_nearest() -> None:
    assert check_models(()) == USUAL_MODELS
    assert check_models(("mace", "mace", "glad")) == ("mace", "glad")
    with pytest.raises(InputError, match="there is no label model `dawidskene`; did you mean `dawid-skene`"):
        check_models(("dawidskene",))
