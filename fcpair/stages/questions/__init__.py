"""Questions: values that know their answers, and whose printed form can be read back. A new kind goes into `KINDS`.

`base` says what every question has, with the keys by which answers are chosen, and `named_values` how one is written,
or any value with options, such as a measure; the kinds are in `closed` and `text_question`. `form` lists them, joins
questions that are answered together, and turns answers into arrays. `labels` has what tiers and files of labels rest
on, and what people read in place of names.
"""

from fcpair.stages.questions.base import NO_CODE, SKIP, Choice, Closed, Part, Question
from fcpair.stages.questions.closed import IRRECONCILABLE, LONGEST_NAME, AnyOf, OneOf, Scale
from fcpair.stages.questions.form import KINDS, Form, When, parse_form, parse_question
from fcpair.stages.questions.text_question import Curate, Edit, Text, n_words

__all__ = [
    "IRRECONCILABLE",
    "KINDS",
    "LONGEST_NAME",
    "NO_CODE",
    "SKIP",
    "AnyOf",
    "Choice",
    "Closed",
    "Curate",
    "Edit",
    "Form",
    "OneOf",
    "Part",
    "Question",
    "Scale",
    "Text",
    "When",
    "n_words",
    "parse_form",
    "parse_question",
]
