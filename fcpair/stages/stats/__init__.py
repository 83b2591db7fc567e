"""Figures and their intervals: agreement, differences between groups, bootstraps, tests."""
