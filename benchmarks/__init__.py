"""Measured work, outside the test suite: `python -m benchmarks`."""
