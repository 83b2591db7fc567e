"""The report: everything about a study, read in one transaction, written as one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import merge
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError
from fcpair.evaluate.outcome import Outcome
from fcpair.files.tables.folders import replace_file
from fcpair.lazy import pd
from fcpair.params import Adjudicate, Agree, AgreementBlocks, DiamondRule, Indefinite, IntervalScope, Partition, Weights
from fcpair.records import Origin, Rule, RunRecord, Status
from fcpair.report import data as report_data
from fcpair.report.cells import block_size
from fcpair.report.data import EvaluationFigures, GridMap, GridPart, MainPart, ReportData, Stage, SurveysPart
from fcpair.report.formatting import counted
from fcpair.report.page import render
from fcpair.stages.questions import Closed
from fcpair.stages.stats.agreement import compute_agreement
from fcpair.steps.adjudication.agreement import sides_of
from fcpair.steps.adjudication.discussion import load_calibration_result
from fcpair.steps.answers.import_fc_conan import check_interval_scope
from fcpair.steps.assignment.validate import look_again_notes
from fcpair.steps.base.context import StudyContext, effective_options, is_planned, load_sample_size, scheme_of
from fcpair.steps.base.keywords import own, takes_params
from fcpair.steps.oversight.label_figures import decision_figures, load_people
from fcpair.steps.oversight.report_grid import grid_part, group_figures
from fcpair.steps.oversight.status import grid_facts
from fcpair.steps.release.partition import GRADED
from fcpair.steps.rules import pair_counts
from fcpair.steps.rules.pair_counts import simulated_note
from fcpair.store import Tx
from fcpair.store.adjudication import adjudications
from fcpair.store.answers import activity_log, judgements
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus import cells
from fcpair.store.corpus.grids import for_each_grid, grid_id_of, keys, to_public_number
from fcpair.store.oversight import build_progress, runs
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
    indefinite: Indefinite = own("class"),
    intervals: IntervalScope = own("texts"),
    level: float = own(0.95),
    blocks: AgreementBlocks | None = own(None),
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
    later = [one for one in log[log.index(run) + 1 :] if one.stage in CHANGING_STAGES and "out" not in one.params]
    return EvaluationFigures(Outcome.from_data(outcome), run, len(later))


BUILDING = {
    "import": ("corpus row", "corpus rows"),
    "select": ("selected HS", "selected HS"),
    "retrieve": ("candidate", "candidates"),
    "pair": ("pair", "pairs"),
    "assign": ("assignment", "assignments"),
}


def main_part(tx: Tx, partition: Partition | None = None, agree: Agree | None = None) -> MainPart:
    """Everything about a grid whose answers are labels, at any stage; by its own options where none are given."""
    rules, options = partition or effective_options(tx, Partition, {}), agree or effective_options(tx, Agree, {})
    check_interval_scope(tx, options)
    question, people = scheme_of(tx), load_people(tx)
    decisions = adjudications.current_adjudications(tx, "hs_id", "cn_id", "rule", "code", standing=True)
    labels = judgements.current_labels(tx, "cell_id", "hs_id", "cn_id", "annotator", "code")
    tally = pair_counts.tally(tx)
    return MainPart(
        **vars(decision_figures(tx, rules, tally, {name: labels[name].to_numpy() for name in GRADED})),
        look_again=tuple(look_again_notes(tx)),
        stages=_stages(tx, labels, decisions),
        grid=grid_map(tx, labels, decisions, question, tally.waiting),
        agreement=compute_agreement(labels, question, options, sides_of(tx)) if len(labels) else None,
        annotators=people.annotators,
        validators=people.validators,
        asked=SurveysPart(groups=group_figures(tx, rounds.primary(tx))),
        sampled=load_sample_size(tx),
        calibration=load_calibration_result(tx, options),
    )


def _stages(tx: Tx, labels: pd.DataFrame, decisions: pd.DataFrame) -> tuple[Stage, ...]:
    n_built = build_progress.n_built(tx)
    n_releases = len(runs.releases(tx))
    stages = [_building_stage(name, n, has_pairs=bool(n_built["pair"])) for name, n in n_built.items()]
    counts = assignments.counts_of_grid(tx)
    validation_counts = assignments.sum_of_round(counts, rounds.validation(tx))
    label_counts = assignments.sum_of_round(counts, rounds.primary(tx))
    label_counts[Status.OPEN.value] += open_slots.n_free(tx, rounds.primary(tx))
    return (
        *stages,
        _answering_stage("label", label_counts, "label", "fcpair labels import FILE"),
        Stage("agree", bool(len(labels)), f"on {counted(len(labels), 'label')}", "fcpair labels import FILE"),
        Stage("adjudicate", bool(len(decisions)), counted(len(decisions), "standing decision"), "fcpair adjudicate"),
        Stage(
            "validate assign",
            bool(validation_counts),
            counted(sum(validation_counts.values()), "assignment"),
            "fcpair validate assign",
        ),
        _answering_stage("validate", validation_counts, "verdict", "fcpair validate import FILE"),
        Stage("release", bool(n_releases), counted(n_releases, "release"), "fcpair partition --tier TIER --out FILE"),
    )


def _building_stage(name: str, n: int, *, has_pairs: bool) -> Stage:
    if not n and name in {"import", "select", "retrieve"} and has_pairs:
        return Stage(name, done=True, result="not needed: the grid was imported from a file", command="")
    return Stage(name, bool(n), counted(n, *BUILDING[name]), f"fcpair {name}")


def _answering_stage(name: str, n_by_status: Mapping[str, int], answer: str, command: str) -> Stage:
    n_done, n_open = n_by_status.get(Status.DONE.value, 0), n_by_status.get(Status.OPEN.value, 0)
    result = counted(n_done, answer) + (f", {n_open:,} still open" if n_open else "")
    return Stage(name, bool(n_done), result, command, n_open)


def grid_map(
    tx: Tx, labels: pd.DataFrame, decisions: pd.DataFrame, question: Closed, waiting: Sequence[int]
) -> GridMap | None:
    """The map of the grid: of its `labels`, its standing `decisions`, and the pairs `waiting` for a person.

    None before the grid has cells. Of a grid that is too large to be shown cell by cell, and of which only some cells
    were drawn, it has those and the pairs of the corpus.
    """
    n_pairs, shape, sample = build_progress.n_built(tx)["pair"], cells.shape(tx), load_sample_size(tx)
    if not n_pairs:
        return None
    corpus = cells.places_of(tx, cells.corpus_pairs(tx))
    listed = None
    if sample and block_size(shape) != (1, 1):
        listed = np.union1d(cells.places_of(tx, cells.cells(tx)), corpus)
    n_shown = shape[0] * shape[1] if listed is None else len(listed)

    def find(places: NDArray[np.int64]) -> NDArray[np.int64]:
        return places if listed is None else np.searchsorted(listed, places)

    # The pairs are counted, and read one by one only where the corpus does not explain the count.
    kinds = np.full(n_shown, report_data.IN_GRID, np.int8)
    if n_pairs != shape[0] * shape[1]:
        is_told = not sample and n_pairs == n_shown - len(corpus)
        kinds[:] = report_data.IN_GRID if is_told else report_data.HOLE
        kinds[find(corpus)] = report_data.IN_CORPUS
        if not is_told:
            kinds[find(cells.places_of(tx, cells.cells(tx)))] = report_data.IN_GRID
    counts, decision = np.zeros(n_shown, np.int16), np.full(n_shown, report_data.UNDECIDED, np.int8)
    np.add.at(counts, find(cells.places_of(tx, labels)), 1)
    waiting_labels = labels[labels["cell_id"].isin(waiting)] if len(labels) else labels
    decision[find(cells.places_of(tx, waiting_labels))] = report_data.WAITING
    kind = np.where(decisions["code"].isin(question.positive), report_data.POSITIVE, report_data.OTHER)
    decision[find(cells.places_of(tx, decisions))] = np.where(decisions["code"].isna(), report_data.DISCARDED, kind)
    if listed is not None:
        return GridMap(kinds, counts, decision, listed, shape)
    return GridMap(kinds.reshape(shape), counts.reshape(shape), decision.reshape(shape))
