"""Commands that only read: their errors do not say that nothing was changed, which nobody would have thought."""

from __future__ import annotations

import re

import click

_KEY = "fcpair.cli.reading"
_UNCHANGED = re.compile(r"[;.] nothing was changed\b", re.IGNORECASE)


def note_reading(ctx: click.Context) -> None:
    """Note that the command that is under way only reads."""
    ctx.meta[_KEY] = True


def note_trial(ctx: click.Context, _param: click.Parameter, is_trial: bool) -> bool:
    """Note that a command that would write only reads this time: the callback of flags such as `--dry-run`."""
    if is_trial:
        note_reading(ctx)
    return is_trial


def note_writing() -> None:
    """Note that the command that is under way writes this time, although others of its kind only read."""
    click.get_current_context().meta[_KEY] = False


def word_error(ctx: click.Context, message: str) -> str:
    """The message of an error as it is for a command that writes, and without that clause for one that only reads."""
    return _UNCHANGED.sub("", message) if ctx.meta.get(_KEY) else message
