"""Labels by a model: its own scores, each text once, and only a model that was made for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from fcpair.errors import ModelError
from fcpair.models import transformer
from fcpair.models.model_files import Model
from fcpair.models.transformer import LabelScores, score_labels
from models.tiny_cross import save_tiny

pytestmark = pytest.mark.torch

TEXTS = ["tea", "a much longer text about tea and bread", "", "tea"]
NAMES = ["facts", "humour", "question"]


def named(folder: Path, problem: str | None = None) -> Model:
    """A tiny model whose three labels have names."""
    from transformers import AutoConfig

    model = save_tiny(folder, 3)
    config = AutoConfig.from_pretrained(folder)
    config.id2label = dict(enumerate(NAMES))
    config.label2id = {name: at for at, name in enumerate(NAMES)}
    config.problem_type = problem
    config.save_pretrained(folder)
    return model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return named(tmp_path_factory.mktemp("tiny"))


def test_scores_are_the_sigmoid_of_the_model_s_own_logits(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    monkeypatch.setattr(transformer, "BATCH", 2)
    network = AutoModelForSequenceClassification.from_pretrained(model.folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(model.folder)
    with torch.no_grad():
        logits = [network(**tokenizer(text, return_tensors="pt")).logits[0].numpy() for text in TEXTS]
    found = score_labels(TEXTS, model)
    assert found.labels == tuple(NAMES)
    np.testing.assert_allclose(found.scores, 1 / (1 + np.exp(-np.array(logits, np.float64))), atol=1e-6)
    assert len(np.unique(found.scores.round(9), axis=0)) == 3


def test_each_distinct_text_is_scored_once(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformer, "BATCH", 2)
    told: list[tuple[int, int]] = []
    score_labels(TEXTS, model, lambda done, total: told.append((done, total)))
    assert told == [(2, 3), (3, 3)]
    assert score_labels([], model).scores.shape == (0, 3)


def test_labels_at_the_threshold_and_above_are_predicted() -> None:
    scored = LabelScores(("a", "b"), np.array([[0.5, 0.49], [0.9, 0.6], [0.1, 0.2]]))
    assert scored.labels_above(0.5) == [["a"], ["a", "b"], []]


def test_a_text_longer_than_the_model_reads_is_cut(model: Model) -> None:
    scored = score_labels(["tea " * 500, "tea"], model)
    assert scored.scores.shape == (2, 3)
    note = f"1 of 2 texts are longer than {model.name} reads (64 tokens); their ends were cut"
    assert scored.cut == (1, (note,))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (partial(save_tiny, head=False), "was saved as BertModel, not as a model that classifies texts"),
        (partial(named, problem="single_label_classification"), "was trained to give each text one label"),
        (
            lambda folder: Model("mine", str(folder), "local folder", "0" * 64, "0" * 64),
            "mine cannot be loaded as a model of transformers",
        ),
    ],
)
def test_a_model_that_was_not_made_for_it_is_refused(tmp_path: Path, made: Callable[[Path], Model], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        score_labels(TEXTS, made(tmp_path))
