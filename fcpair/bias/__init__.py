"""Scores of bias tests: questions about two groups, answered by models, as BBQ and its kin put them.

`answers` is what all readers make, and the scores, functions of counts that are listed in `SCHEMES`, `scoring` their
intervals, for one model or several, and what holds people against models. `items` has the questions.
"""
