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
from fcpair.texts.measures.base import Measure, Rows, SetFigure, Values
from fcpair.texts.measures.catalogue import parse_measure
from fcpair.texts.measures.measured_texts import TextTable
from fcpair.texts.measures.tokens import has_no_spaces

_LANGUAGE = re.compile("[a-z]{2,3}")
ENGLISH = "en"


@dataclass(frozen=True)
class TextFigure:
    """A figure for a set of texts, with what it rests on.

    `value` is None exactly where `undefined` says why. `n` texts enter it, `left_out` counts the others by the reason;
    `rule` says how it comes from the texts, and `sd` is the standard deviation over them (n - 1) where it is a mean.
    `group` is None for all texts. `warning` says what speaks against the figure, such as a model of another language.
    `tokens` is how texts were split, empty where they were not, or by a model.
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
    tokens: str = ""


@dataclass(frozen=True)
class Measured:
    """Results of measuring: the figures, and for measures that give one for each text these, by the measure's name."""

    n_texts: int
    language: str | None
    figures: tuple[TextFigure, ...]
    values: Mapping[str, Values] = field(repr=False)
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Values for JSON: all but the figures of single texts."""
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
    table = TextTable(texts, references, beside, progress)
    _check_input(table, measures, language, groups)
    parsed = [
        text_measure if isinstance(text_measure, Measure) else parse_measure(text_measure) for text_measure in measures
    ]
    adapted = list(dict.fromkeys(text_measure.for_language(language) for text_measure in parsed))
    for text_measure in adapted:
        text_measure.check(table)
    unfit_reasons = {text_measure: text_measure.unfit_reason(table) for text_measure in adapted}
    names, sets = _short_names(adapted), _rows_by_group(len(table.texts), groups)
    warnings = {
        text_measure: _language_warning(text_measure, table, language) or _token_warning(text_measure, table)
        for text_measure in adapted
    }
    figures = [
        _text_figure(
            text_measure,
            name,
            group,
            _undefined_figure(unfit_reasons[text_measure]) or text_measure.set_figure(table, rows),
            warnings[text_measure],
        )
        for text_measure, name in zip(adapted, names, strict=True)
        for group, rows in sets.items()
    ]
    values = {
        name: text_measure.undefined_everywhere(table, unfit_reasons[text_measure])
        if unfit_reasons[text_measure]
        else text_measure.values(table)
        for text_measure, name in zip(adapted, names, strict=True)
        if not text_measure.is_pooled
    }
    notes_by_measure = {
        text_measure: () if unfit_reasons[text_measure] else text_measure.notes(table) for text_measure in adapted
    }
    notes = _join_notes(
        [
            (text_measure.short_name, note)
            for text_measure in adapted
            for note in (*notes_by_measure[text_measure], warnings[text_measure])
            if note
        ]
    )
    return Measured(len(table.texts), language, tuple(figures), values, notes)


def _check_input(
    table: TextTable, measures: Sequence[Measure | str], language: str | None, groups: Sequence[str] | None
) -> None:
    if not table.texts:
        raise InputError("there are no texts to measure")
    if isinstance(measures, str) or not measures:
        raise InputError("expected a list of at least one measure, such as ['dist-2']")
    if language is not None and not _LANGUAGE.fullmatch(language):
        raise InputError(f"the language is `{language}`; expected a code of two or three letters, such as en or fa")
    if groups is not None and (isinstance(groups, str) or len(groups) != len(table.texts)):
        raise InputError(f"groups has {len(groups):,} entries for {len(table.texts):,} texts; expected one for each")


def _rows_by_group(n: int, groups: Sequence[str] | None) -> dict[str | None, Rows]:
    """The rows of all texts, and of each group, in the order in which groups come."""
    sets: dict[str | None, Rows] = {None: np.arange(n)}
    if groups is not None:
        named = np.array(list(groups), dtype=object)
        sets |= {group: np.flatnonzero(named == group) for group in dict.fromkeys(groups)}
    return sets


def _join_notes(notes: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Each note once, after the names of the measures that it is about."""
    about: dict[str, list[str]] = {}
    for name, note in notes:
        about.setdefault(note, []).append(name)
    return tuple(f"{', '.join(dict.fromkeys(names))}: {note}" for note, names in about.items())


def _undefined_figure(why: str) -> SetFigure | None:
    return SetFigure(None, 0, undefined=why) if why else None


def _text_figure(
    text_measure: Measure, name: str, group: str | None, set_figure: SetFigure, warning: str
) -> TextFigure:
    left_out = dict(set_figure.left_out)
    return TextFigure(
        str(text_measure),
        name,
        group,
        text_measure.rule,
        set_figure.value,
        set_figure.n,
        set_figure.sd,
        left_out,
        set_figure.undefined,
        warning,
        text_measure.tokeniser,
    )


def _short_names(measures: Sequence[Measure]) -> list[str]:
    """The short name of each, whole where two would have the same."""
    short = [one.short_name for one in measures]
    return [name if short.count(name) == 1 else str(one) for one, name in zip(measures, short, strict=True)]


def _language_warning(text_measure: Measure, table: TextTable, language: str | None) -> str:
    """That a measure's model reads texts which it was not trained on; empty where it does not, or nobody can say."""
    model = getattr(text_measure, "model", "")
    if not is_english(model):
        return ""
    if language not in (None, ENGLISH):
        return f"{model} was trained on English alone; the texts are in `{language}`"
    if not (
        language_counts := table.compute_once(("not", ENGLISH), lambda: _count_other_languages(table.distinct_texts()))
    ):
        return ""
    named = ", ".join(f"{n:,} in `{code}`" for code, n in language_counts.most_common())
    n, all_ = language_counts.total(), len(table.distinct_texts())
    return f"{model} was trained on English alone, and {n:,} of {all_:,} texts are in another language: {named}"


def _token_warning(text_measure: Measure, table: TextTable) -> str:
    """That texts have no spaces by which a measure's tokens could be told apart; empty where they have."""
    if text_measure.tokeniser not in ("space", "words", "13a", "intl"):
        return ""
    texts = table.distinct_texts()
    n = table.compute_once("without spaces", lambda: sum(map(has_no_spaces, texts)))
    cause = f"where tokens={text_measure.tokeniser} takes whole sentences for one token; use tokens=char"
    return f"{n:,} of {len(texts):,} texts are in a script without spaces, {cause}" if n else ""


def _count_other_languages(texts: Sequence[str]) -> Counter[str]:
    """Count the texts in each language other than English."""
    from fcpair.models.language import other_language

    others = (other_language(text, ENGLISH) for text in texts)
    return Counter(other[0] for other in others if other)
