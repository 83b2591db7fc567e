"""The cross-encoder: the scores of the model itself, each pair scored once, and nothing but a cross-encoder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fcpair.errors import ModelError
from fcpair.models import transformer
from fcpair.models.model_files import Model, resolve
from fcpair.models.transformer import score_pairs
from fcpair.params import DEFAULT_MODEL
from models.tiny_cross import save_tiny

pytestmark = pytest.mark.torch

PAIRS = [
    ("night owls", "we bake"),
    ("night owls", "a much longer reply about bread"),
    ("a", "b"),
    ("b", "a"),
    ("", "?"),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return save_tiny(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(autouse=True)
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FCPAIR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def refuse_to_load(_: Model) -> Any:
    raise AssertionError("the model was loaded")


def test_scores_are_those_of_the_model_itself_wherever_and_however_often_a_pair_stands(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sentence_transformers import CrossEncoder

    monkeypatch.setattr(transformer, "PAIRS_AT_ONCE", 2)
    expected = CrossEncoder(model.folder).predict(PAIRS, show_progress_bar=False)
    found = score_pairs(PAIRS, model)
    np.testing.assert_allclose(found, expected, atol=2e-6)
    np.testing.assert_array_equal(found, np.round(found, 6))
    assert len(set(found.tolist())) == len(PAIRS)
    np.testing.assert_array_equal(score_pairs([*PAIRS[::-1], PAIRS[2]], model), found[[4, 3, 2, 1, 0, 2]])


def test_each_distinct_pair_is_scored_once(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformer, "PAIRS_AT_ONCE", 2)
    told: list[tuple[int, int]] = []
    score_pairs([*PAIRS, PAIRS[0]], model, lambda done, total: told.append((done, total)))
    assert told == [(2, 5), (4, 5), (5, 5)]


def test_a_second_call_does_not_load_the_model_but_for_new_pairs_or_other_weights(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = score_pairs(PAIRS, model)
    monkeypatch.setattr(transformer, "_load_cross_encoder", refuse_to_load)
    np.testing.assert_array_equal(score_pairs(PAIRS, model), first)
    assert score_pairs([], model).shape == (0,)
    for pairs, one in (([("new", "pair")], model), (PAIRS, replace(model, sha256="0" * 64))):
        with pytest.raises(AssertionError, match="the model was loaded"):
            score_pairs(pairs, one)


def no_model(folder: Path) -> Model:
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"none")
    return resolve(str(folder))


def test_what_was_scored_before_a_stop_is_kept(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(transformer, "PAIRS_AT_ONCE", 2)
    with pytest.raises(KeyboardInterrupt):
        score_pairs(PAIRS, model, stop)
    told: list[tuple[int, int]] = []
    score_pairs(PAIRS, model, lambda done, total: told.append((done, total)))
    assert told == [(2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda folder: save_tiny(folder, 3), "gives 3 scores for a pair; expected a model that gives one"),
        (partial(save_tiny, head=False), r"is not a cross-encoder: it was saved as BertModel.*ms-marco"),
        (lambda _: resolve(DEFAULT_MODEL), "is not a cross-encoder"),
        (no_model, "cannot be loaded as a cross-encoder"),
    ],
)
def test_what_is_no_cross_encoder_is_refused_and_no_head_is_made_up(
    tmp_path: Path, made: Callable[[Path], Model], said: str
) -> None:
    with pytest.raises(ModelError, match=said):
        score_pairs(PAIRS, made(tmp_path))


def test_a_score_that_is_no_number_is_refused(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def predict(self, pairs: list[tuple[str, str]], **_: object) -> Any:
            return np.full(len(pairs), np.nan, np.float32)

    monkeypatch.setattr(transformer, "_load_cross_encoder", lambda _: Broken())
    with pytest.raises(ModelError, match="not a finite number"):
        score_pairs(PAIRS, model)
