"""An encoder: texts to tokens, and batches of tokens to vectors; as torch runs it, and as ONNX Runtime does."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from fcpair.arrays import Bools, Ints, Vectors
from fcpair.errors import ModelError
from fcpair.models.cache import cache_folder
from fcpair.models.model_files import Model
from fcpair.unfinished import new_path, prefix_for

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


@dataclass(frozen=True)
class Padding:
    """Padding of the shorter texts of a batch: with which token, and on which side."""

    token: int = 0
    left: bool = False


class Encoder(Protocol):
    """Interface that every backend implements."""

    padding: Padding

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text, cut where the model cuts it."""

    def unit_vectors(self, batch: Tokens) -> Vectors:
        """The unit vectors of the texts of a batch, shape `(n_texts, dimension)`."""


def pad_batch(texts: Sequence[Tokens], padding: Padding) -> Tokens:
    """The tokens of several texts as a batch, as wide as the longest of them."""
    width = max(len(text[IDS]) for text in texts)
    batch = {name: np.full((len(texts), width), padding.token if name == IDS else 0) for name in texts[0]}
    for row, text in enumerate(texts):
        n = len(text[IDS])
        place = slice(width - n, width) if padding.left else slice(n)
        for name, values in text.items():
            batch[name][row, place] = values
    return batch


class TorchEncoder:
    """A loaded `SentenceTransformer`, its own preparation of texts, and all of its modules."""

    def __init__(self, loaded: Any) -> None:
        self._loaded = loaded
        self.padding = Padding(loaded.tokenizer.pad_token_id or 0, loaded.tokenizer.padding_side == "left")

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text, cut where the model cuts it."""
        tokens: list[Tokens] = []
        for at in range(0, len(texts), TOKENISED):
            encoded = self._loaded.preprocess(list(texts[at : at + TOKENISED]))
            features = {name: value.numpy() for name, value in encoded.items() if hasattr(value, "numpy")}
            for row, is_token in enumerate(features[MASK].astype(bool)):
                tokens.append({name: values[row, is_token] for name, values in features.items()})
        return tokens

    def unit_vectors(self, batch: Tokens, output: str = "sentence_embedding") -> Vectors:
        """The unit vectors of the texts of a batch, shape `(n_texts, dimension)`, or of another `output`."""
        import torch

        with torch.inference_mode():
            features = {name: torch.from_numpy(values).to(self._loaded.device) for name, values in batch.items()}
            vectors = self._loaded(features)[output]
            unit: Vectors = torch.nn.functional.normalize(vectors, dim=-1).cpu().numpy()
        return unit

    def own_token_mask(self, batch: Tokens) -> Bools:
        """Which tokens of a batch are of the texts, shape `(n_texts, n_tokens)`: not padding, not added to them."""
        is_special = np.isin(batch[IDS], self._loaded.tokenizer.all_special_ids)
        is_unknown = batch[IDS] == self._loaded.tokenizer.unk_token_id  # it stands for a word of the text
        is_own: Bools = batch[MASK].astype(bool) & (~is_special | is_unknown)
        return is_own

    def token_vectors(self, batch: Tokens) -> Vectors:
        """The unit vectors of the tokens of a batch, shape `(n_texts, n_tokens, dimension)`."""
        return self.unit_vectors(batch, "token_embeddings")


class OnnxEncoder:
    """An exported model in ONNX Runtime, with as many threads as `OMP_NUM_THREADS` says, else as there are cores."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = _n_threads()
        graph = str(folder / GRAPH)
        self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        self._names = [one.name for one in self._session.get_inputs()]
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        tokenizer_padding: Any = self._tokenizer.padding
        self.padding = Padding(tokenizer_padding["pad_id"], tokenizer_padding["direction"] == "left")
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


def ensure_exported(model: Model, load: Callable[[Model], Any]) -> Path:
    """The folder of the exported model; where it is not in the cache, `load` gives the `SentenceTransformer` to export.

    Raises:
        ModelError: the model is none that can be exported, or its export gives other vectors.
    """
    folder = cache_folder() / "onnx" / model.key
    if not (folder / GRAPH).is_file():
        loaded = load(model)
        _check_exportable(model, loaded)
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
    """Raise ModelError unless the model is a transformer whose tokens' mean is the vector."""
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
    import torch
    from tokenizers import Tokenizer

    class Wrapped(torch.nn.Module):  # from tensors in the order of their names to unit vectors
        def __init__(self) -> None:
            super().__init__()
            self.loaded = loaded

        def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
            vectors = self.loaded(dict(zip(names, tensors, strict=True)))["sentence_embedding"]
            return torch.nn.functional.normalize(vectors, dim=1)

    folder.mkdir()
    torch_encoder = TorchEncoder(loaded)
    sample = torch_encoder.tokenize(_SAMPLE)
    batch = pad_batch(sample, torch_encoder.padding)
    names = list(batch)
    shapes = {name: {0: "text", 1: "token"} for name in names} | {VECTORS: {0: "text"}}
    loaded[0].model.set_attn_implementation("eager")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch about its own tracing
        torch.onnx.export(
            Wrapped().eval(),
            tuple(torch.from_numpy(batch[name]) for name in names),
            str(folder / GRAPH),
            input_names=names,
            output_names=[VECTORS],
            dynamic_axes=shapes,
            dynamo=False,
        )
    tokenizer = Tokenizer.from_str(loaded.tokenizer.backend_tokenizer.to_str())
    tokenizer.enable_truncation(loaded.max_seq_length)
    padding = torch_encoder.padding
    tokenizer.enable_padding(direction="left" if padding.left else "right", pad_id=padding.token)
    tokenizer.save(str(folder / TOKENIZER))
    encoders = (torch_encoder, OnnxEncoder(folder))
    for texts in (_SAMPLE, _SAMPLE[:1]):
        torch_vectors, onnx_vectors = (
            one.unit_vectors(pad_batch(one.tokenize(texts), one.padding)) for one in encoders
        )
        if not np.allclose(torch_vectors, onnx_vectors, rtol=0, atol=_TOLERANCE):
            raise ModelError(f"{model.name} gives other vectors in ONNX Runtime than in torch. {_REMEDY}")


def _n_threads() -> int:
    """Number of threads to use; 0 is as many as there are cores."""
    setting = os.environ.get("OMP_NUM_THREADS", "")
    return int(setting) if setting.isdecimal() else 0
