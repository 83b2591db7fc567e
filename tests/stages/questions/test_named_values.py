"""Names of systems: printed, read back, and refused with a message that helps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.evaluate.catalogue import SYSTEMS, parse_system
from fcpair.evaluate.services import Cross, Embed, Llm, Rerank
from fcpair.evaluate.systems import Bm25, Random, Run, Sbert, System, Tfidf
from fcpair.stages.questions.named_values import NamedValue, parse_named

awkward = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0") | st.sampled_from(' ,()="\\:/@é'))
models = awkward.filter(bool)
files = awkward.map(Path).filter(lambda path: bool(path.name))
ranks = st.integers(1, 1_000)
k1s = st.floats(0, 1e6) | st.integers(0, 9)
simple: st.SearchStrategy[System] = st.one_of(
    st.builds(Random, st.integers(0, 2**64)),
    st.builds(Tfidf, st.sampled_from(["pool", "pool+hs"]) | files),
    st.builds(
        Bm25,
        k1s,
        st.floats(0, 1),
        st.sampled_from(["lucene", "okapi"]),
        st.sampled_from(["words", "space"]),
        st.booleans(),
        st.just("pool") | files,
    ),
    st.builds(Sbert, models),
    st.builds(Embed, models),
    st.builds(Llm, models, ranks),
    st.builds(Run, files),
)
systems: st.SearchStrategy[System] = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.builds(Cross, models, inner, ranks), st.builds(Rerank, first=inner, top=ranks, by=st.builds(Llm, models))
    ),
    max_leaves=3,
)


WHOLE = ("bm25(k1=high)", "bm25(k1=-1)", "tfidf(fit=(a)", 'tfidf(fit="a\\d")', "bm25(seed=1)")
"""Names that a refusal shows as they are."""


@given(systems)
def test_a_system_is_read_back_from_its_name_and_from_its_short_one_with_files_at_their_last_part(
    system: System,
) -> None:
    assert set(SYSTEMS.values()) == {Random, Tfidf, Bm25, Sbert, Embed, Llm, Run, Cross, Rerank}
    assert parse_system(str(system)) == system
    assert parse_system(system.short_name) == without_folders(system)


def without_folders(system: System) -> System:
    """The same system, each file by its name alone."""
    match system:
        case Run(of):
            return Run(Path(of.name))
        case Tfidf(Path() as file):
            return Tfidf(Path(file.name))
        case Bm25(fit=Path() as file):
            return Bm25(system.k1, system.b, system.variant, system.tokens, system.lower, Path(file.name))
        case Cross():
            return Cross(system.of, without_folders(system.first), system.top)
        case Rerank():
            return Rerank(without_folders(system.first), system.top, by=system.by)
    return system


@pytest.mark.parametrize(
    ("system", "name", "short"),
    [
        (Random(), "random(seed=0)", "random"),
        (Tfidf(), "tfidf(fit=pool)", "tfidf"),
        (Tfidf(Path("a/b c.csv")), "tfidf(fit=a/b c.csv)", "tfidf(fit=b c.csv)"),
        (Bm25(k1=1.2), "bm25(k1=1.2,b=0.75,variant=lucene,tokens=words,lower=true,fit=pool)", "bm25(k1=1.2)"),
        (Bm25(lower=False, tokens="space").short_name, "bm25(tokens=space,lower=false)", ""),
        (Sbert("all-MiniLM-L6-v2"), "sbert:all-MiniLM-L6-v2", "sbert:all-MiniLM-L6-v2"),
        (Sbert('a "b"'), 'sbert:"a \\"b\\""', 'sbert:"a \\"b\\""'),
        (Llm("org/model:free", 5), "llm:org/model:free(n=5)", "llm:org/model:free(n=5)"),
        (Run(Path("runs/a,b.txt")), 'run:"runs/a,b.txt"(ids=corpus)', 'run:"a,b.txt"'),
        (Run(Path("a.trec"), "study"), "run:a.trec(ids=study)", "run:a.trec(ids=study)"),
        (
            Rerank(Tfidf(), 5, by=Llm("m")),
            "rerank(first=tfidf(fit=pool),top=5,by=llm:m(n=10))",
            "rerank(first=tfidf,top=5,by=llm:m)",
        ),
    ],
)
def test_the_name_and_the_short_name(system: System | str, name: str, short: str) -> None:
    assert str(system) == name
    if isinstance(system, System):
        assert system.short_name == short


@pytest.mark.parametrize("word", ["pool", "pool+hs"])
def test_a_file_that_is_called_like_a_word_of_the_option_stays_a_file(word: str) -> None:
    for file in (Path(word), Path("folder") / word):
        system = Tfidf(file)
        assert parse_system(str(system)) == system
        assert system.short_name == f"tfidf(fit=./{word})"
    assert parse_system(f"tfidf(fit={word})").short_name == Tfidf("pool" if word == "pool" else "pool+hs").short_name


@pytest.mark.parametrize(
    ("text", "system"),
    [
        (" bm25 ( k1 = 1.2 , b = 0.5 ) ", Bm25(k1=1.2, b=0.5)),
        ("bm25()", Bm25()),
        ("bm25(k1=2)", Bm25(k1=2.0)),
        ("bm25(lower=FALSE)", Bm25(lower=False)),
        ('bm25(tokens="space")', Bm25(tokens="space")),
        ('tfidf(fit=" a.csv")', Tfidf(Path(" a.csv"))),
        ("sbert: a model ", Sbert("a model")),
        ('run:"a (1).txt"', Run(Path("a (1).txt"))),
        ("tfidf(fit=a:b@c.csv)", Tfidf(Path("a:b@c.csv"))),
        ("rerank(by=llm:m,first=cross:c(first=random,top=3))", Rerank(Cross("c", Random(), 3), by=Llm("m"))),
    ],
)
def test_names_may_be_spaced_quoted_and_ordered_as_one_likes(text: str, system: System) -> None:
    assert parse_system(text) == system


def test_files_are_taken_to_be_relative_to_a_folder_also_inside_and_need_no_quotes_for_an_equals_sign() -> None:
    system = Rerank(Cross("c", Tfidf(Path("a.csv"))), by=Llm("m"))
    expected = Rerank(Cross("c", Tfidf(Path("there/a.csv"))), by=Llm("m"))
    assert system.resolve_in(Path("there")) == expected
    assert Tfidf(Path("/abs/a.csv")).resolve_in(Path("there")) == Tfidf(Path("/abs/a.csv"))
    assert Tfidf().resolve_in(Path("there")) == Tfidf()
    for text in ("run:runs/bm25_k1=2.0.trec", "cross:c(first=run:bm25_k1=2.0.trec,top=3)"):
        assert "bm25_k1=2.0.trec" in str(parse_system(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "system `` cannot be read; expected a name such as random, tfidf, bm25"),
        ("bm25(", "cannot be read"),
        ("bm25(k1=1) and more", "cannot be read"),
        ("tf-idf", "did you mean `tfidf`?"),
        ("sbert:", "cannot be read"),
        ('sbert:"a', "cannot be read"),
        ("bm52", "there is no `bm52`; did you mean `bm25`?"),
        ("xyz", "there is no `xyz`; known are random, tfidf, bm25, "),
        ("bm25(token=space)", "there is no option `token`; did you mean `tokens`?"),
        ("bm25(seed=1)", "there is no option `seed`; known are k1, b, variant, tokens, lower, fit"),
        ("sbert:m(k=1)", "there is no option `k`; `sbert` has none"),
        ("bm25(1.2)", "`1.2` cannot be read; expected option=value"),
        ("bm25(k1)", "`k1` cannot be read; expected option=value"),
        ("bm25(k1=1,)", "`` cannot be read; expected option=value"),
        ("bm25(k1=1,k1=2)", "`k1` is given twice"),
        ("bm25(k1=high)", "`k1` is `high`; expected a number"),
        ("bm25(lower=yes)", "`lower` is `yes`; expected true or false"),
        ("bm25(tokens=chars)", "`tokens` is `chars`; expected one of words, space"),
        ("tfidf(fit=)", "`fit` is ``; expected a text"),
        ('tfidf(fit="a)', "the brackets or quotes do not match"),
        ('tfidf(fit="a\\d")', 'cannot be read; expected "...", with a backslash before each quote'),
        ("tfidf(fit=a)b)", "the brackets or quotes do not match"),
        ("tfidf(fit=(a)", "the brackets or quotes do not match"),
        ("random(seed=1.5)", "`seed` is `1.5`; expected a whole number"),
        ("random(seed=-1)", "seed is -1; expected a whole number, 0 or more"),
        ("bm25(k1=-1)", "k1 is -1.0; expected a number, 0 or more"),
        ("bm25(k1=nan)", "k1 is nan"),
        ("bm25(b=1.5)", "b is 1.5; expected a number from 0 to 1"),
        ("bm25:x", "`bm25` takes nothing after a colon"),
        ("sbert", "something is missing; expected sbert:NAME"),
        ("sbert(of=m)", "there is no option `of`; `sbert` has none"),
        ("rerank(by=llm:m)", "something is missing; expected rerank(first=...)"),
        ("rerank(first=bm52,by=llm:m)", "there is no `bm52`; did you mean `bm25`?"),
        ("rerank(first=bm25(k1=x),by=llm:m)", "`k1` is `x`; expected a number"),
        ("cross:c(first=5)", "there is no `5`"),
        ("run:b\udcffd.trec", "expected a text"),
        ('sbert:"a\\ud800"', "expected a text"),
        ('sbert:"a\\u0000"', "expected a text"),
    ],
)
def test_a_name_that_is_no_system_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_system(text)
    assert message in str(refused.value)
    if text in WHOLE:
        assert str(refused.value).startswith(f"system `{text}`")


@given(st.text(max_size=40) | st.text('bm25(k1=,)":\\ ', max_size=20))
def test_any_text_is_a_system_or_refused(text: str) -> None:
    try:
        system = parse_system(text)
    except InputError:
        return
    assert parse_system(str(system)) == system


@dataclass(frozen=True)
class Switch(NamedValue):
    """A value with options of every kind, for the reader."""

    word: ClassVar[str] = "switch"
    of: int
    on: bool = False
    label: str = "none"


def test_any_value_with_a_name_is_read_but_not_systems_nested_without_end() -> None:
    assert parse_named('switch:3(on=true,label="a,b")', {"switch": Switch}, "switch") == Switch(3, True, "a,b")
    with pytest.raises(InputError, match="`of` is `x`; expected a whole number"):
        parse_named("switch:x", {"switch": Switch}, "switch")
    with pytest.raises(InputError, match=r"^system `cross:c.first=.*\.\.\.`: too many nested systems$"):
        parse_system("cross:c(first=" * 2_000 + "bm25" + ")" * 2_000)
