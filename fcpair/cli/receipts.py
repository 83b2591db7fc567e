"""Receipts: what a command has done, in lines for people or, with `--format json`, as one list for programs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import click

from fcpair.cli.machine_output import print_json
from fcpair.cli.meanings import MEANINGS
from fcpair.cli.reading import note_reading
from fcpair.cli.terminal import print_raw, print_wrapped

TEXT, JSON, CSV = "text", "json", "csv"
FLAG = "--format"
_KEY = "fcpair.cli.receipts"
_FORM_KEY = "fcpair.cli.form"


def collect_receipts(ctx: click.Context, param: click.Parameter, form: str) -> str:
    """Have receipts kept, where the form is JSON, until the command ends, and then printed as a list.

    It is the callback of `--format`, and returns the form. A command with tables to print is taken to only read. One
    that has nothing but receipts prints an empty list where there are none, unless it ends with an error. Beside a CSV
    receipts are printed on standard error.
    """
    if not isinstance(param, ReceiptFormat):
        note_reading(ctx)
    if form == JSON and not ctx.resilient_parsing:
        receipts: list[dict[str, Any]] = []
        ctx.meta[_KEY] = receipts

        def print_receipts() -> None:
            if receipts or (isinstance(param, ReceiptFormat) and sys.exc_info()[0] is None):
                print_json(receipts)

        ctx.call_on_close(print_receipts)
    ctx.meta[_FORM_KEY] = form
    return form


def print_receipt(line: str, data: dict[str, Any], show: Callable[[str], None] = print_raw) -> None:
    """Print a line about what was done, by `show`; for programs, its `data` instead."""
    ctx = click.get_current_context(silent=True)
    receipts = ctx.meta.get(_KEY) if ctx else None
    if ctx and ctx.meta.get(_FORM_KEY) == CSV:
        print_wrapped(line, err=True)
    elif receipts is None:
        show(line)
    else:
        receipts.append(data)


class ReceiptFormat(click.Option):
    """The option `--format` of a command that has nothing but receipts to print."""

    def __init__(self) -> None:
        super().__init__(
            [FLAG, "receipt_form"],
            type=click.Choice([TEXT, JSON]),
            default=TEXT,
            show_default=True,
            expose_value=False,
            callback=collect_receipts,
            help=MEANINGS[FLAG],
        )


@cache
def add_receipt_format(command: click.Command) -> click.Command:
    """Give the command, and all commands below it, `--format` where there is none."""
    if isinstance(command, click.Group):
        for below in command.commands.values():
            add_receipt_format(below)
    elif not any(FLAG in param.opts for param in command.params):
        command.params.append(ReceiptFormat())
    return command
