"""Grids of any two sides: adding one as it is planned, and filling its sides, each collected from its sources."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fcpair.errors import Finding, InputError, StageError, reject
from fcpair.files.corpus.corpus import CN, HS, read_crowdcounter
from fcpair.files.tables.tabular import LINE, Reading, check_file, choose_reading, place_of, read_lines, read_table
from fcpair.known_pairs import Controls, Qualification
from fcpair.lazy import pd
from fcpair.param_values import as_params, from_params
from fcpair.params import MAIN, Adjudicate, Agree, Calibration, Partition, Setup, Validate
from fcpair.plans import ORIGINAL, ORIGINAL_LANGUAGE, GridPlan, RoundPlan, SidePlan, Source
from fcpair.records import Role, RunRecord
from fcpair.round_options import DESIGNED, RoundOptions
from fcpair.stages.assignment.plan import VALIDATION_ROUND, check_plans, label_question
from fcpair.stages.corpus.retrieve import draw_rows, have_many_slurs, labelled_by_majority
from fcpair.stages.corpus.sample import own_order
from fcpair.stages.questions import Closed, Form, parse_form
from fcpair.stages.questions.labels import VERDICT, read_labels
from fcpair.steps.base import context, departures, text_digests
from fcpair.steps.base.answer_values import add_round
from fcpair.steps.base.context import GridContext, StudyContext
from fcpair.steps.base.keywords import REQUIRED, plan_sections, takes_params
from fcpair.steps.base.text_digests import Digest
from fcpair.steps.rules.tallies import check_done
from fcpair.store import Tx
from fcpair.store.answers import authorship
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, grids, sides, texts
from fcpair.store.oversight import runs, settings
from fcpair.texts.aliases import read_aliases

LABEL, BLIND = "label", f"{VALIDATION_ROUND} blind"
LANGUAGE = "language"
SOURCE, GROUP = "source", "group"
MAX_NAMED = 5  # texts in several groups or sources that are named

Row = tuple[str, str, str, dict[str, str]]
"""A text as the store takes it: digest, body, language, metadata."""


def fill_study(tx: Tx, setup: Setup, guidelines: str, *, main: bool = True) -> None:
    """Write the first rows of a study, and the grid `main` unless it is to have others."""
    runs.add_study(tx, setup.title, guidelines)
    if main:
        add_corpus_grid(tx, MAIN, setup)


def add_corpus_grid(tx: Tx, name: str, setup: Setup) -> None:
    """Add a grid of HS x CN, to be labelled, and validated with the label in sight or without."""
    _add_rounds(tx, grids.add(tx, name, (HS, setup.hs_name), (CN, setup.cn_name)), setup)


def change_setup(tx: Tx, setup: Setup) -> None:
    """Let the title, the names of the sides and the scheme be those of `setup`, in a study without a corpus."""
    runs.rename_study(tx, setup.title)
    grids.change(tx, row_name=setup.hs_name, column_name=setup.cn_name)
    rounds.remove_all(tx)
    _add_rounds(tx, grids.current_grid_id(tx), setup)


def _add_rounds(tx: Tx, grid_id: int, setup: Setup) -> None:
    question = read_labels(setup.scheme)
    label = add_round(tx, grid_id, LABEL, Role.ANNOTATOR, Form((("label", question),)), counts=True)
    _add_checks(tx, grid_id, label, question)


def _add_checks(tx: Tx, grid_id: int, round_id: int, question: Closed, options: RoundOptions | None = None) -> None:
    """Add the rounds that check what was decided on the answers of another, which asks `question`: not blind, blind."""
    common: dict[str, Any] = {"role": Role.VALIDATOR, "checks": round_id, "options": options}
    add_round(tx, grid_id, VALIDATION_ROUND, form=Form((("verdict", VERDICT),)), **common)
    add_round(tx, grid_id, BLIND, form=Form((("own_label", question),)), blind=True, **common)


@takes_params
def add_grid(
    study: StudyContext,
    plan: GridPlan = REQUIRED,
    *,
    name: str = REQUIRED,
    rows: SidePlan = REQUIRED,
    columns: SidePlan = REQUIRED,
    rounds: Sequence[RoundPlan] = REQUIRED,
    row_name: str = "row",
    column_name: str = "column",
    qualification: Qualification | None = None,
    controls: Controls | None = None,
    calibration: Calibration | None = None,
    agreement: Agree | None = None,
    adjudicate: Adjudicate | None = None,
    validate: Validate | None = None,
    partition: Partition | None = None,
) -> RunRecord:
    """Add a grid with its rounds to the study; InputError for a taken name, a wrong form or no file."""
    with study._store.write() as tx:
        return add(tx, plan)


def add(tx: Tx, plan: GridPlan, *, in_place_of_current: bool = False) -> RunRecord:
    """Write the rows of a planned grid and its rounds, and keep its sides as settings; or in place of an empty grid."""
    others = () if in_place_of_current else grids.for_each_grid(tx)
    check_plans([plan], {item.name: rounds.primary(tx).form for item in others})
    for path in (path for side in (plan.rows, plan.columns) for path in side.files):
        check_file(path)
    side_names = (plan.rows.text_kind, plan.row_name), (plan.columns.text_kind, plan.column_name)
    if in_place_of_current:
        rounds.remove_all(tx)
        grids.redefine(tx, plan.name, *side_names)
        grid_id = grids.current_grid_id(tx)
    else:
        grid_id = grids.add(tx, plan.name, *side_names)
    round_ids = {}
    for item in plan.rounds:
        designed = {name: getattr(item, name) for name in DESIGNED}
        hides, rewords = "column" if item.name in plan.hiding else None, item.name in plan.rewording
        options = RoundOptions(**designed, answers_rows=True, hides=hides, rewords_rows=rewords)
        role, form, counts = Role(item.answered_by), parse_form(item.form), item is plan.counting
        round_ids[item.name] = add_round(tx, grid_id, item.name, role, form, counts=counts, options=options)
    if plan.validate:
        options = RoundOptions(hides="column" if plan.counting.name in plan.hiding else None)
        _add_checks(tx, grid_id, round_ids[plan.counting.name], label_question(plan.counting), options)
    with grids.on_grid(tx, grid_id):
        run = context.note_run(tx, context.PLAN, as_params(plan), {"grid": plan.name, "rounds": len(plan.rounds)})
        settings.save_settings(
            tx, context.PLAN, {name: side_setting(getattr(plan, name)) for _, name in sides.AXES}, run.id
        )
        for stage, values in plan_sections(plan):
            settings.save_settings(tx, settings.RECIPE + stage, values, run.id)
    departures.add_recipe_version(tx, run.id)
    return run


def side_setting(side: SidePlan) -> dict[str, Any]:
    """A side as a setting keeps it."""
    return context.as_settings(side) | {"sources": [context.as_settings(source) for source in side.sources]}


def side_from_setting(setting: Mapping[str, Any]) -> SidePlan:
    """A side of a plan, as a setting has it."""
    return from_params(SidePlan, context.parameters_from_settings(SidePlan, setting))


@takes_params
def fill_grid(grid: GridContext, plan: GridPlan | None = None, *, redo: bool = False) -> RunRecord:
    """Fill both sides of a planned grid, and make its cells: every row with every column.

    Files are where the study, or the same `plan`, has them. Raises InputError with all errors of a file, StageError
    where a side is what is written in a grid with open work, or nothing was written.
    """
    with grid._store.write(bulk=True) as tx:
        return fill_current_grid(tx, grid.grid.name, plan, redo=redo)


def fill_current_grid(tx: Tx, name: str, plan: GridPlan | None = None, *, redo: bool = False) -> RunRecord:
    """Fill the grid of this name as `fill_grid` does, in a transaction that is under way, and about it."""
    context.begin_building(tx, "pair", redo=redo)
    side_settings = settings.of_stage(tx, context.PLAN)
    side_plans = {
        name: getattr(plan, name) if plan else side_from_setting(side_settings[name]) for _, name in sides.AXES
    }
    collected = {
        name: collect(side.sources, text_digests.digester(tx)) for name, side in side_plans.items() if side.sources
    }
    notes = [note for _, _, own_notes in collected.values() for note in own_notes]
    for axis, side_name in sides.AXES:
        rows = collected[side_name][0] if side_name in collected else None
        ids, n_kept = _side_text_ids(tx, axis, side_plans[side_name], rows)
        sides.set_texts(tx, axis, ids)
        if n_kept:
            notes.append(f"{n_kept:,} texts of the {side_name} already occur in another grid; their metadata were kept")
    n_cells, _ = cells.fill(tx, keep_known=True)
    counts = {"grid": name, **{plural: sides.n_texts(tx, axis) for axis, plural in sides.AXES}, "cells": n_cells}
    counts |= {f"collected_{side_name}": by_source for side_name, (_, by_source, _) in collected.items()}
    side_settings = {side_name: side_setting(side) for side_name, side in side_plans.items()}
    run = context.note_run(tx, "pair", {"grid": name, **side_settings}, counts)
    settings.save_settings(tx, context.PLAN, side_settings, run.id)
    return replace(run, notes=tuple(notes))


def _side_text_ids(tx: Tx, axis: sides.Axis, side: SidePlan, rows: list[Row] | None) -> tuple[list[int], int]:
    if side.grids:
        return list(dict.fromkeys(id_ for name in side.grids for id_ in _written_text_ids(tx, name))), 0
    digest = text_digests.digester(tx)
    if rows is None and side.file:
        corpus_digests = texts.text_ids(tx, side.kind) if side.kind in sides.CORPUS else None
        with choose_reading(Reading(side.sheet_name, side.encoding, side.separator, side.no_header)):
            rows = read_side_file(side.file, side.column, corpus_digests, digest)
    elif rows is None:
        rows = [(digest(name), name, "", {}) for name in side.names]
    n_kept = texts.update_texts(tx, side.text_kind, axis, rows) if side.text_kind == "text" else 0
    return texts.get_or_add(tx, side.text_kind, rows), n_kept


def read_side_file(
    path: Path, column: str, corpus_digests: Container[str] | None, digest: text_digests.Digest
) -> list[Row]:
    """The texts of a file's column, with language and metadata; InputError with all that is wrong, also outside the
    corpus.
    """
    table = read_table(path, [column], optional=[LANGUAGE])
    digests = [digest(text) for text in table[column]]
    place, first_lines, errors = place_of(table), dict[str, int](), []
    for text, line, mark in zip(table[column], table[LINE].tolist(), digests, strict=True):
        if not text.strip():
            errors.append(Finding(place, line, "the text is empty"))
        elif first_lines.setdefault(mark, line) != line:
            errors.append(Finding(place, line, f"this text is already in line {first_lines[mark]}"))
        elif corpus_digests is not None and mark not in corpus_digests:
            errors.append(Finding(place, line, "this text is not in the corpus of the study"))
    reject(path, errors)
    language = table[LANGUAGE] if LANGUAGE in table.columns else [""] * len(table)
    metadata_columns = [str(name) for name in table.columns if name not in {column, LINE, LANGUAGE}]
    cells = table[metadata_columns].itertuples(index=False, name=None)
    metadata = [dict(zip(metadata_columns, row, strict=True)) for row in cells]
    return list(zip(digests, table[column], language, metadata, strict=True))


def _written_text_ids(tx: Tx, name: str) -> list[int]:
    with grids.on_grid(tx, context.find_grid(tx, name).id):
        primary_round = rounds.primary(tx)
        check_done(tx, name, primary_round)
        if not (text_ids := authorship.texts_written(tx, primary_round)):
            raise StageError(
                f"no text was written in round `{primary_round.name}` of grid `{name}`, so there are no texts to "
                "make a side of"
            )
        return text_ids


def collect(sources: Sequence[Source], digest: Digest) -> tuple[list[Row], dict[str, dict[str, int]], list[str]]:
    """Read all sources, one after the other; the first that has a text keeps it.

    Returns the texts, the counts of each source (`rows`, those left out `by_label`, `with_slurs` and as `repeated`,
    `drawn`), and notes. Raises InputError with all errors of a file, or for an unreachable quota.
    """
    counts_by_source: dict[str, dict[str, int]] = {}
    notes: list[str] = []
    first_rows: dict[str, Row] = {}
    lines_by_digest: dict[str, dict[str, str]] = {}
    for source in sources:
        columns = [source.text, *filter(None, (source.group, source.labels, source.original))]
        if source.reader == "table":
            table = read_table(source.file, columns, optional=[LANGUAGE], verbatim=True)
        else:
            table = _read_other(source)
            if missing := [name for name in columns if name not in table.columns]:
                raise InputError(f"{source.file}: no column `{missing[0]}`; there are {', '.join(table.columns)}")
        empty_lines = table[LINE][table[source.text].str.strip() == ""].tolist()
        reject(source.file, [Finding(place_of(table), int(line), "the text is empty") for line in empty_lines])
        rows, lines, counts = _select_rows(source, table, digest)
        for row, line in zip(rows, lines, strict=True):
            first_rows.setdefault(row[0], row)
            place = " ".join(filter(None, (row[3].get(SOURCE, ""), row[3].get(GROUP, ""))))
            lines_by_digest.setdefault(row[0], {}).setdefault(place, f"{source.file.name}:{line}")
        counts_by_source[source.called] = counts
    # Duplicates are named by their lines, as what they say may be distressing.
    if duplicates := [lines for lines in lines_by_digest.values() if len(lines) > 1]:
        excerpts = [
            ", ".join(f"{line} ({place})" for place, line in sorted(lines.items())) for lines in duplicates[:MAX_NAMED]
        ]
        more = f", and {len(duplicates) - MAX_NAMED:,} more" if len(duplicates) > MAX_NAMED else ""
        subject = "1 text is" if len(duplicates) == 1 else f"{len(duplicates):,} texts are"
        notes.append(f"{subject} in several groups or sources, and kept once: {'; '.join(excerpts)}{more}")
    return list(first_rows.values()), counts_by_source, notes


def _read_other(source: Source) -> pd.DataFrame:
    from fcpair.files.surveys.templates import items_table, templates_table

    if source.reader == "templates":
        return templates_table(source.file)
    if source.reader == "items":
        return items_table(source.file, source.seed)
    corpus = read_crowdcounter(source.file)
    table = pd.concat([corpus.answers, corpus.unanswered]).sort_values(LINE, kind="stable", ignore_index=True)
    table.attrs.update(corpus.answers.attrs)
    return table


def _select_rows(source: Source, table: pd.DataFrame, digest: Digest) -> tuple[list[Row], list[int], dict[str, int]]:
    """The rows of a source that are kept, with their lines, and how many were left out, and why."""
    counts, keep = {"rows": len(table)}, np.ones(len(table), np.bool_)
    if source.labels:
        excluded = labelled_by_majority(table[source.labels].tolist(), source.without)
        counts["by_label"], keep = int((keep & excluded).sum()), keep & ~excluded
    if source.slurs:
        excluded = have_many_slurs(table[source.text].tolist(), read_lines(source.slurs), source.least_other_words)
        counts["with_slurs"], keep = int((keep & excluded).sum()), keep & ~excluded
    table = table[keep].assign(mark=[digest(text) for text in table[source.text][keep]])
    groups = [""] * len(table)
    if source.group:
        groups = [cell.strip() for cell in table[source.group].tolist()]
    if source.group and source.aliases:  # which say what groups there are
        aliases = read_aliases(source.aliases)
        read_groups = aliases.read(table[source.group].tolist(), table[LINE].tolist(), place_of(table))
        groups = ["; ".join(group) for group in read_groups]
    table = table.assign(**{GROUP: groups})
    is_repeated = table.duplicated(["mark", GROUP])
    counts["repeated"], table = int(is_repeated.sum()), table[~is_repeated]
    try:
        drawn = draw_rows(
            table[GROUP].tolist(),
            own_order(table["mark"], table[GROUP]),
            dict(source.quota),
            source.per_group,
            source.sample,
            source.seed,
        )
    except InputError as error:
        raise InputError(f"{source.file}: {error}") from None
    table = table[drawn]
    counts["drawn"] = len(table)
    used_columns = {source.text, source.group, source.original, source.labels, LANGUAGE, LINE, "mark", GROUP}
    other_columns = [str(name) for name in table.columns if name not in used_columns]
    rows = []
    for row in table.to_dict("records"):
        original = row[source.original] if source.original else ""
        metadata = {name: str(row[name]) for name in other_columns}
        fixed = {SOURCE: source.called, GROUP: row[GROUP], ORIGINAL: original}
        fixed[ORIGINAL_LANGUAGE] = source.original_language if original else ""
        metadata |= {name: value for name, value in fixed.items() if value}
        language = source.language or str(row.get(LANGUAGE, "") or "")
        rows.append((row["mark"], row[source.text], language, metadata))
    return rows, table[LINE].tolist(), counts
