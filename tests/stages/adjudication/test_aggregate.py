"""Several label models on the same labels: classes and ties, errors of people, and comparisons with decisions."""

from __future__ import annotations

import numpy as np
import pytest

from fcpair.errors import InputError
from fcpair.stages.adjudication.aggregate import (
    LEAST_LABELS,
    USUAL_MODELS,
    Aggregation,
    LabelData,
    Reference,
    check_models,
    compute_aggregation,
    prepare_labels,
)
from fcpair.stages.questions.labels import APPROPRIATENESS

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
