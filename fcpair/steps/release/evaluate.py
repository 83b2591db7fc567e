"""Evaluating systems on the tiers, and planning how many HS tell two systems apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError, list_first
from fcpair.evaluate import evaluation
from fcpair.evaluate.catalogue import check_evaluation, parse_system
from fcpair.evaluate.evaluation import TierLabels, evaluate, narrowing, short_names
from fcpair.evaluate.judged_rankings import NEGATIVE, POSITIVE, UNJUDGED, Grades
from fcpair.evaluate.measures import parse_measure
from fcpair.evaluate.outcome import ALPHA, SCORING, Outcome
from fcpair.evaluate.systems import Cost, Function, Ranker, Search, System, run_text
from fcpair.files.release.trec_runs import describe_ids
from fcpair.files.tables.folders import make_writable_folder, write_all
from fcpair.files.tables.tabular import check_suffix, write_table
from fcpair.lazy import pd
from fcpair.models.encode import Progress, begin_part
from fcpair.param_values import as_params
from fcpair.params import DEFAULT_MEASURES, POOLS, RESAMPLES, Evaluate, Ids, NoPositives, Partition, Power
from fcpair.records import TIERS, RunRecord
from fcpair.report.figures.evaluation_figures import outcome_figures
from fcpair.report.figures.save import PaperStyle, render_for_paper
from fcpair.stages.adjudication.partition import TierRule, best_first, find_rule
from fcpair.stages.questions.labels import grades_of
from fcpair.stages.stats.intervals import SAME
from fcpair.stages.stats.paired_tests import PowerPlan, describe_assumed, plan_hs
from fcpair.steps.assignment.chosen_cells import given_cells
from fcpair.steps.base.context import GridContext, load_sample_size, need_labels, note_run, rules_of, save_options
from fcpair.steps.base.keywords import by_recipe, own, takes_params
from fcpair.steps.base.text_digests import load_text_ids
from fcpair.steps.release.partition import TierTable, pool_ids, tiers_of
from fcpair.steps.rules.tallies import simulated_note
from fcpair.store.answers import judgements
from fcpair.store.corpus import cells, grids, sides, texts


@takes_params
def run_evaluation(
    grid: GridContext,
    options: Evaluate | None = None,
    *,
    functions: Mapping[str, Ranker] = MappingProxyType({}),
    runs: Path | None = None,
    figures: Path | None = None,
    figure_style: PaperStyle | None = None,
    unjudged: Path | None = None,
    progress: Progress | None = None,
    systems: Sequence[str] = own(()),
    pool: str = own("judged"),
    tiers: Sequence[str] = own(TIERS),
    measures: Sequence[str] = own(DEFAULT_MEASURES),
    cutoff: int = own(10),
    no_positives: NoPositives = own("zero"),
    resamples: int = own(RESAMPLES),
    seed: int = own(0),
    ids: Ids | None = own(None),
) -> Outcome:
    """Evaluate retrieval systems on the tiers, write runs and figures where asked, and note what was found.

    `functions` are systems of your own by their names: each is called with the text of an HS and with those of the
    pool, and returns the latter best first, all or some. `runs` and `figures` are folders for TREC runs and for
    pictures (SVG, PDF, PNG) in `figure_style`; without one, as wide as a page, with their captions. `unjudged` is a
    table (.csv, .jsonl, .parquet) of the pairs that measures read and nobody was given, those first that would narrow
    the bounds most, for `assign --cells`.

    Raises:
        InputError: no system, an empty tier, a pool that cannot be used, a run that cannot be read.
        ModelError, ServiceError: a system's model or service cannot be had.
    """
    options = options or by_recipe(grid, Evaluate)
    places = runs, figures, figure_style, unjudged
    return _evaluate_and_record(grid, options, progress, *places, functions=functions)[0]


@takes_params
def note_evaluation(grid: GridContext, options: Evaluate, *, progress: Progress | None = None) -> RunRecord:
    """Evaluate by the study's own tier rules, and make these options the study's own."""
    return _evaluate_and_record(grid, options, progress, saves=True)[1]


@takes_params
def costs(
    grid: GridContext,
    options: Evaluate | None = None,
    *,
    systems: Sequence[str] = own(()),
    pool: str = own("judged"),
    tiers: Sequence[str] = own(TIERS),
    measures: Sequence[str] = own(DEFAULT_MEASURES),
    cutoff: int = own(10),
    no_positives: NoPositives = own("zero"),
    resamples: int = own(RESAMPLES),
    seed: int = own(0),
    ids: Ids | None = own(None),
) -> list[tuple[str, Cost]]:
    """Estimate what each system of an evaluation would ask of a service, without asking it."""
    options = options or by_recipe(grid, Evaluate)
    _, search, _, _ = _load_inputs(grid, options)
    return [(str(system), system.cost(search)) for system in _parse_systems(options)]


def _evaluate_and_record(
    grid: GridContext,
    options: Evaluate,
    progress: Progress | None,
    runs: Path | None = None,
    figures: Path | None = None,
    style: PaperStyle | None = None,
    unjudged: Path | None = None,
    *,
    functions: Mapping[str, Ranker] = MappingProxyType({}),
    saves: bool = False,
) -> tuple[Outcome, RunRecord]:
    systems = _parse_systems(options, [Function(name, ranker) for name, ranker in functions.items()])
    rules, search, tiers, notes = _load_inputs(grid, options)
    grid._store.check_writable()
    for folder in filter(None, (runs, figures)):
        make_writable_folder(folder)  # now, and not after hours of ranking
    if unjudged is not None:
        check_suffix(unjudged)
    if runs is not None:
        search.words()
    rankings = []
    for system in systems:
        begin_part(progress, str(system))
        rankings.append(system.rank(replace(search, progress=progress)))
    begin_part(progress, SCORING)
    measures = [parse_measure(measure, options.cutoff) for measure in options.measures]
    outcome = replace(evaluate(systems, rankings, tiers, measures, options, options.pool), **notes)
    if unjudged is not None:  # the pairs that measures read on the largest tier and nobody was given
        gains = narrowing(largest_of(tiers), rankings, measures, options.no_positives)
        row, column = np.nonzero(gains > 0)
        to_judge = pd.DataFrame({"hs_id": np.array(search.hs_ids)[row], "cn_id": np.array(search.cn_ids)[column]})
        to_judge = to_judge.assign(hs=[search.hs[at] for at in row], cn=[search.cn[at] for at in column])
        to_judge["narrows"] = gains[row, column]  # the amount by which each would narrow the bounds
        with grid._store.read() as tx:
            all_cells = cells.cells(tx)
            to_judge = to_judge.merge(all_cells[~all_cells["cell_id"].isin(given_cells(tx))], on=["hs_id", "cn_id"])
        if to_judge.empty:
            raise InputError(
                "every pair that the measures read has been given to somebody, so nothing was written; `fcpair extend "
                "--run` takes CNs of a run that are not in the grid"
            )
        to_judge.insert(0, "pair", grids.to_public_number(to_judge.pop("cell_id")))
        to_judge = to_judge.sort_values(["narrows", "pair"], ascending=[False, True], ignore_index=True)
    files: dict[Path, bytes] = {}
    if runs is not None:
        for tag, ranking in zip(_tags(short_names(systems)), rankings, strict=True):
            files[runs / f"{tag}.trec"] = run_text(ranking, search, tag).encode("utf-8")
    if figures is not None:
        rendered = render_for_paper(outcome_figures(outcome), style)
        files |= {figures / name: content for name, content in rendered.items()}
    counts: dict[str, Any] = {"systems": len(systems), "hs": len(search.hs), "pool": len(search.cn)}
    if cut := {str(system): ranking.n_cut for system, ranking in zip(systems, rankings, strict=True) if ranking.n_cut}:
        counts["cut_texts"] = cut
    params = as_params(options) | ({} if saves else rules.noted) | ({"functions": [*functions]} if functions else {})
    with grid._store.write() as tx:
        run = note_run(tx, options.stage, params, counts, outcome=outcome.as_data())
        if saves:
            save_options(tx, options, run)
        if unjudged is not None:
            write_table(to_judge, unjudged)
        write_all(files)  # here, so that nothing is noted without its files, and no file is there without the note
    return outcome, run


def largest_of(tiers: Sequence[TierLabels]) -> TierLabels:
    """The tier with most HS."""
    return max(tiers, key=lambda tier: int(tier.there.sum()))


def describe_ids_of_files(grid: GridContext, ids: Ids | None = None) -> str:
    """A sentence that says which ids of texts files have where these are asked for."""
    with grid._store.read() as tx:
        return describe_ids(load_text_ids(tx), ids)


def score_each_hs(grid: GridContext, options: Evaluate, measure: str) -> tuple[str, NDArray[np.float64]]:
    """The largest of the tiers of an evaluation, and the score of each of its HS by each system, (n_hs, n_systems)."""
    systems = _parse_systems(options)
    _, search, tiers, _ = _load_inputs(grid, options)
    rankings, tier = [system.rank(search) for system in systems], largest_of(tiers)
    scored_measure = parse_measure(measure, options.cutoff)
    return tier.tier, evaluation.score_each_hs(tier, rankings, scored_measure, options.no_positives)


def _parse_systems(options: Evaluate, others: Sequence[System] = ()) -> list[System]:
    if not (options.systems or others):
        raise InputError("no system is given; name at least one, as in `fcpair evaluate --system tfidf`")
    check_evaluation(options)
    return [*map(parse_system, options.systems), *others]


def _load_inputs(
    grid: GridContext, options: Evaluate
) -> tuple[Partition, Search, tuple[TierLabels, ...], dict[str, Any]]:
    """The tiers' rules, the systems' search, each tier's labels, and notes: `simulated`, `sampled`, NDCG's `gains`."""
    with grid._store.read() as tx:
        need_labels(tx, "evaluate")
        rules, kinds, row_ids = rules_of(grid, tx), grids.side_kinds(tx), sides.text_ids(tx, "row")
        tiers, body = tiers_of(tx, rules), texts.bodies(tx, kinds)
        pool = pool_ids(tx, tiers, options.pool, options.ids)
        notes = {"simulated": simulated_note(judgements.n_by_origin(tx)), "sampled": load_sample_size(tx)}
        ids = load_text_ids(tx)
    wanted = {find_rule(tiers.rules, tier).tier for tier in options.tiers}
    chosen_tiers = [rule for rule in best_first(tiers.rules) if rule.tier in wanted]
    labelled_hs_ids = {hs_id for rule in chosen_tiers for hs_id in tiers.in_tier(rule.tier)["hs_id"].tolist()}
    hs = [hs_id for hs_id in row_ids if hs_id in labelled_hs_ids]
    labels = tuple(_tier_labels(rule, tiers, hs, pool, options.pool) for rule in chosen_tiers)
    hs_texts, cn_texts = (tuple(body[id_] for id_ in of) for of in (hs, pool))
    search = Search(hs_texts, cn_texts, tuple(hs), tuple(pool), ids=ids, asked=options.ids)
    graded = sorted((grades_of(tiers.question) or {}).items(), key=lambda item: item[1])
    listed = ", ".join(f"{tiers.question[code].name} {grade}" for code, grade in graded)
    gains = f"the gain of NDCG is the grade of the label: {listed}" if graded else None
    return rules, search, labels, {**notes, "gains": gains}


def _tier_labels(
    rule: TierRule, tiers: TierTable, hs: Sequence[int], pool: Sequence[int], pool_name: str
) -> TierLabels:
    pairs = tiers.in_tier(rule.tier)
    if pairs.empty:
        raise InputError.say(
            "no pair is in %(tier)s yet, so nothing can be evaluated on it; choose other tiers, or have more pairs "
            "decided and validated first",
            tier=rule.tier,
        )
    rows, columns = (pd.Index(ids).get_indexer(pd.Index(pairs[side])) for side, ids in (("hs_id", hs), ("cn_id", pool)))
    positive, is_inside = pairs["final"].isin(tiers.question.positive).to_numpy(), columns >= 0
    is_missing = positive & ~is_inside
    if is_missing.any():  # which no system could then find
        n, ids = int(is_missing.sum()), sorted(set(pairs["cn_id"][is_missing].tolist()))
        raise InputError(
            f"the pool {pool_name} lacks {len(ids)} CNs that {rule.tier} labels appropriate in {n} pairs (cn_id "
            f"{list_first(ids, 5)}); add them, or use --pool {' or '.join(POOLS)}"
        )
    if not is_inside.any():
        raise InputError(f"no pair of {rule.tier} has its CN in the pool {pool_name}")
    labels, cells_inside = np.full((len(hs), len(pool)), UNJUDGED, np.int8), (rows[is_inside], columns[is_inside])
    labels[cells_inside] = np.where(positive[is_inside], POSITIVE, NEGATIVE)
    grades = None
    if by_label := grades_of(tiers.question):
        values = np.zeros(labels.shape, np.int64)
        values[cells_inside] = pairs["final"][is_inside].map(by_label)
        grades = Grades(values, np.array(sorted({*by_label.values()} - {0})))
    return TierLabels(rule.tier, str(rule), labels, np.isin(np.arange(len(hs)), rows), int((~is_inside).sum()), grades)


def _tags(names: Sequence[str]) -> list[str]:
    """The names as a run and its file can have them; of two that would be the same the later one is numbered."""
    plain = ["".join(sign if sign.isalnum() or sign in "-_.=+" else "_" for sign in name).strip("_") for name in names]
    return [tag if tag not in plain[:at] else f"{tag}-{at + 1}" for at, tag in enumerate(plain)]


MEASURE, CUTOFF = "NDCG", 10


@takes_params
def plan_power(
    grid: GridContext,
    options: Power | None = None,
    *,
    power: float = 0.8,
    difference: float = 0.05,
    sd: float | None = None,
    systems: Sequence[str] = (),
    comparisons: int = 1,
) -> PowerPlan:
    """Plan how many HS tell two systems apart by their NDCG@10, as often as wished.

    The standard deviation of the difference is `sd`, or the greatest of the `systems` (else of those that the study
    evaluates) on its largest tier, all pairs of which are comparisons. Raises InputError for fewer than two systems,
    two that score alike, or a difference that no study finds.
    """
    options = options or Power()
    if options.sd is not None:
        with grid._store.read() as tx:
            n_hs = cells.shape(tx)[0]
        return plan_hs(options, ALPHA, options.sd, describe_assumed(options.sd), n_hs or None)
    evaluation = by_recipe(grid, Evaluate)
    evaluation = replace(evaluation, systems=options.systems or evaluation.systems, cutoff=CUTOFF)
    if len(evaluation.systems) < 2:
        raise InputError(
            f"{len(evaluation.systems)} systems are named; give two or more as `systems`, or the standard deviation of "
            "their difference as `sd`"
        )
    tier, scores = score_each_hs(grid, evaluation, MEASURE)
    pairs = list(combinations(range(scores.shape[1]), 2))
    if len(scores) < 2:
        raise InputError(f"{tier} has {len(scores)} HS that count; a standard deviation needs 2 or more")
    sds = [float(np.std(scores[:, a] - scores[:, b], ddof=1)) for a, b in pairs]
    if max(sds) < SAME:
        raise InputError("the systems score alike on every HS, so their difference has no standard deviation")
    a, b = pairs[int(np.argmax(sds))]
    basis = (
        f"standard deviation {max(sds):.4f}: of {evaluation.systems[a]} and {evaluation.systems[b]} on the "
        f"{len(scores):,} HS of {tier}"
    )
    options = replace(options, comparisons=max(options.comparisons, len(pairs)))
    return plan_hs(options, ALPHA, max(sds), basis, len(scores))
