"""Makes docs/reference/options.md, the table of all options: `python docs/options.py`.

It says what each option means, of which type it is, and which commands have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import click

from fcpair.cli import main
from fcpair.known_pairs import Controls, Qualification
from fcpair.param_values import flag_of
from fcpair.params import (
    Adjudicate,
    Agree,
    Annotate,
    Assign,
    Calibration,
    Evaluate,
    Extend,
    Further,
    Import,
    Pair,
    Partition,
    Retrieve,
    Select,
    Setup,
    Simulate,
    Validate,
)

PAGE = Path(__file__).parent / "reference" / "options.md"
HEAD = """# All options

What each option of the command line means. An option has the same meaning and type in every command that has it;
`fcpair COMMAND --help` shows details and defaults.

`python docs/options.py` makes this page from the commands.

"""

PARAMETERS_HEAD = """
## Options, keys and keywords

A parameter has one name: `--hs-list` is the key `hs_list` of a recipe and the keyword argument `hs_list` of Python. An
option that may be repeated is in the singular, such as `--system` of `systems`.

| option | key and keyword | sections |
|---|---|---|
"""
SECTIONS: dict[str, tuple[str, Any]] = {
    "study": ("init", Setup),
    "import": ("import", Import),
    "select": ("select", Select),
    "retrieve": ("retrieve", Retrieve),
    "pair": ("pair", Pair),
    "qualification": ("people qualify", Qualification),
    "controls": ("people controls", Controls),
    "calibration": ("calibrate start", Calibration),
    "assign": ("assign", Assign),
    "further": ("further", Further),
    "extend": ("extend", Extend),
    "annotate": ("serve", Annotate),
    "simulate": ("simulate", Simulate),
    "agreement": ("agreement", Agree),
    "adjudicate": ("adjudicate", Adjudicate),
    "validate": ("validate assign", Validate),
    "partition": ("partition", Partition),
    "evaluate": ("evaluate", Evaluate),
}
"""Of each section of a recipe that a command does, the command and the parameters."""
REPEATED = {"extend"}  # sections that a recipe may have several times
NO_OPTIONS = {("study", "scheme"), ("partition", "own_tiers")}  # tables of a recipe
ARGUMENTS = {("import", "path"), ("qualification", "file"), ("controls", "file")}


MOST_LACKING = 6  # commands that an option of nearly all may lack, for these to be listed instead
_SENTENCE = re.compile(r"(?<=\.) +")
_DEFAULT = re.compile(r" +\[default: [^]]*\]$")
_NUMBERS = {click.types.IntParamType: "integer", click.types.FloatParamType: "number"}


class OptionUse(NamedTuple):
    """An option of a command: its name and choices, and its type and meaning, which it has in all commands."""

    name: str
    type: str
    meaning: str
    choices: tuple[str, ...]
    command: str


def list_options(group: click.Group) -> list[OptionUse]:
    """Every option of every command below a group."""
    return [
        OptionUse(option.opts[0], name_type(option), name_meaning(option), _choices(option), path)
        for path, command in list_commands(group)
        for option in command.params
        if isinstance(option, click.Option)
    ]


def list_commands(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield the commands below a group that are no groups, by their paths."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from list_commands(command, f"{path}{name} ")
        else:
            yield f"{path}{name}", command


def name_meaning(option: click.Option) -> str:
    """The first sentence of the help of an option, without its default."""
    return _SENTENCE.split(_DEFAULT.sub("", option.help or ""))[0]


def name_type(option: click.Option) -> str:
    """The type of the values of an option, by a word or as help shows it."""
    if option.is_flag:
        return "flag"
    if _choices(option):
        return "choice"
    if isinstance(option.type, click.Path):
        return "path"
    number = next((name for kind, name in _NUMBERS.items() if isinstance(option.type, kind)), None)
    return number or option.metavar or option.type.name


def _choices(option: click.Option) -> tuple[str, ...]:
    if isinstance(option.type, click.Choice):
        return tuple(map(str, option.type.choices))
    metavar = option.metavar or ""
    return tuple(metavar[1:-1].split("|")) if metavar.startswith("[") else ()


def format_options(group: click.Group) -> str:
    """The table of all options in Markdown, a row for each name."""
    uses: dict[str, list[OptionUse]] = {}
    for use in list_options(group):
        uses.setdefault(use.name, []).append(use)
    commands = [path for path, _ in list_commands(group)]
    rows = [_format_row(uses[name], commands) for name in sorted(uses)]
    return "\n".join(["| option | type | meaning | commands |", "|---|---|---|---|", *rows]) + "\n"


def _format_row(uses: list[OptionUse], commands: list[str]) -> str:
    first = uses[0]
    choices = dict.fromkeys(choice for use in uses for choice in use.choices)
    type_ = ", ".join(f"`{choice}`" for choice in choices) or first.type
    taking = {use.command for use in uses}
    lacking = [path for path in commands if path not in taking]
    where = _name_commands([path for path in commands if path in taking], commands)
    if 0 < len(lacking) <= MOST_LACKING:
        where = f"all but {_name_commands(lacking, commands)}"
    cells = (f"`{first.name}`", type_, first.meaning, where if lacking else "all")
    return f"| {' | '.join(_escape(cell) for cell in cells)} |"


def _name_commands(paths: list[str], commands: Iterable[str]) -> str:
    """Names of commands, and of a group where all of its commands are among them."""
    names = dict.fromkeys(_name_command(path, paths, commands) for path in paths)
    return ", ".join(f"`{name}`" for name in names)


def _name_command(path: str, paths: list[str], commands: Iterable[str]) -> str:
    group = path.split(" ", maxsplit=1)[0]
    of_group = [other for other in commands if other.startswith(f"{group} ")]
    return group if len(of_group) > 1 and set(of_group) <= set(paths) else path


def _escape(cell: str) -> str:
    return cell.replace("|", r"\|")


def parameters() -> Iterator[tuple[str, str, str]]:
    """Yield each parameter that is an option: the option, its key and keyword, and the section."""
    for section, (_, cls) in SECTIONS.items():
        for item in fields(cls):
            if (section, item.name) not in NO_OPTIONS | ARGUMENTS:
                yield flag_of(item), item.name, section


def head_of(section: str) -> str:
    """The line that begins a section of a recipe."""
    return f"[[{section}]]" if section in REPEATED else f"[{section}]"


def page() -> str:
    """The text of the page."""
    sections: dict[tuple[str, str], list[str]] = {}
    for option, name, section in sorted(parameters()):
        sections.setdefault((option, name), []).append(f"`{head_of(section)}`")
    rows = (f"| `{option}` | `{name}` | {', '.join(own)} |\n" for (option, name), own in sections.items())
    return HEAD + format_options(main) + PARAMETERS_HEAD + "".join(rows)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
