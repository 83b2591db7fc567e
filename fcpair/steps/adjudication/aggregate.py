"""Label models on the current labels of a round; they change nothing, and no decision or tier rests on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError, StageError
from fcpair.records import BY_HAND, Round
from fcpair.stages.adjudication.adjudicate import combine_verdicts
from fcpair.stages.adjudication.aggregate import (
    Aggregation,
    LabelData,
    Reference,
    check_models,
    compute_aggregation,
    prepare_labels,
)
from fcpair.stages.questions import NO_CODE, Closed
from fcpair.stages.questions.labels import AGREE
from fcpair.steps.answers.import_fc_conan import check_annotators_known
from fcpair.steps.base.answer_values import closed_question, form_of
from fcpair.steps.base.context import GridContext, need_labels
from fcpair.store import Tx
from fcpair.store.adjudication import adjudications
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus.grids import to_public_number
from fcpair.store.people import people

ADJUDICATED, VALIDATED = "decisions by people", "verdicts of validators"


def aggregate_labels(
    grid: GridContext, label_models: Sequence[str] = (), *, round: str | None = None, seed: int = 0
) -> Aggregation:
    """Fit label models to the current labels of a round, and compare them with what people have decided.

    Only definite labels count. Nothing is written: a model is no adjudicator, and no tier rests on it.

    Args:
        label_models: of `majority`, `one-coin`, `dawid-skene`, `glad` and `mace`; the first three if none is given.
            The last two need the extra `models`.
        round: the round; the one that counts, if none is named. Decisions and verdicts are about that one alone.
        seed: of MACE's first numbers.

    Raises:
        StageError: nothing was answered.
        InputError: there is no such model; the round does not ask one closed question, or checks decisions; the labels
            were published without saying whose they are; or nobody shares a pair, or all say the same.
        UnknownIdError: the grid has no such round.
        MissingExtraError: crowd-kit is not installed, which `glad` and `mace` need.
    """
    chosen_models = check_models(label_models)
    with grid._store.read() as tx:
        need_labels(tx, "aggregate")
        of = rounds.by_name(tx, round)
        question = _question_of(tx, of)
        labels = _label_columns(tx, of)
        references = _references(tx) if of.counts else ()
        names = {person.id: person.name for person in people.people(tx)}
    prepared = prepare_labels(labels["cell_id"], labels["person_id"], labels["code"], question)
    return compute_aggregation(
        prepared,
        question,
        [names[person_id] for person_id in prepared.annotators.tolist()],
        list(map(to_public_number, prepared.cell_ids.tolist())),
        references,
        models=chosen_models,
        seed=seed,
        n_left_out=len(np.unique(labels["cell_id"])) - prepared.table.n_pairs,
    )


def load_label_data(tx: Tx) -> LabelData:
    """The labels that count, as label models take them.

    Raises InputError where no label model says anything of them, as `aggregate_labels` does; StageError without any.
    """
    of = rounds.primary(tx)
    question, labels = _question_of(tx, of), _label_columns(tx, of)
    return prepare_labels(labels["cell_id"], labels["person_id"], labels["code"], question)


def _question_of(tx: Tx, of: Round) -> Closed:
    """The closed question that a round asks of people who are known; raises InputError where it does not."""
    if of.checks is not None:
        raise InputError(f"round `{of.name}` checks decisions; a label model is about the answers before them")
    check_annotators_known(tx, "no label model can compare annotators")
    question = closed_question(form_of(of.form))
    if question is None:
        raise InputError(
            f"round `{of.name}` asks `{of.form}`; a label model is for one closed question, of one choice or a number "
            "on a scale"
        )
    return question


def _label_columns(tx: Tx, of: Round) -> dict[str, NDArray[np.int64]]:
    labels = judgements.label_arrays(tx, "cell_id", "person_id", "code", of=of)
    if not len(labels["code"]):
        raise StageError(f"round `{of.name}` has no answers yet")
    return labels


def _references(tx: Tx) -> tuple[Reference, ...]:
    """What people have decided, and the decisions that validators agreed with or not, by a person or a rule."""
    decisions = adjudications.current_adjudications(tx, "cell_id", "rule", "code")
    decisions = decisions[decisions["code"].notna()]
    cell_id, code = (decisions[name].to_numpy(np.int64) for name in ("cell_id", "code"))
    by_hand = decisions["rule"].isin([rule.value for rule in BY_HAND]).to_numpy(bool)
    verdicts = judgements.verdict_arrays(tx)
    validated, verdict = combine_verdicts(verdicts["cell_id"], verdicts["code"])
    codes = dict(zip(cell_id.tolist(), code.tolist(), strict=True))
    validated_code = np.array([codes.get(one, NO_CODE) for one in validated.tolist()], np.int64)
    return (
        Reference(ADJUDICATED, cell_id[by_hand], code[by_hand], np.ones(by_hand.sum(), bool)),
        Reference(VALIDATED, validated, validated_code, verdict == AGREE),
    )
