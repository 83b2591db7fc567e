"""Similarity of a text to others: the cosine of their vectors, each text encoded once while it is needed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np

from fcpair.arrays import Vectors
from fcpair.models.encode import encode, encode_batches, open_encoder
from fcpair.models.model_files import Model, resolve
from fcpair.stages.corpus.text_identity import identity

MOST_KEPT = 50_000  # vectors in memory: 77 MB where they have 384 numbers
MOST_SETS = 64  # lists of texts that are compared with


class NearestText(NamedTuple):
    """The text that is most like another, and their cosine similarity, in [-1, 1]."""

    text: str
    similarity: float


class SimilarityIndex:
    """An encoder that is loaded when it is first needed, and the vectors of the newest texts that it has seen. Several
    threads may ask at once: whose turn it is encodes the texts of all who wait.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = Lock()
        self._waiting: list[str] = []
        self._vectors: OrderedDict[str, Vectors] = OrderedDict()
        # Of texts, in one array while the same ones are asked about; and the place of each by its identity.
        self._sets: OrderedDict[tuple[str, ...], tuple[Vectors, dict[str, int]]] = OrderedDict()
        self._model: Model | None = None

    @property
    def rule(self) -> str:
        """The encoder and what it rests on, as refusals keep it."""
        model = self._load_model()
        return f"{model.name} {model.key[:12]}"

    def preload(self, texts: Sequence[str]) -> None:
        """Encode texts before they are needed, and load the encoder; raises ModelError where it cannot be had."""
        with self._lock:
            model = self._load_model()
            if new := [text for text in dict.fromkeys(texts) if text not in self._vectors]:
                self._vectors.update(zip(new, encode(new, model), strict=True))

    def find_nearest(self, text: str, others: Sequence[str]) -> NearestText | None:
        """The first of the others that are most like a text, the very same words with similarity 1; None where there
        are none. Raises ModelError where the encoder cannot be had.
        """
        if not others:
            return None
        own_identity = identity(text)
        if text not in self._vectors:
            self._waiting.append(text)
        with self._lock:
            if (texts := tuple(others)) not in self._sets:
                places = {identity(other): at for at, other in reversed(list(enumerate(texts)))}
                self._sets[texts] = self._vectors_of(texts), places
                while len(self._sets) > MOST_SETS:
                    self._sets.popitem(last=False)
            self._sets.move_to_end(texts)
            vectors, places = self._sets[texts]
            if own_identity in places:
                return NearestText(others[places[own_identity]], 1.0)
            if text not in self._vectors:
                waiting, self._waiting = self._waiting, []
                self._vectors_of([text, *waiting])
            vector = self._vectors_of([text])[0]
        scores = vectors @ vector
        best = int(np.argmax(scores))
        return NearestText(others[best], min(float(scores[best]), 1.0))

    def _load_model(self) -> Model:
        if self._model is None:
            self._model = resolve(self._name)
            self._encoder = open_encoder(self._model)
        return self._model

    def _vectors_of(self, texts: Sequence[str]) -> Vectors:
        if new := [text for text in dict.fromkeys(texts) if text not in self._vectors]:
            model = self._load_model()  # which opens the encoder
            for at, vectors in encode_batches(new, self._encoder, model.name):
                self._vectors.update(zip((new[index] for index in at), vectors, strict=True))
        stacked = np.stack([self._vectors[text] for text in texts])
        while len(self._vectors) > MOST_KEPT:
            self._vectors.popitem(last=False)
        return stacked
