"""Questions as people read them: the names that a study has, wordings held against these, and forms with wordings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fcpair.errors import InputError, nearest_name
from fcpair.stages.questions.form import Form
from fcpair.stages.questions.labels import VERDICT
from fcpair.words import Wording, Words

VERDICTS = Form((("verdict", VERDICT),))  # what validators are asked, in grids that are not validated yet, too


@dataclass(frozen=True)
class GridNames:
    """The names that a grid has: its own, those of its `sides` and of their texts that are names, and its `forms`."""

    grid: str
    sides: tuple[str, ...]
    forms: tuple[Form, ...]

    @property
    def questions(self) -> Iterator[tuple[str, list[str]]]:
        """The questions of all forms, each with its options."""
        for form in (*self.forms, VERDICTS):
            yield from ((question["name"], _option_names(question)) for question in form.as_json())


def check_words(words: Words, grids: Sequence[GridNames]) -> None:
    """Raise an ExceptionGroup of InputErrors for all wordings of what these grids do not have."""
    questions = [(names.grid, question, options) for names in grids for question, options in names.questions]
    options = [(grid, question, name) for grid, question, names in questions for name in names]
    errors = [
        *_unknown_names("questions", words.questions, [(grid, question) for grid, question, _ in questions]),
        *_unknown_names("options", words.options, options),
        *_unknown_names("sides", words.sides, [(side,) for names in grids for side in names.sides]),
    ]
    if errors:
        raise ExceptionGroup("wordings of what the study does not have", errors)


def _unknown_names(table: str, wordings: Iterable[str], known: Sequence[tuple[str, ...]]) -> Iterator[InputError]:
    """Yield an error for each name that is none of the `known` ones, which may be preceded by what they are part of."""
    known_names = dict.fromkeys("/".join(path[at:]) for path in known for at in range(len(path)))
    short_names = dict.fromkeys(path[-1] for path in known)
    for name in wordings:
        if name not in known_names:
            near = nearest_name(name, known_names)
            hint = f"did you mean `{near}`?" if near else f"there are {', '.join(short_names)}"
            yield InputError(f"[words]: `{table}` has `{name}`, which this study does not have; {hint}")


def _option_names(question: dict[str, Any]) -> list[str]:
    """The names of all that can be chosen in a question, as `Form.as_json` has it."""
    acts = question.get("acts", {}).get("choices", [])
    return [*question.get("choices", []), *question.get("reasons", []), *acts]


def with_wordings(form: list[dict[str, Any]], words: Words, grid: str) -> list[dict[str, Any]]:
    """A form as pages need it (`Form.as_json`), with `text` and `help` of each question that has them.

    Where options have any, `texts` and `helps` stand beside their names, None for those without.
    """
    return [_with_wording(question, words, grid) for question in form]


def _with_wording(question: dict[str, Any], words: Words, grid: str) -> dict[str, Any]:
    def of_options(names: Sequence[str]) -> dict[str, Any]:
        wordings = [words.option(grid, question["name"], name) for name in names]
        columns = {"texts": [one.text for one in wordings], "helps": [one.help for one in wordings]}
        return {key: column for key, column in columns.items() if any(column)}

    worded = question | present_parts(words.question(grid, question["name"]))
    worded |= of_options(question.get("choices") or question.get("reasons") or [])
    if acts := question.get("acts"):
        worded["acts"] = acts | of_options(acts["choices"])
    return worded


def option_wordings(form: list[dict[str, Any]], words: Words, grid: str) -> dict[str, dict[str, str]]:
    """The options of a form that have a wording, each with the parts of it."""
    options = {
        name: words.option(grid, question["name"], name) for question in form for name in _option_names(question)
    }
    return {name: present_parts(wording) for name, wording in options.items() if any(wording)}


def present_parts(wording: Wording) -> dict[str, str]:
    """The parts that a wording has, by name."""
    return {part: text for part, text in wording._asdict().items() if text is not None}
