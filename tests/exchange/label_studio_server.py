"""Label Studio 1.23: a project for each of three people, who sign up, answer, change their minds and skip over HTTP."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2 as httpx

from exchange import hundred_pairs as pairs
from exchange.installed import free_port, install, running
from fcpair.files.exchange.annotation_tool import option_names
from fcpair.stages.questions import Form

TOKEN = "0123456789abcdef" * 2 + "01234567"
EXPORTS = {".json": "JSON", "-min.json": "JSON_MIN", ".csv": "CSV"}
LEAD = ("lead@example.org", "a word of the lead")


def export_from(project: Path, folder: Path, form: Form, people: Sequence[str]) -> list[Path]:
    """Have everybody answer their project; returns the exports in JSON, beside which are those in JSON_MIN and CSV.

    The table of people is filled in with the numbers of users.
    """
    commands, port, home = install("label-studio"), free_port(), project.parent
    start = [commands / "label-studio", "start", "--no-browser", "--port", str(port), "--data-dir", home]
    start += ["--username", LEAD[0], "--password", LEAD[1], "--user-token", TOKEN, "--enable-legacy-api-token"]
    variables = {"LABEL_STUDIO_BASE_DATA_DIR": str(home), "COLLECT_ANALYTICS": "false"}
    url, token = f"http://127.0.0.1:{port}", {"Authorization": f"Token {TOKEN}"}
    with (
        running(start, home, variables, f"{url}/health"),
        closing(httpx.Client(base_url=url, headers=token, timeout=120)) as lead,
    ):
        numbers = {person: answer_all(lead, project, person, form) for person in people}
        for person, number in numbers.items():
            for suffix, kind in EXPORTS.items():
                exported = lead.get(f"/api/projects/{number}/export", params={"exportType": kind})
                (folder / f"{person}{suffix}").write_bytes(exported.content)
        users = {user["email"].split("@")[0]: user["id"] for user in lead.get("/api/users").json()}
    table = "".join(f"{users[person]},{person}\n" for person in people)
    (project / "people.csv").write_text(f"user,annotator\n{table}", "utf-8")
    return [folder / f"{person}.json" for person in people]


def answer_all(lead: httpx.Client, project: Path, person: str, form: Form) -> int:
    """Make the project of a person, who answers all of it; returns its number."""
    config = (project / "config.xml").read_text("utf-8")
    created = lead.post("/api/projects", json={"title": f"main-label-{person}", "label_config": config})
    assert created.status_code == 201, created.text
    number = int(created.json()["id"])
    tasks = json.loads((project / f"{person}.json").read_text("utf-8"))
    assert lead.post(f"/api/projects/{number}/import", json=tasks).json()["task_count"] == len(tasks)
    with closing(sign_up(str(lead.base_url), person)) as client:
        found = client.get("/api/tasks", params={"project": number, "page_size": 200, "fields": "all"}).json()["tasks"]
        assert len(found) == len(tasks)
        for task in found:
            answer(client, task, person, form)
    return number


def sign_up(url: str, person: str) -> httpx.Client:
    client = httpx.Client(base_url=url, follow_redirects=True, timeout=120)
    client.get("/user/signup/")
    form = {"email": f"{person}@example.org", "password": f"a word of {person}", "allow_newsletters": "false"}
    client.post("/user/signup/", data=form | {"csrfmiddlewaretoken": client.cookies["csrftoken"]})
    client.headers["X-CSRFToken"] = client.cookies["csrftoken"]
    return client


def answer(client: httpx.Client, task: dict[str, Any], person: str, form: Form) -> None:
    data, url = task["data"], f"/api/tasks/{task['id']}/annotations/"
    number, shown = int(data["fcpair"].split(":")[-2]), f"{data['fcpair_1']}\n\n{data['fcpair_2']}"
    if pairs.skips(number, person):
        assert client.post(url, json={"result": [], "was_cancelled": True, "lead_time": 1}).status_code == 201
        return
    note = [textarea("note", text)] if (text := pairs.note_of(number)) else []
    last = results(form, shown, person) + note
    if not pairs.changes_mind(number):
        assert client.post(url, json={"result": last, "lead_time": 2.5}).status_code == 201
        return
    first = client.post(url, json={"result": results(form, shown, person, at_first=True), "lead_time": 2.5})
    if number % 2:  # a second annotation by the same person, or an edit of the first
        assert client.post(url, json={"result": last, "lead_time": 3}).status_code == 201
    else:
        assert client.patch(f"/api/annotations/{first.json()['id']}/", json={"result": last}).status_code == 200


def results(form: Form, shown: str, person: str, *, at_first: bool = False) -> list[dict[str, Any]]:
    """What the page would send of the questions."""
    said = {
        name: (question, pairs.words_of(question, shown, person, at_first=at_first))
        for name, question in form.questions
    }
    return [
        result(name, "choices", {"choices": words}) if option_names(question) else textarea(name, *words)
        for name, (question, words) in said.items()
    ]


def textarea(name: str, text: str) -> dict[str, Any]:
    return result(name, "textarea", {"text": [text]})


def result(name: str, kind: str, value: dict[str, list[str]]) -> dict[str, Any]:
    return {"from_name": name, "to_name": "fcpair_1", "type": kind, "value": value}
