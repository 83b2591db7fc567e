"""Figures and their intervals: agreement, differences between groups, bootstraps, tests.

Figures of agreement are in `kappa` (every two annotators) and `multi_rater` (a whole grid); `rating_counts` has the
sums behind the latter, `jackknife_intervals` its intervals. Before there are labels, `predicted_widths` draws studies
whose labels `latent_labels` models, or which are like a pilot. Differences between groups have the tests of
`group_tests`. `intervals` is the one place for what all intervals share, quantiles of Student's t without scipy among
it, and has the bootstraps of means over a few HS and of figures over texts.
"""
