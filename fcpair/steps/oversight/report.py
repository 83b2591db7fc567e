"""The report: everything about a study, grid by grid, read in one transaction, written as one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from heapq import merge
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fcpair.bias.answers import COLUMNS
from fcpair.bias.scoring import score
from fcpair.errors import InputError
from fcpair.evaluate.outcome import Outcome
from fcpair.files.tables.folders import replace_file
from fcpair.lazy import pd
from fcpair.params import (
    Adjudicate,
    Agree,
    AgreementBlocks,
    DiamondRule,
    Indefinite,
    IntervalScope,
    Partition,
    Rank,
    Weights,
)
from fcpair.records import Origin, Role, Round, Rule, RunRecord, Status
from fcpair.report import data
from fcpair.report.data import EvaluationFigures, Stage
from fcpair.report.figures.grid_map import block_size
from fcpair.report.formatting import counted
from fcpair.report.page import render
from fcpair.stages.questions import Closed
from fcpair.stages.questions.labels import VERDICT
from fcpair.stages.questions.text_question import Text, n_words
from fcpair.stages.stats.agreement import AgreementBlock, drop_unfit_bins
from fcpair.stages.survey import add_shares, count_answers, margin_of_error
from fcpair.steps.adjudication.agreement import agreement_blocks, measure_labels
from fcpair.steps.adjudication.discussion import load_calibration_result
from fcpair.steps.answers.import_fc_conan import check_interval_scope
from fcpair.steps.answers.ranking import ranking_of
from fcpair.steps.base import context
from fcpair.steps.base.answer_values import MOST_CHOICES, closed_question, current_form, form_of
from fcpair.steps.base.context import StudyContext
from fcpair.steps.base.keywords import own, takes_params
from fcpair.steps.oversight.activity import decision_figures, load_people, people_figures
from fcpair.steps.oversight.status import grid_facts
from fcpair.steps.release.block_report import basis_notes
from fcpair.steps.rules import tallies
from fcpair.steps.rules.tallies import round_progress
from fcpair.steps.rules.tier_evidence import GRADED
from fcpair.steps.survey import answers_to_grid_items, compare_groups_of_round, declared_questions, is_survey, survey_of
from fcpair.store import Tx, adjudications, people
from fcpair.store.answers import activity_log, judgements
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus import cells, grids, sides
from fcpair.store.oversight import build_progress, runs

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
    further: bool = own(False),
) -> Path:
    """Write everything about the study into one HTML file, whole or not at all; the same study gives the same bytes.

    Its own options hold where none are given. Raises InputError for a name that does not end in .html, or no folder.
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: expected a name that ends in {' or '.join(SUFFIXES)}")
    page = render(gather_report_data(study, partition, agreement))
    with replace_file(path) as temporary:
        temporary.write_text(page, "utf-8", newline="\n")
    return Path(path)


def gather_report_data(
    study: StudyContext, partition: Partition | None = None, agreement: Agree | None = None
) -> data.ReportData:
    """Everything that the report says, at whatever stage the study is."""
    with study._store.read() as tx:
        main: data.MainPart | None = None
        grid_parts: list[data.GridPart] = []
        for key in grids.for_each_grid(tx):
            if not context.is_planned(tx):
                main = main_part(tx, partition, agreement)
                continue
            rules = partition or context.effective_options(tx, Partition, {})
            options = agreement or context.effective_options(tx, Agree, {})
            counts, labels = assignments.counts_of_grid(tx), judgements.label_arrays(tx, *GRADED)
            grid_parts.append(
                data.GridPart(
                    facts=grid_facts(tx, key.name),
                    look_again=tuple(basis_notes(tx)),
                    rounds=tuple(_round_part(tx, key.name, round_, counts, options) for round_ in rounds.of_grid(tx)),
                    decided=decision_figures(tx, rules, tallies.tally(tx), labels) if context.labels_of(tx) else None,
                    asked=asked_part(tx, key.name),
                    calibration=load_calibration_result(tx, options),
                )
            )
        origins, log = judgements.n_by_origin(tx), _log(tx)
        # None where the note on simulated people covers them.
        n_by_models = 0 if origins.get(Origin.SIMULATED.value) else origins.get(Origin.GENERATED.value, 0)
        return data.ReportData(
            facts=runs.study_facts(tx),
            version=version("fcpair"),
            simulated=tallies.simulated_note(origins),
            by_models=f"{n_by_models:,} of {sum(origins.values()):,} judgements are by models" if n_by_models else None,
            log=log,
            releases=tuple(runs.releases(tx)),
            evaluation=_latest_evaluation(tx, log),
            listed=tuple(grid_facts(tx, key.name) for key in grids.for_each_grid(tx)),
            main=main,
            grids=tuple(grid_parts),
        )


def _log(tx: Tx) -> tuple[RunRecord, ...]:
    """Every run, and between them each decision of a person on a single pair, which leaves none; oldest first."""
    kinds = {Rule.PERSON.value: "person", Rule.REOPENED.value: "reopened"}
    names, grid_names = ({item.id: item.name for item in named} for named in (people.people(tx), grids.keys(tx)))
    by_hand = []
    for item in activity_log.decisions_by_people(tx):
        if item.rule in kinds:
            params: dict[str, Any] = {"pair": grids.to_public_number(item.cell_id)}
            if len(grid_names) > 1:
                params["grid"] = grid_names[grids.grid_id_of(item.cell_id)]
            params["by"] = names[item.person_id]
            by_hand.append(RunRecord(0, Adjudicate.stage, params, {kinds[item.rule]: 1}, "", item.at))
    # An older fcpair noted decisions by hand as runs, too.
    logged_runs = (run for run in runs.runs(tx) if run.stage != Adjudicate.stage or "pair" not in run.params)
    return tuple(merge(logged_runs, by_hand, key=attrgetter("at")))


def latest_evaluation(study: StudyContext) -> EvaluationFigures | None:
    """The newest evaluation of systems, as it was noted; None before the first."""
    with study._store.read() as tx:
        return _latest_evaluation(tx, _log(tx))


def _latest_evaluation(tx: Tx, log: tuple[RunRecord, ...]) -> EvaluationFigures | None:
    run, outcome = next(runs.outcomes(tx), (None, None))
    if run is None or outcome is None:
        return None
    later = log[log.index(run) + 1 :]
    n_changes = sum(entry.stage in CHANGING_STAGES and "out" not in entry.params for entry in later)
    return EvaluationFigures(Outcome.from_data(outcome), run, n_changes)


BUILDING = {
    "import": ("corpus row", "corpus rows"),
    "select": ("selected HS", "selected HS"),
    "retrieve": ("candidate", "candidates"),
    "pair": ("pair", "pairs"),
    "assign": ("assignment", "assignments"),
}


def main_part(tx: Tx, partition: Partition | None = None, agree: Agree | None = None) -> data.MainPart:
    """Everything about a grid whose answers are labels, at any stage; by its own options where none are given."""
    rules, options = (
        partition or context.effective_options(tx, Partition, {}),
        agree or context.effective_options(tx, Agree, {}),
    )
    check_interval_scope(tx, options)
    question, people = context.scheme_of(tx), load_people(tx)
    decisions = adjudications.current_adjudications(tx, "hs_id", "cn_id", "rule", "code", standing=True)
    labels = judgements.current_labels(tx, "cell_id", "hs_id", "cn_id", "annotator", "code")
    tally = tallies.tally(tx)
    return data.MainPart(
        **vars(decision_figures(tx, rules, tally, {name: labels[name].to_numpy() for name in GRADED})),
        look_again=tuple(basis_notes(tx)),
        stages=_stages(tx, labels, decisions),
        grid=grid_map(tx, labels, decisions, question, tally.waiting),
        agreement=measure_labels(tx, options) if len(labels) else None,
        annotators=people.annotators,
        validators=people.validators,
        asked=data.SurveysPart(groups=group_figures(tx, rounds.primary(tx))),
        sampled=context.load_sample_size(tx),
        calibration=load_calibration_result(tx, options),
    )


def _stages(tx: Tx, labels: pd.DataFrame, decisions: pd.DataFrame) -> tuple[Stage, ...]:
    n_built, n_releases, counts = build_progress.n_built(tx), len(runs.releases(tx)), assignments.counts_of_grid(tx)
    stages = [
        Stage(name, done=True, result="not needed: the grid was imported from a file", command="")
        if not n and name in {"import", "select", "retrieve"} and n_built["pair"]
        else Stage(name, bool(n), counted(n, *BUILDING[name]), f"fcpair {name}")
        for name, n in n_built.items()
    ]
    verdicts = assignments.sum_of_round(counts, rounds.validation(tx))
    label_counts = assignments.sum_of_round(counts, rounds.primary(tx))
    label_counts[Status.OPEN.value] += open_slots.n_free(tx, rounds.primary(tx))
    n_assigned = counted(sum(verdicts.values()), "assignment")
    return (
        *stages,
        _answering_stage("label", label_counts, "label", "fcpair labels import FILE"),
        Stage("agree", bool(len(labels)), f"on {counted(len(labels), 'label')}", "fcpair labels import FILE"),
        Stage("adjudicate", bool(len(decisions)), counted(len(decisions), "standing decision"), "fcpair adjudicate"),
        Stage("validate assign", bool(verdicts), n_assigned, "fcpair validate assign"),
        _answering_stage("validate", verdicts, "verdict", "fcpair validate import FILE"),
        Stage("release", bool(n_releases), counted(n_releases, "release"), "fcpair partition --tier TIER --out FILE"),
    )


def _answering_stage(name: str, n_by_status: Mapping[str, int], answer: str, command: str) -> Stage:
    n_done, n_open = (n_by_status.get(status.value, 0) for status in (Status.DONE, Status.OPEN))
    result = counted(n_done, answer) + (f", {n_open:,} still open" if n_open else "")
    return Stage(name, bool(n_done), result, command, n_open)


def grid_map(
    tx: Tx, labels: pd.DataFrame, decisions: pd.DataFrame, question: Closed, waiting: Sequence[int]
) -> data.GridMap | None:
    """The map of the grid, or of a large sample its own cells and the corpus's; None before there are cells."""
    n_pairs, shape, sample = build_progress.n_built(tx)["pair"], cells.shape(tx), context.load_sample_size(tx)
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
    kinds = np.full(n_shown, data.IN_GRID, np.int8)
    if n_pairs != shape[0] * shape[1]:
        is_told = not sample and n_pairs == n_shown - len(corpus)
        kinds[:] = data.IN_GRID if is_told else data.HOLE
        kinds[find(corpus)] = data.IN_CORPUS
        if not is_told:
            kinds[find(cells.places_of(tx, cells.cells(tx)))] = data.IN_GRID
    counts, decision = np.zeros(n_shown, np.int16), np.full(n_shown, data.UNDECIDED, np.int8)
    np.add.at(counts, find(cells.places_of(tx, labels)), 1)
    waiting_labels = labels[labels["cell_id"].isin(waiting)] if len(labels) else labels
    decision[find(cells.places_of(tx, waiting_labels))] = data.WAITING
    kind = np.where(decisions["code"].isin(question.positive), data.POSITIVE, data.OTHER)
    decision[find(cells.places_of(tx, decisions))] = np.where(decisions["code"].isna(), data.DISCARDED, kind)
    if listed is not None:
        return data.GridMap(kinds, counts, decision, listed, shape)
    return data.GridMap(kinds.reshape(shape), counts.reshape(shape), decision.reshape(shape))


def _round_part(tx: Tx, grid: str, round_: Round, counts: assignments.Counts, options: Agree) -> data.RoundPart:
    form, checks, by_models = form_of(round_.form), round_.checks is not None, round_.role is Role.MODEL
    question = VERDICT if checks else closed_question(form)
    if question and len(question.choices) > MOST_CHOICES:  # whose answers cannot be counted one by one
        question = None
    texts, blocks = list[data.WrittenTexts](), tuple[AgreementBlock, ...]()
    if not checks and judgements.answered_cells(tx, round_):
        blocks = agreement_blocks(tx, round_, drop_unfit_bins(form, options))
        by_text = options.blocks is not None and options.metadata is None
        if by_text and grids.side_kinds(tx)[options.blocks == "column"] != "name":  # a text that the plan does not name
            numbers = {text: at for at, text in enumerate(dict.fromkeys(block.of for block in blocks if block.of), 1)}
            blocks = tuple(
                replace(block, of=f"{options.blocks} {numbers[block.of]}") if block.of else block for block in blocks
            )
        answers = [form.load(value) for value in judgements.current_labels(tx, "value", of=round_)["value"]]
        for name, written in form.questions:
            if isinstance(written, Text):
                lengths = [n for answer in answers if (n := n_words(answer[name] or ""))]  # None where it was not asked
                texts.append(data.WrittenTexts(name, len(lengths), float(median(lengths)) if lengths else None))
    model_records, figures = dict[str, Any](), list[data.ModelFigures]()
    for run in runs.runs(tx, "generate") if by_models else ():
        if (run.params["grid"], run.params["round"]) == (grid, round_.name):
            model_records |= run.params["models"]
    for person in people.people(tx, Role.MODEL) if by_models else ():
        if by_status := counts.get(round_.name, {}).get(person.id):
            record = model_records.get(person.name, {})
            n_by_status = (by_status.get(status.value, 0) for status in (Status.DONE, Status.OPEN, Status.SKIPPED))
            figures.append(
                data.ModelFigures(person.name, record.get("name", ""), record.get("sha256", ""), *n_by_status)
            )
    return data.RoundPart(
        name=round_.name,
        role=round_.role,
        form=current_form(round_),
        checks=checks,
        dealt=round_progress(tx, round_).dealt,
        choices=tuple(choice.name for choice in question or ()),
        people=() if by_models else people_figures(tx, round_.role, round_, question, counts),
        models=tuple(figures),
        texts=tuple(texts),
        agreement=blocks,
    )


def asked_part(tx: Tx, name: str, *, in_words: bool = False) -> data.SurveysPart:
    """Figures on the answers to a survey or to items; unnamed texts stand by number, unless all is said `in_words`."""
    round_ = rounds.primary(tx)
    if not judgements.answered_cells(tx, round_):
        return data.SurveysPart()
    part = data.SurveysPart(groups=group_figures(tx, round_))
    if not context.is_planned(tx):
        return part
    if cells.has_comparisons(tx):
        ranked = ranking_of(tx, Rank(), round_)
        if not in_words:
            bodies = {
                text_id: f"text {at}" for at, text_id in enumerate(sorted({of.text_id for of in ranked.texts}), 1)
            }
            ranked = replace(ranked, row_texts=dict.fromkeys(ranked.row_texts, ""), bodies=bodies)
        return replace(part, ranking=ranked)
    if round_.role is Role.RESPONDENT and is_survey(form_of(round_.form)):
        survey = survey_of(tx, name)
        answers, n_people = survey.given, int(survey.given["person"].nunique())
        numbered = [] if in_words else ["statement"] if grids.side_kinds(tx)[1] == "name" else ["statement", "question"]
        for column in numbered:
            every_text = (survey.statements if column == "statement" else answers)[column]
            numbers = {text: f"{column} {at}" for at, text in enumerate(dict.fromkeys(every_text), 1)}
            answers = answers.assign(**{column: answers[column].map(numbers)})
        shares = add_shares(count_answers(answers))
        part = replace(part, survey=data.SurveyFigures(shares, n_people, margin_of_error(n_people)))
    first_row_ids = sides.text_ids(tx, "row", drawn=True)[:1]
    row_metadata = cells.texts_of_grid(tx).set_index("text_id")["meta"].loc[first_row_ids]
    if not all(column in about for about in row_metadata for column in COLUMNS):
        return part
    by_name = answers_to_grid_items(tx, name, round_)  # BBQ's scores, and of those with probabilities PBBQ's
    weighed = {by: answer for by, answer in by_name.items() if answer.answered.probabilities is not None}
    scores = tuple(
        {by: score(answer.answered, scheme, answer.categories) for by, answer in by_model.items()}
        for scheme, by_model in (("bbq", by_name), ("pbbq", weighed))
        if by_model
    )
    return replace(part, bias=scores)


def group_figures(tx: Tx, round_: Round) -> data.GroupFigures | None:
    """Groups of those who answered a round; None where none were declared, or it asks no question with a list."""
    question = next((name for name, one in form_of(round_.form).questions if isinstance(one, Closed)), None)
    if question is None or not declared_questions(tx)[0] or round_.role is Role.MODEL:
        return None
    if not judgements.answered_cells(tx, round_):
        return None
    try:
        comparison = compare_groups_of_round(tx, round_, question=question)
    except InputError as error:
        return data.GroupFigures(question, (), {}, str(error))
    return data.GroupFigures(comparison.question, comparison.compared, comparison.exploratory)
