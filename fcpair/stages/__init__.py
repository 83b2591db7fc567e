"""The stages: pure functions on arrays, frames and records; randomness enters only through a seed.

A stage does not know that a database, a terminal or a browser exists. The rooms that others rest on: `questions` says
what can be asked and answered, `stats` has the figures and their intervals.

`corpus/sample.py` is the one place for the order in which things are drawn: whatever draws rows of files, texts or
people goes over `own_order`, so that the order in which they came changes nothing. Cells are drawn by their numbers.
"""
