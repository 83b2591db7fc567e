"""The stages: pure functions on arrays, frames and records; randomness enters only through a seed.

`corpus/sample.py` is the one place for the order in which things are drawn: whatever draws rows of files, texts or
people goes over `own_order`. Cells are drawn by their numbers.
"""
