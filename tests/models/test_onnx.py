"""The second backend: ONNX Runtime runs what torch exported, and the neighbours are the same."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stages.corpus.neighbours import neighbours

from fcpair.errors import MissingExtraError, ModelError
from fcpair.files.corpus.corpus import read_corpus
from fcpair.models import encode as encoder
from fcpair.models import encode as encoding
from fcpair.models import model_files
from fcpair.models.encode import encode, open_encoder
from fcpair.models.model_files import Model, resolve
from fcpair.params import DEFAULT_MODEL, Import
from models.tiny_cross import save_tiny

pytestmark = pytest.mark.torch

TEXTS = ["Night owls are lazy.", "Some of us bake your bread at four in the morning.", "نان تازه", "a " * 700, "?"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("exports")


@pytest.fixture
def warm(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of this module's own, in which each model is exported once."""
    monkeypatch.setenv("FCPAIR_CACHE", str(cache))


@pytest.fixture
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FCPAIR_CACHE", str(tmp_path / "cold"))
    return tmp_path / "cold"


@pytest.fixture(scope="module")
def model() -> Model:
    return resolve(DEFAULT_MODEL, backend="onnx")


@pytest.fixture(scope="module")
def by_torch() -> Model:
    return resolve(DEFAULT_MODEL)


@pytest.fixture
def tiny(tmp_path: Path) -> Callable[..., Model]:
    """Makes a small BERT with pooling, of a kind, in a moment; without modules.json the library takes the mean."""

    def make(**pooling: Any) -> Model:
        folder = tmp_path / "tiny"
        folder.mkdir(exist_ok=True)
        save_tiny(folder, head=False)
        (folder / "1_Pooling").mkdir(exist_ok=True)
        (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 16, **pooling}))
        modules = [("Transformer", ""), ("Pooling", "1_Pooling")]
        listed = [
            {"idx": at, "name": str(at), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for at, (kind, path) in enumerate(modules)
        ]
        (folder / "modules.json").write_text(json.dumps(listed))
        return resolve(str(folder), backend="onnx")

    return make


@pytest.mark.slow
@pytest.mark.usefixtures("warm")
def test_vectors_are_those_of_torch(model: Model, by_torch: Model) -> None:
    vectors = encode(TEXTS, model)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, encode(TEXTS, by_torch), atol=1e-6)


@pytest.mark.usefixtures("warm")
def test_tokens_are_those_of_torch_and_vectors_are_kept_apart(model: Model, by_torch: Model) -> None:
    own, other = open_encoder(model), open_encoder(by_torch)
    assert own.padding == other.padding
    for one, two in zip(own.tokenize(TEXTS), other.tokenize(TEXTS), strict=True):
        assert {name: ids.tolist() for name, ids in one.items()} == {name: ids.tolist() for name, ids in two.items()}
    assert model.key != by_torch.key
    assert ["onnxruntime" in one.record()["libraries"] for one in (model, by_torch)] == [True, False]


@pytest.mark.slow
@pytest.mark.usefixtures("warm")
def test_the_neighbours_of_conan_are_those_of_torch(
    data: Path, model: Model, by_torch: Model, vector_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each of the 1,270 distinct CNs, for several k."""
    pairs = read_corpus(Import(data / "conan" / "CONAN.csv", "conan", only_language="en")).pairs
    texts = pairs.groupby("cn_digest", sort=False)["cn"].first().tolist()
    own = encode(texts, model)
    monkeypatch.setenv("FCPAIR_CACHE", str(vector_cache))  # where other tests have encoded them
    other = encode(texts, by_torch)
    every = np.arange(len(texts))
    assert len(texts) == 1270
    for k in (2, 10):
        one, two = (
            neighbours(vectors, every, k).groupby("source")["cn"].agg(frozenset).tolist() for vectors in (own, other)
        )
        assert one == two


def test_a_model_is_exported_once_and_torch_is_not_needed_again(
    cold: Path, tiny: Callable[..., Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny()
    vectors = encode(["a b c", "d"], model)
    shutil.rmtree(cold / "vectors")

    def load(_: Model) -> Any:
        raise AssertionError("the model was loaded")

    monkeypatch.setattr(encoding, "load_sentence_transformer", load)
    np.testing.assert_array_equal(encode(["a b c", "d"], model), vectors)
    assert [path.name for path in (cold / "onnx").iterdir()] == [model.key]


@pytest.mark.usefixtures("cold")
def test_a_model_with_another_pooling_is_refused_with_the_backend_that_takes_it(tiny: Callable[..., Model]) -> None:
    model = tiny(pooling_mode="cls")
    with pytest.raises(ModelError, match=r"\(pooling: cls\); .* mean pooling only. Take `--backend torch`"):
        encode(["a"], model)


def test_an_export_that_gives_other_vectors_or_cannot_be_kept_is_refused(
    cold: Path, tiny: Callable[..., Model], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(encoder, "_TOLERANCE", -1.0)
    with pytest.raises(ModelError, match="gives other vectors in ONNX Runtime than in torch"):
        encode(["a"], tiny())
    assert list((cold / "onnx").iterdir()) == []
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("FCPAIR_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelError, match=r"cannot be exported to .* Take `--backend torch`"):
        encode(["a"], tiny())


def test_without_the_extra_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_files, "_ONNX_LIBRARIES", ("onnxruntime_not_there",))
    with pytest.raises(MissingExtraError, match=r"^the backend `onnx` needs onnxruntime_not_there; .*fcpair\[onnx\]"):
        resolve(DEFAULT_MODEL, backend="onnx")


@pytest.mark.parametrize(("said", "n"), [("", 0), ("3", 3), ("4,2", 0)])
def test_threads_are_those_that_the_environment_says(monkeypatch: pytest.MonkeyPatch, said: str, n: int) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", said)
    assert encoder._n_threads() == n
