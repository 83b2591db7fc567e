"""Measures of texts: a value with a name, and a figure for each text, or for a set; and what it measures."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from fcpair.arrays import Floats, Ints, Vectors
from fcpair.errors import InputError
from fcpair.models import encode
from fcpair.models.model_files import resolve
from fcpair.stages.corpus.text_identity import NO_TEXT
from fcpair.stages.questions.named_values import NamedValue

T = TypeVar("T")
ENGLISH, NO_TOKEN, TOLERANCE = "en", "it has no token", 1e-6
SHOWN = 60
Refs = Sequence[Sequence[str]]


class TextTable:
    """Texts, the references of each (none if there are no references at all), and further columns by their names.

    What several measures need, such as the vectors of a model, is computed once. Raises InputError for a string where a
    list belongs, anything but strings in a list, lists of different lengths.
    """

    def __init__(
        self,
        texts: Sequence[str],
        references: Sequence[Sequence[str]] | None = None,
        beside: Mapping[str, Sequence[str]] | None = None,
        progress: encode.Progress | None = None,
    ) -> None:
        self.texts = _check_strings("texts", texts)
        self.references: tuple[tuple[str, ...], ...] | None = None
        if isinstance(references, str):
            raise InputError("references is a string; expected a list of references for each text")
        if references is not None:
            if len(listed := list(references)) != len(self.texts):
                counts = f"{len(listed):,} entries for {len(self.texts):,} texts"
                raise InputError(f"references has {counts}; expected one list for each")
            for at, of in enumerate(listed):
                if isinstance(of, str):
                    what = f"expected a list of references, such as [{of[:20]!r}]"
                    why = "its single characters would be taken for references"
                    raise InputError(f"references[{at}] is a string; {what}: {why}")
            self.references = tuple(_check_strings(f"references[{at}]", of) for at, of in enumerate(listed))
        columns = (beside or {}).items()
        self.beside = {name: _check_strings(f"beside[{name!r}]", of, len(self.texts)) for name, of in columns}
        self.progress = progress
        self._cache: dict[Hashable, Any] = {}

    def compute_once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` gives, calling it only the first time."""
        if key not in self._cache:
            self._cache[key] = make()
        value: T = self._cache[key]
        return value

    def distinct_texts(self) -> list[str]:
        """All distinct texts and references, in the order in which they stand."""
        return list(dict.fromkeys([*self.texts, *[reference for of in self.references or () for reference in of]]))

    def token_vectors(self, name: str) -> dict[str, Vectors]:
        """The unit vectors of the tokens of every text and reference by the encoder of that name, by the text."""

        def encode_all() -> dict[str, Vectors]:
            texts = self.distinct_texts()
            return dict(zip(texts, encode.token_vectors(texts, name, self.progress), strict=True))

        return self.compute_once(("tokens", name), encode_all)

    def cut_notes(self, name: str, texts: Sequence[str]) -> tuple[str, ...]:
        """The note on how many of these texts are longer than the encoder of that name reads, if there are any."""
        return self.compute_once(("cut", name, len(texts)), lambda: encode.count_cut(texts, resolve(name)).notes)


def _check_strings(place: str, texts: Sequence[str], n: int | None = None) -> tuple[str, ...]:
    if isinstance(texts, str):
        raise InputError(f"{place} is a string; expected a list of texts: its single characters would be measured")
    listed = tuple(texts)
    for at, text in enumerate(listed):
        if not isinstance(text, str):
            raise InputError(f"{place}[{at}] is {type(text).__name__}; expected a string")
        if NO_TEXT.search(text):
            problem = "a NUL character or half a surrogate pair, which a text may not contain"
            raise InputError(f"{place}[{at}] has {problem}")
    if n is not None and len(listed) != n:
        raise InputError(f"{place} has {len(listed):,} entries for {n:,} texts; expected one for each")
    return listed


@dataclass(frozen=True)
class Values:
    """A figure for each text, shape `(n_texts,)`: NaN exactly where `why` says why it is undefined, else `""`."""

    values: Floats
    why: tuple[str, ...]

    def select(self, rows: Ints) -> Values:
        """Those of some texts."""
        return Values(self.values[rows], tuple(self.why[row] for row in rows))


@dataclass(frozen=True)
class SetFigure:
    """A figure for a set: `value` is None exactly where `undefined` says why.

    `n` texts enter it; `left_out` counts the others by the reason. `sd` is the standard deviation over texts (n - 1)
    of a mean of two texts or more.
    """

    value: float | None
    n: int
    sd: float | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)
    undefined: str | None = None


@dataclass(frozen=True)
class Measure(NamedValue):
    """A measure of texts.

    A class gives `score_each`, a figure for each text whose mean is that of a set, or `pool`, one for a set, or both,
    and has then the option `per_text`.
    """

    @property
    def is_pooled(self) -> bool:
        """Return whether it gives one figure for a set, and none for a text."""
        return getattr(self, "per_text", True) is False

    @property
    def rule(self) -> str:
        """Rule by which the figure of a set comes from its texts."""
        return "pooled" if self.is_pooled else "mean over texts"

    @property
    def tokeniser(self) -> str:
        """Its tokeniser, as its option `tokens` has it; empty where it splits no texts, or a model does."""
        return str(getattr(self, "tokens", ""))

    def for_language(self, language: str | None) -> Measure:
        """The measure as it is for a language, by its code; raises InputError where it makes no sense there."""
        return self

    def check(self, table: TextTable) -> None:
        """Raise InputError where what the measure needs beside the texts is not there."""

    def unfit_reason(self, table: TextTable) -> str:
        """The reason why the measure cannot be right on these texts, and is undefined there; empty without one."""
        return ""

    def notes(self, table: TextTable) -> Iterator[str]:
        """Yield what a reader of the figure must know; called when it has been computed, and reported with its name."""
        yield from ()

    def score_each(self, table: TextTable) -> Values:
        """The figure of each text."""
        raise NotImplementedError

    def pool(self, table: TextTable, rows: Ints) -> SetFigure:
        """The figure of a set of texts, by their rows."""
        raise NotImplementedError

    def set_figure(self, table: TextTable, rows: Ints) -> SetFigure:
        """The figure of a set of texts, by their rows: pooled, or the mean over those that have a figure."""
        if self.is_pooled:
            return self.pool(table, rows)
        selected = self.values(table).select(rows)
        defined, left_out = selected.values[~np.isnan(selected.values)], count_reasons(selected.why)
        if not len(defined):
            return SetFigure(None, 0, left_out=left_out, undefined="no text has a figure")
        sd = float(defined.std(ddof=1)) if len(defined) > 1 else None
        return SetFigure(float(defined.mean()), len(defined), sd, left_out)

    def values(self, table: TextTable) -> Values:
        """The figure of each text, computed once for a table."""
        return table.compute_once(self, lambda: self.score_each(table))

    def undefined_everywhere(self, table: TextTable, why: str) -> Values:
        """No figure for any text, each for the same reason."""
        return Values(np.full(len(table.texts), np.nan), (why,) * len(table.texts))


def count_reasons(why: Sequence[str]) -> dict[str, int]:
    """Count the texts without a figure, by the reason."""
    return dict(sorted(Counter(filter(None, why)).items()))


def fill_defined(why: Sequence[str], values: Sequence[float] | Floats) -> Values:
    """The values of the texts that have no reason against them, in their place among all."""
    all_values = np.full(len(why), np.nan)
    all_values[[not reason for reason in why]] = values
    return Values(all_values, tuple(why))


@dataclass(frozen=True)
class ReferenceMeasure(Measure):
    """A measure of each text against its references, of which the best one counts unless a class says otherwise.

    Before it measures, it is tried on a copy of every text, which must reach what it calls its maximum: texts that do
    not are left out, and where half of them do not, it is undefined. So it is if its tokens are not made for a
    language: rouge-score's own tokeniser leaves nothing of a Persian text.
    """

    def has_token(self, table: TextTable, text: str) -> bool:
        """Return whether anything of a text is left to measure: but white space, unless a class says otherwise."""
        return bool(text.strip())

    def scores(self, table: TextTable, texts: Sequence[str], references: Refs) -> Floats:
        """The figures of texts, each with at least one reference, all with tokens."""
        raise NotImplementedError

    def max_scores(self, texts: Sequence[str]) -> Floats:
        """The greatest figure that each text could have."""
        return np.ones(len(texts))

    def select_comparable(self, table: TextTable) -> tuple[list[str], list[tuple[str, ...]], list[str]]:
        """The texts that can be measured, the references of each, and of every text why it cannot, else `""`; raises
        InputError if there are no references.
        """
        references, why = self._usable_references(table)
        too_low = dict.fromkeys(self.low_copies(table), "a copy of it does not reach the maximum")
        why = [reason or too_low.get(text, "") for text, reason in zip(table.texts, why, strict=True)]
        kept = [(text, of) for text, of, reason in zip(table.texts, references, why, strict=True) if not reason]
        return [text for text, _ in kept], [of for _, of in kept], why

    def score_each(self, table: TextTable) -> Values:
        """The figure of each text; undefined without a token, without a reference that has one, or where it is low."""
        texts, references, why = self.select_comparable(table)
        return fill_defined(why, self.scores(table, texts, references) if texts else [])

    def check(self, table: TextTable) -> None:
        """Raise InputError if there are no references."""
        if table.references is None:
            raise InputError(f"{self.short_name} compares texts with references; name the columns that hold them")

    def unfit_reason(self, table: TextTable) -> str:
        """The reason why it is not right for these texts: copies of half of them or more do not reach the maximum."""
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

        def find_low_copies() -> dict[str, tuple[float, float]]:
            if not (copies := self.comparable_texts(table)):
                return {}
            reached, most = self.scores(table, copies, [(text,) for text in copies]), self.max_scores(copies)
            low = np.flatnonzero(~(np.abs(reached - most) <= TOLERANCE * most))
            return {copies[at]: (float(reached[at]), float(most[at])) for at in low}

        return table.compute_once(("low", self), find_low_copies)

    def _usable_references(self, table: TextTable) -> tuple[list[tuple[str, ...]], list[str]]:
        """The references of each text that have a token, and why a text cannot be compared, else `""`."""
        self.check(table)
        is_usable = {text: self.has_token(table, text) for text in table.distinct_texts()}
        usable = [tuple(reference for reference in of if is_usable[reference]) for of in table.references or ()]
        why = [
            "" if is_usable[text] and of else "it has no reference with a token" if is_usable[text] else NO_TOKEN
            for text, of in zip(table.texts, usable, strict=True)
        ]
        return usable, why


def below_maximum(what: str, text: str, reached: float, most: float) -> str:
    """The reason why a measure is not right for texts of which a copy has a figure that is not the maximum."""
    shown = textwrap.shorten(text, SHOWN, placeholder=" ...")
    return (
        f"it is not right for these texts: a copy does not reach its maximum for {what}, such as `{shown}`, with "
        f"{reached:z.4f} instead of {most:.4f}. Choose other tokens, or a measure of this language"
    )
