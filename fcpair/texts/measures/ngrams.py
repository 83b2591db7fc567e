"""Variety of the words of a set: distinct n-grams, the entropy of n-grams, and novelty against a set of others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.errors import InputError
from fcpair.files.tables.tabular import read_table
from fcpair.texts.measures.base import NO_TOKEN, Measure, SetFigure, TextTable, Values, count_reasons, fill_defined
from fcpair.texts.measures.tokens import Case, Tokens, split_tokens

LONGEST = 99
Ngrams = list[tuple[str, ...]]
ROWS = 1024  # texts that are compared with all others at once


@dataclass(frozen=True)
class BoundedMeasure(Measure):
    """A measure of n-grams of up to `n` tokens."""

    n: int = 4

    def __post_init__(self) -> None:
        if not 1 <= self.n <= LONGEST:
            raise InputError(f"n is {self.n}; expected a number from 1 to {LONGEST}")


@dataclass(frozen=True)
class NgramMeasure(BoundedMeasure):
    """A measure of the n-grams of a set, `n` tokens each; the number is part of the name: `dist-2`."""

    outside_brackets: ClassVar[tuple[str, ...]] = ("n",)
    n: int = 1
    tokens: Tokens = "space"
    case: Case = "keep"
    per_text: bool = False

    @property
    def head(self) -> str:
        """The word with the number of tokens."""
        return f"{self.word}-{self.n}"

    def score_counts(self, counts: Counter[tuple[str, ...]]) -> float:
        """The figure of n-grams, at least one, that are counted."""
        raise NotImplementedError

    def score_each(self, table: TextTable) -> Values:
        """The figure of each text's own n-grams."""
        scores = [self.score_counts(Counter(of_text)) for of_text in self._ngrams(table) if of_text]
        return fill_defined(self._undefined_reasons(table), scores)

    def pool(self, table: TextTable, rows: Ints) -> SetFigure:
        """The figure of all n-grams of the texts together; no n-gram reaches over the end of a text."""
        ngrams_by_text, why = self._ngrams(table), self._undefined_reasons(table)
        counts = Counter(ngram for row in rows for ngram in ngrams_by_text[row])
        left_out = count_reasons([why[row] for row in rows])
        n = len(rows) - sum(left_out.values())
        tokens = "a token" if self.n == 1 else f"{self.n} tokens"
        if not counts:
            return SetFigure(None, 0, left_out=left_out, undefined=f"no text has {tokens}")
        return SetFigure(self.score_counts(counts), n, left_out=left_out)

    def _ngrams(self, table: TextTable) -> list[Ngrams]:
        def split() -> list[Ngrams]:
            return [ngrams(split_tokens(text, self.tokens, self.case), self.n) for text in table.texts]

        return table.compute_once(("ngrams", self.n, self.tokens, self.case), split)

    def _undefined_reasons(self, table: TextTable) -> list[str]:
        short = NO_TOKEN if self.n == 1 else f"it has fewer than {self.n} tokens"
        return ["" if of_text else short for of_text in self._ngrams(table)]


@dataclass(frozen=True)
class Dist(NgramMeasure):
    """Distinct n-grams over all n-grams. Li et al. 2016, https://doi.org/10.18653/v1/N16-1014.

    Case is kept, as published figures have it. It falls as texts are added, so sets of different sizes do not compare.
    """

    word: ClassVar[str] = "dist"

    def score_counts(self, counts: Counter[tuple[str, ...]]) -> float:
        """Above 0, up to 1."""
        return len(counts) / counts.total()


@dataclass(frozen=True)
class Ent(NgramMeasure):
    """The Shannon entropy of the distribution of n-grams, in bits. Zhang et al. 2018, arXiv 1809.05972 (ENT-n).

    Tokens are lower-cased unless `case=keep`. It rises with the number of n-grams, up to log2 of that.
    """

    word: ClassVar[str] = "ent"
    case: Case = "lower"

    def score_counts(self, counts: Counter[tuple[str, ...]]) -> float:
        """0 where all n-grams are the same, up to log2 of their number."""
        n = counts.total()
        return max(0.0, log2(n) - sum(count * log2(count) for count in sorted(counts.values())) / n)


@dataclass(frozen=True)
class Ngd(BoundedMeasure):
    """N-gram diversity: distinct n-grams over all n-grams of a set, for each length from 1 to `n`, and their mean.

    Padmakumar and He 2023, arXiv 2309.05196 and Meister et al. 2023, https://doi.org/10.1162/tacl_a_00536 have it as
    the sum over lengths (`over=sum`), which is `n` times the mean, and put the texts together first: `join=true` does
    so, in the order in which they stand, and n-grams reach from one text into the next; else none does. Lengths of
    which there is no n-gram make it undefined.
    """

    word: ClassVar[str] = "ngd"
    per_text: ClassVar[bool] = False
    over: Literal["mean", "sum"] = "mean"
    tokens: Tokens = "words"
    case: Case = "lower"
    join: bool = False

    def pool(self, table: TextTable, rows: Ints) -> SetFigure:
        """Above 0, up to 1 for the mean and up to `n` for the sum."""
        texts, all_rows = table, rows
        if self.join:
            texts, all_rows = TextTable([" ".join(table.texts[row] for row in rows)]), np.array([0])
        of_lengths = [Dist(n, self.tokens, self.case).pool(texts, all_rows) for n in range(1, self.n + 1)]
        shares = [length.value for length in of_lengths if length.value is not None]
        words = Dist(1, self.tokens, self.case).pool(table, rows)
        if len(shares) < self.n and self.join:
            why = f"all texts together have fewer than {self.n} tokens"
            return SetFigure(None, 0, left_out=words.left_out, undefined=why)
        if len(shares) < self.n:
            return SetFigure(None, 0, left_out=of_lengths[-1].left_out, undefined=of_lengths[-1].undefined)
        total = sum(shares)
        return SetFigure(total if self.over == "sum" else total / self.n, words.n, left_out=words.left_out)

    def notes(self, table: TextTable) -> Iterator[str]:
        """Return whether n-grams cross from one text into the next."""
        if self.join:
            yield "n-grams cross from each text into the next, as the texts are put together in their order"
        else:
            yield "no n-gram crosses from one text into the next; join=true puts the texts together first"


@dataclass(frozen=True)
class SelfBleu(BoundedMeasure):
    """The BLEU of each text against all others of its set as references. Zhu et al. 2018, arXiv 1802.01886.

    Precisions of 1 to `n` tokens with equal weights; one without a match counts 0.1 / number of n-grams, the first
    smoothing of Chen and Cherry 2014, https://doi.org/10.3115/v1/W14-3346, as in the authors' program (nltk's
    `sentence_bleu` with `method1`). All references are read at once: of each n-gram only its two highest counts in any
    text are needed. High where texts repeat each other.
    """

    word: ClassVar[str] = "self-bleu"
    tokens: Tokens = "words"
    case: Case = "lower"

    def score_each(self, table: TextTable) -> Values:
        """From 0 to 1 for each text; undefined where no other text has a token."""
        tokens = [split_tokens(text, self.tokens, self.case) for text in table.texts]
        n_with_tokens = sum(map(bool, tokens))
        alone = "no other text has a token"
        why = [(alone if n_with_tokens < 2 else "") if of_text else NO_TOKEN for of_text in tokens]
        return fill_defined(why, self._scores([of_text for of_text in tokens if of_text]) if n_with_tokens > 1 else [])

    def set_figure(self, table: TextTable, rows: Ints) -> SetFigure:
        """The mean over a set of texts, with the others of the set alone as references."""
        if len(rows) == len(table.texts):
            return super().set_figure(table, rows)
        return super().set_figure(TextTable([table.texts[row] for row in rows]), np.arange(len(rows)))

    def _scores(self, tokens: Sequence[list[str]]) -> Floats:
        lengths = np.array([len(of_text) for of_text in tokens])
        logs = np.zeros(len(tokens))
        for n in range(1, self.n + 1):
            # the n-grams of each text that are in another one, each at most as often as there, and all that it has
            counts = [Counter(ngrams(of_text, n)) for of_text in tokens]
            most: dict[tuple[str, ...], tuple[int, int, int]] = {}
            for at, count in enumerate(counts):
                for ngram, times in count.items():
                    first, owner, second = most.get(ngram, (0, -1, 0))
                    most[ngram] = (times, at, first) if times > first else (first, owner, max(second, times))
            matched, whole = np.zeros(len(tokens)), np.array([count.total() for count in counts])
            for at, count in enumerate(counts):
                there = ((times, most[ngram]) for ngram, times in count.items())
                matched[at] = sum(min(times, one[2] if one[1] == at else one[0]) for times, one in there)
            if n == 1:
                none = matched == 0  # nltk gives such a text 0, whatever the smoothing
            logs += np.log(np.where(matched, matched, 0.1) / np.maximum(whole, 1)) / self.n
        # The length nearest to that of each text among the others, the shorter of two; its own if there it is again.
        distinct, place, n_each = np.unique(lengths, return_inverse=True, return_counts=True)
        padded = np.concatenate([[-np.inf], distinct, [np.inf]])
        below, above = padded[place], padded[place + 2]
        other = np.where(lengths - below <= above - lengths, below, above)
        short = np.maximum(0, np.where(n_each[place] > 1, lengths, other) / lengths - 1)
        return np.where(none, 0.0, np.exp(logs - short))


def ngrams(tokens: Sequence[str], n: int) -> Ngrams:
    """The runs of `n` tokens of a text."""
    return list(zip(*(tokens[at:] for at in range(n)), strict=False))


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
        other_texts = [one for of in table.references or () for one in of]
        if isinstance(self.against, Path):
            other_texts = read_table(self.against, [self.column], verbatim=True)[self.column].tolist()
        sides = (table.texts, other_texts)
        texts, all_others = ([frozenset(split_tokens(of, self.tokens, self.case)) for of in side] for side in sides)
        others = [other for other in dict.fromkeys(all_others) if other]
        if not others:
            return self.undefined_everywhere(table, "no text of the set has a token")
        why = ["" if token_set else NO_TOKEN for token_set in texts]
        return fill_defined(why, 1 - _max_similarity([token_set for token_set in texts if token_set], others))


def _max_similarity(texts: Sequence[frozenset[str]], others: Sequence[frozenset[str]]) -> Floats:
    """The greatest Jaccard similarity of each text with one of the others, shape `(n_texts,)`."""
    from scipy.sparse import csr_array

    at = {token: number for number, token in enumerate(sorted({token for text in (*texts, *others) for token in text}))}

    def incidence(sets: Sequence[frozenset[str]]) -> csr_array:
        starts = np.cumsum([0, *map(len, sets)])
        columns = np.array([at[token] for set_ in sets for token in set_], np.int64)
        return csr_array((np.ones(len(columns)), columns, starts), shape=(len(sets), len(at)))

    whole, sizes = incidence(others).T.tocsc(), np.array(list(map(len, others)))
    similarities = np.zeros(len(texts))
    for start in range(0, len(texts), ROWS):
        block = texts[start : start + ROWS]
        shared = (incidence(block) @ whole).toarray()
        union = np.array(list(map(len, block)))[:, None] + sizes - shared
        similarities[start : start + ROWS] = (shared / union).max(axis=1)
    return similarities
