"""Systems that order the top of another system's ranking anew: an LLM over a service, a cross-encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from fcpair.errors import InputError
from fcpair.evaluate.services import (
    Llm,
    Request,
    build_request,
    collect_picks,
    cost_of,
    format_examples,
    pick_notes,
)
from fcpair.evaluate.systems import (
    NOTHING,
    Cost,
    Ranking,
    Sbert,
    Search,
    System,
    check_at_least,
    rank_without_scores,
)
from fcpair.models.encode import count_cut
from fcpair.models.model_files import CROSS_ENCODERS, resolve
from fcpair.models.service import model_record, n_prompt_tokens
from fcpair.models.transformer import score_pairs
from fcpair.params import DEFAULT_MODEL

TOP = 25


@dataclass(frozen=True)
class Rerank(System):
    """The first `top` ranks of another system, ordered by an LLM that reads the HS and their CNs.

    The LLM is asked to order all the CNs that it is given, as `Llm` describes, in the first system's order; how many it
    names of a pool (its `n`) is left out. What it names comes first, with NOTHING where it names something else or an
    id again; then the CNs of the top that it did not name, in the first system's order; then the rest of the first
    system's ranking. Where the first system has NOTHING at a rank of the top, it comes behind the CNs of the top.
    """

    word: ClassVar[str] = "rerank"
    first: System
    top: int = TOP
    by: Llm = field(kw_only=True)

    def __post_init__(self) -> None:
        check_at_least("top", self.top, 1)
        if not isinstance(self.by, Llm):
            raise InputError(f"by is {self.by}; expected llm:MODEL, or write cross:NAME(first=...,top=...) instead")
        if self.by.n != Llm.n:
            raise InputError(f"by has n={self.by.n}; leave it out, the LLM orders all of the top")

    def rank(self, search: Search) -> Ranking:
        """Rank the pool; the score of rank r is -r. Raises ServiceError where the service gives no usable answer; one
        that names none of the CNs that it was given is none.
        """
        first = self.first.rank(search)
        tops = _tops(first, self.top)
        choices = collect_picks(self._requests(search, tops), search.progress)
        rows = [
            [*choice.at, *(at for at in top if at not in choice.at), *_rest_of_ranking(row, self.top)]
            for choice, top, row in zip(choices, tops, first.order.tolist(), strict=True)
        ]
        by_hs = {hs: choice for hs, choice in zip(search.hs_ids, choices, strict=True) if choice.at}
        notes = [*pick_notes(by_hs, "among those given to the LLM")]
        left = {hs: {*top} - {*of.at} for hs, of, top in zip(search.hs_ids, choices, tops, strict=True)}
        if unnamed := {hs: str(len(at)) for hs, at in left.items() if at}:
            which = f"{sum(map(int, unnamed.values()))} of {sum(map(len, tops))} ({format_examples(unnamed)})"
            order = "they follow in the order of the first system"
            notes.append(f"CNs given to the LLM that it did not name: {which}; {order}")
        model = model_record(self.by.of, (choice.model for choice in choices))
        return _assemble_ranking(first, rows, tuple(notes), model)

    def cost(self, search: Search) -> Cost:
        """Cost of asking for the HS whose answers are not kept yet, together with the cost of the first system.

        Where the first system has to ask a service itself, its top is not known yet, and the first CNs of the pool
        stand in for it.
        """
        first = self.first.cost(search)
        if first.cached < first.requests:
            stand_ins = self._requests(search, [range(min(self.top, len(search.cn)))] * len(search.hs))
            return first + Cost(
                len(stand_ins), 0, n_prompt_tokens(stand_in.prompt for stand_in in stand_ins if stand_in)
            )
        return first + cost_of(self._requests(search, _tops(self.first.rank(search), self.top)))

    def _requests(self, search: Search, tops: Sequence[Sequence[int]]) -> list[Request | None]:
        return [build_request(self.by.of, search, hs, top, len(top)) if top else None for hs, top in enumerate(tops)]


@dataclass(frozen=True)
class Cross(System):
    """The first `top` ranks of another system, ordered by the scores of a cross-encoder (sentence-transformers).

    The CNs of the top come first, by their scores for the HS, ties by candidate order; then the rest of the first
    system's ranking. Where the first system has NOTHING at a rank of the top, it comes behind the CNs of the top.
    Nogueira and Cho 2019, https://doi.org/10.48550/arXiv.1901.04085.
    """

    word: ClassVar[str] = "cross"
    of: str
    first: System = Sbert(DEFAULT_MODEL)
    top: int = TOP

    def __post_init__(self) -> None:
        check_at_least("top", self.top, 1)

    def rank(self, search: Search) -> Ranking:
        """Rank the pool; the score of rank r is -r, as scores of the model and of the first system do not compare.

        Raises ModelError where the model is unavailable, or is no cross-encoder.
        """
        model = resolve(self.of, CROSS_ENCODERS)
        first = self.first.rank(search)
        tops = [sorted(top) for top in _tops(first, self.top)]
        pairs = [(search.hs[hs], search.cn[at]) for hs, top in enumerate(tops) for at in top]
        scores = iter(score_pairs(pairs, model, search.progress).tolist())
        scored = [{at: next(scores) for at in top} for top in tops]
        rows = [
            [*sorted(by_cn, key=by_cn.__getitem__, reverse=True), *_rest_of_ranking(row, self.top)]
            for by_cn, row in zip(scored, first.order.tolist(), strict=True)
        ]
        cut = count_cut(pairs, model)
        return _assemble_ranking(first, rows, cut.notes, model.record(), cut.n)

    def cost(self, search: Search) -> Cost:
        """Cost of what the first system asks of a service."""
        return self.first.cost(search)


def _tops(first: Ranking, top: int) -> list[list[int]]:
    """The CNs at the first `top` ranks of each HS, best first."""
    return [[at for at in row if at != NOTHING] for row in first.order[:, :top].tolist()]


def _rest_of_ranking(row: list[int], top: int) -> list[int]:
    """Rest of a ranking behind the CNs of the top: NOTHING as often as the top has it, and the ranks below."""
    return [NOTHING] * row[:top].count(NOTHING) + row[top:]


def _assemble_ranking(
    first: Ranking, rows: list[list[int]], notes: tuple[str, ...], model: dict[str, str], n_cut: int = 0
) -> Ranking:
    """The ranking of rows that may differ in length, with what is to be known of the first system's."""
    order = np.full((len(rows), max(map(len, rows))), NOTHING, np.int64)
    for at, row in enumerate(rows):
        order[at, : len(row)] = row
    model |= {f"first.{key}": value for key, value in (first.model or {}).items()}
    ranking = rank_without_scores(order, (*(f"first: {note}" for note in first.notes), *notes), model)
    return replace(ranking, n_cut=first.n_cut + n_cut)
