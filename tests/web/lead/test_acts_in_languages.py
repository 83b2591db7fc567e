"""Acts of the lead in another language: in one that marks each message, no form, preview or refusal says more."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from steps.small import record

from fcpair.web.server.child_process import EVALUATE, KILLED, ProcessState
from web.conftest import Serve, Site, send, value_of
from web.lead.test_in_languages import OWN, marking, unmarked
from web.lead.test_settings_acts import DIAMOND, OVERLAP, TERMS, WORDS

__all__ = ["marking"]  # a fixture

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("marking")]

NAMES = {"Kim", "appropriate", "answer", "import"}  # of a person, a label, a column and a run
TABLE = "row,column,answer,explanation\np1,p2,appropriate,p3\n"


def italian(site: Site) -> TestClient:
    """A lead's browser, of a study in Italian."""
    site.study.save_words(language="it")
    return site.browser("lea")


def say(page: Any) -> list[str]:
    """What a page says outside of messages, but for names."""
    assert "⟦" in page.text
    return [line for line in unmarked(page.text) if set(re.findall(r"[^\W\d_]\w*", line)) - OWN - NAMES]


def test_previews_of_settings_say_nothing_outside_of_messages(serve: Serve) -> None:
    lea = italian(serve("dealt"))
    seen = value_of(lea.get(TERMS).text, "seen")
    said = say(lea.get(OVERLAP, params={"share2": "50", "share3": "25"}))
    said += say(lea.get(OVERLAP, params={"share2": "25", "share3": "25"}))
    said += say(send(lea, TERMS, seen=seen, contact="Kim", daily_limit="9", offline="no", act="preview"))
    said += say(send(lea, TERMS, seen=seen, contact="Kim", ask_again="yes", act="preview"))
    said += say(send(lea, TERMS, seen=seen, pause_pairs="p1", act="save"))
    said += say(send(lea, TERMS, seen=seen, consent="", act="save"))
    words = {"seen": "", "texts_in": "it", "language": "it", "noun:annotator": "reply"}
    said += say(send(lea, WORDS, **words, act="preview")) + say(send(lea, WORDS, **words, act="save"))
    assert said == []


def test_a_looser_limit_and_another_rule_are_refused_in_messages(serve: Serve) -> None:
    site = serve("checked")
    site.study.save_terms(daily_limit=40, opt_out=None)
    lea = italian(site)
    form = {"seen": value_of(lea.get(TERMS).text, "seen"), "daily_limit": ""}
    said = say(send(lea, TERMS, **form, act="save")) + say(send(lea, DIAMOND, diamond="majority", seen="p1"))
    assert said == []


def test_practice_says_nothing_outside_of_messages(serve: Serve) -> None:
    lea, path = italian(serve("dealt")), "/lead/guidelines/practice"
    said = say(send(lea, path, table=TABLE, act="check"))
    said += say(send(lea, path, table=TABLE, act="save", seen="p1"))
    said += say(send(lea, path, table=TABLE.replace("appropriate", ""), act="check"))
    assert said == []


def test_withdrawing_an_import_says_nothing_outside_of_messages(serve: Serve, tmp_path: Path) -> None:
    site = serve("labelled")
    own = site.study.grid().find_pairs(person="ana", answer="not_appropriate").to_frame()["pair"].tolist()[:2]
    run = record(site.study, tmp_path, [("ana", pair, "appropriate") for pair in own], supersede=True)
    lea, path = italian(site), f"/lead/imports/{run.id}"
    said = say(lea.get(path))
    assert send(lea, path).status_code == 303
    said += say(lea.get(path)) + say(send(lea, path))
    assert said == []


def test_a_note_says_nothing_outside_of_messages(serve: Serve) -> None:
    lea, path = italian(serve("dealt")), "/lead/notes"
    said = say(send(lea, path, text="")) + say(send(lea, path, text="p1", pair="999"))
    said += say(lea.get(send(lea, path, text="p1", pair="5").headers["location"]))
    assert said == []


@pytest.mark.parametrize(
    "state",
    [
        {"is_running": True},
        {"is_running": True, "done": 3, "total": 9},
        {"problem": KILLED},
        {"problem": KILLED, "cancelled": "lea"},
        {"problem": KILLED, "cancelled": "ana"},
        {"run": 9},
    ],
)
def test_a_long_act_says_nothing_outside_of_messages(serve: Serve, state: dict[str, Any]) -> None:
    site = serve("checked")
    site.app.state.long_acts.state = replace(ProcessState(what=EVALUATE, by="lea"), **state)
    assert say(italian(site).get("/lead/acts")) == []
