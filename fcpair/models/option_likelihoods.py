"""Probabilities that a model on this machine gives each of a few options as the continuation of a prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fcpair.models.local_generation import BATCH, as_chat, check_prompt_lengths, is_chat
from fcpair.models.model_files import Model
from fcpair.models.transformer import load_writer, max_input_tokens

Floats = NDArray[np.float64]


class OptionProbabilities(NamedTuple):
    """The probability of each option among the options, `(n_options,)`, and that of all of them among everything."""

    shares: tuple[float, ...]
    mass: float


def normalise(logs: Floats) -> OptionProbabilities:
    """The probabilities of options from their log-likelihoods, `(n_options,)`."""
    most = float(logs.max())
    if not np.isfinite(most):
        return OptionProbabilities((0.0,) * len(logs), 0.0)
    raised = np.exp(logs - most)
    return OptionProbabilities(tuple((raised / raised.sum()).tolist()), min(1.0, float(np.exp(most) * raised.sum())))


def option_probabilities(
    prompts: Sequence[str], options: Sequence[str], model: Model
) -> Iterator[tuple[list[str], list[OptionProbabilities]]]:
    """Some of the prompts and what the model holds of the options after each, batch after batch, the longest first.

    An option's likelihood is that of all its tokens, behind a space where the prompt does not end in one; of a model
    for chats, at the beginning of its turn.

    Raises:
        ModelError: the model cannot be had, or does not write.
        InputError: a prompt leaves the model no room, or has no token that it knows.
    """
    network, tokenizer, is_causal = load_writer(model.name)
    prompt_texts = [as_chat(tokenizer, prompt) for prompt in prompts]
    special = not is_chat(tokenizer)
    tokens = [tokenizer(text, add_special_tokens=special, verbose=False)["input_ids"] for text in prompt_texts]
    option_tokens = [_tokenize_option(tokenizer, prompt_texts[0], option, is_causal=is_causal) for option in options]
    max_tokens = max_input_tokens(network, tokenizer) - (max(map(len, option_tokens)) if is_causal else 0)
    check_prompt_lengths(prompts, tokens, max_tokens)
    order = np.argsort([-len(item) for item in tokens], kind="stable").tolist()
    loglik = _causal_loglik if is_causal else _seq2seq_loglik
    for start in range(0, len(order), BATCH):
        at = order[start : start + BATCH]
        logs = loglik(network, tokenizer, [tokens[item] for item in at], option_tokens)
        yield [prompts[item] for item in at], [normalise(item) for item in logs]


def _tokenize_option(tokenizer: Any, prompt: str, option: str, *, is_causal: bool) -> list[int]:
    separator = " " if is_causal and not is_chat(tokenizer) and not prompt[-1:].isspace() else ""
    token_ids: list[int] = tokenizer(separator + option, add_special_tokens=False, verbose=False)["input_ids"]
    return token_ids


def _causal_loglik(network: Any, tokenizer: Any, tokens: list[list[int]], option_tokens: list[list[int]]) -> Floats:
    """The log-likelihood of each option behind each prompt, of a causal model: `(n_prompts, n_options)`."""
    import torch

    rows = [(prompt_ids, option) for prompt_ids in tokens for option in option_tokens]
    width = max(len(prompt_ids) + len(option) for prompt_ids, option in rows)
    pad = tokenizer.pad_token_id or 0
    ids = torch.tensor(
        [[*prompt_ids, *option, *[pad] * (width - len(prompt_ids) - len(option))] for prompt_ids, option in rows]
    )
    mask = torch.tensor(
        [
            [1] * (len(prompt_ids) + len(option)) + [0] * (width - len(prompt_ids) - len(option))
            for prompt_ids, option in rows
        ]
    )
    is_option = torch.zeros_like(mask)
    for at, (prompt_ids, option) in enumerate(rows):
        is_option[at, len(prompt_ids) : len(prompt_ids) + len(option)] = 1
    with torch.inference_mode():
        logits = network(input_ids=ids, attention_mask=mask).logits[:, :-1].double()
        token_logprobs = logits.log_softmax(dim=-1).gather(2, ids[:, 1:, None])[:, :, 0]
    sums: Floats = (token_logprobs * is_option[:, 1:]).sum(dim=1).numpy()
    return sums.reshape(len(tokens), len(option_tokens))


def _seq2seq_loglik(network: Any, tokenizer: Any, tokens: list[list[int]], option_tokens: list[list[int]]) -> Floats:
    """The same of a model that writes one text for another."""
    import torch

    inputs = tokenizer.pad({"input_ids": tokens}, return_tensors="pt")
    logliks = np.empty((len(tokens), len(option_tokens)))
    start = network.config.decoder_start_token_id
    with torch.inference_mode():
        for at, option in enumerate(option_tokens):
            decoder_input = torch.tensor([[start, *option[:-1]]] * len(tokens))
            logits = network(**inputs, decoder_input_ids=decoder_input).logits.double().log_softmax(dim=-1)
            target = torch.tensor([option] * len(tokens))
            logliks[:, at] = logits.gather(2, target[:, :, None])[:, :, 0].sum(dim=1).numpy()
    return logliks
