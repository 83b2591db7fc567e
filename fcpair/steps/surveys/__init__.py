"""Surveys, items of templates, and groups of those who answered."""
