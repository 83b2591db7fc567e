"""Options as they are given: one that takes one value is given once, and one that would have no effect is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

Command = Callable[..., Any]
_RULES = "__option_rules__"


class _Rule(NamedTuple):
    """Options, those without all of which they have no effect, and those beside any of which they have none."""

    flags: tuple[str, ...]
    only_with: tuple[str, ...]
    not_with: tuple[str, ...]


def take_effect(
    *flags: str, only_with: str | tuple[str, ...] = (), not_with: str | tuple[str, ...] = ()
) -> Callable[[Command], Command]:
    """Have a command refuse these options where none of `only_with` is given, or one of `not_with` is.

    Either names options (`--out`), one with a value (`--layout hf`), or arguments (`FILE`).
    """
    needs, others = ((need,) if isinstance(need, str) else need for need in (only_with, not_with))
    rule = _Rule(flags, needs, others)

    def decorate(command: Command) -> Command:
        setattr(command, _RULES, [*getattr(command, _RULES, ()), rule])
        return command

    return decorate


@cache
def check_given(command: click.Command) -> click.Command:
    """Have a command, and all commands below it, refuse options that are given twice or would have no effect."""
    parse = command.parse_args

    def parse_checked(ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:
            return parse(ctx, args)
        check_once(command, ctx, args)
        rest = parse(ctx, args)
        for rule in rules_of(command):
            lacks = () if any(_is_met(need, ctx) for need in rule.only_with) else rule.only_with
            beside = [need for need in rule.not_with if _is_met(need, ctx)]
            for flag in rule.flags if lacks or beside else ():
                if ctx.get_parameter_source(_name_of(flag, ctx)) is ParameterSource.COMMANDLINE:
                    from fcpair.param_values import without_effect

                    raise click.UsageError(without_effect(flag, lacks, beside), ctx)
        return rest

    command.parse_args = parse_checked  # type: ignore[method-assign]
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        check_given(below)
    return command


def check_once(command: click.Command, ctx: click.Context, args: list[str]) -> None:
    """Raise UsageError for an option among `args` that is given twice and does not take several."""
    _, _, given_params = command.make_parser(ctx).parse_args(args=list(args))
    for option, n in Counter(given_params).items():
        takes_one = isinstance(option, click.Option) and not (option.multiple or option.count or option.is_eager)
        if n > 1 and takes_one:
            times = "twice" if n == 2 else f"{n} times"
            raise click.UsageError(f"{option.opts[-1]} is given {times}; it takes one value, so give it once", ctx)


def rules_of(command: click.Command) -> Iterator[_Rule]:
    """Yield what the command was told by `take_effect`."""
    yield from getattr(command.callback, _RULES, ())


def _is_met(condition: str, ctx: click.Context) -> bool:
    flag, _, value = condition.partition(" ")
    name = _name_of(flag, ctx)
    if value:
        return value in (chosen if isinstance(chosen := ctx.params[name], tuple) else (chosen,))
    return ctx.get_parameter_source(name) in {ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT}


def _name_of(flag: str, ctx: click.Context) -> str:
    """The name of the parameter that is called so on the command line."""
    return next(str(param.name) for param in ctx.command.params if flag in (*param.opts, param.human_readable_name))
