"""Disputes by text: on how many of the pairs of a row or a column people disagree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
SIDE_COLUMNS = {"row": "hs_id", "column": "cn_id"}


@dataclass(frozen=True)
class TextDispute:
    """A text of which `disputed` pairs, by id, have labels that differ, of `n` that have two labels or more."""

    text_id: int
    n: int
    disputed: tuple[int, ...]


def most_disputed(labels: Mapping[str, Ints], by: str, most: int) -> tuple[list[TextDispute], int]:
    """The texts of one side with most disputed pairs, at most so many; and how many texts have any.

    `labels` has one entry for each label that counts: `cell_id`, `hs_id`, `cn_id` and `code`. A pair is disputed when
    it has two labels or more that are not all alike. The number decides, and not the share, which one pair can make
    complete; of equal numbers the higher share comes first, then the lower id.
    """
    cell_id, first, inverse, n_labels = np.unique(
        labels["cell_id"], return_index=True, return_inverse=True, return_counts=True
    )
    lowest, highest = np.full(len(cell_id), np.iinfo(np.int64).max), np.full(len(cell_id), -1)
    np.minimum.at(lowest, inverse, labels["code"])
    np.maximum.at(highest, inverse, labels["code"])
    shared, disputed = n_labels > 1, lowest != highest
    text_ids, place = np.unique(labels[SIDE_COLUMNS[by]][first], return_inverse=True)
    n_shared = np.bincount(place[shared], minlength=len(text_ids))
    n_disputed = np.bincount(place[disputed], minlength=len(text_ids))
    share = n_disputed / np.maximum(n_shared, 1)
    order = [at for at in np.lexsort((text_ids, -share, -n_disputed)).tolist() if n_disputed[at]]
    disputes = [
        TextDispute(int(text_ids[at]), int(n_shared[at]), tuple(cell_id[disputed & (place == at)].tolist()))
        for at in order[:most]
    ]
    return disputes, len(order)
