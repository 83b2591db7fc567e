"""Figures of the blocks of a grid that was extended, and whether blocks differ more than chance allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from fcpair.arrays import Bools, Floats, Ints
from fcpair.blocks import Blocks
from fcpair.notebook import Result
from fcpair.sentences import Sentence, Written, mark, say, say_number
from fcpair.stages.stats.group_differences import ALPHA, PermutationTest, draw_until_sure, least_p
from fcpair.stages.stats.paired_tests import holm

AGREEMENT, POSITIVE = mark("raw agreement"), mark("share of positive labels")


@dataclass(frozen=True)
class Block:
    """A block, by its number from 1: the texts that it brought (`hs`, `cn`) and its `pairs`; those `labelled`, those
    with two labels or more (`overlapped`), the share of agreeing labels of these (`agreement`), Krippendorff's `alpha`
    and its interval; the pairs `decided` for a label, and the share of `positive` ones. What is undefined is None.
    """

    block: int
    added: str
    hs: int
    cn: int
    pairs: int
    labelled: int
    overlapped: int
    agreement: float | None
    alpha: float | None
    low: float | None
    high: float | None
    decided: int
    positive: float | None


@dataclass(frozen=True)
class BlockDifference:
    """A figure on the new texts of a block's side (`n_new` of them) and on those that were there (`n_old`), the other
    side's being the same. `p`, two-sided, is of texts put into the block otherwise, `p_holm` corrected over all
    differences of the grid; both are None where `undefined` says why.
    """

    block: int
    side: str
    figure: str
    n_new: int
    n_old: int
    new: float | None
    old: float | None
    p: float | None = None
    p_holm: float | None = None
    undefined: str | None = None


@dataclass(frozen=True, repr=False)
class BlockFigures(Result):
    """Figures of each block, and the differences between each one and what was there before it."""

    blocks: tuple[Block, ...]
    differences: tuple[BlockDifference, ...]

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each block."""
        return map(asdict, self.blocks)

    def _summary(self) -> str:
        return f"{len(self.blocks)}, {self.verdict}"

    @property
    def verdict(self) -> Sentence:
        """Whether blocks differ more than chance allows, in a sentence."""
        tested = [difference for difference in self.differences if difference.p_holm is not None]
        if not tested:
            return say("whether they differ is undefined, because too few texts were added, or have labels")
        least = min(float(difference.p_holm or 0) for difference in tested)
        differ = mark("they differ more than chance allows (smallest of %(n)s p-values after Holm: %(p)s)")
        alike = mark("they do not differ more than chance allows (smallest of %(n)s p-values after Holm: %(p)s)")
        return say(differ if least < ALPHA else alike, n=len(tested), p=Written(f"{least:.3f}"))


def compare_blocks(
    blocks: Blocks, place: Ints, values: Mapping[str, Floats], names: tuple[str, str], seed: int = 0
) -> tuple[BlockDifference, ...]:
    """Compare the new texts of each block with those that were there, on each side and by each figure.

    `place`, `(n_pairs,)`, is that of each pair in the product of both sides, `values`, by the name of the figure, what
    each pair contributes to its mean, NaN where nothing. New rows are compared on the columns that were there, and new
    columns on the rows that were there, so that what differs is one side alone. Texts, not pairs, are put into the
    block otherwise, because pairs of one text go together: `PermutationTest`.
    """
    found: list[tuple[BlockDifference, PermutationTest | None]] = []
    at = np.divmod(place, max(blocks.shapes[-1][1], 1))
    for number in range(2, len(blocks.shapes) + 1):
        old_shape, new_shape = blocks.shapes[number - 2 : number]
        for side, name in enumerate(names):
            if new_shape[side] == old_shape[side]:
                continue
            inside = (at[side] < new_shape[side]) & (at[1 - side] < old_shape[1 - side])
            for figure, value in values.items():
                meant = inside & ~np.isnan(value)
                found.append(_compare(number, name, figure, at[side][meant], old_shape[side], value[meant], seed))
    tests = [test for _, test in found if test]
    draw_until_sure(tests)
    corrected = iter(zip([test.p for test in tests], holm(np.array([test.p for test in tests])), strict=True))
    differences = []
    for difference, test in found:
        p, p_holm = next(corrected) if test else (None, None)
        differences.append(replace(difference, p=p, p_holm=None if p_holm is None else float(p_holm)))
    return tuple(differences)


def _compare(
    block: int, side: str, figure: str, text: Ints, n_before: int, value: Floats, seed: int
) -> tuple[BlockDifference, PermutationTest | None]:
    texts, cluster = np.unique(text, return_inverse=True)
    is_new: Bools = text >= n_before
    n_new = int((texts >= n_before).sum())
    n_old = len(texts) - n_new
    new, old = (float(value[of].mean()) if of.any() else None for of in (is_new, ~is_new))
    difference = BlockDifference(block, side, figure, n_new, n_old, new, old)
    if not (n_new and n_old) or least_p(n_new, n_old)[1] >= ALPHA:
        why = say_number(
            "%(n)s new text with such pairs is too few beside %(old)s for any difference to show",
            "%(n)s new texts with such pairs are too few beside %(old)s for any difference to show",
            n_new,
            old=n_old,
        )
        return replace(difference, undefined=why), None
    if np.ptp(value) == 0:
        return replace(difference, undefined=mark("all pairs are alike, so there is nothing to compare")), None
    return difference, PermutationTest(value, is_new, cluster, seed)


def agreeing_shares(counts: Ints) -> Floats:
    """Share of agreeing ones among the pairs of labels of each cell, from its `counts` of each label, `(n, n_labels)`;
    NaN for fewer than two labels.
    """
    n = counts.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(n > 1, (counts * (counts - 1)).sum(axis=1) / (n * (n - 1)), np.nan))
