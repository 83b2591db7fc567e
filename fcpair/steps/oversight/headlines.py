"""Headlines of a grid: what is next, who is at work just now, and how many answers came on which day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np

from fcpair.records import Role, Round
from fcpair.stages.assignment.pace import PAUSE_S
from fcpair.steps.oversight.next_steps import NextStep, TallyOf, next_steps
from fcpair.steps.rules.pair_counts import tally
from fcpair.store import Tx
from fcpair.store.answers import activity_log
from fcpair.store.answers.answer_arrays import AnswerArrays
from fcpair.store.assignment import rounds
from fcpair.store.people import people


class LeadStep(NamedTuple):
    """What is next: an act by its name (`next_steps.Act`), on `n` cells or answers; in a round, where it is about one.

    `role` is that of those who answer the round.
    """

    act: str
    n: int
    round: str
    role: Role | None


@dataclass(frozen=True)
class Headlines:
    """Headlines of a grid.

    `steps` are all that can be done now, first things first; `primary` is the round whose answers count. `by_day` has
    the number of its answers of each day (UTC) on which some were given, oldest first. People who acted in the last ten
    minutes are `active`; `last_seen` has by name when each acted last. `roles` are those of all who take part, and
    `uninvited` counts those without a link by role.
    """

    steps: tuple[LeadStep, ...]
    primary: str
    by_day: tuple[tuple[str, int], ...]
    active: tuple[str, ...]
    last_seen: Mapping[str, str]
    roles: frozenset[Role]
    uninvited: Mapping[Role, int]


def find_headlines(tx: Tx, now: datetime, answers: AnswerArrays, tally_of: TallyOf = tally) -> Headlines:
    """The headlines of the grid that a transaction is about; its pairs are counted by `tally_of`."""
    taking_part = [one for one in people.people(tx, active=True) if one.role is not Role.MODEL]
    primary, with_token, newest = rounds.primary(tx), people.ids_with_token(tx), activity_log.newest_act_times(tx)
    since = (now - timedelta(seconds=PAUSE_S)).isoformat()
    return Headlines(
        steps=tuple(_lead_step(step) for step in next_steps(tx, tally_of=tally_of) if step.n),
        primary=primary.name,
        by_day=_n_by_day(answers, primary),
        active=tuple(one.name for one in taking_part if newest.get(one.id, "") >= since),
        last_seen={one.name: newest[one.id] for one in people.people(tx) if one.id in newest},
        roles=frozenset(one.role for one in taking_part),
        uninvited=Counter(one.role for one in taking_part if one.id not in with_token),
    )


def _n_by_day(answers: AnswerArrays, round_: Round) -> tuple[tuple[str, int], ...]:
    """Count the current answers in a round, skips left out, by the day (UTC) on which they were given, oldest first."""
    is_counted = answers.current & ~answers.skipped & np.isin(answers.round_id, round_.ids)
    days, counts = np.unique(answers.at[is_counted].astype(f"S{len('2026-01-31')}"), return_counts=True)
    return tuple((day.decode(), n) for day, n in zip(days.tolist(), counts.tolist(), strict=True))


def _lead_step(step: NextStep) -> LeadStep:
    round_ = step.progress.round if step.progress else None
    return LeadStep(step.act.value, step.n, round_.name if round_ else "", round_.role if round_ else None)
