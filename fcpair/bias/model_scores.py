"""Scores of several models that answered the same items, and how far people are from each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fcpair.bias.answers import Answers
from fcpair.bias.divergence import ModelDivergence, measure_divergence
from fcpair.bias.scoring import ScoredAnswers, score
from fcpair.errors import InputError
from fcpair.params import BELIEVED

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ModelScores:
    """By who answered: the `answers`, their `scores`, and the `divergences` of people from them.

    There are no `divergences` where no survey is compared.
    """

    answers: Mapping[str, Answers]
    scores: Mapping[str, ScoredAnswers]
    divergences: Mapping[str, ModelDivergence]


def score_models(
    answers: Mapping[str, Answers],
    scheme: str,
    people: pd.DataFrame | None = None,
    *,
    question: str = BELIEVED,
    smooth: float = 0.0,
) -> ModelScores:
    """Score the answers of each model, and measure how far `people` are from it.

    Args:
        answers: by who answered.
        scheme: whose definition of the scores, as in `score`.
        people: counts of a survey, as `measure_divergence` takes them, with its `question` and `smooth`.

    Raises what `score` and `measure_divergence` do, and InputError for a `question` or `smooth` without `people`.
    """
    if people is None and (smooth or question != BELIEVED):
        raise InputError("`question` and `smooth` have no effect without `survey`; add that, or omit them")
    scores = {by: score(one.answered, scheme, one.categories) for by, one in answers.items()}
    if people is None:
        return ModelScores(answers, scores, {})
    divergences = {by: measure_divergence(one, people, question, smooth) for by, one in answers.items()}
    return ModelScores(answers, scores, divergences)
