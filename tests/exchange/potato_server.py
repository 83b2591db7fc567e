"""Potato 2.12: one project for three people, who register, answer and change their minds over HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import httpx2 as httpx
from steps.answers.tool_exports import tasks_of

from exchange import hundred_pairs as pairs
from exchange.installed import free_port, install, run, running
from fcpair.files.exchange.annotation_tool import option_names
from fcpair.stages.questions import Form

_ITEM = re.compile(r'<script id="instance_data" type="application/json">(.*?)</script>', re.DOTALL)


def export_from(project: Path, folder: Path, form: Form, people: Sequence[str]) -> list[Path]:
    """Have everybody of a project answer all of theirs; returns the one export."""
    commands, port = install("potato"), free_port()
    start = [commands / "potato", "start", "config.yaml", "-p", str(port), "--host", "127.0.0.1"]
    tasks = tasks_of("potato", project)
    with running(start, project, {}, f"http://127.0.0.1:{port}/"):
        assert register(port, "mallory") is None
        for person in people:
            answer_all(port, person, len(pairs.of_person(tasks, person)), form)
    export = [commands / "python", "-m", "potato.export", "-c", "config.yaml", "-f", "jsonl", "-o", folder]
    run(export, project, {})
    return [folder / "annotations.jsonl"]


def register(port: int, person: str) -> httpx.Client | None:
    """Somebody who has registered; None where they may not."""
    client = httpx.Client(base_url=f"http://127.0.0.1:{port}", follow_redirects=True, timeout=60)
    client.post("/register", data={"email": person, "pass": f"a word of {person}"})
    if _ITEM.search(client.get("/annotate").text):
        return client
    client.close()
    return None


def answer_all(port: int, person: str, n: int, form: Form) -> None:
    client = register(port, person)
    assert client is not None
    for _ in range(n):
        found = _ITEM.search(client.get("/annotate").text)
        assert found
        item = json.loads(found[1])
        number, shown = int(item["fcpair"].split(":")[-2]), item["text"]
        if pairs.changes_mind(number):
            save(client, item["fcpair"], values_of(form, shown, person, at_first=True))
        note = {"note:text_box": text} if (text := pairs.note_of(number)) else {}
        save(client, item["fcpair"], values_of(form, shown, person) | note)
        client.post("/annotate", json={"action": "next_instance", "instance_id": item["fcpair"]})
    assert _ITEM.search(client.get("/annotate").text) is None
    client.close()


def values_of(form: Form, shown: str, person: str, *, at_first: bool = False) -> dict[str, str]:
    """What the page would send of the questions."""
    values: dict[str, str] = {}
    for name, question in form.questions:
        for word in pairs.words_of(question, shown, person, at_first=at_first):
            values[f"{name}:{word if option_names(question) else 'text_box'}"] = word
    return values


def save(client: httpx.Client, key: str, values: dict[str, str]) -> None:
    """What the page sends when something on it has changed: all of it, and which questions have nothing chosen."""
    body = {"instance_id": key, "annotations": values, "cleared_schemas": [], "span_annotations": []}
    assert client.post("/updateinstance", json=body).is_success
