"""Ranking by the embeddings that a service gives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fcpair.arrays import Vectors
from fcpair.evaluate.ranking import Cost, Ranking, Search, System, cosines, sort_by_score
from fcpair.models.service import (
    BrokenReply,
    Prompt,
    Reply,
    Service,
    cache_answer,
    model_record,
    n_prompt_tokens,
    prompt_subject,
    read_cached,
    reported_model,
)

TEXTS_A_REQUEST = 64
_LARGEST = 1e300  # of a value in a vector, so that a vector's length is a number


@dataclass(frozen=True)
class Embed(System):
    """Cosine of the embeddings that an OpenAI-compatible service gives for a model."""

    word: ClassVar[str] = "embed"
    of: str

    def rank(self, search: Search) -> Ranking:
        """Rank the pool by the cosine of each HS and CN.

        Each distinct text's vector is asked for once, 64 texts a request, and kept.

        Raises:
            ServiceError: the service gives no usable answer.
        """
        prompts = self._prompts(search)
        replies = _cached_replies(prompts)
        missing = [text for text in prompts if text not in replies]
        batches = [missing[at : at + TEXTS_A_REQUEST] for at in range(0, len(missing), TEXTS_A_REQUEST)]
        for done, batch in enumerate(batches, 1):
            dimensions = {len(answer.said) for answer in replies.values()}
            replies |= self._query([prompts[text] for text in batch], dimensions)
            if search.progress:
                search.progress(done, len(batches))
        vectors = np.stack([_unit_vector(replies[text].said) for text in (*search.hs, *search.cn)])
        scores = cosines(vectors[: len(search.hs)], vectors[len(search.hs) :])
        return Ranking(
            *sort_by_score(scores), model=model_record(self.of, (answer.model for answer in replies.values()))
        )

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

    def _query(self, prompts: list[Prompt], dimensions: set[int]) -> dict[str, Reply]:
        """Ask for the vectors of some texts in one request, and keep each; they must have one of `dimensions`."""
        texts = [prompt.body["input"] for prompt in prompts]
        subject = prompt_subject(f"{len(texts)} texts" if len(texts) > 1 else "a text", texts[0])
        batch_prompt = Prompt("embeddings", {"model": self.of, "input": texts}, subject)
        service = Service.from_environment()
        answers = service.query(batch_prompt, lambda payload: _parse_vectors(payload, len(texts), dimensions))
        for prompt, answer in zip(prompts, answers, strict=True):
            cache_answer(prompt, answer, service.base_url)
        return dict(zip(texts, answers, strict=True))


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
    all_dimensions = dimensions | {len(answer.said) for answer in answers}
    if len(all_dimensions) > 1:
        raise BrokenReply(
            f"it answered with vectors that differ in dimension ({', '.join(map(str, sorted(all_dimensions)))})"
        )
    return answers


def _check_vector(answer: Reply) -> Reply:
    vector = answer.said
    if (
        not isinstance(vector, list)
        or not vector
        or any(isinstance(value, bool) or not isinstance(value, int | float) for value in vector)
    ):
        raise BrokenReply("it answered with a vector that is not a list of numbers")
    if not all(abs(value) < _LARGEST for value in vector):
        raise BrokenReply("it answered with a vector that is not finite")
    if not any(vector):
        raise BrokenReply("it answered with a vector of zeros")
    return answer


def _unit_vector(vector: list[float]) -> Vectors:
    scaled = np.array(vector, np.float64)
    scaled /= np.abs(scaled).max()
    return (scaled / np.linalg.norm(scaled)).astype(np.float32)
