"""Lines of a table of texts: those that meet conditions, so many that are drawn, and splits by several labels at once.

A split has all lines of a group (an HS) on one side.

Libraries stratify by labels or keep groups together. Here groups are placed as iterative stratification places single
examples (the rarest label first, to the side that lacks it most: K. Sechidis, G. Tsoumakas and I. Vlahavas (2011), On
the stratification of multi-label data, ECML PKDD 2011, LNCS 6913, 145-158, DOI 10.1007/978-3-642-23808-6_10), and then
moved and swapped until the sizes are right and no swap brings the labels nearer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fcpair.arrays import Bools, Floats, Ints
from fcpair.errors import Finding, InputError, reject, suggest_name
from fcpair.files.tables.tabular import LINE, read_cells
from fcpair.lazy import pd
from fcpair.stages.corpus.sample import own_order
from fcpair.texts.aliases import split_cell

_CONDITION = re.compile(r"(?P<column>.+?)\s*(?:(?P<sign>!=|=)|\s(?P<has>has)\s)\s*(?P<value>.*)", re.DOTALL)


@dataclass(frozen=True)
class Condition:
    """Condition on a cell, stripped: that it equals a value (`=`), differs (`!=`), or holds it among several labels
    (`has`).
    """

    column: str
    sign: str
    value: str

    def __str__(self) -> str:
        return f"{self.column}{' has ' if self.sign == 'has' else self.sign}{self.value}"

    def meets(self, cell: str) -> bool:
        """Return whether a cell is so; raises InputError for one of several labels that cannot be read."""
        if self.sign == "has":
            return self.value in split_cell(cell)
        return (cell.strip() == self.value) == (self.sign == "=")


def read_condition(text: str) -> Condition:
    """Read `COLUMN=VALUE`, `COLUMN!=VALUE` or `COLUMN has VALUE`; raises InputError for anything else."""
    if not (match := _CONDITION.fullmatch(text.strip())):
        raise InputError(
            f"`{text}` is not a condition; expected `COLUMN=VALUE`, `COLUMN!=VALUE`, or `COLUMN has VALUE` for a "
            "cell of several labels"
        )
    return Condition(match["column"].strip(), match["sign"] or match["has"], match["value"].strip())


def filter_rows(frame: pd.DataFrame, conditions: Sequence[Condition], lines: Sequence[int], place: str) -> pd.DataFrame:
    """The lines of a table of strings that meet all conditions, in their order; InputError for a column that is not
    there, and a cell of several labels that cannot be read.
    """
    for condition in conditions:
        if condition.column not in frame.columns:
            columns = [str(name) for name in frame.columns]
            raise InputError(f"{place}: no column `{condition.column}`; {suggest_name(condition.column, columns)}")
    is_kept, findings = np.ones(len(frame), np.bool_), list[Finding]()
    for condition in conditions:
        cells = frame[condition.column].astype(str)
        is_kept &= np.array(read_cells(cells, lines, place, condition.meets, findings, otherwise=False), np.bool_)
    reject(place, findings)
    return frame[is_kept]


def sample_rows(frame: pd.DataFrame, n: int, seed: int, place: str) -> pd.DataFrame:
    """`n` lines of a table, drawn without replacement by a seed, in their order; raises InputError for more."""
    if n > len(frame):
        raise InputError(f"{place}: {n:,} lines cannot be drawn of {len(frame):,}; ask for that many or fewer")
    order = own_order(*(frame[column] for column in frame.columns if column != LINE))
    return frame.iloc[np.sort(np.random.default_rng(seed).choice(order, n, replace=False))]


SIZE_WEIGHT = 1e4  # sizes come before labels
LEAST_GAIN, MOST_SWAPS = 1e-9, 2000
MOST_OFFERS = 1500  # kinds of groups of a side that are looked at for a swap; of more, so many are drawn


@dataclass(frozen=True)
class Split:
    """A split of a table: the `side` of each line, `(n_lines,)`, from 0, and of each side its lines, `sizes`, and
    groups, `n_groups`, `(n_sides,)`, and its lines with each label, `counts`, `(n_sides, n_labels)`. `wanted` are the
    sizes that the shares ask for; `sizes` differ only where whole groups cannot meet them.
    """

    side: Ints
    sizes: Ints
    wanted: Ints
    n_groups: Ints
    counts: Ints


def complete_shares(given_shares: Sequence[float]) -> tuple[Fraction, ...]:
    """The shares of all sides, which add up to 1; the last one is what those before leave, unless they are all. Raises
    InputError for a share that is not between 0 and 1, or shares of more than 1.
    """
    shares_text = " ".join(map(str, given_shares))
    shares = [Fraction(str(share)) for share in given_shares if math.isfinite(share)]
    total = sum(shares, Fraction())
    if not shares or len(shares) < len(given_shares) or min(shares) <= 0 or total > 1 or shares == [1]:
        raise InputError(
            f"shares {shares_text}: expected numbers above 0 that add up to 1, or to less (the rest is a side)"
        )
    return (*shares, 1 - total) if total < 1 else tuple(shares)


def sizes_of(n: int, shares: Sequence[Fraction]) -> Ints:
    """Divide `n` lines among the sides by their shares, rounded so that they add up (largest remainders first)."""
    exact = [n * share for share in shares]
    sizes = np.array([int(share) for share in exact], np.int64)
    sizes[sorted(range(len(shares)), key=lambda at: (-(exact[at] - int(exact[at])), at))[: n - int(sizes.sum())]] += 1
    return sizes


def stratify(groups: Ints, labels: Bools, shares: Sequence[Fraction], seed: int) -> Split:
    """Split lines by shares so that each side has its share of every label, and no group is on two sides.

    `groups` numbers the group of each line, `(n_lines,)`, from 0 without a gap, in an order that is not that of the
    lines; `labels`, `(n_lines, n_labels)`, says which each line has; `shares` add up to 1, and `seed` decides between
    what is equally good. Raises InputError for fewer groups than sides, or a share that comes to no line.
    """
    n_groups, n_sides = int(groups.max()) + 1 if len(groups) else 0, len(shares)
    if n_groups < n_sides:
        raise InputError(f"{n_groups:,} groups cannot be split into {n_sides} sides; each needs one at least")
    if not (target_sizes := sizes_of(len(groups), shares)).all():
        raise InputError(f"a share of {len(groups):,} lines is less than one line; give larger shares")
    rng = np.random.default_rng(seed)
    counts = np.zeros((n_groups, labels.shape[1] + 1), np.int64)
    np.add.at(counts, groups, np.column_stack([labels, np.ones(len(groups), np.bool_)]).astype(np.int64))
    targets = np.outer([float(share) for share in shares], counts.sum(axis=0))
    targets[:, -1] = target_sizes
    # What one line too many of each label weighs on each side: how far it moves the label distance; size comes first.
    sizes = targets[:, -1:]
    without = np.maximum(sizes - targets[:, :-1], 1)
    weights = np.column_stack([sizes / without**2 * sizes.mean(), np.full(n_sides, SIZE_WEIGHT)])
    side = _improve_by_swaps(counts, targets, weights, _assign_groups(counts, targets, rng), rng)
    sums = np.array([counts[side == at].sum(axis=0) for at in range(n_sides)])
    return Split(side[groups], sums[:, -1], target_sizes, np.bincount(side, minlength=n_sides), sums[:, :-1])


def _assign_groups(counts: Ints, targets: Floats, rng: np.random.Generator) -> Ints:
    """Deal the groups, those with the label first that fewest lines still wait for, to the side that lacks it most."""
    side = np.full(len(counts), -1, np.int64)
    lacks, waiting = targets.copy(), counts[:, :-1].sum(axis=0)
    order = rng.permutation(len(counts))
    while (remaining := np.flatnonzero(waiting > 0)).size:
        label = remaining[waiting[remaining].argmin()]
        for group in order[(side[order] < 0) & (counts[order, label] > 0)]:
            best = _neediest(lacks[:, label], lacks[:, -1], rng)
            side[group] = best
            lacks[best] -= counts[group]
            waiting -= counts[group, :-1]
    for group in order[side[order] < 0]:
        best = _neediest(lacks[:, -1], lacks[:, -1], rng)
        side[group] = best
        lacks[best] -= counts[group]
    for empty in np.flatnonzero(np.bincount(side, minlength=len(targets)) == 0):
        # Groups may be larger than a side: one that got none has the smallest that another can spare.
        spare = np.flatnonzero(np.bincount(side, minlength=len(targets))[side] > 1)
        side[spare[counts[spare, -1].argmin()]] = empty
    return side


def _neediest(first: Floats, then: Floats, rng: np.random.Generator) -> int:
    best = np.flatnonzero(first == first.max())
    best = best[then[best] == then[best].max()]
    return int(best[0] if len(best) == 1 else rng.choice(best))


def _improve_by_swaps(counts: Ints, targets: Floats, weights: Floats, side: Ints, rng: np.random.Generator) -> Ints:
    """Move or swap groups between sides, the best of all each time, until nothing lowers the weighted squares."""
    side, kinds = side.copy(), np.unique(counts, axis=0, return_inverse=True)[1].ravel()
    excess = np.array([counts[side == at].sum(axis=0) for at in range(len(targets))]) - targets
    pairs = [(side_a, side_b) for side_a in range(len(targets)) for side_b in range(side_a)]
    for _ in range(MOST_SWAPS):
        offers = []  # a group of each kind among those of a side; those with the same counts are of the same kind
        for at in range(len(targets)):
            drawn = rng.permutation(np.flatnonzero(side == at))
            offered = drawn[np.unique(kinds[drawn], return_index=True)[1]]
            offers.append(offered if len(offered) <= MOST_OFFERS else rng.choice(offered, MOST_OFFERS, replace=False))
        is_last = np.bincount(side, minlength=len(targets)) == 1
        candidates = [_best_swap(counts, weights, excess, offers, is_last, pair) for pair in pairs]
        loss, (side_a, side_b), groups_a, groups_b = min(candidates, key=lambda each: each[0])
        if loss > -LEAST_GAIN:
            break
        change = counts[groups_b].sum(axis=0) - counts[groups_a].sum(axis=0)
        side[groups_a], side[groups_b] = side_b, side_a
        excess[side_a] += change
        excess[side_b] -= change
    return side


def _best_swap(
    counts: Ints, weights: Floats, excess: Floats, offers: Sequence[Ints], is_last: Bools, pair: tuple[int, int]
) -> tuple[float, tuple[int, int], Ints, Ints]:
    """The best move or swap between two sides: what it adds to the squares, and what each side gives, a group or none.

    To exchange a for b changes the squares by pull.(b - a) + both.(b - a)^2, here for all a and b at once.
    """
    side_a, side_b = pair
    leaving, coming = (np.vstack([counts[offers[at]], np.zeros_like(counts[:1])]) for at in pair)  # the last is none
    pull = 2 * (weights[side_a] * excess[side_a] - weights[side_b] * excess[side_b])
    weight_sum = weights[side_a] + weights[side_b]
    loss = (leaving**2 @ weight_sum - leaving @ pull)[:, None] + (coming**2 @ weight_sum + coming @ pull)[None, :]
    loss -= 2 * (leaving * weight_sum) @ coming.T
    loss[:, -1] += np.inf if is_last[side_a] else 0  # the last group of a side may be swapped, not moved
    loss[-1] += np.inf if is_last[side_b] else 0
    loss[-1, -1] = 0
    a, b = divmod(int(loss.argmin()), loss.shape[1])
    return float(loss[a, b]), pair, offers[side_a][a : a + 1], offers[side_b][b : b + 1]


def label_distance(counts: Ints, sizes: Ints) -> float | None:
    """Distance of the sides from the whole in their labels; 0 is exact, and None where it is undefined.

    `counts`, `(n_sides, n_labels)`, are the lines with each label on each side, `sizes`, `(n_sides,)`, those of each
    side. LD of Sechidis et al. (2011), equation 4: the mean over labels of the mean over sides of the absolute
    difference of two odds, lines with the label by lines without it, on the side and in the whole. Undefined where
    there is no label, a side is empty, or all lines of a side have a label.
    """
    if not counts.size or not (without := sizes[:, None] - counts).all():
        return None
    odds, whole = counts / without, counts.sum(axis=0) / without.sum(axis=0)
    return float(np.abs(odds - whole).mean())
