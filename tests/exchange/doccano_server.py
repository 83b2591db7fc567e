"""doccano 1.8: a project for each of three people, who answer, comment and change their minds over HTTP."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2 as httpx

from exchange import hundred_pairs as pairs
from exchange.installed import free_port, install, run, running, wait_until

LEAD = ("lead", "a word of the lead")


def export_from(project: Path, folder: Path) -> list[Path]:
    """Have everybody answer their project; returns the exports, each a zip file."""
    commands, port, home = install("doccano"), free_port(), project.parent / "doccano"
    variables, url = {"DOCCANO_HOME": str(home)}, f"http://127.0.0.1:{port}"
    home.mkdir()
    for words in (["init"], ["createuser", "--username", LEAD[0], "--password", LEAD[1]]):
        run([commands / "doccano", *words], home, variables)
    with (
        running([commands / "doccano", "task"], home, variables),
        running([commands / "doccano", "webserver", "--port", str(port)], home, variables, f"{url}/"),
        closing(log_in(url, *LEAD)) as lead,
    ):
        paths = [folder / f"{person}.zip" for person in pairs.PEOPLE]
        for path in paths:
            path.write_bytes(exported(lead, project, path.stem))
    return paths


def log_in(url: str, name: str, password: str) -> httpx.Client:
    client = httpx.Client(base_url=f"{url}/v1", timeout=120)
    assert client.post("/auth/login/", json={"username": name, "password": password}).is_success
    client.headers["X-CSRFToken"] = client.cookies["csrftoken"]
    return client


def exported(lead: httpx.Client, project: Path, person: str) -> bytes:
    """The zip file that the lead exports of the project of a person who has answered all of it."""
    password = f"a word of {person}"
    user = {"username": person, "password1": password, "password2": password, "email": f"{person}@example.org"}
    user_id = lead.post("/users/create", json=user).json()["id"]
    number = make_project(lead, project, person, user_id)
    with closing(log_in(str(lead.base_url).removesuffix("/v1/"), person, password)) as client:
        names = {one["text"]: one["id"] for one in client.get(f"/projects/{number}/category-types").json()}
        for example in client.get(f"/projects/{number}/examples", params={"limit": 200}).json()["results"]:
            answer(client, f"/projects/{number}", example, names, person)
    started = lead.post(f"/projects/{number}/download", json={"format": "JSONL", "exportApproved": False})
    task = started.json()["task_id"]
    wait_until(lambda: lead.get(f"/tasks/status/{task}").json()["ready"])
    return lead.get(f"/projects/{number}/download", params={"taskId": task}).content


def make_project(lead: httpx.Client, project: Path, person: str, user_id: int) -> int:
    kind = "DocumentClassification"
    facts = {"name": f"main-label-{person}", "description": person, "guideline": "", "project_type": kind, "tags": []}
    options = {
        "single_class_classification": True,
        "collaborative_annotation": False,
        "resourcetype": "TextClassificationProject",
    }
    created = lead.post("/projects", json=facts | options)
    assert created.status_code == 201, created.text
    number = int(created.json()["id"])
    labels = {"file": ("labels.json", (project / "labels.json").read_bytes(), "application/json")}
    assert lead.post(f"/projects/{number}/category-type-upload", files=labels).status_code == 201
    shard = {"filepond": (f"{person}.jsonl", (project / f"{person}.jsonl").read_bytes(), "application/jsonl")}
    upload = lead.post("/fp/process/", files=shard)
    assert upload.is_success, upload.text
    chosen = {
        "format": "JSONL",
        "task": kind,
        "uploadIds": [upload.text],
        "column_data": "text",
        "column_label": "label",
    }
    task = lead.post(f"/projects/{number}/upload", json=chosen | {"encoding": "utf_8"}).json()["task_id"]
    wait_until(lambda: lead.get(f"/tasks/status/{task}").json()["ready"])
    assert lead.get(f"/tasks/status/{task}").json()["result"]["error"] == []
    roles = {one["name"]: one["id"] for one in lead.get("/roles").json()}
    member = {"user": user_id, "role": roles["annotator"]}
    assert lead.post(f"/projects/{number}/members", json=member).status_code == 201
    return number


def answer(client: httpx.Client, project: str, example: dict[str, Any], names: dict[str, int], person: str) -> None:
    shown, number = example["text"], int(example["meta"]["fcpair"].split(":")[-2])
    url = f"{project}/examples/{example['id']}"
    first = [pairs.first_label_of(shown, person)] if pairs.changes_mind(number) else []
    for label in [*first, pairs.label_of(shown, person)]:
        for before in client.get(f"{url}/categories").json():
            client.delete(f"{url}/categories/{before['id']}")
        body = {"label": names[label], "example": example["id"], "prob": 0}
        assert client.post(f"{url}/categories", json=body).status_code == 201
    if note := pairs.note_of(number):
        sent = client.post(f"{project}/comments", params={"example": example["id"]}, json={"text": note})
        assert sent.status_code == 201, sent.text
    client.post(f"{url}/states", json={})
