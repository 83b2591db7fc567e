"""Studies drawn from the model of `fcpair.stages.stats.latent_labels`, and their true figures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.stages.stats.latent_labels import Effects, figures_of, joint
from fcpair.stages.stats.rating_counts import Overlap


@dataclass(frozen=True)
class Shape:
    """A grid: its sides, its annotators, and the shares of its pairs that get two and three labels.

    Those pairs fall on any HS alike; with `focus` the h-th HS is the likelier by h to the power of minus `focus`, and
    with `few` only on so many HS.
    """

    n_hs: int
    n_cn: int
    n_annotators: int
    two: float
    three: float
    focus: float = 0.0
    few: int | None = None

    def overlapped(self, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """The HS and the CN of the pairs with several labels, in random order (Efraimidis and Spirakis 2006)."""
        n = self.n_two + self.n_three
        n_hs = self.n_hs if self.few is None else self.few
        if not self.focus:
            return np.divmod(rng.permutation(n_hs * self.n_cn)[:n], self.n_cn)
        key = rng.exponential(size=(n_hs, self.n_cn)) * np.arange(1.0, n_hs + 1)[:, None] ** self.focus
        return np.divmod(np.argsort(key, axis=None)[:n], self.n_cn)

    @property
    def n_two(self) -> int:
        """How many pairs have two labels."""
        return round(self.two * self.n_hs * self.n_cn)

    @property
    def n_three(self) -> int:
        """How many pairs have three labels."""
        return round(self.three * self.n_hs * self.n_cn)


def draw(shape: Shape, effects: Effects, rng: np.random.Generator) -> tuple[Overlap, Floats]:
    """The labels of one study, as they fall on its overlapping pairs, and the leniency of its annotators."""
    hs, cn = shape.overlapped(rng)
    latent = effects.of_hs(rng, shape.n_hs)[hs] + rng.normal(0, effects.cn**0.5, shape.n_cn)[cn]
    latent += rng.normal(0, (1 - effects.hs - effects.cn) ** 0.5, len(hs))
    log_s = rng.normal(0, effects.hs_hardness**0.5, shape.n_hs)[hs]
    log_s += rng.normal(0, effects.cn_hardness**0.5, shape.n_cn)[cn]
    leniency = rng.normal(0, effects.leniency, shape.n_annotators)
    pair = np.repeat(np.arange(len(hs)), np.repeat([2, 3], [shape.n_two, shape.n_three]))
    nth = np.concatenate([np.tile([0, 1], shape.n_two), np.tile([0, 1, 2], shape.n_three)])
    annotator = np.argsort(rng.random((len(hs), shape.n_annotators)), axis=1)[pair, nth]
    seen = latent[pair] + effects.noise * np.exp(log_s)[pair] * rng.normal(size=len(pair)) + leniency[annotator]
    klass = np.searchsorted(effects.thresholds, seen)
    return Overlap(len(effects.thresholds) + 1, pair, hs[pair], cn[pair], annotator, klass), leniency


def same_annotators(effects: Effects, leniency: Floats) -> tuple[dict[str, float], Floats]:
    """The figures on endlessly many HS and CN with these annotators; and the kappa of each two, (n, n)."""
    found = joint(effects, leniency)
    others = ~np.eye(len(leniency), dtype=bool)
    return figures_of(found, others / others.sum())
