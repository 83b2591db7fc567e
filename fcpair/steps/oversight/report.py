"""The report: everything about a study, read in one transaction, written as one HTML file."""

from __future__ import annotations

from heapq import merge
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from typing import Any

from fcpair.evaluate.outcome import Outcome
from fcpair.files.tables.tabular import replacing
from fcpair.param_values import takes_params
from fcpair.params import Adjudicate, Agree, Partition
from fcpair.records import Origin, Rule, RunRecord
from fcpair.report.data import EvaluationFigures, GridPart, MainPart, ReportData
from fcpair.report.page import render
from fcpair.steps.base.context import OnStudy, is_planned
from fcpair.steps.oversight.grid_status import grid_facts
from fcpair.steps.oversight.report_grid import grid_part
from fcpair.steps.oversight.report_main import main_part
from fcpair.steps.rules.study_notes import simulated_note
from fcpair.store import Tx
from fcpair.store.answers import activity_log, judgements
from fcpair.store.corpus.grids import each, grid_of, keys, number_of
from fcpair.store.oversight import runs
from fcpair.store.people import people

# The stages that change labels, decisions, verdicts or tier rules; the grid is fixed as soon as there are labels.
CHANGING = (
    "label import",
    "label withdraw",
    "simulate",
    "adjudicate",
    "validate import",
    "validate withdraw",
    "partition",
)


@takes_params
def write(study: OnStudy, path: str | Path, partition: Partition | None = None, agreement: Agree | None = None) -> Path:
    """Write everything about the study into one HTML file, at whatever stage it is; changes nothing in it.

    It is written whole or not at all, and the same study gives the same bytes. The study's own options hold where
    none are given. Raises InputError where there is no such folder.
    """
    page = render(gather(study, partition, agreement))
    with replacing(path) as temporary:
        temporary.write_text(page, "utf-8", newline="\n")
    return Path(path)


def gather(study: OnStudy, partition: Partition | None = None, agreement: Agree | None = None) -> ReportData:
    """Everything that the report says, at whatever stage the study is."""
    with study.store.read() as tx:
        main: MainPart | None = None
        planned: list[GridPart] = []
        for one in each(tx):
            if is_planned(tx):
                planned.append(grid_part(tx, one.name, partition, agreement))
            else:
                main = main_part(tx, partition, agreement)
        origins, log = judgements.origins(tx), _log(tx)
        return ReportData(
            facts=runs.study_facts(tx),
            version=version("fcpair"),
            simulated=simulated_note(origins),
            by_models=_by_models(origins),
            log=log,
            releases=tuple(runs.releases(tx)),
            evaluation=_evaluation(tx, log),
            listed=tuple(grid_facts(tx, one.name) for one in each(tx)),
            main=main,
            grids=tuple(planned),
        )


def _by_models(origins: dict[str, int]) -> str | None:
    """What a reader must know of answers of models, where the note on simulated people does not say it."""
    n = origins.get(Origin.GENERATED.value, 0)
    if not n or origins.get(Origin.SIMULATED.value):
        return None
    return f"{n:,} of {sum(origins.values()):,} judgements are by models"


def _log(tx: Tx) -> tuple[RunRecord, ...]:
    """Every run, and between them each decision of a person on a single pair, which leaves none; oldest first."""
    names = {one.id: one.name for one in people.people(tx)}
    kinds = {Rule.PERSON.value: "person", Rule.REOPENED.value: "reopened"}
    of = {one.id: one.name for one in keys(tx)}

    def place(cell_id: int) -> dict[str, Any]:
        return {"pair": number_of(cell_id)} | ({"grid": of[grid_of(cell_id)]} if len(of) > 1 else {})

    by_hand = (
        RunRecord(
            0, Adjudicate.stage, {**place(one.cell_id), "by": names[one.person_id]}, {kinds[one.rule]: 1}, "", one.at
        )
        for one in activity_log.decisions_by_people(tx)
        if one.rule in kinds
    )
    noted = (run for run in runs.runs(tx) if run.stage != Adjudicate.stage or "pair" not in run.params)
    return tuple(merge(noted, by_hand, key=attrgetter("at")))  # an older fcpair noted decisions by hand as runs, too


def _evaluation(tx: Tx, log: tuple[RunRecord, ...]) -> EvaluationFigures | None:
    found = runs.latest_outcome(tx)
    if found is None:
        return None
    run, outcome = found
    later = [one for one in log[log.index(run) + 1 :] if one.stage in CHANGING and not _is_release(one)]
    return EvaluationFigures(Outcome.from_data(outcome), run, len(later))


def _is_release(run: RunRecord) -> bool:
    """Whether the run only wrote a tier to a file."""
    return "out" in run.params
