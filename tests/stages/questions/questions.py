"""Questions of every kind, and answers to them, for properties that hold for all."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeVar

from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.stages.questions import AnyOf, Choice, Curate, Edit, Form, OneOf, Question, Scale, Text

Made = TypeVar("Made")
names = st.text(min_size=1, max_size=12).filter(lambda name: bool(name.strip()) and "\0" not in name)
choices = st.builds(
    lambda code, name, kind: Choice(code, name, definite=kind > 0, positive=kind > 1),
    st.integers(0, 10**18 - 1) | st.integers(0, 9),
    names | st.sampled_from(["yes", "Don't know", 'a "b", (c)?', "بله", "distance", "back\\slash", "line\nbreak"]),
    st.integers(0, 2),
)


@st.composite
def one_ofs(draw: st.DrawFn) -> OneOf:
    return draw(
        possible(OneOf, st.lists(choices, min_size=2, max_size=6).map(tuple), st.sampled_from(["nominal", "ordinal"]))
    )


@st.composite
def any_ofs(draw: st.DrawFn) -> AnyOf:
    labels = draw(st.lists(names, min_size=1, max_size=6).map(tuple))
    most = draw(st.none() | st.integers(1, len(labels)))
    return draw(possible(AnyOf, st.just(labels), st.integers(0, most or len(labels)), st.just(most)))


@st.composite
def scales(draw: st.DrawFn) -> Scale:
    unit = Decimal(1).scaleb(-draw(st.integers(0, 4)))
    low, step = draw(st.integers(-50, 50)) * unit, draw(st.integers(1, 50)) * unit
    n_steps = draw(st.integers(1, 20))
    positive = draw(st.none() | st.integers(0, n_steps))
    return Scale(low, low + n_steps * step, step, None if positive is None else low + positive * step)


def possible(kind: Callable[..., Made], *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Made]:
    """The values of a kind that can be made from these arguments."""

    def make(given: tuple[Any, ...]) -> Made | None:
        try:
            return kind(*given)
        except InputError:
            return None

    return st.tuples(*arguments).map(make).flatmap(lambda made: st.nothing() if made is None else st.just(made))


written = st.tuples(st.integers(0, 9), st.none() | st.integers(9, 20)).flatmap(
    lambda limits: st.sampled_from([Text(*limits), Edit(*limits)])
)
curating = possible(Curate, st.integers(0, 9), st.none() | st.integers(9, 20), st.lists(names, min_size=1).map(tuple))
questions: st.SearchStrategy[Question[Any]] = one_ofs() | any_ofs() | scales() | written | curating
forms = st.dictionaries(st.sampled_from(["text", "types", "Quality", "why_2"]), questions, min_size=1).map(
    Form.from_table
)


def answers(question: Question[Any]) -> st.SearchStrategy[Any]:
    """The answers that a question can have."""
    if isinstance(question, Text):
        n = st.integers(max(question.min_words, 1), question.max_words or 30)
        word = st.text(st.characters(categories=["L"]), min_size=1, max_size=4).filter(
            lambda text: text.lower() != "skip"
        )
        texts = n.flatmap(lambda n: st.lists(word, min_size=n, max_size=n).map(" \n".join))
        if not isinstance(question, Curate):
            return texts
        rejected = st.sampled_from(question.reasons).map(lambda reason: question.load({"reject": reason}))
        return texts.filter(lambda text: text.lower() != "reject") | rejected
    if isinstance(question, AnyOf):
        most = len(question.names) if question.max is None else question.max
        return st.sets(st.sampled_from(question.names), min_size=question.min, max_size=most).map(
            lambda labels: question.load(list(labels))
        )
    assert isinstance(question, OneOf | Scale)
    return st.sampled_from(question.codes)
