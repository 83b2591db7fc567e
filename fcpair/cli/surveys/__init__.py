"""Surveys, templates and bias: ask, items, diversity, bias, groups."""
