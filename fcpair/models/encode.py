"""Text to unit vectors: each distinct text is encoded once, and remembered; by torch, or by ONNX Runtime."""

from __future__ import annotations

import json
import logging
import os
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from time import monotonic
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fcpair.arrays import Ints, Vectors
from fcpair.errors import ModelError
from fcpair.lazy import tokenizers, torch, transformers
from fcpair.models import cache as kept
from fcpair.models.cache import cache_folder
from fcpair.models.model_files import ONNX, Model, resolve, silence_libraries
from fcpair.sentences import mark
from fcpair.unfinished import new_path, prefix_for

ENCODING = mark("Texts encoded")  # what progress counts
BATCH = 32
SORTED = 16_384  # texts that are tokenised at once, and sorted by their number of tokens
SAVE_EVERY_S = 30.0
"""After so long what has been encoded is kept, in case the process is killed; Ctrl-C loses nothing."""

_MOST_ADDED = 8  # tokens that a tokenizer adds to a text or a pair, such as `[CLS]`
_NO_LIMIT = 10**9  # transformers writes 10**30 for none

Progress = Callable[[int, int], None]
"""What is told how far long work is: how many of how many are done."""
_log = logging.getLogger(__name__)


def begin_part(progress: Progress | None, name: str) -> None:
    """Say which part of long work comes next, to whoever is told how far it is and shows parts."""
    if begin := getattr(progress, "begin_part", None):
        begin(name)


def encode(texts: Sequence[str], model: Model, progress: Progress | None = None) -> Vectors:
    """Encode texts to unit vectors of shape `(n_texts, dimension)`; dot products are cosine similarities. Each distinct
    text is encoded once, and never again on this machine with the same model: vectors are kept while encoding goes on,
    by the model's key and the text's digest. `progress(done, total)` counts the texts that had to be encoded. Raises
    ModelError where the model is no sentence-transformers model, or gives vectors without a direction.
    """
    if not texts:
        raise ModelError("there are no texts to encode")
    begin_part(progress, ENCODING)
    keys = [kept.key_of(text) for text in texts]
    text_by_key = dict(zip(keys, texts, strict=True))
    return compute_rows(
        keys, kept.folder_of(model), lambda new: _open_and_encode([text_by_key[key] for key in new], model), progress
    )


def compute_rows(
    keys: list[str],
    folder: Path,
    compute: Callable[[list[str]], Iterator[tuple[list[int], NDArray[Any]]]],
    progress: Progress | None = None,
) -> NDArray[Any]:
    """The rows of keys, `(n_keys, width)`: those that are kept in a folder, and the others by `compute`, which are
    kept, too. It takes the keys that are missing, each once, and yields the places of some of them, and their rows.
    """
    place_by_key = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    rows: NDArray[Any] = np.empty((len(place_by_key), 0), np.float32)
    is_filled = np.zeros(len(place_by_key), bool)

    def put(some_keys: Sequence[str], values: NDArray[Any]) -> None:
        nonlocal rows
        places = np.array([place_by_key.get(key, -1) for key in some_keys], np.int64)
        if not is_filled.any():
            rows = np.empty((len(place_by_key), values.shape[1]), values.dtype)
        rows[places[places >= 0]] = values[places >= 0]
        is_filled[places[places >= 0]] = True

    for _, part_keys, vectors in kept.read_parts(folder):
        put(part_keys, vectors)
    new, done = [key for key, place in place_by_key.items() if not is_filled[place]], 0
    unsaved: list[tuple[list[str], NDArray[Any]]] = []

    saved_s = monotonic()

    def save() -> None:
        """Write what waits as a part; where that cannot be done, it is a warning."""
        nonlocal saved_s
        try:
            part_keys, values = zip(*unsaved, strict=True)
            kept.write_part(folder, [*chain.from_iterable(part_keys)], np.concatenate(values))
        except OSError as error:
            _log.warning("%s cannot be kept (%s)", folder, error)
        unsaved.clear()
        saved_s = monotonic()

    try:
        for at, computed in compute(new) if new else ():
            put(batch_keys := [new[index] for index in at], computed)
            unsaved.append((batch_keys, computed))
            done += len(batch_keys)
            if progress:
                progress(done, len(new))
            if monotonic() - saved_s >= SAVE_EVERY_S:
                save()
    finally:  # Ctrl-C too: what is computed is kept, and the next run goes on from there
        if unsaved:
            save()
    return rows if len(keys) == len(place_by_key) else rows[[place_by_key[key] for key in keys]]


class Cut(NamedTuple):
    """Number of different texts, or pairs, that are longer than a model reads, and the note that says so, if any."""

    n: int
    notes: tuple[str, ...]


def count_cut(inputs: Sequence[str | tuple[str, str]], model: Model) -> Cut:
    """Count the different texts, or pairs of texts, that a model cuts at its window; it is not loaded."""
    distinct = list(dict.fromkeys(inputs))
    window, tokenizer = _read_window(Path(model.folder))
    if tokenizer is None:
        return Cut(0, ())
    # Each token has a byte or more of the text, or is one of a few that are added.
    texts = (unicodedata.normalize("NFKD", item if isinstance(item, str) else "".join(item)) for item in distinct)
    bounds = [len(text.encode("utf-8", "surrogatepass")) + _MOST_ADDED for text in texts]
    long = [item for item, bound in zip(distinct, bounds, strict=True) if bound > window]
    n = sum(len(encoding.ids) > window for encoding in tokenizer.encode_batch(long))
    what = "texts" if isinstance(next(iter(distinct), ""), str) else "pairs of texts"
    cause = f"are longer than {model.name} reads ({window} tokens); their ends were cut"
    return Cut(n, (f"{n:,} of {len(distinct):,} {what} {cause}",) if n else ())


@lru_cache(maxsize=8)
def _read_window(folder: Path) -> tuple[int, Any]:
    """Number of tokens that a model reads, and its tokenizer, without a limit; None where it has neither."""
    modules = _read_settings(folder / "modules.json", [])
    folder = folder / (modules[0]["path"] if modules else "")
    window = _read_settings(folder / "sentence_bert_config.json").get("max_seq_length") or min(
        _read_settings(folder / "config.json").get("max_position_embeddings") or _NO_LIMIT,
        int(_read_settings(folder / "tokenizer_config.json").get("model_max_length") or _NO_LIMIT),
    )
    path = folder / "tokenizer.json"
    if window >= _NO_LIMIT or not any(folder.glob("*token*")):
        return 0, None
    if path.is_file():
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    else:
        silence_libraries()
        loaded = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        tokenizer = tokenizers.Tokenizer.from_str(loaded.backend_tokenizer.to_str())
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return window, tokenizer


def _read_settings(path: Path, absent: Any = MappingProxyType({})) -> Any:
    return json.loads(path.read_bytes()) if path.is_file() else absent


def open_encoder(model: Model) -> Encoder:
    """The model, loaded by the backend that it names; raises ModelError where that cannot be done."""
    return (
        OnnxEncoder(ensure_exported(model)) if model.backend == ONNX else TorchEncoder(load_sentence_transformer(model))
    )


def longest_first(lengths: Sequence[int], size: int, progress: Progress | None = None) -> Iterator[list[int]]:
    """The positions of texts of these lengths in batches, longest first, so that padding is rare; counts those done."""
    order = np.argsort([-length for length in lengths], kind="stable").tolist()
    for start in range(0, len(order), size):
        yield order[start : start + size]
        if progress:
            progress(min(start + size, len(order)), len(order))


def encode_batches(texts: Sequence[str], encoder: Encoder, name: str) -> Iterator[tuple[list[int], Vectors]]:
    """The positions and vectors of texts in batches of about as many tokens, longest first. Raises ModelError where the
    model, called `name`, gives a vector without a direction.
    """
    for start in range(0, len(texts), SORTED):
        tokens = encoder.tokenize(texts[start : start + SORTED])
        for batch in longest_first([len(item[IDS]) for item in tokens], BATCH):
            unit = encoder.unit_vectors(pad_batch([tokens[item] for item in batch], encoder.padding))
            if not np.allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-3):
                raise ModelError(
                    f"{name} gives a vector that is zero or not finite, which has no neighbours; nothing of that "
                    "batch was kept. Its weights may be damaged: fetch it again, or name another model"
                )
            yield [start + item for item in batch], unit


def _open_and_encode(texts: list[str], model: Model) -> Iterator[tuple[list[int], Vectors]]:
    return encode_batches(texts, open_encoder(model), model.name)


def load_sentence_transformer(model: Model) -> Any:
    """The model as sentence-transformers has it; raises ModelError where it is none of its models."""
    silence_libraries()
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(model.folder, local_files_only=True).eval()
    except Exception as error:  # the libraries raise many kinds; each only means: not a model
        raise ModelError(f"{model.name} cannot be loaded as a sentence-transformers model: {error}") from error


def token_vectors(texts: Sequence[str], name: str, progress: Progress | None = None) -> list[Vectors]:
    """The unit vectors of the tokens of each text, shape `(n_tokens, dimension)`, but those of tokens that the
    tokenizer adds, such as `[CLS]`. `progress(done, total)` counts texts. Raises ModelError where the model cannot be
    had, is no encoder, or gives vectors without a direction.
    """
    loaded = load_sentence_transformer(resolve(name))
    tokens = (encoder := TorchEncoder(loaded)).tokenize(texts)
    vectors_by_text: list[Vectors] = [np.empty((0, 0), np.float32)] * len(texts)
    for rows in longest_first([len(text_tokens[IDS]) for text_tokens in tokens], BATCH, progress):
        batch = pad_batch([tokens[row] for row in rows], encoder.padding)
        # An unknown token stands for a word of the text.
        is_added = np.isin(batch[IDS], loaded.tokenizer.all_special_ids) & (batch[IDS] != loaded.tokenizer.unk_token_id)
        vectors = encoder.unit_vectors(batch, "token_embeddings")
        for row, text_vectors, is_own in zip(rows, vectors, batch[MASK].astype(bool) & ~is_added, strict=True):
            vectors_by_text[row] = text_vectors[is_own]
    if not all(np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3) for vectors in vectors_by_text):
        raise ModelError(f"{name} gives a token a vector that is zero or not finite; its weights may be damaged")
    return vectors_by_text


Tokens = Mapping[str, Ints]
"""The features of one text by their names, as long as the text; or of a batch, shape `(n_texts, n_tokens)`."""
IDS, MASK = "input_ids", "attention_mask"
TOKENISED = 256  # texts that the tokenizer pads to one width, which is then cut off again
GRAPH, TOKENIZER = "model.onnx", "tokenizer.json"
TYPES, VECTORS = "token_type_ids", "vectors"
_MODULES = ("Transformer", "Pooling", "Normalize")
_SAMPLE = ("A short reply.", "Some of us bake your bread, at four in the morning, while you sleep; remember that.", "?")
_REMEDY = "Take `--backend torch`"
_TOLERANCE = 1e-5  # by which vectors of the export may differ from torch's


def pad_batch(texts: Sequence[Tokens], padding: tuple[int, bool]) -> Tokens:
    """The tokens of several texts as a batch, as wide as the longest of them; `padding` is the token with which the
    others are padded, and whether on their left.
    """
    width, (token, is_left) = max(len(text[IDS]) for text in texts), padding
    batch = {name: np.full((len(texts), width), token if name == IDS else 0) for name in texts[0]}
    for row, text in enumerate(texts):
        n = len(text[IDS])
        for name, values in text.items():
            batch[name][row, slice(width - n, width) if is_left else slice(n)] = values
    return batch


class TorchEncoder:
    """A loaded `SentenceTransformer`, its own preparation of texts, and all of its modules."""

    def __init__(self, loaded: Any) -> None:
        self._loaded = loaded
        self.padding = (loaded.tokenizer.pad_token_id or 0, loaded.tokenizer.padding_side == "left")

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text, cut where the model cuts it."""
        tokens: list[Tokens] = []
        for at in range(0, len(texts), TOKENISED):
            encoded = self._loaded.preprocess(list(texts[at : at + TOKENISED]))
            features = {name: value.numpy() for name, value in encoded.items() if hasattr(value, "numpy")}
            masks = enumerate(features[MASK].astype(bool))
            tokens += [{name: values[row, is_token] for name, values in features.items()} for row, is_token in masks]
        return tokens

    def unit_vectors(self, batch: Tokens, output: str = "sentence_embedding") -> Vectors:
        """The unit vectors of the texts of a batch, shape `(n_texts, dimension)`, or of another `output`."""
        with torch.inference_mode():
            features = {name: torch.from_numpy(values).to(self._loaded.device) for name, values in batch.items()}
            unit: Vectors = torch.nn.functional.normalize(self._loaded(features)[output], dim=-1).cpu().numpy()
        return unit


class OnnxEncoder:
    """An exported model in ONNX Runtime, with as many threads as `OMP_NUM_THREADS` says, else as there are cores."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime

        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = _n_threads()
        self._session = onnxruntime.InferenceSession(str(folder / GRAPH), options, providers=["CPUExecutionProvider"])
        self._names = [input_.name for input_ in self._session.get_inputs()]
        self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
        padding: Any = self._tokenizer.padding
        self.padding = (padding["pad_id"], padding["direction"] == "left")
        self._tokenizer.no_padding()

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text, cut where the model cuts it."""
        return [
            {name: np.array(values[name]) for name in self._names}
            for encoding in self._tokenizer.encode_batch(list(texts))
            for values in [{IDS: encoding.ids, MASK: encoding.attention_mask, TYPES: encoding.type_ids}]
        ]

    def unit_vectors(self, batch: Tokens) -> Vectors:
        """The unit vectors of the texts of a batch, shape `(n_texts, dimension)`."""
        vectors: Vectors = self._session.run(None, dict(batch))[0]
        return vectors


Encoder = TorchEncoder | OnnxEncoder


def ensure_exported(model: Model) -> Path:
    """The folder of the exported model, exported if need be; raises ModelError if that fails or gives other vectors."""
    if not ((folder := cache_folder() / "onnx" / model.key) / GRAPH).is_file():
        _check_exportable(model, loaded := load_sentence_transformer(model))
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with new_path(folder.parent, prefix_for(folder)) as temporary:
                _export(model, loaded, temporary / "export")
                try:
                    (temporary / "export").rename(folder)
                except OSError:
                    if not (folder / GRAPH).is_file():  # else another process was quicker
                        raise
        except OSError as error:
            if isinstance(error, ModelError):
                raise
            raise ModelError(f"{model.name} cannot be exported to {folder}: {error}. {_REMEDY}") from error
    return folder


def _check_exportable(model: Model, loaded: Any) -> None:
    modules = [type(module).__name__ for module in loaded]
    pooling = next((module.pooling_mode for module in loaded if type(module).__name__ == "Pooling"), None)
    if set(modules) - set(_MODULES) or modules[:2] != list(_MODULES[:2]) or pooling != "mean":
        composition = ", ".join(modules) + (f" (pooling: {pooling})" if pooling else "")
        raise ModelError(
            f"{model.name} is made of {composition}; `--backend onnx` takes a transformer with mean pooling only. "
            f"{_REMEDY}"
        )
    if getattr(loaded.tokenizer, "backend_tokenizer", None) is None:
        raise ModelError(f"{model.name} has a tokenizer in Python, which `--backend onnx` cannot take. {_REMEDY}")


def _export(model: Model, loaded: Any, folder: Path) -> None:
    """Write graph and tokenizer into a new folder, and check that they give the vectors that torch gives."""

    class Wrapped(torch.nn.Module):  # from tensors in the order of their names to unit vectors
        def __init__(self) -> None:
            super().__init__()
            self.loaded = loaded

        def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
            vectors = self.loaded(dict(zip(names, tensors, strict=True)))["sentence_embedding"]
            return torch.nn.functional.normalize(vectors, dim=1)

    folder.mkdir()
    torch_encoder = TorchEncoder(loaded)
    batch = pad_batch(torch_encoder.tokenize(_SAMPLE), torch_encoder.padding)
    names = list(batch)
    shapes = {name: {0: "text", 1: "token"} for name in names} | {VECTORS: {0: "text"}}
    loaded[0].model.set_attn_implementation("eager")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch about its own tracing
        tensors = tuple(torch.from_numpy(batch[name]) for name in names)
        named: dict[str, Any] = {"input_names": names, "output_names": [VECTORS], "dynamic_axes": shapes}
        torch.onnx.export(Wrapped().eval(), tensors, str(folder / GRAPH), dynamo=False, **named)
    tokenizer = tokenizers.Tokenizer.from_str(loaded.tokenizer.backend_tokenizer.to_str())
    tokenizer.enable_truncation(loaded.max_seq_length)
    pad_id, is_left = torch_encoder.padding
    tokenizer.enable_padding(direction="left" if is_left else "right", pad_id=pad_id)
    tokenizer.save(str(folder / TOKENIZER))
    encoders = (torch_encoder, OnnxEncoder(folder))
    for texts in (_SAMPLE, _SAMPLE[:1]):
        torch_vectors, onnx_vectors = (
            encoder.unit_vectors(pad_batch(encoder.tokenize(texts), encoder.padding)) for encoder in encoders
        )
        if not np.allclose(torch_vectors, onnx_vectors, rtol=0, atol=_TOLERANCE):
            raise ModelError(f"{model.name} gives other vectors in ONNX Runtime than in torch. {_REMEDY}")


def _n_threads() -> int:  # 0: as many as there are cores
    setting = os.environ.get("OMP_NUM_THREADS", "")
    return int(setting) if setting.isdecimal() else 0
