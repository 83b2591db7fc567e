"""Models that answer the cells of a grid, as a plan names them: `careful=service:llama3.2`, `plain=canned:file.csv`,
`small=local:google/flan-t5-small(num_beams=4)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from fcpair.errors import InputError, nearest
from fcpair.stages.questions import LONGEST_NAME

Source = Literal["service", "local", "canned"]
OPTIONS = ("max_new_tokens", "num_beams")
"""What a local model may be told in brackets: whole numbers, 1 or more."""
COLUMNS, SEVERAL, BY = ("row", "column", "reply"), "several", "by"
"""What a canned one may be told: how its columns are called, `several=first` where a cell has several replies, and in
place of the row's text a column that its metadata have, too (`by=item_id`).
"""
_EXPECTED = "expected NAME=service:MODEL, NAME=local:MODEL or NAME=canned:FILE"
_TOLD = re.compile(r"(.*?)\(([^()]*=[^()]*)\)", re.DOTALL)


@dataclass(frozen=True)
class Answerer:
    """A model: the `name` that it has in the study, and `of` which `source` its replies come.

    `service`: a chat model of the OpenAI-compatible service that the environment names. `local`: a model of
    transformers, a folder or a name, with `options` for how it decodes. `canned`: a table with the columns `row` and
    `reply`, and `column` where replies depend on it, or with others that `options` name in their place.
    """

    name: str
    source: Source
    of: str
    options: tuple[tuple[str, int | str], ...] = ()

    def __str__(self) -> str:
        told = ",".join(f"{name}={value}" for name, value in self.options)
        return f"{self.name}={self.source}:{self.of}{f'({told})' if told else ''}"

    def within(self, folder: Path) -> Answerer:
        """The same with its file, or the folder of a model, taken to be in a folder, wherever one is."""
        is_there = self.source == "canned" or (self.source == "local" and (folder / self.of).is_dir())
        return replace(self, of=str(folder / self.of)) if is_there else self


def parse_answerer(text: str) -> Answerer:
    """The model that `text` names; raises InputError for what cannot be read."""
    name, named, rest = text.partition("=")
    source, colon, of = rest.partition(":")
    name, source, of = name.strip(), source.strip(), of.strip()
    if not (named and colon and name and of):
        raise InputError(f"the model `{text}` cannot be read; {_EXPECTED}")
    if len(name) > LONGEST_NAME:
        raise InputError(f"the name of the model `{text}` is longer than {LONGEST_NAME} characters")
    if source not in get_args(Source):
        raise InputError(f"the model `{text}` has the source `{source}`; {nearest(source, list(get_args(Source)))}")
    if source in _READ and (told := _TOLD.fullmatch(of)):
        return Answerer(name, source, told[1].strip(), _READ[source](text, told[2]))  # type: ignore[arg-type]
    return Answerer(name, source, of)  # type: ignore[arg-type]


def _told(text: str, told: str, known: Sequence[str]) -> dict[str, str]:
    """What stands in the brackets of a model, by name; raises InputError for a name that is unknown or given twice."""
    found: dict[str, str] = {}
    for item in told.split(","):
        name, _, value = (part.strip() for part in item.partition("="))
        if name not in known:
            raise InputError(f"the model `{text}` has the option `{name}`; {nearest(name, known)}")
        if name in found or not value:
            raise InputError(f"the model `{text}` has `{item.strip()}`; expected a value, once")
        found[name] = value
    return found


def _decoding(text: str, told: str) -> tuple[tuple[str, int], ...]:
    found = _told(text, told, OPTIONS)
    for name, value in found.items():
        if not re.fullmatch("[1-9][0-9]{0,5}", value):
            raise InputError(f"the model `{text}` has `{name}={value}`; expected a whole number, 1 or more, once")
    return tuple((name, int(value)) for name, value in found.items())


def _columns(text: str, told: str) -> tuple[tuple[str, str], ...]:
    found = _told(text, told, (*COLUMNS, SEVERAL, BY))
    if {BY, COLUMNS[0]} <= set(found):
        raise InputError(f"the model `{text}` has `{BY}` and `{COLUMNS[0]}`; give one of them")
    if found.get(SEVERAL, "first") != "first":
        raise InputError(f"the model `{text}` has `{SEVERAL}={found[SEVERAL]}`; expected `{SEVERAL}=first`")
    return tuple(found.items())


_READ: Mapping[str, Callable[[str, str], tuple[tuple[str, int | str], ...]]] = {"local": _decoding, "canned": _columns}


def asked_of(columns: Sequence[str], answerers: Sequence[Answerer]) -> list[tuple[int, int]]:
    """Which column each model answers, as places `(column, model)`, by column.

    Where columns have the names of models, each model answers its own; a model that no column is named for answers all
    that are not some model's own. Raises InputError where a column would be answered by none.
    """
    names = {one.name: at for at, one in enumerate(answerers)}
    free = [at for at, one in enumerate(answerers) if one.name not in columns]
    asked = [
        (at, model) for at, column in enumerate(columns) for model in ([names[column]] if column in names else free)
    ]
    if lost := [column for at, column in enumerate(columns) if at not in dict(asked)]:
        raise InputError(
            f"no model answers the column `{lost[0]}`: each of {', '.join(names)} answers the column of its name; "
            "name a model for it, or one that no column is named for"
        )
    return asked
