"""Grids of any two sides: adding one as it is planned, and filling its sides; `grid_status.py` says how far each is."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fcpair.errors import Finding, StageError, reject
from fcpair.files.tables.tabular import LINE, check_file, place_of, read_table
from fcpair.param_values import as_params, takes_params
from fcpair.plans import GridPlan, RoundPlan, SidePlan, Source
from fcpair.records import Role, RunRecord
from fcpair.round_options import RoundDesign, RoundOptions
from fcpair.stages.assignment.plan import check_plans, labels_asked
from fcpair.stages.questions import parse_form
from fcpair.steps.base import departures, init, text_digests
from fcpair.steps.base.context import PLAN, OnGrid, OnStudy, begin_building, file_setting, find_grid, note_run
from fcpair.steps.base.recipe_options import of_plan
from fcpair.steps.corpus.collect import Collected, Row, collect
from fcpair.steps.rules.round_progress import check_done
from fcpair.store import Tx
from fcpair.store.answers import authorship
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, grids, sides, texts
from fcpair.store.oversight import settings

if TYPE_CHECKING:
    import pandas as pd

LANGUAGE = "language"
SOURCE_FILES = ("file", "aliases", "slurs")


@takes_params
def add_grid(study: OnStudy, plan: GridPlan) -> RunRecord:
    """Add a grid with its rounds to the study; `Grid.pair` makes its cells.

    Raises:
        InputError: a name that a grid has already, a side of answers that no grid has, a form that cannot be read, or
            no such file.
    """
    with study.store.write() as tx:
        return add(tx, plan)


def add(tx: Tx, plan: GridPlan) -> RunRecord:
    """Write the rows of a planned grid and its rounds, and keep its sides as settings."""
    check_plans([plan], {one.name: rounds.counting(tx).form for one in grids.each(tx)})
    for path in (path for side in (plan.rows, plan.columns) for path in side.files):
        check_file(path)
    named = ((side.text_kind, name) for side, name in ((plan.rows, plan.row_name), (plan.columns, plan.column_name)))
    grid_id = grids.add(tx, plan.name, *named)
    made = {}
    for one in plan.rounds:
        what = {"counts": one is plan.counting, "options": _options(plan, one)}
        made[one.name] = init.add_round(tx, grid_id, one.name, Role(one.answered_by), parse_form(one.form), **what)
    if plan.validate:
        init.add_checks(
            tx,
            grid_id,
            made[plan.counting.name],
            labels_asked(plan.counting),
            RoundOptions(hides=_hidden(plan, plan.counting)),
        )
    with grids.about(tx, grid_id):
        run = note_run(tx, PLAN, as_params(plan), {"grid": plan.name, "rounds": len(plan.rounds)})
        settings.put(tx, PLAN, {name: _kept(getattr(plan, name)) for _, name in sides.AXES}, run.id)
        for stage, values in of_plan(plan):
            settings.put(tx, settings.RECIPE + stage, values, run.id)
    if departures.version(tx):
        departures.next_version(tx, run.id)
    return run


def _options(plan: GridPlan, of: RoundPlan) -> RoundOptions:
    """The options of a round of a plan."""
    designed = {item.name: getattr(of, item.name) for item in fields(RoundDesign)}
    hides, rewords = _hidden(plan, of), of.name in plan.rewording
    return RoundOptions(**designed, answers_rows=True, hides=hides, rewords_rows=rewords)


def _hidden(plan: GridPlan, of: RoundPlan) -> str | None:
    return "column" if of.name in plan.hiding else None


def _kept(side: SidePlan) -> dict[str, Any]:
    """A side as a setting keeps it."""
    sources = [as_params(one) | _files_of(one) for one in side.sources]
    return as_params(side) | {"sources": sources} | ({"file": file_setting(side.file)} if side.file else {})


def _files_of(source: Source) -> dict[str, Any]:
    return {name: file_setting(path) for name in SOURCE_FILES if (path := getattr(source, name))}


def side_of(kept: Mapping[str, Any]) -> SidePlan:
    """A side of a plan, as a setting has it."""
    sources = [
        Source(**{**one, **{name: Path(one[name]["path"]) for name in SOURCE_FILES if one[name]}})
        for one in kept.get("sources", ())
    ]
    file = Path(kept["file"]["path"]) if kept["file"] else None
    return SidePlan(**{**kept, "file": file, "sources": tuple(sources)})


@takes_params
def fill(grid: OnGrid, plan: GridPlan | None = None, *, redo: bool = False) -> RunRecord:
    """Fill both sides of a planned grid, and make its cells: every row with every column.

    Files are where the study has them, or where the same `plan` has them now.

    Raises:
        InputError: all findings about a file at once: an empty text, a text that is duplicated.
        StageError: a side is what is written in a grid in which work is open still, or nothing was written.
    """
    with grid.store.write(bulk=True) as tx:
        return fill_here(tx, grid.grid.name, plan, redo=redo)


def fill_here(tx: Tx, name: str, plan: GridPlan | None = None, *, redo: bool = False) -> RunRecord:
    """Fill the grid of this name as `fill` does, in a transaction that is under way, and about it."""
    begin_building(tx, "pair", redo=redo)
    kept = settings.of_stage(tx, PLAN)
    planned = {name: getattr(plan, name) if plan else side_of(kept[name]) for _, name in sides.AXES}
    found = {name: collect(side.sources, text_digests.digester(tx)) for name, side in planned.items() if side.sources}
    notes = [note for one in found.values() for note in one.notes]
    for axis, side_name in sides.AXES:
        ids, n_kept = _texts(tx, axis, planned[side_name], found.get(side_name))
        sides.put(tx, axis, ids)
        if n_kept:
            notes.append(f"texts of the {side_name} that another side has, with metadata that stay: {n_kept:,}")
    n_cells, _ = cells.fill(tx, keep_known=True)
    counts = {"grid": name, **{plural: sides.n_texts(tx, axis) for axis, plural in sides.AXES}, "cells": n_cells}
    counts |= {f"collected_{side_name}": one.counts for side_name, one in found.items()}
    kept = {side_name: _kept(side) for side_name, side in planned.items()}
    run = note_run(tx, "pair", {"grid": name, **kept}, counts)
    settings.put(tx, PLAN, kept, run.id)
    return replace(run, notes=tuple(notes))


def _texts(tx: Tx, axis: sides.Axis, side: SidePlan, found: Collected | None) -> tuple[list[int], int]:
    """The ids of the texts of a side, in order, and how many of them the study knows by another side otherwise."""
    if side.grids:
        return list(dict.fromkeys(one for name in side.grids for one in _answers(tx, name))), 0
    rows = found.rows if found else _rows(tx, side)
    n_kept = texts.renew(tx, side.text_kind, axis, rows) if side.text_kind == "text" else 0
    return texts.put(tx, side.text_kind, rows), n_kept


def _rows(tx: Tx, side: SidePlan) -> list[Row]:
    digest = text_digests.digester(tx)
    if side.file:
        there = texts.text_ids(tx, side.kind) if side.kind in sides.CORPUS else None
        return _read(side.file, side.column, there, digest)
    return [(digest(name), name, "", {}) for name in side.names]


def _read(path: Path, column: str, there: Container[str] | None, digest: text_digests.Digest) -> list[Row]:
    """The texts of a file's column: digest, text, language, and what the other columns have as metadata.

    Raises InputError with all that is wrong, which includes a text that is not `there`, where some are.
    """
    table = read_table(path, [column], known=[LANGUAGE])
    digests = [digest(text) for text in table[column]]
    reject(path, _faults(table, column, digests, there))
    language = table[LANGUAGE] if LANGUAGE in table.columns else [""] * len(table)
    others = [str(name) for name in table.columns if name not in {column, LINE, LANGUAGE}]
    about = [dict(zip(others, row, strict=True)) for row in table[others].itertuples(index=False, name=None)]
    return list(zip(digests, table[column], language, about, strict=True))


def _faults(table: pd.DataFrame, column: str, digests: list[str], known: Container[str] | None) -> list[Finding]:
    place, first, found = place_of(table), dict[str, int](), []
    for text, line, mark in zip(table[column], table[LINE].tolist(), digests, strict=True):
        if not text.strip():
            found.append(Finding(place, line, "the text is empty"))
        elif first.setdefault(mark, line) != line:
            found.append(Finding(place, line, f"this text is in line {first[mark]} already"))
        elif known is not None and mark not in known:
            found.append(Finding(place, line, "this text is not in the corpus of the study"))
    return found


def _answers(tx: Tx, name: str) -> list[int]:
    """The ids of the texts that were written in the round of a grid that counts."""
    with grids.about(tx, find_grid(tx, name).id):
        counting = rounds.counting(tx)
        check_done(tx, name, counting)
        if not (written := authorship.written(tx, counting)):
            raise StageError(f"no text was written in round `{counting.name}` of grid `{name}`, so there is no side")
        return written
