"""Systems that ask a service, or order the top of another system's ranking anew: embeddings, LLMs, a cross-encoder.
What an LLM names wrongly is counted, never repaired.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from fcpair.errors import InputError
from fcpair.evaluate.systems import (
    NOTHING,
    Cost,
    Ranking,
    Sbert,
    Search,
    System,
    check_at_least,
    cosines,
    rank_without_scores,
    sort_by_score,
)
from fcpair.models.encode import Progress, count_cut
from fcpair.models.model_files import CROSS_ENCODERS, resolve
from fcpair.models.service import (
    BrokenReply,
    Prompt,
    Reply,
    Service,
    cache_answer,
    message_content,
    model_record,
    n_prompt_tokens,
    prompt_subject,
    query_and_cache,
    read_cached,
    reported_model,
    strip_fence,
)
from fcpair.models.transformer import score_pairs
from fcpair.params import DEFAULT_MODEL
from fcpair.values import JsonFloat, is_blank, parse_json


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
        check_at_least("n", self.n, 1)

    def rank(self, search: Search) -> Ranking:
        """Rank `n` CNs of the pool, or all; raises ServiceError where the service gives no usable answer."""
        choices = collect_picks(self._requests(search), search.progress)
        depth = min(self.n, len(search.cn))
        order = np.array([[*choice.at, *[NOTHING] * (depth - len(choice.at))] for choice in choices], np.int64)
        by_hs = dict(zip(search.hs_ids, choices, strict=True))
        notes = [*pick_notes(by_hs, "in the pool")]
        if short := {hs: str(len(choice.at)) for hs, choice in by_hs.items() if len(choice.at) < depth}:
            which = f"{len(short)} of {len(by_hs)} ({format_examples(short)})"
            notes.append(f"answers that name fewer than {depth}: {which}; the remaining ranks are empty")
        return rank_without_scores(order, tuple(notes), model_record(self.of, (choice.model for choice in choices)))

    def cost(self, search: Search) -> Cost:
        """Cost of asking for the HS whose answers are not kept yet."""
        return cost_of(self._requests(search))

    def _requests(self, search: Search) -> list[Request]:
        pool = range(len(search.cn))
        return [build_request(self.of, search, hs, pool, min(self.n, len(pool))) for hs in range(len(search.hs))]


EXAMPLES = 5  # HS that a note names
_SHOWN = 40  # characters of what was named
_ID = re.compile(r"[0-9]{1,18}")
_TASK = (
    "You are given a message and replies to it, each with an id. Judge which of these replies counter the message best "
    "and are appropriate as an answer to it. Name the {n} best of the {given} replies by their ids, the best first and "
    'each once. Answer with JSON and nothing else: {{"ranking": [id, id, ...]}}'
)


@dataclass(frozen=True)
class Picks:
    """CNs that an LLM named for an HS: positions in the pool (`at`), best first, NOTHING for what is none of the ids
    that it was given (`unknown`) and for an id named already (`repeated`); `beyond` counts more than was asked for.
    """

    at: tuple[int, ...] = ()
    unknown: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    beyond: int = 0
    model: str = ""


@dataclass(frozen=True)
class Request:
    """An HS and CNs of the pool, their positions by id, that are put before an LLM to have the `n` best named."""

    prompt: Prompt
    given: Mapping[int, int]
    n: int

    def read_picks(self, answer: Reply) -> Picks:
        """Read the picks from an answer; raise BrokenReply where it names no CN that was given."""
        try:
            parsed = parse_json(strip_fence(answer.said) if isinstance(answer.said, str) else answer.said)
        except (ValueError, TypeError, RecursionError):
            parsed = None
        if not isinstance((ranking := parsed.get("ranking") if isinstance(parsed, dict) else None), list):
            raise BrokenReply('its message is not {"ranking": [...]}')
        at: list[int] = []
        unknown, repeated = [], []
        for named in ranking[: self.n]:
            if (position := self.given.get(_parse_id(named), NOTHING)) == NOTHING:
                unknown.append(json.dumps(named, ensure_ascii=False)[:_SHOWN])
            elif position in at:
                repeated.append(str(named))
                position = NOTHING
            at.append(position)
        if {*at} <= {NOTHING}:
            raise BrokenReply("it named none of the ids that it was given" if at else "it named nothing")
        return Picks(tuple(at), tuple(unknown), tuple(repeated), len(ranking) - len(at), answer.model)


def build_request(model: str, search: Search, hs: int, positions: Sequence[int], n: int) -> Request:
    """Put the CNs at these `positions` of the pool before a model, in that order, for the HS in row `hs`."""
    replies = [{"id": search.cn_ids[at], "text": search.cn[at]} for at in positions]
    lines = [json.dumps(line, ensure_ascii=False) for line in ({"message": search.hs[hs]}, *replies)]
    messages = [
        {"role": "system", "content": _TASK.format(n=n, given=len(positions))},
        {"role": "user", "content": "\n".join(lines)},
    ]
    body = {"model": model, "messages": messages, "temperature": 0, "seed": 0}
    prompt = Prompt("chat/completions", body, prompt_subject(f"HS {search.hs_ids[hs]}", search.hs[hs]))
    return Request(prompt, {search.cn_ids[at]: at for at in positions}, n)


def collect_picks(requests: Sequence[Request | None], progress: Progress | None) -> list[Picks]:
    """Collect the picks for each request, asking only where it was not asked before; empty picks for None. Raises
    ServiceError where the service gives no usable answer.
    """
    choices = [read_cached(request.prompt, request.read_picks) if request else Picks() for request in requests]
    missing = [(row, request_) for row, request_ in enumerate(requests) if request_ and not choices[row]]
    for done, (row, request_) in enumerate(missing, 1):
        choices[row] = query_and_cache(request_.prompt, _message_text, request_.read_picks)
        if progress:
            progress(done, len(missing))
    return [choice for choice in choices if choice]


def cost_of(requests: Sequence[Request | None]) -> Cost:
    """Estimate what `collect_picks` asks of the service."""
    needed = [request_ for request_ in requests if request_]
    missing = [request_.prompt for request_ in needed if read_cached(request_.prompt, request_.read_picks) is None]
    return Cost(len(needed), len(needed) - len(missing), n_prompt_tokens(missing))


def pick_notes(choices: Mapping[int, Picks], id_scope: str) -> Iterator[str]:
    """Yield notes that a reader needs on choices, by the ids of their HS; `id_scope` says what an unknown id is not."""
    n_named = sum(len(choice.at) for choice in choices.values())
    wrong = {
        f"named ids that are not {id_scope}": {hs: choice.unknown for hs, choice in choices.items()},
        "ids that are named again for the same HS": {hs: choice.repeated for hs, choice in choices.items()},
    }
    for what, by_hs in wrong.items():
        if n := sum(map(len, by_hs.values())):
            examples = format_examples({hs: ", ".join(ids) for hs, ids in by_hs.items() if ids})
            yield f"{what}: {n} of {n_named} ({examples}); each keeps its rank and counts as wrong"
    if beyond := {hs: f"{choice.beyond} more" for hs, choice in choices.items() if choice.beyond}:
        n_more = f"{len(beyond)} of {len(choices)}"
        yield f"answers that name more than was asked for: {n_more} ({format_examples(beyond)}); ignored"


def format_examples(text_by_hs: Mapping[int, str]) -> str:
    """The first few of what was found, by the ids of the HS."""
    named = [f"HS {hs}: {what}" for hs, what in list(text_by_hs.items())[:EXAMPLES]]
    return "; ".join([*named, *["..."] * (len(text_by_hs) > EXAMPLES)])


def _message_text(payload: Any) -> str:
    if not isinstance((content := message_content(payload)), str) or is_blank(content):
        raise BrokenReply("it answered with a message without content")
    return content


def _parse_id(named: Any) -> int:
    """An id that is given as a whole number or as a string of digits; NOTHING for anything else."""
    if isinstance(named, str) and _ID.fullmatch(named.strip()):
        return int(named)
    return named if type(named) is int else NOTHING


TEXTS_A_REQUEST = 64
_LARGEST = 1e300  # of a value in a vector, so that a vector's length is a number


@dataclass(frozen=True)
class Embed(System):
    """Cosine of the embeddings that an OpenAI-compatible service gives for a model."""

    word: ClassVar[str] = "embed"
    of: str

    def rank(self, search: Search) -> Ranking:
        """Rank the pool by the cosine of each HS and CN, each distinct text asked for once; raises ServiceError."""
        prompts = self._prompts(search)
        replies = _cached_replies(prompts)
        missing = [text for text in prompts if text not in replies]
        batches = [missing[at : at + TEXTS_A_REQUEST] for at in range(0, len(missing), TEXTS_A_REQUEST)]
        for done, batch in enumerate(batches, 1):
            subject = prompt_subject(f"{len(batch)} texts" if len(batch) > 1 else "a text", batch[0])
            batch_prompt = Prompt("embeddings", {"model": self.of, "input": batch}, subject)
            read = partial(_parse_vectors, n=len(batch), dimensions={len(answer.said) for answer in replies.values()})
            answers = (service := Service.from_environment()).query(batch_prompt, read)
            for text, answer in zip(batch, answers, strict=True):
                cache_answer(prompts[text], answer, service.base_url)
                replies[text] = answer
            if search.progress:
                search.progress(done, len(batches))
        vectors = np.array([replies[text].said for text in (*search.hs, *search.cn)], np.float64)
        vectors /= np.abs(vectors).max(axis=1, keepdims=True)
        units = np.stack([(vector / np.linalg.norm(vector)).astype(np.float32) for vector in vectors])
        ranked = sort_by_score(cosines(units[: len(search.hs)], units[len(search.hs) :]))
        return Ranking(*ranked, model=model_record(self.of, (answer.model for answer in replies.values())))

    def cost(self, search: Search) -> Cost:
        """Cost of embedding the texts whose vectors are not kept yet, in requests of 64 texts."""
        prompts = self._prompts(search)
        replies = _cached_replies(prompts)
        missing = [prompt for text, prompt in prompts.items() if text not in replies]
        n_requests, n_missing = (math.ceil(len(texts) / TEXTS_A_REQUEST) for texts in (prompts, missing))
        return Cost(n_requests, n_requests - n_missing, n_prompt_tokens(missing))

    def _prompts(self, search: Search) -> dict[str, Prompt]:
        """The prompt for each distinct text, by the text."""
        return {
            text: Prompt("embeddings", {"model": self.of, "input": text}, prompt_subject("a text", text))
            for text in (*search.hs, *search.cn)
        }


def _cached_replies(prompts: dict[str, Prompt]) -> dict[str, Reply]:
    """The kept vectors by their texts; none where their dimensions differ, as they are not of the same model then."""
    cached = {text: read_cached(prompt, _check_vector) for text, prompt in prompts.items()}
    replies = {text: answer for text, answer in cached.items() if answer is not None}
    return replies if len({len(answer.said) for answer in replies.values()}) < 2 else {}


def _parse_vectors(payload: Any, n: int, dimensions: set[int]) -> list[Reply]:
    """The vectors of an answer, in the order of the texts; BrokenReply where it does not hold `n` usable ones."""
    items = payload.get("data") if isinstance(payload, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise BrokenReply("it answered without a list `data` of vectors")
    if len(items) != n:
        raise BrokenReply(f"it answered with {len(items)} vectors for {n} texts")
    places = [item.get("index", at) for at, item in enumerate(items)]
    if any(type(place) is not int for place in places) or sorted(places) != list(range(n)):
        raise BrokenReply("it answered with an `index` that is not one for each text")
    by_place = {place: item.get("embedding") for place, item in zip(places, items, strict=True)}
    answers = [_check_vector(Reply(vector, reported_model(payload))) for vector in (by_place[at] for at in range(n))]
    if len(all_dimensions := dimensions | {len(answer.said) for answer in answers}) > 1:
        raise BrokenReply(
            f"it answered with vectors that differ in dimension ({', '.join(map(str, sorted(all_dimensions)))})"
        )
    return answers


def _check_vector(answer: Reply) -> Reply:
    vector = answer.said
    if not isinstance(vector, list) or not vector or not {*map(type, vector)} <= {int, float, JsonFloat}:
        raise BrokenReply("it answered with a vector that is not a list of numbers")
    if not all(abs(value) < _LARGEST for value in vector):
        raise BrokenReply("it answered with a vector that is not finite")
    if not any(vector):
        raise BrokenReply("it answered with a vector of zeros")
    return answer


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
        """Rank the pool; the score of rank r is -r. Raises ServiceError where the service gives no usable answer."""
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
        """Cost of asking for the HS whose answers are not kept yet, and of the first system; where this has to ask a
        service itself, its top is not known yet, and the first CNs of the pool stand in for it.
        """
        if (first := self.first.cost(search)).cached < first.requests:
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
        """Rank the pool; the score of rank r is -r. Raises ModelError for no such model, or no cross-encoder."""
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
