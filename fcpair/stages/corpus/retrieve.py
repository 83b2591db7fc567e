"""Choosing texts: rows of a source that are left out and drawn, the nearest neighbours of CNs that become candidates,
and those of a row that are examples for a model.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np

from fcpair.arrays import Bools, Ints, Vectors
from fcpair.errors import InputError
from fcpair.lazy import pd
from fcpair.params import MEMORY_MB
from fcpair.stages.corpus.nearest_neighbours import NO_NEIGHBOUR, Blocks, Neighbours, nearest_neighbours, stack_parts
from fcpair.stages.corpus.text_identity import identity

_SEPARATORS = re.compile("[;,]")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def labelled_by_majority(labels: Sequence[str], without: Collection[str]) -> Bools:
    """Mask of rows to which more than half of the people gave a label that is among `without`, shape `(n_rows,)`.
    `labels` has for each row what every person said of it, separated by semicolons or commas.
    """
    excluded = {label.casefold() for label in without}
    rows = ([label.strip().casefold() for label in _SEPARATORS.split(cell) if label.strip()] for cell in labels)
    return np.array([2 * sum(label in excluded for label in row) > len(row) for row in rows], np.bool_)


def have_many_slurs(texts: Sequence[str], slurs: Collection[str], least_other_words: int) -> Bools:
    """Mask of texts that have a slur and fewer than `least_other_words` words that are none, shape `(n_texts,)`;
    CrowdCounter leaves such texts out (Saha et al. 2024, section 3.1). Capitals make no difference.
    """
    slur_words = {slur.strip().casefold() for slur in slurs if slur.strip()}
    is_slur = ([word.casefold() in slur_words for word in _WORD.findall(text)] for text in texts)
    return np.array([any(words) and words.count(False) < least_other_words for words in is_slur], np.bool_)


def draw_rows(
    groups: Sequence[str], order: Ints, quota: Mapping[str, int], per_group: int | None, n: int | None, seed: int
) -> Bools:
    """Mask of the rows that are drawn by `seed`, shape `(n_rows,)`; all where nothing limits them.

    `groups` has the group of each row, `order` is from `own_order`. `quota` says how many rows of a group to draw (none
    of others), `per_group` how many of every group, `n` how many of what these leave. Raises InputError for a quota
    that cannot be reached, saying what each group has, or too few rows.
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


COPIED_ROWS = 8192  # source vectors at once, which stand among all others


def non_english_note(bodies: Iterable[str], languages: Iterable[str]) -> str | None:
    """In what way most texts are not English: their language, as the corpus names it, or their script; None if not."""
    n_by_language = Counter(languages)
    language, n = n_by_language.most_common(1)[0] if n_by_language else ("", 0)
    if language and 2 * n > n_by_language.total():
        return None if language.lower().startswith("en") else f"is in the language `{language}`"
    letters = Counter(
        unicodedata.name(letter, "").startswith("LATIN") for body in bodies for letter in body if letter.isalpha()
    )
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
    """Positions and cosines of the `k` texts nearest to each source, `(n_sources, k)`, or of all others."""
    if not (places := min(k, len(vectors) - 1)):
        return stack_parts([], 0)
    blocks, parts = Blocks.fit_memory(memory_mb, places), []
    for at in range(0, len(sources), COPIED_ROWS):
        rows = sources[at : at + COPIED_ROWS]
        parts.append(nearest_neighbours(vectors[rows], vectors, rows, places, blocks))
        if progress:
            progress(at + len(rows), len(sources))
    return stack_parts(parts, places)


def neighbour_table(neighbour_arrays: Neighbours, sources: Ints, k: int, copies: Ints | None = None) -> pd.DataFrame:
    """The nearest texts of each source text as a table, from positions and cosines of shape `(n_sources, places)`.

    Where `copies`, `(n_texts,)`, says how many corpus rows hold each text, neighbours are counted over rows, as
    FC-CONAN does. Returns one row per source and neighbour, nearest first: `source`, `cn` (positions), `rank` (from 1,
    of distinct texts), `score` (cosine, -1 to 1, to six decimals).
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


def nearest_examples(
    rows: tuple[Sequence[str], Vectors],
    others: tuple[Sequence[str], Vectors],
    n: int,
    fold: Callable[[str], str] = str,
) -> Neighbours:
    """The `n` others nearest to each row by cosine similarity, nearest first; ties by their order.

    `rows` and `others` are texts and their unit vectors, `(n_texts, dimension)`. None is the same text as the row, and
    no two are the same, by their identity once they are folded (`fold`). Returns positions of others, and cosines to
    six decimals, `(n_rows, n)`; -1 (`NO_NEIGHBOUR`) and -inf behind if there are fewer.
    """
    first: dict[str, int] = {}
    for at, text in enumerate(others[0]):
        first.setdefault(identity(fold(text)), at)
    place = {text: at for at, text in enumerate(first)}
    own_place = np.array([place.get(identity(fold(text)), NO_NEIGHBOUR) for text in rows[0]], np.int64)
    distinct = np.fromiter(first.values(), np.int64, len(first))
    neighbours, score = nearest_neighbours(rows[1], others[1][distinct], own_place, n, Blocks.fit_memory(MEMORY_MB, n))
    return np.where(neighbours == NO_NEIGHBOUR, NO_NEIGHBOUR, distinct[neighbours]), score
