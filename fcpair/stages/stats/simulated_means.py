"""Widths of the mean of the kappas of every two annotators, by drawing studies: it has no formula that holds.

Each two annotators may share a handful of pairs, on which kappa is far from linear.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import gcd

import numpy as np
import numpy.typing as npt

from fcpair.stages.stats.intervals import LEVEL
from fcpair.stages.stats.kappa import MEANS, Subsets, summary_figures
from fcpair.stages.stats.label_profiles import ClassModel
from fcpair.stages.stats.latent_labels import Effects
from fcpair.stages.stats.predicted_widths import OverlapSize
from fcpair.stages.stats.rating_counts import Overlap

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST_STUDIES = 40
LEAST_STUDIES = 8
MOST_LABELS = 200_000  # in all studies of one overlap
MOST_AT_ONCE = 20_000  # labels of one study: on more, the width falls as that of alpha does
MOST_GROUPS = 5_000  # of annotators; where there are more, as many are drawn
Answer = Callable[[Overlap, np.random.Generator], Ints]


def simulate_mean_kappa(size: OverlapSize, answer: Answer, n_classes: int, level: float = LEVEL) -> Floats:
    """The value and the width of the mean kappa in drawn studies of an overlap, (n_studies, 2).

    Studies without an interval are left out. `answer` draws the class of each label. The same arguments always give
    the same studies: as many as hold `MOST_LABELS` labels, from 8 to 40.
    """
    if not size.n_pairs:
        return np.zeros((0, 2))
    rng = np.random.default_rng(0)
    places = deal_overlap(size, n_classes, rng)
    n_studies = min(max(MOST_LABELS // max(len(places.pair), 1), LEAST_STUDIES), MOST_STUDIES)
    drawn = [_mean_kappa(places, answer(places, rng), level) for _ in range(n_studies)]
    return np.array([each for each in drawn if each], dtype=np.float64).reshape(-1, 2)


def _mean_kappa(places: Overlap, klass: Ints, level: float) -> tuple[float, float] | None:
    overlap = Overlap(places.n_classes, places.pair, places.hs, places.cn, places.annotator, klass)
    figure = next(one for one in summary_figures(Subsets(overlap, "none"), "texts", level) if one.name == MEANS[0])
    if figure.value is None or figure.low is None or figure.high is None:
        return None
    return figure.value, figure.high - figure.low


def deal_overlap(size: OverlapSize, n_classes: int, rng: np.random.Generator) -> Overlap:
    """An overlap of this size, all its labels of class 0: its pairs are spread evenly over HS, CN and groups."""
    n_labels = np.repeat(np.array(list(size.pairs), np.int64), np.array(list(size.pairs.values()), np.int64))
    n_labels = rng.permutation(n_labels)
    at = np.arange(len(n_labels))
    hs, cn = at % size.n_hs, (at // size.n_hs * _step(size.n_hs, size.n_cn) + at % size.n_hs) % size.n_cn
    pair = np.repeat(at, n_labels)
    annotator = np.empty(len(pair), np.int64)
    for m in size.pairs:
        annotator[n_labels[pair] == m] = _groups(size.n_annotators, m, int((n_labels == m).sum()), rng).ravel()
    return Overlap(n_classes, pair, hs[pair], cn[pair], annotator, np.zeros(len(pair), np.int64))


def _step(n_hs: int, n_cn: int) -> int:
    """By how many CNs each round over the HS moves on, so that every pair comes once and CNs as often as each other."""
    step = n_hs
    while gcd(step, n_cn) != 1:
        step += 1
    return step


def _groups(n_annotators: int, m: int, n: int, rng: np.random.Generator) -> Ints:
    """`n` groups of `m` annotators, all groups about equally often, (n, m)."""
    groups = np.array(
        [group for group, _ in zip(combinations(range(n_annotators), m), range(MOST_GROUPS), strict=False)]
    )
    if len(groups) == MOST_GROUPS:
        groups = np.sort(np.argsort(rng.random((MOST_GROUPS, n_annotators)), axis=1)[:, :m], axis=1)
    order = np.concatenate([rng.permutation(len(groups)) for _ in range(-(-n // len(groups)))])[:n]
    return np.asarray(groups[order], dtype=np.int64)


def answer_by_classes(model: ClassModel) -> Answer:
    """Answers in which all labels of a pair depend on what is true, and on nothing else."""
    ends = np.cumsum(model.answers, axis=1)[:, :-1]

    def answer(places: Overlap, rng: np.random.Generator) -> Ints:
        true = rng.choice(len(model.truths), int(places.pair.max(initial=-1)) + 1, p=model.truths)[places.pair]
        return np.asarray((rng.random(len(true))[:, None] > ends[true]).sum(axis=1))

    return answer


def answer_by_effects(effects: Effects) -> Answer:
    """Answers in which HS, CN and annotators have effects."""

    def answer(places: Overlap, rng: np.random.Generator) -> Ints:
        n_hs, n_cn, n_annotators = (int(of.max(initial=-1)) + 1 for of in (places.hs, places.cn, places.annotator))
        of_pair = rng.normal(0, (1 - effects.hs - effects.cn) ** 0.5, int(places.pair.max(initial=-1)) + 1)
        seen = (
            effects.of_hs(rng, n_hs)[places.hs]
            + rng.normal(0, effects.cn**0.5, n_cn)[places.cn]
            + of_pair[places.pair]
            + rng.normal(0, effects.leniency, n_annotators)[places.annotator]
            + effects.noise * rng.normal(size=len(places.pair))
        )
        return np.searchsorted(effects.thresholds, seen)

    return answer
