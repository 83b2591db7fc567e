"""Measures by encoders: the spread of a set, and the closeness of each text to its references, token by token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.models.encode import encode
from fcpair.models.model_files import resolve
from fcpair.params import DEFAULT_MODEL
from fcpair.texts.measures.base import NO_TOKEN, Measure, ReferenceMeasure, Refs, SetFigure, TextTable, count_reasons


@dataclass(frozen=True)
class Div(Measure):
    """1 - the mean cosine of the vectors of two texts of the set, over all i != j. It lies from 0 to 1 (2 at most).

    By an encoder of sentence-transformers (Reimers and Gurevych 2019, https://doi.org/10.18653/v1/D19-1410). The sum
    over all pairs is that of the squared sum of the unit vectors, so no pair is looked at. Undefined for fewer than two
    texts.
    """

    word: ClassVar[str] = "div"
    per_text: ClassVar[bool] = False
    model: str = DEFAULT_MODEL

    def pool(self, table: TextTable, rows: Ints) -> SetFigure:
        """The figure of a set."""
        kept_rows = [int(row) for row in rows if table.texts[row].strip()]
        left_out = count_reasons([NO_TOKEN] * (len(rows) - len(kept_rows)))
        if len(kept_rows) < 2:
            return SetFigure(None, 0, left_out=left_out, undefined="there are fewer than two texts")
        key, model = ("vectors", self.model), self.model
        vectors = table.compute_once(key, lambda: encode(table.texts, resolve(model), table.progress))
        unit = vectors[kept_rows].astype(np.float64)
        n, total = len(unit), unit.sum(axis=0)
        return SetFigure(float(1 - (total @ total - (unit**2).sum()) / (n * (n - 1))), n, left_out=left_out)

    def notes(self, table: TextTable) -> Iterator[str]:
        """Yield a note on how many texts were cut."""
        yield from table.cut_notes(self.model, table.texts)


MAX_PAIRED_TEXTS = 2_000  # texts of which every two are looked at


@dataclass(frozen=True)
class Homogenization(Measure):
    """The mean similarity of two texts of the set, over all i != j: high where texts are alike.

    `by=cosine`: of the vectors of an encoder, which is 1 - `div`. `by=bertscore`: the F1 of BERTScore, as Padmakumar
    and He 2023 (arXiv 2309.05196) have it, for up to 2,000 texts. Their formula divides by the number of texts less one
    alone; this one is the mean over pairs. From -1 to 1. Undefined for fewer than two texts.
    """

    word: ClassVar[str] = "homogenization"
    per_text: ClassVar[bool] = False
    by: Literal["cosine", "bertscore"] = "cosine"
    model: str = DEFAULT_MODEL

    def pool(self, table: TextTable, rows: Ints) -> SetFigure:
        """The figure of a set."""
        if self.by == "cosine":
            spread = Div(self.model).pool(table, rows)
            return spread if spread.value is None else replace(spread, value=1 - spread.value)
        vectors = table.token_vectors(self.model)
        kept_texts = [table.texts[row] for row in rows if table.texts[row].strip() and len(vectors[table.texts[row]])]
        left_out = count_reasons([NO_TOKEN] * (len(rows) - len(kept_texts)))
        if len(kept_texts) < 2:
            return SetFigure(None, 0, left_out=left_out, undefined="there are fewer than two texts")
        if len(kept_texts) > MAX_PAIRED_TEXTS:
            why = (
                f"all pairs of {len(kept_texts):,} texts would be compared; the limit is {MAX_PAIRED_TEXTS:,} texts, "
                "or use by=cosine"
            )
            return SetFigure(None, 0, left_out=left_out, undefined=why)
        return SetFigure(
            _mean_f1([vectors[text].astype(np.float64) for text in kept_texts]), len(kept_texts), left_out=left_out
        )

    def notes(self, table: TextTable) -> Iterator[str]:
        """Yield a note on how many texts were cut."""
        yield from BertScore(model=self.model).notes(table) if self.by == "bertscore" else Div(self.model).notes(table)


def _mean_f1(vectors: Sequence[Floats]) -> float:
    """The mean F1 of BERTScore over every two texts; it is the same from either side."""
    starts = np.cumsum([0, *(len(text_vectors) for text_vectors in vectors[:-1])])
    stacked, lengths = np.concatenate(vectors), np.array([len(text_vectors) for text_vectors in vectors])
    total = 0.0
    for at, text_vectors in enumerate(vectors[:-1]):
        cosine = text_vectors @ stacked[starts[at + 1] :].T
        after = starts[at + 1 :] - starts[at + 1]
        precision = np.maximum.reduceat(cosine, after, axis=1).mean(axis=0)
        recall = np.add.reduceat(cosine.max(axis=0), after) / lengths[at + 1 :]
        both = precision + recall
        total += float(np.where(both > 0, 2 * precision * recall / np.where(both > 0, both, 1), 0).sum())
    return total / (len(vectors) * (len(vectors) - 1) / 2)


@dataclass(frozen=True)
class TokenVectorMeasure(ReferenceMeasure):
    """A measure of each text by the unit vectors of its tokens, those that the tokenizer adds left out."""

    model: str = DEFAULT_MODEL

    def similarity(self, text_vectors: Floats, reference_vectors: Floats) -> float:
        """Similarity of a text and a reference; both have shape `(n_tokens, dimension)`, and are not empty."""
        raise NotImplementedError

    def has_token(self, table: TextTable, text: str) -> bool:
        """Whether the encoder has a token for a text."""
        return bool(text.strip()) and len(table.token_vectors(self.model)[text]) > 0

    def scores(self, table: TextTable, texts: Sequence[str], references: Refs) -> Floats:
        """The figure of each text with its best reference."""
        vectors = {text: found.astype(np.float64) for text, found in table.token_vectors(self.model).items()}
        return np.array(
            [
                max(self.similarity(vectors[text], vectors[one]) for one in of)
                for text, of in zip(texts, references, strict=True)
            ]
        )

    def notes(self, table: TextTable) -> Iterator[str]:
        """Yield a note on how many texts were cut."""
        yield from table.cut_notes(self.model, table.distinct_texts())


@dataclass(frozen=True)
class BertScore(TokenVectorMeasure):
    """Precision, recall or F1 of greedy matching: each token with the nearest one of the other text, by cosine.

    Zhang et al. 2020, arXiv 1904.09675, over the last layer of any encoder, all tokens with the same weight (no idf),
    without rescaling to a baseline; the tokens that the tokenizer adds take no part. From -1 to 1, a copy has 1.
    Figures of different models do not compare.
    """

    word: ClassVar[str] = "bertscore"
    value: Literal["f1", "precision", "recall"] = "f1"

    def similarity(self, text_vectors: Floats, reference_vectors: Floats) -> float:
        """Precision is over the tokens of the text, recall over those of the reference."""
        cosine = text_vectors @ reference_vectors.T
        precision, recall = cosine.max(axis=1).mean(), cosine.max(axis=0).mean()
        if self.value != "f1":
            return float(precision if self.value == "precision" else recall)
        return float(2 * precision * recall / (precision + recall)) if precision + recall > 0 else 0.0


@dataclass(frozen=True)
class Mover(TokenVectorMeasure):
    """1 - the word mover's distance of the token vectors. From -1 to 1, a copy has 1.

    Zhao et al. 2019, https://doi.org/10.18653/v1/D19-1053, arXiv 1909.02622: the least cost of carrying the tokens of
    one text to those of the other, by the Euclidean distance of unit vectors, exactly. Unlike there, all tokens of a
    text weigh the same, and the vectors are those of the last layer.
    """

    word: ClassVar[str] = "mover"

    def similarity(self, text_vectors: Floats, reference_vectors: Floats) -> float:
        """By an assignment where both have as many tokens (an optimum is one then), else by a linear program."""
        from scipy.optimize import linear_sum_assignment
        from scipy.spatial.distance import cdist

        cost = cdist(text_vectors, reference_vectors)
        if len(text_vectors) == len(reference_vectors):
            return 1 - float(cost[linear_sum_assignment(cost)].mean())
        return 1 - _transport_cost(cost)


def _transport_cost(cost: Floats) -> float:
    """The least cost of transport between two sets of equal weights, each of sum 1, shape `(n_one, n_other)`."""
    from scipy.optimize import linprog
    from scipy.sparse import eye_array, kron, vstack

    n_one, n_other = cost.shape
    leaves = kron(eye_array(n_one), np.ones((1, n_other)))
    comes = kron(np.ones((1, n_one)), eye_array(n_other))
    weights = np.concatenate([np.full(n_one, 1 / n_one), np.full(n_other, 1 / n_other)])
    sums: Any = vstack([leaves, comes]).tocsr()  # linprog takes sparse ones; its types do not say so
    solved: Any = linprog(cost.ravel(), A_eq=sums, b_eq=weights, method="highs")
    return float(solved.fun)
