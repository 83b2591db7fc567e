"""Figures and their intervals: agreement, differences between groups, bootstraps, tests.

Figures of agreement are in `kappa` (every two annotators) and `multi_rater` (a whole grid, from the sums of
`rating_counts`), their intervals in `jackknife_intervals`. Before there are labels, `predicted_widths` draws studies,
whose labels `latent_labels` models. `intervals` is the one place for what all intervals share.
"""
