"""Every command: it has help with an example, and the documentation speaks of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from fcpair.cli import COMMANDS, main

DOCS = Path(__file__).parents[2] / "docs"
SECTIONS = {
    "Study": ["init", "run", "recipe", "status", "grids", "log", "note"],
    "Build": ["import", "select", "retrieve", "pair", "plan", "calibrate", "assign"],
    "People": ["people", "serve"],
    "Answers": ["labels", "answers", "simulate", "examples", "generate", "curation"],
    "Decide": ["agreement", "aggregate", "groups", "adjudicate", "validate"],
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
        "plan",
        "calibrate",
        "assign",
        "labels",
        "answers",
        "simulate",
        "examples",
        "generate",
    ),
    *("agreement", "adjudicate", "aggregate"),
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
    result = CliRunner().invoke(main, [*path, "--help"])
    assert result.exit_code == 0
    return result.output


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


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_in_the_list_is_the_first_of_the_command_s_help(name: str) -> None:
    text = found((name,)).help
    assert text is not None
    assert COMMANDS[name][1] == text.split("\n")[0]


@pytest.mark.parametrize("path", ALL, ids=IDS)
def test_every_command_has_help_with_an_example_of_itself(path: tuple[str, ...]) -> None:
    example = help_of(*path).split("Example:")
    assert len(example) == 2
    assert f"fcpair {' '.join(path)}" in example[1].split("Options:")[0]


@pytest.mark.parametrize("path", ALL, ids=IDS)
def test_every_example_can_be_parsed(path: tuple[str, ...]) -> None:
    text = help_of(*path).split("Example:")[1].split("Options:")[0].split("Commands:")[0]
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("fcpair ")]
    assert lines
    for line in lines:
        parse(re.findall(r'"[^"]*"|\S+', line)[1:])


def parse(words: list[str]) -> None:
    """Parse a command line as click does, without running it."""
    command, context = main, click.Context(main)
    while isinstance(command, click.Group):
        inner = command.get_command(context, words.pop(0))
        assert inner is not None
        command = inner  # type: ignore[assignment]
    command.make_context("x", words)


@pytest.mark.parametrize("path", ALL, ids=IDS)
def test_every_option_and_argument_is_explained(path: tuple[str, ...]) -> None:
    for parameter in found(path).params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"--{parameter.name}"


def test_every_command_about_a_grid_takes_its_name_and_no_other_does() -> None:
    leaves = [path for path in ALL if not isinstance(found(path), click.Group)]
    named = [path for path in leaves if "grid" in {parameter.name for parameter in found(path).params}]
    about_people = {("people", name) for name in ("controls", "let-on", "pilot", "qualified", "qualify")}
    assert [path for path in leaves if path[0] in ON_A_GRID or path in about_people] == named


@pytest.mark.parametrize("path", ALL, ids=IDS)
def test_the_documentation_speaks_of_every_command(path: tuple[str, ...]) -> None:
    pages = "\n".join(page.read_text("utf-8") for page in DOCS.rglob("*.md"))
    assert re.search(rf"fcpair {' '.join(path)}\b", pages)


def test_the_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert version("fcpair") in CliRunner().invoke(main, ["--version"]).output


@pytest.mark.parametrize(
    "words", [["invent"], ["people", "invent"], ["init", "--invent"], ["explain", "x"], ["select", "--hs", "x"]]
)
def test_what_cannot_be_parsed_ends_with_2(words: list[str]) -> None:
    assert CliRunner().invoke(main, words).exit_code == 2
