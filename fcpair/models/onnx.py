"""A sentence-transformers model as ONNX Runtime runs it: exported once by torch, kept in the cache folder.

The export holds everything from tokens to unit vectors. Neither torch nor sentence-transformers is imported to run it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import ModelError
from fcpair.models.cache import cache_folder
from fcpair.models.encoder import IDS, MASK, Padding, Tokens, pad_batch
from fcpair.models.model_files import Model
from fcpair.models.pytorch import TorchEncoder
from fcpair.unfinished import new_path, prefix_for

GRAPH, TOKENIZER = "model.onnx", "tokenizer.json"
TYPES, VECTORS = "token_type_ids", "vectors"
_MODULES = ("Transformer", "Pooling", "Normalize")
_SAMPLE = ("A short reply.", "Some of us bake your bread, at four in the morning, while you sleep; remember that.", "?")
_REMEDY = "Take `--backend torch`"
_TOLERANCE = 1e-5  # by which vectors of the export may differ from torch's


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

    def unit_vectors(self, batch: Tokens) -> NDArray[np.float32]:
        """The unit vectors of the texts of a batch, shape `(n_texts, dimension)`."""
        vectors: NDArray[np.float32] = self._session.run(None, dict(batch))[0]
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
                _move_into_place(temporary / "export", folder)
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
            _wrap_module(loaded, names).eval(),
            tuple(torch.from_numpy(batch[name]) for name in names),
            str(folder / GRAPH),
            input_names=names,
            output_names=[VECTORS],
            dynamic_axes=shapes,
            dynamo=False,
        )
    _save_tokenizer(loaded, torch_encoder.padding, folder / TOKENIZER)
    encoders = (torch_encoder, OnnxEncoder(folder))
    for texts in (_SAMPLE, _SAMPLE[:1]):
        torch_vectors, onnx_vectors = (
            one.unit_vectors(pad_batch(one.tokenize(texts), one.padding)) for one in encoders
        )
        if not np.allclose(torch_vectors, onnx_vectors, rtol=0, atol=_TOLERANCE):
            raise ModelError(f"{model.name} gives other vectors in ONNX Runtime than in torch. {_REMEDY}")


def _wrap_module(loaded: Any, names: list[str]) -> Any:
    """The model as a module from tensors in the order of their names to unit vectors."""
    import torch

    class Wrapped(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.loaded = loaded

        def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
            vectors = self.loaded(dict(zip(names, tensors, strict=True)))["sentence_embedding"]
            return torch.nn.functional.normalize(vectors, dim=1)

    return Wrapped()


def _save_tokenizer(loaded: Any, padding: Padding, path: Path) -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(loaded.tokenizer.backend_tokenizer.to_str())
    tokenizer.enable_truncation(loaded.max_seq_length)
    tokenizer.enable_padding(direction="left" if padding.left else "right", pad_id=padding.token)
    tokenizer.save(str(path))


def _move_into_place(new_folder: Path, folder: Path) -> None:
    """Move an export to its place, unless another process was quicker."""
    try:
        new_folder.rename(folder)
    except OSError:
        if not (folder / GRAPH).is_file():
            raise


def _n_threads() -> int:
    """Number of threads to use; 0 is as many as there are cores."""
    setting = os.environ.get("OMP_NUM_THREADS", "")
    return int(setting) if setting.isdecimal() else 0
