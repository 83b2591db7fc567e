"""Warnings on standard error about changes, sampled cells and simulated answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fcpair.cli.output import print_message

if TYPE_CHECKING:
    from fcpair.grid import Grid


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
