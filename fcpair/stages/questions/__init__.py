"""Questions: values that know their answers, and whose printed form can be read back. A new kind goes into `KINDS`.

`base` says what every question has, `notation` how one is written; the kinds are in `closed`, `scale`, `any_of`,
`text_question` and `curate`, and `parse` lists them. `form` joins questions that are answered together, `labels` has
what tiers and files of labels rest on, `answer_keys` the keys by which answers are chosen, and `answer_arrays` turns
answers into arrays. `wording` has what people read in place of names. `named_values` makes any value with options,
such as a measure, one whose name can be read back.
"""

from fcpair.stages.questions.any_of import AnyOf
from fcpair.stages.questions.base import NO_CODE, SKIP, Choice, Closed, Part, Question
from fcpair.stages.questions.closed import IRRECONCILABLE, LONGEST_NAME, OneOf
from fcpair.stages.questions.curate import Curate
from fcpair.stages.questions.form import Form, When, parse_form
from fcpair.stages.questions.parse import KINDS, parse_question
from fcpair.stages.questions.scale import Scale
from fcpair.stages.questions.text_question import Edit, Text, n_words

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
