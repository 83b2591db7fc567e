"""Figures and their intervals: agreement, differences between groups, bootstraps, tests.

Figures of agreement are in `kappa` (every two annotators) and `multi_rater` (a whole grid); `rating_counts` has the
sums behind the latter, `jackknife_intervals` its intervals. Before there are labels, `predicted_widths` expects those
of labels that `label_profiles` or `latent_labels` model or `pilot_variances` measures, `simulated_means` draws some.
Differences between groups have the p of `permutation_test`.
Means over a few HS have the intervals of `bayesian_bootstrap`, figures over texts those of `percentile_bootstrap`.
`intervals` is the one place for what all intervals share; `beta_distribution` has the quantiles of Student's t, without
scipy.
"""
