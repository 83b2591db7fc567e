"""Templates of our own, as TOML and as a table: what they are read as, and what is wrong with them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.bias.items import (
    Blank,
    Option,
    Template,
    Text,
    coinciding_options,
    expand,
    first_filling,
    n_items,
    n_templates,
    review_text,
)
from fcpair.errors import InputError
from fcpair.files.surveys.templates import items_table, read_templates, templates_from_texts
from fcpair.files.tables.tabular import write_table

EXAMPLE = Path(__file__).parents[2] / "examples" / "survey-templates.toml"
TEA = """
[[template]]
id = "tea"
category = "drinks"
author = "ana"
stereotyped = ["tea drinkers"]
ambiguous = "Both {A.plural} and {B.plural} wait {when}."
disambiguating = "The {A.plural} sigh."
negative = "Who is impatient?"
non_negative = "Who is calm?"
culprit = "the {A}"
other = "the {B}"
unknown = ["not said"]
swap = ["A", "B"]

[template.slots.A]
fillers = ["tea drinker"]
forms = { plural = ["tea drinkers"] }
group = "tea drinkers"

[template.slots.B]
fillers = ["coffee drinker"]
forms = { plural = ["coffee drinkers"] }
group = "coffee drinkers"

[template.slots.when]
fillers = ["now", "again"]
"""
ROW = {
    **{"id": "tea", "category": "drinks", "author": "ana", "stereotyped": "tea drinkers"},
    "ambiguous": "Both {A.plural} and {B.plural} wait {when}.",
    **{"disambiguating": "The {A.plural} sigh.", "negative": "Who is impatient?", "non_negative": "Who is calm?"},
    **{"culprit": "the {A}", "other": "the {B}", "unknown": "not said", "swap": "A|B"},
    **{"A": "tea drinker", "A.plural": "tea drinkers", "A.group": "tea drinkers"},
    **{"B": "coffee drinker", "B.plural": "coffee drinkers", "B.group": "coffee drinkers", "when": "now | again"},
}


def toml(folder: Path, text: str) -> Path:
    path = folder / "t.toml"
    path.write_text(text, "utf-8")
    return path


def table(folder: Path, **changed: str) -> Path:
    path = folder / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list({**ROW, **changed}))
        writer.writeheader()
        writer.writerow({**ROW, **changed})
    return path


def refused(path: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_templates(path, "fcpair")
    return str(caught.value).splitlines()


def test_a_template_makes_four_items_for_each_filling_and_version(tmp_path: Path) -> None:
    templates, remarks = read_templates(toml(tmp_path, TEA), "fcpair")
    frame = expand(templates, "t").frame
    assert (remarks, [one.version for one in templates], n_templates(templates)) == ([], ["a", "b"], {"drinks": 1})
    assert len(frame) == 2 * 2 * 4 == sum(map(n_items, templates))
    first = frame.iloc[0]
    assert first["context"] == "Both tea drinkers and coffee drinkers wait now."
    assert first["item_id"] == "tea-a-1-1-1-ambig-neg"
    assert {first[f"option_{at}"] for at in range(3)} == {"the tea drinker", "the coffee drinker", "not said"}
    assert frame["context"].iloc[2] == "Both tea drinkers and coffee drinkers wait now. The tea drinkers sigh."
    assert frame["item_id"].is_unique
    # The target stays the stereotyped group where two slots are swapped.
    assert {row[f"option_{row['target']}"] for row in frame.to_dict("records")} == {"the tea drinker"}
    right = frame[(frame["context_condition"] == "disambig") & (frame["question_polarity"] == "neg")]
    named = [row[f"option_{row['label']}"] for row in right.to_dict("records")]
    assert named == ["the tea drinker"] * 2 + ["the coffee drinker"] * 2
    assert read_templates(table(tmp_path), "fcpair") == (templates, remarks)
    spaced = toml(tmp_path, TEA.replace("[[template]]", "[[ template ]]"))
    assert len(read_templates(spaced, "fcpair")[0]) == 2


def test_a_template_is_shown_to_its_reviewers_with_its_slots(tmp_path: Path) -> None:
    template = read_templates(toml(tmp_path, TEA), "fcpair")[0][0]
    assert review_text(template).splitlines() == [
        "Context: Both tea drinkers and coffee drinkers wait {when}.",
        "Then: The tea drinkers sigh.",
        "Question: Who is impatient?",
        "Other question: Who is calm?",
        "Options: the tea drinker / the coffee drinker / not said",
        "Stereotyped: tea drinkers",
        "{when}: now, again",
    ]
    assert first_filling(template) == (
        "Both tea drinkers and coffee drinkers wait now. The tea drinkers sigh. Who is impatient? Who is calm?"
    )


BOTH = "both options are of a stereotyped group"
STEREOTYPED = 'stereotyped = ["tea drinkers"]'


@pytest.mark.parametrize(
    ("was", "instead", "message"),
    [
        ("{when}.", "{then}.", "ambiguous: slot `then` is not declared; declared: A, B, when"),
        ('["tea drinkers"] }', '["tea", "drinkers"] }', "slot `A`: form `plural` has 2 texts for 1 fillers"),
        (STEREOTYPED, 'stereotyped = ["others"]', "no option is of a stereotyped group (others)"),
        (STEREOTYPED, 'stereotyped = ["tea drinkers", "coffee drinkers"]', BOTH),
        ('unknown = ["not said"]', "unknown = []", "there is no option for what cannot be known"),
        ('id = "tea"', "id = 3", "`id` is not a text"),
        ('category = "drinks"', "", "no `category`"),
        ('author = "ana"', 'autor = "ana"', "key `autor` is unknown; did you mean `author`"),
        ('swap = ["A", "B"]', 'swap = ["A", "C"]', "`swap` is ['A', 'C']; expected the names of two slots"),
        ('"Who is calm?"', '"Who is {calm?"', "`non_negative`: expected '}' before end of string"),
        ('"Who is calm?"', '"Who is {}?"', "`non_negative`: slot `` is not a name"),
        ('"the {B}"', '"the {B} {A}"', BOTH),
        ("{when}.", ".", "slot `when` is declared and not used"),
    ],
)
def test_what_is_wrong_with_a_template_is_said_with_its_line(
    tmp_path: Path, was: str, instead: str, message: str
) -> None:
    assert was in TEA
    lines = refused(toml(tmp_path, TEA.replace(was, instead, 1)))
    assert any(message in line for line in lines), lines
    assert any("t.toml:2:" in line for line in lines), lines


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("ambiguous", "Both {C} wait.", "t.csv:2: ambiguous: slot `C` is not declared"),
        ("A.plural", "tea|drinkers", "t.csv:2: slot `A`: form `plural` has 2 texts for 1 fillers"),
        ("stereotyped", "", "t.csv:2: no option is of a stereotyped group (none)"),
        ("remark", "odd", "t.csv:2: slot `remark` is declared and not used"),
    ],
)
def test_what_is_wrong_with_a_row_is_said_with_its_line(tmp_path: Path, column: str, cell: str, message: str) -> None:
    assert any(message in line for line in refused(table(tmp_path, **{column: cell})))


@pytest.mark.parametrize("text", ["", "[[template", "[template]\n", "\udcff"])
def test_a_file_without_templates_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert refused(path)


def test_a_template_that_comes_twice_is_refused(tmp_path: Path) -> None:
    assert any("template `tea` is in line 2 already" in line for line in refused(toml(tmp_path, TEA + TEA)))


def test_the_example_s_templates_are_expanded() -> None:
    templates, _ = read_templates(EXAMPLE, "fcpair")
    made = expand(templates, "e")
    assert (len(made.frame), made.findings) == (320, ())
    assert {one.author for one in templates} == {"a1", "a2", "a3"}


def many(folder: Path, n_slots: int, n_fillers: int) -> Path:
    fillers = [f"w{at}" for at in range(n_fillers)]
    slots = "".join(f"\n[template.slots.s{at}]\nfillers = {json.dumps(fillers)}\n" for at in range(n_slots))
    context = " ".join(f"{{s{at}}}" for at in range(n_slots))
    return toml(folder, TEA.replace("wait {when}.", f"wait {{when}} {context}.") + slots)


def test_a_template_of_too_many_items_is_refused_by_name_before_any_is_made(tmp_path: Path) -> None:
    path = many(tmp_path, 6, 12)
    templates, _ = read_templates(path, "fcpair")
    assert [n_items(one) for one in templates] == [2 * 12**6 * 4] * 2
    with pytest.raises(InputError, match=r"t\.toml:2: template `tea` a makes 23,887,872 items") as caught:
        expand(templates, str(path))
    assert len(caught.value.findings) == 2
    with pytest.raises(InputError, match="at most 100,000"):
        items_table(path, 13)
    with pytest.raises(InputError, match="at most 15"):
        expand(read_templates(EXAMPLE, "fcpair")[0], "e", limit=15)


def test_a_template_may_have_more_slots_than_an_array_has_axes(tmp_path: Path) -> None:
    frame = expand(read_templates(many(tmp_path, 70, 1), "fcpair")[0], "t").frame
    assert list(frame["item_id"].iloc[[0, 4]]) == [
        "tea-a-1-1-1" + "-1" * 70 + "-ambig-neg",
        "tea-a-1-1-2" + "-1" * 70 + "-ambig-neg",
    ]


# -- templates that were written as texts


WRITTEN = "\n".join(f"{column}: {cell}" for column, cell in ROW.items())
KNOWN = {"id": "7-ben", "author": "ben", "category": "meals", "stereotyped": "all", "statement": "Tea is odd."}


def texts(*said: str, **known: str) -> pd.DataFrame:
    return pd.DataFrame([{"text": text, "cell": at, **known} for at, text in enumerate(said, 7)])


def test_a_text_with_a_line_for_each_column_is_a_template_and_may_be_written_loosely(tmp_path: Path) -> None:
    expected = read_templates(table(tmp_path), "fcpair")[0]
    loose = WRITTEN.replace("non_negative:", "Non-negative :").replace("Who is calm?", "Who\n   is calm?")
    for text in (WRITTEN, f"```yaml\n\n{loose}\n```"):
        write_table(templates_from_texts(texts(text), "round edit"), tmp_path / "made.csv")
        assert read_templates(tmp_path / "made.csv", "fcpair")[0] == expected


def test_what_a_text_does_not_say_is_what_is_known_of_it() -> None:
    short = "\n".join(line for line in WRITTEN.splitlines() if line.partition(":")[0] not in ("id", "author"))
    (made,) = templates_from_texts(texts(short, **KNOWN), "round edit").to_dict("records")
    assert {key: made[key] for key in KNOWN} == {**KNOWN, "category": "drinks", "stereotyped": "tea drinkers"}


def test_what_is_wrong_with_written_templates_is_said_by_cell() -> None:
    broken = WRITTEN.replace("other: the {B}", "oter: the {B}").replace("Who is calm?", "")
    with pytest.raises(InputError) as raised:
        templates_from_texts(texts(WRITTEN, broken, "I would rather not."), "round edit, cell")
    found = {(one.line, one.message) for one in raised.value.findings}
    assert {(8, "no `other`"), (8, "no `non_negative`"), (9, "no `culprit`")} <= found
    assert not [one for one in found if one[0] == 7]
    assert "round edit, cell:8: no `other`" in str(raised.value)
    with pytest.raises(InputError, match="template `tea` is in line 7 already"):
        templates_from_texts(texts(WRITTEN, WRITTEN), "round edit, cell")


# -- options that cannot be told apart


FILLERS = {"A": ("a", "b"), "B": ("b", "C", "a"), "W": ("c", "d")}
SLOTS = sorted(FILLERS)
FORM = st.sampled_from(["a", "B", "b ", "c", "d"])


@st.composite
def options(draw: st.DrawFn) -> Text:
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


@given(options(), options(), st.sampled_from(["a", "the b", "not said"]))
def test_just_those_are_found_whose_items_have_options_that_coincide(culprit: Text, other: Text, unknown: str) -> None:
    made = expand([one := template(culprit, other, unknown)], "t.toml")
    options = made.frame[["option_0", "option_1", "option_2"]].apply(lambda column: column.str.casefold())
    assert bool(made.findings) == bool((options.nunique(axis=1) < 3).any())
    assert list(made.findings) == list(coinciding_options([one], "t.toml"))


def test_the_fillers_are_named_slots_of_both_options_are_filled_the_same_and_all_unknown_texts_count(
    tmp_path: Path,
) -> None:
    a, b = Blank("A", FILLERS["A"]), Blank("B", FILLERS["B"])
    (found,) = coinciding_options([template((a,), (b,), "not said")], "t.toml")
    assert str(found) == "t.toml:7: options coincide, for instance with A=b; B=b"
    assert not list(coinciding_options([template((a, "!"), (a, "?"), "not said")], "t.toml"))
    one = template((a,), ("x",), "not said", "unknown", "B")
    assert str(next(coinciding_options([one], "t.toml"))) == "t.toml:7: options coincide, for instance with A=b"
    templates, _ = read_templates(toml(tmp_path, TEA.replace('"not said"', '"The tea drinker"')), "fcpair")
    assert next(str(one) for one in expand(templates, "t.toml").findings).startswith("t.toml:2: options coincide")
