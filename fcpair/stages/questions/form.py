"""A form: questions, each with a name, that are answered together; reading one that is printed; answers as arrays."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from fcpair.errors import InputError, suggest_name
from fcpair.lazy import np
from fcpair.sentences import join, mark, say
from fcpair.stages.questions.base import NO_CODE, Closed, Part, Question
from fcpair.stages.questions.closed import AnyOf, OneOf, Scale
from fcpair.stages.questions.named_values import PLAIN, QUOTED, match_series, quote_name, read_call, unquote
from fcpair.stages.questions.text_question import Curate, Edit, Text

if TYPE_CHECKING:
    from fcpair.arrays import Floats, Ints

Answer = dict[str, Any]
_WORD = re.compile("[A-Za-z][A-Za-z0-9_]*")
_QUESTION = rf'[^\s:;"()]+\s*\((?:{QUOTED}|[^"()])*\)'
_ANSWER = f"(?:{QUOTED}|{PLAIN})"
_WHEN = rf"(?:when\s+([A-Za-z0-9_]+)\s*=\s*({_ANSWER}(?:\s*,\s*{_ANSWER})*))?\s*(?:unlike\s+([A-Za-z0-9_]+))?"
_ASKED = re.compile(rf"\s*({_QUESTION})\s*{_WHEN}\s*", re.DOTALL)
_NAMED = re.compile(rf'\s*([^\s:;"()]+)\s*:\s*({_QUESTION})\s*{_WHEN}\s*(?:;|\Z)', re.DOTALL)
_EXPECTED = "expected a name, a colon and a question, such as `text: text(); types: any_of(a,b)`"
_NOT_ASKED: tuple[Any, ...] = ("", None, [])  # what files, pages and the API say where a question is not asked


class When(NamedTuple):
    """That a question is asked only where an earlier one was answered by one of these choices."""

    question: str
    answers: tuple[str, ...]

    def __str__(self) -> str:
        return f"when {self.question}={','.join(map(quote_name, self.answers))}"


@dataclass(frozen=True)
class Form:
    """Questions that are answered together, in their order: `text: text(min_words=6); types: any_of(facts,humour)`.

    An answer is a dictionary: of each name, the answer of its question; None of one that is not asked, as it depends on
    an earlier one (`text: text() when abusive=yes`). One that is `unlike` an earlier one may not have the same answer
    (`worst: one_of(A,B,C) unlike best`). Raises InputError for no question, a duplicated name, one that is not a word
    of ASCII letters, digits and `_`, or a question that depends on no answer of an earlier `one_of(...)`.
    """

    questions: tuple[tuple[str, Question[Any]], ...]
    conditions: tuple[tuple[str, When], ...] = ()
    unlike: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not (names := [name for name, _ in self.questions]):
            raise InputError("a form has at least one question")
        for name in names:
            if not _WORD.fullmatch(name):
                raise InputError(f"`{name}` cannot name a question; expected a word of ASCII letters, digits and _")
        if len({name.lower() for name in names}) < len(names):
            raise InputError(f"the name of a question is duplicated: {', '.join(names)}")
        for name, when in self.conditions:
            earlier = names[: names.index(name)]
            condition_question = self[when.question] if when.question in earlier else None
            if not isinstance(condition_question, OneOf):
                eligible = [question for question in earlier if isinstance(self[question], OneOf)]
                hint = f"earlier are {', '.join(eligible)}" if eligible else "there is none before it"
                raise InputError(f"`{name}` {when}: `{when.question}` is not an earlier one_of(...); {hint}")
            choices = [choice.name for choice in condition_question]
            for answer in when.answers:
                if answer not in choices:
                    raise InputError(
                        f"`{name}` {when}: `{answer}` is not an answer there; {suggest_name(answer, choices)}"
                    )
        for name, other in self.unlike:
            if other not in names[: names.index(name)] or not all(isinstance(self[of], OneOf) for of in (name, other)):
                raise InputError(f"`{name}` unlike {other}: both are one_of(...), and `{other}` comes before `{name}`")

    @classmethod
    def from_table(cls, questions: Mapping[str, str | Question[Any]]) -> Self:
        """The form of a table in a recipe: of each name, the question or its printed form."""
        for name, value in questions.items():
            if not isinstance(value, str | Question):
                raise InputError(f"`{name}` is `{value}`; expected a question such as `text()`")
        parsed: list[tuple[str, Question[Any]]] = []
        conditions: list[tuple[str, When]] = []
        unlike: list[tuple[str, str]] = []
        for name, value in questions.items():
            match = _ASKED.fullmatch(value) if isinstance(value, str) else None
            printed = match[1] if match and (match[2] or match[4]) else value
            parsed.append((name, parse_question(printed) if isinstance(printed, str) else printed))
            if match and match[2]:
                conditions.append((name, _when(match[2], match[3])))
            if match and match[4]:
                unlike.append((name, match[4]))
        return cls(tuple(parsed), tuple(conditions), tuple(unlike))

    @property
    def table(self) -> dict[str, str]:
        """The questions in their printed form by their names, with what they depend on, as `from_table` takes them."""
        when = {name: f" {condition}" for name, condition in self.conditions}
        unlike = {name: f" unlike {other}" for name, other in self.unlike}
        return {name: f"{question}{when.get(name, '')}{unlike.get(name, '')}" for name, question in self.questions}

    def __str__(self) -> str:
        return "; ".join(f"{name}: {question}" for name, question in self.table.items())

    def __getitem__(self, name: str) -> Question[Any]:
        return dict(self.questions)[name]

    @property
    def written_question(self) -> str | None:
        """The name of the question whose texts can be a side of a next grid: the first that has a text written."""
        return next((name for name, question in self.questions if isinstance(question, Text)), None)

    def text(self, answer: Answer) -> str | None:
        """The text, verbatim, that an answer adds to the study; None where nothing was written, or it was rejected."""
        for name, question in self.questions:
            if isinstance(question, Text):
                body: str | None = _apply(question.body, answer[name])
                return body
        return None

    @property
    def edited_question(self) -> tuple[str, Edit] | None:
        """The first question that gives a text to be edited, after its name; None if there is none."""
        return next(((name, question) for name, question in self.questions if isinstance(question, Edit)), None)

    def is_asked(self, name: str, answer: Answer) -> bool:
        """Return whether a question is asked, by what the ones before it were answered."""
        if (when := dict(self.conditions).get(name)) is None:
            return True
        before = answer.get(when.question)
        return before is not None and self[when.question].store(before) in when.answers

    @property
    def has_always(self) -> bool:
        """Return whether the name of a cell's column is always among the labels of a question."""
        return any(isinstance(question, AnyOf) and question.always for _, question in self.questions)

    def complete(self, answer: Answer, column: str) -> Answer:
        """The answer with the name of its cell's column among the labels, where a question always has it."""
        completed = dict(answer)
        for name, question in self.questions:
            if answer.get(name) is not None and isinstance(question, AnyOf) and question.always:
                completed[name] = question.with_label(answer[name], column)
        return completed

    def read(self, cells: Mapping[str, str]) -> Answer:
        """The answer that the cells of a row spell, each under the name of its question. Raises InputError with all
        that is wrong: what a question refuses, a name without an answer or a question.
        """
        return self._read_each(cells, lambda question, cell: question.read(cell))

    def load_submitted(self, values: Mapping[str, object]) -> Answer:
        """The answer that a page or the API sends, of each name what its question stores; raises as `read` does."""
        return self._read_each(values, lambda question, value: question.load(value))

    def _read_each(self, values: Mapping[str, Any], reader: Callable[[Question[Any], Any], Any]) -> Answer:
        answer, unlike = Answer(), dict(self.unlike)
        problems: list[str] = [
            say("`%(name)s` is not a question here", name=name) for name in values if name not in dict(self.questions)
        ]
        for name, question in self.questions:
            if not self.is_asked(name, answer):
                answer[name] = None
                if values.get(name) not in _NOT_ASKED:
                    when = str(dict(self.conditions)[name])
                    problems.append(say("%(name)s: this is asked only %(when)s; leave it empty", name=name, when=when))
                continue
            try:
                answer[name] = reader(question, values.get(name, ""))
            except InputError as error:
                what, is_alone = str(error) if name in values else say("an answer is missing"), len(self.questions) == 1
                problems.append(what if is_alone else say("%(place)s: %(what)s", place=name, what=what))
                continue
            other = unlike.get(name, "")
            if answer.get(other) is not None and self[other].store(answer[other]) == question.store(answer[name]):
                same = mark("%(name)s: `%(answer)s` is the answer to %(other)s already; choose another one")
                problems.append(say(same, name=name, answer=question.name(answer[name]), other=other))
        if problems:
            raise InputError(join(problems, "; "))
        return answer

    def store(self, answer: Answer) -> str:
        """The answer as the study keeps it: JSON, with the names in the order of the form, and texts verbatim."""
        stored = {name: _apply(question.store, answer[name]) for name, question in self.questions}
        return json.dumps(stored, ensure_ascii=False, separators=(",", ":"))

    def load(self, stored: str) -> Answer:
        """The answer that `store` gave."""
        return self._read_each(json.loads(stored), lambda question, value: question.recall(value))

    @property
    def without_limits(self) -> Form:
        """The same form, with texts of any number of words."""
        unlimited = {name: of.without_limits if isinstance(of, Text) else of for name, of in self.questions}
        return replace(self, questions=tuple(unlimited.items()))

    @property
    def current(self) -> Form:
        """The same form, as a new study could ask it."""
        return replace(self, questions=tuple((name, question.current) for name, question in self.questions))

    def key(self, answer: Answer) -> str:
        """The same string for answers that are the same, by which a round keeps each distinct one once."""
        keys = {name: _apply(question.key, answer[name]) for name, question in self.questions}
        return json.dumps(keys, ensure_ascii=False, separators=(",", ":"))

    def names(self, answer: Answer) -> dict[str, str]:
        """The answer as people read it, question by question; empty where one was not asked."""
        return {name: _apply(question.name, answer[name]) or "" for name, question in self.questions}

    def parts(self) -> tuple[Part, ...]:
        """The closed questions on which agreement is measured, with names such as `types: humour`."""
        return tuple(
            Part(f"{name}: {part.name}" if part.name else name, part.question)
            for name, question in self.questions
            for part in question.parts()
        )

    def part_codes(self, answer: Answer) -> tuple[int, ...]:
        """The code of the answer in each of `parts`; -1 in those of a question that was not asked."""
        codes = (
            (NO_CODE,) * len(question.parts()) if answer[name] is None else question.part_codes(answer[name])
            for name, question in self.questions
        )
        return tuple(chain.from_iterable(codes))

    def as_json(self) -> list[dict[str, Any]]:
        """JSON that a page needs: of each question its `name`, its own JSON, `when` it is asked (see `When`), and which
        question it is `unlike`.
        """
        more: dict[str, dict[str, Any]] = {name: {"when": condition._asdict()} for name, condition in self.conditions}
        for name, other in self.unlike:
            more[name] = more.get(name, {}) | {"unlike": other}
        return [{"name": name, **question.as_json(), **more.get(name, {})} for name, question in self.questions]


def parse_form(text: str) -> Form:
    """The form that a study keeps as `text`; raises InputError for what cannot be read, and what Form refuses."""
    matches = list(match_series(_NAMED, text.strip(), _EXPECTED))
    questions = tuple((match[1], parse_question(match[2], is_stored=True)) for match in matches)
    conditions = tuple((match[1], _when(match[3], match[4])) for match in matches if match[3])
    return Form(questions, conditions, tuple((match[1], match[5]) for match in matches if match[5]))


def _when(question: str, answers: str) -> When:
    return When(question, tuple(unquote(answer) for answer in re.findall(_ANSWER, answers)))


def _apply(function: Callable[[Any], Any], answer: Any) -> Any:
    """Apply `function` to an answer; None where the question was not asked."""
    return None if answer is None else function(answer)


_ALL: tuple[type[OneOf] | type[AnyOf] | type[Scale] | type[Text], ...] = (*(OneOf, AnyOf, Scale), *(Text, Edit, Curate))
KINDS = {kind.kind: kind for kind in _ALL}


def parse_question(text: str, *, is_stored: bool = False) -> Question[Any]:
    """The question that is printed so, such as `one_of(no,unsure?,yes+)`; one that a study keeps may be what a new one
    may not (`Question.check_new`). Raises InputError for no such kind or option, or what cannot be read or asked.
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


def part_codes(question: Question[Any] | Form, stored: Sequence[Any]) -> Ints:
    """The codes of answers in each part of a question or a form, shape `(n_answers, n_parts)`; -1 for None, no answer.
    `stored` has the distinct answers of a round, as `asked.store` gave them, at one of which each judgement points.
    """
    parts = question.parts()
    nothing = (NO_CODE,) * len(parts)
    rows = [nothing if answer is None else question.part_codes(question.load(answer)) for answer in stored]
    return np.array(rows, dtype=np.int64).reshape(len(rows), len(parts))


def numbers(question: Closed, codes: Ints) -> Floats:
    """The number of each code of a closed question, of the shape of `codes`, for the interval distance; NaN for -1."""
    return np.where(codes == NO_CODE, np.nan, np.asarray(question.numbers)[np.searchsorted(question.codes, codes)])
