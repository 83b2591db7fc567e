"""Every command: it has help with an example, the documentation speaks of it, and a shell completes it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from fcpair.cli import COMMANDS, main

COMPLETION = """
eval "$(_FCPAIR_COMPLETE=bash_source fcpair)"
COMP_WORDS=({words}) COMP_CWORD={at}
_fcpair_completion fcpair
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
DOCS = Path(__file__).parents[2] / "docs"
SECTIONS = {
    "Study": ["init", "run", "recipe", "status", "grids", "log", "note"],
    "Build": ["import", "select", "retrieve", "pair", "extend", "plan", "calibrate", "assign", "further"],
    "People": ["people", "serve"],
    "Answers": ["labels", "answers", "simulate", "examples", "generate", "curation"],
    "Decide": ["agreement", "blocks", "ranking", "aggregate", "groups", "adjudicate", "validate"],
    "Grade": ["partition", "explain", "evaluate", "export", "report", "methods"],
    "Publish": ["release", "verify", "diff"],
    "Texts": ["describe", "split", "measure", "classify", "correlate", "ratings"],
    "Surveys and bias": ["ask", "items", "diversity", "bias"],
    "Keep": ["doctor", "backup", "restore", "copy", "upgrade"],
}

ON_A_GRID = {
    *(
        "select",
        "retrieve",
        "pair",
        "extend",
        "further",
        "plan",
        "calibrate",
        "assign",
        "labels",
        "answers",
        "simulate",
        "examples",
        "generate",
    ),
    *("agreement", "blocks", "ranking", "adjudicate", "aggregate"),
    *("validate", "partition", "explain", "evaluate", "export", "describe", "split", "measure", "classify"),
    *("correlate", "curation", "ratings", "diversity", "groups", "bias", "ask", "note"),
}


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every command, groups included."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*path, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


ALL = list(commands(main))
IDS = [" ".join(path) for path in ALL]


def found(path: tuple[str, ...]) -> click.Command:
    command: click.Command = main
    for name in path:
        assert isinstance(command, click.Group)
        inner = command.get_command(click.Context(command), name)
        assert inner is not None
        command = inner
    return command


def help_of(*path: str) -> str:
    result = CliRunner(charset="ascii").invoke(main, [*path, "--help"])
    assert result.exit_code == 0
    assert result.stdout_bytes.isascii()
    return result.output


@cache
def documentation() -> str:
    return "\n".join(page.read_text("utf-8") for page in DOCS.rglob("*.md"))


def test_the_walk_sees_commands_and_the_commands_of_groups() -> None:
    assert {("init",), ("people", "add"), ("labels", "import"), ("validate", "assign"), ("run",)} <= set(ALL)
    assert len(ALL) >= 29


def test_help_lists_the_commands_in_sections() -> None:
    _, *parts = re.split(r"^([A-Z][a-z ]+):$", help_of().split("--help  ")[1], flags=re.MULTILINE)
    listed = {
        heading: re.findall(r"^  (\w+)  +\S", lines, re.MULTILINE)
        for heading, lines in zip(parts[::2], parts[1::2], strict=True)
    }
    assert listed == SECTIONS
    assert list(listed) == list(SECTIONS)
    for name, (_, line, *_) in COMMANDS.items():
        assert line == str(found((name,)).help).split("\n")[0]


@pytest.mark.parametrize("path", ALL, ids=IDS)
def test_every_command_has_help_with_examples_of_itself_that_can_be_parsed(path: tuple[str, ...]) -> None:
    _, example = help_of(*path).split("Example:")
    text = example.split("Options:")[0]
    assert f"fcpair {' '.join(path)}" in text
    lines = [line.strip() for line in text.split("Commands:")[0].splitlines() if line.strip().startswith("fcpair ")]
    assert lines
    for line in lines:
        parse(re.findall(r'"[^"]*"|\S+', line)[1:])


def parse(words: list[str]) -> None:
    command, context = main, click.Context(main)
    while isinstance(command, click.Group):
        inner = command.get_command(context, words.pop(0))
        assert inner is not None
        command = inner  # type: ignore[assignment]
    command.make_context("x", words)


@pytest.mark.parametrize("path", ALL, ids=IDS)
def test_every_command_is_documented_and_each_of_its_options_explained(path: tuple[str, ...]) -> None:
    assert re.search(rf"fcpair {' '.join(path)}\b", documentation())
    for parameter in found(path).params:
        assert not isinstance(parameter, click.Option) or parameter.help, f"--{parameter.name}"


def values_of(option: click.Option) -> tuple[str, ...]:
    """The option once, with a value that it takes; where it is a switch, with none."""
    kind = option.type
    value = kind.choices[0] if isinstance(kind, click.Choice) else "1"
    return (option.opts[-1],) if option.is_flag else (option.opts[-1], *[str(value)] * option.nargs)


def test_every_option_of_every_command_is_taken_once_or_several_times_as_it_says() -> None:
    n = 0
    for path in [(), *ALL]:
        for option in found(path).params:
            if not isinstance(option, click.Option) or option.is_eager:
                continue
            words = (*path, *values_of(option), *values_of(option))
            result = CliRunner().invoke(main, [*words, "--help"] if option.multiple else words)
            refused = f"{option.opts[-1]} is given twice" in result.output
            assert refused is not (option.multiple or option.count), words
            n += 1
    assert n > 5 * len(COMMANDS)


def test_every_command_about_a_grid_takes_its_name_and_no_other_does() -> None:
    leaves = [path for path in ALL if not isinstance(found(path), click.Group)]
    named = [path for path in leaves if "grid" in {parameter.name for parameter in found(path).params}]
    about_people = {("people", name) for name in ("controls", "let-on", "pilot", "qualified", "qualify")}
    assert [path for path in leaves if path[0] in ON_A_GRID or path in about_people] == named


def test_the_version_is_that_of_the_package() -> None:
    assert version("fcpair") in CliRunner().invoke(main, ["--version"]).output


def test_what_cannot_be_parsed_ends_with_2() -> None:
    for words in ("invent", "people invent", "init --invent", "explain x", "select --hs x"):
        assert CliRunner().invoke(main, words.split()).exit_code == 2


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("fcpair adj", ["adjudicate"]),
        ("fcpair partition --tier d", ["diamond"]),
        ("fcpair labels sheets --f", ["--format"]),
    ],
)
def test_bash_completes_commands_options_and_choices(words: str, offered: list[str]) -> None:
    """As docs/howto/completion.md switches it on."""
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    script = COMPLETION.format(words=words, at=len(words.split()) - 1)
    env = {**os.environ, "PATH": path}
    run = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env=env)
    assert run.stdout.split() == offered
