"""Columns of labels: which there are, and what their spellings stand for."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.given_options import take_effect
from fcpair.cli.meanings import shared_option
from fcpair.cli.texts import Texts

if TYPE_CHECKING:
    from fcpair.texts.aliases import Aliases

Command = Callable[..., Any]


@dataclass(frozen=True)
class LabelColumn:
    """A column of labels, and what its spellings stand for."""

    column: str
    aliases: Aliases

    def read(self, texts: Texts) -> list[tuple[str, ...]]:
        """The labels of each row; raises InputError, with lines, for those that are not known."""
        texts.check(self.column)
        return self.aliases.read(list(texts.frame[self.column]), texts.lines, texts.place)


def with_labels(*, several: bool) -> Callable[[Command], Command]:
    """Give the command `--labels`, `--label` and `--aliases`, and call it with `labels`.

    These are a LabelColumn, which is required, or any number of them where a command takes `several`.
    """

    def decorate(command: Command) -> Command:
        may = " The option may be repeated." if several else ""

        @shared_option(
            "--labels",
            "columns",
            metavar="COLUMN",
            required=not several,
            multiple=several,
            detail=f"Several of one text are separated by comma, semicolon or line break, or a JSON list.{may}",
        )
        @shared_option(
            "--label",
            "declared",
            multiple=True,
            metavar="NAME",
            detail="Repeat it for each label; any other spelling is then refused.",
        )
        @click.option(
            "--aliases",
            "aliases_file",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="The label of each spelling: a table with the columns `spelling` and `label`.",
        )
        @take_effect(*(("--label", "--aliases") if several else ()), only_with="--labels")
        @functools.wraps(command)
        def call_with_labels(
            columns: str | tuple[str, ...], declared: tuple[str, ...], aliases_file: Path | None, **arguments: Any
        ) -> Any:
            if isinstance(columns, str):
                return command(labels=_label_column(columns, declared, aliases_file), **arguments)
            return command(labels=tuple(_label_column(one, declared, aliases_file) for one in columns), **arguments)

        return call_with_labels

    return decorate


def _label_column(column: str, declared: tuple[str, ...], file: Path | None) -> LabelColumn:
    from fcpair.texts.aliases import Aliases, read_aliases

    return LabelColumn(column, read_aliases(file, declared) if file else Aliases(declared))
