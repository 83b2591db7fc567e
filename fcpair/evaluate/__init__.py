"""Evaluation of retrieval systems: systems, measures, bounds, comparisons, tables and figures."""
