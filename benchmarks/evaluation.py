"""Measures of 10,000 HS x 1,000 CNs against ranx and ir_measures; ten systems on the published labels."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import SEED, Figure, alternate, column, data, job, ratios, show

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REPETITIONS = 5
N_HS, N_CN = 10_000, 1_000
POSITIVE_SHARE = 0.05
TOLERANCE = 1e-9
FCPAIR = ("HitRatio@10", "MRR@10", "NDCG@10", "MAP(by=all)@10")
RANX = ("hit_rate@10", "mrr@10", "ndcg@10", "map@10")
IR_MEASURES = ("Success@10", "RR@10", "nDCG@10", "AP@10")


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Measure what is computed from arrays, and ten systems on the published labels."""
    return [*_from_arrays(folder, repetitions), _ten_systems(folder, repetitions)]


def _from_arrays(folder: Path, repetitions: int) -> list[Figure]:
    """Time the three in turn, each on rankings that it has in its own form, and compare the values of every HS."""
    jobs = {
        name: partial(job, f"benchmarks.evaluation:{name}", folder / f"{name}.npy")
        for name in ("by_fcpair", "by_ranx", "by_ir_measures")
    }
    results = alternate(jobs, repetitions)
    for name, found in results.items():
        show(name, column(found), " s")
        show(f"{name}, peak memory with its input", column(found, "peak_mb"), " MB")
    over_ranx, over_ir_measures = (
        show(f"{name} / by_fcpair", ratios(results[name], results["by_fcpair"]))
        for name in ("by_ranx", "by_ir_measures")
    )
    apart = job("benchmarks.evaluation:compare", *(folder / f"{name}.npy" for name in jobs))
    print(f"  means: {apart['means']}; largest difference of a value: {apart['largest']:.1e}")
    return [
        Figure("evaluation", "times as fast as ranx", over_ranx, "at least", 4.0, " x"),
        Figure("evaluation", "times as fast as ir_measures", over_ir_measures, "at least", 8.0, " x"),
        Figure("evaluation", f"values that differ by more than {TOLERANCE}", apart["different"], "exactly", 0),
    ]


def _draw(n_hs: int) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Scores without ties, and labels."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    return rng.random((n_hs, N_CN)), (rng.random((n_hs, N_CN)) < POSITIVE_SHARE).astype(np.int8)


def _dictionaries(n_hs: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """The same as the libraries take it: the positives of each HS, and the score of each CN."""
    scores, labels = _draw(n_hs)
    cns = [f"cn{at:04}" for at in range(N_CN)]
    qrels = {f"hs{at:05}": {cns[cn]: 1 for cn in row.nonzero()[0]} for at, row in enumerate(labels)}
    return qrels, {f"hs{at:05}": dict(zip(cns, row.tolist(), strict=True)) for at, row in enumerate(scores)}


def by_fcpair(path: str) -> dict[str, Any]:
    """Job: `measure_arrays`, once on a few HS to have everything imported, then timed on all."""
    import numpy as np

    from fcpair.evaluate.arrays import measure_arrays
    from fcpair.evaluate.measures import parse_measure

    measures = [parse_measure(name) for name in FCPAIR]
    measure_arrays(*_draw(10), measures)
    scores, labels = _draw(N_HS)
    start = time.perf_counter()
    values = measure_arrays(scores, labels, measures)
    seconds = time.perf_counter() - start
    np.save(path, values)
    return {"seconds": seconds}


def by_ranx(path: str) -> dict[str, Any]:
    """Job: ranx's `evaluate`, its Qrels and Run built and its functions compiled before the clock starts."""
    import numpy as np
    from ranx import Qrels, Run, evaluate

    measured = partial(evaluate, metrics=list(RANX), return_mean=False, save_results_in_run=False)
    measured(*(kind(given) for kind, given in zip((Qrels, Run), _dictionaries(10), strict=True)))
    qrels, run = (kind(given) for kind, given in zip((Qrels, Run), _dictionaries(N_HS), strict=True))
    start = time.perf_counter()
    values = measured(qrels, run)
    seconds = time.perf_counter() - start
    np.save(path, np.stack([values[name] for name in RANX], axis=1))
    return {"seconds": seconds}


def by_ir_measures(path: str) -> dict[str, Any]:
    """Job: `iter_calc` of ir_measures, its input built and its parts loaded before the clock starts."""
    import ir_measures
    import numpy as np

    measures = [ir_measures.parse_measure(name) for name in IR_MEASURES]
    list(ir_measures.iter_calc(measures, *_dictionaries(10)))
    qrels, run = _dictionaries(N_HS)
    start = time.perf_counter()
    found = list(ir_measures.iter_calc(measures, qrels, run))
    seconds = time.perf_counter() - start
    values = np.full((N_HS, len(measures)), np.nan)
    for one in found:
        values[int(one.query_id.removeprefix("hs")), measures.index(one.measure)] = one.value
    np.save(path, values)
    return {"seconds": seconds}


def compare(ours: str, *others: str) -> dict[str, Any]:
    """Job: how far the values of the others are from ours, HS by HS."""
    import numpy as np

    values = np.load(ours)
    apart = np.stack([np.abs(np.load(other) - values) for other in others])
    means = dict(zip(FCPAIR, values.mean(axis=0).round(6).tolist(), strict=True))
    return {"means": means, "largest": float(apart.max()), "different": int((~(apart <= TOLERANCE)).sum())}


def _ten_systems(folder: Path, repetitions: int) -> Figure:
    """Time an evaluation of ten systems on four tiers; the first one, which fills the cache of vectors, is left out."""
    study = folder / "published.db"
    made = job("benchmarks.evaluation:published", study)
    print(f"  {made['pairs']:,} published pairs; vectors cached by one evaluation")
    jobs = {"evaluate": partial(job, "benchmarks.evaluation:ten_systems", study)}
    results = alternate(jobs, repetitions)["evaluate"]
    seconds = show("ten systems, four tiers, with the imports that they need", column(results), " s")
    show("the same once more in the same process", column(results, "again"), " s")
    show("peak memory", column(results, "peak_mb"), " MB")
    return Figure("evaluation", "seconds for ten systems on FC-CONAN", seconds, "at most", 2.0, " s")


def published(path: str) -> dict[str, Any]:
    """Job: a study with FC-CONAN's published labels, and its texts encoded."""
    from fcpair.study import Study

    study = Study.create(path)
    run = study.grid().import_published(data() / "fc-conan" / "bronze_partition_df.csv")
    _evaluate(path)
    return {"pairs": run.counts["pairs"]}


def ten_systems(path: str) -> dict[str, Any]:
    """Job: ten systems on four tiers, five measures, 10,000 resamples, tests between all."""
    seconds, again = _evaluate(path), _evaluate(path)
    return {"seconds": seconds, "again": again}


def _evaluate(path: str) -> float:
    from fcpair.params import Evaluate
    from fcpair.study import Study

    train = data() / "fc-conan" / "recommender" / "conan_not_in_bronze_train_df.csv"
    systems = (
        "sbert:all-MiniLM-L6-v2",
        *("tfidf", "tfidf(fit=pool+hs)", f'tfidf(fit="{train}")'),
        *("bm25", "bm25(tokens=space,lower=false)", "bm25(k1=1.2)", f'bm25(fit="{train}")'),
        *("random", "random(seed=1)"),
    )
    study, options = Study(path), Evaluate(systems=systems, pool="positive")
    start = time.perf_counter()
    study.grid().tiers(diamond="majority").evaluate(options)
    return time.perf_counter() - start
