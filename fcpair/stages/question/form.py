"""A form: one or more questions, each with a name, that are answered together."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from fcpair.errors import InputError
from fcpair.stages.question.asked import Part, Question
from fcpair.stages.question.notation import QUOTED, series
from fcpair.stages.question.parse import parse_question
from fcpair.stages.question.written import Text
from fcpair.stages.spelling import identity

Answer = dict[str, Any]
_WORD = re.compile("[A-Za-z][A-Za-z0-9_]*")
_NAMED = re.compile(rf'\s*([^\s:;"()]+)\s*:\s*([^\s:;"()]+\s*\((?:{QUOTED}|[^"()])*\))\s*(?:;|\Z)', re.DOTALL)
_EXPECTED = "expected a name, a colon and a question, such as `text: text(); types: any_of(a,b)`"


@dataclass(frozen=True)
class Form:
    """Questions that are answered together, in their order: `text: text(min_words=6); types: any_of(facts,humour)`.

    An answer of a form is a dictionary: of each name, the answer of its question.

    Raises:
        InputError: no question, a duplicated name, or one that is not a word of ASCII letters, digits and `_`.
    """

    questions: tuple[tuple[str, Question[Any]], ...]

    def __post_init__(self) -> None:
        names = [name for name, _ in self.questions]
        if not names:
            raise InputError("a form has at least one question")
        for name in names:
            if not _WORD.fullmatch(name):
                raise InputError(f"`{name}` cannot name a question; expected a word of ASCII letters, digits and _")
        if len({name.lower() for name in names}) < len(names):
            raise InputError(f"the name of a question is duplicated: {', '.join(names)}")

    @classmethod
    def of(cls, questions: Mapping[str, str | Question[Any]]) -> Self:
        """The form of a table in a recipe: of each name, the question or its printed form."""
        for name, one in questions.items():
            if not isinstance(one, str | Question):
                raise InputError(f"`{name}` is `{one}`; expected a question such as `text()`")
        read = ((name, parse_question(one) if isinstance(one, str) else one) for name, one in questions.items())
        return cls(tuple(read))

    def __str__(self) -> str:
        return "; ".join(f"{name}: {question}" for name, question in self.questions)

    def __getitem__(self, name: str) -> Question[Any]:
        return dict(self.questions)[name]

    @property
    def writes(self) -> str | None:
        """The name of the question whose texts can be a side of a next grid: the first that has a text written."""
        return next((name for name, question in self.questions if isinstance(question, Text)), None)

    def text(self, answer: Answer) -> str | None:
        """The text, verbatim, that an answer adds to the study; None where nothing was written."""
        return answer[self.writes] if self.writes and identity(answer[self.writes]) else None

    def read(self, cells: Mapping[str, str]) -> Answer:
        """The answer that the cells of a row spell, each under the name of its question.

        Raises:
            InputError: all that is wrong with it: what a question refuses, a name without an answer or a question.
        """
        return self._each(cells, lambda question, cell: question.read(cell))

    def take(self, given: Mapping[str, object]) -> Answer:
        """The answer that a page or the API sends, of each name what its question stores; raises as `read` does."""
        return self._each(given, lambda question, value: question.load(value))

    def _each(self, given: Mapping[str, Any], reader: Callable[[Question[Any], Any], Any]) -> Answer:
        answer, wrong = {}, [f"`{name}` is no question here" for name in given if name not in dict(self.questions)]
        for name, question in self.questions:
            try:
                answer[name] = reader(question, given.get(name, ""))
            except InputError as error:
                found = str(error) if name in given else "an answer is missing"
                wrong.append(f"{name}: {found}" if len(self.questions) > 1 else found)
        if wrong:
            raise InputError("; ".join(wrong))
        return answer

    def store(self, answer: Answer) -> str:
        """The answer as the study keeps it: JSON, with the names in the order of the form, and texts verbatim."""
        return _json({name: question.store(answer[name]) for name, question in self.questions})

    def load(self, stored: str) -> Answer:
        """The answer that `store` gave."""
        return self.take(json.loads(stored))

    def key(self, answer: Answer) -> str:
        """The same string for answers that are the same, by which a round keeps each distinct one once."""
        return _json({name: question.key(answer[name]) for name, question in self.questions})

    def names(self, answer: Answer) -> dict[str, str]:
        """The answer as people read it, question by question."""
        return {name: question.name(answer[name]) for name, question in self.questions}

    def parts(self) -> tuple[Part, ...]:
        """The closed questions on which agreement is measured, with names such as `types: humour`."""
        return tuple(
            Part(f"{name}: {part.name}" if part.name else name, part.question)
            for name, question in self.questions
            for part in question.parts()
        )

    def part_codes(self, answer: Answer) -> tuple[int, ...]:
        """The code of the answer in each of `parts`."""
        return tuple(code for name, question in self.questions for code in question.part_codes(answer[name]))

    def as_json(self) -> list[dict[str, Any]]:
        """What a page needs to ask it: of each question its `name`, and what the question says of itself."""
        return [{"name": name, **question.as_json()} for name, question in self.questions]


def parse_form(text: str) -> Form:
    """The form that a study keeps as `text`; raises InputError for what cannot be read, and what Form refuses."""
    named = [(found[1], found[2]) for found in series(_NAMED, text.strip(), _EXPECTED)]
    return Form(tuple((name, parse_question(question, kept=True)) for name, question in named))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
