"""How often `fcpair correlate` warns falsely of texts picked by extremes, and how often its intervals hold.

    python -m benchmarks.correlation            # about three minutes on one core
    python -m benchmarks.correlation --samples 1000 --studies 100

Samples are taken at random from the distributions below, so that each warning is a false one; *picked* are the first
and last texts of as many as there are. For intervals, a text's quality goes with its measure, each rater adds a
leniency of their own, follows quality more or less than others and errs, and rates on a scale of halves; the true value
is the mean correlation over 4,000 texts each of 200 draws of as many raters. Beside it stands how often they hold the
correlation with the mean of all raters, of which they do not speak.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from fcpair.records import Figure
from fcpair.texts.ratings import COEFFICIENTS, RatedTexts, check_selection, correlate

Floats = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]

SEED = 13
SIZES = (20, 30, 50, 100, 200)
N_POPULATION = 500
DISTRIBUTIONS: dict[str, Draw] = {
    "uniform": lambda rng, n: rng.uniform(size=n),
    "normal": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "log-normal": lambda rng, n: rng.lognormal(size=n),
    "beta(2, 5)": lambda rng, n: rng.beta(2, 5, n),
    "beta(0.3, 0.3), near 0 and 1": lambda rng, n: rng.beta(0.3, 0.3, n),
}
PICKED = ((10, 60), (10, 120), (10, 500), (30, 500))  # at each end, and of how many
STUDIES = ((20, 1), (20, 4), (60, 1), (60, 2), (60, 4), (60, 10), (200, 4))  # texts, raters
LOADING, LENIENCY, SLOPE, ERROR = 0.6, 0.5, 0.4, 0.7
DRAWS = 400
ALL, DRAWS_OF_ALL = 400, 20  # raters, so many that more would not change their mean, and how often they are drawn


def false_warnings(samples: int) -> Iterator[tuple[str, int, float, float]]:
    """Of each distribution and size: the share of samples that the gap, and the population, warns of."""
    for name, draw in DISTRIBUTIONS.items():
        for n in SIZES:
            rng = np.random.default_rng(SEED)
            by_gap = sum(check_selection(draw(rng, n)).warning is not None for _ in range(samples))
            by_population = 0
            for _ in range(samples):
                population = draw(rng, N_POPULATION)
                taken = rng.choice(population, n, replace=False)
                by_population += check_selection(taken, population).warning is not None
            yield name, n, by_gap / samples, by_population / samples


def found_warnings(samples: int) -> Iterator[tuple[str, int, int, float, float]]:
    """Of each distribution: the share of samples that were picked by their extremes which are found."""
    for name, draw in DISTRIBUTIONS.items():
        for each, n in PICKED:
            rng = np.random.default_rng(SEED)
            by_gap = by_population = 0
            for _ in range(samples):
                population = np.sort(draw(rng, n))
                picked = np.concatenate([population[:each], population[-each:]])
                by_gap += check_selection(picked).warning is not None
                by_population += check_selection(picked, population).warning is not None
            yield name, each, n, by_gap / samples, by_population / samples


def study(rng: np.random.Generator, n_texts: int, n_raters: int) -> RatedTexts:
    """Texts with a measure, rated by all raters."""
    measure = rng.normal(size=n_texts)
    quality = LOADING * measure + np.sqrt(1 - LOADING**2) * rng.normal(size=n_texts)
    follows = 1 + SLOPE * rng.normal(size=n_raters)
    said = 3 + follows * quality[:, None] + LENIENCY * rng.normal(size=n_raters)
    ratings = np.clip(np.round(2 * (said + ERROR * rng.normal(size=said.shape))) / 2, 1, 5)
    return RatedTexts(measure, ratings, ("",) * n_texts, tuple(map(str, range(n_raters))))


def truth(n_raters: int, draws: int = 200) -> list[float]:
    """The correlations on endlessly many texts with the mean of so many raters."""
    rng, once = np.random.default_rng(SEED), np.ones((1, 4_000))
    found = []
    for _ in range(draws):
        one = study(rng, 4_000, n_raters)
        mean = one.ratings.mean(axis=1)[None]
        found.append([float(of(one.measure[None], mean, once)[0]) for of in COEFFICIENTS.values()])
    return [float(value) for value in np.mean(found, axis=0)]


def coverage(studies: int) -> Iterator[tuple[int, int, list[float], list[float], list[float]]]:
    """Of each design: how often the intervals hold the true value, and that of all raters; their median width."""
    of_all = truth(ALL, DRAWS_OF_ALL)
    for n_texts, n_raters in STUDIES:
        rng, values = np.random.default_rng(SEED), truth(n_raters)
        bounds = []
        for at in range(studies):
            (found,) = correlate(study(rng, n_texts, n_raters), draws=DRAWS, seed=at)
            bounds.append([_bounds(one) for one in found.figures])
        low, high = np.moveaxis(np.array(bounds), -1, 0)
        holds, of_those = (((low <= true) & (true <= high)).mean(axis=0).tolist() for true in (values, of_all))
        yield n_texts, n_raters, holds, of_those, np.median(high - low, axis=0).tolist()


def _bounds(figure: Figure) -> tuple[float, float]:
    """The interval, or all there can be."""
    return (-1.0, 1.0) if figure.low is None or figure.high is None else (figure.low, figure.high)


def main() -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--studies", type=int, default=1_000)
    options = parser.parse_args()
    print("false warnings: distribution, n, by the gap, by the population")
    for name, n, gap, population in false_warnings(options.samples):
        print(f"  {name:30} {n:4} {gap:.4f} {population:.4f}")
    print("picked texts found: distribution, at each end, of, by the gap, by the population")
    for name, each, n, gap, population in found_warnings(options.samples // 10):
        print(f"  {name:30} {each:3} {n:4} {gap:.3f} {population:.3f}")
    print("intervals: texts, raters, coverage of Pearson and Spearman, that of all raters, median width of both")
    for n_texts, n_raters, *found in coverage(options.studies):
        shares = " ".join(f"{share:.3f}" for of in found[:2] for share in of)
        print(f"  {n_texts:4} {n_raters:3} {shares} {found[2][0]:.2f} {found[2][1]:.2f}", flush=True)


if __name__ == "__main__":
    main()
