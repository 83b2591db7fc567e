"""Scores of bias tests: questions about two groups, answered by models, as BBQ and its kin put them.

`answers` is what all readers make, `formulas` the scores, functions of counts that are listed in `SCHEMES`, `scoring`
their intervals, for one model or several, and what holds people against models. `items` has the questions.
"""

from fcpair.bias.answers import TIED, UNREADABLE, AnsweredItems, Answers, answers_to_items
from fcpair.bias.formulas import SCHEMES, Score
from fcpair.bias.scoring import (
    BiasFigure,
    Divergence,
    ModelDivergence,
    ModelScores,
    ScoredAnswers,
    StatementDivergence,
    measure_divergence,
    score,
    score_models,
)

__all__ = [
    "SCHEMES",
    "TIED",
    "UNREADABLE",
    "AnsweredItems",
    "Answers",
    "BiasFigure",
    "Divergence",
    "ModelDivergence",
    "ModelScores",
    "Score",
    "ScoredAnswers",
    "StatementDivergence",
    "answers_to_items",
    "measure_divergence",
    "score",
    "score_models",
]
