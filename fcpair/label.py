"""Label schemes: what a judgement can say, and the words for it in files."""

from __future__ import annotations

from dataclasses import asdict, astuple
from typing import Any

from fcpair.errors import RecipeError
from fcpair.records import Choice, Scheme, Verdict

APPROPRIATENESS = Scheme(
    (
        Choice(0, "not_appropriate"),
        Choice(1, "not_sure", definite=False),
        Choice(2, "appropriate", positive=True),
    )
)
VERDICTS = Scheme((Choice(int(Verdict.DISAGREE), "disagree"), Choice(int(Verdict.AGREE), "agree", positive=True)))
SKIP = "skip"
WITHDRAWN = "withdrawn"  # what is said of an answer that was taken back
LONGEST_NAME = 100
IRRECONCILABLE = "irreconcilable"
NO_CODE = -1  # stands for "no code" in integer columns: a skip, a discarded pair, nothing there


def scheme_record(scheme: Scheme) -> list[dict[str, Any]]:
    """The scheme as the study keeps it and as a recipe writes it."""
    return [asdict(choice) for choice in scheme]


def parse_scheme(choices: list[dict[str, Any]]) -> Scheme:
    """The scheme of a list of tables: `code`, `name` and, where not the default, `definite` and `positive`.

    Raises:
        RecipeError: fewer than two definite choices, none or all of them positive, a code or name twice (case does
            not tell names apart), a name with a meaning of its own, a negative code, an unknown key, a value of the
            wrong type.
    """
    try:
        read = [Choice(**choice) for choice in choices]
    except TypeError as error:
        raise RecipeError(f"a label choice cannot be read: {error}; expected code, name, definite, positive") from None
    for choice in read:
        if [type(value) for value in astuple(choice)] != [int, str, bool, bool]:
            raise RecipeError(f"the label choice {choice.code}, `{choice.name}`: a code is a number, a name is text")
    scheme = Scheme(tuple(sorted(read, key=lambda choice: choice.code)))
    names = [_word(choice) for choice in scheme]
    positive, definite = set(scheme.positive), set(scheme.definite)
    problems = (
        (len(definite) < 2, "at least two definite choices are needed"),
        (not positive or not positive < definite, "some, not all, of the definite choices must be positive"),
        (len(set(scheme.codes)) < len(names) or len(set(names)) < len(names), "a code or a name is duplicated"),
        (bool({SKIP, IRRECONCILABLE} & set(names)), f"`{SKIP}` and `{IRRECONCILABLE}` have a meaning of their own"),
        (any(not name or name.isdecimal() for name in names), "a name is a word, not empty and no number"),
        (any(len(name) > LONGEST_NAME for name in names), f"a name has at most {LONGEST_NAME} characters"),
        (any(code < 0 for code in scheme.codes), "codes count from 0"),
    )
    for failed, message in problems:
        if failed:
            raise RecipeError(f"the label scheme: {message}")
    return scheme


def grades_of(scheme: Scheme) -> dict[int, int] | None:
    """The grade of each definite label, by its code, 0 the least; None where the labels are no grades.

    They are where two or more labels are positive and all of these stand on one side of the others, as on a scale of
    five points. A grade is how far a code is from that of the worst label.
    """
    definite, positive = scheme.definite, set(scheme.positive)
    others = [code for code in definite if code not in positive]
    if len(positive) < 2:
        return None
    if min(positive) > max(others):
        return {code: code - min(definite) for code in definite}
    if max(positive) < min(others):
        return {code: max(definite) - code for code in definite}
    return None


def answer_words(scheme: Scheme) -> tuple[str, ...]:
    """What somebody who answers can choose from: every name, and `skip`."""
    return (*(choice.name for choice in scheme), SKIP)


def decision_words(scheme: Scheme) -> tuple[str, ...]:
    """What somebody who decides can choose from: every definite name, and `irreconcilable`."""
    return (*(choice.name for choice in scheme if choice.definite), IRRECONCILABLE)


def label_words(scheme: Scheme) -> dict[str, int]:
    """What a file may say in a label column: a code, a name, or `skip`."""
    return _words(scheme.choices) | {SKIP: NO_CODE}


def outcome_words(scheme: Scheme) -> dict[str, int]:
    """What a file may say of a conflict: a definite code or name, or `irreconcilable`."""
    definite = tuple(choice for choice in scheme if choice.definite)
    return _words(definite) | {IRRECONCILABLE: NO_CODE}


def _words(choices: tuple[Choice, ...]) -> dict[str, int]:
    return {word: choice.code for choice in choices for word in (str(choice.code), _word(choice))}


def _word(choice: Choice) -> str:
    return choice.name.strip().lower()
