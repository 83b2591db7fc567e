"""Standing rules for further labels: who is asked next where labels tie, or somebody is not sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from fcpair.arrays import Ints
from fcpair.errors import InputError
from fcpair.lazy import np
from fcpair.params import Annotate, Further
from fcpair.records import BY_HAND, Round, RunRecord
from fcpair.sentences import Id
from fcpair.stages.assignment.rounds import NOT_SURE, TIES, further_labels
from fcpair.steps.base import context
from fcpair.steps.base.context import GridContext
from fcpair.steps.base.keywords import own, takes_params
from fcpair.steps.people import reassignment
from fcpair.store import Tx, adjudications
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.assignment.open_slots import Slot
from fcpair.store.corpus import grids
from fcpair.store.database.statements import tentative

MOST = 2**31  # labels, for somebody without a limit


@takes_params
def save_further(
    grid: GridContext,
    options: Further | None = None,
    *,
    if_tied: int = own(0),
    if_not_sure: int = own(0),
    most: int = own(3),
) -> RunRecord:
    """Set the standing rules, and ask whom they ask for the labels that there are.

    Raises InputError for a limit that the people who are there cannot meet, StageError where the answers that count are
    no labels.
    """
    options = options or grid.effective_options(Further)
    with grid._store.write() as tx:
        context.scheme_of(tx)
        round_ = rounds.primary(tx)
        n_people = len(open_slots.candidates(tx, round_.role))
        is_open = context.lease_minutes(tx, round_) is not None
        if options.asks and n_people and options.most > n_people and not is_open:
            raise InputError.say(
                "a pair is to have %(most)s labels at most, and there are %(number)s people to give them; lower `most` "
                "or add people",
                most=Id(options.most),
                number=Id(n_people),
            )
        return replace(context.note_stage_run(tx, options, {}), counts=ask_further(tx))


def forecast_further(grid: GridContext, options: Further) -> dict[str, int]:
    """Count what `save_further` would ask for, and do nothing; as `ask_further`."""
    with grid._store.read() as tx:
        return _plan(tx, options, None, 0).counts


def ask_further(tx: Tx, cell_ids: Sequence[int] | None = None, seed: int = 0) -> dict[str, int]:
    """Ask further people about these cells, or all, as the standing rules say: about those all of whose labels are in,
    and that nobody decided by hand. Returns the numbers of labels asked for, and of those that nobody may give.
    """
    rules = context.effective_options(tx, Further, {})
    if not rules.asks or (cell_ids is not None and not len(cell_ids)):
        return {}
    plan = _plan(tx, rules, cell_ids, seed)
    _give(tx, plan)
    return plan.counts


def follow_answer(tx: Tx, cell_id: int, *, counts: bool) -> None:
    """Do so for one cell that was just answered. The same statements are run whatever the answer, and for one that does
    not count, on a control pair: the time of a reply tells none.
    """
    rules = context.effective_options(tx, Further, {})
    if rules.asks:
        plan = _plan(tx, rules, [cell_id], cell_id)
        is_kept = counts and bool(plan.slots)
        with tentative(tx, is_kept=is_kept):
            _give(tx, plan if is_kept else _plan_slots(tx, rounds.primary(tx), np.array([cell_id]), [TIES], cell_id))


class _Plan(NamedTuple):
    """Labels to be asked for: cell, reason, and who is asked, -1 for whoever asks; and those that nobody may give."""

    round: Round
    slots: list[tuple[int, str, int]]
    n_unmet: int = 0

    @property
    def counts(self) -> dict[str, int]:
        n = {"further_ties": 0, "further_not_sure": 0, "not_possible": self.n_unmet}
        for _, because, _ in self.slots:
            n[f"further_{because}"] += 1
        return {name: count for name, count in n.items() if count}


def _plan(tx: Tx, rules: Further, cell_ids: Sequence[int] | None, seed: int) -> _Plan:
    question, round_ = context.scheme_of(tx), rounds.primary(tx)
    states = [
        state
        for state in adjudications.pair_states(tx, question.codes, cell_ids)
        if state.rule not in BY_HAND and sum(state.counts) < rules.most
    ]
    ids = np.array([state.cell_id for state in states], np.int64)
    n_open, n_asked = assignments.further_work(tx, round_, ids.tolist())
    counts = np.array([state.counts for state in states], np.int64).reshape(len(ids), len(question.codes))
    more, unsure = further_labels(counts, question, np.array([n_asked.get(id_, 0) for id_ in ids.tolist()]), rules)
    more[[n_open.get(id_, 0) > 0 for id_ in ids.tolist()]] = 0
    turn = np.concatenate([np.arange(n) for n in more.tolist()]) if more.any() else np.zeros(0, np.int64)
    is_unsure = turn < np.repeat(unsure, more)
    return _plan_slots(tx, round_, np.repeat(ids, more), np.where(is_unsure, NOT_SURE, TIES).tolist(), seed)


def _plan_slots(tx: Tx, round_: Round, cell_id: Ints, because: list[str], seed: int) -> _Plan:
    """Who is asked for each of these labels: somebody who has not seen the cell, within everybody's limit."""
    if context.lease_minutes(tx, round_) is not None:
        return _Plan(round_, [(id_, why, -1) for id_, why in zip(cell_id.tolist(), because, strict=True)])
    with grids.on_first_grid(tx):
        limit = context.effective_options(tx, Annotate, {}).total_limit
    candidates = open_slots.candidates(tx, round_.role)
    room = {at: n for at, each in enumerate(candidates) if (n := MOST if limit is None else limit - each.load) > 0}
    takers = reassignment.choose_takers(tx, cell_id, [candidates[at] for at in room], round_, seed).tolist()
    slots, places = list[tuple[int, str, int]](), list(room)
    for id_, why, taker in zip(cell_id.tolist(), because, takers, strict=True):
        if taker >= 0 and room[places[taker]]:
            room[places[taker]] -= 1
            slots.append((id_, why, candidates[places[taker]].id))
    return _Plan(round_, slots, len(cell_id) - len(slots))


def _give(tx: Tx, plan: _Plan) -> None:
    if plan.slots and plan.slots[0][2] < 0:  # whoever asks gives them
        cells_and_nobody = [(cell_id, None) for cell_id, _, _ in plan.slots]
        open_slots.add(tx, plan.round, cells_and_nobody, [because for _, because, _ in plan.slots])
        return
    taken = [(Slot(None, cell_id, plan.round.id), person_id) for cell_id, _, person_id in plan.slots]
    rows = reassignment.assignment_rows_at_end(tx, taken, plan.round)
    for row, (_, because, _) in zip(rows, plan.slots, strict=True):
        row["because"] = because
    open_slots.fill_slots(tx, rows)
