"""What the documents of a release state of its study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import PurePath
from typing import Any

from fcpair.files.release.redaction import Redaction
from fcpair.files.release.release_facts import ReleaseFacts, ReleaseTable
from fcpair.files.release.release_form import ReleaseForm
from fcpair.params import MAIN, Agree, Annotate, is_about_hate
from fcpair.records import UNDECIDED, GridKey, Origin, Role, Round, RunRecord, Status
from fcpair.stages.stats.agreement import compute_agreement
from fcpair.stages.stats.rating_bins import drop_unfit_bins
from fcpair.steps.adjudication.agreement import agreement_blocks, sides_of
from fcpair.steps.assignment.validate import look_again_notes
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import PLAN, effective_options, is_planned, labels_of
from fcpair.steps.base.sample_size import load_sample_size
from fcpair.steps.publication.release_privacy import Withheld, demographic_counts, is_survey
from fcpair.steps.publication.release_tables import uncounted_questions
from fcpair.steps.rules.pair_counts import split_unanimous
from fcpair.store import Tx
from fcpair.store.adjudication import adjudications
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import runs, settings
from fcpair.store.people import guidelines, people

AGREEMENT_COLUMNS = ("grid", "round", "part", "figure", "value", "low", "high", "n", "undefined", "note")
SOURCE_STAGES = ("import", PLAN)  # whose settings name the files that texts came from
MAKING_STAGES = ("import", "select", "retrieve", "pair")  # those that come after are done bit by bit, run after run


def load_facts(
    tx: Tx,
    name: str,
    form: ReleaseForm,
    tables: Sequence[ReleaseTable],
    public_log: Sequence[Mapping[str, Any]],
    agreement: Sequence[Mapping[str, Any]],
    redaction: Redaction,
    withheld: Withheld,
    *,
    has_texts: bool,
) -> ReleaseFacts:
    """The facts of a study; `public_log` has its runs as they are published."""
    with grids.on_first_grid(tx):
        study = runs.study_facts(tx)
        consent = effective_options(tx, Annotate, {}).consent
    origins = _origins(tx)
    guidelines_version, guideline_text = guidelines.current_version(tx)
    return ReleaseFacts(
        name=name,
        form=form,
        study_title=study["title"],
        hs_name=study["hs_name"],
        cn_name=study["cn_name"],
        about_hate=is_about_hate(study["hs_name"]),
        version=version("fcpair"),
        has_texts=has_texts,
        tables=tables,
        questions=dict(_questions(tx)),
        guidelines_version=guidelines_version if guideline_text.strip() else 0,
        origins=origins,
        people=_people_by_role(tx),
        models=_models(tx),
        demographics=demographic_counts(tx),
        agreement=_shown_agreement(agreement),
        has_agreement=bool(agreement),
        sources=list(_sources(tx, redaction)),
        steps=[*_steps(public_log), *_answers_and_decisions(tx)],
        notes=list(_notes(tx)),
        left_out=list(_left_out(tx, withheld)),
        consent=redaction.clean_text(consent) if Origin.ONLINE.value in origins else "",
    )


def agreement_rows(tx: Tx, key: GridKey, redaction: Redaction) -> Iterator[dict[str, Any]]:
    """Agreement in the grid that a transaction is about, over all people, with intervals; see `Agreement.to_frame`.

    Respondents of a survey need not agree, and from the figures of a few statements their counts could be had.
    """
    options = replace(effective_options(tx, Agree, {}), by=None, metadata=None)
    for round_ in rounds.answer_rounds(tx):
        if is_survey(round_) or not judgements.answered_cells(tx, round_):
            continue
        for part, row in _figure_rows(tx, round_, options):
            if not row.get("annotators"):
                place = {"grid": key.name, "round": round_.name, "part": part}
                yield {column: redaction.clean({**row, **place}.get(column)) for column in AGREEMENT_COLUMNS}


def _figure_rows(tx: Tx, round_: Round, options: Agree) -> Iterator[tuple[str, dict[str, Any]]]:
    question = labels_of(tx) if round_.counts else None
    if question is not None:
        labels = judgements.current_labels(tx, "cell_id", "hs_id", "cn_id", "annotator", "code", of=round_)
        yield from (("", row) for row in compute_agreement(labels, question, options, sides_of(tx)).rows())
        return
    fitting = drop_unfit_bins(form_of(round_.form), options)
    for block in agreement_blocks(tx, round_, fitting):
        yield from ((block.part, row) for row in block.rows())


def _shown_agreement(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The figures of every part of a round that has one that is defined."""

    def place(row: Mapping[str, Any]) -> tuple[str, ...]:
        return row["grid"], row["round"], row["part"]

    defined = {place(row) for row in rows if row["value"] is not None}
    return [row for row in rows if place(row) in defined]


def _origins(tx: Tx) -> dict[str, int]:
    """How many answers that the tables rest on came from where; one that was carried over counts once."""
    counts: Counter[str] = Counter()
    for _ in grids.for_each_grid(tx):
        for round_ in rounds.answer_rounds(tx):
            counts.update(judgements.n_by_origin(tx, round_))
        counts.update(judgements.current_verdicts(tx, "origin")["origin"])
    return dict(sorted(counts.items()))


def _questions(tx: Tx) -> Iterator[tuple[str, str]]:
    """What was asked, by where: the labels of pairs, or a round of a planned grid."""
    for key in grids.for_each_grid(tx):
        for round_ in rounds.answer_rounds(tx):
            if is_planned(tx):
                yield f"round {round_.name} of grid {key.name}", round_.form
            else:
                yield "the labels", str(labels_of(tx) or round_.form)


def _left_out(tx: Tx, withheld: Withheld) -> Iterator[str]:
    """What the study has that no table has: answers to known pairs, of calibrations, and those of respondents."""
    n_calibrating, n_known = 0, 0
    for key in grids.for_each_grid(tx):
        n_calibrating += sum(_n_answers(tx, round_) for round_ in rounds.calibration_rounds(tx))
        n_known += sum(_n_answers(tx, round_) for round_ in rounds.of_known_pairs(tx))
        for round_ in rounds.answer_rounds(tx):
            names = [name for name, _ in uncounted_questions(round_)]
            if names and _n_answers(tx, round_):
                which = ", ".join(f"`{name}`" for name in names)
                yield f"What respondents of the grid {key.name} answered to {which} is not counted here"
            if not is_survey(round_) and (key.name, round_.name) in withheld.rounds and _n_answers(tx, round_):
                yield f"The round {round_.name} of the grid {key.name} is left out: it edits what respondents wrote"
        if key.name in withheld.grids:
            yield f"The grid {key.name} is left out: it is made of what respondents wrote"
    if n_calibrating:
        carried = "those that count are among the labels"
        yield f"The {n_calibrating:,} answers of calibration rounds are left out; {carried}"
    if n_known:
        yield (
            f"The {n_known:,} answers to known pairs (qualification, control pairs) are left out: no label, tier or "
            "figure of agreement rests on them"
        )


def _n_answers(tx: Tx, round_: Round) -> int:
    return sum(judgements.n_by_origin(tx, round_).values())


def _people_by_role(tx: Tx) -> dict[str, int]:
    n_by_role = Counter(person.role for person in people.people(tx))
    return {role.value: n_by_role[role] for role in Role if n_by_role[role] and role is not Role.MODEL}


def _models(tx: Tx) -> dict[str, str]:
    """The models that answer, each with the name under which it can be had."""
    records: dict[str, Any] = {}
    for run in runs.runs(tx, "generate"):
        records |= run.params.get("models") or {}
    return {one.name: str((records.get(one.name) or {}).get("name", "")) for one in people.people(tx, Role.MODEL)}


def _sources(tx: Tx, redaction: Redaction) -> Iterator[str]:
    """The files that the texts came from, each with the beginning of its digest."""
    listed: dict[str, None] = {}
    for _ in grids.for_each_grid(tx):
        for stage in SOURCE_STAGES:
            listed |= dict.fromkeys(_files_in(settings.of_stage(tx, stage), redaction))
    yield from listed


def _files_in(value: Any, redaction: Redaction) -> Iterator[str]:
    if isinstance(value, Mapping):
        if isinstance(value.get("path"), str) and isinstance(value.get("sha256"), str):
            yield f"{redaction.clean(PurePath(value['path']).name)} (SHA-256 {value['sha256'][:16]}...)"
        for item in value.values():
            yield from _files_in(item, redaction)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _files_in(item, redaction)


def _steps(public_log: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The newest run of each stage that made a grid, grid by grid, in a line: what it counted."""
    newest = {(run["stage"], run["params"].get("grid")): run["counts"] for run in public_log}
    for (stage, grid), counts in newest.items():
        if stage in MAKING_STAGES:
            yield _counted(stage, grid, counts)


def _answers_and_decisions(tx: Tx) -> Iterator[str]:
    """The answers of each round that has any, and the decisions of each grid by rule, as `status` counts them."""
    for key in grids.for_each_grid(tx):
        grid = None if key.name == MAIN else key.name
        for round_ in rounds.of_grid(tx):
            counts = assignments.n_by_status(tx, round_)
            n_done, n_skipped = (counts.get(status.value, 0) for status in (Status.DONE, Status.SKIPPED))
            if is_survey(round_):  # few skips may be one respondent's
                answers = {"answers and skips": n_done + n_skipped}
            else:
                answers = {"answers": n_done, "skipped": n_skipped}
            if n_done or n_skipped:
                yield _counted(f"round {round_.name}", grid, answers)
        decided = Counter(adjudications.current_adjudications(tx, "rule")["rule"])
        by_rule = {rule: n for rule, n in decided.items() if rule not in UNDECIDED}
        if by_rule and not is_survey(rounds.primary(tx)):  # as how many statements all agreed on tells single answers
            yield _counted("decisions", grid, split_unanimous(tx, by_rule))


def _counted(what: str, grid: str | None, counts: Mapping[str, Any]) -> str:
    place = f"{what} of grid {grid}" if grid else what
    plain = [f"{key.replace('_', ' ')} {value:,}" for key, value in counts.items() if isinstance(value, int)]
    return f"{place}: {', '.join(plain)}" if plain else place


def _notes(tx: Tx) -> Iterator[str]:
    for key in grids.for_each_grid(tx):
        if sample := load_sample_size(tx):
            yield f"Grid {key.name}: {sample}"
        if is_planned(tx) or labels_of(tx):
            yield from look_again_notes(tx)


def load_runs(tx: Tx, last_run: int | None, without: str) -> list[RunRecord]:
    """The runs up to a number, all for None, but those of one stage."""
    return [run for run in runs.runs(tx) if run.stage != without and (last_run is None or run.id <= last_run)]
