"""The systems by their names, and those that need nothing but texts: random, tfidf, bm25, sbert."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError
from fcpair.evaluate.bm25 import Variant, bm25_scores
from fcpair.evaluate.ranking import Ranking, Search, System, cosines, ordered
from fcpair.files.corpus.corpus import CN, read_side
from fcpair.models.encode import encode
from fcpair.models.model_files import resolve
from fcpair.stages.corpus.nearest import DECIMALS
from fcpair.stages.corpus.text_identity import identity

ONE_DRAW = "figures and Kendall's tau take the exact expectation, and tests one draw; tables have both"
# An order must have nothing to do with what else was drawn from the same seed, such as simulated labels.
_STREAM = int.from_bytes(b"random")
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True)
class Random(System):
    """A random order of the pool for each HS, by seed."""

    word: ClassVar[str] = "random"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise InputError(f"seed is {self.seed}; expected a whole number, 0 or more")

    def rank(self, search: Search) -> Ranking:
        """Rank the pool by numbers drawn for each CN; an HS has the same ones whatever other HS there are."""
        drawn = [np.random.default_rng([self.seed, _STREAM, hs]).random(len(search.cn)) for hs in search.hs_ids]
        return Ranking(*ordered(np.stack(drawn)), notes=(ONE_DRAW,))


@dataclass(frozen=True)
class Tfidf(System):
    """Cosine of TF-IDF vectors (scikit-learn's TfidfVectorizer as it comes).

    Vocabulary and document frequencies are fitted on the pool, on the pool and the HS, or on the CNs of a file, where
    a repeated text counts as often as it stands there.
    """

    word: ClassVar[str] = "tfidf"
    fit: Literal["pool", "pool+hs"] | Path = "pool"

    def rank(self, search: Search) -> Ranking:
        """Rank the pool by the cosine of each HS and CN."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts, vectorizer = self._texts(search), TfidfVectorizer()
        if not any(map(vectorizer.build_analyzer(), texts)):
            raise InputError(f"{self}: no text has a token")
        fitted = vectorizer.fit(texts)
        cosine = np.round((fitted.transform(search.hs) @ fitted.transform(search.cn).T).toarray(), DECIMALS)
        return Ranking(*ordered(cosine), notes=_without_match(cosine.any(axis=1)))

    def _texts(self, search: Search) -> list[str]:
        if isinstance(self.fit, Path):
            return list(read_side(self.fit, CN)[CN])
        return [*search.cn, *search.hs] if self.fit == "pool+hs" else list(search.cn)


@dataclass(frozen=True)
class Bm25(System):
    """BM25 (Robertson and Zaragoza 2009, https://doi.org/10.1561/1500000019) in the variant that is asked for.

    The variants are those of `fcpair.evaluate.bm25.bm25_scores`. `tokens` are what white space separates, or runs of
    letters, digits and underscores. Document frequencies and the mean length come from the pool, or from the CNs of a
    file, where a repeated text counts as often as it stands there, together with those texts of the pool that the file
    lacks.
    """

    word: ClassVar[str] = "bm25"
    k1: float = 1.5
    b: float = 0.75
    variant: Variant = "lucene"
    tokens: Literal["words", "space"] = "words"
    lower: bool = True
    fit: Literal["pool"] | Path = "pool"

    def __post_init__(self) -> None:
        if not 0 <= self.k1 < float("inf"):
            raise InputError(f"k1 is {self.k1}; expected a number, 0 or more")
        if not 0 <= self.b <= 1:
            raise InputError(f"b is {self.b}; expected a number from 0 to 1")
        if not self.k1 and self.variant in {"bm25l", "bm25plus"}:
            raise InputError(f"k1 is 0; `{self.variant}` needs a number above 0")

    def rank(self, search: Search) -> Ranking:
        """Rank the pool by the BM25 score of each CN, with the HS as the query."""
        texts, rows = self._corpus(search)
        tokens = [self._tokens(text) for text in texts]
        if not any(tokens):
            raise InputError(f"{self}: no text has a token")
        queries = [self._tokens(text) for text in search.hs]
        scores = np.round(bm25_scores(tokens, queries, self.variant, self.k1, self.b)[:, rows], DECIMALS)
        there = {token for row in rows for token in tokens[row]}
        return Ranking(*ordered(scores), notes=_without_match([not there.isdisjoint(query) for query in queries]))

    def _corpus(self, search: Search) -> tuple[list[str], NDArray[np.int64]]:
        """The texts that the statistics come from, and where each text of the pool stands among them."""
        there = list(read_side(self.fit, CN)[CN]) if isinstance(self.fit, Path) else []
        at = {identity(text): row for row, text in enumerate(there)}
        new = [text for text in search.cn if identity(text) not in at]
        at |= {identity(text): row for row, text in enumerate(new, len(there))}
        return [*there, *new], np.array([at[identity(text)] for text in search.cn])

    def _tokens(self, text: str) -> list[str]:
        text = text.lower() if self.lower else text
        return text.split() if self.tokens == "space" else _WORDS.findall(text)


def _without_match(shares_one: Sequence[bool] | NDArray[np.bool_]) -> tuple[str, ...]:
    """A note where HS share no word with any CN, so that nothing but candidate order ranks for them."""
    n = len(shares_one) - int(sum(shares_one))
    return (f"{n} of {len(shares_one)} HS share no word with any CN: candidate order ranks for them",) if n else ()


@dataclass(frozen=True)
class Sbert(System):
    """Cosine of a sentence-transformers model's embeddings (Reimers and Gurevych 2019,
    https://doi.org/10.18653/v1/D19-1410).
    """

    word: ClassVar[str] = "sbert"
    of: str

    def rank(self, search: Search) -> Ranking:
        """Rank the pool by the cosine of each HS and CN; raises ModelError when the model cannot be had."""
        model = resolve(self.of)
        vectors = encode([*search.hs, *search.cn], model, search.progress)
        return Ranking(*ordered(cosines(vectors[: len(search.hs)], vectors[len(search.hs) :])), model=model.record())
