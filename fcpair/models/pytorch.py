"""A sentence-transformers model as torch runs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fcpair.models.encoder import MASK, Padding, Tokens

TOKENISED = 256  # texts that the tokenizer pads to one width, which is then cut off again


class TorchEncoder:
    """A loaded `SentenceTransformer`, its own preparation of texts, and all of its modules."""

    def __init__(self, loaded: Any) -> None:
        self._loaded = loaded
        self.padding = padding_of(loaded.tokenizer)

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text, cut where the model cuts it."""
        return [
            tokens
            for at in range(0, len(texts), TOKENISED)
            for tokens in self._tokens(list(texts[at : at + TOKENISED]))
        ]

    def _tokens(self, texts: list[str]) -> list[Tokens]:
        given = self._loaded.preprocess(texts)
        features = {name: value.numpy() for name, value in given.items() if hasattr(value, "numpy")}
        there = features[MASK].astype(bool)
        return [{name: values[row, there[row]] for name, values in features.items()} for row in range(len(texts))]

    def unit_vectors(self, batch: Tokens) -> NDArray[np.float32]:
        """The unit vectors of the texts of a batch, shape `(n_texts, dimension)`."""
        import torch

        with torch.inference_mode():
            features = {name: torch.from_numpy(values).to(self._loaded.device) for name, values in batch.items()}
            vectors = self._loaded(features)["sentence_embedding"]
            unit: NDArray[np.float32] = torch.nn.functional.normalize(vectors, dim=1).cpu().numpy()
        return unit


def padding_of(tokenizer: Any) -> Padding:
    """How a tokenizer of transformers fills up the texts of a batch."""
    return Padding(tokenizer.pad_token_id or 0, tokenizer.padding_side == "left")
