"""The measures of texts by their names."""

from __future__ import annotations

import re

from fcpair.errors import InputError
from fcpair.stages.questions.named_values import parse_named
from fcpair.texts.measures.base import Measure
from fcpair.texts.measures.embeddings import BertScore, Div, Homogenization, Mover
from fcpair.texts.measures.model_scores import Head, Perplexity, Regression
from fcpair.texts.measures.ngrams import Dist, Ent, Ngd, NgramMeasure, SelfBleu, with_n
from fcpair.texts.measures.novelty import Novelty
from fcpair.texts.measures.overlap import Bleu, Chrf, Gleu, Meteor, RougeL
from fcpair.texts.measures.readability import DaleChall, FleschKincaid

MEASURES: dict[str, type[Measure]] = {
    measure.word: measure
    for measure in (
        *(Bleu, Chrf, Gleu, Meteor, RougeL, BertScore, Mover, Regression),
        *(Dist, Ent, Ngd, Div, Homogenization, SelfBleu, Novelty),
        *(FleschKincaid, DaleChall, Perplexity, Head),
    )
}
_NUMBERED = re.compile(r"\s*([a-z]+)-([0-9]{1,9})\s*((?:\(.*)?)", re.DOTALL)


def parse_measure(text: str) -> Measure:
    """Read a measure's name, such as `dist-2`, `bleu(per_text=true)` or `head:MODEL(label=toxic)`.

    Raises:
        InputError: there is no such measure or option, a value cannot be used, an n-gram measure without its number.
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
        return with_n(measure, number)
    except InputError as error:
        raise InputError(f"measure `{text}`: {error}") from None
