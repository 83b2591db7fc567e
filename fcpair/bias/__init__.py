"""Scores of bias tests: questions about two groups, answered by models, as BBQ and its kin put them."""

from fcpair.bias.answers import TIED, UNREADABLE, Answered, Answers
from fcpair.bias.answers_to_items import answers_to_items
from fcpair.bias.divergence import Diverged, Divergence, StatementDivergence, diverged
from fcpair.bias.formulas import SCHEMES, Score
from fcpair.bias.scoring import BiasFigure, Scored, score

__all__ = [
    "SCHEMES",
    "TIED",
    "UNREADABLE",
    "Answered",
    "Answers",
    "BiasFigure",
    "Diverged",
    "Divergence",
    "Score",
    "Scored",
    "StatementDivergence",
    "answers_to_items",
    "diverged",
    "score",
]
