"""Measures of texts, each a value with a printed name: how varied, how near to references, how readable they are.

from fcpair.texts.measures import measure, parse_measure

measured = measure(texts, [parse_measure("dist-2"), parse_measure("gleu")], references=references)
measured.figures[0].value

`base` says what a measure is, and tries those with references on copies of them first. `measuring` lists them, and has
them all measure one `TextTable`, which keeps what several of them need.
"""

from fcpair.texts.measures.base import Measure, Values
from fcpair.texts.measures.measuring import MEASURES, Measured, TextFigure, measure, parse_measure

__all__ = ["MEASURES", "Measure", "Measured", "TextFigure", "Values", "measure", "parse_measure"]
