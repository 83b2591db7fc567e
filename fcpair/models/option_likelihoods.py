"""How probable a model of this machine holds each of a few options, as what comes after a prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fcpair.models.local_generation import BATCH, as_chat, check_room, is_chat
from fcpair.models.model_files import Model
from fcpair.models.transformer import load_writer, longest_of

Floats = NDArray[np.float64]


class Told(NamedTuple):
    """The probability of each option among the options, `(n_options,)`, and that of all of them among everything."""

    shares: tuple[float, ...]
    mass: float


def shares(logs: Floats) -> Told:
    """The probabilities of options from their log-likelihoods, `(n_options,)`."""
    most = float(logs.max())
    if not np.isfinite(most):
        return Told((0.0,) * len(logs), 0.0)
    raised = np.exp(logs - most)
    return Told(tuple((raised / raised.sum()).tolist()), min(1.0, float(np.exp(most) * raised.sum())))


def option_shares(
    prompts: Sequence[str], options: Sequence[str], model: Model
) -> Iterator[tuple[list[str], list[Told]]]:
    """Some of the prompts and what the model holds of the options after each, batch after batch, the longest first.

    An option's likelihood is that of all its tokens, behind a space where the prompt does not end in one; of a model
    for chats, at the beginning of its turn.

    Raises:
        ModelError: the model cannot be had, or does not write.
        InputError: a prompt leaves the model no room, or has no token that it knows.
    """
    network, tokenizer, is_causal = load_writer(model.name)
    given = [as_chat(tokenizer, prompt) for prompt in prompts]
    special = not is_chat(tokenizer)
    tokens = [tokenizer(text, add_special_tokens=special, verbose=False)["input_ids"] for text in given]
    said = [_said(tokenizer, given[0], option, is_causal=is_causal) for option in options]
    room = longest_of(network, tokenizer) - (max(map(len, said)) if is_causal else 0)
    check_room(prompts, tokens, room)
    order = np.argsort([-len(one) for one in tokens], kind="stable").tolist()
    read = _after if is_causal else _decoded
    for start in range(0, len(order), BATCH):
        at = order[start : start + BATCH]
        logs = read(network, tokenizer, [tokens[one] for one in at], said)
        yield [prompts[one] for one in at], [shares(one) for one in logs]


def _said(tokenizer: Any, prompt: str, option: str, *, is_causal: bool) -> list[int]:
    apart = " " if is_causal and not is_chat(tokenizer) and not prompt[-1:].isspace() else ""
    found: list[int] = tokenizer(apart + option, add_special_tokens=False, verbose=False)["input_ids"]
    return found


def _after(network: Any, tokenizer: Any, tokens: list[list[int]], said: list[list[int]]) -> Floats:
    """The log-likelihood of each option behind each prompt, of a causal model: `(n_prompts, n_options)`."""
    import torch

    rows = [(one, option) for one in tokens for option in said]
    width = max(len(one) + len(option) for one, option in rows)
    pad = tokenizer.pad_token_id or 0
    ids = torch.tensor([[*one, *option, *[pad] * (width - len(one) - len(option))] for one, option in rows])
    there = torch.tensor(
        [[1] * (len(one) + len(option)) + [0] * (width - len(one) - len(option)) for one, option in rows]
    )
    own = torch.zeros_like(there)
    for at, (one, option) in enumerate(rows):
        own[at, len(one) : len(one) + len(option)] = 1
    with torch.inference_mode():
        logits = network(input_ids=ids, attention_mask=there).logits[:, :-1].double()
        foretold = logits.log_softmax(dim=-1).gather(2, ids[:, 1:, None])[:, :, 0]
    sums: Floats = (foretold * own[:, 1:]).sum(dim=1).numpy()
    return sums.reshape(len(tokens), len(said))


def _decoded(network: Any, tokenizer: Any, tokens: list[list[int]], said: list[list[int]]) -> Floats:
    """The same of a model that writes one text for another."""
    import torch

    given = tokenizer.pad({"input_ids": tokens}, return_tensors="pt")
    found = np.empty((len(tokens), len(said)))
    start = network.config.decoder_start_token_id
    with torch.inference_mode():
        for at, option in enumerate(said):
            before = torch.tensor([[start, *option[:-1]]] * len(tokens))
            logits = network(**given, decoder_input_ids=before).logits.double().log_softmax(dim=-1)
            after = torch.tensor([option] * len(tokens))
            found[:, at] = logits.gather(2, after[:, :, None])[:, :, 0].sum(dim=1).numpy()
    return found
