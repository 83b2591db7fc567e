"""The cases of adjudicators: the list of conflicts, the queues that are parts of it, and the orders to go through them.

To compare all labels anew at each look would take a second of every half million: the list stays in memory, and
follows what the study says, as another process may have written it. Nor does anybody wait for a label model.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from itertools import chain, groupby
from threading import Lock, Thread
from typing import get_args

import numpy as np

from fcpair.arrays import Ints
from fcpair.errors import FcpairError, InputError, StageError
from fcpair.param_values import ONE_OF_NAMES, invalid_value
from fcpair.params import CaseRanking
from fcpair.records import BY_HAND, Round
from fcpair.sentences import say
from fcpair.stages.adjudication import adjudicate, aggregate
from fcpair.stages.questions import NO_CODE, Closed
from fcpair.stages.questions.labels import AGREE
from fcpair.steps.answers.import_fc_conan import check_annotators_known
from fcpair.steps.base.answer_values import closed_question, form_of
from fcpair.steps.base.context import GridContext, need_labels
from fcpair.steps.rules import rule_decisions
from fcpair.store import Store, Tx, adjudications, disputes, people
from fcpair.store.answers import activity_log, judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus.grids import to_public_number

NEW_SHARE = 100  # of the answers are so many times those after which doubt is estimated anew


def estimate_doubts(labels: aggregate.LabelData) -> dict[int, float]:
    """The doubt of each pair with a definite label, by Dawid and Skene's model."""
    probability = aggregate.dawid_skene(labels.table).probability
    return dict(zip(labels.cell_ids.tolist(), aggregate.doubt_of(probability).tolist(), strict=True))


def order_by_doubt(cell_ids: Iterable[int], doubts: Mapping[int, float]) -> list[int]:
    """Pairs by their doubt, the greatest first, and then by id; before all others those of which no model says any."""
    return sorted(cell_ids, key=lambda cell_id: (-doubts.get(cell_id, 1.0), cell_id))


def rank_cases(tx: Tx, cell_ids: Sequence[int], order: CaseRanking) -> Sequence[int]:
    """Cases that are in the order of their rows as they are, or by doubt; raises what `load_label_data` raises."""
    if order not in get_args(CaseRanking):
        raise invalid_value("order", order, say(ONE_OF_NAMES, names=list(get_args(CaseRanking))))
    return order_by_doubt(cell_ids, estimate_doubts(load_label_data(tx))) if order == "doubt" and cell_ids else cell_ids


class DoubtRanking:
    """The newest estimate of doubt, and who was shown cases before there was any."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._fit: Thread | None = None
        self._newest = 0
        self.is_ready = False  # since an estimate, or since it was found that no label model says anything
        self.doubts: Mapping[int, float] = {}  # by pair; empty where no label model says anything of the labels
        # the pairs that each person was last shown in another order, because there was no estimate yet
        self.shown_early: defaultdict[int, set[int]] = defaultdict(set)

    def refresh(self, store: Store, newest: int) -> None:
        """Begin to estimate doubt anew, if a hundredth of the answers or more came since; `newest` is the last one."""
        with self._lock:
            is_new = not self._newest or newest - self._newest >= newest / NEW_SHARE
            if is_new and (self._fit is None or not self._fit.is_alive()):
                self._newest = newest
                self._fit = Thread(target=self._estimate, args=(store,), daemon=True)
                self._fit.start()

    def wait(self, seconds: float) -> None:
        """Wait for an estimate that is under way, at most so long."""
        if self._fit is not None:
            self._fit.join(seconds)

    def _estimate(self, store: Store) -> None:
        try:
            with store.read() as tx:
                labels = load_label_data(tx)
            self.doubts = estimate_doubts(labels)
        except (InputError, StageError):
            pass  # no label model says anything of these labels
        except FcpairError:
            self._newest = 0  # the study could not be read, so the next request tries again
            return
        self.is_ready = True


@dataclass(frozen=True)
class Conflicts:
    """Conflicts that `rule_decisions.disputed_pairs` finds at a state of the study, by its marks.

    `places` are row and number of each, in this order. `due_ids` are those that nobody has decided, or that wait for a
    second look, and whose labels are all in; `unsure_ids` those with a "not sure" label, or another that decides
    nothing; `flagged_ids` those whose newest decision by a person said that the guidelines should say more.
    """

    marks: activity_log.ChangeMarks
    by_id: dict[int, disputes.DisputedPair] = field(default_factory=dict)
    places: list[tuple[int, int]] = field(default_factory=list)
    due_ids: set[int] = field(default_factory=set)
    second_look_ids: set[int] = field(default_factory=set)
    unsure_ids: set[int] = field(default_factory=set)
    flagged_ids: set[int] = field(default_factory=set)

    @property
    def order(self) -> list[int]:
        """The numbers of all, by row and number."""
        return [cell_id for _, cell_id in self.places]

    def row_of(self, cell_id: int) -> list[int]:
        """The conflicts in the row of one, in order; none where the pair is no conflict."""
        if cell_id not in self.by_id:
            return []
        row_id = self.by_id[cell_id].hs_id
        first, last = (bisect_left(self.places, (at, 0)) for at in (row_id, row_id + 1))
        return [pair for _, pair in self.places[first:last]]

    def renewed(self, tx: Tx) -> Conflicts:
        """The list at a later state: those pairs are looked up again that were answered or decided since."""
        marks, changed_ids = activity_log.change_marks(tx), disputes.pairs_touched_since(tx, *self.marks[:2])
        newer = Conflicts(marks, *(getattr(self, kept.name).copy() for kept in fields(self)[1:]))
        newer._replace(changed_ids, rule_decisions.disputed_pairs(tx, changed_ids))
        if marks[2] > self.marks[2]:  # whatever moves work, but for an answer to one pair, leaves a run
            still_labelled = disputes.pairs_to_label(tx, list(newer.by_id))
            conflicts = list(newer.by_id.values())
            newer._replace(
                (), (conflict._replace(due=conflict.cell_id not in still_labelled) for conflict in conflicts)
            )
        return newer

    def _replace(self, gone_ids: Iterable[int], conflicts: Iterable[disputes.DisputedPair]) -> None:
        for gone in [self.by_id.pop(cell_id) for cell_id in gone_ids if cell_id in self.by_id]:
            del self.places[bisect_left(self.places, (gone.hs_id, gone.cell_id))]
            for ids in (self.due_ids, self.second_look_ids, self.unsure_ids, self.flagged_ids):
                ids.discard(gone.cell_id)
        for conflict in conflicts:
            if conflict.cell_id not in self.by_id:
                insort(self.places, (conflict.hs_id, conflict.cell_id))
            self.by_id[conflict.cell_id] = conflict
            for ids, belongs in (
                (self.due_ids, conflict.by is None and conflict.due),
                (self.second_look_ids, conflict.again),
                (self.unsure_ids, conflict.unsure),
                (self.flagged_ids, conflict.flagged),
            ):
                (ids.add if belongs else ids.discard)(conflict.cell_id)


def current_conflicts(grid: GridContext, tx: Tx) -> Conflicts:
    """The conflicts of a grid as they are in a transaction that only reads."""

    def load(tx: Tx) -> Conflicts:
        conflicts = Conflicts(activity_log.change_marks(tx))
        conflicts._replace((), rule_decisions.disputed_pairs(tx))
        return conflicts

    form = rounds.primary(tx).form
    return grid._figures.at(tx, "conflicts", load, lambda tx, kept, _: Conflicts.renewed(kept, tx), rests_on=form)


class CaseQueue(StrEnum):
    """Cases that an adjudicator can choose to go through; each but the flagged ones is a part of what waits."""

    ALL = "all"
    UNSURE = "not_sure"
    FLAGGED = "flagged"
    AGAIN = "again"


class CaseOrder(StrEnum):
    """Order of the cases: `row` has all conflicts of one row, such as an HS, one after the other; `doubt` begins with
    those of which Dawid and Skene's model of the labels is least sure.
    """

    SPREAD = "spread"
    ROW = "row"
    DOUBT = "doubt"


def select_cases(conflicts: Conflicts, queue: CaseQueue, person_id: int) -> set[int]:
    """The pairs in a queue, whoever may decide them; the flagged ones wait, or this person has decided them."""
    due = conflicts.due_ids
    if queue is CaseQueue.FLAGGED:
        by_id = conflicts.by_id
        return {cell_id for cell_id in conflicts.flagged_ids if cell_id in due or by_id[cell_id].by == person_id}
    parts = {CaseQueue.UNSURE: conflicts.unsure_ids, CaseQueue.AGAIN: conflicts.second_look_ids}
    return due & parts[queue] if queue in parts else due


def order_cases(
    conflicts: Conflicts, order: CaseOrder, index: int, n_adjudicators: int, doubts: Mapping[int, float]
) -> list[int]:
    """All conflicts in the order in which the adjudicator `index` (from 0) of `n_adjudicators` goes through them.

    By doubt they take turns, so that those in most doubt come first for each of them, and then what is left of others'.
    """
    if order is CaseOrder.DOUBT:
        ranked = order_by_doubt(conflicts.order, doubts)
        others = [cell_id for at, cell_id in enumerate(ranked) if at % n_adjudicators != index]
        return [*ranked[index::n_adjudicators], *others]
    n_keys = 1 if order is CaseOrder.ROW else 2  # together what is of one row, or each alone
    by_key = groupby(conflicts.places, lambda place: place[:n_keys])
    groups = [[cell_id for _, cell_id in places] for _, places in by_key]
    return list(chain.from_iterable(groups[at] for at in visiting_order(len(groups), index, n_adjudicators)))


def split_route(route: list[int], after: int | None, shown_early: Collection[int]) -> tuple[list[int], list[int]]:
    """Cases before the place from which somebody goes on, with the pair itself, and those behind it; from a pair shown
    before there was an order by doubt they go on at its beginning, and what was shown so comes last.
    """
    if after in shown_early:
        early = [cell_id for cell_id in route if cell_id in shown_early]
        return early, [cell_id for cell_id in route if cell_id not in shown_early]
    start = route.index(after) + 1 if after in route else 0
    return route[:start], route[start:]


def visiting_order(n: int, index: int, n_adjudicators: int) -> list[int]:
    """The order in which the adjudicator `index` (from 0) of `n_adjudicators` goes through `n` cases, or rows of them:
    a share of one's own, forward, then what others may have left of theirs, from its end.
    """
    first, last = index * n // n_adjudicators, (index + 1) * n // n_adjudicators
    return [*range(first, last), *range(first - 1, -1, -1), *range(n - 1, last - 1, -1)]


def aggregate_labels(
    grid: GridContext, label_models: Sequence[str] = (), *, round: str | None = None, seed: int = 0
) -> aggregate.Aggregation:
    """Fit label models to the current labels of a round, and compare them with what people have decided.

    Only definite labels count. Nothing is written: a model is no adjudicator, and no tier rests on it.

    Args:
        label_models: of `majority`, `one-coin`, `dawid-skene`, and with the extra `models` `glad` and `mace`; the first
            three if none is given.
        round: the round; the one that counts, if none is named. Decisions and verdicts are about that one alone.
        seed: of MACE's first numbers.

    Raises StageError where nothing was answered; InputError for no such model, a round that does not ask one closed
    question or checks decisions, labels published without saying whose they are, or where nobody shares a pair or all
    say the same; UnknownIdError for no such round; MissingExtraError where crowd-kit is missing.
    """
    chosen_models = aggregate.check_models(label_models)
    with grid._store.read() as tx:
        need_labels(tx, "aggregate")
        of = rounds.by_name(tx, round)
        question, labels = _load_labels(tx, of)
        references: tuple[aggregate.Reference, ...] = ()
        if of.counts:
            decisions = adjudications.current_adjudications(tx, "cell_id", "rule", "code").dropna(subset="code")
            cell_id, code = (decisions[name].to_numpy(np.int64) for name in ("cell_id", "code"))
            by_hand = decisions["rule"].isin([rule.value for rule in BY_HAND]).to_numpy(bool)
            verdicts = judgements.verdict_arrays(tx)
            validated, verdict = adjudicate.combine_verdicts(verdicts["cell_id"], verdicts["code"])
            codes = dict(zip(cell_id.tolist(), code.tolist(), strict=True))
            validated_code = np.array([codes.get(pair, NO_CODE) for pair in validated.tolist()], np.int64)
            by_people = cell_id[by_hand], code[by_hand], np.ones(by_hand.sum(), bool)
            references = (
                aggregate.Reference("decisions by people", *by_people),
                aggregate.Reference("verdicts of validators", validated, validated_code, verdict == AGREE),
            )
        names = {person.id: person.name for person in people.people(tx)}
    prepared = aggregate.prepare_labels(labels["cell_id"], labels["person_id"], labels["code"], question)
    return aggregate.compute_aggregation(
        prepared,
        question,
        [names[person_id] for person_id in prepared.annotators.tolist()],
        list(map(to_public_number, prepared.cell_ids.tolist())),
        references,
        models=chosen_models,
        seed=seed,
        n_left_out=len(np.unique(labels["cell_id"])) - prepared.table.n_pairs,
    )


def load_label_data(tx: Tx) -> aggregate.LabelData:
    """The labels that count, as label models take them; raises what `aggregate_labels` does."""
    question, labels = _load_labels(tx, rounds.primary(tx))
    return aggregate.prepare_labels(labels["cell_id"], labels["person_id"], labels["code"], question)


def _load_labels(tx: Tx, of: Round) -> tuple[Closed, dict[str, Ints]]:
    if of.checks is not None:
        raise InputError(f"round `{of.name}` checks decisions; a label model is about the answers before them")
    check_annotators_known(tx, "no label model can compare annotators")
    question = closed_question(form_of(of.form))
    if question is None:
        raise InputError(
            f"round `{of.name}` asks `{of.form}`; a label model is for one closed question, of one choice or a number "
            "on a scale"
        )
    labels = judgements.label_arrays(tx, "cell_id", "person_id", "code", of=of)
    if not len(labels["code"]):
        raise StageError(f"round `{of.name}` has no answers yet")
    return question, labels
