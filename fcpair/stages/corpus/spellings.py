"""Spellings: texts that differ from an earlier one by nothing that counts, or have nearly the same vector."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

from fcpair.arrays import Ints, Vectors
from fcpair.stages.corpus.nearest_neighbours import COLUMNS, DECIMALS, ROWS
from fcpair.stages.corpus.text_identity import Folding, fold_by

_QUOTES = dict.fromkeys(map(ord, "\"'`´‘’‚‛“”„‟«»‹›′″‴ʼ＂＇「」『』"))
_UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp")  # controls, what has no width, spaces
_SELECTORS = {"\u034f", *map(chr, range(0xFE00, 0xFE10))}  # of how the sign before them is drawn


class _Seen(dict[int, int | None]):
    """What `translate` puts in place of a sign: itself where it is seen, else nothing."""

    def __missing__(self, code: int) -> int | None:
        is_hidden = unicodedata.category(chr(code)) in _UNSEEN or chr(code) in _SELECTORS
        return self.setdefault(code, None if is_hidden else code)


_SEEN = _Seen(_QUOTES)


def fold_spelling(text: str, folding: Folding = "none") -> str:
    """Fold what two spellings of one text may differ in: case, spaces, quotes, invisible signs, the form of Unicode
    (NFKC), and what the study folds. Folding again changes nothing.
    """
    folded = fold_by(folding)(unicodedata.normalize("NFKC", text.translate(_QUOTES))).casefold()
    return unicodedata.normalize("NFKC", folded.translate(_SEEN))


def first_spellings(
    bodies: Sequence[str], folding: Folding = "none", vectors: Vectors | None = None, least: float = 1.0
) -> Ints:
    """The place of the text of which each is a spelling, `(n_texts,)`; its own where it is none.

    That is the first text with the same fold; with `vectors` (unit, by text), of these the first that is no spelling
    itself and whose cosine with it, to six decimals, is at `least` so much: none is a spelling by way of another.
    """
    keys = np.array([fold_spelling(body, folding) for body in bodies], object)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    of_key = first[place]
    if vectors is None:
        return of_key
    distinct = np.flatnonzero(of_key == np.arange(len(of_key)))
    # Every two vectors whose cosine is at `least` so much: the places of the earlier ones, and of the later.
    exact, parts = vectors[distinct].astype(np.float64), [np.empty((2, 0), np.int64)]
    for start in range(0, len(exact), ROWS):
        rows = exact[start : start + ROWS]
        for column in range(0, start + len(rows), COLUMNS):
            later, earlier = np.nonzero(np.round(rows @ exact[column : column + COLUMNS].T, DECIMALS) >= least)
            pairs = np.stack([earlier + column, later + start])
            parts.append(pairs[:, pairs[0] < pairs[1]])
    earlier, later = np.concatenate(parts, axis=1)
    leaders = _leaders(earlier, later, len(distinct))
    return distinct[leaders][np.searchsorted(distinct, of_key)]


def _leaders(earlier: Ints, later: Ints, n: int) -> Ints:
    """The leader of each of `n`: the first of those earlier ones paired with it that lead themselves, else itself."""
    leaders, own = np.full(n, -1), np.arange(n)
    while (is_open := leaders < 0).any():
        waits = np.zeros(n, bool)
        waits[later[is_open[earlier]]] = True
        best, leads = np.full(n, n), leaders[earlier] == earlier
        np.minimum.at(best, later[leads], earlier[leads])
        leaders = np.where(is_open & ~waits, np.where(best < n, best, own), leaders)
    return leaders
