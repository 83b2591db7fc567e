"""The stages: pure functions on arrays, frames and records; randomness only through a seed.

A stage does not know that a database, a terminal or a browser exists.
"""
