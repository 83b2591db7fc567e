"""Base of measures against references: which texts have some, and the trial on copies before anything is reported."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fcpair.errors import InputError
from fcpair.texts.measures.base import NO_REFERENCE, NO_TOKEN, TOLERANCE, Floats, Measure, Values, fill_defined
from fcpair.texts.measures.measured_texts import TextTable

SHOWN = 60
LOW = "a copy of it does not reach the maximum"
Refs = Sequence[Sequence[str]]


@dataclass(frozen=True)
class ReferenceMeasure(Measure):
    """A measure of each text against its references, of which the best one counts unless a class says otherwise.

    Before it measures, it is tried on a copy of every text, which must reach what it calls its maximum: texts that do
    not are left out, and where half of them do not, it is undefined. So it is if its tokens are not made for a
    language: rouge-score's own tokeniser leaves nothing of a Persian text.
    """

    def has_token(self, table: TextTable, text: str) -> bool:
        """Whether anything is left of a text for this measure."""
        raise NotImplementedError

    def scores(self, table: TextTable, texts: Sequence[str], references: Refs) -> Floats:
        """The figures of texts, each with at least one reference, all with tokens."""
        raise NotImplementedError

    def max_scores(self, texts: Sequence[str]) -> Floats:
        """The greatest figure that each text could have."""
        return np.ones(len(texts))

    def select_comparable(self, table: TextTable) -> tuple[list[str], list[tuple[str, ...]], list[str]]:
        """The texts that can be measured, the references of each, and of every text why it cannot, else `""`.

        Raises:
            InputError: there are no references.
        """
        references, why = self._usable_references(table)
        low = self.low_copies(table)
        why = [reason or (LOW if text in low else "") for text, reason in zip(table.texts, why, strict=True)]
        return (
            [text for text, reason in zip(table.texts, why, strict=True) if not reason],
            [of for of, reason in zip(references, why, strict=True) if not reason],
            why,
        )

    def score_each(self, table: TextTable) -> Values:
        """The figure of each text; undefined without a token, without a reference that has one, or where it is low."""
        texts, references, why = self.select_comparable(table)
        return fill_defined(why, self.scores(table, texts, references) if texts else [])

    def check(self, table: TextTable) -> None:
        """Raise InputError where there are no references."""
        self._required_references(table)

    def unfit_reason(self, table: TextTable) -> str:
        """Why it is not right for these texts: copies of half of them or more do not reach the maximum."""
        low, copies = self.low_copies(table), self.comparable_texts(table)
        if not low or 2 * len(low) < len(copies):
            return ""
        text, (reached, most) = next(iter(low.items()))
        return below_maximum(f"{len(low):,} of {len(copies):,} texts", text, reached, most)

    def comparable_texts(self, table: TextTable) -> list[str]:
        """The distinct texts that have a token, and a reference with one."""
        _, why = self._usable_references(table)
        return list(dict.fromkeys(text for text, reason in zip(table.texts, why, strict=True) if not reason))

    def low_copies(self, table: TextTable) -> dict[str, tuple[float, float]]:
        """The texts of which a copy does not reach the maximum, with what it reaches and what it should."""
        return table.compute_once(("low", self), lambda: self._find_low_copies(table))

    def _find_low_copies(self, table: TextTable) -> dict[str, tuple[float, float]]:
        if not (copies := self.comparable_texts(table)):
            return {}
        reached, most = self.scores(table, copies, [(text,) for text in copies]), self.max_scores(copies)
        low = np.flatnonzero(~(np.abs(reached - most) <= TOLERANCE * most))
        return {copies[at]: (float(reached[at]), float(most[at])) for at in low}

    def _usable_references(self, table: TextTable) -> tuple[list[tuple[str, ...]], list[str]]:
        """The references of each text that have a token, and why a text cannot be compared, else `""`."""
        references = self._required_references(table)
        is_usable = {text: self.has_token(table, text) for text in table.distinct_texts()}
        usable = [tuple(one for one in of if is_usable[one]) for of in references]
        why = [
            "" if is_usable[text] and of else NO_REFERENCE if is_usable[text] else NO_TOKEN
            for text, of in zip(table.texts, usable, strict=True)
        ]
        return usable, why

    def _required_references(self, table: TextTable) -> tuple[tuple[str, ...], ...]:
        if table.references is None:
            raise InputError(f"{self.short_name} compares texts with references; name the columns that hold them")
        return table.references


def below_maximum(what: str, text: str, reached: float, most: float) -> str:
    """Why a measure is not right for texts of which a copy has a figure that is not the maximum."""
    shown = textwrap.shorten(text, SHOWN, placeholder=" ...")
    return (
        f"it is not right for these texts: a copy does not reach its maximum for {what}, such as `{shown}`, with "
        f"{reached:z.4f} instead of {most:.4f}. Choose other tokens, or a measure of this language"
    )
