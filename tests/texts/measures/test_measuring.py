"""Measuring by names that are read back: figures for all and each group, what is refused, and what figures rest on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.texts.measures import measure, measuring
from fcpair.texts.measures.base import Measure, TextTable
from fcpair.texts.measures.embeddings import BertScore, Div, Head, Homogenization, Mover, Perplexity, Regression
from fcpair.texts.measures.measuring import MEASURES, _warning, parse_measure, references_of
from fcpair.texts.measures.overlap import Bleu, Chrf, Gleu, Meteor, RougeL
from fcpair.texts.measures.tokens import DaleChall, Dist, Ent, FleschKincaid, Ngd, Novelty, SelfBleu

VALUES = [
    *(Bleu(), Bleu(True, "intl"), Chrf(per_text=True), Gleu("space", "keep"), Meteor(), RougeL("space")),
    *(Meteor(match="exact+stem+synonyms", wordnet=Path("wn")), BertScore(), BertScore("a,b", "recall"), Mover("x/y")),
    *(Dist(), Dist(2, case="lower", per_text=True), Ent(3, "words"), Div("a (b)"), SelfBleu(2), Novelty()),
    *(Novelty(Path("references"), "a column"), FleschKincaid(), DaleChall(Path("none")), Perplexity("gpt2", True)),
    *(Ngd(), Ngd(3, "sum"), Homogenization(), Homogenization("bertscore", "x/y")),
    *(Head("a/b", "toxic"), Head('./f "g"', "a=b", beside="hs"), Regression("a/b"), Ngd(join=True)),
]
COLUMNS = {"hs": ["x", "x ", "y"], "cn": ["tea", "bread", "milk"], "gold": ["a", "", "c"], "more": ["a", "b", " "]}


def test_measures_may_be_values_or_names_and_each_counts_once() -> None:
    names: list[Measure | str] = [parse_measure("dist-2"), "dist-2", "dist-1", "meteor(match=exact)", "meteor"]
    found = measure(["we drink tea"], names, references=[["tea"]])
    assert [one.name for one in found.figures] == ["dist-2", "dist-1", "meteor(match=exact)"]


def test_a_group_has_the_figure_that_its_texts_would_have_alone() -> None:
    texts, groups = ["a b", "a a", "c d e", "c"], ["x", "y", "x", "y"]
    names = ["dist-1", "ent-1", "dist-1(per_text=true)"]
    found = measure(texts, names, groups=groups).figures
    assert [one.group for one in found] == [None, "x", "y"] * 3
    for at, group in ((1, "x"), (2, "y")):
        own = measure([text for text, one in zip(texts, groups, strict=True) if one == group], names).figures
        assert [one.value for one in found[at::3]] == [one.value for one in own]


def test_the_mean_and_its_standard_deviation_leave_undefined_texts_out_and_count_them() -> None:
    found = measure(["a b", "a a", ""], ["dist-1(per_text=true)"]).figures[0]
    assert (found.value, found.n) == (0.75, 2)
    assert found.sd == pytest.approx(0.125**0.5)
    assert found.left_out == {"it has no token": 1}


def test_json_has_no_nan_where_a_figure_is_undefined() -> None:
    found = measure(["", " "], ["dist-1", "dist-1(per_text=true)", "fk"], language="en")
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["n_texts"] == 2
    assert all(one.value is None and one.undefined and one.sd is None for one in found.figures)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"texts": []}, "there are no texts to measure"),
        ({"measures": []}, "expected a list of at least one measure"),
        ({"measures": "dist-1"}, "expected a list of at least one measure"),
        ({"language": "English"}, "the language is `English`; expected a code"),
        ({"groups": ["x"]}, "groups has 1 entries for 2 texts"),
        ({"references": [["x"]]}, "references has 1 entries for 2 texts"),
        ({"beside": {"hs": ["x"]}}, "has 1 entries for 2 texts"),
        ({"texts": ["x", None]}, r"texts\[1\] is NoneType; expected a string"),
        ({"references": [["x"], [3]]}, r"references\[1\]\[0\] is int; expected a string"),
        ({"texts": ["x", "\ud800"]}, r"texts\[1\] has a NUL character or half a surrogate pair"),
    ],
)
def test_what_cannot_be_measured_is_refused(given: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {"texts": ["a", "b"], "measures": ["dist-1"], **given}
    with pytest.raises(InputError, match=message):
        measure(**arguments)  # type: ignore[arg-type]


KOREAN = ["우리는 매일 저녁 차를 마십니다.", "그들은 밤마다 빵을 굽습니다.", "오늘은 날씨가 아주 좋습니다."]


def test_a_model_of_english_that_reads_korean_is_pointed_out_without_a_language_being_given() -> None:
    name = 'div(model="all-MiniLM-L6-v2")'
    figure = _warning(parse_measure(name), TextTable([*KOREAN, "We drink tea every evening."]), None)
    assert figure == (
        "all-MiniLM-L6-v2 was trained on English alone, and 3 of 4 texts are in another language: 3 in `ko`"
    )
    assert _warning(parse_measure("div(model=our-encoder)"), TextTable(KOREAN), None) == ""
    assert _warning(parse_measure("div"), TextTable(["We drink tea.", "They bake bread at night."]), "en") == ""


def test_a_warning_stands_with_the_figure_and_among_the_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_warning", lambda of, *_: "it reads letters" if "dist" in of.short_name else "")
    found = measure(KOREAN, ["dist-1", "dist-2", "ent-1"])
    assert [one.warning for one in found.figures] == ["it reads letters", "it reads letters", ""]
    assert found.notes == ("dist-1, dist-2: it reads letters",)


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_a_name_is_read_back_as_the_same_value(value: Measure) -> None:
    assert parse_measure(str(value)) == value
    assert parse_measure(f"  {value}  ") == value


def test_every_measure_is_among_the_values_that_are_read_back() -> None:
    assert {type(value) for value in VALUES} == set(MEASURES.values())


@pytest.mark.parametrize("name", ["bleu", "dist-2", "ent-12", "rouge-l", "self-bleu", "dale-chall(words=w.txt)"])
def test_a_short_name_is_printed_as_it_was_written(name: str) -> None:
    assert parse_measure(name).short_name == name


@given(n=st.integers(1, 99), per_text=st.booleans())
def test_the_number_of_tokens_is_part_of_the_name(n: int, per_text: bool) -> None:
    value = Dist(n, per_text=per_text)
    assert str(value).startswith(f"dist-{n}(")
    assert parse_measure(str(value)) == value


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("blue", "did you mean `bleu`"),
        ("BLEU", "did you mean `bleu`"),
        ("rouge-1", "did you mean `rouge-l`"),
        ("dist", "the number of tokens is missing; expected a name such as dist-2"),
        ("dist-0", "n is 0; expected a number from 1 to 99"),
        ("dist-2(tokns=words)", "did you mean `tokens`"),
        ("ent-2(case=upper)", "expected one of keep, lower"),
        ("dist-2(n=3)", "there is no option `n`"),
        ("bleu-4", "there is no `bleu-4`"),
        ("head:toxic", "something is missing; expected head(label=...)"),
        ("perplexity", "expected perplexity:NAME"),
        ("self-bleu(n=0)", "n is 0"),
        ("gleu(", "cannot be read"),
        ("gleu(tokens=words))", "the brackets or quotes do not match"),
    ],
)
def test_a_name_that_is_none_is_refused_with_what_is_near(name: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_measure(name)
    assert message in str(refused.value)


def test_columns_beside_a_text_and_those_of_the_same_row_are_its_references_each_once_but_never_itself() -> None:
    assert references_of(COLUMNS, "cn", ["gold", "more"]) == [("a",), ("b",), ("c",)]
    assert references_of(COLUMNS, "cn", ["gold", "more"], "hs") == [("a", "b"), ("a", "b"), ("c",)]
    assert references_of(COLUMNS, "cn", ["cn"], "hs") == [("bread",), ("tea",), ()]
    with pytest.raises(InputError, match="each would be its own reference"):
        references_of(COLUMNS, "cn", ["gold", "cn"])
