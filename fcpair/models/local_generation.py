"""Language models on this machine that write: sequence to sequence, or causal. They say what is likeliest."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fcpair.errors import InputError
from fcpair.models.cached_requests import prompt_subject
from fcpair.models.model_files import Model
from fcpair.models.transformer import load_writer, max_input_tokens

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
    network, tokenizer, is_causal = load_writer(model.name)
    prompt_texts = [as_chat(tokenizer, prompt) for prompt in prompts]
    tokens = [
        tokenizer(text, add_special_tokens=not is_chat(tokenizer), verbose=False)["input_ids"] for text in prompt_texts
    ]
    max_tokens = max_input_tokens(network, tokenizer) - (decoding.max_new_tokens if is_causal else 0)
    check_prompt_lengths(prompts, tokens, max_tokens)
    order = np.argsort([-len(item) for item in tokens], kind="stable").tolist()
    settings = _generation_config(network, tokenizer, decoding)
    for start in range(0, len(order), BATCH):
        at = order[start : start + BATCH]
        generated = _generate(network, tokenizer, [tokens[item] for item in at], settings)
        width = len(tokens[at[0]]) if is_causal else 0  # of the batch: its longest prompt is the first
        replies = tokenizer.batch_decode([item[width:] for item in generated], skip_special_tokens=True)
        yield [prompts[item] for item in at], list(map(str, replies))


def is_chat(tokenizer: Any) -> bool:
    """Whether the tokenizer has a template for chats."""
    return bool(getattr(tokenizer, "chat_template", None))


def as_chat(tokenizer: Any, prompt: str) -> str:
    """The prompt as what a user says, where there is a template for chats."""
    if not is_chat(tokenizer):
        return prompt
    message = [{"role": "user", "content": prompt}]
    return str(tokenizer.apply_chat_template(message, add_generation_prompt=True, tokenize=False))


def check_prompt_lengths(prompts: Sequence[str], tokens: Sequence[list[int]], max_tokens: int) -> None:
    """Raise InputError for a prompt that is too long, or has no token."""
    for prompt, prompt_tokens in zip(prompts, tokens, strict=True):
        if len(prompt_tokens) > max_tokens:
            raise InputError(
                f"{prompt_subject('the prompt', prompt)} has {len(prompt_tokens):,} tokens, and the model has room "
                f"for {max(max_tokens, 0):,} besides its reply; shorten the prompt, give fewer examples, or lower "
                "`max_new_tokens`"
            )
        if not prompt_tokens:
            raise InputError(f"{prompt_subject('the prompt', prompt)} has no token that the model knows")


def _generation_config(network: Any, tokenizer: Any, decoding: Decoding) -> Any:
    """Copy the model's own settings of tokens, such as the one that begins a reply, without any sampling."""
    config = copy.deepcopy(network.generation_config)
    for name in _SAMPLING:
        setattr(config, name, None)
    config.do_sample, config.max_length, config.num_return_sequences = False, None, 1
    config.max_new_tokens, config.num_beams = decoding.max_new_tokens, decoding.num_beams
    config.pad_token_id = tokenizer.pad_token_id if config.pad_token_id is None else config.pad_token_id
    return config


def _generate(network: Any, tokenizer: Any, tokens: list[list[int]], settings: Any) -> list[list[int]]:
    import torch

    padded = tokenizer.pad({"input_ids": tokens}, return_tensors="pt")
    with torch.inference_mode():
        ids = padded["input_ids"].to(network.device)
        generated = network.generate(
            input_ids=ids, attention_mask=padded["attention_mask"].to(network.device), generation_config=settings
        )
    return [one.tolist() for one in generated]
