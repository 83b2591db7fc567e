"""Replies of models to cells of a grid: asked of a service and kept, or read from a table of canned ones."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from fcpair.errors import InputError
from fcpair.files.tabular import LINE, place_of, read_table
from fcpair.models.prompt import BrokenReply, Prompt, Reply, about, keep, model_record, recall, reported
from fcpair.models.service import Service
from fcpair.stages.answerer import Answerer
from fcpair.stages.spelling import identity

Progress = Callable[[int, int], None]
Cell = tuple[str, str]
"""The texts of a cell: the row's and the column's."""


class Speaker(Protocol):
    """A model that can be asked."""

    def replies(self, cells: Sequence[Cell], progress: Progress | None = None) -> list[str | None]:
        """What it says of each cell, verbatim; None where it has nothing to say of it."""

    def record(self) -> dict[str, str]:
        """Which model it is, as a study keeps it: `name`, `source`, and what of its making has a digest."""


@dataclass(frozen=True)
class Chat:
    """A chat model of a service, asked at temperature 0 and seed 0 by a prompt with `{row}` and `{column}` in it."""

    model: str
    prompt: str

    def replies(self, cells: Sequence[Cell], progress: Progress | None = None) -> list[str | None]:
        """What the service says; only what was not asked before is asked. Raises ServiceError where it says nothing."""
        asked = [self._prompt(one) for one in cells]
        said = [recall(one, _content) for one in asked]
        missing = [at for at, one in enumerate(said) if one is None]
        for done, at in enumerate(missing, 1):
            said[at] = _ask(asked[at])
            if progress:
                progress(done, len(missing))
        return list(said)

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

    def _prompt(self, cell: Cell) -> Prompt:
        row, column = cell
        content = self.prompt.replace("{row}", row).replace("{column}", column)
        body = {"model": self.model, "messages": [{"role": "user", "content": content}], "temperature": 0, "seed": 0}
        return Prompt("chat/completions", body, about("the row", row))


def _ask(prompt: Prompt) -> str:
    def checked(payload: Any) -> tuple[Reply, str]:
        try:
            answer = Reply(payload["choices"][0]["message"]["content"], reported(payload))
        except (KeyError, IndexError, TypeError):
            raise BrokenReply("it answered without the content of a message") from None
        return answer, _content(answer)

    service = Service.from_environment()
    answer, content = service.ask(prompt, checked)
    keep(prompt, answer, service.base_url)
    return content


def _content(answer: Reply) -> str:
    if not isinstance(answer.said, str) or not answer.said.strip():
        raise BrokenReply("it answered with a message without content")
    return answer.said.strip()


@dataclass(frozen=True)
class Canned:
    """Replies that were made elsewhere, by the text of the row, or of the row and the column."""

    path: Path
    sha256: str
    by_cell: Mapping[tuple[str, ...], str]

    @classmethod
    def read(cls, path: str | Path) -> Canned:
        """Read a table with the columns `row` and `reply`, and `column` where replies depend on it.

        Raises InputError for what cannot be read, and where a cell has two replies.
        """
        table = read_table(path, ("row", "reply"), known=("column",))
        columns = [name for name in ("row", "column") if name in table.columns]
        by_cell: dict[tuple[str, ...], str] = {}
        for line, reply, *cell in zip(table[LINE], table["reply"], *(table[name] for name in columns), strict=True):
            key = tuple(map(identity, cell))
            if by_cell.setdefault(key, reply) != reply:
                raise InputError(f"{place_of(table)}:{line}: this cell has another reply in a line before; leave one")
        return cls(Path(path), hashlib.sha256(Path(path).read_bytes()).hexdigest(), by_cell)

    def replies(self, cells: Sequence[Cell], progress: Progress | None = None) -> list[str | None]:
        """The reply that the table has for each cell."""
        return [
            self.by_cell.get((identity(row),), self.by_cell.get((identity(row), identity(column)))) or None
            for row, column in cells
        ]

    def record(self) -> dict[str, str]:
        """The file, and its digest."""
        return {"name": self.path.name, "source": "canned", "sha256": self.sha256}


def speaker(answerer: Answerer, prompt: str) -> Speaker:
    """What is asked for the replies of a model; raises InputError where its file cannot be read."""
    return Chat(answerer.of, prompt) if answerer.source == "service" else Canned.read(answerer.of)
