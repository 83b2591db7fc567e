"""A page for each command, made of what click knows of it: its help, usage, options and defaults."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click
from markdown_tables import cell, escape, write_if_new
from sphinx.application import Sphinx

from fcpair.cli import COMMANDS, main

FOLDER = Path(__file__).parents[1] / "reference" / "commands"
DEFAULT = re.compile(r" \[default: (.*)\]")  # what a help says of a default that click does not know
UNFILLED = "\b"  # click's sign that the lines of a paragraph stand as they are
OPTIONS = "| option | type | default | meaning |\n|---|---|---|---|\n"
INDEX = """# Commands

Every command, in the order in which a study needs them; `fcpair COMMAND --help` says the same. `-h` is short for
`--help`. `fcpair --debug COMMAND` shows the traceback of an error, and `fcpair --version` says which version it is.

| command | what it does |
|---|---|
{rows}

```{{toctree}}
:maxdepth: 1
:hidden:

{names}
```
"""


def write_pages(_app: Sphinx) -> None:
    """Write the pages, which git ignores."""
    FOLDER.mkdir(exist_ok=True)
    context = click.Context(main, info_name="fcpair")
    rows = []
    for name in COMMANDS:
        command = main.get_command(context, name)
        assert command is not None
        rows.append(f"| [`fcpair {name}`]({name}.md) | {cell(COMMANDS[name][1])} |")
        write_if_new(FOLDER / f"{name}.md", "\n".join(describe(command, context, name, 1)))
    write_if_new(FOLDER / "index.md", INDEX.format(rows="\n".join(rows), names="\n".join(COMMANDS)))


def describe(command: click.Command, parent: click.Context, name: str, level: int) -> Iterator[str]:
    """Lines that describe a command, and below it its own commands."""
    context = click.Context(command, info_name=name, parent=parent)
    yield f"{'#' * level} {context.command_path}\n"
    yield from describe_help(command.help or "")
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```text\n{context.command_path} {usage}\n```\n"
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    if rows := [option_row(option, context) for option in options]:
        yield OPTIONS + "\n".join(rows) + "\n"
    if isinstance(command, click.Group):
        for inner_name in command.list_commands(context):
            inner = command.get_command(context, inner_name)
            if inner is not None and not inner.hidden:
                yield from describe(inner, context, inner_name, level + 1)


def describe_help(text: str) -> Iterator[str]:
    """Paragraphs of a command's help; those that are not to be filled are examples, or lists."""
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text).split("\f")[0]):
        lines = paragraph.strip("\n").split("\n")
        if lines[0].strip() != UNFILLED:
            yield escape(" ".join(line.strip() for line in lines)) + "\n"
            continue
        lines = lines[1:]
        if re.match(r"\S.*:$", lines[0]):
            yield f"{escape(lines[0])}\n"
            lines = lines[1:]
        yield "```text\n" + inspect.cleandoc("\n".join(lines)) + "\n```\n"


def option_row(option: click.Option, context: click.Context) -> str:
    """The row of an option."""
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    kind = "" if option.is_flag or option.count else f"`{option.make_metavar(context)}`"
    kind += ", several times" * bool(option.multiple)
    extra = option.get_help_extra(context)
    default = "must be given" if extra.get("required") else f"`{extra['default']}`" if extra.get("default") else ""
    notes = [DEFAULT.sub("", option.help or "")]
    if stated := DEFAULT.search(option.help or ""):
        default = stated[1]
    if extra.get("range"):
        notes.append(f"`{extra['range']}`")
    if extra.get("envvars"):
        notes.append(f"Or by {', '.join(f'`{name}`' for name in extra['envvars'])}.")
    return f"| {names} | {cell(kind)} | {cell(default)} | {cell(' '.join(notes))} |"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
