"""Pairs in dispute, and where each pair stands."""
