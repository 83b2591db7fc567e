"""Pairs in dispute, and where each pair stands: `pair_states` is the one place for the latter."""
