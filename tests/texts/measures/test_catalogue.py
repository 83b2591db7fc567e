"""Measures are values whose printed names are read back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.texts.measures.base import Measure
from fcpair.texts.measures.catalogue import MEASURES, parse_measure
from fcpair.texts.measures.embeddings import BertScore, Div, Homogenization, Mover
from fcpair.texts.measures.model_scores import Head, Perplexity, Regression
from fcpair.texts.measures.ngrams import Dist, Ent, Ngd, SelfBleu
from fcpair.texts.measures.novelty import Novelty
from fcpair.texts.measures.overlap import Bleu, Chrf, Gleu, Meteor, RougeL
from fcpair.texts.measures.readability import DaleChall, FleschKincaid

VALUES = [
    *(Bleu(), Bleu(True, "intl"), Chrf(per_text=True), Gleu("space", "keep"), Meteor(), RougeL("space")),
    *(Meteor(match="exact+stem+synonyms", wordnet=Path("wn")), BertScore(), BertScore("a,b", "recall"), Mover("x/y")),
    *(Dist(), Dist(2, case="lower", per_text=True), Ent(3, "words"), Div("a (b)"), SelfBleu(2), Novelty()),
    *(Novelty(Path("references"), "a column"), FleschKincaid(), DaleChall(Path("none")), Perplexity("gpt2", True)),
    *(Ngd(), Ngd(3, "sum"), Homogenization(), Homogenization("bertscore", "x/y")),
    *(Head("a/b", "toxic"), Head('./f "g"', "a=b", beside="hs"), Regression("a/b"), Ngd(join=True)),
]


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
