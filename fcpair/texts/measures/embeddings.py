"""Measures by models. Encoders: the spread of a set, the closeness of each text to its references, token by token.

Transformers: perplexity, the probability of a label, a number against a reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import Any, ClassVar, Literal

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.errors import InputError, suggest_name
from fcpair.lazy import scipy
from fcpair.models.encode import encode
from fcpair.models.model_files import resolve
from fcpair.models.transformer import TokenLosses, label_scores, measure_losses, pair_scores
from fcpair.params import DEFAULT_MODEL
from fcpair.texts.measures.base import (
    NO_TOKEN,
    Measure,
    ReferenceMeasure,
    Refs,
    SetFigure,
    TextTable,
    Values,
    count_reasons,
    fill_defined,
)
from fcpair.values import is_blank


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
        if (n := len(kept_texts)) > MAX_PAIRED_TEXTS:
            most = f"the limit is {MAX_PAIRED_TEXTS:,} texts, or use by=cosine"
            why = f"all pairs of {n:,} texts would be compared; {most}"
            return SetFigure(None, 0, left_out=left_out, undefined=why)
        # the mean F1 of BERTScore over every two texts; it is the same from either side
        of_texts = [vectors[text].astype(np.float64) for text in kept_texts]
        lengths, stacked = np.array([len(text) for text in of_texts]), np.concatenate(of_texts)
        starts, total = np.cumsum([0, *lengths[:-1]]), 0.0
        for at, text_vectors in enumerate(of_texts[:-1]):
            cosine = text_vectors @ stacked[starts[at + 1] :].T
            after = starts[at + 1 :] - starts[at + 1]
            precision = np.maximum.reduceat(cosine, after, axis=1).mean(axis=0)
            recall = np.add.reduceat(cosine.max(axis=0), after) / lengths[at + 1 :]
            both = precision + recall
            total += float(np.where(both > 0, 2 * precision * recall / np.where(both > 0, both, 1), 0).sum())
        return SetFigure(total / (n * (n - 1) / 2), n, left_out=left_out)

    def notes(self, table: TextTable) -> Iterator[str]:
        """Yield a note on how many texts were cut."""
        yield from BertScore(model=self.model).notes(table) if self.by == "bertscore" else Div(self.model).notes(table)


@dataclass(frozen=True)
class TokenVectorMeasure(ReferenceMeasure):
    """A measure of each text by the unit vectors of its tokens, those that the tokenizer adds left out."""

    model: str = DEFAULT_MODEL

    def similarity(self, text_vectors: Floats, reference_vectors: Floats) -> float:
        """Similarity of a text and a reference; both have shape `(n_tokens, dimension)`, and are not empty."""
        raise NotImplementedError

    def has_token(self, table: TextTable, text: str) -> bool:
        """Return whether the encoder has a token for a text."""
        return bool(text.strip()) and len(table.token_vectors(self.model)[text]) > 0

    def scores(self, table: TextTable, texts: Sequence[str], references: Refs) -> Floats:
        """The figure of each text with its best reference."""
        vectors = {text: found.astype(np.float64) for text, found in table.token_vectors(self.model).items()}
        pairs = zip(texts, references, strict=True)
        return np.array(
            [max(self.similarity(vectors[text], vectors[reference]) for reference in of) for text, of in pairs]
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
        cost = scipy.spatial.distance.cdist(text_vectors, reference_vectors)
        if len(text_vectors) == len(reference_vectors):
            return 1 - float(cost[scipy.optimize.linear_sum_assignment(cost)].mean())
        return 1 - _transport_cost(cost)


def _transport_cost(cost: Floats) -> float:
    """The least cost of transport between two sets of equal weights, each of sum 1, shape `(n_one, n_other)`."""
    n_one, n_other = cost.shape
    leaves = scipy.sparse.kron(scipy.sparse.eye_array(n_one), np.ones((1, n_other)))
    comes = scipy.sparse.kron(np.ones((1, n_one)), scipy.sparse.eye_array(n_other))
    weights = np.concatenate([np.full(n_one, 1 / n_one), np.full(n_other, 1 / n_other)])
    sums: Any = scipy.sparse.vstack([leaves, comes]).tocsr()  # linprog takes sparse ones; its types do not say so
    solved: Any = scipy.optimize.linprog(cost.ravel(), A_eq=sums, b_eq=weights, method="highs")
    return float(solved.fun)


NONE = "none"


@dataclass(frozen=True)
class Perplexity(Measure):
    """The exponential of the mean negative log-likelihood of a token under a causal model; 1 at least.

    Jelinek et al. 1977, https://doi.org/10.1121/1.2016299. Of a set it is token-weighted: the sum over all tokens of
    all texts, over their number; `per_text=true` gives one for each text instead, and their mean, in which short texts
    weigh as much as long ones. The first token is foretold from the token that begins a text, where the model has one,
    else not at all. Undefined for a text of which no token is foretold. Figures of different models do not compare, for
    their tokens differ.
    """

    word: ClassVar[str] = "perplexity"
    of: str
    per_text: bool = False

    def score_each(self, table: TextTable) -> Values:
        """1 or more for each text."""
        losses, why = self._token_losses(table), self._undefined_reasons(table)
        is_defined = losses.n_tokens > 0
        return fill_defined(why, np.exp(losses.losses[is_defined] / losses.n_tokens[is_defined]))

    def pool(self, table: TextTable, rows: Ints) -> SetFigure:
        """1 or more for a set, each token with the same weight."""
        losses, why = self._token_losses(table), self._undefined_reasons(table)
        left_out, n_tokens = count_reasons([why[row] for row in rows]), int(losses.n_tokens[rows].sum())
        if not n_tokens:
            return SetFigure(None, 0, left_out=left_out, undefined="no token of any text is predicted")
        figure = exp(float(losses.losses[rows].sum()) / n_tokens)
        return SetFigure(figure, len(rows) - sum(left_out.values()), left_out=left_out)

    @property
    def rule(self) -> str:
        """Rule by which the figure of a set comes from its texts."""
        return "mean over texts" if self.per_text else "token-weighted"

    def notes(self, table: TextTable) -> Iterator[str]:
        """Yield notes on how many tokens were predicted, and how many texts were cut."""
        losses = self._token_losses(table)
        yield f"tokens predicted in all texts: {int(losses.n_tokens.sum()):,}"
        if losses.n_cut:
            yield f"texts longer than the model reads, whose ends were cut: {losses.n_cut:,}"

    def _token_losses(self, table: TextTable) -> TokenLosses:

        return table.compute_once(("read", self.of), lambda: measure_losses(table.texts, self.of, table.progress))

    def _undefined_reasons(self, table: TextTable) -> list[str]:
        return ["" if n else "no token of it is predicted" for n in self._token_losses(table).n_tokens]


@dataclass(frozen=True)
class Head(Measure):
    """The probability of a label by a classifier, from 0 to 1: toxicity, an argument, the quality of a CN, ...

    Any sequence classification model, by name or folder. `beside` names a column whose entry stands before the text as
    the first of a pair, as an HS before its CN for whether the CN counters it. What it says is worth what the model is.
    """

    word: ClassVar[str] = "head"
    of: str
    label: str
    beside: str = NONE

    def score_each(self, table: TextTable) -> Values:
        """From 0 to 1 for each text; undefined without a token."""
        column = self._column(table)
        nothing, why = f"there is nothing in `{self.beside}`", list[str]()
        pairs: list[tuple[str, ...]] = []
        for text, one in zip(table.texts, column, strict=True):
            why.append(NO_TOKEN if is_blank(text) else "" if one.strip() else nothing)
            if not why[-1]:
                pairs.append((text,) if self.beside == NONE else (one, text))
        return fill_defined(why, self._scores(table, pairs) if pairs else [])

    def check(self, table: TextTable) -> None:
        """Raise InputError where the column is not there."""
        self._column(table)

    def notes(self, table: TextTable) -> Iterator[str]:
        """Yield a note on how many texts were cut."""
        if n := table.compute_once(("cut", self), lambda: 0):
            yield f"texts longer than the model reads, whose ends were cut: {n:,}"

    def _column(self, table: TextTable) -> tuple[str, ...]:
        if self.beside == NONE:
            return table.texts
        if self.beside not in table.beside:
            found = suggest_name(self.beside, table.beside) if table.beside else "there are no further columns"
            raise InputError(f"{self.short_name}: there is no column `{self.beside}`; {found}")
        return table.beside[self.beside]

    def _scores(self, table: TextTable, pairs: list[tuple[str, ...]]) -> Floats:

        distinct = list(dict.fromkeys(pairs))
        scores, n_cut = label_scores(distinct, self.of, self.label, table.progress)
        table.compute_once(("cut", self), lambda: n_cut)
        at = {pair: row for row, pair in enumerate(distinct)}
        return scores[[at[pair] for pair in pairs]]


@dataclass(frozen=True)
class Regression(ReferenceMeasure):
    """Number that a model trained to rate a text against a reference gives it; the best reference counts.

    Any sequence classification model with one output, by name or folder, read as a pair of reference and text: BLEURT's
    kind (Sellam et al. 2020, https://doi.org/10.18653/v1/2020.acl-main.704). The number is taken as it comes; its range
    is the model's own, so it is not tried on copies.
    """

    word: ClassVar[str] = "regression"
    of: str

    def low_copies(self, table: TextTable) -> dict[str, tuple[float, float]]:
        """None: nobody knows what a copy should have."""
        return {}

    def score_each(self, table: TextTable) -> Values:
        """The figure of each text with its best reference; undefined without a token or a reference that has one."""
        texts, references, why = self.select_comparable(table)
        if not texts:
            return fill_defined(why, [])
        pairs = list(
            dict.fromkeys((reference, text) for text, of in zip(texts, references, strict=True) for reference in of)
        )
        scores, _ = table.compute_once(("pairs", self.of), lambda: pair_scores(pairs, self.of, table.progress))
        at = dict(zip(pairs, scores.tolist(), strict=True))
        return fill_defined(
            why, [max(at[reference, text] for reference in of) for text, of in zip(texts, references, strict=True)]
        )

    def notes(self, table: TextTable) -> Iterator[str]:
        """That the number is the model's own, and how many pairs were cut."""
        yield "as the model gives it, of each reference and text as a pair; its range is the model's own"
        if n := table.compute_once(("pairs", self.of), lambda: ((), 0))[1]:
            yield f"pairs longer than the model reads, whose ends were cut: {n:,}"
