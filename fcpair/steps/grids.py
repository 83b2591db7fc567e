"""Grids of any two sides: adding one as it is planned, and filling its sides, each collected from its sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fcpair.arrays import Ints
from fcpair.errors import Finding, InputError, StageError, reject
from fcpair.files.answers.answer_files import read_pair_numbers
from fcpair.files.corpus.corpus import CN, HS, OWN_COLUMNS, read_crowdcounter
from fcpair.files.tables.tabular import LINE, Reading, check_file, choose_reading, place_of, read_lines, read_table
from fcpair.known_pairs import Controls, Qualification
from fcpair.lazy import pd
from fcpair.param_values import as_params, check_rules, from_params
from fcpair.params import MAIN, Adjudicate, Agree, Annotate, Calibration, Partition, Setup, Validate
from fcpair.plans import ORIGINAL, ORIGINAL_LANGUAGE, Compare, GridPlan, RoundPlan, SidePlan, Source
from fcpair.records import COMPARES, COMPARISON, Role, RunRecord
from fcpair.round_options import DESIGNED, RoundOptions
from fcpair.stages.adjudication.partition import find_rule, is_member, tier_rules
from fcpair.stages.assignment.plan import VALIDATION_ROUND, check_plans, label_question
from fcpair.stages.corpus.comparisons import (
    LETTERS,
    draw_comparisons,
    draw_some,
    least_comparisons,
    n_comparisons,
)
from fcpair.stages.corpus.retrieve import draw_rows, have_many_slurs, labelled_by_majority
from fcpair.stages.corpus.sample import own_order
from fcpair.stages.questions import Closed, Form, parse_form
from fcpair.stages.questions.labels import VERDICT, need_tiers, read_labels
from fcpair.steps.base import context, departures, text_digests
from fcpair.steps.base.answer_values import add_round, form_of
from fcpair.steps.base.context import GridContext, StudyContext
from fcpair.steps.base.keywords import REQUIRED, plan_sections, takes_params
from fcpair.steps.base.text_digests import Digest
from fcpair.steps.rules.tallies import check_done
from fcpair.steps.rules.tier_evidence import GRADED, graded_pairs
from fcpair.store import Tx
from fcpair.store.answers import authorship, judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, grids, sides, texts
from fcpair.store.oversight import runs, settings
from fcpair.texts.aliases import read_aliases

LABEL, BLIND = "label", f"{VALIDATION_ROUND} blind"
LANGUAGE = "language"
SOURCE, GROUP = "source", "group"
MAX_NAMED = 5  # texts in several groups or sources, rows, or pairs that are named

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
    kinds = [plan.rows.text_kind, plan.columns.text_kind]
    for at, side in enumerate((plan.rows, plan.columns)):
        if side.rows_of:
            with grids.on_grid(tx, context.find_grid(tx, side.rows_of).id):
                kinds[at] = grids.side_kinds(tx)[0]
    side_names = (kinds[0], plan.row_name), (kinds[1], plan.column_name)
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
    compare = {"compare": context.as_settings(side.compare)} if side.compare else {}
    return context.as_settings(side) | {"sources": [context.as_settings(of) for of in side.sources]} | compare


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
    compare, compared = side_plans["columns"].compare, dict[str, int]()
    if compare:
        compared, notes = _fill_comparisons(tx, compare)
    for axis, side_name in () if compare else sides.AXES:
        rows = collected[side_name][0] if side_name in collected else None
        ids, n_kept = _side_text_ids(tx, axis, side_plans[side_name], rows)
        sides.set_texts(tx, axis, ids)
        if n_kept:
            notes.append(f"{n_kept:,} texts of the {side_name} already occur in another grid; their metadata were kept")
    n_cells = compared.pop("cells") if compare else cells.fill(tx, keep_known=True)[0]
    counts = {"grid": name, **{plural: sides.n_texts(tx, axis) for axis, plural in sides.AXES}, "cells": n_cells}
    counts |= {f"collected_{side_name}": by_source for side_name, (_, by_source, _) in collected.items()}
    counts |= compared
    side_settings = {side_name: side_setting(side) for side_name, side in side_plans.items()}
    run = context.note_run(tx, "pair", {"grid": name, **side_settings}, counts)
    settings.save_settings(tx, context.PLAN, side_settings, run.id)
    return replace(run, notes=tuple(notes))


def _fill_comparisons(tx: Tx, compare: Compare) -> tuple[dict[str, int], list[str]]:
    """Draw the comparisons of a grid that is empty, and write its sides and cells; returns counts, and notes.

    Rows with fewer texts than a comparison shows are left out, with a note. Raises InputError where all are, a row has
    too few comparisons to connect its texts, or what is to be compared is not in the earlier grid.
    """
    with grids.on_grid(tx, context.find_grid(tx, compare.grid).id):
        row_ids, pairs = sides.text_ids(tx, "row", drawn=True), _pairs_to_compare(tx, compare)
    words: Any = texts.by_id(tx, [*row_ids, *pairs["cn_id"]])
    pairs = pairs.assign(digest=pairs["cn_id"].map(words["digest"])).sort_values(["digest", "cn_id"], kind="stable")
    ids_by_row: dict[Any, Ints] = {row: of["cn_id"].to_numpy(np.int64) for row, of in pairs.groupby("hs_id")}
    few, unconnected, comparisons = list[int](), dict[int, int](), list[tuple[int, Ints]]()
    n_compared = 0
    for number, row_id in enumerate(row_ids, 1):
        ids = ids_by_row.get(row_id, np.empty(0, np.int64))
        if compare.most is not None and len(ids) > compare.most:
            ids = ids[draw_some(len(ids), compare.most, compare.seed, number)]
        if len(ids) < compare.size:
            few.append(number)
            continue
        n = compare.per_row or n_comparisons(len(ids), compare.size, compare.times)
        if n < (least := least_comparisons(len(ids), compare.size)):
            unconnected[number] = least
            continue
        n_compared += len(ids)
        comparisons += [(row_id, ids[of]) for of in draw_comparisons(len(ids), compare.size, n, compare.seed, number)]
    if unconnected:
        raise InputError(
            f"`per_row` is {compare.per_row}, and {_named_rows(list(unconnected))} need more comparisons, up to "
            f"{max(unconnected.values())}, for all their texts to be connected; raise it, or draw fewer texts (`most`)"
        )
    if not comparisons:
        raise InputError(
            f"no row of grid `{compare.grid}` has {compare.size} texts to compare; lower `size`, or choose more pairs"
        )
    with grids.on_first_grid(tx):
        split = context.effective_options(tx, Annotate, {}).opt_out_split[:1] or ";"
    digest, again, rows = text_digests.digester(tx), Counter[tuple[int, ...]](), list[Row]()
    bodies, metadata = words["body"].to_dict(), words["meta"].to_dict()
    for row_id, shown in comparisons:
        ids = shown.tolist()
        body = "\n\n".join(f"{letter}. {bodies[text_id]}" for letter, text_id in zip(LETTERS, ids, strict=False))
        again[key := (row_id, *ids)] += 1
        mark = digest("\n\n".join([bodies[row_id], body, *[str(again[key])] * (again[key] > 1)]))
        meta = {COMPARES: " ".join(map(str, ids))}
        for name in dict.fromkeys(name for text_id in ids for name in metadata[text_id]):  # by which people opt out
            values = [str(metadata[text_id].get(name, "")) for text_id in ids]
            is_own_id = name in OWN_COLUMNS
            meta[name] = " ".join(values) if is_own_id else f"{split} ".join(dict.fromkeys(filter(None, values)))
        rows.append((mark, body, str(words.at[ids[0], "language"] or ""), meta))
    cells.add_comparisons(tx, [row_id for row_id, _ in comparisons], texts.get_or_add(tx, COMPARISON, rows))
    left_out = f"left out, with fewer than {compare.size} texts to compare: {_named_rows(few)} of grid `{compare.grid}`"
    return {"cells": len(comparisons), "compared": n_compared}, [left_out] * bool(few)


def _named_rows(numbers: list[int]) -> str:
    names = ", ".join(map(str, numbers[:MAX_NAMED])) + ", ..." * (len(numbers) > MAX_NAMED)
    return f"row {names}" if len(numbers) == 1 else f"{len(numbers):,} rows ({names})"


def _pairs_to_compare(tx: Tx, compare: Compare) -> pd.DataFrame:
    """The pairs of the grid of a transaction whose texts are compared: `cell_id`, `hs_id`, `cn_id`."""
    context.need_cells(tx, compare.grid)
    check_rules((cells.has_comparisons(tx), f"grid `{compare.grid}` has comparisons, which cannot be compared again"))
    primary_round, is_chosen = rounds.primary(tx), bool(compare.tier or compare.labels)
    if form_of(primary_round.form).written_question is not None:
        check_rules((is_chosen, f"the texts written in grid `{compare.grid}` have no labels; omit `tier` and `labels`"))
        check_done(tx, compare.grid, primary_round)
        pairs = authorship.written_cells(tx, primary_round)
    else:
        pairs = cells.cells(tx)
    if is_chosen:
        context.need_labels(tx, "pair")
        question, rules = need_tiers(context.scheme_of(tx)), tier_rules(context.effective_options(tx, Partition, {}))
        graded = graded_pairs(tx, question, rules, judgements.label_arrays(tx, *GRADED))
        codes = [question.read(label) for label in compare.labels] or question.codes
        is_meant = np.isin(graded["final"], codes) | (not compare.labels)
        if compare.tier:
            is_meant &= is_member(graded["tiers"], rules, find_rule(rules, compare.tier).tier)
        pairs = pairs[pairs["cell_id"].isin(graded["cell_id"][is_meant])]
    if compare.pairs_file:
        numbers = read_pair_numbers(compare.pairs_file)
        known = set(grids.to_public_number(cells.cells(tx)["cell_id"]))
        unknown = [str(number) for number in dict.fromkeys(numbers) if number not in known]
        names = ", ".join(unknown[:MAX_NAMED]) + ", ..." * (len(unknown) > MAX_NAMED)
        check_rules(
            (unknown, f"{compare.pairs_file}: grid `{compare.grid}` has no pair {names}; list pairs that it has")
        )
        pairs = pairs[grids.to_public_number(pairs["cell_id"]).isin(numbers)]
    return pairs.drop_duplicates(["hs_id", "cn_id"])


def _side_text_ids(tx: Tx, axis: sides.Axis, side: SidePlan, rows: list[Row] | None) -> tuple[list[int], int]:
    if side.rows_of:
        with grids.on_grid(tx, context.find_grid(tx, side.rows_of).id):
            context.need_cells(tx, side.rows_of)
            return sides.text_ids(tx, "row", drawn=True), 0
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
            from fcpair.files.surveys.templates import items_table, templates_table

            if source.reader == "templates":
                table = templates_table(source.file)
            elif source.reader == "items":
                table = items_table(source.file, source.seed)
            else:
                corpus = read_crowdcounter(source.file)
                table = pd.concat([corpus.answers, corpus.unanswered])
                table = table.sort_values(LINE, kind="stable", ignore_index=True)
                table.attrs.update(corpus.answers.attrs)
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
