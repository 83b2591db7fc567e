"""Importing the corpus: texts, source pairs and their metadata."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fcpair.errors import StageError
from fcpair.files.corpus import corpus as corpora
from fcpair.param_values import takes_params
from fcpair.params import Import
from fcpair.records import RunRecord
from fcpair.steps.base.context import OnStudy, begin_building, note
from fcpair.steps.base.text_digests import digester
from fcpair.store import Tx
from fcpair.store.corpus import sides, texts

if TYPE_CHECKING:
    import pandas as pd


@takes_params
def import_corpus(study: OnStudy, options: Import, *, redo: bool = False) -> RunRecord:
    """Read the corpus: the source pairs that the study starts from."""
    with study.store.read() as tx:
        known_by = digester(tx)
    read = corpora.read_corpus(
        options.path,
        options.format,
        language=options.language,
        hs_column=options.hs_column,
        cn_column=options.cn_column,
        hs_id_column=options.hs_id_column,
        cn_id_column=options.cn_id_column,
        unpaired=options.unpaired,
        known_by=known_by,
    )
    with study.store.write() as tx:
        if others := sides.on_corpus(tx):
            raise StageError(f"grid `{others[0]}` has texts of the corpus, which therefore stays as it is")
        begin_building(tx, "import", redo=redo)
        pairs = read.pairs
        has_hs, has_cn = (pairs[side].str.strip() != "" for side in (corpora.HS, corpora.CN))
        hs_ids = add_side(tx, corpora.HS, pairs[has_hs], read.hs_metadata)
        cn_ids = add_side(tx, corpora.CN, pairs[has_cn], read.cn_metadata)
        paired = pairs[has_hs & has_cn]
        hs, cn = paired["hs_digest"].map(hs_ids), paired["cn_digest"].map(cn_ids)
        texts.add_source_pairs(tx, zip(hs.tolist(), cn.tolist(), _metadata(paired, read.metadata), strict=True))
        counts = {"rows": len(pairs), "hs": len(hs_ids), "cn": len(cn_ids)}
        unpaired = {"without_pair": len(pairs) - len(paired)} if options.unpaired else {}
        run = note(tx, options, counts | unpaired)
    return replace(run, notes=(_assumed(options, len(pairs)),)) if read.assumed_language else run


def _assumed(options: Import, rows: int) -> str:
    return (
        f"read as {options.format}, {options.path} does not say which language a row is in, so all {rows:,} rows were "
        f"taken to be `{options.language}`; a column `language` would say it, and CONAN's own file is read by "
        "`--format conan`"
    )


def add_side(tx: Tx, side: str, pairs: pd.DataFrame, metadata: tuple[str, ...]) -> dict[str, int]:
    """Add the distinct texts of one side, each with the metadata of its first row; returns the id of each digest."""
    first = pairs.drop_duplicates(f"{side}_digest")
    rows = zip(first[f"{side}_digest"], first[side], first["language"], _metadata(first, metadata), strict=True)
    return texts.add_texts(tx, side, rows)


def _metadata(rows: pd.DataFrame, names: tuple[str, ...]) -> list[dict[str, str]]:
    """The metadata of each row as a dict, of those names that the file has."""
    there = [name for name in names if name in rows.columns]
    if not there:
        return [{} for _ in range(len(rows))]
    return [dict(zip(there, values, strict=True)) for values in zip(*(rows[name] for name in there), strict=True)]
