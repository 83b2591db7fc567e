"""Models that answer the cells of a grid, as a plan names them: `careful=service:llama3.2`, `plain=canned:file.csv`,
`small=local:google/flan-t5-small(num_beams=4)`; and the prompts that they are asked by, with named places (`{row}`,
`{column}`, `{definition}`, `{examples}`, `{row.NAME}` for the row's metadata), and `{{` and `}}` for braces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from fcpair.errors import Finding, InputError, reject, suggest_name
from fcpair.param_values import check_rules
from fcpair.stages.questions import LONGEST_NAME

Source = Literal["service", "local", "canned"]
OPTIONS = ("max_new_tokens", "num_beams")  # what a local model may be told in brackets: whole numbers, 1 or more
# What a canned one may be told: how its columns are called, `several=first` where a cell has several replies, and
# in place of the row's text a column that its metadata have, too (`by=item_id`).
COLUMNS, SEVERAL, BY = ("row", "column", "reply"), "several", "by"
_OPTIONS_OF = {"local": OPTIONS, "canned": (*COLUMNS, SEVERAL, BY)}
_EXPECTED = "expected NAME=service:MODEL, NAME=local:MODEL or NAME=canned:FILE"
_BRACKETED = re.compile(r"(.*?)\(([^()]*=[^()]*)\)", re.DOTALL)


@dataclass(frozen=True)
class ModelSpec:
    """A model: the `name` that it has in the study, and `of` which `source` its replies come.

    `service`: a chat model of the service that the environment names. `local`: a model of transformers, a folder or a
    name. `canned`: a table with the columns `row` and `reply`, maybe `column`, or what `options` name instead.
    """

    name: str
    source: Source
    of: str
    options: tuple[tuple[str, int | str], ...] = ()

    def __str__(self) -> str:
        option_text = ",".join(f"{name}={value}" for name, value in self.options)
        return f"{self.name}={self.source}:{self.of}{f'({option_text})' if option_text else ''}"

    def resolve_in(self, folder: Path) -> ModelSpec:
        """The same with its file, or the folder of a model, taken to be in a folder, wherever one is."""
        is_local_file = self.source == "canned" or (self.source == "local" and (folder / self.of).is_dir())
        return replace(self, of=str(folder / self.of)) if is_local_file else self


def parse_model_spec(text: str) -> ModelSpec:
    """The model that `text` names; raises InputError for what cannot be read."""
    name, named, rest = text.partition("=")
    source, colon, of = rest.partition(":")
    name, source, of = name.strip(), source.strip(), of.strip()
    sources, place = list(get_args(Source)), f"the model `{text}`"
    check_rules(
        (not (named and colon and name and of), f"{place} cannot be read; {_EXPECTED}"),
        (len(name) > LONGEST_NAME, f"the name of {place} is longer than {LONGEST_NAME} characters"),
        (source not in sources, f"{place} has the source `{source}`; {suggest_name(source, sources)}"),
    )
    if source in _OPTIONS_OF and (bracketed := _BRACKETED.fullmatch(of)):
        return ModelSpec(name, source, bracketed[1].strip(), _parse_options(text, source, bracketed[2]))  # type: ignore[arg-type]
    return ModelSpec(name, source, of)  # type: ignore[arg-type]


def _parse_options(text: str, source: str, option_text: str) -> tuple[tuple[str, int | str], ...]:
    """Parse the options in a model's brackets; raises InputError for those that its source does not take."""
    options: dict[str, str] = {}
    allowed = _OPTIONS_OF[source]
    for item in option_text.split(","):
        name, _, value = (part.strip() for part in item.partition("="))
        if name not in allowed:
            raise InputError(f"the model `{text}` has the option `{name}`; {suggest_name(name, allowed)}")
        if name in options or not value:
            raise InputError(f"the model `{text}` has `{item.strip()}`; expected a value, once")
        options[name] = value
    if source == "local":
        for name, value in options.items():
            if not re.fullmatch("[1-9][0-9]{0,5}", value):
                raise InputError(f"the model `{text}` has `{name}={value}`; expected a whole number, 1 or more, once")
        return tuple((name, int(value)) for name, value in options.items())
    has_both, several = {BY, COLUMNS[0]} <= set(options), options.get(SEVERAL, "first")
    check_rules(
        (has_both, f"the model `{text}` has `{BY}` and `{COLUMNS[0]}`; give one of them"),
        (several != "first", f"the model `{text}` has `{SEVERAL}={several}`; expected `{SEVERAL}=first`"),
    )
    return tuple(options.items())


def match_columns(columns: Sequence[str], answerers: Sequence[ModelSpec]) -> list[tuple[int, int]]:
    """Column that each model answers, as places `(column, model)`, by column: its own where one has its name, else all
    that are not some model's own. Raises InputError where a column would be answered by none.
    """
    names = {answerer.name: at for at, answerer in enumerate(answerers)}
    free = [at for at, answerer in enumerate(answerers) if answerer.name not in columns]
    matches = [
        (at, model) for at, column in enumerate(columns) for model in ([names[column]] if column in names else free)
    ]
    if unanswered := [column for at, column in enumerate(columns) if at not in dict(matches)]:
        raise InputError(
            f"no model answers the column `{unanswered[0]}`: each of {', '.join(names)} answers the column of the "
            "same name; name a model after this column, or add one whose name is not a column's"
        )
    return matches


ROW, COLUMN, DEFINITION, EXAMPLES = "row", "column", "definition", "examples"
PLACES = (ROW, COLUMN, DEFINITION, EXAMPLES)
ROW_PREFIX = "row."
_PIECE = re.compile(r"\{\{|\}\}|\{([^{}\n]*)\}|[{}]")


def parse_places(prompt: str, prompt_name: str = "the prompt") -> set[str]:
    """The names of the places of a prompt. Raises InputError for all that is wrong with it: a place that is not known,
    with its line and the nearest known one; a brace by itself; no `{row}`.
    """
    places: set[str] = set()
    findings: list[Finding] = []
    for piece in _PIECE.finditer(prompt):
        if piece[0] in ("{{", "}}"):
            continue
        name, line = piece[1], prompt.count("\n", 0, piece.start()) + 1
        if name is None:
            findings.append(Finding(prompt_name, line, f"a single brace; write `{piece[0] * 2}` for one"))
        elif name not in PLACES and not (name.startswith(ROW_PREFIX) and len(name) > len(ROW_PREFIX)):
            hint = f"{suggest_name(name, PLACES)} (`{{row.NAME}}` is a column of the row's file)"
            findings.append(Finding(prompt_name, line, f"there is no placeholder `{{{name}}}`; {hint}"))
        else:
            places.add(name)
    if ROW not in places:
        findings.append(Finding(prompt_name, None, "a prompt without `{row}`, the placeholder for the text of the row"))
    reject(prompt_name, findings)
    return places


def row_columns(prompt: str) -> set[str]:
    """The names of the metadata of a row for which a prompt has a place."""
    names = {piece[1] for piece in _PIECE.finditer(prompt) if piece[1] is not None}
    return {name.removeprefix(ROW_PREFIX) for name in names if name.startswith(ROW_PREFIX)}


def fill_prompt(prompt: str, places: Mapping[str, str], row_metadata: Mapping[str, str]) -> str:
    """The prompt with its places filled; metadata that a row lacks leave theirs empty, and what is no place stays."""

    def fill_place(piece: re.Match[str]) -> str:
        if piece[1] is None:
            return piece[0][0]
        if piece[1].startswith(ROW_PREFIX):
            return row_metadata.get(piece[1].removeprefix(ROW_PREFIX), "")
        return places.get(piece[1], piece[0])

    return _PIECE.sub(fill_place, prompt)


def format_examples(examples: Iterable[tuple[str, str, str]]) -> str:
    """Examples as a prompt has them, parted by empty lines: of each the text, the answer and its type, a line each."""
    names = ("Hate speech", "Counter-narrative", "Type")
    return "\n\n".join(
        "\n".join(f"{name}: {' '.join(text.split())}" for name, text in zip(names, example, strict=True))
        for example in examples
    )
