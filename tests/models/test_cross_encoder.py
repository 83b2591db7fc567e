"""The cross-encoder: the scores of the model itself, each pair scored once, and nothing but a cross-encoder."""

from __future__ import annotations

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


def test_scores_are_those_of_the_model_itself(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    from sentence_transformers import CrossEncoder

    monkeypatch.setattr(transformer, "PAIRS_AT_ONCE", 2)
    expected = CrossEncoder(model.folder).predict(PAIRS, show_progress_bar=False)
    found = score_pairs(PAIRS, model)
    np.testing.assert_allclose(found, expected, atol=2e-6)
    assert len(set(found.tolist())) == len(PAIRS)


def test_scores_have_six_decimals(model: Model) -> None:
    found = score_pairs(PAIRS, model)
    np.testing.assert_array_equal(found, np.round(found, 6))


def test_a_pair_has_its_score_wherever_and_however_often_it_stands(model: Model) -> None:
    straight = score_pairs(PAIRS, model)
    np.testing.assert_array_equal(score_pairs([*PAIRS[::-1], PAIRS[2]], model), straight[[4, 3, 2, 1, 0, 2]])


def test_each_distinct_pair_is_scored_once(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformer, "PAIRS_AT_ONCE", 2)
    told: list[tuple[int, int]] = []
    score_pairs([*PAIRS, PAIRS[0]], model, lambda done, total: told.append((done, total)))
    assert told == [(2, 5), (4, 5), (5, 5)]


def test_a_second_call_does_not_load_the_model(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    first = score_pairs(PAIRS, model)
    monkeypatch.setattr(transformer, "_load_cross_encoder", refuse_to_load)
    np.testing.assert_array_equal(score_pairs(PAIRS, model), first)
    with pytest.raises(AssertionError, match="the model was loaded"):
        score_pairs([("new", "pair")], model)


def test_what_was_scored_before_a_stop_is_kept(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(transformer, "PAIRS_AT_ONCE", 2)
    with pytest.raises(KeyboardInterrupt):
        score_pairs(PAIRS, model, stop)
    told: list[tuple[int, int]] = []
    score_pairs(PAIRS, model, lambda done, total: told.append((done, total)))
    assert told == [(2, 3), (3, 3)]


def test_other_weights_have_other_scores(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    score_pairs(PAIRS, model)
    monkeypatch.setattr(transformer, "_load_cross_encoder", refuse_to_load)
    with pytest.raises(AssertionError, match="the model was loaded"):
        score_pairs(PAIRS, Model(model.name, model.folder, model.source, "0" * 64, model.config))


def test_no_pairs_need_no_model(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformer, "_load_cross_encoder", refuse_to_load)
    assert score_pairs([], model).shape == (0,)


def test_a_model_that_classifies_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="gives 3 scores for a pair; expected a model that gives one"):
        score_pairs(PAIRS, save_tiny(tmp_path, 3))


def test_an_encoder_without_a_head_is_refused_and_no_head_is_made_up(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"is not a cross-encoder: it was saved as BertModel.*ms-marco"):
        score_pairs(PAIRS, save_tiny(tmp_path, head=False))


def test_the_default_encoder_is_no_cross_encoder() -> None:
    with pytest.raises(ModelError, match="is not a cross-encoder"):
        score_pairs(PAIRS, resolve(DEFAULT_MODEL))


def test_a_folder_that_is_no_model_says_so(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"none")
    with pytest.raises(ModelError, match="cannot be loaded as a cross-encoder"):
        score_pairs(PAIRS, resolve(str(tmp_path)))


def test_a_score_that_is_no_number_is_refused(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def predict(self, pairs: list[tuple[str, str]], **_: object) -> Any:
            return np.full(len(pairs), np.nan, np.float32)

    monkeypatch.setattr(transformer, "_load_cross_encoder", lambda _: Broken())
    with pytest.raises(ModelError, match="not a finite number"):
        score_pairs(PAIRS, model)
