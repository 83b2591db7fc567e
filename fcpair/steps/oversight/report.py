"""The report: everything about a study, read in one transaction, written as one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import merge
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from typing import Any

from fcpair.errors import InputError
from fcpair.evaluate.outcome import Outcome
from fcpair.files.tables.folders import replace_file
from fcpair.params import Adjudicate, Agree, AgreementBlocks, DiamondRule, IntervalScope, NotSure, Partition, Weights
from fcpair.records import Origin, Rule, RunRecord
from fcpair.report.data import EvaluationFigures, GridPart, MainPart, ReportData
from fcpair.report.page import render
from fcpair.steps.base.context import StudyContext, is_planned
from fcpair.steps.base.keywords import own, takes_params
from fcpair.steps.oversight.grid_status import grid_facts
from fcpair.steps.oversight.report_grid import grid_part
from fcpair.steps.oversight.report_main import main_part
from fcpair.steps.rules.study_notes import simulated_note
from fcpair.store import Tx
from fcpair.store.answers import activity_log, judgements
from fcpair.store.corpus.grids import for_each_grid, grid_id_of, keys, to_public_number
from fcpair.store.oversight import runs
from fcpair.store.people import people

SUFFIXES = (".html", ".htm")
# The stages that change labels, decisions, verdicts or tier rules; the grid is fixed as soon as there are labels.
CHANGING_STAGES = (
    "label import",
    "label withdraw",
    "simulate",
    "adjudicate",
    "validate import",
    "validate withdraw",
    "partition",
)


@takes_params
def write_report(
    study: StudyContext,
    path: str | Path,
    partition: Partition | None = None,
    agreement: Agree | None = None,
    *,
    diamond: DiamondRule = own("unanimous"),
    own_tiers: Mapping[str, Any] = own(()),
    weights: Weights = own("none"),
    not_sure: NotSure = own("class"),
    intervals: IntervalScope = own("texts"),
    level: float = own(0.95),
    by: AgreementBlocks | None = own(None),
    metadata: str | None = own(None),
    bins: Sequence[str] = own(()),
) -> Path:
    """Write everything about the study into one HTML file, at whatever stage it is; changes nothing in it.

    It is written whole or not at all, and the same study gives the same bytes. The study's own options hold where
    none are given. Raises InputError for a name that does not end in .html, and where there is no such folder.
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: expected a name that ends in {' or '.join(SUFFIXES)}")
    page = render(gather_report_data(study, partition, agreement))
    with replace_file(path) as temporary:
        temporary.write_text(page, "utf-8", newline="\n")
    return Path(path)


def gather_report_data(
    study: StudyContext, partition: Partition | None = None, agreement: Agree | None = None
) -> ReportData:
    """Everything that the report says, at whatever stage the study is."""
    with study._store.read() as tx:
        main: MainPart | None = None
        grid_parts: list[GridPart] = []
        for key in for_each_grid(tx):
            if is_planned(tx):
                grid_parts.append(grid_part(tx, key.name, partition, agreement))
            else:
                main = main_part(tx, partition, agreement)
        origins, log = judgements.n_by_origin(tx), _log(tx)
        return ReportData(
            facts=runs.study_facts(tx),
            version=version("fcpair"),
            simulated=simulated_note(origins),
            by_models=_models_note(origins),
            log=log,
            releases=tuple(runs.releases(tx)),
            evaluation=_latest_evaluation(tx, log),
            listed=tuple(grid_facts(tx, key.name) for key in for_each_grid(tx)),
            main=main,
            grids=tuple(grid_parts),
        )


def _models_note(origins: dict[str, int]) -> str | None:
    """Note for the reader on answers of models; None without any, or where the note on simulated people covers them."""
    n = origins.get(Origin.GENERATED.value, 0)
    if not n or origins.get(Origin.SIMULATED.value):
        return None
    return f"{n:,} of {sum(origins.values()):,} judgements are by models"


def _log(tx: Tx) -> tuple[RunRecord, ...]:
    """Every run, and between them each decision of a person on a single pair, which leaves none; oldest first."""
    names = {item.id: item.name for item in people.people(tx)}
    kinds = {Rule.PERSON.value: "person", Rule.REOPENED.value: "reopened"}
    grid_names = {item.id: item.name for item in keys(tx)}

    def pair_params(cell_id: int) -> dict[str, Any]:
        return {"pair": to_public_number(cell_id)} | (
            {"grid": grid_names[grid_id_of(cell_id)]} if len(grid_names) > 1 else {}
        )

    by_hand = (
        RunRecord(
            0,
            Adjudicate.stage,
            {**pair_params(item.cell_id), "by": names[item.person_id]},
            {kinds[item.rule]: 1},
            "",
            item.at,
        )
        for item in activity_log.decisions_by_people(tx)
        if item.rule in kinds
    )
    logged_runs = (run for run in runs.runs(tx) if run.stage != Adjudicate.stage or "pair" not in run.params)
    return tuple(
        merge(logged_runs, by_hand, key=attrgetter("at"))
    )  # an older fcpair noted decisions by hand as runs, too


def latest_evaluation(study: StudyContext) -> EvaluationFigures | None:
    """The newest evaluation of systems, as it was noted; None before the first."""
    with study._store.read() as tx:
        return _latest_evaluation(tx, _log(tx))


def _latest_evaluation(tx: Tx, log: tuple[RunRecord, ...]) -> EvaluationFigures | None:
    latest = next(runs.outcomes(tx), None)
    if latest is None:
        return None
    run, outcome = latest
    later = [one for one in log[log.index(run) + 1 :] if one.stage in CHANGING_STAGES and not _is_release(one)]
    return EvaluationFigures(Outcome.from_data(outcome), run, len(later))


def _is_release(run: RunRecord) -> bool:
    """Whether the run only wrote a tier to a file."""
    return "out" in run.params
