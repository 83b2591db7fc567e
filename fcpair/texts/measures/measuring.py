"""Measuring texts: each measure tried on copies where it has references, then one figure for all and for each group."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from fcpair.errors import InputError
from fcpair.models.encode import Progress
from fcpair.models.model_files import is_english
from fcpair.texts.measures.base import Found, Measure, Rows, Values
from fcpair.texts.measures.catalogue import parse_measure
from fcpair.texts.measures.measured_texts import Table

_LANGUAGE = re.compile("[a-z]{2,3}")
ENGLISH = "en"


@dataclass(frozen=True)
class TextFigure:
    """A figure for a set of texts, with what it rests on.

    `value` is None exactly where `undefined` says why. `n` texts enter it, `left_out` counts the others by the reason;
    `rule` says how it comes from the texts, and `sd` is the standard deviation over them (n - 1) where it is a mean.
    `group` is None for all texts. `warning` says what speaks against the figure, such as a model of another language.
    """

    measure: str
    name: str
    group: str | None
    rule: str
    value: float | None
    n: int
    sd: float | None
    left_out: Mapping[str, int]
    undefined: str | None
    warning: str = ""


@dataclass(frozen=True)
class Measured:
    """What was measured: the figures, and of measures that give one for each text these, by the measure's name."""

    n_texts: int
    language: str | None
    figures: tuple[TextFigure, ...]
    values: Mapping[str, Values] = field(repr=False)
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """What JSON has of it: all but the figures of single texts."""
        figures = [asdict(figure) for figure in self.figures]
        return {"n_texts": self.n_texts, "language": self.language, "figures": figures, "notes": list(self.notes)}


def measure(
    texts: Sequence[str],
    measures: Sequence[Measure | str],
    *,
    references: Sequence[Sequence[str]] | None = None,
    beside: Mapping[str, Sequence[str]] | None = None,
    groups: Sequence[str] | None = None,
    language: str | None = None,
    progress: Progress | None = None,
) -> Measured:
    """Measure texts.

    A measure that cannot be right on these texts, such as one that gives a copy of a text less than its maximum, is
    undefined there; the others are measured.

    Args:
        texts: the texts, at least one.
        measures: values or names, such as `parse_measure("dist-2")` or `"dist-2"`.
        references: for each text the list of its references, which may be empty.
        beside: further columns, one entry for each text, which some measures name.
        groups: the group of each text, for figures of each group.
        language: the code of the texts' language, such as `en`; some measures need it.
        progress: called with the done and the total where a model reads texts.

    Raises:
        InputError: a string where a list belongs, lists of different lengths, no text or measure, a measure that makes
            no sense in the language, or that needs references or columns which are not there.
        ModelError: a model cannot be had or used.
    """
    table = Table(texts, references, beside, progress)
    _check(table, measures, language, groups)
    read = [one if isinstance(one, Measure) else parse_measure(one) for one in measures]
    spoken = list(dict.fromkeys(one.spoken(language) for one in read))
    for one in spoken:
        one.check(table)
    unfit = {one: one.unfit(table) for one in spoken}
    names, sets = _names(spoken), _sets(len(table.texts), groups)
    warnings = {one: _other_languages(one, table, language) for one in spoken}
    figures = [
        _figure(one, name, group, _nothing(unfit[one]) or one.found(table, rows), warnings[one])
        for one, name in zip(spoken, names, strict=True)
        for group, rows in sets.items()
    ]
    values = {
        name: one.nowhere(table, unfit[one]) if unfit[one] else one.values(table)
        for one, name in zip(spoken, names, strict=True)
        if not one.pooled
    }
    own = {one: () if unfit[one] else one.notes(table) for one in spoken}
    notes = _told([(one.short, note) for one in spoken for note in (*own[one], warnings[one]) if note])
    return Measured(len(table.texts), language, tuple(figures), values, notes)


def _check(table: Table, measures: Sequence[Measure | str], language: str | None, groups: Sequence[str] | None) -> None:
    if not table.texts:
        raise InputError("there are no texts to measure")
    if isinstance(measures, str) or not measures:
        raise InputError("expected a list of at least one measure, such as ['dist-2']")
    if language is not None and not _LANGUAGE.fullmatch(language):
        raise InputError(f"the language is `{language}`; expected a code of two or three letters, such as en or fa")
    if groups is not None and (isinstance(groups, str) or len(groups) != len(table.texts)):
        raise InputError(f"groups has {len(groups):,} entries for {len(table.texts):,} texts; expected one for each")


def _sets(n: int, groups: Sequence[str] | None) -> dict[str | None, Rows]:
    """The rows of all texts, and of each group, in the order in which groups come."""
    sets: dict[str | None, Rows] = {None: np.arange(n)}
    if groups is not None:
        named = np.array(list(groups), dtype=object)
        sets |= {group: np.flatnonzero(named == group) for group in dict.fromkeys(groups)}
    return sets


def _told(notes: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Each note once, after the names of the measures that it is about."""
    about: dict[str, list[str]] = {}
    for name, note in notes:
        about.setdefault(note, []).append(name)
    return tuple(f"{', '.join(dict.fromkeys(names))}: {note}" for note, names in about.items())


def _nothing(why: str) -> Found | None:
    return Found(None, 0, undefined=why) if why else None


def _figure(of: Measure, name: str, group: str | None, found: Found, warning: str) -> TextFigure:
    left_out = dict(found.left_out)
    return TextFigure(str(of), name, group, of.rule, found.value, found.n, found.sd, left_out, found.undefined, warning)


def _names(measures: Sequence[Measure]) -> list[str]:
    """The short name of each, whole where two would have the same."""
    short = [one.short for one in measures]
    return [name if short.count(name) == 1 else str(one) for one, name in zip(measures, short, strict=True)]


def _other_languages(of: Measure, table: Table, language: str | None) -> str:
    """That a measure's model reads texts which it was not trained on; empty where it does not, or nobody can say."""
    model = getattr(of, "model", "")
    if not is_english(model):
        return ""
    if language not in (None, ENGLISH):
        return f"{model} was trained on English alone; the texts are in `{language}`"
    if not (others := table.once(("not", ENGLISH), lambda: _sure_of_another(table.every_text()))):
        return ""
    named = ", ".join(f"{n:,} in `{code}`" for code, n in others.most_common())
    n, all_ = others.total(), len(table.every_text())
    return f"{model} was trained on English alone, and {n:,} of {all_:,} texts are in another language: {named}"


def _sure_of_another(texts: Sequence[str]) -> Counter[str]:
    """How many texts are in which other language than English."""
    from fcpair.models.language import other_language

    others = (other_language(text, ENGLISH) for text in texts)
    return Counter(other[0] for other in others if other)
