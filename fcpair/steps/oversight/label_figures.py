"""Figures of a grid of labels that pages show, each by itself: agreement, decisions and tiers, people."""

from __future__ import annotations

import numpy as np

from fcpair.params import Agree, Partition
from fcpair.records import Figure, Role
from fcpair.report.data import DecisionsPart, PeopleFigures
from fcpair.stages.questions import NO_CODE
from fcpair.stages.questions.labels import VERDICT
from fcpair.stages.stats.agreement import Agreement, compute_agreement, compute_alpha
from fcpair.steps.adjudication.agreement import sides_of
from fcpair.steps.base.context import effective_options, scheme_of
from fcpair.steps.oversight.report_figures import decision_figures, people_figures
from fcpair.steps.release.partition import LabelArrays
from fcpair.steps.rules.pair_counts import Tally
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.answers.answer_arrays import NO_ANSWER, AnswerArrays, Ints
from fcpair.store.assignment import assignments, rounds
from fcpair.store.people import people


def current_labels(tx: Tx, answers: AnswerArrays) -> dict[str, Ints]:
    """The labels among all `answers` that count in the grid of a transaction, as `judgements.label_arrays` has them,
    in any order: `cell_id`, `hs_id`, `cn_id`, `person_id`, `code`.
    """
    round_ids, ids_by_code = rounds.primary(tx).ids, rounds.label_ids(tx)
    code_of = np.full(max(ids_by_code.values(), default=NO_ANSWER) + 1, NO_CODE, np.int64)
    code_of[list(ids_by_code.values())] = list(ids_by_code)
    is_label = answers.current & ~answers.skipped & np.isin(answers.round_id, round_ids)
    columns = {name: getattr(answers, name)[is_label] for name in ("cell_id", "hs_id", "cn_id", "person_id")}
    return columns | {"code": code_of[answers.answer_id[is_label]]}


def load_alpha(tx: Tx, labels: LabelArrays) -> Figure | None:
    """The alpha of `load_agreement`, by itself; `labels` are those of `current_labels`."""
    if not len(labels["cell_id"]):
        return None
    ids_by_name = [one.id for one in sorted(people.people(tx), key=lambda one: one.name)]
    place_of = np.zeros(max(ids_by_name, default=0) + 1, np.int64)
    place_of[ids_by_name] = np.arange(len(ids_by_name))
    return compute_alpha(
        {**labels, "annotator": place_of[labels["person_id"]]},
        scheme_of(tx),
        effective_options(tx, Agree, {}),
        sides_of(tx),
    )


def load_agreement(tx: Tx) -> Agreement | None:
    """All figures of agreement, by the grid's own options; None before there are labels."""
    labels = judgements.current_labels(tx, "cell_id", "hs_id", "cn_id", "annotator", "code")
    if labels.empty:
        return None
    return compute_agreement(labels, scheme_of(tx), effective_options(tx, Agree, {}), sides_of(tx))


def load_decisions(tx: Tx, tally: Tally, labels: LabelArrays) -> DecisionsPart:
    """The decisions, by their `tally`, and the tiers as they would be now, by the grid's own rules; `labels` are those
    of `current_labels`.
    """
    return decision_figures(tx, scheme_of(tx), effective_options(tx, Partition, {}), tally, labels)


def load_people(tx: Tx) -> PeopleFigures:
    """What annotators and validators did."""
    counts, question = assignments.counts(tx), scheme_of(tx)
    return PeopleFigures(
        question,
        people_figures(tx, Role.ANNOTATOR, rounds.primary(tx), question, counts),
        people_figures(tx, Role.VALIDATOR, rounds.validation(tx), VERDICT, counts),
    )
