"""Warnings on standard error about kept sheets, changes, sampled cells and simulated answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fcpair.cli.output import print_message
from fcpair.work_records import KeepReason

if TYPE_CHECKING:
    from fcpair.grid import Grid
    from fcpair.work_records import OldSheet


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


def warn_of_changes(grid: Grid) -> None:
    """Say on standard error which decisions and verdicts are older than the labels that they are about."""
    for note in grid.second_look_notes:
        print_message(f"Note: {note}.")


def warn_of_sampled(grid: Grid) -> None:
    """Say on standard error that only some cells of the grid were drawn, where that is so."""
    if note := grid.sample_size:
        print_message(f"Note: {note}.")


def warn_of_simulated(grid: Grid) -> None:
    """Say on standard error that answers were made up, when any were."""
    if note := grid.simulated_note:
        print_message(f"Note: {note}.")
