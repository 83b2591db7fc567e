"""Options that are given twice: of one that does not take several, the last would silently be taken."""

from __future__ import annotations

from collections import Counter
from functools import cache, partial
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    Parse = Callable[[click.Context, list[str]], list[str]]


@cache
def refuse_repeated(command: click.Command) -> click.Command:
    """Have a command, and all commands below it, refuse an option that is given twice and does not take several."""
    command.parse_args = partial(_parse_checked, command, command.parse_args)  # type: ignore[method-assign]
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        refuse_repeated(below)
    return command


def _parse_checked(command: click.Command, parse: Parse, ctx: click.Context, args: list[str]) -> list[str]:
    if not ctx.resilient_parsing:
        check_once(command, ctx, args)
    return parse(ctx, args)


def check_once(command: click.Command, ctx: click.Context, args: list[str]) -> None:
    """Raise UsageError for an option among `args` that is given twice and does not take several."""
    _, _, given_params = command.make_parser(ctx).parse_args(args=list(args))
    for option, n in Counter(given_params).items():
        takes_one = isinstance(option, click.Option) and not (option.multiple or option.count or option.is_eager)
        if n > 1 and takes_one:
            times = "twice" if n == 2 else f"{n} times"
            raise click.UsageError(f"{option.opts[-1]} is given {times}; it takes one value, so give it once", ctx)
