"""The most similar of some texts: each text is encoded once, and those who wait are encoded together."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fcpair.models import similarity
from fcpair.models.similarity import SimilarityIndex

COLD, WARM = "Tea is cold.", "Tea is warm."
ANGLES = {COLD: 0.0, WARM: 1.0, "Cats are cold.": 2.0}


class Encoder:
    """Turns texts into directions in a plane, and notes what it was given at once."""

    def __init__(self) -> None:
        self.given: list[list[str]] = []
        self.may = threading.Event()
        self.may.set()

    def batches(self, texts: Sequence[str], *_: object) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
        self.given.append(list(texts))
        self.may.wait(20)
        angles = np.array([ANGLES.get(text, len(text) / 100) for text in texts])
        yield list(range(len(texts))), np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float32)


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> Encoder:
    made = Encoder()
    monkeypatch.setattr(similarity, "encode_batches", made.batches)
    monkeypatch.setattr(similarity, "encode", lambda texts, _: next(made.batches(texts))[1])
    monkeypatch.setattr(SimilarityIndex, "_load_model", lambda self: self)
    monkeypatch.setattr(SimilarityIndex, "_encoder", None, raising=False)
    monkeypatch.setattr(SimilarityIndex, "name", "plane", raising=False)
    return made


def nearest(known: SimilarityIndex, text: str, others: Sequence[str]) -> Any:
    found = known.find_nearest(text, others)
    return found and (found.text, round(found.similarity, 5))


def test_the_nearest_one_and_its_cosine(encoder: Encoder) -> None:
    known = SimilarityIndex("plane")
    assert nearest(known, COLD, [WARM, "Cats are cold."]) == (WARM, round(float(np.cos(1)), 5))
    assert nearest(known, COLD, []) is None


def test_the_very_same_words_need_no_encoder(encoder: Encoder) -> None:
    known = SimilarityIndex("plane")
    known.preload([WARM])
    assert nearest(known, f" {WARM} ", [WARM]) == (WARM, 1.0)
    assert encoder.given == [[WARM]]


def test_a_text_is_encoded_once(encoder: Encoder) -> None:
    known = SimilarityIndex("plane")
    for _ in range(3):
        nearest(known, COLD, [WARM])
    assert sorted(one for given in encoder.given for one in given) == [COLD, WARM]


def test_those_who_wait_are_encoded_together_and_get_what_they_would_get_alone(encoder: Encoder) -> None:
    texts = [f"Text {'x' * at}." for at in range(8)]
    alone = [nearest(SimilarityIndex("plane"), text, [WARM, COLD]) for text in texts]
    known = SimilarityIndex("plane")
    known.preload([WARM, COLD])
    encoder.given.clear()
    encoder.may.clear()
    with ThreadPoolExecutor(len(texts)) as pool:
        asked = [pool.submit(nearest, known, text, [WARM, COLD]) for text in texts]
        while len(known._waiting) + sum(map(len, encoder.given)) < len(texts):
            pass
        encoder.may.set()
        assert [one.result() for one in asked] == alone
    assert len(encoder.given) <= 3
    assert sorted(one for given in encoder.given for one in given) == sorted(texts)
