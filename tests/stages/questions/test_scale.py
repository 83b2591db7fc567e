"""Numbers on a scale: exact steps, what is read, and what is said of a number between them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given

from fcpair.errors import InputError
from fcpair.stages.questions import Scale, parse_question
from stages.questions.questions import scales

HALVES = Scale(Decimal(1), Decimal(5), Decimal("0.5"), Decimal("3.5"))


def test_codes_are_steps_from_the_lowest_number() -> None:
    assert HALVES.codes == tuple(range(9))
    assert [HALVES.name(code) for code in HALVES.codes] == ["1", "1.5", "2", "2.5", "3", "3.5", "4", "4.5", "5"]
    assert [HALVES.store(code) for code in (0, 7)] == [1, 4.5]
    assert type(HALVES.store(0)) is int
    assert HALVES.numbers == (1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)


def test_all_numbers_are_definite_and_those_from_one_on_positive() -> None:
    assert (HALVES.definite, HALVES.positive) == (HALVES.codes, (5, 6, 7, 8))
    assert [HALVES.is_positive(code) for code in (4, 5)] == [False, True]
    assert Scale(Decimal(1), Decimal(5), Decimal(1)).positive == ()


def test_its_distance_is_that_of_numbers() -> None:
    assert HALVES.distance == "interval"


@pytest.mark.parametrize(("cell", "code"), [("4.5", 7), ("4,5", 7), (" 4.50 ", 7), ("4", 6), ("4.0", 6), ("۴٫۵", 7)])
def test_a_cell_has_a_number_with_a_point_or_a_comma(cell: str, code: int) -> None:
    assert HALVES.read(cell) == code


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("4.3", "`4.3` is between the steps of the scale; the nearest are 4 and 4.5, expected 1 to 5 by 0.5"),
        ("4,99", "`4.99` is between the steps of the scale; the nearest are 4.5 and 5, expected 1 to 5 by 0.5"),
        ("0.5", "`0.5` is outside of the scale; expected 1 to 5 by 0.5"),
        ("5.0001", "`5.0001` is outside of the scale; expected 1 to 5 by 0.5"),
        ("good", "`good` is not a number on a scale; expected one such as 4 or 4.5"),
        ("skip", "`skip` is not a number"),
        ("", "`` is not a number"),
        ("1e0", "`1e0` is not a number"),
        ("NaN", "`NaN` is not a number"),
        ("4.00001", "`4.00001` is not a number"),
    ],
)
def test_a_cell_without_a_number_of_the_scale_is_refused(cell: str, problem: str) -> None:
    with pytest.raises(InputError) as found:
        HALVES.read(cell)
    assert str(found.value).startswith(problem)


def test_a_page_sends_a_number() -> None:
    assert [HALVES.load(sent) for sent in (4, 4.0, 4.5)] == [6, 6, 7]
    for sent in ("4.5", True, None, [4], float("nan"), float("inf")):
        with pytest.raises(InputError, match=r"not an answer here; expected a number|is not a number on a scale"):
            HALVES.load(sent)
    with pytest.raises(InputError, match=r"the nearest are 3 and 3\.5"):
        HALVES.load(3.3)


@given(scales())
def test_every_number_is_exact_whatever_the_step(scale: Scale) -> None:
    for code in scale.codes:
        assert scale.low + code * scale.step == Decimal(scale.name(code))
        assert scale.load(scale.store(code)) == scale.read(scale.name(code)) == code


def test_a_scale_has_up_to_1001_values() -> None:
    assert parse_question("scale(0,100,0.1)").read("99.9") == 999


def test_steps_of_a_tenth_end_where_they_should() -> None:
    tenths = parse_question("scale(0,1,0.1)")
    assert tenths.read("0.3") == 3  # 3 * 0.1 is 0.30000000000000004 in binary
    assert tenths.store(3) == 0.3


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("scale(5,1,1)", "the lowest number, the highest one, and a step above 0"),
        ("scale(1,1,1)", "the lowest number, the highest one, and a step above 0"),
        ("scale(1,5,0)", "a step above 0"),
        ("scale(1,5,-1)", "a step above 0"),
        ("scale(1,5,0.3)", "steps of 0.3 from 1 miss 5"),
        ("scale(1,5,8)", "steps of 8 from 1 miss 5"),
        ("scale(0,1001,1)", "a scale has at most 1,001 values"),
        ("scale(1,10000000,1)", "`10000000` is not a number on a scale"),
        ("scale(1,5,0.5,positive=3.3)", "`3.3` is between the steps of the scale; the nearest are 3 and 3.5"),
        ("scale(1,5,0.5,positive=6)", "`6` is outside of the scale"),
    ],
)
def test_a_scale_that_cannot_work_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_question(text)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1E-5"])
def test_a_number_that_cannot_be_written_is_refused(number: str) -> None:
    with pytest.raises(InputError, match="is not a number on a scale"):
        Scale(Decimal(1), Decimal(5), Decimal(number))


def test_a_page_gets_the_ends_and_the_step() -> None:
    assert parse_question("scale(1,2,0.5)").as_json() == {
        "kind": "scale",
        **{"low": 1, "high": 2, "step": 0.5},
        "choices": ["1", "1.5", "2"],
        "keys": [["1"], ["1.", "1.5"], ["2"]],
    }
