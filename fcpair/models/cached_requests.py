"""Requests to a service and its answers; a usable answer is kept, by its prompt, and not asked for again."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from fcpair.models.cache import cache_folder, read_record, write_record

T = TypeVar("T")
Endpoint = Literal["chat/completions", "embeddings"]
CHARACTERS_A_TOKEN = 4
_SHOWN = 80
_FENCE = re.compile(r"\s*```(?:json)?[ \t]*\n(.*?)\s*```\s*", re.DOTALL)
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Prompt:
    """One request: its endpoint, its body, and what it is about in a reader's words."""

    endpoint: Endpoint
    body: Mapping[str, Any]
    about: str

    @property
    def content(self) -> str:
        """The body as it is sent, always the same for the same prompt: JSON in ASCII, keys in order."""
        return json.dumps(self.body, sort_keys=True, separators=(",", ":"))

    @property
    def n_characters(self) -> int:
        """Number of characters of text that the model is given to read."""
        texts = self.body.get("input", [message["content"] for message in self.body.get("messages", ())])
        return sum(map(len, [texts] if isinstance(texts, str) else texts))

    @property
    def path(self) -> Path:
        """Where its answer is kept."""
        digest = hashlib.sha256(f"{self.endpoint}\n{self.content}".encode()).hexdigest()
        return cache_folder() / "answers" / digest[:2] / f"{digest}.json"


@dataclass(frozen=True)
class Reply:
    """Reply of a service, and the model that it said it used."""

    said: Any
    model: str


class BrokenReply(Exception):  # noqa: N818 - an error only after the last attempt
    """No answer, or one that cannot be used; `wait_s` is what the service asks for before the next attempt."""

    def __init__(self, problem: str, wait_s: float | None = None, advice: str = "") -> None:
        super().__init__(problem)
        self.wait_s = wait_s
        self.advice = advice


def read_cached(prompt: Prompt, read: Callable[[Reply], T]) -> T | None:
    """Read the kept answer with `read`; None where there is none, or none that can be used (a warning)."""
    record = read_record(prompt.path)
    if record is None:
        return None
    try:
        return read(Reply(record["answer"], str(record["model"])))
    except (KeyError, BrokenReply) as error:
        _log.warning("the kept answer %s cannot be used (%s); it is requested again", prompt.path, error)
        return None


def cache_answer(prompt: Prompt, answer: Reply, base_url: str | None) -> None:
    """Keep an answer that could be used, with what was asked and where."""
    record = {
        "endpoint": prompt.endpoint,
        "asked": dict(prompt.body),
        "base_url": base_url,
        "model": answer.model,
        "answer": answer.said,
    }
    write_record(prompt.path, record)


def n_prompt_tokens(prompts: Iterable[Prompt]) -> int:
    """About how many tokens a model is given to read: a token for every four characters, rounded up."""
    return math.ceil(sum(prompt.n_characters for prompt in prompts) / CHARACTERS_A_TOKEN)


def n_tokens(texts: Iterable[str]) -> int:
    """About how many tokens texts have: a token for every four characters of all, rounded up."""
    return math.ceil(sum(map(len, texts)) / CHARACTERS_A_TOKEN)


def model_record(name: str, reported: Iterable[str]) -> dict[str, str]:
    """Record of a service's model that a run keeps: the name asked for, and the one that the service reported."""
    return {"name": name, "source": "service", "reported": ", ".join(sorted(set(reported) - {""}))}


def reported_model(payload: Mapping[str, Any]) -> str:
    """The model that an answer says it is from; empty where it does not say."""
    model = payload.get("model")
    return model if isinstance(model, str) else ""


def prompt_subject(what: str, text: str) -> str:
    """Subject of a prompt: `what` and the beginning of a text."""
    return f"{what} ({quote_beginning(text, _SHOWN)})"


def strip_fence(text: str) -> str:
    """JSON that stands bare or in a ```json fence, without the fence."""
    match = _FENCE.fullmatch(text)
    return match[1] if match else text


def quote_beginning(text: str, length: int) -> str:
    """The beginning of a text, on one line and in quotes; `nothing` where it is empty."""
    flat = " ".join(text.split())
    if not flat:
        return "nothing"
    return json.dumps(flat if len(flat) <= length else f"{flat[:length]}...", ensure_ascii=False)
