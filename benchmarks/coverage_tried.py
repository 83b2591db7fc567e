"""Other intervals of agreement, in studies in which those of fcpair hold less often than they say.

`python -m benchmarks.coverage_tried` prints how often each held, the least of eight figures, and its median width for
the mean kappa. None of them was taken: docs/reference/stages/07-agree.md says why.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks import batch
from benchmarks.coverage import BATCH, HARD
from benchmarks.latent import Shape, draw, same_annotators
from benchmarks.measure import SEED
from fcpair.stages.stats.agreement import effective_number
from fcpair.stages.stats.jackknife_intervals import Cluster, Spread
from fcpair.stages.stats.latent_labels import Effects
from fcpair.stages.stats.rating_counts import Overlap

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Ends = tuple[float, float]
LEAST_FREEDOM = 2.0

plain_spreads = batch.spreads_of


@dataclass(frozen=True)
class Moved(Spread):
    """A spread that knows by how many texts of the same influence the figure would move as far."""

    alike: float = 1.0


def _moved(replicates: Floats, study: Ints, times: Ints, n_studies: int) -> list[Spread]:
    found = plain_spreads(replicates, study, times, n_studies)
    mean = np.bincount(study, times * replicates, n_studies) / np.maximum(np.bincount(study, times, n_studies), 1)
    apart = (replicates - mean[study]) ** 2
    squares, fourth = (np.bincount(study, times * power, n_studies) for power in (apart, apart**2))
    alike = np.divide(squares**2, fourth, out=np.ones(n_studies), where=fourth > 0)
    return [Moved(one.variance, one.n, n) for one, n in zip(found, alike.tolist(), strict=True)]


def tried(value: float, lowest: float, spreads: batch.Spreads, at: int, even: float) -> Iterator[tuple[str, Ends]]:
    """The ends of each interval of a figure; `even` is the effective number of texts of the side that has fewer."""
    of_hs, of_cn, of_pair = (spreads[one][at] for one in (Cluster.HS, Cluster.CN, Cluster.PAIR))
    pair = of_pair.variance
    variance = max(of_hs.variance + of_cn.variance - pair, pair)
    if not variance > 0:
        return
    floor, n = max(variance, of_hs.variance, of_cn.variance), min(of_hs.n, of_cn.n)
    freedom = max(min(even, n) - 1, 1.0)
    yield "as it is", _linear(value, lowest, variance, n - 1)
    yield "at least V_HS and V_CN", _linear(value, lowest, floor, n - 1)
    yield "n_eff", _linear(value, lowest, variance, freedom)
    yield "both", _linear(value, lowest, floor, freedom)
    yield "both, log(1 - figure)", _logarithmic(value, lowest, floor, freedom)
    yield "both, logit", _logit(value, lowest, floor, freedom)
    yield "V_HS + V_CN, n_eff", _linear(value, lowest, max(of_hs.variance + of_cn.variance, pair), freedom)
    if isinstance(of_hs, Moved) and isinstance(of_cn, Moved):
        influence = max(min(of_hs.alike, of_cn.alike, freedom + 1) - 1, LEAST_FREEDOM)
        yield "n_eff by influence", _linear(value, lowest, floor, influence)


def _reach(variance: float, freedom: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.975)) * float(variance**0.5)


def _linear(value: float, lowest: float, variance: float, freedom: float) -> Ends:
    reach = _reach(variance, freedom)
    return max(lowest, value - reach), min(1.0, value + reach)


def _logarithmic(value: float, lowest: float, variance: float, freedom: float) -> Ends:
    if value >= 1:
        return _linear(value, lowest, variance, freedom)
    reach = _reach(variance, freedom) / (1 - value)
    low, high = (1 - (1 - value) * float(np.exp(sign * reach)) for sign in (1, -1))
    return max(lowest, low), high


def _logit(value: float, lowest: float, variance: float, freedom: float) -> Ends:
    share = (value - lowest) / (1 - lowest)
    if not 0 < share < 1:
        return _linear(value, lowest, variance, freedom)
    reach = _reach(variance, freedom) / (1 - lowest) / (share * (1 - share))
    middle = np.log(share / (1 - share))
    low, high = (lowest + (1 - lowest) / float(1 + np.exp(-(middle + sign * reach))) for sign in (-1, 1))
    return low, high


def held(shape: Shape, effects: Effects, n_studies: int) -> dict[str, dict[str, list[tuple[bool, float]]]]:
    """By interval and figure: whether it held the true value in each study, and how wide it was."""
    rng = np.random.default_rng(SEED)
    found: dict[str, dict[str, list[tuple[bool, float]]]] = {}
    for _ in range(0, n_studies, BATCH):
        studies = [draw(shape, effects, rng) for _ in range(BATCH)]
        true = [same_annotators(effects, leniency)[0] for _, leniency in studies]
        for at, name, method, (low, high) in _ends([overlap for overlap, _ in studies], shape):
            one = low <= true[at][name] <= high, high - low
            found.setdefault(method, {}).setdefault(name, []).append(one)
    return found


def _ends(studies: list[Overlap], shape: Shape) -> Iterator[tuple[int, str, str, Ends]]:
    even = [min(effective_number(one.hs), effective_number(one.cn)) for one in studies]
    for name, lowest, values, spreads, _ in batch.figures_of(studies, shape):
        for at, value in enumerate(values.tolist()):
            if not np.isnan(value):
                for method, ends in tried(value, lowest, spreads, at, even[at]):
                    yield at, name, method, ends


def main() -> None:
    """Print a line for each setting and interval."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage_tried", description=__doc__)
    parser.add_argument("--studies", type=int, default=300)
    given = parser.parse_args()
    batch.spreads_of = _moved
    for name, settings in HARD.items():
        for grid, shape, effects in settings:
            for method, figures in held(shape, effects, given.studies).items():
                least = min(float(np.mean([one for one, _ in of])) for of in figures.values())
                width = float(np.median([width for _, width in figures["mean kappa"]]))
                print(f"{name:26} {grid:8} {method:24} {least:.2f} {width:.2f}", flush=True)


if __name__ == "__main__":
    main()
