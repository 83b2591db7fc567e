"""Scores of text pairs by a cross-encoder: scoring each distinct pair once, and remembering it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import ModelError
from fcpair.models.cache import cache_folder, read_rows, write_rows
from fcpair.models.encode import Progress
from fcpair.models.model_files import Model, silence_libraries
from fcpair.stages.corpus.nearest_neighbours import DECIMALS

BATCH = 32


def score_pairs(
    pairs: Sequence[tuple[str, str]], model: Model, progress: Progress | None = None
) -> NDArray[np.float64]:
    """Score pairs of texts, shape `(n_pairs,)`, the higher the better, rounded to six decimals.

    Each distinct pair is scored once, and never again on this machine with the same model. `progress(done, total)`
    counts the pairs that had to be scored.

    Raises:
        ModelError: the model is no cross-encoder, or gives anything but one finite number for a pair.
    """
    path = cache_folder() / "scores" / f"{model.key}.npz"
    score_by_key = read_rows(path)
    keys = [hashlib.sha256(json.dumps(pair).encode()).hexdigest() for pair in pairs]
    distinct = dict(zip(keys, pairs, strict=True))
    new = [key for key in distinct if key not in score_by_key]
    if new:
        scores = _score_distinct([distinct[key] for key in new], model, progress)
        score_by_key.update(zip(new, scores, strict=True))
        write_rows(path, score_by_key)
    return np.array([score_by_key[key] for key in keys], np.float64)


def _score_distinct(pairs: list[tuple[str, str]], model: Model, progress: Progress | None) -> NDArray[np.float64]:
    """Score in batches of pairs of about the same length, longest first, so that padding is rare."""
    encoder = _load(model)
    order = np.argsort([-len(one) - len(other) for one, other in pairs], kind="stable")
    scores = np.empty(len(pairs))
    for start in range(0, len(pairs), BATCH):
        batch = order[start : start + BATCH]
        batch_scores = encoder.predict([pairs[i] for i in batch], batch_size=BATCH, show_progress_bar=False)
        if batch_scores.shape != batch.shape:
            raise ModelError(
                f"{model.name} gives {batch_scores.shape[-1]} scores for a pair; expected a model that gives one"
            )
        if not np.isfinite(batch_scores).all():
            raise ModelError(f"{model.name} gives a score that is not a finite number")
        scores[batch] = np.round(batch_scores.astype(np.float64), DECIMALS)
        if progress:
            progress(start + len(batch), len(pairs))
    return scores


def _load(model: Model) -> Any:
    silence_libraries()
    from sentence_transformers import CrossEncoder

    try:
        encoder = CrossEncoder(model.folder, local_files_only=True).eval()
    except Exception as error:  # the libraries raise many kinds; each only means: not a model
        raise ModelError(f"{model.name} cannot be loaded as a cross-encoder: {error}") from error
    saved_as = encoder.model.config.architectures or ["nothing that its configuration names"]
    if type(encoder.model).__name__ not in saved_as:  # its head would be made up, and so would be its scores
        raise ModelError(
            f"{model.name} is not a cross-encoder: it was saved as {saved_as[0]}, without a head that scores pairs. "
            "Name one, such as cross-encoder/ms-marco-MiniLM-L6-v2"
        )
    return encoder
