"""Options that cannot be told apart are found without making items, and just where items have such options."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fcpair.bias.items import Blank, Option, Template, Text, coinciding_options, expand

FILLERS = {"A": ("a", "b"), "B": ("b", "C", "a"), "W": ("c", "d")}
SLOTS = sorted(FILLERS)
FORM = st.sampled_from(["a", "B", "b ", "c", "d"])


@st.composite
def texts(draw: st.DrawFn) -> Text:
    parts: list[str | Blank] = [draw(st.sampled_from(["", "the ", "a"]))]
    for slot in draw(st.lists(st.sampled_from(SLOTS), max_size=2)):
        n = len(FILLERS[slot])
        parts += [Blank(slot, tuple(draw(st.lists(FORM, min_size=n, max_size=n)))), draw(st.sampled_from(["", " a"]))]
    return tuple(parts)


def template(culprit: Text, other: Text, *unknown: str) -> Template:
    used: Text = tuple(Blank(slot, fillers) for slot, fillers in FILLERS.items())
    written = dict.fromkeys(("ambiguous", "disambiguating", "negative", "non_negative"), used)
    options = Option(culprit, ("North",)), Option(other, ("South",))
    return Template("t", "", "c", FILLERS, written, *options, unknown, ("North",), line=7)


@given(texts(), texts(), st.sampled_from(["a", "the b", "not said"]))
def test_just_those_are_found_whose_items_have_options_that_coincide(culprit: Text, other: Text, unknown: str) -> None:
    made = expand([one := template(culprit, other, unknown)], "t.toml")
    options = made.frame[["option_0", "option_1", "option_2"]].apply(lambda column: column.str.casefold())
    assert bool(made.findings) == bool((options.nunique(axis=1) < 3).any())
    assert list(made.findings) == list(coinciding_options([one], "t.toml"))


def test_the_fillers_are_named_and_slots_of_both_options_are_filled_the_same() -> None:
    a, b = Blank("A", FILLERS["A"]), Blank("B", FILLERS["B"])
    (found,) = coinciding_options([template((a,), (b,), "not said")], "t.toml")
    assert str(found) == "t.toml:7: options coincide, for instance with A=b; B=b"
    assert not list(coinciding_options([template((a, "!"), (a, "?"), "not said")], "t.toml"))


def test_every_text_of_what_cannot_be_known_counts() -> None:
    one = template((Blank("A", FILLERS["A"]),), ("x",), "not said", "unknown", "B")
    assert str(next(coinciding_options([one], "t.toml"))) == "t.toml:7: options coincide, for instance with A=b"
