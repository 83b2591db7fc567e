"""Any form by the JSON API: what is asked, and answers that are texts, numbers, lists and objects of these."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from steps import forms

from fcpair.params import Annotate
from fcpair.study import Study
from web.conftest import Site

TEXT = "Most of them pay for the road like anybody else."


@pytest.fixture
def site(forms_study: Path, tmp_path: Path) -> Iterator[Site]:
    with closing(Site(Study(shutil.copy(forms_study, tmp_path / "study.db")), Annotate())) as opened:
        yield opened


def tasks(machine: TestClient, path: str = "/api/next", n: int = 1) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = machine.get(f"{path}?n={n}").json()["tasks"]
    return found


def answer(site: Site, machine: TestClient, given: Any) -> Response:
    about = {"request_id": site.new_request(), "assignment_id": tasks(machine)[0]["assignment_id"]}
    return machine.post("/api/judgements", json={**about, "answer": given})


def test_an_answer_comes_back_as_it_was_sent(site: Site) -> None:
    for who, given in (
        *(("wren", {"text": TEXT, "types": ["humour"]}), ("rae", 4.5), ("rae", 4)),
        *(("rob", ["facts"]), ("rob", "skip")),
    ):
        machine = site.machine(who)
        assert answer(site, machine, given).status_code == 200
        (back,) = tasks(machine, "/api/answers")
        assert (type(back["answer"]), back["answer"]) == (type(given), given)


def test_a_cell_is_told_by_its_grid_and_its_number_there(site: Site) -> None:
    first, *_, fourth = tasks(site.machine("rae"), n=4)
    assert (first["grid"], first["cell_id"], first["round"]) == ("rate", 1, "rate")
    assert fourth["row"] == {"body": forms.PERSIAN, "language": None, "direction": "rtl"}


def test_a_text_is_refused_question_by_question_and_comes_to_whoever_edits_it(site: Site) -> None:
    wren, ana = site.machine("wren"), site.machine("ana")
    refused = answer(site, wren, {"text": "Too few words.", "types": ["irony"]})
    assert refused.status_code == 422
    assert refused.json()["detail"] == (
        "text: the text has 3 words; expected at least 6; types: `['irony']` is not an answer here; expected a list "
        "of some of facts, humour, question"
    )
    long = "😀 " * 10_000  # twenty thousand characters, of whatever script
    assert answer(site, wren, {"text": long + "x", "types": []}).status_code == 422
    assert tasks(ana) == []
    assert answer(site, wren, {"text": TEXT, "types": []}).status_code == 200
    (task,) = tasks(ana)
    assert task["original"] == {"body": TEXT, "language": None, "direction": "ltr"}
    assert (task["shown"], task["decision_id"]) == (None, None)
    assert answer(site, wren, {"text": long, "types": []}).status_code == 200
    assert tasks(wren, "/api/answers")[0]["answer"]["text"] == long


def test_each_is_told_the_forms_of_their_role(site: Site) -> None:
    (asked,) = site.machine("rae").get("/api/me").json()["rounds"]
    scale = {"name": "rating", "kind": "scale", "low": 1, "high": 5, "step": 0.5}
    scale["choices"] = ["1", "1.5", "2", "2.5", "3", "3.5", "4", "4.5", "5"]
    scale["keys"] = [["1"], ["1.", "1.5"], ["2"], ["2.", "2.5"], ["3"], ["3.", "3.5"], ["4"], ["4.", "4.5"], ["5"]]
    sides = {"grid": "rate", "round": "rate", "row_name": "hate speech", "column_name": "aspect"}
    no_words: dict[str, Any] = {"row_text": None, "column_text": None, "texts": {}}
    no_words |= {"single_column": False, "calibration": "", "qualifies": False}
    assert asked == {**sides, "form": [scale], "screen": "row", "blind": False, **no_words}
    assert 'data-ahead="50"' in site.browser("rae").get("/annotate").text
