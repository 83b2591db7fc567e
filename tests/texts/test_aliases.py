"""Labels as people spell them: what is the same, what is proposed, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.files.tables.tabular import write_table
from fcpair.texts.aliases import Aliases, fold_spelling, read_aliases, spellings_in

DECLARED = Aliases(("Kind Reply", "Joke", "Warning of Rain", "Fact-based"))


def findings(aliases: Aliases, *cells: str) -> list[tuple[int | None, str]]:
    with pytest.raises(InputError) as caught:
        aliases.read(cells, range(2, 2 + len(cells)), "t.csv")
    return [(finding.line, finding.message) for finding in caught.value.findings]


def read(*cells: str, aliases: Aliases = DECLARED) -> list[tuple[str, ...]]:
    return aliases.read(cells, range(len(cells)), "t.csv")


def table(folder: Path, *rows: tuple[str, str]) -> Path:
    import pandas as pd

    path = folder / "aliases.csv"
    write_table(pd.DataFrame(rows, columns=["spelling", "label"]), path)
    return path


def refused(path: Path, *labels: str) -> list[tuple[int | None, str]]:
    with pytest.raises(InputError) as caught:
        read_aliases(path, labels)
    return [(finding.line, finding.message) for finding in caught.value.findings]


# -- what is the same spelling


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Kind Reply", "kind  REPLY "),
        ("Kind Reply", "kind-replys"),
        ("Fact-based", "fact_based"),
        ("Facts", "fact"),
        ("Joke", "\u0650Joke"),  # a stray Arabic vowel sign
        ("Joke", "\\\\Joke"),
        ("Joke", "Jo\u200cke\ufeff"),
        ("café", "cafe\u0301"),
        ("شوخی", "شوخي"),
        ("کمک", "كمك"),
        ("شوخی", "شـوخی"),
    ],
)
def test_small_differences_are_no_difference(one: str, other: str) -> None:
    assert fold_spelling(one) == fold_spelling(other) != ""


@pytest.mark.parametrize(
    ("one", "other"), [("Joke", "Joker"), ("Fact", "Fact-based"), ("class", "clas"), ("has", "ha")]
)
def test_other_differences_are_one(one: str, other: str) -> None:
    assert fold_spelling(one) != fold_spelling(other)


@given(st.text("aBs éشك-_ ", max_size=12), st.sampled_from([" ", "\u200c", "\u0640", "-", "\u0651", "."]))
def test_what_stands_before_or_behind_a_spelling_makes_no_other_of_it(spelling: str, noise: str) -> None:
    assert (
        fold_spelling(noise + spelling)
        == fold_spelling(spelling + noise)
        == fold_spelling(spelling.swapcase())
        == fold_spelling(spelling)
    )


@pytest.mark.parametrize(
    "cell", ["Joke, Fact", "Joke;Fact", "Joke\r\nFact", "Joke، Fact", " Joke ,, Fact,", "Joke؛Fact", '["Joke", "Fact"]']
)
def test_a_cell_holds_several_labels_by_comma_semicolon_or_line_or_is_a_json_list(cell: str) -> None:
    assert spellings_in(cell) == ["Joke", "Fact"]


# -- cells


def test_labels_are_read_in_their_declared_form_and_in_the_order_of_the_cell() -> None:
    assert read("joke , kind replys", "FACT BASED") == [("Joke", "Kind Reply"), ("Fact-based",)]


@pytest.mark.parametrize(
    ("cells", "problems"),
    [
        (("Joke", "Jocke"), [(3, "unknown label `Jocke`; did you mean `Joke`?")]),
        (("Joke Kind reply",), [(2, "unknown label `Joke Kind reply`; did you mean `Joke, Kind Reply`?")]),
        (("facts",), [(2, "unknown label `facts`; did you mean `Fact-based`?")]),  # the only one that begins so
        (("xyz",), [(2, "unknown label `xyz`; known are Kind Reply, Joke, Warning of Rain, Fact-based")]),
        ((" ", "Joke, JOKE"), [(2, "no label; expected at least one"), (3, "label `Joke` is given twice")]),
        (
            ('["Joke"', "Jocke"),
            [(2, '`["Joke"` is not a JSON list'), (3, "unknown label `Jocke`; did you mean `Joke`?")],
        ),
    ],
)
def test_all_that_is_no_label_is_found_with_its_line_and_the_nearest(
    cells: tuple[str, ...], problems: list[tuple[int, str]]
) -> None:
    assert findings(DECLARED, *cells) == problems


def test_without_declared_labels_each_spelling_is_one_called_by_its_most_frequent_form() -> None:
    assert read("joke", "Joke", "Joke, fact", "", aliases=Aliases()) == [("Joke",), ("Joke",), ("Joke", "fact"), ()]


def test_a_column_of_other_things_than_labels_is_refused() -> None:
    assert len(read(*map(str, range(1_000)), aliases=Aliases(()))) == 1_000
    with pytest.raises(InputError, match="has 1,001 different ones; expected at most 1,000"):
        read(*map(str, range(1_001)), aliases=Aliases(()))


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (("Joke", "jokes"), "are spellings of the same"),
        (("Joke, Fact",), "without comma"),
        ((" - ",), "letter or digit"),
    ],
)
def test_labels_that_cannot_be_told_apart_or_from_a_list_are_refused(labels: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Aliases(labels)


# -- the table


@pytest.mark.parametrize(
    ("label", "spelling"),
    [("consequences", "warning-of-consequences"), ("Warning of Consequences", "Consequence"), ("Fact", "the facts")],
)
def test_a_label_is_proposed_where_one_of_both_has_all_words_of_the_other(label: str, spelling: str) -> None:
    aliases = Aliases((label, "humour"))
    assert aliases.propose(spelling) == (label,)
    (finding,) = findings(aliases, spelling)
    assert finding[1] == f"unknown label `{spelling}`; did you mean `{label}`?"


def test_no_label_is_proposed_where_two_have_the_words_and_the_nearest_of_two_that_begin_so() -> None:
    assert Aliases(("warning of rain", "warning of storms")).propose("a warning") == ()
    assert Aliases(("Fact-based", "Fact-free")).propose("fact") == ("Fact-free",)


def test_every_spelling_is_listed_with_its_times_and_the_label_proposed() -> None:
    cells = ["Joke", "joke, Jocke", "", "Joke", "Qqq"]
    assert DECLARED.list_spellings(cells) == [
        {"spelling": "Joke", "label": "Joke", "n": 2},
        {"spelling": "", "label": "", "n": 1},
        {"spelling": "Jocke", "label": "Joke", "n": 1},
        {"spelling": "Qqq", "label": "", "n": 1},
        {"spelling": "joke", "label": "Joke", "n": 1},
    ]


def test_a_table_says_what_spellings_stand_for_and_that_a_cell_may_be_empty(tmp_path: Path) -> None:
    path = table(tmp_path, ("Jocke", "Joke"), ("Joke Fact", "Joke, Fact-based"), ("", ""))
    aliases = read_aliases(path, DECLARED.labels)
    assert read("jocke", "Joke fact", "", aliases=aliases) == [("Joke",), ("Joke", "Fact-based"), ()]


def test_without_declared_labels_those_of_the_table_are_and_no_empty_cell_but_where_it_allows_one(
    tmp_path: Path,
) -> None:
    aliases = read_aliases(table(tmp_path, ("Jocke", "Joke"), ("Fakt", "Fact")))
    assert aliases.labels == ("Joke", "Fact")
    assert findings(aliases, "Fakt", "Fackt") == [(3, "unknown label `Fackt`; did you mean `Fact`?")]
    assert findings(aliases, "") == [(2, "no label; expected at least one")]  # which this table does not allow


@pytest.mark.parametrize(
    ("rows", "line", "said"),
    [
        ([("Jocke", "")], 2, "spelling `Jocke` has no label; fill in what it stands for"),
        ([("Jocke", "Jock")], 2, "unknown label `Jock`; did you mean `Joke`?"),
        ([("Jocke", "Joke"), ("jocke", "Fact-based")], 3, "spelling `jocke` stands for `Joke` in an earlier row"),
        ([("joke", "Fact-based")], 2, "spelling `joke` is label `Joke` itself; it cannot stand for `Fact-based`"),
    ],
)
def test_a_table_that_cannot_be_meant_is_refused(
    tmp_path: Path, rows: list[tuple[str, str]], line: int, said: str
) -> None:
    assert (line, said) in refused(table(tmp_path, *rows), *DECLARED.labels)
