"""Scores of text pairs by a cross-encoder: scoring each distinct pair once, and remembering it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fcpair.arrays import Floats
from fcpair.errors import ModelError
from fcpair.models.cache import cache_folder
from fcpair.models.encode import Progress, compute_rows, longest_first
from fcpair.models.model_files import Model, silence_libraries
from fcpair.stages.corpus.nearest_neighbours import DECIMALS

BATCH = 32


def score_pairs(pairs: Sequence[tuple[str, str]], model: Model, progress: Progress | None = None) -> Floats:
    """Score pairs of texts, shape `(n_pairs,)`, the higher the better, rounded to six decimals.

    Each distinct pair is scored once, and never again on this machine with the same model. `progress(done, total)`
    counts the pairs that had to be scored.

    Raises:
        ModelError: the model is no cross-encoder, or gives anything but one finite number for a pair.
    """
    keys = [hashlib.sha256(json.dumps(pair).encode()).hexdigest() for pair in pairs]
    distinct = dict(zip(keys, pairs, strict=True))

    def score_new(new: list[str]) -> Iterator[tuple[list[int], Floats]]:
        encoder = _load(model)
        for batch in longest_first([sum(map(len, distinct[key])) for key in new], BATCH):
            scores = encoder.predict([distinct[new[at]] for at in batch], batch_size=BATCH, show_progress_bar=False)
            if scores.shape != (len(batch),):
                raise ModelError(
                    f"{model.name} gives {scores.shape[-1]} scores for a pair; expected a model that gives one"
                )
            if not np.isfinite(scores).all():
                raise ModelError(f"{model.name} gives a score that is not a finite number")
            yield batch, np.round(scores.astype(np.float64), DECIMALS)[:, None]

    rows = compute_rows(list(distinct), cache_folder() / "scores" / model.key, score_new, progress)
    return rows.rows_of(keys)[:, 0] if keys else np.empty(0)


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
