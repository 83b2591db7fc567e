"""Figures and their intervals: agreement, differences between groups, bootstraps, tests.

Figures of agreement are in `kappa` (every two annotators) and `multi_rater` (a whole grid); `rating_counts` has the
sums behind the latter, `jackknife_intervals` its intervals. Before there are labels, `predicted_widths` draws studies
whose labels `label_profiles` or `latent_labels` model, or which are like a pilot. Differences between groups have the
tests of `group_tests`, means over a few HS and figures over texts the intervals of `bootstraps`. `intervals` is the
one place for what all intervals share, quantiles of Student's t without scipy among it.
"""
