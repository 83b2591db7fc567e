"""Ranking by the embeddings that a service gives."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fcpair.evaluate.ranking import Cost, Ranking, Search, System, cosines, ordered
from fcpair.models.prompt import BrokenReply, Prompt, Reply, about, keep, model_record, recall, reported, tokens
from fcpair.models.service import Service

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
        known = self._vectors(search)
        vectors = np.stack([_unit(known[text].said) for text in (*search.hs, *search.cn)])
        scores = cosines(vectors[: len(search.hs)], vectors[len(search.hs) :])
        return Ranking(*ordered(scores), model=model_record(self.of, (answer.model for answer in known.values())))

    def cost(self, search: Search) -> Cost:
        """What is asked for the texts whose vectors are not kept yet, in requests of 64 texts."""
        prompts = self._prompts(search)
        known = _kept(prompts)
        missing = [prompt for text, prompt in prompts.items() if text not in known]
        n_requests, n_missing = (math.ceil(len(texts) / TEXTS_A_REQUEST) for texts in (prompts, missing))
        return Cost(n_requests, n_requests - n_missing, tokens(missing))

    def _prompts(self, search: Search) -> dict[str, Prompt]:
        """The prompt for each distinct text, by the text."""
        return {
            text: Prompt("embeddings", {"model": self.of, "input": text}, about("a text", text))
            for text in (*search.hs, *search.cn)
        }

    def _vectors(self, search: Search) -> dict[str, Reply]:
        """The vector of each distinct text, by the text: kept ones, and those that have to be asked for."""
        prompts = self._prompts(search)
        known = _kept(prompts)
        missing = [text for text in prompts if text not in known]
        batches = [missing[at : at + TEXTS_A_REQUEST] for at in range(0, len(missing), TEXTS_A_REQUEST)]
        for done, batch in enumerate(batches, 1):
            dimensions = {len(answer.said) for answer in known.values()}
            known |= self._ask([prompts[text] for text in batch], dimensions)
            if search.progress:
                search.progress(done, len(batches))
        return known

    def _ask(self, prompts: list[Prompt], dimensions: set[int]) -> dict[str, Reply]:
        """Ask for the vectors of some texts in one request, and keep each; they must have one of `dimensions`."""
        texts = [prompt.body["input"] for prompt in prompts]
        what = about(f"{len(texts)} texts" if len(texts) > 1 else "a text", texts[0])
        together = Prompt("embeddings", {"model": self.of, "input": texts}, what)
        service = Service.from_environment()
        answers = service.ask(together, lambda payload: _read(payload, len(texts), dimensions))
        for prompt, answer in zip(prompts, answers, strict=True):
            keep(prompt, answer, service.base_url)
        return dict(zip(texts, answers, strict=True))


def _kept(prompts: dict[str, Prompt]) -> dict[str, Reply]:
    """The kept vectors by their texts; none where their dimensions differ, as they are not of the same model then."""
    found = {text: recall(prompt, _checked) for text, prompt in prompts.items()}
    known = {text: answer for text, answer in found.items() if answer is not None}
    return known if len({len(answer.said) for answer in known.values()}) < 2 else {}


def _read(payload: Any, n: int, dimensions: set[int]) -> list[Reply]:
    """The vectors of an answer, in the order of the texts; BrokenReply where it does not hold `n` usable ones."""
    answers = [_checked(Reply(vector, reported(payload))) for vector in _in_order(payload, n)]
    found = dimensions | {len(answer.said) for answer in answers}
    if len(found) > 1:
        raise BrokenReply(f"it answered with vectors that differ in dimension ({', '.join(map(str, sorted(found)))})")
    return answers


def _in_order(payload: Any, n: int) -> Iterator[Any]:
    items = payload.get("data") if isinstance(payload, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise BrokenReply("it answered without a list `data` of vectors")
    if len(items) != n:
        raise BrokenReply(f"it answered with {len(items)} vectors for {n} texts")
    places = [item.get("index", at) for at, item in enumerate(items)]
    if any(type(place) is not int for place in places) or sorted(places) != list(range(n)):
        raise BrokenReply("it answered with an `index` that is not one for each text")
    by_place = {place: item.get("embedding") for place, item in zip(places, items, strict=True)}
    return (by_place[at] for at in range(n))


def _checked(answer: Reply) -> Reply:
    vector = answer.said
    if not isinstance(vector, list) or not vector or not all(type(value) in (int, float) for value in vector):
        raise BrokenReply("it answered with a vector that is no list of numbers")
    if not all(abs(value) < _LARGEST for value in vector):
        raise BrokenReply("it answered with a vector that is not finite")
    if not any(vector):
        raise BrokenReply("it answered with a vector of zeros")
    return answer


def _unit(vector: list[float]) -> NDArray[np.float32]:
    whole = np.array(vector, np.float64)
    whole /= np.abs(whole).max()
    return (whole / np.linalg.norm(whole)).astype(np.float32)
