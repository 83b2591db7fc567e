"""Pairs in dispute, and where each pair stands: `adjudications.pair_states` is the one place for the latter."""
