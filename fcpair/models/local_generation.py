"""Language models on this machine that write: sequence to sequence, or causal. They say what is likeliest."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fcpair.errors import InputError
from fcpair.models.model_files import Model
from fcpair.models.prompt import about
from fcpair.models.transformer import load_writer, longest_of

BATCH = 8
_SAMPLING = ("temperature", "top_p", "top_k", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff")


@dataclass(frozen=True)
class Decoding:
    """How a model decodes: the likeliest token each time, or with several beams the likeliest text that they find.

    Nothing is drawn, so the same prompt has the same reply.
    """

    max_new_tokens: int = 200
    num_beams: int = 1


def write(prompts: Sequence[str], model: Model, decoding: Decoding) -> Iterator[tuple[list[str], list[str]]]:
    """Some of the prompts and what the model writes after each, batch after batch, the longest first.

    Of a causal model its own words alone, without the prompt. Where the tokenizer has a template for chats, a prompt is
    what a user says.

    Raises:
        ModelError: the model cannot be had, or does not write.
        InputError: a prompt leaves the model no room for a reply, or has no token that it knows.
    """
    network, tokenizer, is_causal = load_writer(model.name)
    given = [as_chat(tokenizer, prompt) for prompt in prompts]
    tokens = [tokenizer(text, add_special_tokens=not is_chat(tokenizer), verbose=False)["input_ids"] for text in given]
    room = longest_of(network, tokenizer) - (decoding.max_new_tokens if is_causal else 0)
    check_room(prompts, tokens, room)
    order = np.argsort([-len(one) for one in tokens], kind="stable").tolist()
    settings = _settings(network, tokenizer, decoding)
    for start in range(0, len(order), BATCH):
        at = order[start : start + BATCH]
        written = _written(network, tokenizer, [tokens[one] for one in at], settings)
        width = len(tokens[at[0]]) if is_causal else 0  # of the batch: its longest prompt is the first
        own = tokenizer.batch_decode([one[width:] for one in written], skip_special_tokens=True)
        yield [prompts[one] for one in at], list(map(str, own))


def is_chat(tokenizer: Any) -> bool:
    """Whether the tokenizer has a template for chats."""
    return bool(getattr(tokenizer, "chat_template", None))


def as_chat(tokenizer: Any, prompt: str) -> str:
    """The prompt as what a user says, where there is a template for chats."""
    if not is_chat(tokenizer):
        return prompt
    message = [{"role": "user", "content": prompt}]
    return str(tokenizer.apply_chat_template(message, add_generation_prompt=True, tokenize=False))


def check_room(prompts: Sequence[str], tokens: Sequence[list[int]], room: int) -> None:
    """Raise InputError for a prompt that is too long, or has no token."""
    for prompt, one in zip(prompts, tokens, strict=True):
        if len(one) > room:
            raise InputError(
                f"{about('the prompt', prompt)} has {len(one):,} tokens, and the model has room for {max(room, 0):,} "
                "beside its reply; shorten the prompt, give fewer examples, or lower `max_new_tokens`"
            )
        if not one:
            raise InputError(f"{about('the prompt', prompt)} has no token that the model knows")


def _settings(network: Any, tokenizer: Any, decoding: Decoding) -> Any:
    """What the model's own settings say of tokens, such as with which a reply begins, without anything that draws."""
    own = copy.deepcopy(network.generation_config)
    for name in _SAMPLING:
        setattr(own, name, None)
    own.do_sample, own.max_length, own.num_return_sequences = False, None, 1
    own.max_new_tokens, own.num_beams = decoding.max_new_tokens, decoding.num_beams
    own.pad_token_id = tokenizer.pad_token_id if own.pad_token_id is None else own.pad_token_id
    return own


def _written(network: Any, tokenizer: Any, tokens: list[list[int]], settings: Any) -> list[list[int]]:
    import torch

    given = tokenizer.pad({"input_ids": tokens}, return_tensors="pt")
    with torch.inference_mode():
        ids = given["input_ids"].to(network.device)
        written = network.generate(
            input_ids=ids, attention_mask=given["attention_mask"].to(network.device), generation_config=settings
        )
    return [one.tolist() for one in written]
