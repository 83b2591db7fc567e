"""Novelty of texts against a set of others: 1 - the greatest Jaccard similarity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from fcpair.errors import InputError
from fcpair.texts.measures.base import NO_TOKEN, Floats, Measure, Values, fill_defined
from fcpair.texts.measures.measured_texts import TextTable
from fcpair.texts.measures.tokens import Case, Tokens, split_tokens

ROWS = 1024  # texts that are compared with all others at once


@dataclass(frozen=True)
class Novelty(Measure):
    """1 - the greatest Jaccard similarity of a text's distinct tokens with those of any text of a set, from 0 to 1.

    Wang and Wan 2018 (SentiGAN), https://doi.org/10.24963/ijcai.2018/618. The set is all references of the table, or a
    column of a file, such as what a model was trained on. A text that stands in the set itself has 0.
    """

    word: ClassVar[str] = "novelty"
    against: Literal["references"] | Path = "references"
    column: str = "text"
    tokens: Tokens = "words"
    case: Case = "lower"

    def check(self, table: TextTable) -> None:
        """Raise InputError where there is no set."""
        if self.against == "references" and table.references is None:
            raise InputError(
                f"{self.short_name} needs a set: columns of references, or novelty(against=FILE,column=NAME)"
            )

    def score_each(self, table: TextTable) -> Values:
        """From 0 to 1 for each text; undefined without a token, and where no text of the set has one."""
        texts, others = (
            self._tokens(table.texts),
            [token_set for token_set in self._tokens(self._others(table)) if token_set],
        )
        if not others:
            return self.undefined_everywhere(table, "no text of the set has a token")
        why = ["" if token_set else NO_TOKEN for token_set in texts]
        return fill_defined(why, 1 - _max_similarity([token_set for token_set in texts if token_set], others))

    def _others(self, table: TextTable) -> list[str]:
        if isinstance(self.against, Path):
            from fcpair.files.tables.tabular import read_table

            return list(read_table(self.against, [self.column], verbatim=True)[self.column])
        return [one for of in table.references or () for one in of]

    def _tokens(self, texts: Iterable[str]) -> list[frozenset[str]]:
        return [frozenset(split_tokens(text, self.tokens, self.case)) for text in texts]


def _max_similarity(texts: Sequence[frozenset[str]], others: Sequence[frozenset[str]]) -> Floats:
    """The greatest Jaccard similarity of each text with one of the others, shape `(n_texts,)`."""
    from scipy.sparse import csr_array

    others = list(dict.fromkeys(others))
    at = {token: number for number, token in enumerate(sorted({token for one in (*texts, *others) for token in one}))}

    def incidence(sets: Sequence[frozenset[str]]) -> csr_array:
        starts = np.cumsum([0, *map(len, sets)])
        columns = np.array([at[token] for one in sets for token in one], np.int64)
        return csr_array((np.ones(len(columns)), columns, starts), shape=(len(sets), len(at)))

    whole, sizes = incidence(others).T.tocsc(), np.array(list(map(len, others)))
    similarities = np.zeros(len(texts))
    for start in range(0, len(texts), ROWS):
        block = texts[start : start + ROWS]
        shared = (incidence(block) @ whole).toarray()
        union = np.array(list(map(len, block)))[:, None] + sizes - shared
        similarities[start : start + ROWS] = (shared / union).max(axis=1)
    return similarities
