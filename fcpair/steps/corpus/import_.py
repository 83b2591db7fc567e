"""Importing the corpus: texts, source pairs and their metadata."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

from fcpair.errors import InputError, StageError
from fcpair.files.corpus import corpus as corpora
from fcpair.files.tables.tabular import Source
from fcpair.lazy import pd
from fcpair.param_values import InMemory, choose_params
from fcpair.params import CorpusFormat, Import
from fcpair.records import RunRecord
from fcpair.steps.base.context import StudyContext, begin_building, note_stage_run
from fcpair.steps.base.text_digests import digester
from fcpair.store import Tx
from fcpair.store.corpus import sides, texts

COLUMN_READERS = ("csv", "conan", "mt-conan")  # which say what columns a table has, wherever it is


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
) -> RunRecord:
    """Read the corpus: the source pairs that the study starts from.

    `path` is the file, a pandas DataFrame or a list of rows with the same columns, or an `Import` with the other
    arguments, too. The index of a frame is no part of it, and NaN and None are empty cells. A column whose name starts
    with `hs` describes the HS, one that starts with `cn` the CN.

    Args:
        reader: the kind of file, which its suffix says if it is not given; of a frame, which columns it has.
        only_language: keep this language only, such as en.
        hs_column: the column of the HS.
        cn_column: the column of the CN.
        hs_id_column: the column of the HS's own ids; `hs_id` if there is one.
        cn_id_column: the column of the CN's own ids; `cn_id` if there is one.
        unpaired: treat a row whose HS or CN is empty as an unpaired text.
        language_column: the column of the language; `language` if there is one.
        sheet_name: the sheet of a workbook that is read; if not given, the one with the columns.

    Raises:
        InputError: no such file, a missing or duplicated column, a broken encoding, an empty text or an id of two texts
            (all of them, with line numbers, or those of rows), no row of the language.
        StageError: the study has a corpus, and `redo` is not asked; or what rests on it has answers.
    """
    file = path.path if isinstance(path, Import) else cast("Path", path)
    keywords = Import(
        file,
        reader,
        only_language,
        hs_column,
        cn_column,
        hs_id_column,
        cn_id_column,
        unpaired,
        language_column,
        sheet_name,
    )
    options = choose_params(path if isinstance(path, Import) else None, keywords, Import(file))
    if isinstance(options.path, InMemory) and options.reader not in (None, *COLUMN_READERS):
        message = f"reader is {options.reader!r}, but a frame was read already; expected {', '.join(COLUMN_READERS)}"
        raise InputError(message)
    with study._store.read() as tx:
        digest = digester(tx)
    corpus = corpora.read_corpus(**vars(options), digest_of=digest)
    with study._store.write() as tx:
        if dependent_grids := sides.grids_on_corpus(tx):
            raise StageError(f"grid `{dependent_grids[0]}` has texts of the corpus, so the corpus cannot be replaced")
        begin_building(tx, "import", redo=redo)
        pairs = corpus.pairs
        has_hs, has_cn = (pairs[side].str.strip() != "" for side in (corpora.HS, corpora.CN))
        hs_ids = add_side(tx, corpora.HS, pairs[has_hs], corpus.hs_metadata)
        cn_ids = add_side(tx, corpora.CN, pairs[has_cn], corpus.cn_metadata)
        complete_pairs = pairs[has_hs & has_cn]
        hs, cn = complete_pairs["hs_digest"].map(hs_ids), complete_pairs["cn_digest"].map(cn_ids)
        texts.add_source_pairs(
            tx, zip(hs.tolist(), cn.tolist(), _metadata(complete_pairs, corpus.metadata), strict=True)
        )
        counts = {"rows": len(pairs), "hs": len(hs_ids), "cn": len(cn_ids)}
        n_lone_texts = len(hs_ids) + len(cn_ids) - int(hs.nunique() + cn.nunique())
        n_repeated = len(pairs) - len(complete_pairs) - n_lone_texts
        if options.unpaired:
            counts["without_pair"] = len(pairs) - len(complete_pairs)
            counts |= {"repeated": n_repeated} if n_repeated else {}
        if options.only_language:
            counts["other_languages"] = corpus.n_left_out
        run = note_stage_run(tx, options, counts)
    notes = list(corpus.notes)
    if n_repeated:
        repeat = "row without a pair repeats" if n_repeated == 1 else "rows without a pair repeat"
        notes.insert(
            0,
            f"{n_repeated:,} {repeat} a text of another row, which is kept once: `status` and exports have "
            f"{len(pairs) - n_repeated:,} rows of the {len(pairs):,} that were read",
        )
    return replace(run, notes=tuple(notes))


def add_side(tx: Tx, side: str, pairs: pd.DataFrame, metadata: tuple[str, ...]) -> dict[str, int]:
    """Add the distinct texts of one side, each with the metadata of its first row; returns the id of each digest."""
    first = pairs.drop_duplicates(f"{side}_digest")
    columns = (first[f"{side}_digest"], first[side], first["language"], _metadata(first, metadata))
    return texts.add_texts(tx, side, zip(*columns, strict=True))


def _metadata(rows: pd.DataFrame, names: tuple[str, ...]) -> list[dict[str, str]]:
    """The metadata of each row as a dict, of those names that the file has."""
    columns = [name for name in names if name in rows.columns]
    cells = rows[columns].itertuples(index=False, name=None)
    return [dict(zip(columns, values, strict=True)) for values in cells] if columns else [{} for _ in range(len(rows))]
