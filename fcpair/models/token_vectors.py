"""The vectors of the tokens of texts, by any encoder that sentence-transformers can load."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import ModelError
from fcpair.models.encode import BATCH, Progress, load_sentence_transformer
from fcpair.models.encoder import IDS, pad_batch
from fcpair.models.model_files import resolve
from fcpair.models.pytorch import TorchEncoder


def token_vectors(texts: Sequence[str], name: str, progress: Progress | None = None) -> list[NDArray[np.float32]]:
    """The unit vectors of the tokens of each text, shape `(n_tokens, dimension)`.

    Tokens that the tokenizer adds, such as `[CLS]`, have no vector here. Texts are read longest first, so that padding
    is rare; `progress(done, total)` counts them.

    Raises:
        ModelError: the model cannot be had, is no encoder, or gives vectors without a direction.
    """
    encoder = TorchEncoder(load_sentence_transformer(resolve(name)))
    tokens = encoder.tokenize(texts)
    order = np.argsort([-len(text_tokens[IDS]) for text_tokens in tokens], kind="stable").tolist()
    vectors_by_text: list[NDArray[np.float32]] = [np.empty((0, 0), np.float32)] * len(texts)
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        batch = pad_batch([tokens[row] for row in rows], encoder.padding)
        for row, vectors, is_own in zip(rows, encoder.token_vectors(batch), encoder.own_token_mask(batch), strict=True):
            vectors_by_text[row] = vectors[is_own]
        if progress:
            progress(start + len(rows), len(order))
    if not all(np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3) for vectors in vectors_by_text):
        raise ModelError(f"{name} gives a token a vector that is zero or not finite; its weights may be damaged")
    return vectors_by_text
