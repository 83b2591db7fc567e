"""Flags: the decisions on which an adjudicator noted that the guidelines should say more."""

from __future__ import annotations

from dataclasses import dataclass

from fcpair.records import Rule
from fcpair.steps.base.context import scheme_of
from fcpair.store import Tx
from fcpair.store.answers import activity_log
from fcpair.store.corpus.grids import to_public_number


@dataclass(frozen=True)
class Flag:
    """A decision on which somebody noted that the guidelines should say more; `stands` while it is the newest one."""

    cell_id: int
    hs: str
    cn: str
    outcome: str
    by: str | None
    note: str
    at: str
    stands: bool


def load_flags(tx: Tx) -> list[Flag]:
    """The flags of the grid, newest first."""
    names = {choice.code: choice.name for choice in scheme_of(tx)}
    return [
        Flag(
            to_public_number(row.cell_id),
            row.hs,
            row.cn,
            _outcome_text(row, names),
            row.by,
            row.note,
            row.at,
            row.stands,
        )
        for row in activity_log.flagged_decisions(tx)
    ]


def _outcome_text(row: activity_log.FlaggedDecision, names: dict[int, str]) -> str:
    if row.rule == Rule.REOPENED:
        return "taken back"
    return "discarded" if row.code is None else names[row.code]
