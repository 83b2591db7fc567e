"""Spellings of options that have changed: the old ones work for one version more, and say the new one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, cast

import click

from fcpair.cli.receipts import ReceiptFormat
from fcpair.cli.terminal import print_wrapped

_COPIED = ("type", "multiple", "is_flag", "flag_value", "nargs")


class _OldName(click.Option):
    """An option that was called otherwise; help does not show it."""

    def __init__(self, flag: str, new: click.Option) -> None:
        settings: dict[str, Any] = {name: getattr(new, name) for name in _COPIED}
        if not new.is_flag:
            del settings["is_flag"], settings["flag_value"]
        help_text = f"The old spelling of {new.opts[0]}."
        super().__init__([flag, f"old_{new.name}"], help=help_text, hidden=True, expose_value=False, **settings)
        self._new = new

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        """Give the value to the new option, which click handles after all that stand on the command line."""
        if self.name in opts:
            _hand_over(ctx, opts, self, self._new, self.opts[0], self._new.opts[0])
        return super().handle_parse_result(ctx, opts, args)


class _OldValues(ReceiptFormat):
    """The option `--format`, some of whose values have become those of another one, `new`."""

    def __init__(self, new: click.Option, new_by_old: Mapping[str, str]) -> None:
        super().__init__()
        self._new, self._new_by_old = new, new_by_old

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        """Give an old value to the option that takes it now."""
        old = str(opts.get(self.name))
        if value := self._new_by_old.get(old):
            _hand_over(ctx, opts, self, self._new, f"{self.opts[0]} {old}", f"{self._new.opts[0]} {value}", value)
        return super().handle_parse_result(ctx, opts, args)


def _hand_over(
    ctx: click.Context,
    opts: Mapping[str, Any],
    old: click.Option,
    new: click.Option,
    old_spelling: str,
    spelling: str,
    value: Any = None,
) -> None:
    values = cast("MutableMapping[str | None, Any]", opts)
    if new.name in values:
        raise click.UsageError(f"`{old_spelling}` is spelled `{spelling}` now; give only the new spelling", ctx)
    old_value = values.pop(old.name)
    values[new.name] = old_value if value is None else value
    if not ctx.resilient_parsing:
        note = (
            f"Note: `{old_spelling}` is spelled `{spelling}` now; the old spelling will be removed in the next version."
        )
        print_wrapped(note, err=True)


def _option_of(command: click.Command, flag: str) -> click.Option:
    return next(param for param in command.params if isinstance(param, click.Option) and flag in param.opts)


def with_old_spellings(**new_by_old: str) -> Callable[[click.Command], click.Command]:
    """Let the command take options by their old names too: `with_old_spellings(by="--adjudicator")`."""

    def decorate(command: click.Command) -> click.Command:
        for old, new in new_by_old.items():
            command.params.append(_OldName(f"--{old.replace('_', '-')}", _option_of(command, new)))
        return command

    return decorate


def with_old_values(new: str, **new_by_old: str) -> Callable[[click.Command], click.Command]:
    """Let `--format` of the command, which prints receipts, take what has become a value of the option `new`."""

    def decorate(command: click.Command) -> click.Command:
        command.params.append(_OldValues(_option_of(command, new), new_by_old))
        return command

    return decorate
