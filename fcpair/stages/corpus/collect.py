"""Collecting the texts of a side from a source: which rows are left out, and which are drawn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from fcpair.arrays import Bools, Ints
from fcpair.errors import InputError

_SEPARATORS = re.compile("[;,]")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def labelled_by_majority(labels: Sequence[str], without: Collection[str]) -> Bools:
    """Which rows more than half of the people gave a label that is among `without`, shape `(n_rows,)`.

    `labels` has one cell for each row, with what every person said of it, separated by semicolons or commas. With as
    many labels for it as against it a row stays, as does one without labels. Capitals make no difference.
    """
    excluded = {label.casefold() for label in without}
    is_excluded = []
    for cell in labels:
        row_labels = [label.strip().casefold() for label in _SEPARATORS.split(cell) if label.strip()]
        is_excluded.append(2 * sum(label in excluded for label in row_labels) > len(row_labels))
    return np.array(is_excluded, np.bool_)


def have_many_slurs(texts: Sequence[str], slurs: Collection[str], least_other_words: int) -> Bools:
    """Which texts have a slur and fewer than `least_other_words` words that are none, shape `(n_texts,)`.

    CrowdCounter leaves such texts out (Saha et al. 2024, section 3.1, with ten words). A word is a run of letters and
    digits, with apostrophes and hyphens inside it; capitals make no difference.
    """
    slur_words = {one.strip().casefold() for one in slurs if one.strip()}
    has_many = []
    for text in texts:
        words = [word.casefold() for word in _WORD.findall(text)]
        n_slurs = sum(word in slur_words for word in words)
        has_many.append(n_slurs > 0 and len(words) - n_slurs < least_other_words)
    return np.array(has_many, np.bool_)


def draw_rows(
    groups: Sequence[str], order: Ints, quota: Mapping[str, int], per_group: int | None, n: int | None, seed: int
) -> Bools:
    """Which rows are drawn by `seed`, shape `(n_rows,)`; all where nothing limits them.

    Args:
        groups: the group of each row.
        order: of the rows, from `own_order`.
        quota: how many rows of a group to draw; of a group that it does not name none, where it names any.
        per_group: how many rows of every group to draw.
        n: how many rows to draw, of what the quotas leave.
        seed: of the draw.

    Raises:
        InputError: a quota that cannot be reached, or too few rows; it says what each group has.
    """
    rng, group_of_row = np.random.default_rng(seed), np.array(groups, object)
    chance = np.empty(len(order), np.int64)
    chance[order] = rng.permutation(len(order))
    quotas = dict(quota) or ({} if per_group is None else dict.fromkeys(sorted(set(groups)), per_group))
    drawn = np.zeros(len(group_of_row), np.bool_) if quotas else np.ones(len(group_of_row), np.bool_)
    has = Counter(groups)
    if short := [f"{name} ({has[name]:,} of {n_of:,})" for name, n_of in quotas.items() if has[name] < n_of]:
        sizes = ", ".join(f"{name or 'no group'} {n_there:,}" for name, n_there in sorted(has.items()))
        raise InputError(f"quotas that cannot be reached: {', '.join(short)}; the groups have {sizes or 'nothing'}")
    for name, n_of in quotas.items():
        members = np.flatnonzero(group_of_row == name)
        drawn[members[np.argsort(chance[members])[:n_of]]] = True
    if n is None:
        return drawn
    remaining = np.flatnonzero(drawn)
    if n > len(remaining):
        raise InputError(f"{n:,} texts cannot be drawn; there are {len(remaining):,}; lower `sample`")
    is_final = np.zeros(len(group_of_row), np.bool_)
    is_final[remaining[np.argsort(chance[remaining])[:n]]] = True
    return is_final


def even_shares(n_pairs: int, at_most: int = 30) -> tuple[int, ...]:
    """The numbers of annotators, from 2 to `at_most`, who would each get equally many of `n_pairs`."""
    return tuple(n for n in range(2, at_most + 1) if n_pairs and n_pairs % n == 0)
