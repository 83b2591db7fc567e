"""Building a grid from a corpus, stage by stage: import, select the HS, bring candidates in, make the cells."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np

from fcpair.arrays import Vectors
from fcpair.errors import InputError, StageError
from fcpair.files.corpus.corpus import CN, HS, distinct_texts, read_corpus
from fcpair.files.release.trec_runs import read_run
from fcpair.files.tables.tabular import Source
from fcpair.lazy import pd
from fcpair.models import encode, model_files
from fcpair.models.cache import folder_of
from fcpair.models.cluster import check_address, connect_cluster, encode_on_cluster, nearest_on_cluster
from fcpair.models.encode import Progress
from fcpair.param_values import InMemory, as_params, choose_params
from fcpair.params import (
    DEFAULT_MODEL,
    MEMORY_MB,
    Backend,
    CorpusFormat,
    Encoding,
    Ids,
    Import,
    Pair,
    Retrieve,
    Select,
    Separator,
)
from fcpair.records import RunRecord
from fcpair.sentences import mark, say
from fcpair.stages.corpus import retrieve
from fcpair.stages.corpus.sample import draw_cells, draw_positions, draw_stratified, own_order
from fcpair.stages.corpus.spellings import first_spellings
from fcpair.steps import grids
from fcpair.steps.base import context, text_digests
from fcpair.steps.base.context import Basis, GridContext, StudyContext
from fcpair.steps.base.keywords import by_recipe, explain_params, own, takes_params
from fcpair.steps.base.text_digests import digester, find_listed_texts, load_text_ids
from fcpair.store import Tx
from fcpair.store.corpus import cells, sides, texts
from fcpair.store.oversight import runs, settings

COLUMN_READERS = ("csv", "conan", "mt-conan")  # which say what columns a table has, wherever it is
COMPARING = mark("Texts compared")  # of a part of long work, what it counts
MAX_SHOWN = 10  # HS that a note names
MAX_GROUPS = 3  # groups of spellings that a note names
NAMES: dict[sides.Axis, str] = {"row": "HS", "column": "CN"}
_RARE = ("sample", "merge", "similar")  # what the log has only where it is given
_log = logging.getLogger(__name__)


@explain_params
def import_corpus(
    study: StudyContext,
    path: Import | Source,
    *,
    redo: bool = False,
    reader: CorpusFormat | None = None,
    only_language: str | None = None,
    hs_column: str = "hs",
    cn_column: str = "cn",
    hs_id_column: str | None = None,
    cn_id_column: str | None = None,
    unpaired: bool = False,
    language_column: str | None = None,
    sheet_name: str | None = None,
    encoding: Encoding | None = None,
    separator: Separator | None = None,
    no_header: bool = False,
    cn_path: Source | None = None,
    cn_sheet_name: str | None = None,
    cn_encoding: Encoding | None = None,
    cn_separator: Separator | None = None,
    cn_no_header: bool = False,
) -> RunRecord:
    """Read the corpus: the source pairs that the study starts from.

    `path` is the file, a pandas DataFrame or a list of rows with the same columns, or an `Import` with the other
    arguments, too. In a frame, NaN and None are empty cells. A column whose name starts with `hs` or `cn` describes
    that text.

    Raises:
        InputError: no such file or language, and all wrong columns, encodings, texts and ids, with their lines or rows.
        StageError: the study has a corpus, and `redo` is not asked; or what rests on it has answers.
    """
    file = path.path if isinstance(path, Import) else cast("Path", path)
    columns = hs_column, cn_column, hs_id_column, cn_id_column, unpaired, language_column
    reading = sheet_name, encoding, separator, no_header
    cn_table = cast("Path | None", cn_path), cn_sheet_name, cn_encoding, cn_separator, cn_no_header
    keywords = Import(*(file, reader, only_language, *columns, *reading, *cn_table))
    options = choose_params(path if isinstance(path, Import) else None, keywords, Import(file))
    if isinstance(options.path, InMemory) and options.reader not in (None, *COLUMN_READERS):
        raise InputError(
            f"reader is {options.reader!r}, but a frame was read already; expected {', '.join(COLUMN_READERS)}"
        )
    with study._store.read() as tx:
        digest = digester(tx)
    corpus = read_corpus(options, digest)
    with study._store.write() as tx:
        if dependent_grids := sides.grids_on_corpus(tx):
            raise StageError(f"grid `{dependent_grids[0]}` has texts of the corpus, so the corpus cannot be replaced")
        context.begin_building(tx, "import", redo=redo)
        pairs = corpus.pairs
        has_hs, has_cn = (pairs[side].str.strip() != "" for side in (HS, CN))
        hs_ids = add_side(tx, HS, pairs[has_hs], corpus.hs_metadata)
        cn_ids = add_side(tx, CN, pairs[has_cn], corpus.cn_metadata)
        complete_pairs = pairs[has_hs & has_cn]
        hs, cn = complete_pairs["hs_digest"].map(hs_ids), complete_pairs["cn_digest"].map(cn_ids)
        texts.add_source_pairs(
            tx, zip(hs.tolist(), cn.tolist(), _metadata(complete_pairs, corpus.metadata), strict=True)
        )
        counts = {"rows": len(pairs), "hs": len(hs_ids), "cn": len(cn_ids)}
        n_lone_texts = len(hs_ids) + len(cn_ids) - int(hs.nunique() + cn.nunique())
        n_repeated = len(pairs) - len(complete_pairs) - n_lone_texts
        if options.unpaired or options.cn_path:
            counts["without_pair"] = len(pairs) - len(complete_pairs)
            counts |= {"repeated": n_repeated} if n_repeated else {}
        if options.only_language:
            counts["other_languages"] = corpus.n_left_out
        run = context.note_stage_run(tx, options, counts)
    repeat = "row without a pair repeats" if n_repeated == 1 else "rows without a pair repeat"
    note = (
        f"{n_repeated:,} {repeat} a text of another row, which is kept once: `status` and exports have "
        f"{len(pairs) - n_repeated:,} rows of the {len(pairs):,} that were read"
    )
    return replace(run, notes=(*[note] * bool(n_repeated), *corpus.notes))


def add_side(tx: Tx, side: str, pairs: pd.DataFrame, metadata: tuple[str, ...]) -> dict[str, int]:
    """Add the distinct texts of one side, with the metadata of their first rows and all ids; returns ids by digest."""
    first = distinct_texts(pairs, side)
    columns = (first[f"{side}_digest"], first[side], first["language"], _metadata(first, metadata))
    return texts.add_texts(tx, side, zip(*columns, strict=True))


def _metadata(rows: pd.DataFrame, names: tuple[str, ...]) -> list[dict[str, str]]:
    columns = [name for name in names if name in rows.columns]
    cells = rows[columns].itertuples(index=False, name=None)
    return [dict(zip(columns, values, strict=True)) for values in cells] if columns else [{} for _ in range(len(rows))]


@takes_params
def select(
    grid: GridContext,
    options: Select | None = None,
    *,
    redo: bool = False,
    hs: int | None = own(None),
    hs_list: Source | None = own(None),
    stratify: str | None = own(None),
    seed: int = own(0),
    sheet_name: str | None = own(None),
    ids: Ids | None = own(None),
) -> RunRecord:
    """Choose the HS: drawn by seed, or as a file, a frame or a list names them; without options, as the recipe says."""
    options = options or by_recipe(grid, Select)
    if options.hs is None and options.hs_list is None:
        raise InputError("say either how many HS to draw (--hs N) or which (--hs-list FILE)")
    with grid._store.write() as tx:
        context.begin_building(tx, "select", redo=redo)
        if options.hs_list:
            hs_ids = find_listed_texts(tx, HS, options.hs_list, options.sheet_name, options.ids)
        else:
            all_hs, n = texts.texts_of(tx, HS), options.hs or 0
            order = own_order(all_hs["digest"])
            if options.stratify is None:
                drawn = draw_positions(order, n, options.seed, "HS")
            else:
                names = sorted({name for meta in all_hs["meta"] for name in meta})
                if options.stratify not in names:
                    raise InputError(f"no HS has metadata `{options.stratify}`; there is {', '.join(names) or 'none'}")
                strata = all_hs["meta"].map(lambda meta: meta.get(options.stratify, "")).to_numpy(object)
                drawn = draw_stratified(strata, order, n, options.seed, "HS")
            hs_ids = all_hs["id"].to_numpy()[drawn].tolist()
        sides.set_texts(tx, "row", hs_ids)
        return context.note_stage_run(tx, options, {"hs": len(hs_ids), "source_cns": len(sides.source_cns(tx))})


@takes_params
def bring_in_candidates(
    grid: GridContext,
    options: Retrieve | None = None,
    *,
    redo: bool = False,
    progress: Progress | None = None,
    k: int = own(2),
    model: str = own(DEFAULT_MODEL),
    backend: Backend = own("torch"),
    count_duplicates: bool = own(False),
    cn_list: Source | None = own(None),
    every_cn: bool = own(False),
    runs: Sequence[Source] = own(()),
    depth: int = own(10),
    memory_mb: int = own(MEMORY_MB),
    dask: str | None = own(None),
    sheet_name: str | None = own(None),
    ids: Ids | None = own(None),
) -> RunRecord:
    """Bring candidates in: neighbours of the source CNs, less all source CNs; those of a list or of runs; or every CN.

    A list is a file, a frame or a Python list; a run is a file, or one frame with `hs_id`, `cn_id`, `rank` and `score`.
    Without options, as the recipe says. Raises ModelError when the model cannot be had.
    """
    options = options or by_recipe(grid, Retrieve)
    if options.cn_list is not None or options.every_cn:  # source CNs are among them
        with grid._store.write() as tx:
            context.begin_building(tx, "retrieve", redo=redo)
            if options.cn_list is None:
                candidates = texts.texts_of(tx, CN)["id"].tolist()
            else:
                candidates = find_listed_texts(tx, CN, options.cn_list, options.sheet_name, options.ids)
            sides.set_texts(tx, "column", candidates)
            return context.note_stage_run(tx, options, {"candidates": len(candidates)})
    if options.runs:
        return _use_pooled_candidates(grid, options, redo=redo)
    retrieve.check_k(options.k)
    if options.dask is not None:
        check_address(options.dask)
    with grid._store.read() as tx:
        context.check_building(tx, "retrieve", redo=redo)
        basis = Basis(tx, lambda tx: (texts.source_copies(tx), sides.source_cns(tx)))
        corpus_cns, source_ids = basis.inputs
        if not source_ids:
            raise InputError(
                "no selected HS has a CN in the corpus to search from; give candidates by --cn-list or --run"
            )
        if model_files.is_english(options.model):
            cns = texts.texts_of(tx, CN)
            if languages := retrieve.non_english_note(cns["body"].tolist(), cns["language"].fillna("").tolist()):
                _log.warning(
                    "%s was trained on English only, but most of the corpus %s, so its neighbours mean little; name a "
                    "multilingual model, such as `--model %s`",
                    options.model,
                    languages,
                    model_files.MULTILINGUAL,
                )
    encoder = model_files.resolve(options.model, backend=options.backend)
    cn_ids = corpus_cns["cn_id"].to_numpy()
    sources = np.flatnonzero(np.isin(cn_ids, source_ids))
    copies = corpus_cns["n_rows"].to_numpy() if options.count_duplicates else None
    bodies = corpus_cns["body"].tolist()
    if options.dask is None:
        vectors = encode.encode(bodies, encoder, progress)
        encode.begin_part(progress, COMPARING)
        nearest = retrieve.nearest_to(vectors, sources, options.k, options.memory_mb, progress)
    else:
        with connect_cluster(options.dask, folder_of(encoder)) as client:
            places = encode_on_cluster(client, bodies, encoder, progress)
            nearest = nearest_on_cluster(client, places, sources, options.k, options.memory_mb, progress)
    neighbours = retrieve.neighbour_table(nearest, sources, options.k, copies)
    candidates = cn_ids[retrieve.candidate_positions(neighbours, sources)].tolist()
    cut = encode.count_cut(bodies, encoder)
    if not candidates:
        raise InputError("every neighbour is a source CN, so there are no candidates; raise --k or select fewer HS")
    with grid._store.write() as tx:
        basis.check_unmoved(tx)
        context.begin_building(tx, "retrieve", redo=redo)
        sides.set_neighbours(
            tx,
            neighbours.assign(source_id=cn_ids[neighbours.pop("source")], cn_id=cn_ids[neighbours.pop("cn")], run=""),
        )
        sides.set_texts(tx, "column", candidates)
        counts = {"source_cns": len(sources), "neighbours": len(neighbours), "candidates": len(candidates)}
        counts |= {"cut_texts": cut.n} if cut.n else {}
        run = replace(context.note_stage_run(tx, options, counts, encoder.record()), notes=cut.notes)
        return _with_missing_note(tx, run, sides.rows_without_cn(tx), "no CN in the corpus to search from")


def _use_pooled_candidates(grid: GridContext, options: Retrieve, *, redo: bool) -> RunRecord:
    """Take the top of runs for the selected HS, source CNs among them."""
    with grid._store.write() as tx:
        context.begin_building(tx, "retrieve", redo=redo)
        if len({path.resolve() for path in options.runs}) < len(options.runs):
            raise InputError("a run is given twice; of frames, which have no names, give one")
        ids, selected = load_text_ids(tx), sides.text_ids(tx, "row")
        n_by_name = Counter(path.name for path in options.runs)
        pools, notes = [], []
        for path in options.runs:
            lines, own_notes = read_run(path, ids, options.ids)
            name = path.name if n_by_name[path.name] == 1 else str(path)
            notes += [f"{name}: {note}" for note in own_notes]
            is_pooled = lines["hs_id"].isin(selected) & (lines["rank"] <= options.depth) & (lines["cn_id"] >= 0)
            pools.append(lines[is_pooled].assign(run=name))
        pool = pd.concat(pools, ignore_index=True).rename(columns={"hs_id": "source_id"})
        pool = pool[["source_id", "run", "rank", "cn_id", "score"]]
        if pool.empty:
            raise InputError("the runs name no CN for any of the selected HS, so there are no candidates")
        candidates = sorted(set(pool["cn_id"].tolist()))
        sides.set_neighbours(tx, pool)
        sides.set_texts(tx, "column", candidates)
        by_run = pool.groupby("run", sort=False)["cn_id"].nunique().to_dict()
        run = replace(
            context.note_stage_run(tx, options, {"runs": by_run, "candidates": len(candidates)}), notes=tuple(notes)
        )
        hs_in_runs = set(pool["source_id"].tolist())
        return _with_missing_note(tx, run, [hs for hs in selected if hs not in hs_in_runs], "no line in any run")


def _with_missing_note(tx: Tx, run: RunRecord, hs_ids: list[int], why: str) -> RunRecord:
    if not hs_ids:
        return run
    names = load_text_ids(tx)[HS].first_own
    shown = ", ".join(names.get(hs, str(hs)) for hs in hs_ids[:MAX_SHOWN]) + ", ..." * (len(hs_ids) > MAX_SHOWN)
    n = f"{len(hs_ids):,} of {len(sides.text_ids(tx, 'row')):,}"
    note = f"selected HS with {why}, which bring in no candidates of their own: {n} (hs_id {shown})"
    return replace(run, notes=(*run.notes, note))


@takes_params
def make_grid(
    grid: GridContext,
    options: Pair | None = None,
    *,
    redo: bool = False,
    candidates: int | None = own(None),
    keep_known: bool = own(False),
    sample: int | None = own(None),
    seed: int = own(0),
    merge: bool = own(False),
    similar: float | None = own(None),
) -> RunRecord:
    """Make the grid: the selected HS x all candidates, or as many as are drawn, less the corpus unless it is kept.

    With `options.sample`, only so many cells of that are drawn and made. The notes name texts that are spellings of
    others; with `options.merge` these are left out, and known pairs and ids of theirs count as those of the text that
    is kept. A planned grid takes no options (`grids.fill_grid`); without options, as the recipe says. Raises InputError
    for too few candidates or cells to draw from, or too many cells, or where merging leaves one text of a side.
    """
    with grid._store.read() as tx:
        planned = context.is_planned(tx)
    options = options or by_recipe(grid, Pair)
    if planned and options != Pair():
        raise InputError(f"the sides of grid `{grid.grid.name}` are planned, so nothing is drawn; omit the options")
    if planned:
        return grids.fill_grid(grid, redo=redo)
    vectors = {} if options.similar is None else _encode_sides(grid, redo=redo)
    params = {name: value for name, value in as_params(options).items() if name not in _RARE or value}
    with grid._store.write(bulk=True) as tx:
        context.begin_building(tx, "pair", redo=redo)
        run_id = context.begin_run(tx, options.stage, params)
        merged_counts, notes = _merge_spellings(tx, options, vectors, run_id)
        candidate_ids = sides.text_ids(tx, "column", drawn=True)
        n = len(candidate_ids) if options.candidates is None else options.candidates
        order = own_order(sides.values(tx, "column", "digest", drawn=True))
        drawn = draw_positions(order, n, options.seed, say("candidates"))
        sides.set_drawn(tx, "column", [candidate_ids[at] for at in drawn.tolist()])
        if not options.merge:
            notes = _describe_spellings(tx, options, _find_spellings(tx, options, vectors))
        if options.sample is None:
            cell_counts = dict(zip(("pairs", "in_corpus"), cells.fill(tx, keep_known=options.keep_known), strict=True))
        else:
            shape, in_corpus = cells.shape(tx), cells.places_of(tx, cells.corpus_pairs(tx))
            excluded = in_corpus[:0] if options.keep_known else in_corpus
            rows, columns = (own_order(sides.values(tx, axis, "digest", drawn=True)) for axis in cells.AXES)
            places = draw_cells(rows, columns, options.sample, excluded, seed=options.seed)
            cells.fill_drawn(tx, places)
            n_possible = shape[0] * shape[1] - len(excluded)
            cell_counts = {"pairs": options.sample, "of": n_possible, "in_corpus": len(in_corpus)}
            for side, at, size in zip((HS, CN), np.divmod(places, shape[1]), shape, strict=True):
                n_cells = np.bincount(at, minlength=size)
                cell_counts |= {f"{side}_min": int(n_cells.min()), f"{side}_max": int(n_cells.max())}
        even_shares = list(retrieve.even_shares(cell_counts["pairs"]))
        counts = {"hs": len(sides.text_ids(tx, "row", drawn=True)), "cn": n, **cell_counts, "even_for": even_shares}
        counts |= merged_counts
        run = runs.end_run(tx, run_id, counts)
        context.save_options(tx, options, run)
        if options.sample is None:
            return replace(run, notes=tuple(notes))
        drawn_cells = {"of": cell_counts["of"], "sha256": cells.digest(tx)}
        settings.save_settings(tx, context.SAMPLE_SETTING, drawn_cells, run.id)
        notes.append(str(context.load_sample_size(tx)))
        for side, name in (("hs", "HS"), ("cn", "CN")):
            least, most = cell_counts[f"{side}_min"], cell_counts[f"{side}_max"]
            if most > least + 1:
                notes.append(
                    f"each {name} has {least:,} to {most:,} cells, because so much of the grid is in the corpus that "
                    "no draw is more even"
                )
        return replace(run, notes=tuple(notes))


def _encode_sides(grid: GridContext, *, redo: bool) -> dict[str, Vectors]:
    """The vector of each text of the two sides, by its words; what was encoded before is not encoded again."""
    with grid._store.read() as tx:
        context.check_building(tx, "pair", redo=redo)
        bodies = [body for axis in cells.AXES for _, body in sides.bodies(tx, axis)]
        used = context.options_as_done(tx, Retrieve)
    encoder = model_files.resolve(used.model, backend=used.backend)
    return dict(zip(bodies, encode.encode(bodies, encoder), strict=True))


Spellings = list[tuple[sides.Axis, dict[int, int]]]
"""The sides with spellings among their drawn texts: the text that each of these is a spelling of, by ids."""


def _find_spellings(tx: Tx, options: Pair, vectors: Mapping[str, Vectors]) -> Spellings:
    found, folding = Spellings(), text_digests.folding(tx)
    for axis in cells.AXES:
        ids, bodies = sides.text_ids(tx, axis, drawn=True), sides.values(tx, axis, "body", drawn=True)
        stacked = np.stack([vectors[body] for body in bodies]) if vectors else None
        first = first_spellings(bodies, folding, stacked, options.similar or 1.0).tolist()
        if kept_ids := {ids[at]: ids[kept] for at, kept in enumerate(first) if kept != at}:
            found.append((axis, kept_ids))
    return found


def _merge_spellings(
    tx: Tx, options: Pair, vectors: Mapping[str, Vectors], run_id: int
) -> tuple[dict[str, int], list[str]]:
    """Leave spellings out of the grid where they are to be merged, and keep which text stands for each; returns their
    numbers, and notes.
    """
    merged = dict[str, int]()
    for axis in cells.AXES:
        sides.set_drawn(tx, axis, sides.text_ids(tx, axis))
    spellings = _find_spellings(tx, options, vectors) if options.merge else []
    notes = _describe_spellings(tx, options, spellings)
    for axis, kept_ids in spellings:
        before, merged = sides.text_ids(tx, axis), merged | {str(of): by for of, by in kept_ids.items()}
        sides.set_drawn(tx, axis, [text_id for text_id in before if text_id not in kept_ids])
        if len(before) - len(kept_ids) == 1:
            raise InputError(
                f"--merge leaves 1 of {len(before):,} {NAMES[axis]}, of which all others are spellings; take more, "
                "raise --similar, or omit --merge"
            )
    if merged or settings.of_stage(tx, sides.SPELLINGS):
        settings.save_settings(tx, sides.SPELLINGS, {sides.MERGED: merged}, run_id)
    return {f"merged_{NAMES[axis].lower()}": len(kept_ids) for axis, kept_ids in spellings}, notes


def _describe_spellings(tx: Tx, options: Pair, spellings: Spellings) -> list[str]:
    """A note on the spellings of each side that has any: how many, the first groups by their ids, and what to do."""
    notes, text_ids = list[str](), load_text_ids(tx) if spellings else {}
    for axis, kept_ids in spellings:
        name, groups, words = NAMES[axis], dict[int, list[int]](), text_ids[NAMES[axis].lower()].first_own
        for text_id, kept_id in kept_ids.items():
            groups.setdefault(kept_id, [kept_id]).append(text_id)
        shown = (" = ".join(words.get(of, str(of)) for of in group) for group in [*groups.values()][:MAX_GROUPS])
        listed = "; ".join([*shown, *["..."] * (len(groups) > MAX_GROUPS)])
        cosine = f", or have a cosine of {options.similar:g} or more" if options.similar else ""
        what = f"differ only by case, spaces, quotes, invisible signs or Unicode form{cosine}"
        act = "the first of each was kept" if options.merge else "`fcpair pair --redo --merge` keeps the first of each"
        n = f"{len(kept_ids) + len(groups):,} {name} in {len(groups):,} {'group' if len(groups) == 1 else 'groups'}"
        notes.append(f"{n} {what} ({name.lower()}_id {listed}); {act}")
    return notes
