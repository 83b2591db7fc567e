"""The encoder: the real model, used once a text, its vectors kept and never taken on trust."""

from __future__ import annotations

import json
import logging
import shutil
import socket
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stages.corpus.neighbours import neighbours

from fcpair.errors import ModelError
from fcpair.files.corpus.corpus import Corpus, read_corpus
from fcpair.models import encode as encoding
from fcpair.models import model_files
from fcpair.models.cache import folder_of, read_parts
from fcpair.models.encode import encode
from fcpair.models.model_files import Model, resolve
from fcpair.params import DEFAULT_MODEL, Backend, Import
from fcpair.stages.corpus.retrieve import candidate_positions
from fcpair.stages.corpus.text_identity import digest
from models.tiny_cross import save_tiny

pytestmark = pytest.mark.torch

TEXTS = [
    "Night owls are lazy.",
    "Some of us bake your bread at four in the morning.",
    "نان تازه",
    "é" * 40,
    "A long reply, " * 200,
    "?",
]


@pytest.fixture(scope="module")
def model() -> Model:
    return resolve(DEFAULT_MODEL)


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vectors")


@pytest.fixture
def warm(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of this module's own: its vectors are encoded here, and only once."""
    monkeypatch.setenv("FCPAIR_CACHE", str(own_cache))


@pytest.fixture
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FCPAIR_CACHE", str(tmp_path / "cold"))
    return tmp_path / "cold"


@pytest.fixture
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(_: Model) -> Any:
        raise AssertionError("the model was loaded")

    monkeypatch.setattr(encoding, "load_sentence_transformer", load)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Stands in for the encoding alone, for tests of the cache around it; records what it was asked to encode."""
    asked: list[list[str]] = []

    def encode_batches(texts: list[str], _model: Model) -> Any:
        asked.append(texts)
        for at, text in enumerate(texts):
            yield [at], np.array([[len(text), 1]], np.float32)

    monkeypatch.setattr(encoding, "_open_and_encode", encode_batches)
    return asked


FAKE = Model("fake", "nowhere", "local folder", "0" * 64, "c" * 64)


def test_the_suite_cannot_reach_the_network() -> None:
    with socket.socket() as connection:
        connection.settimeout(1)
        for connect in (connection.connect, connection.connect_ex):
            with pytest.raises(pytest.fail.Exception, match=r"192\.0\.2\.1"):
                connect(("192.0.2.1", 443))


# -- vectors


@pytest.mark.usefixtures("cold")
def test_what_is_no_model_or_has_broken_weights_says_so(tmp_path: Path) -> None:
    save_tiny(tmp_path / "broken", head=False)
    (tmp_path / "modules.json").write_text("[]")
    for folder in (tmp_path, tmp_path / "broken"):
        (folder / "model.safetensors").write_bytes(b"none")
        with pytest.raises(ModelError, match="cannot be loaded as a sentence-transformers model"):
            encode(["a"], resolve(str(folder)))


@pytest.mark.usefixtures("warm")
def test_vectors_are_those_of_the_model_itself(model: Model) -> None:
    from sentence_transformers import SentenceTransformer

    expected = SentenceTransformer(model.folder).encode(TEXTS, normalize_embeddings=True, show_progress_bar=False)
    vectors = encode(TEXTS, model)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


@pytest.mark.usefixtures("warm")
def test_a_text_has_its_vector_wherever_and_however_often_it_stands(model: Model) -> None:
    straight = encode(TEXTS, model)
    np.testing.assert_array_equal(encode([*TEXTS[::-1], TEXTS[2], TEXTS[2]], model), straight[[5, 4, 3, 2, 1, 0, 2, 2]])


@pytest.mark.usefixtures("cold")
def test_each_distinct_text_is_encoded_once_in_batches_of_similar_length_which_are_not_mixed_up(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = encode(TEXTS, model)
    shutil.rmtree(folder_of(model))
    monkeypatch.setattr(encoding, "BATCH", 2)
    told: list[tuple[int, int]] = []
    encode(["b a c", "a", "a", "b a", "b a c d"], model, progress=lambda done, total: told.append((done, total)))
    assert told == [(2, 4), (4, 4)]
    np.testing.assert_allclose(encode(TEXTS, model), whole, atol=1e-5)


# -- the cache


@pytest.mark.usefixtures("warm")
def test_a_second_call_does_not_load_the_model(model: Model, request: pytest.FixtureRequest) -> None:
    first = encode(TEXTS, model)
    request.getfixturevalue("no_model")
    np.testing.assert_array_equal(encode(TEXTS, model), first)
    with pytest.raises(AssertionError, match="the model was loaded"):
        encode(["new"], model)


@pytest.mark.usefixtures("cold")
def test_only_new_texts_are_encoded_and_all_are_kept(fake: list[list[str]]) -> None:
    encode(["a", "bb"], FAKE)
    assert encode(["ccc", "a"], FAKE).tolist() == [[3, 1], [1, 1]]
    encode(["a", "bb", "ccc"], FAKE)
    assert fake == [["a", "bb"], ["ccc"]]


@pytest.mark.usefixtures("cold")
def test_other_weights_another_configuration_or_version_give_other_vectors(
    fake: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for model in (FAKE, replace(FAKE, sha256="1" * 64), replace(FAKE, config="d" * 64)):
        encode(["a"], model)
    monkeypatch.setattr(model_files, "version", lambda name: "99.0")
    encode(["a"], FAKE)
    assert fake == [["a"]] * 4


@pytest.mark.usefixtures("cold")
def test_the_same_weights_with_another_pooling_give_their_own_vectors(model: Model, tmp_path: Path) -> None:
    by_mean = encode(TEXTS, model)
    folder = Path(shutil.copytree(model.folder, tmp_path / "model"))
    pooling = folder / "1_Pooling" / "config.json"
    config = json.loads(pooling.read_text())
    pooling.write_text(json.dumps({**config, "pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}))
    other = resolve(str(folder))
    assert other.sha256 == model.sha256
    assert np.abs(encode(TEXTS, other) - by_mean).max() > 0.01


@pytest.mark.usefixtures("cold")
@pytest.mark.parametrize("damage", [float("nan"), float("inf"), 0.0], ids=["nan", "inf", "zero"])
def test_vectors_without_a_direction_are_refused_with_the_name_of_the_model(
    model: Model, monkeypatch: pytest.MonkeyPatch, cold: Path, damage: float
) -> None:
    import torch

    whole = encoding.load_sentence_transformer(model)

    class Damaged(torch.nn.Module):
        device, tokenizer, max_seq_length, preprocess = (
            whole.device,
            whole.tokenizer,
            whole.max_seq_length,
            staticmethod(whole.preprocess),
        )

        def forward(self, features: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
            vectors = whole(features)["sentence_embedding"]
            vectors[0] = damage
            return {"sentence_embedding": vectors}

    monkeypatch.setattr(encoding, "load_sentence_transformer", lambda _: Damaged())
    with pytest.raises(ModelError, match=r"^all-MiniLM-L6-v2 gives a vector that is zero or not finite"):
        encode(TEXTS, model)
    assert not list(cold.rglob("*.parquet"))


@pytest.mark.parametrize("damage", [b"", b"no file", b"PAR1", "truncated", "flipped"])
def test_a_damaged_cache_is_survived_with_a_warning(
    cold: Path, fake: list[list[str]], caplog: pytest.LogCaptureFixture, damage: bytes | str
) -> None:
    encode(["a"], FAKE)
    (file,) = folder_of(FAKE).iterdir()
    whole = file.read_bytes()
    middle = whole.index(np.array([1, 1], np.float32).tobytes())
    flipped = whole[:middle] + b"\xff" + whole[middle + 1 :]
    file.write_bytes(damage if isinstance(damage, bytes) else {"truncated": whole[:-30], "flipped": flipped}[damage])
    with caplog.at_level(logging.WARNING):
        assert encode(["a"], FAKE).tolist() == [[1, 1]]
    assert "cannot be read" in caplog.text
    assert fake == [["a"], ["a"]]
    assert file.read_bytes() == whole


def test_a_cache_that_cannot_be_written_is_survived_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake: list[list[str]], caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("FCPAIR_CACHE", str(tmp_path / "file"))
    with caplog.at_level(logging.WARNING):
        assert encode(["a"], FAKE).tolist() == [[1, 1]]
    assert "cannot be kept" in caplog.text


# -- FC-CONAN's candidates again, from the real corpus and the real model


@pytest.fixture(scope="module")
def conan(data: Path) -> Corpus:
    return read_corpus(Import(data / "conan" / "CONAN.csv", "conan", only_language="en"))


@pytest.fixture(scope="module")
def texts(conan: Corpus) -> pd.DataFrame:
    """The distinct CNs in corpus order: `cn_digest`, `cn`, `copies`."""
    grouped = conan.pairs.groupby("cn_digest", sort=False)["cn"]
    return grouped.agg(cn="first", copies="size").reset_index()


@pytest.fixture(scope="module")
def sources(data: Path, conan: Corpus, texts: pd.DataFrame) -> Any:
    """The positions of the CNs that the corpus pairs with the 45 HS."""
    selected = pd.read_csv(data / "fc-conan" / "recommender" / "fc_conan_bronze_hs.csv")["hateSpeech"].map(digest)
    paired = conan.pairs[conan.pairs["hs_digest"].isin(selected)]["cn_digest"]
    return np.flatnonzero(texts["cn_digest"].isin(paired))


@pytest.mark.slow
def test_the_candidates_of_fc_conan(data: Path, model: Model, texts: pd.DataFrame, sources: Any) -> None:
    """DESIGN, section 6: 375 source CNs; k = 2 over rows gives 133 candidates, all 130 of Bronze among them; or 238."""
    vectors = encode(texts["cn"].tolist(), model)
    over_rows = candidate_positions(neighbours(vectors, sources, 2, texts["copies"].to_numpy()), sources)
    over_texts = candidate_positions(neighbours(vectors, sources, 2), sources)
    assert (len(sources), len(over_rows), len(over_texts)) == (375, 133, 238)
    bronze = set(pd.read_csv(data / "fc-conan" / "bronze_partition_df.csv")["counternarrative"].map(digest))
    assert len(bronze) == 130
    assert bronze <= set(texts["cn_digest"][over_rows])


# -- stopping


class Stopper:
    """Progress that presses Ctrl-C after some texts."""

    def __init__(self, after: int) -> None:
        self.after = after

    def __call__(self, done: int, total: int) -> None:
        if done == self.after < total:
            raise KeyboardInterrupt


@pytest.mark.usefixtures("cold")
def test_what_was_encoded_before_ctrl_c_is_kept_and_the_next_run_goes_on(fake: list[list[str]]) -> None:
    with pytest.raises(KeyboardInterrupt):
        encode(TEXTS, FAKE, Stopper(2))
    vectors = encode(TEXTS, FAKE)
    assert fake == [TEXTS, TEXTS[2:]]
    assert vectors[:, 0].tolist() == [len(text) for text in TEXTS]


@pytest.mark.usefixtures("cold")
def test_what_was_encoded_is_kept_on_the_way_for_a_process_that_is_killed(
    fake: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each text the cache holds those before it."""
    monkeypatch.setattr(encoding, "SAVE_EVERY_S", 0.0)
    found: list[int] = []
    encode(TEXTS, FAKE, lambda done, _: found.append(sum(len(keys) for _, keys, _ in read_parts(folder_of(FAKE)))))
    assert found == [0, 1, 2, 3, 4, 5]
    assert len(fake) == 1


@pytest.mark.parametrize("backend", ["torch", "onnx"])
@pytest.mark.usefixtures("warm")
def test_texts_that_differ_only_behind_the_window_are_counted_as_cut(backend: Backend) -> None:
    """The model reads 256 tokens, `[CLS]` and `[SEP]` among them: 254 words are read whole, 255 are not."""
    model = resolve(DEFAULT_MODEL, backend=backend)
    long = ["bread " * 700 + ending for ending in ("tea", "war")]
    one, other = encode(long, model)
    assert one @ other == pytest.approx(1)
    whole, cut = "bread " * 254, "bread " * 255
    note = "3 of 5 texts are longer than all-MiniLM-L6-v2 reads (256 tokens); their ends were cut"
    assert encoding.count_cut([*long, whole, cut, cut, "tea"], model) == (3, (note,))
    assert encoding.count_cut([whole, "tea"], model) == (0, ())
    assert encoding.count_cut([("tea", whole), ("tea", "")], model).notes[0].startswith("1 of 2 pairs of texts are")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.sampled_from("a b.é茶ﷺ\u0301😀"), min_size=60, max_size=400), min_size=1, max_size=4))
def test_cut_texts_are_those_that_the_tokenizer_makes_longer(model: Model, texts: list[str]) -> None:
    """The bound by bytes, which saves tokenising short texts, misses none."""
    tokenizer = _loaded_tokenizer(model)
    lengths = [len(tokenizer(text, verbose=False)["input_ids"]) for text in dict.fromkeys(texts)]
    assert encoding.count_cut(texts, model).n == sum(length > 256 for length in lengths)


@cache
def _loaded_tokenizer(model: Model) -> Any:
    return encoding.load_sentence_transformer(model).tokenizer
