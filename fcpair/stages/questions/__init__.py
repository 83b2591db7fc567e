"""Questions: values that know their answers, and whose printed form can be read back. A new kind goes into `KINDS`.

`base` says what every question has, `named_values` how any value with options is written; the kinds are in `closed` and
`text_question`. `form` joins questions that are answered together; `labels` has what tiers rest on.
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
