"""Warnings on standard error about changes, sampled cells and simulated answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


def warn_of_other_options(grid: Grid, options: Any) -> None:
    """Say on standard error that options are not the grid's own, by which other commands measure, where that is so."""
    if options != grid.effective_options(type(options)):
        print_message(
            "Note: these options hold for this call alone; `fcpair methods` and `fcpair report` go by the study's own. "
            f"To make them its own, write them into the section [{options.stage}] of its recipe (`fcpair recipe > "
            "study.toml`), and run that (`fcpair run study.toml`)."
        )
