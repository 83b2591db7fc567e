"""Exports for the tools people have: what is loaded for each, and how it is written and noted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError, StageError
from fcpair.files.answers.writings import Layout, crowdcounter_json, parscn_table, split_files
from fcpair.files.answers.writings import hf_files as hf_text_files
from fcpair.files.corpus.corpus import CN, HS
from fcpair.files.release.exports import EXPORTS
from fcpair.files.release.tier import (
    CARD,
    CardFacts,
    Kind,
    Words,
    beir_files,
    grades,
    hf_files,
    qrels_text,
    remaining_rows,
    training_sets,
)
from fcpair.files.release.trec_runs import describe_ids
from fcpair.files.tables.folders import check_new_folder, new_folder, replace_file
from fcpair.files.tables.tabular import check_suffix, write_table
from fcpair.lazy import pd
from fcpair.params import Export, Ids, Pair
from fcpair.records import RunRecord, Tier
from fcpair.sentences import say
from fcpair.stages.adjudication.partition import find_rule, tier_rules
from fcpair.steps.answers.answer_tables import ROW, decisions_table, rows_table
from fcpair.steps.answers.curation import written_table
from fcpair.steps.answers.ranking import preference_lines
from fcpair.steps.base import context
from fcpair.steps.base.context import GridContext
from fcpair.steps.base.keywords import takes_params
from fcpair.steps.base.text_digests import load_text_ids
from fcpair.steps.release.block_report import basis_notes
from fcpair.steps.release.partition import TierTable, empty_tier_message, load_tier, pool_ids, tiers_of
from fcpair.steps.rules.tallies import simulated_note
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids, texts
from fcpair.store.oversight import runs
from fcpair.texts.stratify import complete_shares, stratify

DEFAULT_OPTIONS = Export()
TEMPLATES: Layout = "templates"
FOLDERS: tuple[Layout, ...] = ("training", "hf")
"""The layouts of written texts that are folders."""
NO_CORPUS = """this study has no corpus: its texts came with the labels. This makes a study that has both:
  fcpair init --study OTHER.db
  fcpair import CONAN.csv --reader conan --only-language en --study OTHER.db
  fcpair select --hs-list fc_conan_bronze_hs.csv --study OTHER.db
  fcpair retrieve --k 2 --count-duplicates --study OTHER.db
  fcpair pair --study OTHER.db
  fcpair labels import bronze_partition_df.csv --reader fc-conan --study OTHER.db"""


class Exports:
    """Writes what a study holds for the tools that people have: every file and folder whole, or not at all.

    Each method returns the run that it leaves. A tier is one of `Tier`, or a name. All raise StageError when the study
    has no labels, and InputError for an unknown or empty tier, an empty pool, or a place that cannot be written to, as
    a folder that holds something. `files.release.exports.EXPORTS` names the options that each reads.
    """

    def __init__(self, grid: GridContext) -> None:
        self._grid = grid

    @takes_params
    def qrels(
        self,
        path: str | Path,
        tier: Tier | str,
        options: Export = DEFAULT_OPTIONS,
        *,
        pool: str = "judged",
        binary: bool = False,
        ids: Ids | None = None,
    ) -> RunRecord:
        """Write the grades of a tier as TREC qrels; see `grades`."""
        with self._grid._store.read() as tx:
            graded_pairs, _, params, counts, words = _load_grades(self._grid, tx, "qrels", tier, options)
        return _write(self._grid, path, {"": qrels_text(graded_pairs, words)}, params, counts)

    @takes_params
    def beir(
        self,
        folder: str | Path,
        tier: Tier | str,
        options: Export = DEFAULT_OPTIONS,
        *,
        pool: str = "judged",
        binary: bool = False,
        ids: Ids | None = None,
    ) -> RunRecord:
        """Write the pool, the HS and the grades of a tier as a BEIR folder; see `beir_files`."""
        check_new_folder(folder)
        with self._grid._store.read() as tx:
            graded_pairs, cns, params, counts, words = _load_grades(self._grid, tx, "beir", tier, options)
            files = beir_files(graded_pairs, pd.Series(texts.bodies(tx, grids.side_kinds(tx))), cns, words)
            files[CARD] = f"A BEIR folder of {params['tier']}; {describe_ids(load_text_ids(tx), options.ids)}.\n"
        return _write(self._grid, folder, files, params, {"corpus": len(cns), **counts})

    @takes_params
    def hf(self, folder: str | Path, options: Export = DEFAULT_OPTIONS, *, ids: Ids | None = None) -> RunRecord:
        """Write all tiers as a Hugging Face dataset folder with a card; see `hf_files`."""
        check_new_folder(folder)
        with self._grid._store.read() as tx:
            rules, study_facts = context.rules_of(self._grid, tx), runs.study_facts(tx)
            facts = CardFacts(
                study_facts["title"],
                study_facts["hs_name"],
                study_facts["cn_name"],
                context.scheme_of(tx),
                tier_rules(rules),
                simulated_note(judgements.n_by_origin(tx)),
                version("fcpair"),
                context.options_as_done(tx, Pair).keep_known,
                basis_notes(tx),
                context.load_sample_size(tx),
            )
            rows_by_tier = {rule.tier: load_tier(tx, rules, rule.tier, ids=options.ids)[0] for rule in facts.rules}
        if rows_by_tier[Tier.BRONZE.label].empty:
            raise InputError(empty_tier_message(Tier.BRONZE.label))
        files = hf_files(rows_by_tier, facts)
        counts = {Path(name).stem: len(rows) for name, rows in files.items() if not isinstance(rows, str)}
        return _write(self._grid, folder, files, {"kind": "hf", "ids": options.ids, **rules.noted}, counts)

    @takes_params
    def training(
        self,
        kind: Kind,
        folder: str | Path,
        tier: Tier | str,
        options: Export = DEFAULT_OPTIONS,
        *,
        negatives: int = 5,
        test_share: float = 0.2,
        seed: int = 0,
    ) -> RunRecord:
        """Write triplets, pairs or preferences as `train.jsonl` and `test.jsonl`; see `training_sets`."""
        check_new_folder(folder)
        with self._grid._store.read() as tx:
            tiers, pairs, params = _load_tier(self._grid, tx, kind, tier, options)
            bodies = pd.Series(texts.bodies(tx, grids.side_kinds(tx)))
        pairs = pairs.assign(appropriate=pairs["final"].isin(tiers.question.positive))
        sets = training_sets(kind, pairs, bodies, options)
        files = {"train.jsonl": sets.train, "test.jsonl": sets.test}
        return _write(self._grid, folder, files, params, sets.counts)

    def comparisons(self, path: str | Path, round: str | None = None) -> RunRecord:
        """Write the answers of a grid of comparisons as they were given, a line of JSON each; see `preference_lines`.

        Raises StageError for a grid that compares nothing, InputError for a name that does not end in .jsonl.
        """
        if Path(path).suffix.lower() != ".jsonl":
            raise InputError(f"{path}: expected a name that ends in .jsonl")
        with self._grid._store.read() as tx:
            round_ = rounds.by_name(tx, round)
            lines = preference_lines(tx, round_)
        params = {"kind": "preferences", "grid": self._grid.grid.name, "round": round_.name}
        return _write(self._grid, path, {"": lines}, params, {"preferences": lines.count("\n")})

    @takes_params
    def corpus(
        self,
        path: str | Path,
        without: Tier | str | None = None,
        options: Export = DEFAULT_OPTIONS,
        *,
        pool: str = "judged",
        ids: Ids | None = None,
    ) -> RunRecord:
        """Write the corpus, less the HS of a tier and the CNs of the pool, with ids; StageError if there is none."""
        check_suffix(path)
        if without is None and options.pool != Export.pool:
            raise InputError(
                "a pool sets which CNs are left out together with the HS of a tier; name the tier (--without)"
            )
        with self._grid._store.read() as tx:
            rows = texts.source_rows(tx)
            if rows.empty:
                no_corpus = say("there is no corpus yet; run `fcpair import`")
                raise StageError(NO_CORPUS if judgements.is_answered(tx) else no_corpus)
            if without is not None:
                tiers, pairs, params = _load_tier(self._grid, tx, "corpus", without, options)
                hs_ids, cn_ids = set(pairs["hs_id"].tolist()), set(pool_ids(tx, tiers, options.pool, options.ids))
        if without is None:
            params = {"kind": "corpus", "ids": options.ids}
            whole = remaining_rows(rows, (), (), options.ids)
            return _write(self._grid, path, {"": whole}, params, {"rows": len(rows)})
        rows_left = remaining_rows(rows, hs_ids, cn_ids, options.ids)
        if rows_left.empty:
            tier = params["without"]
            raise InputError(f"every row of the corpus has an HS of {tier} or a CN of the pool `{options.pool}`")
        counts = {"rows": len(rows_left), "of": len(rows), "without_hs": len(hs_ids), "without_cn": len(cn_ids)}
        return _write(self._grid, path, {"": rows_left}, params, counts)

    @takes_params
    def texts(
        self,
        path: str | Path,
        layout: Layout = "table",
        options: Export = DEFAULT_OPTIONS,
        round: str | None = None,
        *,
        test_share: float = 0.2,
        seed: int = 0,
    ) -> RunRecord:
        """Write what was written in a round, the one that counts if none is named, in a layout of `writings.py`.

        `training` and `hf` make a folder, whose two sides share no row, and have types as evenly as that allows;
        `templates` are templates of items, InputError says what is wrong with them. Raises StageError also where no
        text was written.
        """
        if layout in FOLDERS:
            check_new_folder(path)
        elif options.test_share != DEFAULT_OPTIONS.test_share:
            raise InputError(f"`test_share` has no effect beside the layout {layout}, which is not split; omit it")
        with self._grid._store.read() as tx:
            rows = written_table(tx, round)
            row_table = rows_table(tx, self._grid.grid.name) if layout == TEMPLATES else None
            card: dict[str, Any] = dict(zip(("row", "column"), grids.side_names(tx), strict=True))
            card |= {"title": runs.study_facts(tx)["title"], "version": version("fcpair")}
            card["simulated"] = simulated_note(judgements.n_by_origin(tx))
        split_options = {"test_share": options.test_share, "seed": options.seed} if layout in FOLDERS else {}
        params = {"kind": "texts", "layout": layout, "round": round, **split_options}
        counts: dict[str, Any] = {"texts": len(rows), "answered": rows["hs"].nunique()}
        if layout in FOLDERS:
            is_test = _test_side(rows, options)
            files = hf_text_files(rows, is_test, **card) if layout == "hf" else split_files(rows, is_test)
            return _write(self._grid, path, files, params, {**counts, "test": int(is_test.sum())})
        if row_table is not None:
            from fcpair.files.surveys.templates import templates_from_texts

            row_metadata = row_table.drop_duplicates(ROW).set_index(ROW).reindex(rows["hs"]).reset_index(drop=True)
            texts = pd.DataFrame(
                {"text": rows["cn"], "cell": rows["cell"], "author": rows["by"], "statement": rows["hs"]}
            )
            texts["id"] = rows["cell"].astype(str) + "-" + rows["by"]
            for key, column in (("category", "category"), ("stereotyped", "group")):
                texts[key] = row_metadata[column] if column in row_metadata.columns else ""
            rows = templates_from_texts(texts, f"round {round or 'that counts'}, cell")
        if layout == "crowdcounter":
            return _write(self._grid, path, {"": crowdcounter_json(rows)}, params, counts)
        check_suffix(path)
        return _write(self._grid, path, {"": parscn_table(rows) if layout == "parscn" else rows}, params, counts)

    def decisions(self, path: str | Path, *, ids: Ids | None = None) -> RunRecord:
        """Write what was decided, cell by cell; `Grid.import_outcomes` and `bias score --reader items` read it."""
        check_suffix(path)
        with self._grid._store.read() as tx:
            rows = decisions_table(tx, self._grid.grid.name, ids)
        by_rule = {str(rule): int(n) for rule, n in rows["rule"].value_counts(sort=False).items()}
        return _write(self._grid, path, {"": rows}, {"kind": "decisions"}, {"decisions": len(rows), "by_rule": by_rule})


def _test_side(rows: pd.DataFrame, options: Export) -> NDArray[np.bool_]:
    """Mask of the texts on the test side: whole rows of the grid, with types as evenly as that allows."""
    groups = rows["hs"].factorize(sort=True)[0].astype(np.int64)
    types = rows["types"].str.get_dummies("; ").to_numpy(np.bool_)
    shares = complete_shares([round(1 - options.test_share, 12)])
    return np.asarray(stratify(groups, types, shares, options.seed).side == 1)


def _load_tier(
    grid: GridContext, tx: Tx, kind: str, tier: Tier | str, options: Export
) -> tuple[TierTable, pd.DataFrame, dict[str, Any]]:
    """The tiers, the pairs of one, and the parameters that this kind of export rests on, as its run has them."""
    rules = context.rules_of(grid, tx)
    name = find_rule(tier_rules(rules), tier).tier
    context.need_labels(tx, Export.stage)
    tiers = tiers_of(tx, rules)
    pairs = tiers.in_tier(name)
    if pairs.empty:
        raise InputError(empty_tier_message(name))
    params = {name: getattr(options, name) for name in EXPORTS[kind].params}
    return tiers, pairs, {"kind": kind, "without" if kind == "corpus" else "tier": name, **params, **rules.noted}


def _load_grades(
    grid: GridContext, tx: Tx, kind: str, tier: Tier | str, options: Export
) -> tuple[pd.DataFrame, list[int], dict[str, Any], dict[str, Any], Words]:
    """The graded pairs of a tier, the CNs of the pool, parameters and counts of the run, and what files call texts."""
    tiers, pairs, params = _load_tier(grid, tx, kind, tier, options)
    cns = pool_ids(tx, tiers, options.pool, options.ids)
    graded_pairs = grades(pairs, tiers.question, cns, binary=options.binary)
    if graded_pairs.empty:
        raise InputError(f"no pair of {params['tier']} has a CN of the pool `{options.pool}`, so nothing was written")
    ids = load_text_ids(tx)
    words = {HS: ids[HS].words(graded_pairs["hs_id"], HS, options.ids), CN: ids[CN].words(cns, CN, options.ids)}
    n_by_grade = graded_pairs["grade"].value_counts().sort_index().to_dict()
    counts = {
        "pairs": len(graded_pairs),
        "hs": graded_pairs["hs_id"].nunique(),
        "cn": graded_pairs["cn_id"].nunique(),
        "grades": {str(grade): n for grade, n in n_by_grade.items()},
        "ids": {side: of.numbering(options.ids) for side, of in ids.items()},
    }
    return graded_pairs, cns, params, counts, words


def _write(
    grid: GridContext,
    path: str | Path,
    files: Mapping[str, pd.DataFrame | str],
    params: dict[str, Any],
    counts: dict[str, Any],
) -> RunRecord:
    """Write files to a folder by their names, or one without a name; they take their place when the run is noted."""
    is_folder = "" not in files
    with grid._store.write() as tx, (new_folder if is_folder else replace_file)(path) as temporary:
        for name, content in files.items():
            place = temporary / name if name else temporary
            place.parent.mkdir(exist_ok=True)
            if isinstance(content, str):
                place.write_text(content, "utf-8", newline="\n")
            else:
                write_table(content, place)
        digest = {} if is_folder else {"sha256": hashlib.sha256(temporary.read_bytes()).hexdigest()}
        return context.note_run(tx, Export.stage, {**params, "out": context.noted_file(path)}, {**counts, **digest})
