"""Language models on this machine, sequence to sequence or causal: likeliest texts, and how likely options are."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fcpair.arrays import Floats
from fcpair.errors import InputError
from fcpair.models.encode import longest_first
from fcpair.models.model_files import Model
from fcpair.models.service import prompt_subject
from fcpair.models.transformer import load_writer, max_input_tokens, token_logprobs

BATCH = 8
_SAMPLING = ("temperature", "top_p", "top_k", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff")


@dataclass(frozen=True)
class Decoding:
    """Decoding of a model: the likeliest token each time, or with several beams the likeliest text that they find.

    Nothing is drawn, so the same prompt has the same reply.
    """

    max_new_tokens: int = 200
    num_beams: int = 1


def generate_texts(prompts: Sequence[str], model: Model, decoding: Decoding) -> Iterator[tuple[list[str], list[str]]]:
    """Some of the prompts and what the model writes after each, batch after batch, the longest first.

    Of a causal model its own words alone, without the prompt. Where the tokenizer has a template for chats, a prompt is
    what a user says.

    Raises:
        ModelError: the model is unavailable, or does not write.
        InputError: a prompt leaves the model no room for a reply, or has no token that it knows.
    """
    import torch

    network, tokenizer, is_causal = load_writer(model)
    tokens = _tokenize(prompts, network, tokenizer, decoding.max_new_tokens if is_causal else 0)
    # The model's own settings of tokens, such as the one that begins a reply, without any sampling.
    settings = copy.deepcopy(network.generation_config)
    for name in _SAMPLING:
        setattr(settings, name, None)
    settings.do_sample, settings.max_length, settings.num_return_sequences = False, None, 1
    settings.max_new_tokens, settings.num_beams = decoding.max_new_tokens, decoding.num_beams
    settings.pad_token_id = tokenizer.pad_token_id if settings.pad_token_id is None else settings.pad_token_id
    for at in longest_first([len(item) for item in tokens], BATCH):
        padded = tokenizer.pad({"input_ids": [tokens[item] for item in at]}, return_tensors="pt").to(network.device)
        with torch.inference_mode():
            generated = network.generate(
                input_ids=padded["input_ids"], attention_mask=padded["attention_mask"], generation_config=settings
            ).tolist()
        width = len(tokens[at[0]]) if is_causal else 0  # of the batch: its longest prompt is the first
        replies = tokenizer.batch_decode([item[width:] for item in generated], skip_special_tokens=True)
        yield [prompts[item] for item in at], list(map(str, replies))


def is_chat(tokenizer: Any) -> bool:
    """Whether the tokenizer has a template for chats."""
    return bool(getattr(tokenizer, "chat_template", None))


def _tokenize(prompts: Sequence[str], network: Any, tokenizer: Any, room: int) -> list[list[int]]:
    """The tokens of prompts, each as what a user says where there is a template for chats.

    Raises InputError for a prompt that leaves no `room` for a reply, or has no token.
    """
    max_tokens = max_input_tokens(network, tokenizer) - room
    tokens = []
    for prompt in prompts:
        text = prompt
        if is_chat(tokenizer):
            message = [{"role": "user", "content": prompt}]
            text = str(tokenizer.apply_chat_template(message, add_generation_prompt=True, tokenize=False))
        tokens.append(tokenizer(text, add_special_tokens=not is_chat(tokenizer), verbose=False)["input_ids"])
        if len(tokens[-1]) > max_tokens:
            raise InputError(
                f"{prompt_subject('the prompt', prompt)} has {len(tokens[-1]):,} tokens, and the model has room "
                f"for {max(max_tokens, 0):,} besides its reply; shorten the prompt, give fewer examples, or lower "
                "`max_new_tokens`"
            )
        if not tokens[-1]:
            raise InputError(f"{prompt_subject('the prompt', prompt)} has no token that the model knows")
    return tokens


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
    network, tokenizer, is_causal = load_writer(model)
    # Where there is a template for chats, an option begins the model's turn.
    separator = " " if is_causal and not is_chat(tokenizer) and not prompts[0][-1:].isspace() else ""
    option_tokens = [
        tokenizer(separator + option, add_special_tokens=False, verbose=False)["input_ids"] for option in options
    ]
    tokens = _tokenize(prompts, network, tokenizer, max(map(len, option_tokens)) if is_causal else 0)
    loglik = _causal_loglik if is_causal else _seq2seq_loglik
    for at in longest_first([len(item) for item in tokens], BATCH):
        logs = loglik(network, tokenizer, [tokens[item] for item in at], option_tokens)
        yield [prompts[item] for item in at], [normalise(item) for item in logs]


def _causal_loglik(network: Any, tokenizer: Any, tokens: list[list[int]], option_tokens: list[list[int]]) -> Floats:
    """The log-likelihood of each option behind each prompt, of a causal model: `(n_prompts, n_options)`."""
    import torch

    rows = [(prompt_ids, option) for prompt_ids in tokens for option in option_tokens]
    shape = len(rows), max(len(prompt_ids) + len(option) for prompt_ids, option in rows)
    ids, mask, is_option = (torch.full(shape, fill) for fill in (tokenizer.pad_token_id or 0, 0, 0))
    for at, (prompt_ids, option) in enumerate(rows):
        n = len(prompt_ids) + len(option)
        ids[at, :n] = torch.tensor([*prompt_ids, *option])
        mask[at, :n] = is_option[at, len(prompt_ids) : n] = 1
    sums: Floats = (token_logprobs(network, ids, mask) * is_option[:, 1:]).sum(dim=1).numpy()
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
