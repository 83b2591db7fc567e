"""Where each pair stands by its verdicts and its tier, kept from one search to the next.

To work it out for all pairs takes a second in a large grid. So it is kept, and worked out again only for those pairs
that somebody has answered or decided since.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from fcpair.params import Partition
from fcpair.records import UNDECIDED, PairState, Rule
from fcpair.stages.adjudication.adjudicate import Tally
from fcpair.stages.adjudication.partition import Evidence, memberships, tier_rules
from fcpair.stages.assignment.validate import combine_verdicts
from fcpair.stages.questions import NO_CODE, Closed
from fcpair.stages.questions.labels import tier_obstacle
from fcpair.steps.base.context import GridContext, effective_options, scheme_of
from fcpair.steps.oversight.label_figures import current_labels
from fcpair.steps.release.partition import align
from fcpair.store import Tx
from fcpair.store.adjudication import adjudications, pair_states
from fcpair.store.answers import judgements
from fcpair.store.answers.answer_arrays import answer_arrays
from fcpair.store.assignment import rounds
from fcpair.store.oversight import pair_search

NO_DECISION = (None, *(rule.value for rule in UNDECIDED))


@dataclass(frozen=True)
class Standings:
    """Pairs that somebody has answered, ascending, as they stand.

    `verdict` is a `Verdict`, -1 for none; `tiers` a bit for each tier (`memberships`); `waits` says whether a person
    has to decide. All are of shape `(n_pairs,)`.
    """

    cell_id: NDArray[np.int64]
    verdict: NDArray[np.int64]
    tiers: NDArray[np.int64]
    waits: NDArray[np.bool_]

    def replaced_by(self, newer: Standings) -> Standings:
        """The same with newer ones in the place of theirs."""
        kept = ~np.isin(self.cell_id, newer.cell_id)
        order = np.argsort(np.concatenate([self.cell_id[kept], newer.cell_id]), kind="stable")
        parts = ("cell_id", "verdict", "tiers", "waits")
        joined = (np.concatenate([getattr(self, part)[kept], getattr(newer, part)])[order] for part in parts)
        return Standings(*joined)


@dataclass
class _Kept:
    """What is kept of a grid, with what it rests on: the newest judgement and decision, and the rules of the tiers."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    marks: tuple[int, int] = (0, 0)
    rules: Partition | None = None
    standings: Standings | None = None


_KEPT: WeakKeyDictionary[GridContext, _Kept] = WeakKeyDictionary()
_MAKING = threading.Lock()


def current_standings(grid: GridContext, tx: Tx) -> Standings:
    """The pairs that somebody has answered as they stand in a transaction."""
    with _MAKING:
        kept = _KEPT.setdefault(grid, _Kept())
    with kept.lock:
        marks, rules = pair_search.newest_marks(tx), effective_options(tx, Partition, {})
        if kept.standings is None or rules != kept.rules or any(map(int.__lt__, marks, kept.marks)):
            kept.standings = _load_all_standings(tx)
        elif marks != kept.marks:
            changed = pair_search.pairs_touched_since(tx, *kept.marks)
            kept.standings = kept.standings.replaced_by(load_standings(tx, changed)[1])
        kept.marks, kept.rules = marks, rules
        return kept.standings


def _load_all_standings(tx: Tx) -> Standings:
    """What `load_standings` would have of all pairs: from arrays, which takes a large grid a tenth of the time."""
    question, answers = scheme_of(tx), answer_arrays(tx)
    answered = np.unique(answers.cell_id[np.isin(answers.round_id, rounds.primary(tx).ids)])
    labels, n_choices = current_labels(tx, answers), len(question.codes)
    place = np.searchsorted(answered, labels["cell_id"]) * n_choices + np.searchsorted(question.codes, labels["code"])
    counts = np.bincount(place, minlength=len(answered) * n_choices).reshape(len(answered), n_choices)
    decided, verdicts = adjudications.decided_codes(tx), judgements.verdict_arrays(tx)
    final, stands = (align(answered, decided["cell_id"], decided[name]) for name in ("code", "stands"))
    verdict = align(answered, *combine_verdicts(verdicts["cell_id"], verdicts["code"]))
    is_requested = np.isin(answered, adjudications.requested_pairs(tx))
    return _standings(tx, Evidence(Tally(question, answered, counts), final, verdict), stands != 1, is_requested)


def load_standings(tx: Tx, cell_ids: Sequence[int]) -> tuple[list[PairState], Standings]:
    """These pairs, as far as somebody has answered them, with their labels and decisions."""
    question = scheme_of(tx)
    states = list(pair_states.pair_states(tx, question.codes, cell_ids))
    rows = judgements.verdict_arrays(tx, cell_ids)
    verdicts = combine_verdicts(rows["cell_id"], rows["code"])
    is_undecided = np.array([state.rule in NO_DECISION for state in states], bool)
    is_requested = np.array([state.rule == Rule.REQUESTED for state in states], bool)
    return states, _standings(tx, _evidence(question, states, verdicts), is_undecided, is_requested)


def _standings(
    tx: Tx, evidence: Evidence, is_undecided: NDArray[np.bool_], is_requested: NDArray[np.bool_]
) -> Standings:
    waits = _waits(is_undecided, is_requested, evidence.tally)
    return Standings(evidence.tally.cell_id, evidence.verdict, _tiers(tx, evidence), waits)


def _evidence(
    question: Closed, states: Sequence[PairState], verdicts: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> Evidence:
    answered = np.array([state.cell_id for state in states], np.int64)
    counts = np.array([state.counts for state in states], np.int64).reshape(len(states), len(question.codes))
    final = np.array([NO_CODE if state.code is None else state.code for state in states], np.int64)
    verdict_by_cell = dict(zip(*(part.tolist() for part in verdicts), strict=True))
    verdict = np.array([verdict_by_cell.get(state.cell_id, NO_CODE) for state in states], np.int64)
    return Evidence(Tally(question, answered, counts), final, verdict)


def _tiers(tx: Tx, evidence: Evidence) -> NDArray[np.int64]:
    """The tiers of each pair, as `memberships` has them; where labels make no tiers, none is in one."""
    if tier_obstacle(evidence.tally.question):
        return np.zeros(len(evidence.final), np.int64)
    return memberships(evidence, tier_rules(effective_options(tx, Partition, {})))


def _waits(is_undecided: NDArray[np.bool_], is_requested: NDArray[np.bool_], tally: Tally) -> NDArray[np.bool_]:
    """Whether a person has to decide each pair: nothing was decided, and its labels have not one definite answer, or a
    person's decision was requested.
    """
    definite = [tally.question.codes.index(code) for code in tally.question.definite]
    n_definite = (tally.counts[:, definite] > 0).sum(axis=1)
    return np.asarray(is_undecided & (tally.n_labels > 0) & ((n_definite != 1) | is_requested))
