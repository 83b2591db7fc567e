"""Ranking by the embeddings that a service gives."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fcpair.evaluate.question import Answer, BrokenAnswer, Question, about, keep, model_record, recall, reported, tokens
from fcpair.evaluate.ranking import Cost, Ranking, System, Task, cosines, ordered
from fcpair.evaluate.service import Service

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TEXTS_A_REQUEST = 64
_LARGEST = 1e300  # of a value in a vector, so that a vector's length is a number


@dataclass(frozen=True)
class Embed(System):
    """Cosine of the embeddings that an OpenAI-compatible service gives for a model."""

    word: ClassVar[str] = "embed"
    of: str

    def rank(self, task: Task) -> Ranking:
        """Rank the pool by the cosine of each HS and CN.

        Each distinct text's vector is asked for once, 64 texts a request, and kept.

        Raises:
            ServiceError: the service gives no usable answer.
        """
        import numpy as np

        known = self._vectors(task)
        vectors = np.stack([_unit(known[text].said) for text in (*task.hs, *task.cn)])
        scores = cosines(vectors[: len(task.hs)], vectors[len(task.hs) :])
        return Ranking(*ordered(scores), model=model_record(self.of, (answer.model for answer in known.values())))

    def cost(self, task: Task) -> Cost:
        """What is asked for the texts whose vectors are not kept yet, in requests of 64 texts."""
        questions = self._questions(task)
        known = _kept(questions)
        missing = [question for text, question in questions.items() if text not in known]
        n_requests, n_missing = (math.ceil(len(texts) / TEXTS_A_REQUEST) for texts in (questions, missing))
        return Cost(n_requests, n_requests - n_missing, tokens(missing))

    def _questions(self, task: Task) -> dict[str, Question]:
        """The question for each distinct text, by the text."""
        return {
            text: Question("embeddings", {"model": self.of, "input": text}, about("a text", text))
            for text in (*task.hs, *task.cn)
        }

    def _vectors(self, task: Task) -> dict[str, Answer]:
        """The vector of each distinct text, by the text: kept ones, and those that have to be asked for."""
        questions = self._questions(task)
        known = _kept(questions)
        missing = [text for text in questions if text not in known]
        batches = [missing[at : at + TEXTS_A_REQUEST] for at in range(0, len(missing), TEXTS_A_REQUEST)]
        for done, batch in enumerate(batches, 1):
            dimensions = {len(answer.said) for answer in known.values()}
            known |= self._ask([questions[text] for text in batch], dimensions)
            if task.progress:
                task.progress(done, len(batches))
        return known

    def _ask(self, questions: list[Question], dimensions: set[int]) -> dict[str, Answer]:
        """Ask for the vectors of some texts in one request, and keep each; they must have one of `dimensions`."""
        texts = [question.body["input"] for question in questions]
        what = about(f"{len(texts)} texts" if len(texts) > 1 else "a text", texts[0])
        together = Question("embeddings", {"model": self.of, "input": texts}, what)
        service = Service.from_environment()
        answers = service.ask(together, lambda payload: _read(payload, len(texts), dimensions))
        for question, answer in zip(questions, answers, strict=True):
            keep(question, answer, service.base_url)
        return dict(zip(texts, answers, strict=True))


def _kept(questions: dict[str, Question]) -> dict[str, Answer]:
    """The kept vectors by their texts; none where their dimensions differ, as they are not of the same model then."""
    found = {text: recall(question, _checked) for text, question in questions.items()}
    known = {text: answer for text, answer in found.items() if answer is not None}
    return known if len({len(answer.said) for answer in known.values()}) < 2 else {}


def _read(payload: Any, n: int, dimensions: set[int]) -> list[Answer]:
    """The vectors of an answer, in the order of the texts; BrokenAnswer where it does not hold `n` usable ones."""
    answers = [_checked(Answer(vector, reported(payload))) for vector in _in_order(payload, n)]
    found = dimensions | {len(answer.said) for answer in answers}
    if len(found) > 1:
        raise BrokenAnswer(f"it answered with vectors that differ in dimension ({', '.join(map(str, sorted(found)))})")
    return answers


def _in_order(payload: Any, n: int) -> Iterator[Any]:
    items = payload.get("data") if isinstance(payload, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise BrokenAnswer("it answered without a list `data` of vectors")
    if len(items) != n:
        raise BrokenAnswer(f"it answered with {len(items)} vectors for {n} texts")
    places = [item.get("index", at) for at, item in enumerate(items)]
    if any(type(place) is not int for place in places) or sorted(places) != list(range(n)):
        raise BrokenAnswer("it answered with an `index` that is not one for each text")
    by_place = {place: item.get("embedding") for place, item in zip(places, items, strict=True)}
    return (by_place[at] for at in range(n))


def _checked(answer: Answer) -> Answer:
    vector = answer.said
    if not isinstance(vector, list) or not vector or not all(type(value) in (int, float) for value in vector):
        raise BrokenAnswer("it answered with a vector that is no list of numbers")
    if not all(abs(value) < _LARGEST for value in vector):
        raise BrokenAnswer("it answered with a vector that is not finite")
    if not any(vector):
        raise BrokenAnswer("it answered with a vector of zeros")
    return answer


def _unit(vector: list[float]) -> NDArray[np.float32]:
    import numpy as np

    whole = np.array(vector, np.float64)
    whole /= np.abs(whole).max()
    return (whole / np.linalg.norm(whole)).astype(np.float32)
