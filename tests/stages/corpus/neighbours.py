"""Neighbours as a table, in one step."""

from __future__ import annotations

import pandas as pd

from fcpair.arrays import Ints, Vectors
from fcpair.params import MEMORY_MB
from fcpair.stages.corpus.retrieve import nearest_to, neighbour_table


def neighbours(
    vectors: Vectors, sources: Ints, k: int, copies: Ints | None = None, memory_mb: int = MEMORY_MB
) -> pd.DataFrame:
    """The `k` nearest texts of each source text, never the text itself."""
    return neighbour_table(nearest_to(vectors, sources, k, memory_mb), sources, k, copies)
