"""Asking for a person's decision on pairs that their labels, or a rule, have settled: they wait until somebody decides.

A request is a row like a decision. It takes the place of what a rule has decided and lasts until a person decides, also
if labels are added; whose decision is taken back, the request stands again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fcpair.errors import StageError
from fcpair.params import Adjudicate
from fcpair.records import BY, BY_HAND, UNDECIDED, RunRecord
from fcpair.steps.base.actors import with_actor
from fcpair.steps.base.context import GridContext, need_labels, note_run
from fcpair.steps.rules import rule_decisions
from fcpair.steps.rules.pair_lists import as_ranges, find_cells
from fcpair.store import Tx
from fcpair.store.adjudication import adjudications, disputes
from fcpair.store.corpus.grids import to_public_number


@dataclass(frozen=True)
class RequestForecast:
    """Pairs by number, as asking for a person's decision on them finds them.

    `requested` are put before adjudicators, of which `reopened` have a decision by a rule. The others stay as they are:
    those that are `waiting` for a person already, those `by_hand`, which a person has decided, and those `unlabelled`.
    """

    requested: tuple[int, ...]
    reopened: tuple[int, ...]
    waiting: tuple[int, ...]
    by_hand: tuple[int, ...]
    unlabelled: tuple[int, ...]

    @property
    def counts(self) -> dict[str, int]:
        """The number of each."""
        return {name: len(pairs) for name, pairs in vars(self).items()}


def forecast_decision_requests(grid: GridContext, pairs: Sequence[int]) -> RequestForecast:
    """Say what `request_decisions` would do with these pairs; change nothing."""
    with grid._store.read() as tx:
        need_labels(tx, "adjudicate")
        return _forecast(tx, find_cells(tx, pairs))


def request_decisions(grid: GridContext, pairs: Sequence[int]) -> RunRecord:
    """Have a person decide these pairs, by number, whose labels agree or which a rule has decided.

    Until then none of them has a label or is in a tier, whatever the policy.

    Raises:
        UnknownIdError: the grid has no such pair.
        StageError: none of them can be put before adjudicators.
    """
    with grid._store.write() as tx:
        need_labels(tx, "adjudicate")
        forecast = _forecast(tx, cell_ids := find_cells(tx, pairs))
        if not forecast.requested:
            raise StageError(_nothing_to_request_message(forecast))
        requested = set(forecast.requested)
        cell_ids = [cell_id for cell_id in cell_ids if to_public_number(cell_id) in requested]
        adjudications.add_requests(tx, cell_ids, _request_note())
        return note_run(tx, Adjudicate.stage, {"request": as_ranges(forecast.requested)}, forecast.counts)


def _request_note() -> str:
    name = with_actor({}).get(BY)
    return f"asked by {name}" if name else "asked by a command"


def _forecast(tx: Tx, cell_ids: list[int]) -> RequestForecast:
    labelled = disputes.pairs_with_label(tx, cell_ids)
    waiting = {one.cell_id for one in rule_decisions.disputed_pairs(tx, cell_ids) if one.by is None}
    decisions = adjudications.current_adjudications(tx, "cell_id", "rule")
    rules = dict(zip(decisions["cell_id"].tolist(), decisions["rule"].tolist(), strict=True))
    groups: dict[str, list[int]] = {"requested": [], "reopened": [], "waiting": [], "by_hand": [], "unlabelled": []}
    for cell_id in cell_ids:
        number, rule = to_public_number(cell_id), rules.get(cell_id)
        if cell_id not in labelled:
            groups["unlabelled"].append(number)
        elif cell_id in waiting:
            groups["waiting"].append(number)
        elif rule in BY_HAND:
            groups["by_hand"].append(number)
        else:
            groups["requested"].append(number)
            if rule is not None and rule not in UNDECIDED:
                groups["reopened"].append(number)
    return RequestForecast(**{name: tuple(numbers) for name, numbers in groups.items()})


def _nothing_to_request_message(forecast: RequestForecast) -> str:
    reasons = (
        (len(forecast.waiting), "wait for a person already"),
        (len(forecast.by_hand), "have been decided by a person"),
        (len(forecast.unlabelled), "have no label yet"),
    )
    listed = "; ".join(f"{n:,} {reason}" for n, reason in reasons if n)
    return f"none of these pairs can be put before adjudicators: {listed}"
