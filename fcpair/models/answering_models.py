"""Replies of models to cells of a grid: asked of a service and kept, or read from a table of canned ones."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from fcpair.errors import InputError
from fcpair.files.tables.tabular import LINE, place_of, read_table
from fcpair.models.cache import cache_folder, read_record, write_record
from fcpair.models.local_generation import Decoding, write
from fcpair.models.model_files import Model, resolve
from fcpair.models.option_likelihoods import option_shares
from fcpair.models.prompt import BrokenReply, Prompt, Reply, about, keep, model_record, n_tokens, recall, reported
from fcpair.models.service import Service
from fcpair.models.transformer import OWNER
from fcpair.stages.answers.model_spec import BY, COLUMNS, SEVERAL, Answerer
from fcpair.stages.corpus.text_identity import identity

Progress = Callable[[int, int], None]


class Cell(NamedTuple):
    """What a model is asked about: the texts of a cell, the row's and the column's, the prompt that has them, and the
    metadata of the row.
    """

    row: str
    column: str
    prompt: str = ""
    about: Mapping[str, str] = MappingProxyType({})


class Outlook(NamedTuple):
    """What asking a model takes: how many different `requests`, how many of them are answered already (`cached`), and
    about how many tokens the others give it to read (`tokens_in`).

    `tokens_out` is about how many tokens it will write: to each prompt as many as the cached replies have in the mean.
    Without cached replies it is None, since nothing says how long its replies are.
    """

    requests: int = 0
    cached: int = 0
    tokens_in: int = 0
    tokens_out: int | None = 0

    @classmethod
    def of(cls, said: Mapping[str, str | None]) -> Outlook:
        """The outlook of prompts, of each of which the reply is known, or None."""
        missing = [prompt for prompt, reply in said.items() if reply is None]
        known = [reply for reply in said.values() if reply is not None]
        out = 0
        if missing and not known:
            return cls(len(said), 0, n_tokens(missing), None)
        if missing:
            out = round(n_tokens(known) / len(known) * len(missing))
        return cls(len(said), len(known), n_tokens(missing), out)


class Speaker(Protocol):
    """A model that can be asked."""

    def replies(self, cells: Sequence[Cell], progress: Progress | None = None) -> list[str | None]:
        """What it says of each cell, verbatim; None where it has nothing to say of it."""

    def outlook(self, cells: Sequence[Cell]) -> Outlook:
        """What asking it of these cells takes; nothing is asked for it."""

    def record(self) -> dict[str, str]:
        """Which model it is, as a study keeps it: `name`, `source`, and what of its making has a digest."""


ALL = "(all)"  # beside the options: the probability that they have together, among everything that could be said
MOST_TOLD = 20  # of the likeliest tokens, whose probabilities a service tells


def as_reply(options: Sequence[str], shares: Sequence[float], mass: float) -> str:
    """Probabilities of options as a reply: a JSON object."""
    return json.dumps({**dict(zip(options, shares, strict=True)), ALL: mass}, ensure_ascii=False)


@dataclass(frozen=True)
class Chat:
    """A chat model of a service, asked at temperature 0 and seed 0; `prompt` is that of the round, places and all.

    Where there are `options`, a reply has the probability of each as the next token, among all that are told.
    """

    model: str
    prompt: str
    options: tuple[str, ...] = ()

    def replies(self, cells: Sequence[Cell], progress: Progress | None = None) -> list[str | None]:
        """What the service says; only what was not asked before is asked. Raises ServiceError where it says nothing."""
        said = self._kept(cells)
        asked = {one.prompt: self.asked(one) for one in cells}
        missing = [prompt for prompt, reply in said.items() if reply is None]
        for done, prompt in enumerate(missing, 1):
            said[prompt] = self._ask(asked[prompt])
            if progress:
                progress(done, len(missing))
        return [said[one.prompt] for one in cells]

    def outlook(self, cells: Sequence[Cell]) -> Outlook:
        """What is to be asked of the service."""
        return Outlook.of(self._kept(cells))

    def _kept(self, cells: Sequence[Cell]) -> dict[str, str | None]:
        """Of each different prompt what the service said, None where it has not been asked."""
        asked = {one.prompt: self.asked(one) for one in cells}
        return {prompt: recall(one, self._read) for prompt, one in asked.items()}

    def record(self) -> dict[str, str]:
        """The model's name, and the prompt with its digest."""
        digest = hashlib.sha256(self.prompt.encode()).hexdigest()
        return {
            **model_record(self.model, ()),
            "prompt": self.prompt,
            "sha256": digest,
            "temperature": "0",
            "seed": "0",
        }

    def asked(self, cell: Cell) -> Prompt:
        """What the service is sent about a cell."""
        turn = {"role": "user", "content": cell.prompt}
        body: dict[str, Any] = {"model": self.model, "messages": [turn], "temperature": 0, "seed": 0}
        if self.options:
            body |= {"logprobs": True, "top_logprobs": MOST_TOLD, "max_tokens": 1}
        return Prompt("chat/completions", body, about("the row", cell.row))

    def _ask(self, prompt: Prompt) -> str:
        def checked(payload: Any) -> tuple[Reply, str]:
            answer = Reply(_told(payload) if self.options else _message(payload), reported(payload))
            return answer, self._read(answer)

        service = Service.from_environment()
        answer, content = service.ask(prompt, checked)
        keep(prompt, answer, service.base_url)
        return content

    def _read(self, answer: Reply) -> str:
        return _probabilities(answer, self.options) if self.options else _content(answer)


def _message(payload: Any) -> Any:
    try:
        return payload["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        raise BrokenReply("it answered without the content of a message") from None


def _content(answer: Reply) -> str:
    if not isinstance(answer.said, str):
        raise BrokenReply("it answered with a message without content")
    return answer.said


def _told(payload: Any) -> Any:
    """The likeliest tokens at the first place, with their log-probabilities."""
    try:
        told = payload["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        return [[str(one["token"]), float(one["logprob"])] for one in told]
    except (KeyError, IndexError, TypeError, ValueError):
        raise BrokenReply(
            "it answered without the probabilities of tokens", advice="ask for generated text, or another service"
        ) from None


def _probabilities(answer: Reply, options: Sequence[str]) -> str:
    """What tokens say of options; a space before one is passed over."""
    found = dict.fromkeys(options, 0.0)
    for token, log in answer.said:
        if token.strip() in found:
            found[token.strip()] += math.exp(log)
    mass = sum(found.values())
    return as_reply(options, [one / mass if mass else 0.0 for one in found.values()], mass)


@dataclass(frozen=True)
class Canned:
    """Replies that were made elsewhere, by the text of the row or by its metadata `by`, and by the column's text."""

    path: Path
    sha256: str
    by_cell: Mapping[tuple[str, ...], str]
    by: str = ""

    @classmethod
    def read(cls, path: str | Path, options: Mapping[str, object] = MappingProxyType({})) -> Canned:
        """Read a table with the columns `row` and `reply`, and `column` where replies depend on it.

        `options` may name other columns in their place, say that of `several` replies to a cell the first counts, and
        name with `by` a column that is known of each row as well, in place of its text. Raises InputError for what
        cannot be read, and where a cell has two replies otherwise.
        """
        row, column, said = (str(options.get(name, name)) for name in COLUMNS)
        by = str(options.get(BY, ""))
        table = read_table(path, (by or row, said, *([column] if "column" in options else [])), known=(column,))
        columns = [name for name in (by or row, column) if name in table.columns]
        by_cell: dict[tuple[str, ...], str] = {}
        for line, reply, *cell in zip(table[LINE], table[said], *(table[name] for name in columns), strict=True):
            key = tuple(map(identity, cell))
            if by_cell.setdefault(key, reply) != reply and SEVERAL not in options:
                raise InputError(f"{place_of(table)}:{line}: this cell has another reply in a line before; leave one")
        return cls(Path(path), hashlib.sha256(Path(path).read_bytes()).hexdigest(), by_cell, by)

    def replies(self, cells: Sequence[Cell], progress: Progress | None = None) -> list[str | None]:
        """The reply that the table has for each cell."""
        keys = ((identity(one.about.get(self.by, "") if self.by else one.row), identity(one.column)) for one in cells)
        return [self.by_cell.get(key[:1], self.by_cell.get(key)) for key in keys]

    def outlook(self, cells: Sequence[Cell]) -> Outlook:
        """Nothing is asked of anybody."""
        return Outlook()

    def record(self) -> dict[str, str]:
        """The file, and its digest."""
        return {"name": self.path.name, "source": "canned", "sha256": self.sha256}


@dataclass(frozen=True)
class Local:
    """A model of transformers on this machine; `prompt` is that of the round.

    Where there are `options`, a reply has the probability of each behind the prompt.
    """

    model: Model
    prompt: str
    decoding: Decoding
    options: tuple[str, ...] = ()

    def replies(self, cells: Sequence[Cell], progress: Progress | None = None) -> list[str | None]:
        """What the model writes after the prompt of each cell; the same prompt is never given to it again here.

        Raises what `local_generation.write` does.
        """
        said, done = self._kept(cells), 0
        missing = [prompt for prompt, reply in said.items() if reply is None]
        for prompts, written in self._say(missing) if missing else ():
            for prompt, reply in zip(prompts, written, strict=True):
                write_record(self._path(prompt), {"reply": reply})
                said[prompt] = reply
            done += len(prompts)
            if progress:
                progress(done, len(missing))
        return [said[one.prompt] for one in cells]

    def _say(self, prompts: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
        if not self.options:
            yield from write(prompts, self.model, self.decoding)
            return
        for some, told in option_shares(prompts, self.options, self.model):
            yield some, [as_reply(self.options, *one) for one in told]

    def outlook(self, cells: Sequence[Cell]) -> Outlook:
        """What is to be written."""
        return Outlook.of(self._kept(cells))

    def record(self) -> dict[str, str]:
        """The model with its digests, how it decodes, and the prompt with its own digest."""
        decoding = {name: str(value) for name, value in asdict(self.decoding).items()}
        return {**self.model.record(), **decoding, **_prompt_record(self.prompt)}

    def _kept(self, cells: Sequence[Cell]) -> dict[str, str | None]:
        prompts = dict.fromkeys(one.prompt for one in cells)
        return {one: (read_record(self._path(one)) or {}).get("reply") for one in prompts}

    def _path(self, prompt: str) -> Path:
        digest = hashlib.sha256(f"{self.model.key} {self.decoding}{self._asks}\n{prompt}".encode()).hexdigest()
        return cache_folder() / "written" / digest[:2] / f"{digest}.json"

    @property
    def _asks(self) -> str:
        return f" {self.options}" if self.options else ""


def _prompt_record(prompt: str) -> dict[str, str]:
    return {"prompt": prompt, "prompt_sha256": hashlib.sha256(prompt.encode()).hexdigest()}


def speaker(answerer: Answerer, prompt: str, options: tuple[str, ...] = ()) -> Speaker:
    """What is asked for the replies of a model; where there are `options`, for their probabilities.

    Raises:
        InputError: its file cannot be read.
        ModelError: the model is not on this machine and cannot be had.
    """
    if answerer.source == "service":
        return Chat(answerer.of, prompt, options)
    if answerer.source == "local":
        decoding = Decoding(**dict(answerer.options))  # type: ignore[arg-type]
        return Local(resolve(answerer.of, OWNER), prompt, decoding, options)
    return Canned.read(answerer.of, dict(answerer.options))
