"""Costs and yields of an overlap before anybody is asked: labels, hours, conflicts, pairs in each tier, widths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from fcpair.stages.questions import Closed
from fcpair.stages.stats.label_profiles import ClassModel, all_profiles
from fcpair.stages.stats.predicted_widths import OverlapSize

LADDER = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)
BISECTIONS = 14  # of a share: one in 16,000
SHARES = 10_000  # in 1: shares are rounded up to so many
PLACES = 6  # of the shares of an overlap
HOUR_S = 3600.0


@dataclass(frozen=True)
class AssignedPairs:
    """Pairs that are assigned already, by the number of people; and those with two or more, by their HS and CN."""

    by_labels: Mapping[int, int]
    of_hs: tuple[int, ...]
    of_cn: tuple[int, ...]

    @property
    def several(self) -> dict[int, int]:
        """Those that two or more people have, by the number of people."""
        return {m: n for m, n in self.by_labels.items() if m > 1}


@dataclass(frozen=True)
class GridFacts:
    """A grid to be labelled: its texts and people, the seconds that a label takes, and what is validated.

    `validated` is the share of the pairs that get a verdict, `valid` the share of the verdicts that agree. `assigned`
    is what is assigned already.
    """

    n_hs: int
    n_cn: int
    n_annotators: int
    seconds: float
    validated: float
    valid: float
    assigned: AssignedPairs | None = None

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return self.n_hs * self.n_cn

    @property
    def assigned_share(self) -> float:
        """The share of the pairs that are assigned to two people or more already, which no plan lowers."""
        return sum(self.assigned.several.values()) / self.n_pairs if self.assigned else 0.0

    def overlap_at(self, share: float, three: float) -> dict[int, float]:
        """The overlap in which so large a share of the pairs has several labels, as `assign` takes it.

        What is assigned stays; of the pairs that come to it a share `three` has three labels.
        """
        several = self.assigned.several if self.assigned else {}
        shares = {2: 0.0, 3: 0.0} | {m: n / self.n_pairs for m, n in several.items()}
        added = max(share - self.assigned_share, 0.0)
        of_three = round(added * three, PLACES)
        shares[2] += added - of_three
        shares[3] += of_three
        return {m: part for m, part in sorted((m, round(part, PLACES)) for m, part in shares.items()) if part}

    def size(self, overlap: Mapping[int, float]) -> OverlapSize:
        """The overlap in pairs, as `assign` rounds it."""
        pairs = {m: round(share * self.n_pairs) for m, share in sorted(overlap.items())}
        of_texts = (self.assigned.of_hs, self.assigned.of_cn) if self.assigned else ()
        return OverlapSize(self.n_hs, self.n_cn, self.n_annotators, {m: n for m, n in pairs.items() if n}, *of_texts)


@dataclass(frozen=True)
class Yield:
    """Costs and yields of an overlap on a grid: what is expected of labels, hours, conflicts and tiers.

    `labels` and `hours` are of all annotators, the next two of each of them; `hours` do without breaks. `conflicts`
    are the pairs that no rule but unanimity decides. The last four are pairs, in tiers as `partition` has them.
    """

    labels: int
    hours: float
    pairs_each: float
    hours_each: float
    conflicts: float
    diamond: float
    gold: float
    silver: float
    bronze: float


def expect_yield(grid: GridFacts, size: OverlapSize, model: ClassModel, question: Closed) -> Yield:
    """Costs and yields where labels are as the model has them.

    Every pair gets a label, and those of `size` more; pairs to be validated are drawn evenly from all.
    """
    n_single = grid.n_pairs - size.n_pairs
    by_labels = {1: n_single, **size.pairs}
    labels = sum(m * n for m, n in by_labels.items())
    one_answer, all_alike = (
        {m: n * chance(model, question, m) for m, n in by_labels.items()} for chance in (_decided, _unanimous)
    )
    hours, verdicts = labels * grid.seconds / HOUR_S, grid.validated
    return Yield(
        labels=labels,
        hours=hours,
        pairs_each=labels / grid.n_annotators,
        hours_each=hours / grid.n_annotators,
        conflicts=grid.n_pairs - sum(one_answer.values()),
        diamond=verdicts * grid.valid * sum(n for m, n in all_alike.items() if m > 1),
        gold=verdicts * grid.valid * size.n_pairs,
        silver=verdicts * grid.valid * grid.n_pairs,
        bronze=verdicts * grid.n_pairs,
    )


def _decided(model: ClassModel, question: Closed, n_labels: int) -> float:
    """How probable it is that the definite labels of a pair are of one class, of which it has some."""
    profiles = all_profiles(n_labels, len(model.shares))
    definite = profiles[:, np.isin(question.codes, question.definite)]
    return float(model.probabilities(profiles)[np.count_nonzero(definite, axis=1) == 1].sum())


def _unanimous(model: ClassModel, question: Closed, n_labels: int) -> float:
    """How probable it is that all labels of a pair are of one definite class."""
    alike = n_labels * np.eye(len(model.shares), dtype=np.int64)[np.isin(question.codes, question.definite)]
    return float(model.probabilities(alike).sum())


def least_share(width: Callable[[float], float], wish: float, lowest: float = 0.0) -> float | None:
    """The least share of pairs with several labels at which a width, which falls with it, is as wished; else None.

    It is `lowest` at least, what is there already. A width that is NaN, as with too few pairs, is none.
    """
    if lowest and width(lowest) <= wish:
        return lowest
    if not width(1.0) <= wish:
        return None
    low, high = lowest, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if width(middle) <= wish else (middle, high)
    return ceil(high * SHARES) / SHARES


def rungs(recommended: float | None, lowest: float = 0.0) -> Sequence[float]:
    """The shares of a ladder, with the lowest and the recommended one among them, ascending."""
    shares = {*LADDER, lowest, recommended or lowest} - {0.0}
    return tuple(sorted(share for share in shares if share >= lowest))


def more_texts(floor: Callable[[int], float], n_texts: int, wish: float, most: int) -> int | None:
    """The least number of texts of a side, above `n_texts`, whose floor is at most the wish; None up to `most`."""
    high = n_texts
    while floor(high) > wish:
        if high >= most:
            return None
        high = min(2 * high, most)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if floor(middle) <= wish else (middle, high)
    return max(high, n_texts)
