"""The table of all options: one meaning and one type for each name, and the page that has them."""

from __future__ import annotations

import click

from docs.options import PAGE, page
from fcpair.cli import main
from fcpair.cli.option_table import OptionUse, format_options, list_options


def conflicts(uses: list[OptionUse]) -> dict[str, set[tuple[str, str]]]:
    """Names with several types or meanings, and these."""
    senses: dict[str, set[tuple[str, str]]] = {}
    for use in uses:
        senses.setdefault(use.name, set()).add((use.type, use.meaning))
    return {name: found for name, found in senses.items() if len(found) > 1}


def group_of(*options: click.Option) -> click.Group:
    """A group with a command for each of these options."""
    commands = [click.Command(f"c{at}", params=[option]) for at, option in enumerate(options)]
    return click.Group(commands={str(command.name): command for command in commands})


def test_each_name_has_one_type_and_one_meaning_in_all_commands() -> None:
    assert conflicts(list_options(main)) == {}


def test_each_meaning_has_one_name() -> None:
    names: dict[str, set[str]] = {}
    for use in list_options(main):
        names.setdefault(use.meaning.lower(), set()).add(use.name)
    assert {meaning: found for meaning, found in names.items() if len(found) > 1} == {}


def test_the_page_is_what_the_commands_say() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `python docs/options.py` if the options are to change"


def test_a_second_meaning_is_a_conflict() -> None:
    first, second = click.Option(["--by"], help="A column."), click.Option(["--by"], help="A person.")
    assert list(conflicts(list_options(group_of(first, second)))) == ["--by"]


def test_a_second_type_is_a_conflict() -> None:
    first, second = click.Option(["--k"], type=int, help="Ranks."), click.Option(["--k"], help="Ranks.")
    assert list(conflicts(list_options(group_of(first, second)))) == ["--k"]


def test_details_choices_and_defaults_are_no_conflict() -> None:
    first = click.Option(["--layout"], type=click.Choice(["a"]), help="The form. Of a file.  [default: b]")
    second = click.Option(["--layout"], type=click.Choice(["b"]), help="The form.")
    assert conflicts(list_options(group_of(first, second))) == {}


def test_a_row_has_the_choices_of_all_commands_and_no_bare_bar() -> None:
    first = click.Option(["--layout"], type=click.Choice(["a"]), help="This | that.")
    second = click.Option(["--layout"], type=click.Choice(["b"]), help="This | that.")
    lines = format_options(group_of(first, second)).splitlines()
    assert lines[2:] == [r"| `--layout` | `a`, `b` | This \| that. | all |"]
