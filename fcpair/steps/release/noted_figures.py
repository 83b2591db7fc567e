"""Figures in the run log, and whether answers or decisions have come since they were noted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from fcpair.params import MAIN
from fcpair.records import GridKey, RunRecord
from fcpair.report.methods import grid_of
from fcpair.steps.base.context import labels_of
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import newer_evidence, runs

FigureStage = Literal["agreement", "partition", "evaluate"]
HOW_TO_NOTE = "`fcpair recipe > study.toml` and `fcpair run study.toml`"


def latest_figures(tx: Tx, stage: FigureStage, grid: str) -> RunRecord | None:
    """The newest run that noted figures of a stage in a grid; one that set options, or wrote a tier, noted none."""
    noted = [run for run in runs.runs(tx, stage) if grid_of(run) == grid and run.counts and "tier" not in run.params]
    return noted[-1] if noted else None


def is_outdated(tx: Tx, stage: FigureStage, grid: str) -> bool:
    """Whether figures of the grid were noted, and there are answers or decisions that they do not rest on.

    Those of agreement rest on answers alone, and not on those of a round that checks.
    """
    run = latest_figures(tx, stage, grid)
    if run is None:
        return False
    is_agreement = stage == "agreement"
    meant = [one for one in rounds.of_grid(tx) if not (is_agreement and one.checks is not None)]
    return newer_evidence.is_answered_since(tx, run, meant) or (
        not is_agreement and newer_evidence.is_decided_since(tx, run)
    )


def figure_notes(tx: Tx) -> Iterator[str]:
    """Yield what the log lacks of the figures of each grid: those that are missing, and those that are outdated."""
    for key in grids.for_each_grid(tx):
        missing = list(_missing(tx, key))
        if missing:
            yield f"the log has no {' and no '.join(missing)} of grid {key.name}; {HOW_TO_NOTE} note them"
        stages: tuple[FigureStage, ...] = ("agreement", "partition", "evaluate")
        if outdated := [stage for stage in stages if is_outdated(tx, stage, key.name)]:
            were = "was" if len(outdated) == 1 else "were"
            yield (
                f"{' and '.join(outdated)} of grid {key.name} {were} noted before the newest answers or decisions; "
                f"{HOW_TO_NOTE} note them anew, once all is answered"
            )


def _missing(tx: Tx, key: GridKey) -> Iterator[str]:
    """The figures that a grid of labels has and the log has not; a planned grid has those that its plan names."""
    if key.name != MAIN or labels_of(tx) is None or not judgements.answered_cells(tx, rounds.primary(tx)):
        return
    if latest_figures(tx, "agreement", key.name) is None:
        yield "agreement"
    if latest_figures(tx, "partition", key.name) is None:
        yield "tiers"
