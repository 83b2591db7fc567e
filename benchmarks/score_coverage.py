"""How often the 95 % intervals of `fcpair evaluate` hold the mean over the population that the HS are drawn from.

    python -m benchmarks.score_coverage            # some forty minutes on one core
    python -m benchmarks.score_coverage --studies 200 --methods shipped

Populations of 20,000 HS look like FC-CONAN's tiers (how many CNs of a pool of 100 are appropriate and how many are
judged, by HS) and like a dense grid with a pool of 30. In each, four systems rank: positives stand higher by 0, 0.5, 1
or 2 standard deviations on average, more for some HS than for others. Studies are drawn from these populations.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student_t

from fcpair.evaluate.judged_rankings import NEGATIVE, POSITIVE, UNJUDGED, Judged, label_ranking, select_hs
from fcpair.evaluate.measures import Accuracy, Measure, parse_measure
from fcpair.stages.stats import intervals

Values = NDArray[np.float64]
Bounds = tuple[Values, Values]
Method = Callable[[Values, Values, int], Bounds]

SEED = 13
N_POPULATION = 20_000
DRAWS = 1_000  # of each interval; a tenth of what `fcpair evaluate` takes
BATCH = 100  # studies that share their draws
SIZES = (3, 4, 5, 8, 12, 45)
ENDS = [0.025, 0.975]
STRENGTHS = (0.0, 0.5, 1.0, 2.0)
VARIES = 0.5  # standard deviation of a system's strength over HS
NEGATIVES = 0.3  # of the strength that judged negatives have too: what is judged was retrieved
MEASURES = tuple(
    parse_measure(name)
    for name in (
        *("HitRatio@10", "HitRatio@1", "MRR@10", "NDCG@10", "MAP@10", "Precision@10", "Recall@10", "F1@10"),
        *("Accuracy@10", "bpref", "RBP", "judged@10"),
    )
)


@dataclass(frozen=True)
class Kind:
    """A tier: the CNs of the pool, and by HS the mean and variance of positives, mean and sd of judged pairs."""

    pool: int
    positives: tuple[float, float]
    judged: tuple[float, float]


# The first four are counted in FC-CONAN's published tiers, over its pool of 100.
KINDS = {
    "diamond": Kind(100, (0.78, 0.81), (7.8, 2.3)),
    "gold": Kind(100, (1.2, 1.39), (9.4, 1.9)),
    "silver": Kind(100, (9.58, 31.8), (58.9, 8.6)),
    "bronze": Kind(100, (15.6, 66.6), (67.2, 6.8)),
    "dense": Kind(30, (9.0, 20.0), (28.5, 1.0)),
}


@dataclass(frozen=True)
class Population:
    """A system on a tier: the score of each HS, shape `(n_hs, n_measures)`, and what the scores are made from."""

    judged: Judged
    scores: Values


def population(kind: Kind, strength: float, rng: np.random.Generator) -> Population:
    """Draw labels and rankings of many HS; positives are negative binomial, so some HS have none."""
    mean, variance = kind.positives
    size = mean**2 / (variance - mean)
    n_judged = np.clip(np.round(rng.normal(*kind.judged, N_POPULATION)), 1, kind.pool).astype(int)
    n_positive = np.minimum(rng.negative_binomial(size, size / (size + mean), N_POPULATION), n_judged)
    place = np.argsort(rng.random((N_POPULATION, kind.pool)), axis=1)
    labels = np.where(place < n_judged[:, None], NEGATIVE, UNJUDGED).astype(np.int8)
    labels[place < n_positive[:, None]] = POSITIVE
    lift = rng.normal(strength, VARIES, N_POPULATION)[:, None] * (labels == POSITIVE)
    scores = rng.normal(size=labels.shape) + lift + NEGATIVES * strength * (labels == NEGATIVE)
    judged = label_ranking(np.argsort(-scores, axis=1), labels)
    return Population(judged, np.stack([measure(judged) for measure in MEASURES], axis=1))


# -- the methods


def percentile(values: Values, _: Values, seed: int) -> Bounds:
    """The percentile bootstrap, which fcpair had until 0.3.0."""
    low, high = np.quantile(_resampled(values, seed) @ values, ENDS, axis=0)
    return low, high


def bca(values: Values, _: Values, seed: int) -> Bounds:
    """Bias-corrected and accelerated: Efron 1987, https://doi.org/10.1080/01621459.1987.10478410."""
    from scipy.special import ndtr, ndtri

    means, mean = np.sort(_resampled(values, seed) @ values, axis=0), values.mean(axis=0)
    below = ((means < mean - 1e-12).mean(axis=0) + (means <= mean + 1e-12).mean(axis=0)) / 2
    apart = mean - values
    cubes, squares = (apart**3).sum(axis=0), (apart**2).sum(axis=0)
    skew = np.divide(-cubes, 6 * squares**1.5, out=np.zeros_like(mean), where=squares > 1e-12)
    bias, z = ndtri(np.clip(below, 1 / DRAWS, 1 - 1 / DRAWS)), NormalDist().inv_cdf(ENDS[1])
    found = []
    for end in (-z, z):
        level = ndtr(bias + (bias + end) / np.maximum(1 - skew * (bias + end), 1e-3))
        found.append(np.take_along_axis(means, (level * (DRAWS - 1)).round().astype(int)[None], axis=0)[0])
    return found[0], found[1]


def bootstrap_t(values: Values, _: Values, seed: int) -> Bounds:
    """Efron and Tibshirani 1993, chapter 12; resamples without spread count as infinitely far from the mean."""
    weights = _resampled(values, seed)
    means = weights @ values
    spread = np.sqrt(np.maximum(weights @ values**2 - means**2, 0))
    mean, own = values.mean(axis=0), values.std(axis=0)
    apart = means - mean
    far = np.where(np.abs(apart) > 1e-12, np.sign(apart) * 1e3, 0.0)
    low, high = np.quantile(np.divide(apart, spread, out=far, where=spread > 1e-9), ENDS, axis=0)
    return np.clip(mean - high * own, 0, 1), np.clip(mean - low * own, 0, 1)


def student(values: Values, _: Values, __: int) -> Bounds:
    """The interval of Student's t, cut at 0 and 1."""
    n = len(values)
    half = student_t.ppf(ENDS[1], n - 1) * values.std(axis=0, ddof=1) / np.sqrt(n)
    mean = values.mean(axis=0)
    return np.clip(mean - half, 0, 1), np.clip(mean + half, 0, 1)


def exact(values: Values, _: Values, seed: int) -> Bounds:
    """Learned-Miller and Thomas 2020, https://arxiv.org/abs/1905.06208: a whole HS at the end that a bound looks to.

    For scores of 0 and 1 it is the interval of Clopper and Pearson.
    """
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(values) + 1), DRAWS)
    means = weights[:, :-1] @ values
    return np.quantile(means, ENDS[0], axis=0), np.quantile(means + weights[:, -1:], ENDS[1], axis=0)


def shipped(values: Values, reach: Values, seed: int) -> Bounds:
    """What `fcpair evaluate` prints."""
    return intervals.mean_intervals(values, reach, DRAWS, seed)


def _resampled(values: Values, seed: int) -> Values:
    """The share of each HS in each bootstrap sample, shape `(draws, n_hs)`."""
    n = len(values)
    return np.random.default_rng(seed).multinomial(n, [1 / n] * n, DRAWS) / n


METHODS: dict[str, Method] = {
    method.__name__: method for method in (shipped, percentile, bca, bootstrap_t, student, exact)
}


# -- the studies


def covered(people: Population, method: Method, n_hs: int, n_studies: int, seed: int) -> tuple[Values, Values]:
    """How many of the studies hold the mean, and the mean width, each of shape `(n_measures,)`."""
    truth, rng = people.scores.mean(axis=0), np.random.default_rng(seed)
    held, width = np.zeros(len(MEASURES)), np.zeros(len(MEASURES))
    for batch in range(n_studies // BATCH):
        drawn = rng.integers(0, N_POPULATION, (BATCH, n_hs))
        values = people.scores[drawn].transpose(1, 0, 2).reshape(n_hs, -1)
        reach = np.concatenate([_reach(people.judged, rows) for rows in drawn], axis=1)
        low, high = (bound.reshape(BATCH, -1) for bound in method(values, reach, seed + batch))
        held += ((low <= truth + 1e-9) & (truth <= high + 1e-9)).sum(axis=0)
        width += (high - low).sum(axis=0)
    return held / n_studies, width / n_studies


def _reach(judged: Judged, rows: NDArray[np.int64]) -> Values:
    """The ends of the scale of every measure in a study, shape `(2, n_measures)`."""
    own = select_hs(judged, rows)
    return np.array([_ends(measure, own) for measure in MEASURES]).T


def _ends(measure: Measure, judged: Judged) -> tuple[float, float]:
    return measure.score_range(judged) if isinstance(measure, Accuracy) else (0.0, 1.0)


def main() -> None:
    """Print a table for each method: coverage by measure, the mean over populations and the least of them."""
    given = _arguments()
    intervals.LEAST_HS = min(given.sizes)  # to see what fewer HS than have an interval would have
    rng = np.random.default_rng(SEED)
    people = [population(kind, strength, rng) for kind in KINDS.values() for strength in STRENGTHS]
    error = np.sqrt(0.95 * 0.05 / given.studies)
    print(f"{given.studies:,} studies of each size from each of {len(people)} populations, seed {SEED}")
    print(f"Monte Carlo error of one population {error:.4f}, of a mean over them {error / np.sqrt(len(people)):.4f}")
    for name in given.methods:
        print(f"\n{name}\n")
        for line in _table(METHODS[name], people, given.studies, given.sizes):
            print(line, flush=True)


def _table(method: Method, people: list[Population], n_studies: int, sizes: list[int]) -> Iterator[str]:
    yield "| HS | " + " | ".join(map(str, MEASURES)) + " | mean width |"
    yield "|---|" + "---|" * (len(MEASURES) + 1)
    for n_hs in sizes:
        found = [covered(one, method, n_hs, n_studies, SEED + at * 10_000) for at, one in enumerate(people)]
        rates, widths = (np.array(column) for column in zip(*found, strict=True))
        cells = [f"{mean:.3f} ({least:.3f})" for mean, least in zip(rates.mean(axis=0), rates.min(axis=0), strict=True)]
        yield f"| {n_hs} | " + " | ".join(cells) + f" | {widths.mean():.3f} |"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.score_coverage", description=__doc__)
    parser.add_argument("--studies", type=int, default=2_000, help="of each size and population, in hundreds")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES), help="how many HS a study has")
    return parser.parse_args()


if __name__ == "__main__":
    main()
