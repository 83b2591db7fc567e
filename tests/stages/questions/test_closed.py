"""One of several choices: what can be asked, what is read, and what is said of what cannot."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import pytest
from hypothesis import given

from fcpair.errors import InputError
from fcpair.stages.questions import AnyOf, Choice, Closed, OneOf, Text, parse_form, parse_question
from fcpair.stages.questions.labels import APPROPRIATENESS, need_tiers
from stages.questions.questions import one_ofs

STARS = OneOf(
    (Choice(7, "no idea", definite=False), Choice(0, "bad"), Choice(1, "poor"), Choice(3, "Good", positive=True))
)
PERSIAN = parse_question('one_of("خیر","نمی‌دانم"?,"بله"+)')


def one_of(text: str) -> Closed:
    question = parse_question(f"one_of({text})")
    assert isinstance(question, OneOf)
    return question


def test_the_labels_of_the_first_grid_have_fc_conans_codes() -> None:
    assert one_of("not_appropriate,not_sure?,appropriate+") == APPROPRIATENESS
    assert [astuple(choice) for choice in APPROPRIATENESS] == [
        (0, "not_appropriate", True, False),
        (1, "not_sure", False, False),
        (2, "appropriate", True, True),
    ]


def test_choices_are_held_in_the_order_of_their_codes() -> None:
    assert [choice.name for choice in STARS] == ["bad", "poor", "Good", "no idea"]
    assert (STARS.codes, STARS.definite, STARS.positive) == ((0, 1, 3, 7), (0, 1, 3), (3,))
    assert STARS[3].name == "Good"
    with pytest.raises(KeyError):
        STARS[2]


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        *[("not_sure", 1), ("Not sure", 1), (" NOT-SURE ", 1), ("not  sure", 1), ("1", 1), ("1.0", 1), ("1,00", 1)],
        *[("appropriate", 2), ("Appropriate", 2), ("2", 2)],
    ],
)
def test_a_cell_of_a_file_says_a_name_or_a_code(cell: str, code: int) -> None:
    assert APPROPRIATENESS.read(cell) == code


@pytest.mark.parametrize("cell", ["", "maybe", "3", "-1", "skip", "not", "1.5", "appropriate not"])
def test_a_cell_that_says_none_of_the_choices_is_refused(cell: str) -> None:
    expected = "expected one of 0, not_appropriate, 1, not_sure, 2, appropriate"
    with pytest.raises(InputError, match=f"^unknown label `{cell}`; {expected}$"):
        APPROPRIATENESS.read(cell)


def test_words_that_are_parted_otherwise_are_told_apart_where_both_are_there() -> None:
    both = one_of("not_sure,not-sure")
    assert (both.read("Not_Sure"), both.read("not-sure")) == (0, 1)
    with pytest.raises(InputError, match="unknown label `not sure`"):
        both.read("not sure")


def test_a_persian_name_is_read_however_its_letters_are_composed() -> None:
    assert [PERSIAN.name(code) for code in (0, 1, 2)] == ["خیر", "نمی‌دانم", "بله"]
    assert PERSIAN.read(" بله ") == 2
    composed, parted = "\u0626", "\u064a\u0654"  # yeh with hamza above: one sign or two
    assert parse_question(f'one_of("{composed}",no)').read(parted) == 0


def test_a_page_sends_the_name_as_it_is() -> None:
    assert APPROPRIATENESS.load("not_sure") == 1
    assert APPROPRIATENESS.store(1) == "not_sure"
    for sent in ("Not sure", "Not_sure", "1", 1, None, ["not_sure"], "skip"):
        with pytest.raises(
            InputError, match="is not an answer here; expected one of not_appropriate, not_sure, approp"
        ):
            APPROPRIATENESS.load(sent)


def test_it_says_which_answers_are_definite_and_positive() -> None:
    assert [APPROPRIATENESS.is_definite(code) for code in (0, 1, 2)] == [True, False, True]
    assert [APPROPRIATENESS.is_positive(code) for code in (0, 1, 2)] == [False, False, True]


def test_a_page_gets_the_names_and_their_keys() -> None:
    assert STARS.as_json() == {
        "kind": "one_of",
        "choices": ["bad", "poor", "Good", "no idea"],
        "keys": [["1"], ["2"], ["3"], ["4"]],
        "distance": "nominal",
    }


def test_its_only_part_is_itself_with_a_distance_of_its_own() -> None:
    ordered = one_of("bad,fair,good+,distance=ordinal")
    assert [(part.name, part.question) for part in ordered.parts()] == [("", ordered)]
    assert (ordered.distance, APPROPRIATENESS.distance) == ("ordinal", "nominal")


@pytest.mark.parametrize(
    ("inside", "problem"),
    [
        ("yes+", "at least two choices are needed"),
        ("no,yes?+", r"`yes\?\+`: expected"),
        ("no,yes=0+", "a code or a name is duplicated"),
        ("no,yes,No", "a code or a name is duplicated"),
        ('no,yes," no "', "a code or a name is duplicated"),
        ("no,Skip", "are reserved"),
        ("no,irreconcilable", "are reserved"),
        ('no,""', "a name must be a word"),
        ('no," "', "a name must be a word"),
        ("no,2", "a name must be a word"),
        ("no,2.0", "a name must be a word"),
        ('no,"۲"', "a name must be a word"),
        (f"no,{'y' * 101}", "at most 100 characters"),
        (r'no,"a\u0000b"', "a NUL character"),
        (r'no,"\ud800"', "half a surrogate pair"),
        ('"\u0626","\u064a\u0654"', "a code or a name is duplicated"),
        (f"no,yes={10**18}", "at most 18 digits"),
        (",".join(f"l{n}" for n in range(1_001)), "1,001 choices are too many; expected 1,000 at most"),
    ],
)
def test_a_question_that_cannot_work_is_refused(inside: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        one_of(inside)


@pytest.mark.parametrize(
    ("choices", "problem"),
    [
        ([Choice(0, "no"), Choice(1, "yes", definite=False, positive=True)], "a positive choice must be definite"),
        ([Choice(0, "no"), Choice(-1, "never")], "codes start at 0"),
    ],
)
def test_choices_that_cannot_be_written_are_refused_too(choices: list[Choice], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        OneOf(tuple(choices))


@pytest.mark.parametrize(
    "choices",
    [
        [Choice(0, "2.0"), Choice(2, "two")],
        [Choice(0, "\u0626"), Choice(1, "\u064a\u0654")],
        [Choice(0, "no"), Choice(10**18, "a\0b")],
    ],
)
def test_what_a_new_question_may_not_be_a_study_of_an_earlier_version_keeps(choices: list[Choice]) -> None:
    kept = OneOf(tuple(choices))
    assert parse_form(f"label: {kept}")["label"] == kept
    with pytest.raises(InputError):
        parse_question(str(kept))


def test_a_code_prevails_over_a_name_and_a_name_as_it_is_over_one_composed_otherwise() -> None:
    numbered = OneOf((Choice(0, "3.0"), Choice(2, "two"), Choice(3, "1.0")))
    assert [numbered.read(cell) for cell in ("0", "2", "3", "3.0", "1.0")] == [0, 2, 3, 3, 3]
    alike = OneOf((Choice(0, "\u0626"), Choice(1, "\u064a\u0654")))
    assert [alike.read(choice.name) for choice in alike] == [0, 1]


@given(one_ofs())
def test_equal_answers_and_no_others_are_stored_alike(question: OneOf) -> None:
    assert len({question.key(code) for code in question.codes}) == len(question.codes)


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        (one_of("yes,no,decline?"), "some, not all, of the definite choices must be positive"),
        (one_of("yes+,sure+"), "some, not all, of the definite choices must be positive"),
        (one_of("yes+,no?"), "at least two definite choices are needed"),
        (parse_question("scale(1,5,1)"), "some, not all"),
        (parse_question("scale(1,5,1,positive=1)"), "some, not all"),
        (AnyOf(("facts", "humour")), r"expected one_of\(...\) or scale"),
        (Text(), r"expected one_of\(...\) or scale"),
    ],
)
def test_what_is_only_asked_makes_no_tiers(question: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as found:
        need_tiers(question)
    assert str(found.value).startswith(f"`{question}` cannot decide a cell for tiers")


@pytest.mark.parametrize("text", ["one_of(no,yes+)", "one_of(no,unsure?,yes+)", "scale(1,5,0.5,positive=3.5)"])
def test_tiers_can_be_made_of_answers_of_which_some_are_positive(text: str) -> None:
    question = parse_question(text)
    assert isinstance(question, Closed)
    need_tiers(question)
    assert 0 < len(question.positive) < len(question.definite)
