"""Surveys, templates and bias: ask, bias."""
