"""Documents of a release for other catalogues: each has the licence, the language and the authors in its own words."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from fcpair.files.release.documents import croissant_text, document_texts
from fcpair.files.release.redaction import escape_html
from fcpair.files.release.release_facts import ReleaseFacts, ReleaseForm, ReleaseTable

STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def facts_of(*, has_texts: bool = True, **answers: Any) -> ReleaseFacts:
    """Facts of a release with one table, and these answers in its form."""
    table = ReleaseTable("labels", pd.DataFrame({"pair": [1]}), "Labels.", {"pair": "number of the pair"})
    form = ReleaseForm({name.replace("licence_", "licence."): answer for name, answer in answers.items()})
    return ReleaseFacts(
        name="v1",
        form=form,
        study_title="A study",
        hs_name="statement",
        cn_name="reply",
        about_hate=False,
        version="1",
        has_texts=has_texts,
        tables=[table],
        questions={"label": "one_of(no,yes+)"},
        guidelines_version=1,
        origins={"online": 1},
        people={"annotator": 1},
    )


def test_guidelines_are_named_where_there_are_any_and_what_a_draft_does_not_state_is_said() -> None:
    for version in (0, 3):
        facts = replace(facts_of(), guidelines_version=version)
        documents = document_texts(facts)
        metadata = croissant_text(facts, {"data/labels.parquet": ""})
        for text in (documents["README.md"], documents["datasheet.md"], metadata):
            assert ("guidelines.md" in text) is bool(version)
    card = document_texts(facts_of(licence_labels="MIT"))["README.md"]
    assert "Release `v1`, version *not stated (`version`)*, *not stated (`date`)*.\n" in card
    assert 'license_name: "MIT (labels), not stated (texts)"\n' in card


@pytest.mark.parametrize(
    ("origins", "people", "types"),
    [
        ({"online": 1}, {"annotator": 1}, ["Manual Human Curator"]),
        ({"online": 1, "generated": 1}, {"lead": 1, "respondent": 9}, ["Surveys", "Software Collection"]),
        ({"imported": 2}, {"respondent": 9, "validator": 1}, ["Surveys", "Manual Human Curator"]),
        ({"simulated": 2}, {"annotator": 1}, ["Software Collection"]),
    ],
)
def test_how_answers_were_collected_is_said_in_the_words_of_croissant(
    origins: dict[str, int], people: dict[str, int], types: list[str]
) -> None:
    facts = replace(facts_of(), origins=origins, people=people)
    croissant = json.loads(croissant_text(facts, {"data/labels.parquet": ""}))
    assert croissant["rai:dataCollectionType"] == types


@pytest.mark.parametrize("has_texts", [True, False])
def test_a_survey_is_loaded_by_its_counts_and_has_their_size(has_texts: bool) -> None:
    """Of 1,500 rows and 3 counts, the counts are what is loaded where no table is named."""
    rows = ReleaseTable("ask-rows", pd.DataFrame({"row": ["a"] * 1_500}), "Rows.", {}, ("row",), is_side=True)
    counts = ReleaseTable("ask-heard", pd.DataFrame({"people": [5, 6, 7]}), "Counts.", {})
    tables = [rows if has_texts else rows.without_texts(), counts]
    card = document_texts(replace(facts_of(has_texts=has_texts), tables=tables))["README.md"]
    assert "size_categories:\n- n<1K\n" in card
    assert '- config_name: "ask-heard"\n  default: true\n' in card
    assert card.count("default: true") == 1
    assert 'load_dataset("path/of/this/folder", "ask-heard", split="train")' in card


@pytest.mark.parametrize(
    ("labels", "texts", "has_texts", "hub", "cff", "zenodo"),
    [
        ("CC-BY-4.0", "CC-BY-4.0", True, "cc-by-4.0", "CC-BY-4.0", "cc-by-4.0"),
        ("ODbL-1.0", "ODbL-1.0", True, "odbl", "ODbL-1.0", "odbl-1.0"),
        ("CC-BY-4.0", "CC-BY-NC-4.0", True, "other", None, "other-closed"),
        ("CC-BY-4.0", "CC-BY-NC-4.0", False, "cc-by-4.0", "CC-BY-4.0", "cc-by-4.0"),
        ("LicenseRef-Ours", "LicenseRef-Ours", True, "other", None, "other-closed"),
        ("", "", True, "other", None, None),
    ],
)
def test_a_licence_is_named_where_it_holds_for_all(
    labels: str, texts: str, has_texts: bool, hub: str, cff: str | None, zenodo: str | None
) -> None:
    documents = document_texts(facts_of(has_texts=has_texts, licence_labels=labels, licence_texts=texts))
    deposit = json.loads(documents[".zenodo.json"])
    assert f"\nlicense: {hub}\n" in documents["README.md"]
    assert (f'\nlicense: "{cff}"\n' in documents["CITATION.cff"]) if cff else "license" not in documents["CITATION.cff"]
    assert deposit.get("license") == zenodo
    notes = f"Labels, answers and decisions: {labels}. Texts: {texts}." if zenodo == "other-closed" else None
    assert deposit.get("notes") == notes


@pytest.mark.parametrize(
    ("tag", "code"), [("pt-BR", "por"), ("EN", "eng"), ("fa", "fas"), ("de-AT", "deu"), ("ckb", "ckb"), ("xx", None)]
)
def test_zenodo_gets_a_language_as_iso_639_3(tag: str, code: str | None) -> None:
    documents = document_texts(facts_of(languages=(tag, "en")))
    assert json.loads(documents[".zenodo.json"]).get("language") == code
    assert f'- "{tag}"' in documents["README.md"]


def test_a_group_of_authors_is_an_organisation() -> None:
    authors = ({"family": "The Makers"}, {"given": "Ada", "family": "Lovelace"})
    metadata = json.loads(croissant_text(facts_of(authors=authors), {"data/labels.parquet": "0" * 64}))
    assert [(one["@type"], one["name"]) for one in metadata["creator"]] == [
        ("sc:Organization", "The Makers"),
        ("sc:Person", "Ada Lovelace"),
    ]


SIGNS = (*"<>&`*_[]()|#=~-+\\\n !/.:ab1", "<b>", "<!--", "&lt;", "```", "\x1b[2J", "\0", "\u202e")
HOSTILE = st.lists(st.sampled_from(SIGNS)).map("".join)


def tokens_of(document: str) -> list[Token]:
    """What a reader of Markdown that takes HTML makes of a document, the front matter of a card left out."""
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    body = document.split("\n---\n", 1)[-1]
    return [part for token in parser.parse(body) for part in (token, *(token.children or ()))]


@given(words=HOSTILE)
@example("</h1><script>alert(1)</script>")
@example("a\n\n<img src=x onerror=y>\n| b |")
def test_no_words_of_people_are_html_or_markdown_or_steer_a_terminal(words: str) -> None:
    table = ReleaseTable("labels", pd.DataFrame({"pair": [1]}), f"Labels {words}.", {"pair": f"the `pair` {words}"})
    facts = replace(
        facts_of(title=words, description=words, cite=words, funding=words),
        tables=[table],
        demographics=[(words, words, 5)],
        notes=[words],
        left_out=[words],
        steps=[words],
        sources=[words],
        consent=words,
        questions={words: words},
        models={"m": words},
    )
    plain = document_texts(replace(facts, demographics=[("q", "a", 5)]))
    for name, document in document_texts(facts).items():
        assert not STEERS.search(document), name
        if not name.endswith(".md"):
            continue
        tokens = tokens_of(document)
        assert not [token.content for token in tokens if token.type.startswith("html")], name
        assert [token.type for token in tokens if token.type in ("tr_open", "heading_open")] == [
            token.type for token in tokens_of(plain[name]) if token.type in ("tr_open", "heading_open")
        ]


@given(words=HOSTILE)
@example("#")
def test_a_title_is_read_as_it_is(words: str) -> None:
    statement = document_texts(facts_of(title=words))["data-statement.md"]
    heading = tokens_of(statement)[1]
    read = "".join(token.content for token in heading.children or ())
    expected = " ".join(STEERS.sub("", f"Data statement: {words or 'A study'}").split())
    assert read == expected


@given(words=HOSTILE)
@example("```\n<b>")
@example("`a | <b> | `")
def test_guidelines_stay_markdown_and_hold_no_html(words: str) -> None:
    escaped = escape_html(words)
    assert not [token.content for token in tokens_of(escaped) if token.type.startswith("html")]
    assert escape_html("# Read\n\n*both* [texts](https://x.y), <https://x.y>, 1 < 2") == (
        "# Read\n\n*both* [texts](https://x.y), <https://x.y>, 1 < 2"
    )
