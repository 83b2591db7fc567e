"""The JSON API: the shapes of what it takes and gives, and what it refuses."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import update
from steps.small import NAMES, standing

from fcpair.params import Annotate
from fcpair.records import Role
from fcpair.store.database.tables import study
from fcpair.web.form import StrictJsonRoute
from web.conftest import Serve, Site

JSON = {"Content-Type": "application/json"}


def task(machine: TestClient) -> dict[str, Any]:
    following: dict[str, Any] = machine.get("/api/next").json()["tasks"][0]
    return following


def answer(site: Site, machine: TestClient, answer: str = "appropriate", **given: Any) -> Response:
    """Answer the next pair, or what is given."""
    shown = {} if "assignment_id" in given else task(machine)
    body = {"request_id": site.new_request(), "assignment_id": shown.get("assignment_id"), "answer": answer}
    if shown.get("decision_id"):
        body["decision_id"] = shown["decision_id"]
    return machine.post("/api/judgements", json={**body, **given})


def n_judgements(site: Site) -> int:
    return int(sum(site.study.status()["judgements"].values()))


def test_a_time_that_is_none_is_refused_and_an_answer_of_an_hour_ago_keeps_it_on_the_page_of_its_pair(
    serve: Serve,
) -> None:
    site = serve("dealt")
    created_at = site.study.facts["created_at"]
    hour_ago, hour_on = ((datetime.fromisoformat(created_at) + timedelta(hours=hours)).isoformat() for hours in (-1, 1))
    machine = site.machine("ana")
    for wrong in ("yesterday", "2026-11-20T10:02:03", hour_ago, hour_on, "x" * 41, "", 1_795_000_000, True):
        assert answer(site, machine, answered_at=wrong).status_code == 422, wrong
    assert n_judgements(site) == 0
    site = serve("dealt")
    with site.study._store.write() as tx:
        tx.execute(update(study).values(created_at="2026-01-01T00:00:00.000+00:00"))
    machine, pair = site.machine("ana"), task(site.machine("ana"))["cell_id"]
    assert answer(site, machine, answered_at=hour_ago).status_code == 200
    words = " ".join(re.sub(r"<[^>]+>", " ", site.browser("lea").get(f"/lead/pair/{pair}").text).split())
    assert re.search(r"answered \d+ \w+ \d{4}, [\d:]+ UTC received \d+ \w+ \d{4}, [\d:]+ UTC", words)
    assert "received" not in site.browser("lea").get(f"/lead/pair/{pair % 24 + 1}").text


def test_everybody_learns_who_they_are_and_what_they_can_answer(serve: Serve) -> None:
    site = serve("checking")
    ana = {"name": "ana", "role": "annotator", "language": "en", "guideline_version": 1}
    ana |= {"consented": True, "blurred": False, "keeps_refused": False}
    question = {"name": "label", "kind": "one_of", "choices": list(NAMES), "keys": [["1"], ["2"], ["3"]]}
    question["distance"] = "nominal"
    sides = {"grid": "main", "row_name": "hate speech", "column_name": "counter-narrative", "screen": "cell"}
    words: dict[str, Any] = {"blind": False, "row_text": None, "column_text": None, "texts": {}, "single_column": False}
    asked = {**sides, **words, "qualifies": False, "calibration": "", "round": "label", "form": [question]}
    assert site.machine("ana").get("/api/me").json() == {**ana, "rounds": [asked]}
    (checked,) = site.machine("vera").get("/api/me").json()["rounds"]
    assert (checked["round"], checked["form"][0]["choices"]) == ("validate", ["agree", "disagree"])
    assert site.machine("lea").get("/api/me").json()["rounds"] == []
    site.study.save_words(language="de-AT")
    site.study.access.set_language(site.visitor("ben").id, "fa")
    languages = {name: site.machine(name).get("/api/me").json()["language"] for name in ("ana", "ben", "judy")}
    assert languages == {"ana": "de", "ben": "fa", "judy": "de"}


def test_consent_takes_answers_to_what_is_asked_about_people_alone(serve: Serve) -> None:
    machine = serve("dealt", Annotate(demographics=("Age: 18-29 | 30 or more",))).machine("ana", consent=False)
    for demographics in ({"Age": "7"}, {"Shoe size": "7"}):
        assert machine.post("/api/consent", json={"demographics": demographics}).status_code == 422
    assert not machine.get("/api/me").json()["consented"]
    assert machine.post("/api/consent", json={"demographics": {"Age": "18-29"}}).status_code == 204
    assert machine.get("/api/me").json()["consented"]


def test_the_next_pairs_are_the_same_until_they_are_answered_and_not_sent_again_to_who_has_them(site: Site) -> None:
    machine = site.machine("ana")
    for n in ("0", "51", "x", "-1"):
        assert machine.get(f"/api/next?n={n}").status_code == 422
    first = machine.get("/api/next?n=3").json()
    assert len(first["tasks"]) == 3
    assert machine.get("/api/next?n=3").json() == first
    shown = first["tasks"][0]
    fields = {"assignment_id", "grid", "cell_id", "round", "row", "column", "answered", "shown", "original"}
    assert set(shown) == fields | {"untranslated", "decision_id", "answer", "note", "outdated"}
    assert shown["row"]["body"].startswith("People who like")
    assert {shown["row"]["direction"], shown["column"]["direction"]} == {"ltr"}
    assert [shown[name] for name in ("shown", "original", "untranslated", "answer", "decision_id")] == [None] * 5
    ids = [task["assignment_id"] for task in first["tasks"]]
    assert first["order"] == ids
    answer(site, machine)
    assert machine.get("/api/next?n=2").json()["tasks"] == first["tasks"][1:]
    rest = machine.get(f"/api/next?n=3&have={ids[1]},{ids[2]}").json()
    assert rest["tasks"] == machine.get("/api/next?n=3").json()["tasks"][2:]
    assert rest["order"] == [*ids[1:], rest["tasks"][0]["assignment_id"]]


def test_a_pair_that_somebody_has_is_sent_again_when_its_label_has_changed(serve: Serve) -> None:
    site = serve("checking")
    vera = site.machine("vera")
    first, second = vera.get("/api/next?n=2").json()["tasks"]
    have = f"{first['assignment_id']}.{first['decision_id']},{second['assignment_id']}.{second['decision_id']}"
    assert vera.get(f"/api/next?n=2&have={have}").json()["tasks"] == []
    site.study.add_people(["ada"], Role.ADJUDICATOR)
    site.study.grid().decide(first["cell_id"], 2 - (standing(site.study)[first["cell_id"]][1] or 0), by="ada")
    (again,) = vera.get(f"/api/next?n=2&have={have}").json()["tasks"]
    assert again["assignment_id"] == first["assignment_id"]
    assert (again["decision_id"], again["shown"]) != (first["decision_id"], first["shown"])


def test_long_answers_are_compressed_for_who_takes_that(site: Site) -> None:
    machine = site.machine("ana")
    for path, is_long in (("/api/next?n=10", True), ("/api/next", False), ("/api/progress", False)):
        plain, packed = (machine.get(path, headers={"accept-encoding": one}) for one in ("identity", "gzip"))
        assert plain.json() == packed.json()
        assert packed.headers.get("content-encoding") == ("gzip" if is_long else None)
        assert "content-encoding" not in plain.headers


def test_the_version_of_the_desk_changes_with_what_its_page_shows(serve: Serve) -> None:
    def version(site: Site) -> str:
        return str(site.machine("ana").get("/api/progress").json()["desk_version"])

    site = serve("dealt")
    first = version(site)
    answer(site, site.machine("ana"))
    assert version(site) == first
    site.study.edit_guidelines("Read each reply twice.", by="lea")
    assert version(site) != first
    kept = version(site)
    assert version(serve("dealt", Annotate(offline=False))) not in {first, kept}


def test_one_goes_back_from_answer_to_answer(site: Site) -> None:
    machine = site.machine("ana")
    for given in ("appropriate", "not_sure"):
        answer(site, machine, given, note=f"it is {given}")
    (newest,) = machine.get("/api/answers").json()["tasks"]
    (older,) = machine.get(f"/api/answers?before={newest['assignment_id']}").json()["tasks"]
    assert [(one["answer"], one["note"]) for one in (newest, older)] == [
        ("not_sure", "it is not_sure"),
        ("appropriate", "it is appropriate"),
    ]
    assert machine.get(f"/api/answers?before={older['assignment_id']}").json()["tasks"] == []


def test_progress_counts_what_is_open_done_and_skipped_and_tells_the_limits(serve: Serve) -> None:
    site = serve("dealt", Annotate(daily_limit=2, total_limit=9))
    machine = site.machine("ana")
    before = machine.get("/api/progress").json()
    for given in ("appropriate", "skip"):
        answer(site, machine, given)
    after = machine.get("/api/progress").json()
    assert (after["open"], after["done"], after["skipped"]) == (before["open"] - 2, 1, 1)
    assert [after[name] for name in ("today", "daily_limit", "read", "total_limit")] == [2, 2, 2, 9]
    assert (before["limit"], after["pace_s"], after["left_s"]) == (None, None, None)
    assert after["undefined"]
    assert after["limit"]
    reading = site.machine("judy").get("/api/conflicts/next").json()["reading"]
    assert reading == {"today": 0, "read": 0, "daily_limit": 2, "total_limit": 9, "limit": None}


# What is refused

GOOD: dict[str, Any] = {"request_id": "request-1", "assignment_id": 1, "answer": "appropriate"}
BAD: dict[str, Any] = {
    "request_id": ["", "short", "x" * 65, "with space", "request\n1", 12345678, None, "ünïcode-1"],
    "assignment_id": [0, -1, 2**63, 1.5, "1", True, None],
    "answer": [
        *["", "x" * 101, "x" * 20_001, 1, 1.5, 10**7, 10**400, True, None, "nul\0", "perhaps"],
        *[[], ["appropriate"], [1], ["x" * 101], {}, {"label": "appropriate"}, {"label": {"a": 1}}, {"label": [["a"]]}],
    ],
    "note": ["x" * 4001, "nul\0", 1, None],
    "seconds": [-1, 86_401, "5", True, "1e999", "x"],
    "decision_id": [0, "1", 2**63],
    "more": [1],
}
SAYING_TWO_THINGS = {
    '{"answer": "appropriate", "answer": "not_appropriate", %s}': "duplicate key `answer` in an object",
    '{"answer": {"label": "appropriate", "label": "not_sure"}, %s}': "duplicate key `label` in an object",
    '{"answer": NaN, %s}': "`NaN` is not JSON",
}
BROKEN = (
    *(b"\xff\xfe", b"[", b"", b"null"),
    *(
        rb'{"request_id": "request-1", "assignment_id": 1, "answer": ' + rest
        for rest in (
            *(rb'"\ud800"}', rb'["\ud800"]}', rb'{"\ud800": "\udc00"}}', b"NaN}", b'{"label": 1e999}}'),
            *(rb'"appropriate", "note": "\udfff"}', rb'"appropriate", "\ud800": 1}'),
            *(b'"appropriate", "seconds": NaN}', b'"appropriate", "seconds": 1e999}'),
        )
    ),
)


@pytest.mark.parametrize("field", BAD)
def test_what_has_not_the_declared_shape_is_refused(site: Site, field: str) -> None:
    machine = site.machine("ana")
    fitting = {**GOOD, "assignment_id": task(machine)["assignment_id"]}
    for value in BAD[field]:
        assert machine.post("/api/judgements", json={**fitting, field: value}).status_code == 422, value
    assert n_judgements(site) == 0


def test_what_no_text_can_hold_or_says_two_things_is_refused(site: Site) -> None:
    machine = site.machine("ana")
    ids = f'"request_id": "request-of-mine", "assignment_id": {task(machine)["assignment_id"]}'
    for content, message in SAYING_TWO_THINGS.items():
        refused = machine.post("/api/judgements", content=content % ids, headers=JSON)
        assert refused.status_code == 422
        assert message in refused.json()["detail"][0]["msg"]
    for body in BROKEN:
        refused = machine.post("/api/judgements", content=body, headers=JSON)
        assert refused.status_code in {400, 422}, body
        assert refused.json()["detail"]
    refused = machine.post("/api/judgements", json={**GOOD, "note": ["a private remark"]})
    assert refused.status_code == 422
    assert "private" not in refused.text
    assert n_judgements(site) == 0
    refused = machine.put("/api/settings", content='{"blurred": true, "blurred": false}', headers=JSON)
    assert refused.json()["detail"][0]["msg"] == "duplicate key `blurred` in an object"
    taking = [route for route in site.app.routes if isinstance(route, APIRoute) and route.path.startswith("/api/")]
    taking = [route for route in taking if route.dependant.body_params]
    assert len(taking) > 4
    assert [route.path for route in taking if not isinstance(route, StrictJsonRoute)] == []


def test_a_case_comes_with_its_queue_and_a_decision_with_its_number(serve: Serve) -> None:
    site = serve("labelled")
    machine = site.machine("judy")
    first = machine.get("/api/conflicts/next").json()
    pair, waiting = first["case"]["cell_id"], first["queue"]["waiting"]
    ruling = {"request_id": site.new_request(), "cell_id": pair, "outcome": "appropriate", "flagged": True}
    made = machine.post("/api/decisions", json=ruling).json()
    assert machine.get("/api/conflicts/next").json()["queue"]["waiting"] == waiting - 1
    again = machine.get(f"/api/conflicts/{pair}").json()
    seen = {"outcome": "appropriate", "flagged": True, "decision_id": made["decision_id"]}
    assert {name: again[name] for name in seen} == seen
    listed = machine.get("/api/decided").json()["decisions"]
    assert [(one["cell_id"], one["by"], one["rule"]) for one in listed if one["by"]] == [(pair, "judy", "person")]
    assert all(sum(one["labels"].values()) >= 1 for one in listed)
    assert machine.get("/api/conflicts/9999").status_code == 404


def words(value: Any) -> set[str]:
    """Every text in a JSON value, keys left out."""
    if isinstance(value, dict):
        return set().union(*(words(one) for one in value.values()))
    if isinstance(value, list):
        return set().union(*(words(one) for one in value))
    return {value} if isinstance(value, str) else set()


def test_the_openapi_describes_the_api_and_nothing_else_and_is_written_once(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = site.stranger()
    first = stranger.get("/api/openapi.json")
    told = first.json()
    assert told["openapi"].startswith("3.")
    assert all(path.startswith("/api/") for path in told["paths"])
    assert told["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert told["security"] == [{"token": []}]
    for path in told["paths"].values():
        for operation in path.values():
            assert operation["summary"]
            assert operation["description"]
            declared = {"401", "403", "422", "429", "503"} | ({"400", "413"} if "requestBody" in operation else set())
            assert set(operation["responses"]) >= declared
    assert "Small" not in json.dumps(told)
    monkeypatch.setattr(type(site.app), "openapi", lambda _: pytest.fail("the description is made again"))
    again = stranger.get("/api/openapi.json")
    assert again.content == first.content
    assert (again.status_code, again.headers["content-type"]) == (200, "application/json")
    machine = site.machine("ana")  # no page of a framework is served
    assert {machine.get(path).status_code for path in ("/docs", "/redoc", "/openapi.json", "/api/docs")} == {404}
