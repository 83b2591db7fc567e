"""A sentence-transformers model as torch runs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fcpair.models.encoder import IDS, MASK, Padding, Tokens

TOKENISED = 256  # texts that the tokenizer pads to one width, which is then cut off again


class TorchEncoder:
    """A loaded `SentenceTransformer`, its own preparation of texts, and all of its modules."""

    def __init__(self, loaded: Any) -> None:
        self._loaded = loaded
        self.padding = padding_of(loaded.tokenizer)

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text, cut where the model cuts it."""
        return [
            tokens
            for at in range(0, len(texts), TOKENISED)
            for tokens in self._tokenize_block(list(texts[at : at + TOKENISED]))
        ]

    def _tokenize_block(self, texts: list[str]) -> list[Tokens]:
        encoded = self._loaded.preprocess(texts)
        features = {name: value.numpy() for name, value in encoded.items() if hasattr(value, "numpy")}
        is_token = features[MASK].astype(bool)
        return [{name: values[row, is_token[row]] for name, values in features.items()} for row in range(len(texts))]

    def unit_vectors(self, batch: Tokens) -> NDArray[np.float32]:
        """The unit vectors of the texts of a batch, shape `(n_texts, dimension)`."""
        return self._unit_vectors_of(batch, "sentence_embedding")

    def own_token_mask(self, batch: Tokens) -> NDArray[np.bool_]:
        """Which tokens of a batch are of the texts, shape `(n_texts, n_tokens)`: not padding, not added to them."""
        is_special = np.isin(batch[IDS], self._loaded.tokenizer.all_special_ids)
        is_unknown = batch[IDS] == self._loaded.tokenizer.unk_token_id  # it stands for a word of the text
        is_own: NDArray[np.bool_] = batch[MASK].astype(bool) & (~is_special | is_unknown)
        return is_own

    def token_vectors(self, batch: Tokens) -> NDArray[np.float32]:
        """The unit vectors of the tokens of a batch, shape `(n_texts, n_tokens, dimension)`."""
        return self._unit_vectors_of(batch, "token_embeddings")

    def _unit_vectors_of(self, batch: Tokens, output: str) -> NDArray[np.float32]:
        import torch

        with torch.inference_mode():
            features = {name: torch.from_numpy(values).to(self._loaded.device) for name, values in batch.items()}
            vectors = self._loaded(features)[output]
            unit: NDArray[np.float32] = torch.nn.functional.normalize(vectors, dim=-1).cpu().numpy()
        return unit


def padding_of(tokenizer: Any) -> Padding:
    """Padding that a tokenizer of transformers gives the texts of a batch."""
    return Padding(tokenizer.pad_token_id or 0, tokenizer.padding_side == "left")
