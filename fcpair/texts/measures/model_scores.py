"""Measures by transformer models: perplexity, the probability of a label, a number against a reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp
from typing import ClassVar

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.errors import InputError, suggest_name
from fcpair.models.transformer import TokenLosses, label_scores, measure_losses, pair_scores
from fcpair.texts.measures.base import (
    NO_TOKEN,
    Measure,
    ReferenceMeasure,
    SetFigure,
    TextTable,
    Values,
    count_reasons,
    fill_defined,
)
from fcpair.values import is_blank

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
        left_out = count_reasons([why[row] for row in rows])
        n_tokens = int(losses.n_tokens[rows].sum())
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
        nothing = f"there is nothing in `{self.beside}`"
        why = [
            NO_TOKEN if is_blank(text) else "" if one.strip() else nothing
            for text, one in zip(table.texts, column, strict=True)
        ]
        pairs: list[tuple[str, ...]] = [
            (text,) if self.beside == NONE else (one, text)
            for text, one, reason in zip(table.texts, column, why, strict=True)
            if not reason
        ]
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
        pairs = list(dict.fromkeys((one, text) for text, of in zip(texts, references, strict=True) for one in of))
        scores, _ = table.compute_once(("pairs", self.of), lambda: pair_scores(pairs, self.of, table.progress))
        at = dict(zip(pairs, scores.tolist(), strict=True))
        best = [max(at[one, text] for one in of) for text, of in zip(texts, references, strict=True)]
        return fill_defined(why, best)

    def notes(self, table: TextTable) -> Iterator[str]:
        """That the number is the model's own, and how many pairs were cut."""
        yield "as the model gives it, of each reference and text as a pair; its range is the model's own"
        if n := table.compute_once(("pairs", self.of), lambda: ((), 0))[1]:
            yield f"pairs longer than the model reads, whose ends were cut: {n:,}"
