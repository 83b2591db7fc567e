"""Cleaning: what names people, places and machines vanishes from what is published; all else stays."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.files.release.redaction import Redaction

NAMES = {"quokka-7": "p00000000aa", "Zelda Ünsal": "p00000000bb"}
CONTACT = "Dr Lee, room 12, support@clinic.example"
REDACTION = Redaction(NAMES, [CONTACT])
WORDS = st.sampled_from(["write to", "see", "the file", "call", "or", "and then", "\n", "(", ")", ".", ",", "path ="])
USERS = st.sampled_from(["ada", "grace.h", "mary-k", "joão"])
FOLDERS = st.sampled_from(["/home/{}/", "/Users/{}/studies/", "C:\\Users\\{}\\", "\\\\server\\{}\\", "~/{}/", "../{}/"])
EMAILS = st.builds("{}@{}".format, USERS, st.sampled_from(["uni.example", "mail.co.example", "x-y.example"]))
PATHS = st.builds(lambda folder, user: folder.format(user) + "corpus.csv", FOLDERS, USERS)
NUMBERS = "+44 20 7946 0958|(030) 1234-567|555 0100|0912 345 67 89|+989123456789|020-7946-0958|555.010.0199"
PHONES = st.sampled_from(NUMBERS.split("|"))
LINKS = st.sampled_from(
    ["http://10.0.0.5:8000/v1", "http://localhost:8123/join#abcDEF", "postgresql://ada:pw@db.example/study",
     "https://ada:pw@db.example/x", "http://gpu-node/v1"]
)  # fmt: skip
PLANTED = st.one_of(EMAILS, PATHS, PHONES, LINKS, st.sampled_from([*NAMES, CONTACT, "Dr Lee"]))


@given(st.lists(st.tuples(WORDS, PLANTED), min_size=1, max_size=6))
def test_whatever_is_planted_vanishes_from_a_text(parts: list[tuple[str, str]]) -> None:
    cleaned = REDACTION.clean_text(" ".join(f"{word} {planted}" for word, planted in parts))
    for _, planted in parts:
        assert planted not in cleaned
    for secret in ("ada", "grace", "mary-k", "joão", "@", "0958", "0100", "6789", "0199", "10.0.0.5", "localhost"):
        assert secret not in cleaned


@pytest.mark.parametrize(
    "text",
    [
        *("+44 20 7946 0958 ( (030) 1234-567", "555 0100 . 020-7946-0958"),
        *("0912 345 67 89/020 7946 0958", "2026-11-26 (030) 1234-567"),
    ],
)
def test_a_telephone_number_beside_another_number_vanishes(text: str) -> None:
    assert REDACTION.clean_text(f"call {text}.") == "call [telephone]."


@given(st.lists(PLANTED, min_size=1, max_size=4))
def test_whatever_is_planted_vanishes_from_a_run(planted: list[str]) -> None:
    value = {"path": planted[0], "more": {text: [text, 3] for text in planted}, "n": 5_551_234}
    cleaned = json.dumps(REDACTION.clean(value), ensure_ascii=False)
    assert not [text for text in planted if json.dumps(text, ensure_ascii=False)[1:-1] in cleaned]
    assert "5551234" in cleaned


@pytest.mark.parametrize(
    "text",
    [
        *("100 200 300 400 500 600", "2026-11-26 - 2026-12-24", "2019/2020, 2021–2022"),
        "0.377427 of 3,997 pairs, 2026-11-26, 2019-2020, seeds 20261126",
        "https://doi.org/10.1145/3458723 and 10.18653/v1/2021.acl-long.250, arXiv 2406.12345",
        "yes/no, and/or, 45 x 129, k = 2; sentence-transformers/all-MiniLM-L6-v2",
        'scheme = "one_of(not_appropriate,not_sure?,appropriate+)"\noverlap = { 2 = 0.126, 3 = 0.05 }',
        "tfidf, bm25(k1=0.9,b=0.4), NDCG@10, MAP(by=all), P@5",
        "f" * 64 + " " + "0123456789abcdef" * 4,
    ],
)
def test_what_names_nobody_stays_as_it_is(text: str) -> None:
    assert REDACTION.clean_text(text) == text
    assert REDACTION.clean(text) == text


def test_a_file_keeps_its_name_and_a_person_gets_another() -> None:
    run = {"path": "/home/ada lovelace/my corpus.csv", "by": "quokka-7", "note": "Zelda Ünsal asked quokka-7's team"}
    assert REDACTION.clean(run) == {"path": "my corpus.csv", "by": "p00000000aa", "note": "[name] asked [name]'s team"}


def test_a_name_is_one_only_as_a_word_and_a_letter_or_a_number_only_as_a_whole_value() -> None:
    assert Redaction({"ana": "p1"}).clean_text("banana, ana, analysis") == "banana, [name], analysis"
    redaction = Redaction({"A": "p1", "7": "p2"})
    assert redaction.clean_text("A reply has 7 words.") == "A reply has 7 words."
    assert redaction.clean({"add": ["A", "7"], "to": "A"}) == {"add": ["p1", "p2"], "to": "p1"}


def test_a_model_keeps_its_name_though_a_part_of_it_is_a_persons() -> None:
    redaction = Redaction({"v2": "p1", "ana": "p2"}, kept=["all-MiniLM-L6-v2", "ana"])
    run = {"model": "all-MiniLM-L6-v2", "systems": ["sbert:all-MiniLM-L6-v2"], "people": ["v2"], "file": "v2-ana.csv"}
    assert redaction.clean(run) == {**run, "people": ["p1"], "file": "[name]-[name].csv"}


def test_nobody_can_tell_whose_pseudonym_a_name_was_in_a_longer_text_or_a_list() -> None:
    redaction = Redaction({"May": "p1", "will": "p2", "3": "p3"})
    assert redaction.clean_text("In May 2026 you will read it.") == "In [name] 2026 you [name] read it."
    assert redaction.clean({"will": ["May", "may"], "3": "May"}) == {"p2": ["p1", "may"], "3": "p1"}
    redaction = Redaction({"ana": "p9", "ben": "p1"})
    assert redaction.clean({"add": ["ana", "ben"], "files": ["b", "a"]}) == {"add": ["p1", "p9"], "files": ["b", "a"]}


def test_a_path_loses_its_folders_and_a_public_address_its_query() -> None:
    assert REDACTION.clean_text('path = "/home/ada l/x y.csv"\nseed = 7') == 'path = "x y.csv"\nseed = 7'
    assert REDACTION.clean_text("see https://example.org/a/b?token=1#x.") == "see https://example.org/a/b"


def test_a_recipe_stays_one_whatever_people_are_called() -> None:
    redaction = Redaction({"seed": "p1", "7": "p2", "true": "p3", "ana": "p4"}, ["Dr Lee, 555 0100"])
    recipe = (
        '# by ana, from "/home/ada l/x.csv"\n[annotate]\nseed = 7\nopen = true\n'
        'annotator_groups = [["ana", "7"]]\nabout = """\nAsk Dr Lee, 555 0100.\nSee C:\\\\Users\\\\ada\\\\b.md"""\n'
    )
    cleaned = redaction.clean_toml(recipe)
    assert tomllib.loads(cleaned) == {
        "annotate": {"seed": 7, "open": True, "annotator_groups": [["p4", "p2"]], "about": "Ask [contact].\nSee b.md"}
    }
    assert cleaned.startswith('# by [name], from "x.csv"\n')
