"""Replies of models to cells of a grid: asked of a service or of a model on this machine, or read from a table."""

from __future__ import annotations

import copy
import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from fcpair.arrays import Floats
from fcpair.errors import InputError
from fcpair.files.tables.tabular import LINE, place_of, read_table
from fcpair.lazy import torch
from fcpair.models import service
from fcpair.models.cache import cache_folder, read_record, write_record
from fcpair.models.encode import longest_first
from fcpair.models.model_files import Model, resolve
from fcpair.models.service import BrokenReply, Prompt, Reply, n_tokens, prompt_subject
from fcpair.models.transformer import OWNER, load_writer, max_input_tokens, token_logprobs
from fcpair.stages.answers.model_spec import BY, COLUMNS, SEVERAL, ModelSpec
from fcpair.stages.answers.replies import ALL
from fcpair.stages.corpus.text_identity import identity

Progress = Callable[[int, int], None]


class Cell(NamedTuple):
    """Cell that a model is asked about: the texts of its row and column, the prompt, and the metadata of the row."""

    row: str
    column: str
    prompt: str = ""
    about: Mapping[str, str] = MappingProxyType({})


LENGTH_UNKNOWN = "no reply of the model is kept, so the length of its replies is unknown"


class RequestEstimate(NamedTuple):
    """Cost of asking a model: how many different `requests`, how many of them are answered already (`cached`), about
    how many tokens the others give it to read (`tokens_in`), and how many it will write (`tokens_out`): to each prompt
    as many as the cached replies have in the mean, None without any.
    """

    requests: int = 0
    cached: int = 0
    tokens_in: int = 0
    tokens_out: int | None = 0

    def cost(self, price_in: float, price_out: float) -> float | None:
        """The cost of what would be asked, at these prices of a million tokens; None where `undefined`."""
        if self.tokens_out is None:
            return None
        return (self.tokens_in * price_in + self.tokens_out * price_out) / 1_000_000

    @property
    def undefined(self) -> str | None:
        """The reason why it is not known what the model writes, and so what that costs; None where it is."""
        return LENGTH_UNKNOWN if self.tokens_out is None else None


MAX_TOP_TOKENS = 20  # of the likeliest tokens, whose probabilities a service tells


def format_probabilities(options: Sequence[str], shares: Sequence[float], mass: float) -> str:
    """Probabilities of options as a reply: a JSON object."""
    return json.dumps({**dict(zip(options, shares, strict=True)), ALL: mass}, ensure_ascii=False)


class _Prompted:
    """A model that is given the prompt of each cell; what it replied is kept on this machine, by the prompt."""

    def replies(self, cells: Sequence[Cell], progress: Progress | None = None) -> list[str | None]:
        """Replies of the model; only what was not asked before is asked. Raises what asking it does."""
        cells_by_prompt = {cell.prompt: cell for cell in cells}
        replies = {prompt: self._kept_reply(cell) for prompt, cell in cells_by_prompt.items()}
        missing, done = [prompt for prompt, reply in replies.items() if reply is None], 0
        for prompts, texts in self._ask([cells_by_prompt[prompt] for prompt in missing]) if missing else ():
            replies.update(zip(prompts, texts, strict=True))
            done += len(prompts)
            if progress:
                progress(done, len(missing))
        return [replies[cell.prompt] for cell in cells]

    def estimate(self, cells: Sequence[Cell]) -> RequestEstimate:
        """Estimate what is still to be asked."""
        replies = {cell.prompt: self._kept_reply(cell) for cell in {cell.prompt: cell for cell in cells}.values()}
        missing = [prompt for prompt, reply in replies.items() if reply is None]
        known = [reply for reply in replies.values() if reply is not None]
        n_out = round(n_tokens(known) / len(known) * len(missing)) if known else None if missing else 0
        return RequestEstimate(len(replies), len(known), n_tokens(missing), n_out)

    def _kept_reply(self, cell: Cell) -> str | None:
        raise NotImplementedError

    def _ask(self, cells: Sequence[Cell]) -> Iterator[tuple[list[str], list[str]]]:
        """Yield the prompts of some of the cells, and the replies to them, which are kept."""
        raise NotImplementedError


@dataclass(frozen=True)
class Chat(_Prompted):
    """A chat model of a service, asked at temperature 0 and seed 0; `prompt` is that of the round, places and all. With
    `options`, a reply has the probability of each as the next token, among all that are told.
    """

    model: str
    prompt: str
    options: tuple[str, ...] = ()

    def record(self) -> dict[str, str]:
        """The model's name, and the prompt with its digest."""
        prompt = {"prompt": self.prompt, "sha256": hashlib.sha256(self.prompt.encode()).hexdigest()}
        return {**service.model_record(self.model, ()), **prompt, "temperature": "0", "seed": "0"}

    def request(self, cell: Cell) -> Prompt:
        """Build the prompt that the service is sent about a cell."""
        turn = {"role": "user", "content": cell.prompt}
        of_options = {"logprobs": True, "top_logprobs": MAX_TOP_TOKENS, "max_tokens": 1} if self.options else {}
        body = {"model": self.model, "messages": [turn], "temperature": 0, "seed": 0, **of_options}
        return Prompt("chat/completions", body, prompt_subject("the row", cell.row))

    def _kept_reply(self, cell: Cell) -> str | None:
        return service.read_cached(self.request(cell), self._read_answer)

    def _ask(self, cells: Sequence[Cell]) -> Iterator[tuple[list[str], list[str]]]:
        extract = _token_logprobs if self.options else service.message_content
        for cell in cells:
            yield [cell.prompt], [service.query_and_cache(self.request(cell), extract, self._read_answer)]

    def _read_answer(self, answer: Reply) -> str:
        if self.options:
            shares = dict.fromkeys(self.options, 0.0)
            for token, log in answer.said:
                if token.strip() in shares:  # a space before it is ignored
                    shares[token.strip()] += math.exp(log)
            mass = sum(shares.values())
            return format_probabilities(self.options, [of / mass if mass else 0.0 for of in shares.values()], mass)
        if not isinstance(answer.said, str):
            raise BrokenReply("it answered with a message without content")
        return answer.said


def _token_logprobs(payload: Any) -> Any:
    try:
        tokens = payload["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        return [[str(token["token"]), float(token["logprob"])] for token in tokens]
    except (KeyError, IndexError, TypeError, ValueError):
        raise BrokenReply(
            "it answered without the probabilities of tokens", advice="ask for generated text, or another service"
        ) from None


@dataclass(frozen=True)
class Canned:
    """Replies that were made elsewhere, by the text of the row or by its metadata `by`, and by the column's text."""

    path: Path
    sha256: str
    by_cell: Mapping[tuple[str, ...], str]
    by: str = ""

    @classmethod
    def read(cls, path: str | Path, options: Mapping[str, object] = MappingProxyType({})) -> Canned:
        """Read a table with the columns `row` and `reply`, and `column` where replies depend on it. `options` may name
        other columns, say that of `several` replies to a cell the first counts, and name with `by` a column known of
        each row, in place of its text. Raises InputError for what cannot be read, and where a cell has two replies
        otherwise.
        """
        row, column, reply_column = (str(options.get(name, name)) for name in COLUMNS)
        by = str(options.get(BY, ""))
        needed = (by or row, reply_column, *([column] if "column" in options else []))
        table = read_table(path, needed, optional=(column,))
        columns = [LINE, reply_column, *(name for name in (by or row, column) if name in table.columns)]
        by_cell: dict[tuple[str, ...], str] = {}
        for line, reply, *cell in zip(*(table[name] for name in columns), strict=True):
            if by_cell.setdefault(tuple(map(identity, cell)), reply) != reply and SEVERAL not in options:
                raise InputError(f"{place_of(table)}:{line}: this cell has another reply in an earlier line; keep one")
        return cls(Path(path), hashlib.sha256(Path(path).read_bytes()).hexdigest(), by_cell, by)

    def replies(self, cells: Sequence[Cell], progress: Progress | None = None) -> list[str | None]:
        """The reply that the table has for each cell."""
        rows = (identity(cell.about.get(self.by, "") if self.by else cell.row) for cell in cells)
        keys = [(row, identity(cell.column)) for row, cell in zip(rows, cells, strict=True)]
        return [self.by_cell.get(key[:1], self.by_cell.get(key)) for key in keys]

    def estimate(self, cells: Sequence[Cell]) -> RequestEstimate:
        """Nothing is asked of anybody."""
        return RequestEstimate()

    def record(self) -> dict[str, str]:
        """The file, and its digest."""
        return {"name": self.path.name, "source": "canned", "sha256": self.sha256}


@dataclass(frozen=True)
class Local(_Prompted):
    """A model of transformers on this machine, with the round's `prompt`; with `options`, replies have their
    probabilities.
    """

    model: Model
    prompt: str
    decoding: Decoding
    options: tuple[str, ...] = ()

    def record(self) -> dict[str, str]:
        """The model with its digests, how it decodes, and the prompt with its own digest."""
        decoding = {name: str(value) for name, value in asdict(self.decoding).items()}
        prompt = {"prompt": self.prompt, "prompt_sha256": hashlib.sha256(self.prompt.encode()).hexdigest()}
        return {**self.model.record(), **decoding, **prompt}

    def _kept_reply(self, cell: Cell) -> str | None:
        return (read_record(self._path(cell.prompt)) or {}).get("reply")

    def _ask(self, cells: Sequence[Cell]) -> Iterator[tuple[list[str], list[str]]]:
        prompts = [cell.prompt for cell in cells]
        batches = generate_texts(prompts, self.model, self.decoding)  # which begins with the first batch
        if self.options:
            held = option_probabilities(prompts, self.options, self.model)
            batches = ((batch, [format_probabilities(self.options, *each) for each in of]) for batch, of in held)
        for batch, replies in batches:
            for prompt, reply in zip(batch, replies, strict=True):
                write_record(self._path(prompt), {"reply": reply})
            yield batch, replies

    def _path(self, prompt: str) -> Path:
        options = f" {self.options}" if self.options else ""
        digest = hashlib.sha256(f"{self.model.key} {self.decoding}{options}\n{prompt}".encode()).hexdigest()
        return cache_folder() / "written" / digest[:2] / f"{digest}.json"


AnsweringModel = Chat | Local | Canned


def open_model(spec: ModelSpec, prompt: str, options: tuple[str, ...] = ()) -> AnsweringModel:
    """Open a model for its replies or, with `options`, their probabilities; raises InputError for its file, or
    ModelError.
    """
    if spec.source == "service":
        return Chat(spec.of, prompt, options)
    if spec.source == "local":
        return Local(resolve(spec.of, OWNER), prompt, Decoding(**dict(spec.options)), options)  # type: ignore[arg-type]
    return Canned.read(spec.of, dict(spec.options))


BATCH = 8
_SAMPLING = ("temperature", "top_p", "top_k", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff")


@dataclass(frozen=True)
class Decoding:
    """Decoding without chance: the likeliest token each time, or with several beams the likeliest text they find."""

    max_new_tokens: int = 200
    num_beams: int = 1


def generate_texts(prompts: Sequence[str], model: Model, decoding: Decoding) -> Iterator[tuple[list[str], list[str]]]:
    """Some of the prompts and what the model writes after each, batch after batch, the longest first. A tokenizer with
    a template for chats takes a prompt for what a user says. Raises ModelError where the model cannot be had, or does
    not write; InputError where a prompt leaves no room for a reply, or has no token that it knows.
    """
    network, tokenizer, is_causal = load_writer(model)
    tokens = _tokenize(prompts, network, tokenizer, decoding.max_new_tokens if is_causal else 0)
    # The model's own settings of tokens, such as the one that begins a reply, without any sampling.
    settings = copy.deepcopy(network.generation_config)
    own = {**dict.fromkeys(_SAMPLING), "do_sample": False, "max_length": None, "num_return_sequences": 1}
    for name, value in {**own, **asdict(decoding)}.items():
        setattr(settings, name, value)
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


def _tokenize(prompts: Sequence[str], network: Any, tokenizer: Any, room: int) -> list[list[int]]:
    max_tokens, is_chat = max_input_tokens(network, tokenizer) - room, bool(getattr(tokenizer, "chat_template", None))
    tokens = []
    for prompt in prompts:
        text = prompt
        if is_chat:
            message = [{"role": "user", "content": prompt}]
            text = str(tokenizer.apply_chat_template(message, add_generation_prompt=True, tokenize=False))
        tokens.append(tokenizer(text, add_special_tokens=not is_chat, verbose=False)["input_ids"])
        if len(tokens[-1]) > max_tokens:
            raise InputError(
                f"{prompt_subject('the prompt', prompt)} has {len(tokens[-1]):,} tokens, and the model has room "
                f"for {max(max_tokens, 0):,} besides its reply; shorten the prompt, give fewer examples, or lower "
                "`max_new_tokens`"
            )
        if not tokens[-1]:
            raise InputError(f"{prompt_subject('the prompt', prompt)} has no token that the model knows")
    return tokens


OptionProbabilities = tuple[tuple[float, ...], float]
"""The probability of each option among the options, `(n_options,)`, and that of all of them among everything."""


def normalise(logs: Floats) -> OptionProbabilities:
    """The probabilities of options from their log-likelihoods, `(n_options,)`."""
    if not np.isfinite(most := float(logs.max())):
        return (0.0,) * len(logs), 0.0
    raised = np.exp(logs - most)
    return tuple((raised / raised.sum()).tolist()), min(1.0, float(np.exp(most) * raised.sum()))


def option_probabilities(
    prompts: Sequence[str], options: Sequence[str], model: Model
) -> Iterator[tuple[list[str], list[OptionProbabilities]]]:
    """Some of the prompts and what the model holds of the options after each, as shares, `(n_options,)`, and of all
    together, batch after batch. An option's likelihood is that of all its tokens, behind a space where the prompt does
    not end in one; of a model for chats, at the beginning of its turn. Raises as `generate_texts` does.
    """
    network, tokenizer, is_causal = load_writer(model)
    # Where there is a template for chats, an option begins the model's turn.
    is_chat = bool(getattr(tokenizer, "chat_template", None))
    separated = (
        " " + option if is_causal and not is_chat and not prompts[0][-1:].isspace() else option for option in options
    )
    option_tokens = [tokenizer(option, add_special_tokens=False, verbose=False)["input_ids"] for option in separated]
    tokens = _tokenize(prompts, network, tokenizer, max(map(len, option_tokens)) if is_causal else 0)
    loglik = _causal_loglik if is_causal else _seq2seq_loglik
    for at in longest_first([len(item) for item in tokens], BATCH):
        logs = loglik(network, tokenizer, [tokens[item] for item in at], option_tokens)
        yield [prompts[item] for item in at], [normalise(item) for item in logs]


def _causal_loglik(network: Any, tokenizer: Any, tokens: list[list[int]], option_tokens: list[list[int]]) -> Floats:
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
