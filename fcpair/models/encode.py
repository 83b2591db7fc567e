"""Text to unit vectors: each distinct text is encoded once, and remembered; and the vectors of tokens."""

from __future__ import annotations

import json
import logging
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from time import monotonic
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fcpair.arrays import Vectors
from fcpair.errors import ModelError
from fcpair.models import cache as kept
from fcpair.models.encoder import IDS, Encoder, OnnxEncoder, TorchEncoder, ensure_exported, pad_batch
from fcpair.models.model_files import ONNX, Model, resolve, silence_libraries

BATCH = 32
SORTED = 16_384  # texts that are tokenised at once, and sorted by their number of tokens
SAVE_EVERY_S = 30.0
"""After so long what has been encoded is kept, in case the process is killed; Ctrl-C loses nothing."""

_MOST_ADDED = 8  # tokens that a tokenizer adds to a text or a pair, such as `[CLS]`
_NO_LIMIT = 10**9  # transformers writes 10**30 for none

Progress = Callable[[int, int], None]
_log = logging.getLogger(__name__)


def encode(texts: Sequence[str], model: Model, progress: Progress | None = None) -> Vectors:
    """Encode texts to unit vectors of shape `(n_texts, dimension)`; dot products are cosine similarities.

    Each distinct text is encoded once, and never again on this machine with the same model: vectors are kept in
    `$FCPAIR_CACHE` (or the user's cache folder), by the model's key and the text's digest, while encoding goes on: who
    stops it goes on from there. `progress(done, total)` counts the texts that had to be encoded.

    Raises:
        ModelError: the model is no sentence-transformers model, or gives vectors without a direction.
    """
    keys = [kept.key_of(text) for text in texts]
    distinct = dict(zip(keys, texts, strict=True))
    if not distinct:
        raise ModelError("there are no texts to encode")

    def encode_new(new: list[str]) -> Iterator[tuple[list[int], Vectors]]:
        return _open_and_encode([distinct[key] for key in new], model)

    return compute_rows(list(distinct), kept.folder_of(model), encode_new, progress).rows_of(keys)


def compute_rows(
    keys: list[str],
    folder: Path,
    compute: Callable[[list[str]], Iterator[tuple[list[int], NDArray[Any]]]],
    progress: Progress | None = None,
) -> CachedRows:
    """The rows of distinct keys: those that are kept in a folder, and the others by `compute`, which are kept, too.

    `compute` takes the keys that are missing, and yields the places of some of them, and their rows.
    """
    rows = CachedRows(keys)
    for part in kept.read_parts(folder):
        rows.put(part.keys, part.vectors)
    new, done = rows.missing_keys(), 0
    unsaved: list[tuple[list[str], NDArray[Any]]] = []

    def save() -> None:
        """Write what waits as a part; where that cannot be done, it is a warning."""
        try:
            parts = zip(*unsaved, strict=True)
            kept.write_part(folder, [*chain.from_iterable(next(parts))], np.concatenate(next(parts)))
        except OSError as error:
            _log.warning("%s cannot be kept (%s)", folder, error)
        unsaved.clear()

    saved_s = monotonic()
    try:
        for at, computed in compute(new) if new else ():
            batch_keys = [new[index] for index in at]
            rows.put(batch_keys, computed)
            unsaved.append((batch_keys, computed))
            done += len(batch_keys)
            if progress:
                progress(done, len(new))
            if monotonic() - saved_s >= SAVE_EVERY_S:
                save()
                saved_s = monotonic()
    finally:  # Ctrl-C too: what is computed is kept, and the next run goes on from there
        if unsaved:
            save()
    return rows


class CachedRows:
    """Rows of numbers, such as vectors of distinct texts, by their keys, in one array."""

    def __init__(self, keys: list[str]) -> None:
        self._keys = keys
        self._at = {key: at for at, key in enumerate(keys)}
        self._filled = np.zeros(len(keys), bool)
        self._rows: NDArray[Any] = np.empty((len(keys), 0), np.float32)

    def put(self, keys: Sequence[str], rows: NDArray[Any]) -> None:
        """Put in those of the rows whose keys are there."""
        at = np.array([self._at.get(key, -1) for key in keys], np.int64)
        if not self._filled.any():
            self._rows = np.empty((len(self._keys), rows.shape[1]), rows.dtype)
        self._rows[at[at >= 0]] = rows[at >= 0]
        self._filled[at[at >= 0]] = True

    def missing_keys(self) -> list[str]:
        """The keys whose rows are not there."""
        return [self._keys[at] for at in np.flatnonzero(~self._filled)]

    def rows_of(self, keys: list[str]) -> NDArray[Any]:
        """The rows of the keys, in their order."""
        return self._rows if keys == self._keys else self._rows[[self._at[key] for key in keys]]


class Cut(NamedTuple):
    """How many different texts, or pairs of texts, are longer than a model reads, so that it does not see their ends;
    and the note that says so, if there are any.
    """

    n: int
    notes: tuple[str, ...]


def count_cut(inputs: Sequence[str | tuple[str, str]], model: Model) -> Cut:
    """Count the different texts, or pairs of texts, that a model cuts at its window, whatever runs it.

    The model itself is not loaded, so that texts count whose vectors are kept.
    """
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
    note = (
        f"{n:,} of {len(distinct):,} {what} are longer than {model.name} reads ({window} tokens); their ends were cut"
    )
    return Cut(n, (note,) if n else ())


@lru_cache(maxsize=8)
def _read_window(folder: Path) -> tuple[int, Any]:
    """How many tokens a model reads, and its tokenizer, without a limit; None where it has no limit or no tokenizer.

    sentence-transformers reads `max_seq_length` or, as transformers does, the lesser of its places and of the length
    that its tokenizer names.
    """
    from tokenizers import Tokenizer

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
        tokenizer = Tokenizer.from_file(str(path))
    else:
        silence_libraries()
        from transformers import AutoTokenizer

        loaded = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        tokenizer = Tokenizer.from_str(loaded.backend_tokenizer.to_str())
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return window, tokenizer


def _read_settings(path: Path, absent: Any = MappingProxyType({})) -> Any:
    """The settings in a JSON file of a model; `absent` if it has none."""
    return json.loads(path.read_bytes()) if path.is_file() else absent


def open_encoder(model: Model) -> Encoder:
    """The model, loaded by the backend that it names; raises ModelError where that cannot be done."""
    if model.backend == ONNX:
        return OnnxEncoder(ensure_exported(model, load_sentence_transformer))
    return TorchEncoder(load_sentence_transformer(model))


def longest_first(lengths: Sequence[int], size: int, progress: Progress | None = None) -> Iterator[list[int]]:
    """The positions of texts of these lengths in batches, longest first, so that padding is rare.

    `progress(done, total)` counts those that are done when the next batch is asked for.
    """
    order = np.argsort([-length for length in lengths], kind="stable").tolist()
    for start in range(0, len(order), size):
        yield order[start : start + size]
        if progress:
            progress(min(start + size, len(order)), len(order))


def encode_batches(texts: Sequence[str], encoder: Encoder, name: str) -> Iterator[tuple[list[int], Vectors]]:
    """The positions and vectors of texts in batches of about as many tokens, longest first: padding is rare so.

    Raises:
        ModelError: the model, which the message calls by its name, gives a vector without a direction.
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
    """The unit vectors of the tokens of each text, shape `(n_tokens, dimension)`.

    Tokens that the tokenizer adds, such as `[CLS]`, have no vector here. Texts are read longest first, so that padding
    is rare; `progress(done, total)` counts them.

    Raises:
        ModelError: the model cannot be had, is no encoder, or gives vectors without a direction.
    """
    encoder = TorchEncoder(load_sentence_transformer(resolve(name)))
    tokens = encoder.tokenize(texts)
    vectors_by_text: list[Vectors] = [np.empty((0, 0), np.float32)] * len(texts)
    for rows in longest_first([len(text_tokens[IDS]) for text_tokens in tokens], BATCH, progress):
        batch = pad_batch([tokens[row] for row in rows], encoder.padding)
        for row, vectors, is_own in zip(rows, encoder.token_vectors(batch), encoder.own_token_mask(batch), strict=True):
            vectors_by_text[row] = vectors[is_own]
    if not all(np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3) for vectors in vectors_by_text):
        raise ModelError(f"{name} gives a token a vector that is zero or not finite; its weights may be damaged")
    return vectors_by_text
