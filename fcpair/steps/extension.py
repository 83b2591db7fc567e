"""Extending a grid: further rows and columns as a block behind the cells that are there, assigned by the same rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fcpair.errors import InputError, list_first
from fcpair.evaluate.measures import parse_measure
from fcpair.files.corpus.corpus import CN, HS
from fcpair.files.release.trec_runs import read_run
from fcpair.files.tables.tabular import Source, choose_sheet, name_of
from fcpair.lazy import pd
from fcpair.param_values import as_params
from fcpair.params import Assign, Evaluate, Extend, Ids, Pair
from fcpair.records import RunRecord, SampleSize
from fcpair.sentences import say
from fcpair.stages.corpus.sample import draw_cells, draw_positions, own_order
from fcpair.stages.corpus.spellings import first_spellings
from fcpair.steps.assignment import assign, leases
from fcpair.steps.assignment.chosen_cells import choose_block
from fcpair.steps.base import context, departures, text_digests
from fcpair.steps.base.context import GridContext
from fcpair.steps.base.keywords import takes_params
from fcpair.steps.base.text_digests import load_text_ids
from fcpair.steps.grids import read_side_file
from fcpair.store import Tx
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus import cells, sides, texts
from fcpair.store.oversight import runs as run_log
from fcpair.store.oversight import settings

_OPTIONS = "options"  # of a grid's blocks: with which it was extended


def load_extensions(tx: Tx) -> list[dict[str, Any]]:
    """The options with which the grid was extended, as settings have them, the first time first."""
    return list(settings.of_stage(tx, cells.BLOCKS).get(_OPTIONS, ()))


@takes_params
def extend(
    grid: GridContext,
    options: Extend | None = None,
    *,
    hs: int | None = None,
    hs_list: Source | None = None,
    cn_list: Source | None = None,
    runs: Sequence[Source] = (),
    depth: int | None = None,
    new_texts: bool = False,
    sample: int | None = None,
    seed: int = 0,
    sheet_name: str | None = None,
    ids: Ids | None = None,
    dry_run: bool = False,
) -> RunRecord:
    """Let the grid take further HS, CNs or both, as a block of its own; what is there keeps its numbers and answers.

    New HS are crossed with all CNs, new CNs with all HS, less what is in the corpus unless `pair` kept that. Where
    pairs are assigned, the new ones are, too: the shares of the overlap hold over old and new together, and loads are
    levelled over both. All of that is one transaction; with `dry_run` it is undone, and the run says what would be.

    Raises:
        InputError: texts that are in the grid already, too few HS to draw from, a run that brings nothing new, or the
            same extension as the one before.
        StageError: the grid is planned or has no pairs, or there is nobody to assign pairs to.
    """
    options = options or Extend()  # which says that something must be given
    store = grid._store.rehearsing(lambda _tx: None) if dry_run else grid._store
    with store.write(bulk=True) as tx:
        context.need_corpus(tx, options.stage)
        context.need_cells(tx, grid.grid.name)
        extensions, as_saved = load_extensions(tx), context.as_settings(options)
        if as_saved in extensions[-1:]:
            raise InputError.say("the last extension was the same; for as much again, give another seed or other texts")
        drawn = context.load_sample_size(tx)
        if options.sample and not drawn:
            raise InputError.say("the grid has all its pairs, and so has what is added to it; omit `sample`")
        new_hs, new_cns, notes = _choose_texts(tx, options)
        run_id = context.begin_run(tx, options.stage, as_params(options))
        cells.begin_block(tx, run_id)
        settings.save_settings(tx, cells.BLOCKS, {_OPTIONS: [*extensions, as_saved]}, run_id)
        as_paired, merged = context.options_as_done(tx, Pair), dict[int, int]()
        for axis, new_ids in zip(cells.AXES, (new_hs, new_cns), strict=True):
            if not new_ids:
                continue
            sides.append_texts(tx, axis, new_ids)
            drawn_ids, bodies = sides.text_ids(tx, axis, drawn=True), sides.values(tx, axis, "body", drawn=True)
            first = enumerate(first_spellings(bodies, text_digests.folding(tx)).tolist())
            kept_ids = {drawn_ids[at]: drawn_ids[kept] for at, kept in first if kept != at}
            spellings = {text_id: kept for text_id, kept in kept_ids.items() if text_id in new_ids}
            if spellings and as_paired.merge:
                sides.set_drawn(tx, axis, [of for of in sides.text_ids(tx, axis, drawn=True) if of not in spellings])
                merged |= spellings
            notes += [_describe(spellings, merged=as_paired.merge)] if spellings else []
        if as_paired.similar:
            notes.append("whether new texts have a cosine close to others was not looked at; `pair --similar` did so")
        if merged:
            known = settings.of_stage(tx, sides.SPELLINGS).get(sides.MERGED, {})
            now = known | {str(of): kept for of, kept in merged.items()}
            settings.save_settings(tx, sides.SPELLINGS, {sides.MERGED: now}, run_id)
        keeps_known = as_paired.keep_known
        if drawn:
            n_new, n_known = _draw_block(tx, options, run_id, drawn, keeps_known=keeps_known)
        else:
            n_new, n_known = cells.fill(tx, keep_known=keeps_known)
        n_merged = [len(merged.keys() & {*new_ids}) for new_ids in (new_hs, new_cns)]
        counts = {"pairs": n_new, "new_hs": len(new_hs) - n_merged[0], "new_cns": len(new_cns) - n_merged[1]}
        counts |= {"in_corpus" if keeps_known else "left_out": n_known}
        counts |= _assign_block(tx, n_new, options.seed) if n_new else {}
        departures.add_recipe_version(tx, run_id)
        return replace(run_log.end_run(tx, run_id, counts), notes=tuple(notes))


def _assign_block(tx: Tx, n_new: int, seed: int) -> dict[str, int]:
    """Assign the `n_new` pairs of the newest block as those before, where these are; returns what was counted."""
    round_, as_done = rounds.primary(tx), context.options_as_done(tx, Assign)
    if not (assignments.n_by_status(tx, round_) or open_slots.n_free(tx, round_)):
        return {}
    options = replace(as_done, annotators=None, annotator_groups=(), seed=seed)
    choose = choose_block(cells.n_cells(tx) - n_new, options)
    if options.open:
        run = leases.open_chosen_slots(tx, options, choose(tx))
    else:
        run = assign.assign_more_at_once(tx, options, choose)
    names = {"new": "new_labels", "free": "free", "not_possible": "not_possible"}
    return {name: run.counts[of] for of, name in names.items() if run.counts.get(of)}


def _choose_texts(tx: Tx, options: Extend) -> tuple[list[int], list[int], list[str]]:
    """The new HS, the new CNs, and notes on runs."""
    new_hs, new_cns, notes = list[int](), list[int](), list[str]()
    if options.hs is not None:
        all_hs = texts.texts_of(tx, HS)
        left = all_hs[~all_hs["id"].isin(sides.text_ids(tx, "row"))]
        drawn = draw_positions(own_order(left["digest"]), options.hs, options.seed, say("further HS"))
        new_hs = left["id"].to_numpy()[drawn].tolist()
    elif options.hs_list:
        new_hs = _find_new_texts(tx, HS, options.hs_list, options)
    if options.cn_list:
        new_cns = _find_new_texts(tx, CN, options.cn_list, options)
    if options.runs:
        evaluation, ids = context.effective_options(tx, Evaluate, {}), load_text_ids(tx)
        depths = [parse_measure(name, evaluation.cutoff).depth or evaluation.cutoff for name in evaluation.measures]
        depth, hs_ids, parts = options.depth or max(depths), [*sides.text_ids(tx, "row"), *new_hs], list[pd.DataFrame]()
        for path in options.runs:
            lines, own_notes = read_run(path, ids, options.ids)
            notes += [f"{path.name}: {note}" for note in own_notes]
            is_pooled = lines["hs_id"].isin(hs_ids) & (lines["rank"] <= depth) & (lines["cn_id"] >= 0)
            parts.append(lines[is_pooled].assign(run=str(path.name)))
        pool = pd.concat(parts, ignore_index=True).rename(columns={"hs_id": "source_id"})
        pool = pool[["source_id", "run", "rank", "cn_id", "score"]].drop_duplicates(["source_id", "run", "rank"])
        pool = pool[~pool["cn_id"].isin([*sides.text_ids(tx, "column", drawn=True), *new_cns])]
        if pool.empty and not (new_hs or new_cns):
            raise InputError.say(
                "the CNs at the top of the runs are all in the grid already, so there is nothing to add; a greater "
                "`depth` takes more"
            )
        sides.add_neighbours(tx, pool)
        new_cns += sorted(set(pool["cn_id"].tolist()))
    return new_hs, new_cns, notes


def _find_new_texts(tx: Tx, side: str, path: Path, options: Extend) -> list[int]:
    """The texts that a list names, none of which is in the grid; with `new_texts`, what the study lacks is added."""
    if options.new_texts:
        with choose_sheet(options.sheet_name):
            texts.get_or_add(tx, side, read_side_file(path, side, None, text_digests.digester(tx)))
    listed = text_digests.find_listed_texts(tx, side, path, options.sheet_name, options.ids)
    axis: sides.Axis = "row" if side == HS else "column"
    there = set(listed) & set(sides.text_ids(tx, axis, drawn=True))
    if there:
        raise InputError.say(
            "%(file)s: %(n)s of %(all)s texts are in the grid already (%(side)s_id %(ids)s); list only what is new",
            file=name_of(path),
            n=len(there),
            all=len(listed),
            side=side,
            ids=list_first(sorted(there), 5),
        )
    return listed


def _describe(spellings: Mapping[int, int], *, merged: bool) -> str:
    shown = list_first([f"{of} = {kept}" for of, kept in spellings.items()], 5)
    act = "they were merged into these, as `pair` did it" if merged else "they are rows and columns of their own"
    return f"{len(spellings):,} of the new texts are spellings of others in the grid (by their ids, {shown}); {act}"


def _draw_block(tx: Tx, options: Extend, run_id: int, before: SampleSize, *, keeps_known: bool) -> tuple[int, int]:
    """Draw cells of the newest block, of its new columns and its new rows in proportion; returns how many were drawn,
    and how many of the block are in the corpus.
    """
    blocks, known_places = cells.load_blocks(tx), cells.places_of(tx, cells.corpus_pairs(tx))
    n_columns, digests = blocks.shapes[-1][1], [sides.values(tx, axis, "digest", drawn=True) for axis in cells.AXES]
    known, n_possible = [], [0]
    for part in blocks.newest:
        row, column = (at - span.start for at, span in zip(np.divmod(known_places, n_columns), part[2:], strict=True))
        inside = (row >= 0) & (row < len(part.rows)) & (column >= 0) & (column < len(part.columns))
        known.append((row * len(part.columns) + column)[inside])
        n_possible.append(len(part.rows) * len(part.columns) - (0 if keeps_known else len(known[-1])))
    n_total = options.sample or round(sum(n_possible) * before.cells / before.of)
    n_drawn = np.diff(np.round(np.cumsum(n_possible) * n_total / max(sum(n_possible), 1))).astype(np.int64)
    places = [np.zeros(0, np.int64)]
    for part, n, excluded in zip(blocks.newest, n_drawn.tolist(), known, strict=True):
        rows, columns = (own_order(of_side[at.start : at.stop]) for of_side, at in zip(digests, part[2:], strict=True))
        if n or n_total > sum(n_possible):
            drawn_at = draw_cells(rows, columns, n, excluded[:0] if keeps_known else excluded, seed=options.seed)
            row, column = np.divmod(drawn_at, len(part.columns))
            places.append((row + part.rows.start) * n_columns + column + part.columns.start)
    cells.fill_drawn(tx, np.sort(np.concatenate(places)))
    as_drawn = {"n": before.cells + n_total, "of": before.of + sum(n_possible), "sha256": cells.digest(tx)}
    settings.save_settings(tx, context.SAMPLE_SETTING, as_drawn, run_id)
    return n_total, sum(map(len, known))
