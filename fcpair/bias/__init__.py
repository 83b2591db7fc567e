"""Scores of bias tests: questions about two groups, answered by models, as BBQ and its kin put them."""

from fcpair.bias.answered import TIED, UNREADABLE, Answered, Answers
from fcpair.bias.divergence import Diverged, Divergence, StatementDivergence, diverged
from fcpair.bias.items import answers_to_items
from fcpair.bias.score import BiasFigure, Scored, score
from fcpair.bias.scores import SCHEMES, Score

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
