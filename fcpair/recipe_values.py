"""The values of a recipe: how each kind of parameter is written in TOML, and what is refused.

Messages begin with the place of a value. Bounds are checked by `param_values`, as those of all parameters are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from fcpair.errors import InputError, RecipeError
from fcpair.params import read_shares
from fcpair.plans import Grids, PrintedForm, Quota
from fcpair.practice import COLUMNS, KnownItems
from fcpair.round_options import Definitions, Models
from fcpair.stages.answers.model_spec import parse_model_spec
from fcpair.stages.corpus.text_identity import NO_TEXT
from fcpair.stages.questions import Form
from fcpair.stages.questions.labels import read_choices, read_labels
from fcpair.tier_plans import OwnTiers
from fcpair.words import TABLES, Nouns, Wordings


@contextmanager
def prefix_errors(place: str) -> Iterator[None]:
    """Have an InputError begin with its place in the recipe, and be a RecipeError."""
    try:
        yield
    except InputError as error:
        raise RecipeError(f"{place}: {error}") from None


def check_texts(place: str, value: Any) -> None:
    """Raise RecipeError for a text, or a list with one, that has a NUL character."""
    if any(isinstance(text, str) and NO_TEXT.search(text) for text in (value if isinstance(value, list) else [value])):
        raise RecipeError(f"{place} contains a NUL character; remove it")


def read_value(place: str, value: Any, kind: Any, folder: Path) -> Any:
    """The value of a parameter of the type `kind`, which is no table of parameters; paths are relative to `folder`.

    Raises:
        RecipeError: a value of another kind, or one that cannot be read.
    """
    if convert := _CONVERTERS.get(kind) or _CONVERTERS.get(get_origin(kind)):
        return convert(place, value, kind, folder)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise RecipeError(f"{place} is `{value}`; expected {kind.__name__}")
    return value


def expand_variables(place: str, value: str) -> str:
    """A value with environment variables in place of their names, and `$` for each `$$`."""
    parts = [os.path.expandvars(part) for part in value.split("$$")]
    if any("$" in part for part in parts):
        raise RecipeError(f"{place} is `{value}`, but that environment variable is not set; write $$ for a $")
    return "$".join(parts)


def _path(place: str, value: Any, _kind: Any, folder: Path) -> Path:
    if not isinstance(value, str):
        raise RecipeError(f"{place} is `{value}`; expected Path")
    return folder / expand_variables(place, value)


def _paths(place: str, value: Any, kind: Any, folder: Path) -> tuple[Path, ...]:
    return tuple(folder / name for name in _names(place, value, kind, folder))


def _choice(place: str, value: Any, kind: Any, _folder: Path) -> Any:
    if value not in get_args(kind):
        raise RecipeError(f"{place} is `{value}`; expected one of {', '.join(get_args(kind))}")
    return value


def _labels(place: str, value: Any, _kind: Any, _folder: Path) -> str:
    written = isinstance(value, str)
    if not written and not (isinstance(value, list) and all(isinstance(choice, dict) for choice in value)):
        raise RecipeError(f"{place} must be a list of tables, or a question such as one_of(no,unsure?,yes+)")
    with prefix_errors(place):
        return str(read_labels(value) if written else read_choices(value))


def _form(place: str, value: Any, _kind: Any, _folder: Path) -> str:
    if not isinstance(value, dict):
        raise RecipeError(f"{place} must be a question such as one_of(no,yes+), or a table of questions by name")
    with prefix_errors(place):
        return str(Form.from_table(value))


def _models(place: str, value: Any, kind: Any, folder: Path) -> tuple[str, ...]:
    names = _names(place, value, kind, folder)
    with prefix_errors(place):
        return tuple(str(parse_model_spec(name).resolve_in(folder.absolute())) for name in names)


def _groups(place: str, value: Any, _kind: Any, _folder: Path) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list) or not all(isinstance(group, list) for group in value):
        raise RecipeError(f"{place} must be a list of lists of names")
    return tuple(tuple(str(name) for name in group) for group in value)


def _names(place: str, value: Any, _kind: Any, _folder: Path) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise RecipeError(f"{place} must be a list of names")
    return tuple(expand_variables(place, name) for name in value)


def _grids(place: str, value: Any, _kind: Any, _folder: Path) -> str | tuple[str, ...]:
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise RecipeError(f"{place} must be the name of a grid, or a list of names")
    return tuple(value)


def _quota(place: str, value: Any, _kind: Any, _folder: Path) -> dict[str, int]:
    if not isinstance(value, dict) or not all(type(n) is int for n in value.values()):
        raise RecipeError(f"{place} must be a table such as {{women = 20, migrants = 20}}")
    return dict(value)


def _definitions(place: str, value: Any, _kind: Any, _folder: Path) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise RecipeError(f'{place} must be a table such as {{humour = "a joke that hurts nobody"}}')
    return dict(value)


def _words(place: str, value: Any, _kind: Any, _folder: Path) -> dict[str, Any]:
    """A table of [words]; raises all that is wrong with it as one group."""
    if not isinstance(value, dict):
        raise RecipeError(f'{place} must be a table, such as {{ fit = "Does it fit?" }}')
    problems = list(TABLES[place.rpartition(" ")[2]](value))
    if problems:
        raise ExceptionGroup("words that cannot be used", [RecipeError(f"{place}: {problem}") for problem in problems])
    return dict(value)


def _own_tiers(place: str, value: Any, _kind: Any, _folder: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RecipeError(f"{place} must be a table of tiers, such as {{platinum = {{labels = 3}}}}")
    return dict(value)


def _known_items(place: str, value: Any, _kind: Any, _folder: Path) -> tuple[dict[str, str], ...]:
    items = value if isinstance(value, list) else [value]
    if not all(isinstance(one, dict) and all(isinstance(cell, str) for cell in one.values()) for one in items):
        raise RecipeError(f"{place} must be a list of tables with {', '.join(COLUMNS)}")
    return tuple(map(dict, items))


def _shares(place: str, value: Any, _kind: Any, _folder: Path) -> dict[int, float]:
    if not isinstance(value, dict):
        raise RecipeError(f"{place} must be a table such as {{2 = 0.126, 3 = 0.05}}")
    with prefix_errors(place):
        return read_shares(value.items())


_CONVERTERS: dict[Any, Callable[[str, Any, Any, Path], Any]] = {
    Path: _path,
    tuple[Path, ...]: _paths,
    tuple[str, ...]: _names,
    PrintedForm: _form,
    Models: _models,
    Quota: _quota,
    Definitions: _definitions,
    Nouns: _words,
    OwnTiers: _own_tiers,
    Wordings: _words,
    KnownItems: _known_items,
    Grids: _grids,
    Literal: _choice,
    Annotated: _labels,
    tuple: _groups,
    Mapping: _shares,
}
