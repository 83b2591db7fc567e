"""Choosing HS, and bringing in candidates: the nearest neighbours of the CNs that the corpus pairs with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from unicodedata import name

import numpy as np

from fcpair.arrays import Ints, Vectors
from fcpair.errors import InputError
from fcpair.lazy import pd
from fcpair.params import MEMORY_MB
from fcpair.stages.corpus.nearest_neighbours import Blocks, Neighbours, nearest_neighbours, stack_parts

COPIED_ROWS = 8192  # source vectors at once, which stand among all others


def non_english_note(bodies: Iterable[str], languages: Iterable[str]) -> str | None:
    """In what way most texts are not English, as far as one can see: their language, or their script; None if not.

    `languages` are those that the corpus names, one for each text, empty where it names none.
    """
    n_by_language = Counter(languages)
    language, n = n_by_language.most_common(1)[0] if n_by_language else ("", 0)
    if language and 2 * n > n_by_language.total():
        return None if language.lower().startswith("en") else f"is in the language `{language}`"
    letters = Counter(name(letter, "").startswith("LATIN") for body in bodies for letter in body if letter.isalpha())
    return "is written in another script than Latin" if letters[False] > letters[True] else None


def check_k(k: int) -> None:
    """Raise InputError unless `k` neighbours can be asked for."""
    if k < 1:
        raise InputError(f"k is {k}; at least 1 neighbour is needed")


def nearest_to(
    vectors: Vectors,
    sources: Ints,
    k: int,
    memory_mb: int = MEMORY_MB,
    progress: Callable[[int, int], None] | None = None,
) -> Neighbours:
    """Positions and cosines of the `k` texts nearest to each source, each of shape `(n_sources, places)`.

    `places` is `k`, or the number of other texts where there are fewer. `progress(done, total)` counts sources.
    """
    places = min(k, len(vectors) - 1)
    if not places:
        return stack_parts([], 0)
    blocks, parts = Blocks.fit_memory(memory_mb, places), []
    for at in range(0, len(sources), COPIED_ROWS):
        rows = sources[at : at + COPIED_ROWS]
        parts.append(nearest_neighbours(vectors[rows], vectors, rows, places, blocks))
        if progress:
            progress(at + len(rows), len(sources))
    return stack_parts(parts, places)


def neighbour_table(neighbour_arrays: Neighbours, sources: Ints, k: int, copies: Ints | None = None) -> pd.DataFrame:
    """The nearest texts of each source text as a table.

    Args:
        neighbour_arrays: positions and cosines, nearest first, each of shape `(n_sources, places)`.
        sources: positions of the source texts, shape `(n_sources,)`.
        k: how many neighbours were asked for.
        copies: how many corpus rows hold each text, shape `(n_texts,)`. Where it is given, neighbours are counted
            over rows: a text that stands in three rows fills three of the `k` places (FC-CONAN counts so).

    Returns:
        One row per source and neighbour, nearest first: `source`, `cn` (positions), `rank` (from 1, of distinct
        texts), `score` (cosine, -1 to 1, to six decimals). Ties are broken by corpus order.
    """
    cn, score = neighbour_arrays
    rank = np.broadcast_to(np.arange(1, cn.shape[1] + 1), cn.shape)
    is_counted = np.ones(cn.shape, bool) if copies is None else np.cumsum(copies[cn], axis=1) - copies[cn] < k
    source = np.broadcast_to(sources[: len(cn), None], cn.shape)
    return pd.DataFrame(
        {"source": source[is_counted], "cn": cn[is_counted], "rank": rank[is_counted], "score": score[is_counted]}
    )


def candidate_positions(neighbour_rows: pd.DataFrame, sources: Ints) -> Ints:
    """The positions of all neighbours in `neighbour_rows` that are no source text, ascending."""
    return np.setdiff1d(neighbour_rows["cn"].to_numpy(), sources)
