"""Models of transformers, for what they say of a text or of a pair: labels, losses, a score."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.errors import InputError, ModelError, suggest_name
from fcpair.lazy import scipy, torch, transformers
from fcpair.models.cache import cache_folder
from fcpair.models.encode import Cut, Progress, compute_rows, count_cut, longest_first
from fcpair.models.model_files import Model, resolve, silence_libraries
from fcpair.stages.corpus.nearest_neighbours import DECIMALS

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

    losses: Floats
    n_tokens: Ints
    n_cut: int


def label_scores(
    texts: Sequence[tuple[str, ...]], name: str, label: str, progress: Progress | None = None
) -> tuple[Floats, int]:
    """The probability of a label for each text, or for each pair of texts, and how many of them were cut: by a softmax;
    by a logistic function for a single label, or where labels do not exclude each other (`multi_label_classification`).
    Raises ModelError where the model cannot be had, has no trained head, or foretells numbers instead of labels;
    InputError where it has no such label.
    """
    model, tokenizer = load_transformer(_CLASSIFIER, resolve(name, OWNER))
    labels = {str(of): int(at) for at, of in model.config.id2label.items()}
    if (at := {of.lower(): at for of, at in labels.items()}.get(label.lower())) is None:
        raise InputError(f"{name} has no label `{label}`; {suggest_name(label, labels)}")
    if model.config.problem_type == "regression":
        raise ModelError(f"{name} predicts numbers, not labels; its output is not a probability")
    logits, n_cut = _logits(texts, model, tokenizer, name, progress)
    is_independent = logits.shape[1] == 1 or model.config.problem_type == "multi_label_classification"
    return (scipy.special.expit(logits) if is_independent else scipy.special.softmax(logits, axis=1))[:, at], n_cut


def pair_scores(pairs: Sequence[tuple[str, str]], name: str, progress: Progress | None = None) -> tuple[Floats, int]:
    """The number that a regression model gives each pair of texts, as it comes, and how many pairs were cut. Raises
    ModelError where the model cannot be had, has no trained head, or more outputs than one.
    """
    model, tokenizer = load_transformer(_CLASSIFIER, resolve(name, OWNER))
    if (n := model.config.num_labels) != 1:
        raise ModelError(
            f"{name} has {n} labels, where a regression has one output; head:{name}(label=...) gives the probability "
            "of one of them"
        )
    logits, n_cut = _logits(pairs, model, tokenizer, name, progress)
    return logits[:, 0], n_cut


def _logits(
    texts: Sequence[tuple[str, ...]], model: Any, tokenizer: Any, name: str, progress: Progress | None
) -> tuple[Floats, int]:
    """Output of a model's head for each text or pair, `(n, n_labels)`, and how many of them were cut."""
    longest, logits = max_input_tokens(model, tokenizer), np.empty((len(texts), model.config.num_labels))
    if not texts:
        return logits, 0
    n_cut = sum(len(ids) > longest for ids in tokenizer(*_columns(texts), verbose=False)["input_ids"])
    settings = {"padding": True, "truncation": True, "max_length": longest, "return_tensors": "pt"}
    for rows in longest_first([sum(map(len, text)) for text in texts], BATCH, progress):
        inputs = tokenizer(*_columns([texts[row] for row in rows]), **settings)
        with torch.inference_mode():
            logits[rows] = model(**inputs.to(model.device)).logits.double().cpu().numpy()
    if not np.isfinite(logits).all():
        raise ModelError(f"{name} gives a score that is not a finite number; its weights may be damaged")
    return logits, n_cut


def _columns(texts: Sequence[tuple[str, ...]]) -> list[list[str]]:
    return [list(column) for column in zip(*texts, strict=True)]


def measure_losses(texts: Sequence[str], name: str, progress: Progress | None = None) -> TokenLosses:
    """Have a causal model foretell each token of texts from those before it, the first from the token that begins a
    text, if the model has one. Raises ModelError where the model cannot be had, or is no causal model with a trained
    head.
    """
    model, tokenizer = load_transformer(_CAUSAL, resolve(name, OWNER))
    begin = [] if tokenizer.bos_token_id is None else [tokenizer.bos_token_id]
    tokens = [begin + tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"] for text in texts]
    lengths = np.array([len(text_tokens) for text_tokens in tokens], np.int64)
    longest, losses = max_input_tokens(model, tokenizer), np.zeros(len(texts))
    for rows in longest_first(lengths.tolist(), BATCH, progress):
        batch = [tokens[row][:longest] for row in rows]
        if (width := len(batch[0])) < 2:
            continue
        # Padding stands behind, where nothing before it looks.
        ids = torch.tensor([of + [0] * (width - len(of)) for of in batch])
        mask = torch.tensor([[1] * len(of) + [0] * (width - len(of)) for of in batch])
        losses[rows] = -(token_logprobs(model, ids, mask) * mask[:, 1:]).sum(dim=1).numpy()
    if not np.isfinite(losses).all():
        raise ModelError(f"{name} gives a likelihood that is not a finite number; its weights may be damaged")
    return TokenLosses(losses, np.maximum(np.minimum(lengths, longest) - 1, 0), int((lengths > longest).sum()))


def token_logprobs(model: Any, ids: Any, mask: Any) -> Any:
    """The log-probability of each token but the first, given those before it, by a causal model."""
    with torch.inference_mode():
        logits = model(input_ids=ids, attention_mask=mask).logits[:, :-1].double()
        return logits.log_softmax(dim=-1).gather(2, ids[:, 1:, None])[:, :, 0]


def max_input_tokens(model: Any, tokenizer: Any) -> int:
    """Number of tokens of a text that the model reads."""
    places = getattr(model.config, "max_position_embeddings", None) or tokenizer.model_max_length
    return min(int(places), int(tokenizer.model_max_length))


def load_writer(model: Model) -> tuple[Any, Any, bool]:
    """A model that writes, its tokenizer, and whether it is causal (it repeats the prompt); raises ModelError."""
    try:
        is_causal = not transformers.AutoConfig.from_pretrained(model.folder, local_files_only=True).is_encoder_decoder
    except Exception as error:  # the library raises many kinds; each only means: not such a model
        raise ModelError(f"{model.name} cannot be loaded as a model of transformers: {error}") from error
    network, tokenizer = load_transformer(_CAUSAL if is_causal else _SEQUENCES, model)
    if is_causal:
        tokenizer.padding_side = "left"
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return network, tokenizer, is_causal


def load_transformer(kind: str, model: Model) -> tuple[Any, Any]:
    """A model of a kind, ready to be read, and its tokenizer; raises ModelError where it cannot be had."""
    silence_libraries()
    verbosity = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        cls = getattr(transformers, kind)
        network, loading_info = cls.from_pretrained(model.folder, local_files_only=True, output_loading_info=True)
        tokenizer = transformers.AutoTokenizer.from_pretrained(model.folder, local_files_only=True)
    except Exception as error:  # the library raises many kinds; each only means: not such a model
        raise ModelError(f"{model.name} cannot be loaded as a model of transformers: {error}") from error
    finally:
        transformers.logging.set_verbosity(verbosity)
    saved_as = (network.config.architectures or ["nothing that its configuration names"])[0]
    if saved_as != type(network).__name__:  # its head would be made up, or a masked model foretell what it has seen
        raise ModelError(
            f"{model.name} was saved as {saved_as}, not as {_KINDS[kind]}: it was trained for something else"
        )
    if missing := sorted(loading_info["missing_keys"]):
        raise ModelError(f"{model.name} has no weights for {missing[0]}; fetch it again, or name another model")
    return network.eval(), tokenizer


@dataclass(frozen=True)
class LabelScores:
    """Confidence of a model in each label on each text, `scores`, (n_texts, n_labels), in [0, 1]; texts that were
    `cut`.
    """

    labels: tuple[str, ...]
    scores: Floats
    cut: Cut = Cut(0, ())

    def labels_above(self, threshold: float) -> list[list[str]]:
        """The labels of each text whose score is `threshold` or more."""
        return [[self.labels[at] for at in np.flatnonzero(row)] for row in self.scores >= threshold]


def score_labels(texts: Sequence[str], model: Model, progress: Progress | None = None) -> LabelScores:
    """Score each label of the model on each text, by the sigmoid of its logit. `progress(done, total)` counts distinct
    texts. Raises ModelError where the model does not classify texts, was trained to give each text one label, or gives
    a score that is not a finite number.
    """
    network, tokenizer = load_transformer(_CLASSIFIER, model)
    if network.config.problem_type == "single_label_classification":
        raise ModelError(f"{model.name} was trained to give each text one label; expected one for several labels")
    labels = tuple(str(network.config.id2label[at]) for at in range(network.config.num_labels))
    distinct = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    logits, _ = _logits([(text,) for text in distinct], network, tokenizer, model.name, progress)
    return LabelScores(labels, scipy.special.expit(logits)[[distinct[text] for text in texts]], count_cut(texts, model))


PAIRS_AT_ONCE = 32


def score_pairs(pairs: Sequence[tuple[str, str]], model: Model, progress: Progress | None = None) -> Floats:
    """Score pairs of texts, shape `(n_pairs,)`, the higher the better, to six decimals; each distinct pair once on this
    machine, which `progress(done, total)` counts. Raises ModelError where the model is no cross-encoder, or gives
    anything but one finite number for a pair.
    """
    keys = [hashlib.sha256(json.dumps(pair).encode()).hexdigest() for pair in pairs]
    distinct = dict(zip(keys, pairs, strict=True))

    def score_new(new: list[str]) -> Iterator[tuple[list[int], Floats]]:
        encoder = _load_cross_encoder(model)
        for batch in longest_first([sum(map(len, distinct[key])) for key in new], PAIRS_AT_ONCE):
            texts = [distinct[new[at]] for at in batch]
            scores = encoder.predict(texts, batch_size=PAIRS_AT_ONCE, show_progress_bar=False)
            if scores.shape != (len(batch),):
                raise ModelError(
                    f"{model.name} gives {scores.shape[-1]} scores for a pair; expected a model that gives one"
                )
            if not np.isfinite(scores).all():
                raise ModelError(f"{model.name} gives a score that is not a finite number")
            yield batch, np.round(scores.astype(np.float64), DECIMALS)[:, None]

    rows = compute_rows(keys, cache_folder() / "scores" / model.key, score_new, progress)
    return rows[:, 0] if keys else np.empty(0)


def _load_cross_encoder(model: Model) -> Any:
    silence_libraries()
    from sentence_transformers import CrossEncoder

    try:
        encoder = CrossEncoder(model.folder, local_files_only=True).eval()
    except Exception as error:  # the libraries raise many kinds; each only means: not a model
        raise ModelError(f"{model.name} cannot be loaded as a cross-encoder: {error}") from error
    saved_as = encoder.model.config.architectures or ["nothing that its configuration names"]
    if type(encoder.model).__name__ not in saved_as:  # its head would be made up, and so would be its scores
        raise ModelError(
            f"{model.name} is not a cross-encoder: it was saved as {saved_as[0]}, without a head that scores pairs. "
            "Name one, such as cross-encoder/ms-marco-MiniLM-L6-v2"
        )
    return encoder
