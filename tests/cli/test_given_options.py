"""An option that is given twice is refused, unless it takes several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cli.conftest import Fcpair
from fcpair.cli import COMMANDS, main


@pytest.mark.parametrize(
    "args",
    [
        ("partition", "--tier", "gold", "--tier", "silver"),
        ("describe", "t.csv", "--text", "text", "--by", "types", "--by=targets"),
        ("people", "add", "eva", "--role", "annotator", "--role", "validator"),
        ("select", "--hs", "2", "--seed", "1", "--seed", "1"),
        ("retrieve", "--redo", "--redo"),
    ],
)
def test_an_option_that_takes_one_value_is_refused_where_it_is_given_twice(
    at: Callable[[str], Path], fcpair: Fcpair, args: tuple[str, ...]
) -> None:
    at("checked")
    option = next(one.partition("=")[0] for one in reversed(args) if one.startswith("--"))
    assert f"{option} is given twice; it takes one value, so give it once" in fcpair(*args, code=2).stderr


def test_an_option_that_takes_several_is_taken_as_often_as_it_is_given(
    at: Callable[[str], Path], fcpair: Fcpair
) -> None:
    at("checked")
    said = fcpair("evaluate", "--system", "tfidf", "--system", "random", "--format", "csv").stdout
    assert "tfidf" in said
    assert "random" in said


def commands_of(command: click.Command, *words: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """A command and all below it, each with the words that call it."""
    yield words, command
    if not isinstance(command, click.Group):
        return
    for name in command.list_commands(click.Context(command)):
        below = command.get_command(click.Context(command), name)
        assert below is not None
        yield from commands_of(below, *words, name)


def values_of(option: click.Option) -> tuple[str, ...]:
    """The option once, with a value that it takes; where it is a switch, with none."""
    kind = option.type
    value = kind.choices[0] if isinstance(kind, click.Choice) else "1"
    return (option.opts[-1],) if option.is_flag else (option.opts[-1], *[str(value)] * option.nargs)


def test_every_option_of_every_command_is_taken_once_or_several_times_as_it_says() -> None:
    n = 0
    for words, command in commands_of(main):
        options = [one for one in command.params if isinstance(one, click.Option) and not one.is_eager]
        for option in options:
            given = (*words, *values_of(option), *values_of(option))
            result = CliRunner().invoke(main, [*given, "--help"] if option.multiple else given)
            refused = f"{option.opts[-1]} is given twice" in result.output
            assert refused is not (option.multiple or option.count), given
            n += 1
    assert n > 5 * len(COMMANDS)
