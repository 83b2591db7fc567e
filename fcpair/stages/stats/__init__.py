"""Figures and their intervals: agreement, differences between groups, bootstraps, tests.

The kappas of two annotators are in `kappa.py`, figures over all in `multi_rater.py`, the sums behind them in
`rating_counts.py`, their intervals in `jackknife_intervals.py`. `intervals.py` has what all intervals share.
"""
