"""An LLM over a service that ranks the pool itself (zero-shot)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fcpair.errors import InputError
from fcpair.evaluate.llm_picking import (
    Picks,
    Request,
    build_request,
    collect_picks,
    cost_of,
    format_examples,
    pick_notes,
)
from fcpair.evaluate.ranking import NOTHING, Cost, Ranking, Search, System, rank_without_scores
from fcpair.models.cached_requests import model_record


@dataclass(frozen=True)
class Llm(System):
    """An LLM that reads an HS and the whole pool and names the `n` best CNs by their ids, best first.

    It is asked once per HS, at temperature 0 and seed 0, and answers with the JSON object `{"ranking": [ids]}`, bare or
    in a ```json fence, the ids as whole numbers or strings of digits. Anything else that it names, and an id that it
    names again, keeps its rank as NOTHING and counts as a wrong recommendation. Of more than `n` the first `n` count;
    of fewer, the ranks that are left hold NOTHING. The notes count all of this.
    """

    word: ClassVar[str] = "llm"
    of: str
    n: int = 10

    def __post_init__(self) -> None:
        if self.n < 1:
            raise InputError(f"n is {self.n}; expected a whole number, 1 or more")

    def rank(self, search: Search) -> Ranking:
        """Rank `n` CNs of the pool (all, where it has fewer); the score of rank r is -r.

        Raises:
            ServiceError: the service gives no usable answer; one that names no CN of the pool is none.
        """
        choices = collect_picks(self._requests(search), search.progress)
        depth = min(self.n, len(search.cn))
        order = np.array([[*choice.at, *[NOTHING] * (depth - len(choice.at))] for choice in choices], np.int64)
        by_hs = dict(zip(search.hs_ids, choices, strict=True))
        notes = (*pick_notes(by_hs, "in the pool"), *_short_answer_notes(by_hs, depth))
        return rank_without_scores(order, notes, model_record(self.of, (choice.model for choice in choices)))

    def cost(self, search: Search) -> Cost:
        """Cost of asking for the HS whose answers are not kept yet."""
        return cost_of(self._requests(search))

    def _requests(self, search: Search) -> list[Request]:
        pool: Sequence[int] = range(len(search.cn))
        return [build_request(self.of, search, hs, pool, min(self.n, len(pool))) for hs in range(len(search.hs))]


def _short_answer_notes(choices: dict[int, Picks], n: int) -> list[str]:
    short_answers = {hs: str(len(choice.at)) for hs, choice in choices.items() if len(choice.at) < n}
    if not short_answers:
        return []
    note = "the remaining ranks are empty"
    return [
        f"answers that name fewer than {n}: {len(short_answers)} of {len(choices)} "
        f"({format_examples(short_answers)}); {note}"
    ]
