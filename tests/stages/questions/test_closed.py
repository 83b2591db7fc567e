"""One of several choices, several labels, numbers: what is read, what is refused, and the key of each."""

from __future__ import annotations

from dataclasses import astuple
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given

from fcpair.errors import InputError
from fcpair.stages.questions import AnyOf, Choice, Closed, OneOf, Scale, parse_form, parse_question
from fcpair.stages.questions.base import DISCARD, keys_of
from fcpair.stages.questions.closed import CHOSEN
from fcpair.stages.questions.labels import APPROPRIATENESS, need_tiers
from stages.questions.questions import any_ofs, one_ofs, scales

STARS: Any = parse_question('one_of("no idea"=7?,bad=0,poor=1,Good=3+)')
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
    assert (APPROPRIATENESS.definite, APPROPRIATENESS.positive) == ((0, 2), (2,))


def test_choices_are_held_in_the_order_of_their_codes() -> None:
    assert [choice.name for choice in STARS] == ["bad", "poor", "Good", "no idea"]
    assert (STARS.codes, STARS.definite, STARS.positive) == ((0, 1, 3, 7), (0, 1, 3), (3,))
    assert STARS[3].name == "Good"
    with pytest.raises(KeyError):
        STARS[2]
    ordered = one_of("bad,fair,good+,distance=ordinal")
    assert [(part.name, part.question) for part in ordered.parts()] == [("", ordered)]
    assert (ordered.distance, APPROPRIATENESS.distance) == ("ordinal", "nominal")


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


def test_words_parted_otherwise_are_told_apart_where_both_are_choices_and_letters_composed_otherwise_are_not() -> None:
    both = one_of("not_sure,not-sure")
    assert (both.read("Not_Sure"), both.read("not-sure")) == (0, 1)
    with pytest.raises(InputError, match="unknown label `not sure`"):
        both.read("not sure")
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


def test_what_a_new_question_may_not_be_a_study_of_an_earlier_version_keeps() -> None:
    for code, *names in ((2, "2.0", "two"), (2, "\u0626", "\u064a\u0654"), (10**18, "no", "a\0b")):
        kept = OneOf((Choice(0, names[0]), Choice(code, names[1])))
        assert parse_form(f"label: {kept}")["label"] == kept
        with pytest.raises(InputError):
            parse_question(str(kept))
    for choice, problem in (
        (Choice(1, "yes", definite=False, positive=True), "a positive choice must be definite"),
        (Choice(-1, "never"), "codes start at 0"),
    ):
        with pytest.raises(InputError, match=problem):
            OneOf((Choice(0, "no"), choice))


def test_a_code_prevails_over_a_name_and_a_name_as_it_is_over_one_composed_otherwise() -> None:
    numbered = OneOf((Choice(0, "3.0"), Choice(2, "two"), Choice(3, "1.0")))
    assert [numbered.read(cell) for cell in ("0", "2", "3", "3.0", "1.0")] == [0, 2, 3, 3, 3]
    alike = OneOf((Choice(0, "\u0626"), Choice(1, "\u064a\u0654")))
    assert [alike.read(choice.name) for choice in alike] == [0, 1]


NOT_ALL = "some, not all, of the definite choices must be positive"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("one_of(yes,no,decline?)", NOT_ALL),
        ("one_of(yes+,sure+)", NOT_ALL),
        ("one_of(yes+,no?)", "at least two definite choices are needed"),
        ("scale(1,5,1)", "some, not all"),
        ("scale(1,5,1,positive=1)", "some, not all"),
        ("any_of(facts,humour)", r"expected one_of\(...\) or scale"),
        ("text()", r"expected one_of\(...\) or scale"),
        *((text, None) for text in ("one_of(no,yes+)", "one_of(no,unsure?,yes+)", "scale(1,5,0.5,positive=3.5)")),
    ],
)
def test_only_answers_of_which_some_are_positive_make_tiers(text: str, problem: str | None) -> None:
    question: Any = parse_question(text)
    if problem is None:
        need_tiers(question)
        assert 0 < len(question.positive) < len(question.definite)
        return
    with pytest.raises(InputError, match=problem) as refused:
        need_tiers(question)
    assert str(refused.value).startswith(f"`{question}` cannot decide a cell for tiers")


TYPES = AnyOf(("Facts", "humour", "warning of consequences"))


@pytest.mark.parametrize(
    ("cell", "labels"),
    [
        ("humour", ["humour"]),
        ("warning of consequences; facts", ["Facts", "warning of consequences"]),
        ("Facts, Warning_of-consequences", ["Facts", "warning of consequences"]),
        ("facts;", ["Facts"]),
        ("none", []),
        (" None ", []),
    ],
)
def test_a_cell_has_labels_between_semicolons_or_commas(cell: str, labels: list[str]) -> None:
    assert TYPES.store(TYPES.read(cell)) == labels


def test_commas_part_nothing_where_a_label_has_one() -> None:
    commas = AnyOf(("facts, or so", "humour"))
    assert commas.store(commas.read("humour; facts, or so")) == ["facts, or so", "humour"]
    with pytest.raises(InputError, match="unknown label `facts, humour`"):
        commas.read("facts, humour")


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("facts; irony", "^unknown label `irony`; expected one of facts, humour, warning of consequences, none$"),
        ("facts; humour; FACTS", "label `Facts` is given twice"),
        ("skip", "unknown label `skip`"),
        ("1", "unknown label `1`"),
        ("", "`` is not a list of labels; expected some of Facts, humour, warning of consequences, or `none`"),
        (" ; ", "is not a list of labels"),
        ("none; facts", "`none; facts` is not a list of labels"),
    ],
)
def test_a_cell_without_labels_is_refused(cell: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        TYPES.read(cell)


def test_a_page_sends_a_list_in_any_order() -> None:
    assert TYPES.load(["humour", "Facts"]) == TYPES.load(["Facts", "humour"]) == 0b011
    for sent in ("Facts", ["facts"], None, ["Facts", 1], {"Facts": True}, [["Facts"]]):
        with pytest.raises(InputError, match="is not an answer here; expected a list of some of Facts, humour"):
            TYPES.load(sent)
    with pytest.raises(InputError, match="label `Facts` is given twice"):
        TYPES.load(["Facts", "humour", "Facts"])
    sixty = AnyOf(tuple(f"l{at}" for at in range(60)))  # as many as fit a code
    assert sixty.load(list(sixty.names)) == 2**60 - 1


def test_no_label_is_an_answer_with_a_name_and_each_label_a_part_of_its_own() -> None:
    assert (TYPES.load([]), TYPES.name(0), TYPES.name(0b101)) == (0, "none", "Facts; warning of consequences")
    assert TYPES.store(0) == []
    assert [part.name for part in TYPES.parts()] == list(TYPES.names)
    assert {part.question for part in TYPES.parts()} == {CHOSEN}
    assert TYPES.part_codes(0b101) == (1, 0, 1)


@pytest.mark.parametrize(
    ("text", "labels", "problem"),
    [
        ("any_of(a,b,c,min=1)", [], "^0 labels; expected 1 to 3$"),
        ("any_of(a,b,c,max=2)", ["a", "b", "c"], "^3 labels; expected 0 to 2$"),
        ("any_of(a,b,c,min=2,max=2)", ["a"], "^1 label; expected 2$"),
    ],
)
def test_how_many_there_may_be_is_held(text: str, labels: list[str], problem: str) -> None:
    question = parse_question(text)
    with pytest.raises(InputError, match=problem):
        question.load(labels)
    with pytest.raises(InputError, match=problem):
        question.read(";".join(labels) or "none")


def test_the_name_of_the_column_is_always_among_the_labels_where_that_is_said() -> None:
    question: Any = parse_question("any_of(facts,humour,question,max=2,always=column)")
    assert question.store(question.with_label(question.load(["question"]), "facts")) == ["facts", "question"]
    assert question.with_label(question.load(["facts"]), "facts") == question.load(["facts"])
    with pytest.raises(InputError, match="3 labels; expected 0 to 2"):
        question.with_label(question.load(["humour", "question"]), "facts")


HALVES = Scale(Decimal(1), Decimal(5), Decimal("0.5"), Decimal("3.5"))


def test_codes_are_steps_from_the_lowest_number() -> None:
    assert HALVES.codes == tuple(range(9))
    assert [HALVES.name(code) for code in HALVES.codes] == ["1", "1.5", "2", "2.5", "3", "3.5", "4", "4.5", "5"]
    assert [HALVES.store(code) for code in (0, 7)] == [1, 4.5]
    assert type(HALVES.store(0)) is int
    assert HALVES.numbers == (1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)
    assert (HALVES.definite, HALVES.positive, HALVES.distance) == (HALVES.codes, (5, 6, 7, 8), "interval")
    assert Scale(Decimal(1), Decimal(5), Decimal(1)).positive == ()


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
    with pytest.raises(InputError) as refused:
        HALVES.read(cell)
    assert str(refused.value).startswith(problem)


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


def test_steps_of_a_tenth_end_where_they_should_up_to_1001_values_and_odd_numbers_are_no_step() -> None:
    tenths = parse_question("scale(0,1,0.1)")
    assert tenths.read("0.3") == 3  # 3 * 0.1 is 0.30000000000000004 in binary
    assert tenths.store(3) == 0.3
    assert parse_question("scale(0,100,0.1)").read("99.9") == 999
    for number in ("NaN", "Infinity", "1E-5"):
        with pytest.raises(InputError, match="is not a number on a scale"):
            Scale(Decimal(1), Decimal(5), Decimal(number))


@given(scales())
def test_what_is_typed_on_a_scale_is_what_is_stored(scale: Scale) -> None:
    """A digit gives the number that bears it, and a half is chosen by its point where nothing else has it."""
    asked = scale.as_json()
    names = asked["choices"]
    for name, keys in zip(names, asked["keys"], strict=True):
        assert keys[-1] == name  # whoever types a number as it is written gives that number
        for way in keys:
            assert name.startswith(way)
            assert scale.store(scale.load(float(name))) == float(name)
            assert len(way) > 1 or name == way
            assert not way.endswith(".") or [other for other in names if other.startswith(way)] == [name]
        assert len(name) > 1 or name in keys


@given(one_ofs() | any_ofs() | scales())
def test_no_two_choices_are_typed_alike_and_none_by_the_key_that_discards(question: OneOf | AnyOf | Scale) -> None:
    keys = keys_of(question.as_json()["choices"])
    typed = [way for ways in keys for way in ways]
    assert len(typed) == len(set(typed))
    assert question.as_json()["keys"] == [list(ways) for ways in keys]
    if isinstance(question, OneOf):  # equal answers and no others are stored alike
        assert len({question.key(code) for code in question.codes}) == len(question.codes)
    if not isinstance(question, AnyOf):
        assert not any(way.startswith(DISCARD) for way in typed)
        assert [question.keys[code] for code in question.codes] == list(keys)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("1 1.5 2 2.5 3", "1 1. 2 2. 3"),
        ("1 2 3 4 5 6 7 8 9 10", "1 2 3 4 5 6 7 8 9 10"),
        ("-1 -0.5 0 0.5 1", "-1 -0. 0 0. 1"),
        ("0 0.25 0.5 0.75 1", "0 0.25 0.5 0.75 1"),
        ("5 4 3 2 1", "5 4 3 2 1"),
        ("no unsure yes", "1 2 3"),
        ("a b c d e f g h i j", "1 2 3 4 5 6 7 8 9 -"),
        ("1 2 none", "1 2 -"),
        ("۱ ۲ ۳", "1 2 3"),
        ("3 ۳ 4", "- - 4"),
        ("18-29 30-49 more", "1 2 3"),
        ("5_stars 4_stars 3_stars", "5 4 3"),
        ("2_of_us 1_of_us nobody", "1 2 3"),
    ],
)
def test_what_a_page_shows(names: str, expected: str) -> None:
    """The keys; - where there is none."""
    assert [next(iter(keys), "-") for keys in keys_of(names.split())] == expected.split()
    assert keys_of(["3", "3.5"]) == (("3",), ("3.", "3.5"))  # the whole of a half may be typed too
