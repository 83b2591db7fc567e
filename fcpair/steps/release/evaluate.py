"""Evaluating systems on the tiers: the pool and the labels from the store, rankings from the systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError
from fcpair.evaluate.catalogue import check_evaluation, parse_system
from fcpair.evaluate.evaluation import Options, TierLabels, evaluate, short_names
from fcpair.evaluate.judged_rankings import NEGATIVE, POSITIVE, UNJUDGED, Grades
from fcpair.evaluate.measures import parse_measure
from fcpair.evaluate.outcome import Outcome
from fcpair.evaluate.ranking import POOLS, Cost, Ranking, Search, System
from fcpair.evaluate.trec_run import run_text
from fcpair.files.corpus.corpus import CN, HS
from fcpair.files.tables.folders import ready_folder
from fcpair.files.tables.tabular import write_all
from fcpair.models.encode import Progress
from fcpair.param_values import as_params, takes_params
from fcpair.params import Evaluate, Partition
from fcpair.records import RunRecord, Sampled, Tier
from fcpair.report.figures.evaluation_figures import pictures
from fcpair.stages.questions import Closed
from fcpair.stages.questions.labels import grades_of
from fcpair.steps.base.context import OnGrid, keep, need_labels, note_run
from fcpair.steps.base.sample_size import sampled
from fcpair.steps.corpus.trec_runs import ids_of
from fcpair.steps.release.partition import Tiers, tiers_of
from fcpair.steps.release.pool import pool_ids
from fcpair.steps.rules.study_notes import simulated_note
from fcpair.store.answers import judgements
from fcpair.store.corpus import grids, sides, texts

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class _Ground:
    """What is evaluated on: the search of the systems, the labels of each tier, and what to say of simulated ones."""

    search: Search
    tiers: tuple[TierLabels, ...]
    simulated: str | None
    gains: str | None
    sampled: Sampled | None


@takes_params
def run_evaluation(
    grid: OnGrid,
    options: Evaluate,
    partition: Partition | None = None,
    *,
    runs: Path | None = None,
    figures: Path | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Evaluate retrieval systems on the tiers, write runs and figures where asked, and note what was found.

    `runs` and `figures` are folders for TREC runs and for pictures.

    Raises:
        InputError: no system, an empty tier, a pool that cannot be used, a run that cannot be read.
        ModelError, ServiceError: a system's model or service cannot be had.
    """
    rules = partition or grid.own(Partition)
    outcome, _ = _evaluated(grid, options, rules, {"diamond": rules.diamond}, progress, runs, figures)
    return outcome


@takes_params
def note_evaluation(grid: OnGrid, options: Evaluate, *, progress: Progress | None = None) -> RunRecord:
    """Evaluate by the study's own tier rules, and make these options the study's own."""
    _, run = _evaluated(grid, options, grid.own(Partition), {}, progress)
    return run


@takes_params
def costs(grid: OnGrid, options: Evaluate, partition: Partition | None = None) -> list[tuple[str, Cost]]:
    """What each system of an evaluation would ask of a service, without asking."""
    ground = _ground(grid, options, partition or grid.own(Partition))
    return [(str(system), system.cost(ground.search)) for system in _systems(options)]


def _evaluated(
    grid: OnGrid,
    options: Evaluate,
    rules: Partition,
    noted: dict[str, str],
    progress: Progress | None,
    runs: Path | None = None,
    figures: Path | None = None,
) -> tuple[Outcome, RunRecord]:
    systems, ground = _systems(options), _ground(grid, options, rules)
    grid.store.check_writable()
    for folder in (runs, figures):
        if folder is not None:
            ready_folder(folder)  # now, and not after hours of ranking
    rankings = [system.rank(replace(ground.search, progress=progress)) for system in systems]
    measures = [parse_measure(measure, options.k) for measure in options.measures]
    how = Options(options.no_positives, options.resamples, options.seed)
    outcome = evaluate(systems, rankings, ground.tiers, measures, how, options.pool)
    outcome = replace(outcome, simulated=ground.simulated, gains=ground.gains, sampled=ground.sampled)
    files: dict[Path, bytes] = {}
    if runs is not None:
        files |= {runs / name: content for name, content in _runs(systems, rankings, ground.search)}
    if figures is not None:
        files |= {figures / name: content for name, content in pictures(outcome).items()}
    counts = {"systems": len(systems), "hs": len(ground.search.hs), "pool": len(ground.search.cn)}
    with grid.store.write() as tx:
        run = note_run(tx, options.stage, {**as_params(options), **noted}, counts, outcome=outcome.as_data())
        if not noted:
            keep(tx, options, run)
        write_all(files)  # here, so that nothing is noted without its files, and no file is there without the note
    return outcome, run


def _systems(options: Evaluate) -> list[System]:
    if not options.systems:
        raise InputError("no system is given; name at least one, as in `fcpair evaluate --system tfidf`")
    check_evaluation(options)
    return [parse_system(system) for system in options.systems]


def _ground(grid: OnGrid, options: Evaluate, rules: Partition) -> _Ground:
    with grid.store.read() as tx:
        need_labels(tx, "evaluate")
        tiers = tiers_of(tx, rules)
        pool = pool_ids(tx, tiers, options.pool)
        body = texts.bodies(tx, grids.kinds(tx))
        chosen = sides.texts(tx, "row")
        simulated = simulated_note(judgements.origins(tx))
        drawn = sampled(tx)
        own_ids = {side: ids_of(tx, side) for side in (HS, CN)}
    wanted = [tier for tier in reversed(Tier) if tier.label in options.tiers]
    pairs = tiers.pairs[tiers.pairs["tier"] >= min(wanted)]
    there = set(pairs["hs_id"].tolist())
    hs = [one for one in chosen if one in there]
    labels = tuple(_tier_labels(tier, tiers, hs, pool, options.pool) for tier in wanted)
    others = tuple(one for one in chosen if one not in there)
    bodies = tuple(body.loc[hs]), tuple(body.loc[pool])
    search = Search(*bodies, tuple(hs), tuple(pool), other_hs_ids=others, corpus_ids=own_ids)
    return _Ground(search, labels, simulated, _gains(tiers.question), drawn)


def _gains(question: Closed) -> str | None:
    """What NDCG takes for gains, where the labels are grades."""
    by_label = grades_of(question)
    if not by_label:
        return None
    listed = (f"{question[code].name} {grade}" for code, grade in sorted(by_label.items(), key=lambda item: item[1]))
    return f"the gain of NDCG is the grade of the label: {', '.join(listed)}"


def _tier_labels(tier: Tier, tiers: Tiers, hs: Sequence[int], pool: Sequence[int], pool_name: str) -> TierLabels:
    import pandas as pd

    pairs = tiers.pairs[tiers.pairs["tier"] >= tier]
    if pairs.empty:
        others = "name others with --tier, or see `fcpair partition`"
        raise InputError(f"{tier.label} is empty, so nothing can be evaluated on it; {others}")
    rows, columns = (pd.Index(ids).get_indexer(pd.Index(pairs[side])) for side, ids in (("hs_id", hs), ("cn_id", pool)))
    positive = pairs["final"].isin(tiers.question.positive).to_numpy()
    inside = columns >= 0
    _check_pool(tier, pool_name, pairs, positive & ~inside, inside)
    labels = np.full((len(hs), len(pool)), UNJUDGED, np.int8)
    labels[rows[inside], columns[inside]] = np.where(positive[inside], POSITIVE, NEGATIVE)
    grades = _grades(tiers.question, pairs["final"][inside], (rows[inside], columns[inside]), labels.shape)
    rule = next(str(rule) for rule in tiers.rules if rule.tier is tier)
    return TierLabels(tier.label, rule, labels, np.isin(np.arange(len(hs)), rows), int((~inside).sum()), grades)


def _grades(
    question: Closed, final: pd.Series[int], at: tuple[NDArray[np.int64], ...], shape: tuple[int, ...]
) -> Grades | None:
    """The grades of the labels at those places of the pool; None where the labels are none."""
    by_label = grades_of(question)
    if not by_label:
        return None
    values = np.zeros(shape, np.int64)
    values[at] = final.map(by_label)
    return Grades(values, np.array(sorted({*by_label.values()} - {0})))


def _check_pool(tier: Tier, pool: str, pairs: pd.DataFrame, lost: NDArray[np.bool_], inside: NDArray[np.bool_]) -> None:
    """Raise InputError when a file lists a pool that lacks an appropriate CN, which no system could then find."""
    if lost.any():
        n, ids = int(lost.sum()), sorted(set(pairs["cn_id"][lost].tolist()))
        shown = ", ".join(map(str, ids[:5])) + (", ..." if len(ids) > 5 else "")
        raise InputError(
            f"the pool {pool} lacks {len(ids)} CNs that {tier.label} labels appropriate in {n} pairs (cn_id {shown}); "
            f"add them, or use --pool {' or '.join(POOLS)}"
        )
    if not inside.any():
        raise InputError(f"no pair of {tier.label} has its CN in the pool {pool}")


def _runs(systems: Sequence[System], rankings: Sequence[Ranking], search: Search) -> Iterator[tuple[str, bytes]]:
    """A TREC run for each system, with the name of its file, which is made from the system's."""
    for tag, ranking in zip(_tags(short_names(systems)), rankings, strict=True):
        yield f"{tag}.trec", run_text(ranking, search, tag).encode("utf-8")


def _tags(names: Sequence[str]) -> list[str]:
    """The names as a run and its file can have them; of two that would be the same the later one is numbered."""
    plain = ["".join(sign if sign.isalnum() or sign in "-_.=+" else "_" for sign in name).strip("_") for name in names]
    return [tag if tag not in plain[:at] else f"{tag}-{at + 1}" for at, tag in enumerate(plain)]
