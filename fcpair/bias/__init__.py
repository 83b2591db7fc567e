"""Scores of bias tests: questions about two groups, answered by models, as BBQ and its kin put them.

`answers` is what all readers make, `counts` what scores are made of, `formulas` the scores, functions of counts that
are listed in `SCHEMES`, `scoring` their intervals. `divergence` holds people against models, and `model_scores` has all
of this for several models. `items` has the questions.
"""

from fcpair.bias.answers import TIED, UNREADABLE, AnsweredItems, Answers
from fcpair.bias.answers_to_items import answers_to_items
from fcpair.bias.divergence import Divergence, ModelDivergence, StatementDivergence, measure_divergence
from fcpair.bias.formulas import SCHEMES, Score
from fcpair.bias.model_scores import ModelScores, score_models
from fcpair.bias.scoring import BiasFigure, ScoredAnswers, score

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
