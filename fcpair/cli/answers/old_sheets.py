"""Warnings on standard error about sheets that were kept, or are of somebody who left."""

from __future__ import annotations

from fcpair.cli.output import print_message
from fcpair.work_records import KeepReason, OldSheet


def warn_of_old_sheets(sheets: list[OldSheet], rows_written: dict[str, int], command: str, options: str = "") -> None:
    """Say on standard error which sheets were kept, and why, and which are of somebody who left.

    `command` takes sheets in, with these `options`.
    """
    for sheet in sheets:
        if sheet.left:
            print_message(
                f"{sheet.path}: {sheet.person} has left; the open work on this sheet was reassigned to others"
            )
        elif sheet.passed_on:
            print_message(
                f"{sheet.path}: {sheet.person} has nothing open any more; what was taken back was reassigned to others"
            )
        elif sheet.open:
            missing = (
                ""
                if sheet.person in rows_written
                else f"; a new one would have {sheet.open:,} open {'cells' if options else 'pairs'}"
            )
            first = _advice_for(sheet, f"`fcpair {command} import {sheet.path}{options}`")
            print_message(f"{sheet.path}: kept, because {sheet.kept}{missing}. {first}, or write to another folder")


def _advice_for(sheet: OldSheet, import_: str) -> str:
    if sheet.kept is KeepReason.ANSWERS:
        return f"Import them with {import_} if that is not done, then move it away"
    return f"{import_} says why; move it away" if sheet.kept is KeepReason.UNREADABLE else "Move it away"
