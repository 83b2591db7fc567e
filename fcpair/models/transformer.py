"""Models of transformers that are read for what they say of a text: a classifier's labels, a causal model's losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError, ModelError, suggest_name
from fcpair.models.encode import Progress
from fcpair.models.model_files import resolve, silence_libraries

BATCH = 16
_CLASSIFIER, _CAUSAL = "AutoModelForSequenceClassification", "AutoModelForCausalLM"
_SEQUENCES = "AutoModelForSeq2SeqLM"
_KINDS = {
    _CLASSIFIER: "a model that classifies texts",
    _CAUSAL: "a causal model",
    _SEQUENCES: "a model that writes one text for another",
}
OWNER = "openai-community"  # whose models the hub has without a slash


class TokenLosses(NamedTuple):
    """Losses of a causal model on texts: the sum of the negative log-likelihoods (natural) of the tokens of each that
    it predicts, and how many these are, shapes `(n_texts,)`; and how many texts were cut.
    """

    losses: NDArray[np.float64]
    n_tokens: NDArray[np.int64]
    n_cut: int


def label_scores(
    texts: Sequence[tuple[str, ...]], name: str, label: str, progress: Progress | None = None
) -> tuple[NDArray[np.float64], int]:
    """The probability of a label for each text, or for each pair of texts, and how many of them were cut.

    A model of several labels gives it by a softmax; by a logistic function one of a single label, or one that says that
    its labels do not exclude each other (`multi_label_classification`).

    Raises:
        ModelError: the model cannot be had, has no trained head, or foretells numbers instead of labels.
        InputError: it has no such label.
    """
    model, tokenizer = load_transformer(_CLASSIFIER, name)
    at = _label_at(model.config, name, label)
    if model.config.problem_type == "regression":
        raise ModelError(f"{name} predicts numbers, not labels; its output is not a probability")
    logits, n_cut = _logits(texts, model, tokenizer, name, progress)
    is_independent = logits.shape[1] == 1 or model.config.problem_type == "multi_label_classification"
    from scipy.special import expit, softmax

    return (expit(logits) if is_independent else softmax(logits, axis=1))[:, at], n_cut


def pair_scores(
    pairs: Sequence[tuple[str, str]], name: str, progress: Progress | None = None
) -> tuple[NDArray[np.float64], int]:
    """The number that a regression model gives each pair of texts, as it comes, and how many pairs were cut.

    Raises:
        ModelError: the model cannot be had, has no trained head, or more outputs than one.
    """
    model, tokenizer = load_transformer(_CLASSIFIER, name)
    if (n := model.config.num_labels) != 1:
        raise ModelError(
            f"{name} has {n} labels, where a regression has one output; head:{name}(label=...) gives the probability "
            "of one of them"
        )
    logits, n_cut = _logits(pairs, model, tokenizer, name, progress)
    return logits[:, 0], n_cut


def _logits(
    texts: Sequence[tuple[str, ...]], model: Any, tokenizer: Any, name: str, progress: Progress | None
) -> tuple[NDArray[np.float64], int]:
    """Output of a model's head for each text or pair, `(n, n_labels)`, and how many of them were cut."""
    longest = max_input_tokens(model, tokenizer)
    n_cut = sum(len(ids) > longest for ids in tokenizer(*_columns(texts), verbose=False)["input_ids"])
    order = np.argsort([-sum(map(len, text)) for text in texts], kind="stable")
    logits = np.empty((len(texts), model.config.num_labels))
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        logits[rows] = _logits_of_batch(model, tokenizer, [texts[row] for row in rows], longest)
        if progress:
            progress(start + len(rows), len(order))
    if not np.isfinite(logits).all():
        raise ModelError(f"{name} gives a score that is not a finite number; its weights may be damaged")
    return logits, n_cut


def _logits_of_batch(model: Any, tokenizer: Any, texts: list[tuple[str, ...]], longest: int) -> NDArray[np.float64]:
    import torch

    inputs = tokenizer(*_columns(texts), padding=True, truncation=True, max_length=longest, return_tensors="pt")
    with torch.inference_mode():
        logits: NDArray[np.float64] = model(**inputs.to(model.device)).logits.double().cpu().numpy()
    return logits


def _columns(texts: Sequence[tuple[str, ...]]) -> list[list[str]]:
    return [list(column) for column in zip(*texts, strict=True)]


def _label_at(config: Any, name: str, label: str) -> int:
    at = {str(one).lower(): number for number, one in config.id2label.items()}
    if label.lower() not in at:
        raise InputError(f"{name} has no label `{label}`; {suggest_name(label, map(str, config.id2label.values()))}")
    return int(at[label.lower()])


def measure_losses(texts: Sequence[str], name: str, progress: Progress | None = None) -> TokenLosses:
    """Have a causal model foretell each token of texts from those before it.

    The first token is foretold from the token that begins a text, where the model has one, else not at all.

    Raises:
        ModelError: the model cannot be had, or is no causal model with a trained head.
    """
    model, tokenizer = load_transformer(_CAUSAL, name)
    begin = [] if tokenizer.bos_token_id is None else [tokenizer.bos_token_id]
    tokens = [begin + tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"] for text in texts]
    longest = max_input_tokens(model, tokenizer)
    order = np.argsort([-len(text_tokens) for text_tokens in tokens], kind="stable")
    losses = np.zeros(len(texts))
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        losses[rows] = _losses(model, [tokens[row][:longest] for row in rows])
        if progress:
            progress(start + len(rows), len(order))
    if not np.isfinite(losses).all():
        raise ModelError(f"{name} gives a likelihood that is not a finite number; its weights may be damaged")
    lengths = np.array([len(text_tokens) for text_tokens in tokens])
    return TokenLosses(losses, np.maximum(np.minimum(lengths, longest) - 1, 0), int((lengths > longest).sum()))


def _losses(model: Any, tokens: list[list[int]]) -> NDArray[np.float64]:
    """The sums over the tokens of each text but its first; padding stands behind, where nothing before it looks."""
    import torch

    width = max(map(len, tokens))
    if width < 2:
        return np.zeros(len(tokens))
    ids = torch.tensor([text_tokens + [0] * (width - len(text_tokens)) for text_tokens in tokens])
    mask = torch.tensor([[1] * len(text_tokens) + [0] * (width - len(text_tokens)) for text_tokens in tokens])
    with torch.inference_mode():
        logits = model(input_ids=ids, attention_mask=mask).logits[:, :-1].double()
        token_logprobs = logits.log_softmax(dim=-1).gather(2, ids[:, 1:, None])[:, :, 0]
    sums: NDArray[np.float64] = -(token_logprobs * mask[:, 1:]).sum(dim=1).numpy()
    return sums


def max_input_tokens(model: Any, tokenizer: Any) -> int:
    """Number of tokens of a text that the model reads."""
    places = getattr(model.config, "max_position_embeddings", None) or tokenizer.model_max_length
    return min(int(places), int(tokenizer.model_max_length))


def load_writer(name: str) -> tuple[Any, Any, bool]:
    """A model that writes, its tokenizer, and whether it is causal: then what it writes follows the prompt.

    Raises:
        ModelError: the model cannot be had, or does not write.
    """
    from transformers import AutoConfig

    folder = resolve(name, OWNER).folder
    try:
        is_causal = not AutoConfig.from_pretrained(folder, local_files_only=True).is_encoder_decoder
    except Exception as error:  # the library raises many kinds; each only means: not such a model
        raise ModelError(f"{name} cannot be loaded as a model of transformers: {error}") from error
    model, tokenizer = load_transformer(_CAUSAL if is_causal else _SEQUENCES, name)
    if is_causal:
        tokenizer.padding_side = "left"
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return model, tokenizer, is_causal


def load_transformer(kind: str, name: str) -> tuple[Any, Any]:
    """A model of a kind, ready to be read, and its tokenizer; raises ModelError where it cannot be had."""
    folder = resolve(name, OWNER).folder
    silence_libraries()
    try:
        model, tokenizer, missing = _load_quietly(kind, folder)
    except Exception as error:  # the library raises many kinds; each only means: not such a model
        raise ModelError(f"{name} cannot be loaded as a model of transformers: {error}") from error
    saved_as = (model.config.architectures or ["nothing that its configuration names"])[0]
    if saved_as != type(model).__name__:  # its head would be made up, or a masked model foretell what it has seen
        raise ModelError(f"{name} was saved as {saved_as}, not as {_KINDS[kind]}: it was trained for something else")
    if missing:
        raise ModelError(f"{name} has no weights for {missing[0]}; fetch it again, or name another model")
    return model.eval(), tokenizer


def _load_quietly(kind: str, folder: str) -> tuple[Any, Any, list[str]]:
    """The model, its tokenizer, and what it has no weights for; what transformers reports of it is not printed."""
    import transformers
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        cls = getattr(transformers, kind)
        model, loading_info = cls.from_pretrained(folder, local_files_only=True, output_loading_info=True)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    finally:
        logging.set_verbosity(verbosity)
    return model, tokenizer, sorted(loading_info["missing_keys"])
