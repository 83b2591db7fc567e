"""The table of all options: one meaning and one type for each name, and the page that has them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest

from docs.options import (
    PAGE,
    SECTIONS,
    OptionUse,
    format_options,
    head_of,
    list_commands,
    list_options,
    page,
    parameters,
)
from fcpair.cli import main
from fcpair.cli.acts import ACTS
from fcpair.errors import RecipeError
from fcpair.files.release.exports import EXPORTS, ExportKind
from fcpair.grid import CalibrationRound, Desk, Examples, Grid, Settings, Sheets, Survey
from fcpair.recipe import Recipe, load_recipe
from fcpair.steps.release.export import Exports
from fcpair.study import Study

PARTS = {"calibration": CalibrationRound, "desk": Desk, "examples": Examples, "save": Settings}
PUBLIC = (Study, Exports, Grid, CalibrationRound, Desk, Examples, Settings, Sheets, Survey)
COMMANDS = dict(list_commands(main))
WORDS_OF_RECIPE = {"study": "setup", "import": "import_"}  # what Python calls a section where it is another word
INSTANCE = {"self", "study", "grid"}  # the first argument of a method, which a call does not pass
NOT_BY_A_COMMAND = {"words", "practice", "grids"}


def conflicts(uses: list[OptionUse]) -> dict[str, set[tuple[str, str]]]:
    """Names with several types or meanings, and these."""
    senses: dict[str, set[tuple[str, str]]] = {}
    for use in uses:
        senses.setdefault(use.name, set()).add((use.type, use.meaning))
    return {name: found for name, found in senses.items() if len(found) > 1}


def group_of(*options: click.Option) -> click.Group:
    commands = [click.Command(f"c{at}", params=[option]) for at, option in enumerate(options)]
    return click.Group(commands={str(command.name): command for command in commands})


def test_each_name_has_one_type_and_one_meaning_in_all_commands_and_each_meaning_one_name() -> None:
    assert conflicts(list_options(main)) == {}
    names: dict[str, set[str]] = {}
    for use in list_options(main):
        names.setdefault(use.meaning.lower(), set()).add(use.name)
    assert {meaning: found for meaning, found in names.items() if len(found) > 1} == {}


def test_the_page_is_what_the_commands_say() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `python docs/options.py` if the options are to change"


def test_every_section_that_a_command_does_is_in_the_table() -> None:
    assert {WORDS_OF_RECIPE.get(name, name) for name in SECTIONS} | NOT_BY_A_COMMAND == set(Recipe.__annotations__)


@pytest.mark.parametrize("section", SECTIONS)
def test_an_option_a_key_and_a_parameter_are_one_word(tmp_path: Path, section: str) -> None:
    """Keyword arguments are held against the classes in `tests/steps/base/test_keywords.py`."""
    options = {param.opts[0]: param for param in COMMANDS[SECTIONS[section][0]].params}
    for option, name, _ in (one for one in parameters() if one[2] == section):
        word = option.removeprefix("--").replace("-", "_")
        assert name == word or (name == f"{word}s" and (options[option].multiple or section == "annotate"))
        assert str(options[option].name).rstrip("_") == name
        (tmp_path / "recipe.toml").write_text(f"{head_of(section)}\n{name} = {{ a = 'no' }}\nnone = 1\n", "utf-8")
        with pytest.raises(RecipeError) as caught:
            load_recipe(tmp_path / "recipe.toml")
        assert "unknown key `none`" in str(caught.value)
        assert f"unknown key `{name}`" not in str(caught.value)


@pytest.mark.parametrize("kind", EXPORTS.values(), ids=lambda kind: kind.name)
def test_an_export_takes_the_parameters_that_it_reads_by_their_names(kind: ExportKind) -> None:
    options = {option.name: option.opts[0] for option in COMMANDS[f"export {kind.name}"].params}
    assert [options[name] for name in kind.params] == [f"--{name.replace('_', '-')}" for name in kind.params]


@cache
def functions_of(path: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(Path(path).read_text("utf-8"))
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def calls_of(command: click.Command) -> Iterator[ast.Call]:
    """Yield the calls of methods in a command and the functions of its module that it uses."""
    callback = inspect.unwrap(command.callback)  # type: ignore[arg-type]
    functions, names, seen = functions_of(inspect.getfile(callback)), [callback.__name__], set()
    while names:
        if (name := names.pop()) in functions and name not in seen:
            seen.add(name)
            nodes = list(ast.walk(functions[name]))
            names += [node.id for node in nodes if isinstance(node, ast.Name)]
            yield from (node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute))


def optional_arguments(call: ast.Call, method: Any) -> Iterator[tuple[str, str]]:
    """Yield the name of each argument that a method need not be given, with that of the variable that is passed."""
    parameters = list(inspect.signature(method).parameters.values())
    passed = [(item.arg, item.value) for item in call.keywords]
    passed += list(zip([item.name for item in parameters if item.name not in INSTANCE], call.args, strict=False))
    optional = {item.name for item in parameters if item.default is not item.empty}
    yield from ((str(name), value.id) for name, value in passed if isinstance(value, ast.Name) and name in optional)


@pytest.mark.parametrize("path", COMMANDS)
def test_an_option_and_the_keyword_that_it_is_passed_as_are_one_word(path: str) -> None:
    flags = {
        str(param.name): param.opts[0].removeprefix("--").replace("-", "_")
        for param in COMMANDS[path].params
        if isinstance(param, click.Option)
    }
    for call in calls_of(COMMANDS[path]):
        method = call.func.attr  # type: ignore[attr-defined]
        homes = [cls for cls in PUBLIC if inspect.isfunction(getattr(cls, method, None))]
        differing = [
            [
                (name, flags[value])
                for name, value in optional_arguments(call, getattr(home, method))
                if value in flags and flags[value] not in (name, name.removesuffix("s"), method)
            ]
            for home in homes
        ]
        assert not differing or [] in differing, (method, differing)


@pytest.mark.parametrize("words", ACTS)
def test_an_act_passes_its_options_as_the_keywords_that_they_are_called(words: str) -> None:
    act = ACTS[words]
    part, _, method = act.method.rpartition(".")
    home = PARTS[part] if part else Study if act.of_study else Grid
    keywords = inspect.signature(getattr(home, method)).parameters
    of_class = {item.name for item in fields(act.params)} if act.params else set()
    own = [one for one in COMMANDS[words].params if one.name not in {*of_class, "study", "grid", "receipt_form"}]
    assert {str(one.name) for one in own} | act.also.keys() <= keywords.keys()
    flags = {str(one.name): one.opts[0] for one in own if isinstance(one, click.Option)}
    assert {name: f"--{name.replace('_', '-')}" for name in flags} == flags


def test_a_second_meaning_or_type_is_a_conflict_and_details_choices_and_defaults_are_none() -> None:
    column, person = click.Option(["--by"], help="A column."), click.Option(["--by"], help="A person.")
    assert list(conflicts(list_options(group_of(column, person)))) == ["--by"]
    number, text = click.Option(["--k"], type=int, help="Ranks."), click.Option(["--k"], help="Ranks.")
    assert list(conflicts(list_options(group_of(number, text)))) == ["--k"]
    first = click.Option(["--layout"], type=click.Choice(["a"]), help="The form. Of a file.  [default: b]")
    second = click.Option(["--layout"], type=click.Choice(["b"]), help="The form.")
    assert conflicts(list_options(group_of(first, second))) == {}
    first, second = (click.Option(["--layout"], type=click.Choice([one]), help="This | that.") for one in "ab")
    lines = format_options(group_of(first, second)).splitlines()
    assert lines[2:] == [r"| `--layout` | `a`, `b` | This \| that. | all |"]  # no bare bar
