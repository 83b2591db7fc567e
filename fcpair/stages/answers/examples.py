"""Which written texts are shown to a model with a row: answers to the texts that are nearest to it, and how they look.

A row never has an answer to itself among its examples: a model would be shown what it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from fcpair.arrays import Vectors
from fcpair.params import MEMORY_MB
from fcpair.stages.corpus.nearest_neighbours import NO_NEIGHBOUR, Blocks, Neighbours, nearest_neighbours
from fcpair.stages.corpus.text_identity import identity

Fold = Callable[[str], str]
SEPARATOR = "\n\n"


def nearest_examples(
    rows: tuple[Sequence[str], Vectors],
    others: tuple[Sequence[str], Vectors],
    n: int,
    fold: Fold = str,
    memory_mb: int = MEMORY_MB,
) -> Neighbours:
    """The `n` of the other texts that are nearest to each row by cosine similarity, nearest first; ties by their order.

    None of them is the same text as the row, and no two are the same text: what they share then is their identity
    (`text_identity.identity`) once they are folded. Of the others that are the same, the first is taken.

    Args:
        rows: texts, and their unit vectors, shape `(n_rows, dimension)`.
        others: texts, and their unit vectors, shape `(n_others, dimension)`.
        n: how many a row has, 1 or more.
        fold: what spellings are folded by before they are compared.
        memory_mb: how much memory the comparing may take; it changes nothing in what is found.

    Returns:
        Positions of others, and cosines to six decimals, each of shape `(n_rows, n)`. Where there are fewer that can be
        taken, rows end with the position -1 (`NOBODY`) and the cosine -inf.
    """
    first: dict[str, int] = {}
    for at, text in enumerate(others[0]):
        first.setdefault(identity(fold(text)), at)
    place = {text: at for at, text in enumerate(first)}
    own_place = np.array([place.get(identity(fold(text)), NO_NEIGHBOUR) for text in rows[0]], np.int64)
    distinct = np.fromiter(first.values(), np.int64, len(first))
    neighbours, score = nearest_neighbours(rows[1], others[1][distinct], own_place, n, Blocks.fit_memory(memory_mb, n))
    return np.where(neighbours == NO_NEIGHBOUR, NO_NEIGHBOUR, distinct[neighbours]), score


def format_examples(examples: Iterable[tuple[str, str, str]]) -> str:
    """Examples as a prompt has them: of each the text, the answer to it and its type, a line each, in their order.

    Examples are parted by an empty line. Runs of white space become one space, so that no text can begin a line of its
    own. Without any example it is empty.
    """
    names = ("Hate speech", "Counter-narrative", "Type")
    return SEPARATOR.join(
        "\n".join(f"{name}: {' '.join(text.split())}" for name, text in zip(names, example, strict=True))
        for example in examples
    )
