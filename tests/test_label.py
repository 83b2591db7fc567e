"""Label schemes: FC-CONAN's codes, schemes of one's own, and what a file may say."""

from __future__ import annotations

from typing import Any

import pytest

from fcpair.errors import RecipeError
from fcpair.label import APPROPRIATENESS, NO_CODE, VERDICTS, label_words, outcome_words, parse_scheme, scheme_record
from fcpair.records import Choice, Scheme

STARS = Scheme(
    (
        Choice(0, "bad"),
        Choice(1, "poor"),
        Choice(3, "Good", positive=True),
        Choice(7, "no idea", definite=False),
    )
)


def choice(code: Any, name: Any, **more: Any) -> dict[str, Any]:
    return {"code": code, "name": name, **more}


def test_the_default_scheme_has_fc_conans_codes() -> None:
    assert {each.code: each.name for each in APPROPRIATENESS} == {
        0: "not_appropriate",
        1: "not_sure",
        2: "appropriate",
    }
    assert (APPROPRIATENESS.definite, APPROPRIATENESS.positive) == ((0, 2), (2,))


def test_a_scheme_gives_its_choice_by_code() -> None:
    assert STARS[3].name == "Good"
    assert STARS.codes == (0, 1, 3, 7)
    with pytest.raises(KeyError):
        STARS[2]


@pytest.mark.parametrize("scheme", [APPROPRIATENESS, VERDICTS, STARS])
def test_a_scheme_is_the_same_after_it_was_kept(scheme: Scheme) -> None:
    assert parse_scheme(scheme_record(scheme)) == scheme


def test_choices_are_ordered_by_code_and_their_defaults_filled_in() -> None:
    assert parse_scheme([choice(5, "yes", positive=True), choice(2, "no")]) == Scheme(
        (Choice(2, "no", definite=True, positive=False), Choice(5, "yes", definite=True, positive=True))
    )


NO, YES = choice(0, "no"), choice(1, "yes", positive=True)


@pytest.mark.parametrize(
    ("choices", "problem"),
    [
        ([], "at least two definite choices"),
        ([YES], "at least two definite choices"),
        ([YES, choice(0, "maybe", definite=False)], "at least two definite choices"),
        ([NO, choice(1, "never")], "must be positive"),
        ([YES, choice(2, "always", positive=True)], "must be positive"),
        ([NO, choice(2, "never"), choice(1, "maybe", definite=False, positive=True)], "must be positive"),
        ([NO, YES, choice(1, "oui", positive=True)], "a code or a name is duplicated"),
        ([NO, YES, choice(2, "no")], "a code or a name is duplicated"),
        ([NO, YES, choice(2, " No ")], "a code or a name is duplicated"),
        ([NO, YES, choice(2, "skip")], "a meaning of their own"),
        ([NO, YES, choice(2, "Skip")], "a meaning of their own"),
        ([NO, YES, choice(2, "irreconcilable")], "a meaning of their own"),
        ([NO, YES, choice(2, "")], "a name is a word"),
        ([NO, YES, choice(2, "1")], "a name is a word"),
        ([NO, YES, choice(-1, "never")], "codes count from 0"),
        ([NO, YES, choice("2", "never")], "a code is a number"),
        ([NO, YES, choice(0.5, "half")], "a code is a number"),
        ([NO, YES, choice(True, "true")], "a code is a number"),
        ([NO, YES, choice(2, 3)], "a name is text"),
        ([NO, YES, choice(2, "never", definite="yes")], "the label choice 2, `never`"),
        ([NO, YES, choice(2, "never", weight=3)], "cannot be read.*weight"),
        ([NO, {"name": "yes"}], "cannot be read.*code"),
    ],
)
def test_a_scheme_that_cannot_work_is_refused(choices: list[dict[str, Any]], problem: str) -> None:
    with pytest.raises(RecipeError, match=problem):
        parse_scheme(choices)


def test_a_label_is_a_code_a_name_or_skip() -> None:
    assert label_words(STARS) == {
        **{"0": 0, "1": 1, "3": 3, "7": 7},
        **{"bad": 0, "poor": 1, "good": 3, "no idea": 7},
        "skip": NO_CODE,
    }


def test_an_outcome_is_a_definite_label_or_irreconcilable() -> None:
    assert outcome_words(STARS) == {
        **{"0": 0, "1": 1, "3": 3},
        **{"bad": 0, "poor": 1, "good": 3},
        "irreconcilable": NO_CODE,
    }
