"""Measuring texts by the names of measures: tried on copies where they have references, then for all and each group."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from fcpair.arrays import Ints
from fcpair.errors import InputError
from fcpair.models.encode import Progress
from fcpair.models.language import other_language
from fcpair.models.model_files import is_english
from fcpair.param_values import check_rules
from fcpair.stages.corpus.text_identity import identity
from fcpair.stages.questions.named_values import parse_named
from fcpair.texts.measures.base import ENGLISH, Measure, SetFigure, TextTable, Values
from fcpair.texts.measures.embeddings import BertScore, Div, Head, Homogenization, Mover, Perplexity, Regression
from fcpair.texts.measures.overlap import Bleu, Chrf, Gleu, Meteor, RougeL
from fcpair.texts.measures.tokens import (
    DaleChall,
    Dist,
    Ent,
    FleschKincaid,
    Ngd,
    NgramMeasure,
    Novelty,
    SelfBleu,
    has_no_spaces,
)

MEASURES: dict[str, type[Measure]] = {
    measure.word: measure
    for measure in (
        *(Bleu, Chrf, Gleu, Meteor, RougeL, BertScore, Mover, Regression),
        *(Dist, Ent, Ngd, Div, Homogenization, SelfBleu, Novelty),
        *(FleschKincaid, DaleChall, Perplexity, Head),
    )
}
_NUMBERED = re.compile(r"\s*([a-z]+)-([0-9]{1,9})\s*((?:\(.*)?)", re.DOTALL)
_LANGUAGE = re.compile("[a-z]{2,3}")
Columns = Mapping[str, Sequence[str]]


def parse_measure(text: str) -> Measure:
    """Read a measure's name, such as `dist-2`, `bleu(per_text=true)` or `head:MODEL(label=toxic)`; InputError for no
    such measure or option, a value that cannot be used, an n-gram measure without its number.
    """
    match = _NUMBERED.fullmatch(text)
    number = int(match[2]) if match and issubclass(MEASURES.get(match[1], Measure), NgramMeasure) else None
    measure: Measure = parse_named(
        f"{match[1]}{match[3]}" if match and number is not None else text, MEASURES, "measure"
    )
    if not isinstance(measure, NgramMeasure):
        return measure
    if number is None:
        raise InputError(f"measure `{text}`: the number of tokens is missing; expected a name such as {measure.word}-2")
    try:
        return replace(measure, n=number)
    except InputError as error:
        raise InputError(f"measure `{text}`: {error}") from None


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

    Raises InputError for a string where a list belongs, lists of different lengths, no text or measure, a measure that
    makes no sense in the language, or that needs references or columns which are not there; ModelError where a model
    cannot be had or used.
    """
    table = TextTable(texts, references, beside, progress)
    n_texts = len(table.texts)
    is_code = language is None or _LANGUAGE.fullmatch(language)
    expected = "a code of two or three letters, such as en or fa"
    check_rules(
        (not table.texts, "there are no texts to measure"),
        (isinstance(measures, str) or not measures, "expected a list of at least one measure, such as ['dist-2']"),
        (not is_code, f"the language is `{language}`; expected {expected}"),
    )
    if groups is not None and (isinstance(groups, str) or len(groups) != n_texts):
        raise InputError(f"groups has {len(groups):,} entries for {n_texts:,} texts; expected one for each")
    parsed = (chosen if isinstance(chosen, Measure) else parse_measure(chosen) for chosen in measures)
    adapted = list(dict.fromkeys(chosen.for_language(language) for chosen in parsed))
    for text_measure in adapted:
        text_measure.check(table)
    unfit_reasons = {text_measure: text_measure.unfit_reason(table) for text_measure in adapted}
    short = Counter(text_measure.short_name for text_measure in adapted)
    sets: dict[str | None, Ints] = {None: np.arange(n_texts)}
    if groups is not None:
        named = np.array(list(groups), dtype=object)
        sets |= {group: np.flatnonzero(named == group) for group in dict.fromkeys(groups)}
    figures, values = list[TextFigure](), dict[str, Values]()
    warnings = {chosen: _warning(chosen, table, language) for chosen in adapted}
    for text_measure, why in unfit_reasons.items():
        full, rule, tokens = str(text_measure), text_measure.rule, text_measure.tokeniser
        name = text_measure.short_name if short[text_measure.short_name] == 1 else full
        warning = warnings[text_measure]
        for group, rows in sets.items():
            of_set = SetFigure(None, 0, undefined=why) if why else text_measure.set_figure(table, rows)
            figures.append(TextFigure(full, name, group, rule, warning=warning, tokens=tokens, **vars(of_set)))
        if not text_measure.is_pooled:
            undefined = text_measure.undefined_everywhere(table, why) if why else None
            values[name] = undefined or text_measure.values(table)
    about: dict[str, list[str]] = {}  # each note once, after the names of the measures that it is about
    for text_measure, why in unfit_reasons.items():
        for note in (*(() if why else text_measure.notes(table)), warnings[text_measure]):
            if note:
                about.setdefault(note, []).append(text_measure.short_name)
    notes = tuple(f"{', '.join(dict.fromkeys(names))}: {note}" for note, names in about.items())
    return Measured(n_texts, language, tuple(figures), values, notes)


def _warning(text_measure: Measure, table: TextTable, language: str | None) -> str:
    # Empty where neither is so, or nobody can say.
    model, texts = getattr(text_measure, "model", ""), table.distinct_texts()
    if is_english(model):
        if language not in (None, ENGLISH):
            return f"{model} was trained on English alone; the texts are in `{language}`"
        others = (other_language(text, ENGLISH) for text in texts)
        counts = table.compute_once(("not", ENGLISH), lambda: Counter(other[0] for other in others if other))
        if counts:
            named = ", ".join(f"{n:,} in `{code}`" for code, n in counts.most_common())
            n, trained = counts.total(), f"{model} was trained on English alone"
            return f"{trained}, and {n:,} of {len(texts):,} texts are in another language: {named}"
    if text_measure.tokeniser not in ("space", "words", "13a", "intl"):
        return ""
    n = table.compute_once("without spaces", lambda: sum(map(has_no_spaces, texts)))
    cause = f"where tokens={text_measure.tokeniser} takes whole sentences for one token; use tokens=char"
    return f"{n:,} of {len(texts):,} texts are in a script without spaces, {cause}" if n else ""


def references_of(columns: Columns, text: str, names: Sequence[str], row: str | None = None) -> list[tuple[str, ...]]:
    """The references of each text: what stands in some columns beside it, empty cells left out, each once.

    With `row`, a column, those of all rows that have the same there: all counter-narratives of an HS, say. The column
    of the texts may then be among the names: what stands in the other rows are references, and never the text's own.
    Raises InputError where a text would be its own reference.
    """
    if text in names and row is None:
        raise InputError(
            f"column `{text}` holds the texts, and each would be its own reference; name another column, or one whose "
            "rows belong together (row)"
        )
    others = [name for name in names if name != text]
    beside = [[columns[name][at] for name in others] for at in range(len(columns[text]))]
    if row is None:
        return [tuple(dict.fromkeys(filter(str.strip, cells))) for cells in beside]
    rows: dict[str, list[int]] = {}
    for at, of in enumerate(columns[row]):
        rows.setdefault(identity(of), []).append(at)
    references = []
    for at, of in enumerate(columns[row]):
        same_rows = rows[identity(of)]
        own_column = [columns[text][other_row] for other_row in same_rows if other_row != at] if text in names else []
        cells = [*own_column, *(cell for other_row in same_rows for cell in beside[other_row])]
        references.append(tuple(dict.fromkeys(filter(str.strip, cells))))
    return references
