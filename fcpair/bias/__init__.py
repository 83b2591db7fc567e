"""Scores of bias tests: questions about two groups, answered by models, as BBQ and its kin put them."""

from fcpair.bias.answered import UNREADABLE, Answered
from fcpair.bias.score import BiasFigure, Scored, score
from fcpair.bias.scores import SCHEMES, Score

__all__ = ["SCHEMES", "UNREADABLE", "Answered", "BiasFigure", "Score", "Scored", "score"]
