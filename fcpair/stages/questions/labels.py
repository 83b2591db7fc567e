"""The closed questions of labelling and validating, what tiers need and can hold; and questions as people read them:
the names that a study has, wordings held against these, and forms with wordings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from fcpair.errors import InputError, RecipeError, nearest_name, suggest_name
from fcpair.param_values import check_rules
from fcpair.records import TIERS
from fcpair.sentences import say
from fcpair.stages.questions.base import SKIP, Choice, Closed, Question
from fcpair.stages.questions.closed import IRRECONCILABLE, OneOf, Scale
from fcpair.stages.questions.form import Form, parse_question
from fcpair.tier_plans import path_upwards, read_tiers
from fcpair.words import Wording, Words

APPROPRIATENESS = OneOf(
    (Choice(0, "not_appropriate"), Choice(1, "not_sure", definite=False), Choice(2, "appropriate", positive=True))
)
VERDICT = OneOf((Choice(0, "disagree"), Choice(1, "agree", positive=True)))
DISAGREE, AGREE = VERDICT.codes


def need_tiers(question: Question[Any]) -> Closed:
    """The question; InputError, with the reason, unless its answers can decide cells, of which tiers can be made."""
    if not isinstance(question, Closed):
        raise InputError.say(
            "`%(question)s` cannot decide a cell for tiers; expected one_of(...) or scale(...)", question=str(question)
        )
    try:
        check_rules(*_tier_problems(question.choices))
    except InputError as error:
        raise InputError.say(
            "`%(question)s` cannot decide a cell for tiers: %(why)s", question=str(question), why=str(error)
        ) from None
    return question


def tier_obstacle(question: Question[Any]) -> str:
    """The reason why `need_tiers` refuses a question; empty where it does not."""
    try:
        need_tiers(question)
    except InputError as error:
        return str(error)
    return ""


def _tier_problems(choices: Sequence[Choice]) -> Iterator[tuple[bool, str]]:
    definite = {choice.code for choice in choices if choice.definite}
    positive = {choice.code for choice in choices if choice.positive}
    yield len(definite) < 2, say("at least two definite choices are needed")
    yield not positive or not positive < definite, say("some, not all, of the definite choices must be positive")


def read_labels(text: str) -> Closed:
    """The question of labels from its printed form; InputError also for what `need_tiers` refuses."""
    return need_tiers(parse_question(text))


def read_choices(tables: Sequence[dict[str, Any]]) -> OneOf:
    """The question of the tables of a recipe: `code`, `name` and, where not the default, `definite` and `positive`.
    Raises RecipeError for what `read_labels` refuses, an unknown key, a value of the wrong type.
    """
    try:
        choices = [Choice(**table) for table in tables]
    except TypeError as error:
        raise RecipeError(f"a label choice cannot be read: {error}; expected code, name, definite, positive") from None
    for choice in choices:
        if [type(value) for value in astuple(choice)] != [int, str, bool, bool]:
            raise RecipeError(f"the label choice {choice.code}, `{choice.name}`: a code is a number, a name is text")
    try:
        check_rules(*_tier_problems(choices))
        question = OneOf(tuple(choices))
        question.check_new()
        return question
    except InputError as error:
        raise RecipeError(f"the label scheme: {error}") from None


def grades_of(question: Closed) -> dict[int, int] | None:
    """The grade of each definite answer, by its code, 0 the worst; None where the answers are no grades: unless two or
    more are positive, all on one side of the others, as on a scale of five points.
    """
    definite, positive = question.definite, set(question.positive)
    others = [code for code in definite if code not in positive]
    if len(positive) < 2 or not others:
        return None
    if min(positive) > max(others):
        return {code: code - min(definite) for code in definite}
    return {code: max(definite) - code for code in definite} if max(positive) < min(others) else None


def positive_names(question: Closed) -> list[str]:
    """The names of the positive answers; of a scale, the lowest of them and all above it: `4 or more`."""
    names = [question[code].name for code in question.positive]
    return [f"{names[0]} or more"] if names and isinstance(question, Scale) else names


def final_names(question: Closed) -> list[str]:
    """The names of the definite answers; of a scale, its range: `1 to 5 by 0.5`."""
    return [question.range] if isinstance(question, Scale) else [question[code].name for code in question.definite]


def answer_words(question: Closed) -> tuple[str, ...]:
    """Words that somebody who answers can choose from: every name, and `skip`."""
    return (*(choice.name for choice in question), SKIP)


def decision_words(question: Closed) -> tuple[str, ...]:
    """Words that somebody who decides can choose from: every definite name, and `irreconcilable`."""
    return (*(choice.name for choice in question if choice.definite), IRRECONCILABLE)


def label_reader(question: Closed) -> Callable[[str], int]:
    """Reader of a cell of a label column: an answer, or `skip`, which is -1."""
    return question.cell_reader(SKIP)


def outcome_reader(question: Closed) -> Callable[[str], int]:
    """Reader of what a file says of a conflict: a definite answer, or `irreconcilable`, which is -1."""
    return question.cell_reader(IRRECONCILABLE, final=True)


def check_own_tiers(
    tiers: Mapping[str, Any], question: Question[Any], *, n_people: int | None = None, is_validated: bool = True
) -> None:
    """Raise InputError, with all reasons, where a tier of `Partition.own_tiers` can hold no pair labelled by
    `n_people`.
    """
    problems: list[str] = []
    names = [question[code].name for code in question.definite] if isinstance(question, Closed) else []
    plans = read_tiers(tiers)
    for tier, plan in plans.items():
        for answer in plan.answers:
            if answer not in names:
                hint = suggest_name(answer, names, "the definite answers are %(names)s")
                problems.append(f"no pair of the tier `{tier}` can have the final label `{answer}`; {hint}")
        if n_people is not None and (n_labels := plan.least_labels) > n_people:
            people = "1 person labels" if n_people == 1 else f"{n_people} people label"
            problems.append(f"no pair can be in the tier `{tier}`: it requires {n_labels} labels, and {people}")
        if is_validated:
            continue
        if plan.verdict != "none":
            advice = 'add the section `validate`, or give the tier `verdict = "none"`'
            problems.append(f"the tier `{tier}` requires a verdict, and nobody validates; {advice}")
        elif (outermost := path_upwards(tier, plans)[-1]) in TIERS:
            advice = "add the section `validate`, or remove `within`"
            why = f"is within `{outermost}`, which requires a verdict, and nobody validates"
            problems.append(f"the tier `{tier}` {why}; {advice}")
    if problems:
        raise InputError("; ".join(problems))


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
        *_key_problems(words, grids),
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


def _key_problems(words: Words, grids: Sequence[GridNames]) -> Iterator[InputError]:
    """Yield an error for each key that two options of one question would have, or a step of a scale."""
    forms = {(names.grid, form): form.as_json() for names in grids for form in (*names.forms, VERDICTS)}
    for (grid, form), questions in forms.items():
        for question in with_wordings(agree_first(questions) if form == VERDICTS else questions, words, grid):
            for asked in (question, question.get("acts", {})):
                owners: dict[str, str] = {}
                for name, keys in zip(_listed(asked), asked.get("keys", ()), strict=True):
                    if keys and (first := owners.setdefault(keys[0], name)) != name:
                        both, key = [first, name], keys[0]
                        yield InputError.say(
                            "the key `%(key)s` would belong to two answers: %(names)s; choose another",
                            names=both,
                            key=key,
                        )
                    if question["kind"] == "scale" and words.option(grid, question["name"], name).key:
                        yield InputError.say("`%(name)s` is a number, which is typed; give it no `key`", name=name)


def _listed(asked: dict[str, Any]) -> list[str]:
    return asked.get("choices") or asked.get("reasons") or []


def _option_names(question: dict[str, Any]) -> list[str]:
    """The names of all that can be chosen in a question, as `Form.as_json` has it."""
    return [*question.get("choices", []), *question.get("reasons", []), *question.get("acts", {}).get("choices", [])]


def with_wordings(form: list[dict[str, Any]], words: Words, grid: str) -> list[dict[str, Any]]:
    """A form as pages need it, with `text` and `help` of each question, the `keys` that options have of their own, and
    `texts`, `helps` and `colours` of options that have any.
    """

    def with_marks(question: str, asked: dict[str, Any]) -> dict[str, Any]:
        wordings = [words.option(grid, question, name) for name in _listed(asked)]
        columns = {f"{part}s": [getattr(of, part) for of in wordings] for part in ("text", "help", "colour")}
        if any(of.key for of in wordings):
            columns["keys"] = [[of.key] if of.key else keys for of, keys in zip(wordings, asked["keys"], strict=True)]
        return asked | {key: column for key, column in columns.items() if any(column)}

    worded = []
    for question in form:
        worded.append(with_marks(question["name"], question) | present_parts(words.question(grid, question["name"])))
        if acts := question.get("acts"):
            worded[-1]["acts"] = with_marks(question["name"], acts)
    return worded


def agree_first(form: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The form of a round that checks labels as its people see it: what most answer has the first key."""
    return [{**question, "choices": question["choices"][::-1]} for question in form]


def option_wordings(form: list[dict[str, Any]], words: Words, grid: str) -> dict[str, dict[str, str]]:
    """The options of a form that have a wording, each with the parts of it."""
    options = {
        name: words.option(grid, question["name"], name) for question in form for name in _option_names(question)
    }
    return {name: parts for name, wording in options.items() if (parts := present_parts(wording))}


def present_parts(wording: Wording) -> dict[str, str]:
    """The texts that a wording has, by name."""
    return {part: text for part, text in zip(("text", "help"), wording, strict=False) if text is not None}
