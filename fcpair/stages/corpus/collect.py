"""Collecting the texts of a side from a source: which rows are left out, and which are drawn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError

Bools = NDArray[np.bool_]
_BETWEEN = re.compile("[;,]")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def by_majority(labels: Sequence[str], without: Collection[str]) -> Bools:
    """Which rows more than half of the people gave a label that is among `without`, shape `(n_rows,)`.

    `labels` has one cell for each row, with what every person said of it, separated by semicolons or commas. With as
    many labels for it as against it a row stays, as does one without labels. Capitals make no difference.
    """
    named = {one.casefold() for one in without}
    found = []
    for cell in labels:
        said = [one.strip().casefold() for one in _BETWEEN.split(cell) if one.strip()]
        found.append(2 * sum(one in named for one in said) > len(said))
    return np.array(found, np.bool_)


def with_many_slurs(texts: Sequence[str], slurs: Collection[str], least_other_words: int) -> Bools:
    """Which texts have a slur and fewer than `least_other_words` words that are none, shape `(n_texts,)`.

    CrowdCounter leaves such texts out (Saha et al. 2024, section 3.1, with ten words). A word is a run of letters and
    digits, with apostrophes and hyphens inside it; capitals make no difference.
    """
    listed = {one.strip().casefold() for one in slurs if one.strip()}
    found = []
    for text in texts:
        words = [word.casefold() for word in _WORD.findall(text)]
        n_slurs = sum(word in listed for word in words)
        found.append(n_slurs > 0 and len(words) - n_slurs < least_other_words)
    return np.array(found, np.bool_)


def draw(groups: Sequence[str], quota: Mapping[str, int], per_group: int | None, n: int | None, seed: int) -> Bools:
    """Which rows are drawn by `seed`, shape `(n_rows,)`; all where nothing limits them.

    Args:
        groups: the group of each row.
        quota: how many rows of a group to draw; of a group that it does not name none, where it names any.
        per_group: how many rows of every group to draw.
        n: how many rows to draw, of what the quotas leave.
        seed: of the draw.

    Raises:
        InputError: a quota that cannot be reached, or too few rows; it says what each group has.
    """
    rng, there = np.random.default_rng(seed), np.array(groups, object)
    chance = rng.permutation(len(there))
    wanted = dict(quota) or ({} if per_group is None else dict.fromkeys(sorted(set(groups)), per_group))
    drawn = np.zeros(len(there), np.bool_) if wanted else np.ones(len(there), np.bool_)
    has = Counter(groups)
    if short := [f"{name} ({has[name]:,} of {n_of:,})" for name, n_of in wanted.items() if has[name] < n_of]:
        told = ", ".join(f"{name or 'no group'} {n_there:,}" for name, n_there in sorted(has.items()))
        raise InputError(f"quotas that cannot be reached: {', '.join(short)}; the groups have {told or 'nothing'}")
    for name, n_of in wanted.items():
        own = np.flatnonzero(there == name)
        drawn[own[np.argsort(chance[own])[:n_of]]] = True
    if n is None:
        return drawn
    left = np.flatnonzero(drawn)
    if n > len(left):
        raise InputError(f"{n:,} texts are to be drawn, but there are {len(left):,}; lower `sample`")
    found = np.zeros(len(there), np.bool_)
    found[left[np.argsort(chance[left])[:n]]] = True
    return found
