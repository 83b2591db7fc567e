"""Starting a study in another language: in one that marks each message, no step says a word outside of messages."""

from __future__ import annotations

import re

import pytest
from httpx2 import Response

from web.lead.test_in_languages import OWN, marking, unmarked
from web.test_start import Starting, empty, lead, location, nobody_else

__all__ = ["empty", "lead", "marking", "nobody_else"]  # fixtures

pytestmark = pytest.mark.slow

PAIRS = b"p0,p1\n11,21\n12,22\n13,23\n14,24\n"
STATEMENTS = b"p0\n11\n12\n13\n"
COLUMNS = {"hs": "p0", "cn": "p1", "title": "p2", "hs_name": "p3", "cn_name": "p4"}
LABELS = {"label_0": "p5", "meaning_0": "negative", "label_1": "p6", "meaning_1": "positive"}
PLAN = {"kind": "full", "seed": "7", "annotators": "2", "validators": "1", "twice": "50", "thrice": "0", "seconds": "9"}
SURVEY = {"questions": "11?", "yes": "p1", "no": "p2", "decline": "p3", "respondents": "2", "seconds": "9", "seed": "7"}
NAMES = {"UTF", "csv", "jsonl", "parquet", "pdf", "xlsx", "ods", "leo", "hate", "speech", "counter", "narrative"}


@pytest.fixture
def italian(lead: Starting, marking: None) -> Starting:
    """A lead whose browser asks for Italian, in which each message is marked."""
    lead.client.headers["Accept-Language"] = "it"
    return lead


def say(*pages: Response) -> list[str]:
    """What pages say outside of messages, but for names of files, of a lead and of sides."""
    assert all("⟦" in page.text for page in pages)
    lines = [line for page in pages for line in unmarked(page.text)]
    return [line for line in lines if set(re.findall(r"[^\W\d_]\w*", line)) - OWN - NAMES]


def test_the_steps_of_pairs_say_nothing_outside_of_messages(italian: Starting) -> None:
    said = say(italian.get("task"), italian.post("task", kind="p8"))
    assert location(italian.post("task", kind="pairs")) == "/lead/start/table"
    said += say(italian.get("table"), italian.upload(b"", "p8.csv"), italian.upload(b"", "p8.pdf"))
    assert italian.upload(PAIRS, "p8.csv").status_code == 200
    said += say(
        italian.get("table"),
        italian.get("columns"),
        italian.post("columns", act="show", **COLUMNS),
    )
    assert location(italian.post("columns", act="save", **COLUMNS)) == "/lead/start/plan"
    said += say(
        italian.get("plan"),
        italian.post("figures", **PLAN),
        italian.post("figures", **{**PLAN, "annotators": "p9"}),
        italian.post("plan", **{**PLAN, "twice": "p9"}),
        italian.post("plan", **{**PLAN, "annotators": "1"}),
    )
    said += say(
        italian.post("labels", act="add", **LABELS),
        italian.post("plan", **PLAN, label_0="p5", meaning_0="negative"),
        italian.post("plan", **PLAN, **{**LABELS, "label_1": "p5"}),
        italian.post("plan", **PLAN, answer="scale", low="9"),
    )
    assert location(italian.post("plan", **PLAN, **LABELS)) == "/lead/start/people"
    people = {"annotators": "p1\np2", "validators": "p3"}
    said += say(italian.get("people"), italian.post("people", **{**people, "validators": "p1"}))
    assert location(italian.post("people", **people)) == "/lead/start/guidelines"
    said += say(italian.get("guidelines"), italian.post("guidelines", act="preview", body=""))
    assert location(italian.post("guidelines", act="later")) == "/lead/start/begin"
    said += say(italian.get("begin"))
    italian.build()
    said += say(italian.get("links"), italian.post("links"), italian.get("links"))
    assert said == []


def test_the_steps_of_a_survey_say_nothing_outside_of_messages(italian: Starting) -> None:
    assert italian.upload(STATEMENTS, "p8.csv", kind="survey").status_code == 200
    said = say(italian.get("statements"))
    assert location(italian.post("statements", act="save", statement="p0", title="p2")) == "/lead/start/survey"
    said += say(
        italian.get("survey"),
        italian.post("figures", **SURVEY),
        italian.post("survey", **{**SURVEY, "questions": ""}),
        italian.post("survey", **{**SURVEY, "part": "3"}),
    )
    assert location(italian.post("survey", **SURVEY)) == "/lead/start/people"
    said += say(italian.get("people"), italian.post("people", respondents=""))
    assert said == []
