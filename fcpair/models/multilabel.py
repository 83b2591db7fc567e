"""Labels of texts by a transformers model that classifies: several of them, each by a threshold of its own score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fcpair.errors import ModelError
from fcpair.models.encode import Cut, Progress, count_cut
from fcpair.models.model_files import Model, silence_libraries

BATCH = 32
MADE_FOR = "ForSequenceClassification"


@dataclass(frozen=True)
class LabelScores:
    """Confidence of a model in each of its labels on each text: `scores`, shape (n_texts, n_labels), from 0 to 1.

    `cut` says how many texts are longer than it reads.
    """

    labels: tuple[str, ...]
    scores: npt.NDArray[np.float64]
    cut: Cut = Cut(0, ())

    def labels_above(self, threshold: float) -> list[list[str]]:
        """The labels of each text whose score is `threshold` or more."""
        return [[self.labels[at] for at in np.flatnonzero(row)] for row in self.scores >= threshold]


def score_labels(texts: Sequence[str], model: Model, progress: Progress | None = None) -> LabelScores:
    """Score each label of the model on each text, by the sigmoid of its logit; each distinct text is scored once.

    `progress(done, total)` counts distinct texts.

    Raises:
        ModelError: the model does not classify texts, was trained to give each text one label, or gives a score that is
            not a finite number.
    """
    network, tokenizer = _load(model)
    labels = tuple(str(network.config.id2label[at]) for at in range(network.config.num_labels))
    distinct = {text: at for at, text in enumerate(sorted(set(texts), key=len, reverse=True))}
    scores = _score_texts(list(distinct), network, tokenizer, progress).reshape(len(distinct), len(labels))
    if not np.isfinite(scores).all():
        raise ModelError(f"{model.name} gives a score that is not a finite number")
    return LabelScores(labels, scores[[distinct[text] for text in texts]], count_cut(texts, model))


def _score_texts(texts: list[str], network: Any, tokenizer: Any, progress: Progress | None) -> npt.NDArray[np.float64]:
    import torch

    longest = min(tokenizer.model_max_length, getattr(network.config, "max_position_embeddings", None) or 512)
    batch_scores = [np.zeros((0, network.config.num_labels))]
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        with torch.inference_mode():
            inputs = tokenizer(batch, padding=True, truncation=True, max_length=longest, return_tensors="pt")
            batch_scores.append(torch.sigmoid(network(**inputs).logits.double()).numpy())
        if progress:
            progress(start + len(batch), len(texts))
    return np.concatenate(batch_scores)


def _load(model: Model) -> tuple[Any, Any]:
    silence_libraries()
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    try:
        config = AutoConfig.from_pretrained(model.folder, local_files_only=True)
        saved_as = (config.architectures or ["nothing that its configuration names"])[0]
        network = AutoModelForSequenceClassification.from_pretrained(model.folder, local_files_only=True).eval()
        tokenizer = AutoTokenizer.from_pretrained(model.folder, local_files_only=True)
    except Exception as error:  # the libraries raise many kinds; each only means: not a model
        raise ModelError(f"{model.name} cannot be loaded as a model that classifies texts: {error}") from error
    if not saved_as.endswith(MADE_FOR):  # its head would be made up, and so would be its labels
        raise ModelError(f"{model.name} does not classify texts: it was saved as {saved_as}, without a head for labels")
    if config.problem_type == "single_label_classification":
        raise ModelError(f"{model.name} was trained to give each text one label; expected one for several labels")
    return network, tokenizer
