"""What clients are told is the same whatever others do: two copies of a study, in which they do it differently."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from steps.people.known import controls
from steps.small import NAMES, labels_of, open_work, record, standing

from fcpair.params import Adjudicate, Annotate, Assign, Validate
from fcpair.records import Known, Role
from fcpair.study import Study
from web.conftest import Serve, Site
from web.test_roles import PUBLIC, allowed, routes

SITTING = ("/api/next?n=50", "/api/answers?n=50", "/api/progress")
DECIDING = ("/api/conflicts/next", "/api/decided", "/adjudicate", "/adjudicate/decided")


@pytest.fixture
def twice(serve: Serve, tmp_path: Path) -> Callable[[str], tuple[Site, Site]]:
    """One study, in two copies with the same secret and the same tokens."""

    def copied(stage: str) -> tuple[Site, Site]:
        site = serve(stage)
        for name in ("ana", "vera", "judy"):
            site.token(name)
        place = shutil.copy(site.study.place, tmp_path / "other.db")
        other = Site(Study(place), Annotate())
        other.tokens = dict(site.tokens)
        return site, other

    return copied


def told(client: TestClient, paths: tuple[str, ...]) -> list[Any]:
    return [client.get(path).text for path in paths]


def answered(site: Site, name: str, n: int, answer: str) -> list[dict[str, Any]]:
    """The replies to somebody's next answers."""
    machine, replies = site.machine(name), []
    for at in range(n):
        task = machine.get("/api/next").json()["tasks"][0]
        sent = {"request_id": f"{name}-request-{at}", "assignment_id": task["assignment_id"], "answer": answer}
        replies.append(machine.post("/api/judgements", json=sent | {"decision_id": task["decision_id"]}).json())
    return replies


def by_somebody(study: Study) -> set[int]:
    """Decide every second pair that a rule has decided, as the rule did."""
    pairs = [pair for pair, (_, code) in standing(study).items() if code is not None][::2]
    for pair in pairs:
        study.grid().decide(pair, standing(study)[pair][1], by="ada")
    return set(pairs)


@pytest.mark.parametrize("blind", [True, False])
def test_a_validator_cannot_tell_which_pairs_a_person_decided(
    twice: Callable[[str], tuple[Site, Site]], blind: bool
) -> None:
    by_rule, by_person = twice("decided")
    by_somebody(by_person.study)
    for site in (by_rule, by_person):
        site.study.grid().assign_validation(Validate(blind=blind))
    assert told(by_rule.machine("vera"), SITTING) == told(by_person.machine("vera"), SITTING)
    answer = NAMES[2] if blind else "agree"
    assert answered(by_rule, "vera", 4, answer) == answered(by_person, "vera", 4, answer)
    assert told(by_rule.machine("vera"), SITTING) == told(by_person.machine("vera"), SITTING)


def test_what_stands_for_a_label_is_another_number_on_each_pair(serve: Serve) -> None:
    tasks = serve("checking").machine("vera").get("/api/next?n=50").json()["tasks"]
    assert len({task["shown"] for task in tasks}) == 2
    numbers = [task["decision_id"] for task in tasks]
    assert len(set(numbers)) == len(tasks) > 5
    assert min(numbers) > 1_000_000, "of 12 random numbers up to 2^52, none is that small but once in 370 million times"


def test_an_annotator_cannot_tell_how_much_others_have_answered(twice: Callable[[str], tuple[Site, Site]]) -> None:
    alone, among_others = twice("dealt")
    ben = [one for one in open_work(among_others.study) if one[0] == "ben"]
    record(among_others.study, Path(among_others.study.place).parent, [(who, pair, "2") for who, pair in ben[:7]])
    assert answered(alone, "ana", 4, "skip") == answered(among_others, "ana", 4, "skip")
    assert answered(alone, "ana", 0, "") == []


def test_the_numbers_of_answers_are_those_of_no_judgement(site: Site) -> None:
    numbers = [reply["judgement_id"] for reply in answered(site, "ana", 8, "appropriate")]
    with closing(sqlite3.connect(site.study.place)) as connection:
        true = {row[0] for row in connection.execute("SELECT id FROM judgement")}
        receipts = connection.execute("SELECT count(*) FROM receipt").fetchone()[0]
    assert len(set(numbers)) == len(true) == receipts == 8
    assert not set(numbers) & true
    assert not all(before < after for before, after in pairwise(numbers))


@pytest.mark.parametrize("answer", NAMES)
def test_an_adjudicator_cannot_tell_what_the_labels_are_of_a_pair_that_is_not_due(
    twice: Callable[[str], tuple[Site, Site]], tmp_path: Path, answer: str
) -> None:
    """cleo has all her pairs open; on one of them ana and ben agree in one copy, and may differ in the other."""
    one, other = twice("dealt")
    work = [(who, pair) for who, pair in open_work(one.study) if who != "cleo"]
    record(one.study, tmp_path, [(who, pair, "2") for who, pair in work])
    open_ = {pair for who, pair in open_work(one.study)}
    shared = next(pair for who, pair in work if who == "ben" and pair in open_ and ("ana", pair) in work)
    given = [(who, pair, answer if (who, pair) == ("ben", shared) else "2") for who, pair in work]
    record(other.study, tmp_path, given)
    assert labels_of(other.study, shared)[shared, "ben"] == answer
    for site in (one, other):
        site.study.grid().adjudicate(Adjudicate("majority"))
    seen = [told(site.machine("judy"), (DECIDING[0], *DECIDING[2:3])) for site in (one, other)]
    assert seen[0] == seen[1]
    assert one.machine("judy").get("/api/conflicts/next").json()["queue"]["not_due"] is True


def test_that_labels_are_still_being_given_is_said_until_all_are_in(serve: Serve, tmp_path: Path) -> None:
    site = serve("dealt")
    judy = site.machine("judy")
    assert judy.get("/api/conflicts/next").json()["queue"]["not_due"] is True
    assert "Labels are still being given" in judy.get("/adjudicate").text
    record(site.study, tmp_path, [(who, pair, "2") for who, pair in open_work(site.study)])
    assert judy.get("/api/conflicts/next").json()["queue"]["not_due"] is False
    assert "still being given" not in judy.get("/adjudicate").text


def test_the_numbers_of_decisions_and_answers_are_those_of_no_row(serve: Serve) -> None:
    site = serve("labelled")
    judy = site.machine("judy")
    case = judy.get("/api/conflicts/next").json()["case"]
    ruling = {"request_id": "request-1", "cell_id": case["cell_id"], "outcome": "appropriate"}
    for wrong in ({"seen_answer_id": case["answer_id"] + 1}, {"seen_decision_id": 2**53 - 1}, {"seen_answer_id": 1}):
        assert judy.post("/api/decisions", json=ruling | wrong).status_code == 409  # they stand for nothing
    assert judy.get(f"/api/decided?before={2**53 - 1}").json() == {"decisions": []}
    made = judy.post("/api/decisions", json=ruling | {"seen_answer_id": case["answer_id"]}).json()
    site.study.grid().adjudicate(Adjudicate("majority"))
    listed = [one["decision_id"] for one in judy.get("/api/decided").json()["decisions"]]
    with closing(sqlite3.connect(site.study.place)) as connection:
        rows = {
            row[0] for table in ("adjudication", "judgement") for row in connection.execute(f"SELECT id FROM {table}")
        }
    assert made["decision_id"] in listed
    assert not {case["answer_id"], *listed} & rows
    page = judy.get(f"/api/decided?n=3&before={listed[1]}").json()["decisions"]
    assert [one["decision_id"] for one in page] == listed[2:5]


def test_another_label_is_another_number_and_the_same_one_confirmed_is_not(serve: Serve) -> None:
    site = serve("checking")
    vera = site.machine("vera")
    first = vera.get("/api/next").json()["tasks"][0]
    code = standing(site.study)[first["cell_id"]][1]
    site.study.add_people(["ada"], Role.ADJUDICATOR)
    site.study.grid().decide(first["cell_id"], code, by="ada")
    assert vera.get("/api/next").json()["tasks"][0] == first
    site.study.grid().decide(first["cell_id"], 2 - (code or 0), by="ada")
    again = vera.get("/api/next").json()["tasks"][0]
    assert again["decision_id"] != first["decision_id"]
    sent = {"request_id": "request-1", "assignment_id": first["assignment_id"], "answer": "agree"}
    assert vera.post("/api/judgements", json=sent | {"decision_id": first["decision_id"]}).status_code == 409
    assert vera.post("/api/judgements", json=sent | {"decision_id": again["decision_id"]}).status_code == 200


@pytest.mark.parametrize("uses", [(), tuple(Known)])
def test_no_request_takes_the_number_that_an_assignment_has_in_the_study(
    serve: Serve, tmp_path: Path, uses: tuple[Known, ...]
) -> None:
    """Of all that an annotator can ask, everything that takes the number of an assignment is asked with each of theirs.

    By plain numbers control pairs would be those after the shard. The numbers of an older fcpair can be exchanged for
    those of now where there are none.
    """
    site = serve("paired")
    site.study.add_people(["ben", "cleo"], Role.ANNOTATOR)
    if uses:
        site.study.grid().save.controls(controls(site.study, tmp_path))
    site.study.grid().assign(Assign(seed=1))
    ana = site.machine("ana")
    answered(site, "ana", 3, "appropriate")
    before = told(ana, SITTING)
    with closing(sqlite3.connect(site.study.place)) as connection:
        plain = [row[0] for row in connection.execute("SELECT id FROM assignment ORDER BY id")]
    takers = set()
    for method, path, route in routes(site):
        if route is None or (method, path) in PUBLIC or Role.ANNOTATOR not in allowed(method, path):
            continue
        names = {one.name for one in route.dependant.query_params} & {"before", "have"}
        model: Any = route.dependant.body_params[0].field_info.annotation if route.dependant.body_params else None
        fields = getattr(model, "model_fields", {}).keys() & {"assignment_id", "assignment_ids"}
        for number in plain if names | fields else ():
            sent: dict[str, Any] = {
                "request_id": f"request-{path}-{number}"[:60].replace("/", "."),
                "answer": "appropriate",
            }
            sent |= {"assignment_id": number, "assignment_ids": [number]}
            body = {name: value for name, value in sent.items() if name in getattr(model, "model_fields", ())}
            reply = ana.request(method, path, params=dict.fromkeys(names, number), json=body if fields else None)
            takers.add(path)
            if path == "/api/renumber" and not uses:
                assert reply.status_code == 200
            else:
                assert reply.status_code in (403, 422), (path, reply.text)
    assert takers == {"/api/next", "/api/answers", "/api/judgements", "/api/check", "/api/renumber"}
    assert told(ana, SITTING) == before


def test_old_numbers_are_exchanged_for_those_of_now(site: Site) -> None:
    ana, ben = site.machine("ana"), site.machine("ben")
    shown = [task["assignment_id"] for task in ana.get("/api/next?n=50").json()["tasks"]]
    with closing(sqlite3.connect(site.study.place)) as connection:
        rows = connection.execute(
            "SELECT assignment.id FROM assignment JOIN person ON person.id = person_id "
            "WHERE person.name = 'ana' ORDER BY position"
        )
        plain = [row[0] for row in rows]
    exchanged = ana.post("/api/renumber", json={"assignment_ids": [*plain, 999_999]}).json()["assignment_ids"]
    assert [exchanged[str(number)] for number in plain] == shown
    assert len(exchanged) == len(plain)
    assert ben.post("/api/renumber", json={"assignment_ids": plain}).json() == {"assignment_ids": {}}
    assert ana.post("/api/renumber", json={"assignment_ids": list(range(1, 1_002))}).status_code == 422
