"""Studies in which intervals of agreement hold less often than they say: what to look for, and what to say of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from fcpair.stages.stats.beta_distribution import f_tail
from fcpair.stages.stats.jackknife_intervals import HS_AND_CN, Cluster, Sides
from fcpair.stages.stats.rating_counts import Overlap

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

EVEN = 0.75  # of the texts of a side, as many of the same weight as the overlap could lie on
STRONG = 0.25  # how much of which pairs get the commonest class a side may explain
SURE = 0.01  # the p of an F test up to which texts differ
FEW_TEXTS = 30  # of a side; with 45 that differ as strongly intervals hold
COMMON = 0.9  # the share of labels of one class
COVERAGE_NOTE = "95 % intervals contained the true value in as few as {held} of 100 simulated studies like this"


def find_cautions(overlap: Overlap, classes: Sequence[str], sides: Sides = HS_AND_CN) -> tuple[str, ...]:
    """Why intervals may hold less often than they say; docs/reference/stages/07-agree.md has what was measured.

    Three things can be seen in the labels on overlapping pairs: that these lie unevenly on a side, that few texts of a
    side differ strongly (in camps or not), and that nearly all labels are of one class.
    """
    return tuple(_find_cautions(overlap, classes, sides)) if len(overlap.pair) else ()


def _find_cautions(overlap: Overlap, classes: Sequence[str], sides: Sides) -> Iterator[str]:
    common = int(np.bincount(overlap.klass).argmax())
    is_common = overlap.klass == common
    n_labels = np.bincount(overlap.pair)
    share = np.bincount(overlap.pair, is_common) / n_labels
    first = np.searchsorted(overlap.pair, np.arange(len(n_labels)))
    for side in sides.free_sides:
        text = (overlap.hs if side is Cluster.HS else overlap.cn)[first]
        n = len(np.unique(text))
        word, n_effective = sides.cluster_name(side, 2), effective_number(text)
        if n_effective < EVEN * n:
            coverage_note = COVERAGE_NOTE.format(held=90)
            yield f"the overlap is spread unevenly over {n:,} {word}, as if over {n_effective:.1f}: {coverage_note}"
        if n < FEW_TEXTS and (explained := intraclass_correlation(share, text)) > STRONG:
            coverage_note = COVERAGE_NOTE.format(held=76)
            observation = f"{100 * explained:.0f} % of which pairs are {classes[common]}"
            yield f"the {n} {word} differ strongly, and explain {observation}: {coverage_note}"
    if is_common.mean() > COMMON:
        coverage_note = COVERAGE_NOTE.format(held=72)
        observation = f"{100 * is_common.mean():.0f} % of the labels are {classes[common]}"
        yield f"{observation}, and kappas rest on the few others: {coverage_note}"


def effective_number(text: Ints) -> float:
    """Number of equally heavy texts that would weigh as these, by the text of each pair: (sum w)^2 / sum w^2."""
    weights = np.bincount(text).astype(np.float64)
    return float(weights.sum() ** 2 / (weights @ weights))


def intraclass_correlation(share: Floats, text: Ints) -> float:
    """The intraclass correlation of pairs with the same text, at most 1, by analysis of variance.

    0 where it is undefined (no two pairs of one text, a single text, no variance), and where an F test has p above
    0.01, as with few pairs of a text it is large by chance. Source: Donner (1986), DOI 10.2307/1403259.

    Args:
        share: of each pair's labels those of a class, `(n_pairs,)`.
        text: which text the pair has, `(n_pairs,)`, from 0.
    """
    n_each = np.bincount(text)
    n, k = len(text), int(np.count_nonzero(n_each))
    if not 1 < k < n:
        return 0.0
    means = np.bincount(text, share) / np.maximum(n_each, 1)
    between = float(n_each @ (means - share.mean()) ** 2) / (k - 1)
    within = float(((share - means[text]) ** 2).sum()) / (n - k)
    if between == 0 or (within and f_tail(k - 1, n - k, between / within) > SURE):
        return 0.0
    size = (n - float((n_each**2).sum()) / n) / (k - 1)
    return (between - within) / (between + (size - 1) * within)
