"""Queues of cases: which of the conflicts an adjudicator goes through, and in which order."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from itertools import chain, groupby
from operator import itemgetter

from fcpair.steps.adjudication.conflict_cache import ConflictCache
from fcpair.steps.adjudication.doubts import order_by_doubt


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


def select_cases(conflicts: ConflictCache, queue: CaseQueue, person_id: int) -> set[int]:
    """The pairs in a queue, whoever may decide them.

    Those with a "not sure" label and those for a second look are a part of what waits. Flagged ones are those that
    wait and those that this person has decided, if the newest decision of a person said that the guidelines should say
    more.
    """
    due = conflicts.due_ids
    if queue is CaseQueue.FLAGGED:
        return {cell_id for cell_id in conflicts.flagged_ids if cell_id in due or conflicts.is_by(cell_id, person_id)}
    parts = {CaseQueue.UNSURE: conflicts.unsure_ids, CaseQueue.AGAIN: conflicts.second_look_ids}
    return due & parts[queue] if queue in parts else due


def order_cases(conflicts: ConflictCache, order: CaseOrder, index: int, n_adjudicators: int) -> list[int]:
    """All conflicts in the order in which the adjudicator `index` (from 0) of `n_adjudicators` goes through them.

    By doubt they take turns, so that those in most doubt come first for each of them, and then what is left of others'.
    """
    if order is CaseOrder.DOUBT:
        ranked = order_by_doubt(conflicts.order, conflicts.ranking.doubts)
        others = [cell_id for at, cell_id in enumerate(ranked) if at % n_adjudicators != index]
        return [*ranked[index::n_adjudicators], *others]
    groups = (
        [[cell_id for _, cell_id in places] for _, places in groupby(conflicts.places, key=itemgetter(0))]
        if order is CaseOrder.ROW
        else [[cell_id] for cell_id in conflicts.order]
    )
    return list(chain.from_iterable(groups[at] for at in visiting_order(len(groups), index, n_adjudicators)))


def split_route(route: list[int], after: int | None, shown_early: Collection[int]) -> tuple[list[int], list[int]]:
    """What is before the place from which somebody goes on, with the pair that they go on from, and what is behind it.

    From a pair that was shown before there was an order by doubt, they go on at its beginning; what was shown so comes
    last, as they have it already.
    """
    if after in shown_early:
        early = [cell_id for cell_id in route if cell_id in shown_early]
        return early, [cell_id for cell_id in route if cell_id not in shown_early]
    start = route.index(after) + 1 if after in route else 0
    return route[:start], route[start:]


def visiting_order(n: int, index: int, n_adjudicators: int) -> list[int]:
    """The order in which the adjudicator `index` (from 0) of `n_adjudicators` goes through `n` cases, or rows of them.

    First a share of one's own, forward; then what others may have left of theirs, from its end: so two people meet
    only where one share is all but done.
    """
    first, last = index * n // n_adjudicators, (index + 1) * n // n_adjudicators
    return [*range(first, last), *range(first - 1, -1, -1), *range(n - 1, last - 1, -1)]
