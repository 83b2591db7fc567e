"""Reading a question from its printed form."""

from __future__ import annotations

from typing import Any

from fcpair.errors import InputError
from fcpair.stages.questions.any_of import AnyOf
from fcpair.stages.questions.base import Question
from fcpair.stages.questions.closed import OneOf
from fcpair.stages.questions.curate import Curate
from fcpair.stages.questions.notation import read_call
from fcpair.stages.questions.scale import Scale
from fcpair.stages.questions.text_question import Edit, Text

_ALL: tuple[type[OneOf] | type[AnyOf] | type[Scale] | type[Text], ...] = (
    *(OneOf, AnyOf, Scale),
    *(Text, Edit, Curate),
)
KINDS = {kind.kind: kind for kind in _ALL}


def parse_question(text: str, *, is_stored: bool = False) -> Question[Any]:
    """The question that is printed so: `one_of(no,unsure?,yes+)`, `any_of(a,b)`, `scale(1,5,0.5)`, `text()`, `edit()`,
    `curate(rude)`.

    One that a study keeps may be what a new one may not (`Question.check_new`).

    Raises:
        InputError: no such kind or option, something that cannot be read, a question that cannot be asked.
    """
    try:
        word, items = read_call(text)
        if word not in KINDS:
            raise InputError(f"there is no `{word}`; expected one of {', '.join(KINDS)}")
        question: Question[Any] = KINDS[word].from_items(items)
        if not is_stored:
            question.check_new()
        return question
    except InputError as error:
        raise InputError(f"question `{text}`: {error}") from None
