"""An encoder, whatever runs it: texts to tokens, and batches of tokens of about the same length to vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Tokens = Mapping[str, NDArray[np.int64]]
"""The features of one text by their names, as long as the text; or of a batch, shape `(n_texts, n_tokens)`."""
IDS, MASK = "input_ids", "attention_mask"


@dataclass(frozen=True)
class Padding:
    """Padding of the shorter texts of a batch: with which token, and on which side."""

    token: int = 0
    left: bool = False


class Encoder(Protocol):
    """Interface that every backend implements."""

    padding: Padding

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text, cut where the model cuts it."""

    def unit_vectors(self, batch: Tokens) -> NDArray[np.float32]:
        """The unit vectors of the texts of a batch, shape `(n_texts, dimension)`."""


def pad_batch(texts: Sequence[Tokens], padding: Padding) -> Tokens:
    """The tokens of several texts as a batch, as wide as the longest of them."""
    width = max(len(text[IDS]) for text in texts)
    batch = {name: np.full((len(texts), width), padding.token if name == IDS else 0) for name in texts[0]}
    for row, text in enumerate(texts):
        n = len(text[IDS])
        place = slice(width - n, width) if padding.left else slice(n)
        for name, values in text.items():
            batch[name][row, place] = values
    return batch
