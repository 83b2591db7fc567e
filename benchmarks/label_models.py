"""How long Dawid-Skene takes on 200,000 labels; and, by itself, how far off a person's estimated errors are."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.measure import SEED, Figure, alternate, column, job, show
from fcpair.arrays import Floats, Ints
from fcpair.stages.adjudication.aggregate import LabelTable, dawid_skene, majority, one_coin

N_PAIRS, N_PEOPLE, LABELS_A_PAIR, N_CLASSES = 100_000, 20, 2, 3
LIMIT_S = 10
COMPARED_STEPS = 28
BINS = (2, 5, 10, 15, 20, 30, 50, 100, 400)


def draw(n_pairs: int, n_people: int, n_labels: int, seed: int, least: float = 0.6) -> tuple[Ints, Floats, LabelTable]:
    """The true classes, each person's probabilities of labels `(n_people, n_classes, n_classes)`, and their labels.

    The diagonal of a person is `least` to 0.95 and a share of the rest; a pair has `n_labels` labels.
    """
    rng = np.random.default_rng([SEED, seed])
    true = rng.choice(N_CLASSES, n_pairs, p=[0.7, 0.15, 0.15])
    known = rng.uniform(least, 0.95, (n_people, N_CLASSES, 1))
    errors = (1 - known) * rng.dirichlet(np.ones(N_CLASSES), (n_people, N_CLASSES)) + known * np.eye(N_CLASSES)
    pair = np.repeat(np.arange(n_pairs), n_labels)
    person = np.sort(np.argsort(rng.random((n_pairs, n_people)), axis=1)[:, :n_labels], axis=1).ravel()
    below = errors[person, true[pair]].cumsum(axis=1)
    klass = np.minimum((rng.random((len(pair), 1)) > below).sum(axis=1), N_CLASSES - 1)
    return true, errors, LabelTable(pair, person, klass)


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Time whole fits, until they converge; crowd-kit's beside them, as many steps, where it is installed."""
    jobs = {"fcpair": lambda: job("benchmarks.label_models:fit")}
    if find_spec("crowdkit"):
        jobs["crowd-kit"] = lambda: job("benchmarks.label_models:fit_by_crowd_kit")
    results = alternate(jobs, repetitions)
    seconds = show("Dawid-Skene on 200,000 labels", column(results["fcpair"]), " s")
    show("steps", column(results["fcpair"], "steps"))
    show(f"{COMPARED_STEPS} steps", column(results["fcpair"], "compared_s"), " s")
    if "crowd-kit" in results:
        show(f"crowd-kit, {COMPARED_STEPS} steps", column(results["crowd-kit"]), " s")
    return [Figure("label_models", "Dawid-Skene on 200,000 labels", seconds, "at most", LIMIT_S, " s")]


def fit() -> dict[str, Any]:
    """Fit until it converges, and so many steps."""
    labels = draw(N_PAIRS, N_PEOPLE, LABELS_A_PAIR, 0)[2]
    start = perf_counter()
    fitted = dawid_skene(labels)
    middle = perf_counter()
    dawid_skene(labels, COMPARED_STEPS, -1)
    steps = len(fitted.log_likelihoods)
    return {"seconds": middle - start, "steps": steps, "compared_s": perf_counter() - middle}


def fit_by_crowd_kit() -> dict[str, Any]:
    """The same labels and steps, by crowd-kit."""
    import pandas as pd

    labels = draw(N_PAIRS, N_PEOPLE, LABELS_A_PAIR, 0)[2]
    table = pd.DataFrame({"task": labels.pair, "worker": labels.annotator, "label": labels.klass})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from crowdkit.aggregation import DawidSkene

        start = perf_counter()
        DawidSkene(n_iter=COMPARED_STEPS, tol=-1.0).fit(table)
    return {"seconds": perf_counter() - start}


def measure_errors(n_studies: int = 60) -> None:
    """Print how far the share of right labels is off, by the labels of a true class that stand behind it."""
    rows = [row for seed in range(n_studies) for n in (2, 3) for size in (150, 400) for row in _rows(size, n, seed)]
    table = np.array(rows)
    for model, name in enumerate(("majority", "one-coin", "dawid-skene")):
        for n in (2, 3):
            of = table[(table[:, 0] == model) & (table[:, 1] == n)]
            place = np.digitize(of[:, 2], BINS)
            off = [(of[place == at, 3] ** 2).mean() ** 0.5 for at in range(1, len(BINS)) if (place == at).any()]
            print(f"{name}, {n} labels a pair:", ", ".join(f"{one:.2f}" for one in off))


def _rows(n_pairs: int, n_labels: int, seed: int) -> list[tuple[Any, ...]]:
    """Model, labels a pair, expected labels of a true class and the error of the share that is right, one each."""
    _, errors, labels = draw(n_pairs, 8, n_labels, seed, least=0.3)
    rows = []
    for model, fit_labels in enumerate((majority, one_coin, dawid_skene)):
        counts = labels.sum_by_kind(fit_labels(labels).probability.T.take(labels.pair, axis=1))
        n = counts.sum(axis=2)
        right = np.einsum("kak->ka", counts) / np.maximum(n, 1e-9)
        off = right - np.einsum("akk->ka", errors)
        rows += [(model, n_labels, *one) for one in zip(n.ravel().tolist(), off.ravel().tolist(), strict=True)]
    return rows


if __name__ == "__main__":
    print("labels behind:", ", ".join(f"{low} to {high}" for low, high in pairwise(BINS)))
    measure_errors()
