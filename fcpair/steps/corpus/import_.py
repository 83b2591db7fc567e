"""Importing the corpus: texts, source pairs and their metadata."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fcpair.errors import StageError
from fcpair.files.corpus import corpus as corpora
from fcpair.param_values import takes_params
from fcpair.params import Import
from fcpair.records import RunRecord
from fcpair.steps.base.context import StudyContext, begin_building, note_stage_run
from fcpair.steps.base.text_digests import digester
from fcpair.store import Tx
from fcpair.store.corpus import sides, texts

if TYPE_CHECKING:
    import pandas as pd


@takes_params
def import_corpus(study: StudyContext, options: Import, *, redo: bool = False) -> RunRecord:
    """Read the corpus: the source pairs that the study starts from."""
    with study.store.read() as tx:
        digest = digester(tx)
    corpus = corpora.read_corpus(
        options.path,
        options.format,
        language=options.language,
        hs_column=options.hs_column,
        cn_column=options.cn_column,
        hs_id_column=options.hs_id_column,
        cn_id_column=options.cn_id_column,
        unpaired=options.unpaired,
        digest_of=digest,
    )
    with study.store.write() as tx:
        if dependent_grids := sides.grids_on_corpus(tx):
            raise StageError(f"grid `{dependent_grids[0]}` has texts of the corpus, which therefore stays as it is")
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
        unpaired = {"without_pair": len(pairs) - len(complete_pairs)} if options.unpaired else {}
        run = note_stage_run(tx, options, counts | unpaired)
    return replace(run, notes=(_assumed_language_note(options, len(pairs)),)) if corpus.assumed_language else run


def _assumed_language_note(options: Import, rows: int) -> str:
    return (
        f"read as {options.format}, {options.path} does not say which language a row is in, so all {rows:,} rows were "
        f"taken to be `{options.language}`; a column `language` would say it, and CONAN's own file is read by "
        "`--reader conan`"
    )


def add_side(tx: Tx, side: str, pairs: pd.DataFrame, metadata: tuple[str, ...]) -> dict[str, int]:
    """Add the distinct texts of one side, each with the metadata of its first row; returns the id of each digest."""
    first_rows = pairs.drop_duplicates(f"{side}_digest")
    rows = zip(
        first_rows[f"{side}_digest"],
        first_rows[side],
        first_rows["language"],
        _metadata(first_rows, metadata),
        strict=True,
    )
    return texts.add_texts(tx, side, rows)


def _metadata(rows: pd.DataFrame, names: tuple[str, ...]) -> list[dict[str, str]]:
    """The metadata of each row as a dict, of those names that the file has."""
    columns = [name for name in names if name in rows.columns]
    if not columns:
        return [{} for _ in range(len(rows))]
    return [dict(zip(columns, values, strict=True)) for values in zip(*(rows[name] for name in columns), strict=True)]
