"""doccano 1.8: a project for each of three people, who answer, comment and change their minds over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2 as httpx

from exchange import hundred_pairs as pairs
from exchange.installed import free_port, install, run, running, wait_until
from fcpair.files.exchange.annotation_tool import option_names
from fcpair.stages.questions import Closed, Form, Question

LEAD = ("lead", "a word of the lead")


def export_from(project: Path, folder: Path, form: Form, people: Sequence[str]) -> list[Path]:
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
        paths = [folder / f"{person}.zip" for person in people]
        for path in paths:
            path.write_bytes(exported(lead, project, path.stem, form.questions[0][1]))
    return paths


def log_in(url: str, name: str, password: str) -> httpx.Client:
    client = httpx.Client(base_url=f"{url}/v1", timeout=120)
    assert client.post("/auth/login/", json={"username": name, "password": password}).is_success
    client.headers["X-CSRFToken"] = client.cookies["csrftoken"]
    return client


def exported(lead: httpx.Client, project: Path, person: str, question: Question[Any]) -> bytes:
    """The zip file that the lead exports of the project of a person who has answered all of it."""
    password = f"a word of {person}"
    user = {"username": person, "password1": password, "password2": password, "email": f"{person}@example.org"}
    user_id = lead.post("/users/create", json=user).json()["id"]
    number = make_project(lead, project, person, user_id, question)
    with closing(log_in(str(lead.base_url).removesuffix("/v1/"), person, password)) as client:
        answers = Answers(client, f"/projects/{number}", question)
        for example in client.get(f"/projects/{number}/examples", params={"limit": 200}).json()["results"]:
            answers.answer(example, person)
    started = lead.post(f"/projects/{number}/download", json={"format": "JSONL", "exportApproved": False})
    task = started.json()["task_id"]
    wait_until(lambda: lead.get(f"/tasks/status/{task}").json()["ready"])
    return lead.get(f"/projects/{number}/download", params={"taskId": task}).content


def make_project(lead: httpx.Client, project: Path, person: str, user_id: int, question: Question[Any]) -> int:
    options = option_names(question)
    kind, resource = (
        ("DocumentClassification", "TextClassificationProject") if options else ("Seq2seq", "Seq2seqProject")
    )
    facts = {"name": f"main-label-{person}", "description": person, "guideline": "", "project_type": kind, "tags": []}
    sharing = {"single_class_classification": isinstance(question, Closed), "collaborative_annotation": False}
    created = lead.post("/projects", json=facts | sharing | {"resourcetype": resource})
    assert created.status_code == 201, created.text
    number = int(created.json()["id"])
    if options:
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


class Answers:
    """Answers the question of a project, as a member of it."""

    def __init__(self, client: httpx.Client, project: str, question: Question[Any]) -> None:
        self._client, self._project, self._question = client, project, question
        self._kind = "categories" if option_names(question) else "texts"
        types = client.get(f"{project}/category-types").json() if option_names(question) else []
        self._numbers = {one["text"]: one["id"] for one in types}

    def answer(self, example: dict[str, Any], person: str) -> None:
        """Answer an item, perhaps with a change of mind, comment on it and confirm it."""
        number, url = int(example["meta"]["fcpair"].split(":")[-2]), f"{self._project}/examples/{example['id']}"
        for at_first in [True, False] if pairs.changes_mind(number) else [False]:
            for before in self._client.get(f"{url}/{self._kind}").json():
                self._client.delete(f"{url}/{self._kind}/{before['id']}")
            for word in pairs.words_of(self._question, example["text"], person, at_first=at_first):
                said = {"label": self._numbers[word]} if self._numbers else {"text": word}
                body = said | {"example": example["id"], "prob": 0}
                assert self._client.post(f"{url}/{self._kind}", json=body).status_code == 201
        if note := pairs.note_of(number):
            place = {"example": example["id"]}
            assert self._client.post(f"{self._project}/comments", params=place, json={"text": note}).status_code == 201
        self._client.post(f"{url}/states", json={})
