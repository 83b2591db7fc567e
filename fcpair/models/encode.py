"""Text to unit vectors: encoding each distinct text once, and remembering it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import ModelError
from fcpair.models.cache import cache_folder, read_rows, write_rows
from fcpair.models.find import Model, quiet

BATCH = 32
SAVE_EVERY_S = 30.0
"""After so long what has been encoded is kept, in case the process is killed; Ctrl-C loses nothing."""

Progress = Callable[[int, int], None]


def encode(texts: Sequence[str], model: Model, progress: Progress | None = None) -> NDArray[np.float32]:
    """Encode texts to unit vectors of shape `(n_texts, dimension)`; dot products are cosine similarities.

    Each distinct text is encoded once, and never again on this machine with the same model: vectors are kept in
    `$FCPAIR_CACHE` (or the user's cache folder), by the model's key and the text's digest, while encoding goes on: who
    stops it goes on from there. `progress(done, total)` counts the texts that had to be encoded.

    Raises:
        ModelError: the model is no sentence-transformers model, or gives vectors without a direction.
    """
    keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in texts]
    distinct = dict(zip(keys, texts, strict=True))
    kept = cache_folder() / "vectors" / f"{model.key}.npz"
    known = read_rows(kept)
    new = [key for key in distinct if key not in known]
    if not distinct:
        raise ModelError("there are no texts to encode")
    if new:
        saved_s = monotonic()
        done = 0
        try:
            for batch, vectors in _encode_batches([distinct[key] for key in new], model):
                known.update(zip((new[at] for at in batch), vectors, strict=True))
                done += len(batch)
                if progress:
                    progress(done, len(new))
                if monotonic() - saved_s > SAVE_EVERY_S:
                    write_rows(kept, known)
                    saved_s = monotonic()
        finally:  # Ctrl-C too: what is encoded is kept, and the next run goes on from there
            if done:
                write_rows(kept, known)
    return np.stack([known[key] for key in keys])


def _encode_batches(texts: list[str], model: Model) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
    """The positions and vectors of texts in batches of about as many tokens, longest first: padding is rare so."""
    import torch

    encoder = _load(model)
    order = np.argsort([-n for n in _token_counts(encoder, texts)], kind="stable")
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH].tolist()
        with torch.inference_mode():
            features = encoder.preprocess([texts[i] for i in batch])
            features = {key: value.to(encoder.device) for key, value in features.items() if hasattr(value, "to")}
            unit = torch.nn.functional.normalize(encoder(features)["sentence_embedding"], dim=1).cpu().numpy()
        if not np.allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-3):
            raise ModelError(
                f"{model.name} gives a vector that is zero or not finite, which has no neighbours; nothing of that "
                "batch was kept. Its weights may be damaged: fetch it again, or name another model"
            )
        yield batch, unit


def _load(model: Model) -> Any:
    quiet()
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(model.folder, local_files_only=True).eval()
    except Exception as error:  # the libraries raise many kinds; each only means: not a model
        raise ModelError(f"{model.name} cannot be loaded as a sentence-transformers model: {error}") from error


def _token_counts(encoder: Any, texts: list[str]) -> list[int]:
    return [
        len(ids) for ids in encoder.tokenizer(texts, truncation=True, max_length=encoder.max_seq_length)["input_ids"]
    ]
