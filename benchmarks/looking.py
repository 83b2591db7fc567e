"""Nine people who answer while a lead and four adjudicators look, in a study of 500,000 judgements.

The lead reloads the overview, its panels and the map, the adjudicators fetch, decide and list conflicts, all of them
one request after the other without a pause; who is told to come back later does. Then 16 adjudicators ask at once.
"""

from __future__ import annotations

import asyncio
import sys
import sysconfig
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from benchmarks.clients import Connection
from benchmarks.measure import MB, SEED, Figure, job, show
from benchmarks.serving import server

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

REPETITIONS = 1
SECONDS = 60
N_ANSWERING, N_DECIDING, N_AT_ONCE = 9, 4, 16
N_HS, N_CN = 480, 1_000
PAIRS_BY_LABELS = {1: 360_000, 2: 40_000, 3: 20_000}
TWICE = 0.12  # of the pairs that are open, so many are given to two people
DECIDED = 5_000
ACCURACY, UNSURE = 0.85, 0.02
PANELS = ("progress", "tiers", "coverage", "agreement", "labels", "speed", "exposure", "flags")
MAP = "/lead/grid/map"
UNTIL_ASKED_AGAIN_S = 1.0


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Measure submits, looks and memory; `folder` takes some 300 MB for a while."""
    made = job("benchmarks.looking:prepare", folder / "study.db")
    print(f"  {made['labels']:,} judgements, {made['conflicts']:,} conflicts")
    found = [_served(folder / "study.db", made["tokens"]) for _ in range(repetitions)]
    for name, unit in (("per_s", " answers/s"), ("p50_ms", " ms"), ("p99_ms", " ms"), ("max_ms", " ms")):
        show(f"submit, {name}", [one[name] for one in found], unit)
    for name in ("server_mb", "others_mb"):
        show(f"peak memory, {name}", [one[name] for one in found], " MB")
    show("16 adjudicators at once, longest wait", [one["at_once_s"] for one in found], " s")
    worst = {name: max(one[name] for one in found) for name in ("p99_ms", "peak_mb", "failed")}
    return [
        Figure("looking", "judgements", made["labels"], "exactly", 500_000),
        Figure("looking", "99th percentile of submit", worst["p99_ms"], "at most", 100, " ms"),
        Figure("looking", "peak memory, all processes", worst["peak_mb"], "at most", 700, " MB"),
        Figure("looking", "requests that failed", worst["failed"], "exactly", 0),
    ]


@dataclass
class Seen:
    """What happened: seconds of each submit, of each kind of look, and the statuses that were no success."""

    submits: list[float] = field(default_factory=list)
    looks: dict[str, list[float]] = field(default_factory=dict)
    later: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)

    async def look(self, connection: Connection, name: str, path: str, body: Any = None) -> Any:
        """Ask for something, or send it; what was answered, None for no success."""
        begun = time.perf_counter()
        status, said = await connection.exchange("GET" if body is None else "POST", path, body)
        if status in (200, 204):
            self.looks.setdefault(name, []).append(time.perf_counter() - begun)
            return said
        await self.put_off(name, status)
        return None

    async def put_off(self, name: str, status: int) -> None:
        """Note that a request was no success, and wait a moment."""
        (self.later if status == 503 else self.failed)[f"{name} {status}"] += 1
        await asyncio.sleep(UNTIL_ASKED_AGAIN_S)


def _served(path: Path, tokens: dict[str, list[str]]) -> dict[str, Any]:
    script = str(Path(sysconfig.get_path("scripts")) / "fcpair")
    with server([script, "serve", "--study", str(path), "--port"], "/join") as (process, port, _):
        found: dict[str, Any] = asyncio.run(_all_at_once(process, port, tokens))
    return found


async def _all_at_once(process: psutil.Process, port: int, tokens: dict[str, list[str]]) -> dict[str, Any]:
    seen, until = Seen(), time.perf_counter() + SECONDS
    memory = asyncio.create_task(_watch_memory(process))
    await asyncio.gather(
        *(answer_without_pause(port, token, at, until, seen) for at, token in enumerate(tokens["answering"])),
        *(_decide(port, token, until, seen) for token in tokens["deciding"][:N_DECIDING]),
        _lead(port, tokens["lead"][0], until, seen),
    )
    at_once_s = await _rush(port, tokens["deciding"], seen)
    memory.cancel()
    peak = await asyncio.gather(memory, return_exceptions=False)
    ordered = sorted(1000 * one for one in seen.submits)
    for name, took in sorted(seen.looks.items()):
        print(f"  {name}: {len(took)} times, {_at(took, 0.5):.2f} s, at most {max(took):.2f} s")
    print(f"  told to come later: {dict(seen.later)}; failed: {dict(seen.failed)}")
    return {
        "per_s": len(ordered) / SECONDS,
        "p50_ms": _at(ordered, 0.5),
        "p99_ms": _at(ordered, 0.99),
        "max_ms": ordered[-1],
        "failed": seen.failed.total(),
        "at_once_s": at_once_s,
        **peak[0],
    }


def _at(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


async def _watch_memory(process: psutil.Process) -> dict[str, float]:
    """The most that the server, what it started, and both together took, until it is told to end."""
    most = {"server_mb": 0.0, "others_mb": 0.0, "peak_mb": 0.0}
    try:
        while True:
            own, others = process.memory_info().rss / MB, sum(_rss(one) for one in process.children(recursive=True))
            for name, value in (("server_mb", own), ("others_mb", others), ("peak_mb", own + others)):
                most[name] = max(most[name], value)
            await asyncio.sleep(0.25)
    except asyncio.CancelledError:
        return most


def _rss(process: psutil.Process) -> float:
    try:
        return float(process.memory_info().rss / MB)
    except psutil.NoSuchProcess:
        return 0.0


async def answer_without_pause(port: int, token: str, who: int, until: float, seen: Seen) -> None:
    """Answer one pair after the other, as fast as the server lets one."""
    connection, n = await Connection.to(port, token), 0
    while time.perf_counter() < until:
        status, tasks = await connection.exchange("GET", "/api/next")
        if status != 200:
            await seen.put_off("next", status)
            continue
        task = tasks["tasks"][0]
        body = {"request_id": f"answer-{who}-{n}", "assignment_id": task["assignment_id"], "answer": "appropriate"}
        begun = time.perf_counter()
        status, _ = await connection.exchange("POST", "/api/judgements", {**body, "seconds": 1.5})
        seen.submits.append(time.perf_counter() - begun)
        n += 1
        if status != 200:
            await seen.put_off("submit", status)


async def _lead(port: int, token: str, until: float, seen: Seen) -> None:
    connection = await Connection.to(port, token)
    while time.perf_counter() < until:
        await seen.look(connection, "overview", "/lead")
        for path in (MAP, *(f"/lead/panel/{name}" for name in PANELS)):
            if time.perf_counter() < until:
                await seen.look(connection, path.partition("?")[0], path)


async def _decide(port: int, token: str, until: float, seen: Seen) -> None:
    connection, after, n = await Connection.to(port, token), "", 0
    while time.perf_counter() < until:
        found = await seen.look(connection, "conflicts/next", f"/api/conflicts/next{after}")
        if found and found["case"]:
            case = found["case"]
            body = {"request_id": f"decision-{token[:8]}-{n}", "cell_id": case["cell_id"], "outcome": "appropriate"}
            await seen.look(connection, "decide", "/api/decisions", body)
            after, n = f"?after={case['cell_id']}", n + 1
        await seen.look(connection, "adjudicate", "/adjudicate")
        await seen.look(connection, "decided", "/api/decided")


async def _rush(port: int, tokens: list[str], seen: Seen) -> float:
    """How long the last of 16 adjudicators waits who all ask at once."""
    connections = [await Connection.to(port, tokens[at % len(tokens)]) for at in range(N_AT_ONCE)]
    begun = time.perf_counter()
    await asyncio.gather(*(seen.look(one, "rush", "/api/conflicts/next") for one in connections))
    return time.perf_counter() - begun


def prepare(path: str) -> dict[str, Any]:
    """Job: draw a study in which many have labelled, some have decided, and nine people have pairs to label."""
    import numpy as np

    from fcpair import Study
    from fcpair.records import Role
    from fcpair.store import Store

    rng = np.random.default_rng(SEED)
    study = Study.create(path)
    roles = {"answering": Role.ANNOTATOR, "deciding": Role.ADJUDICATOR, "lead": Role.LEAD}
    names = {
        "answering": [f"a{n}" for n in range(N_ANSWERING)],
        "deciding": [f"d{n}" for n in range(N_AT_ONCE)],
        "lead": ["lee"],
    }
    people = {kind: [one.id for one in study.add_people(names[kind], role)] for kind, role in roles.items()}
    labels = _labels(rng, people["answering"])
    with Store.open(Path(path)).write(bulk=True) as tx:
        _add_grid(tx)
        _add_labels(tx, labels, _open(rng, people["answering"]))
        conflicts = _decide_some(tx, people["deciding"])
    tokens = {kind: [study.access.invite(name) for name in names[kind]] for kind in names}
    for ids in people.values():
        for one in ids:
            study.access.consent(one, {})
    return {"labels": len(labels), "conflicts": conflicts, "tokens": tokens}


def _labels(rng: np.random.Generator, people: list[int]) -> pd.DataFrame:
    """Draw `cell_id`, `person_id`, `code`, `seconds`, `at`: each pair's labels are by different people."""
    import numpy as np
    import pandas as pd

    n_pairs = sum(PAIRS_BY_LABELS.values())
    truth = rng.choice([0, 2], n_pairs, p=[0.6, 0.4])
    n_labels = rng.permutation(np.repeat(list(PAIRS_BY_LABELS), list(PAIRS_BY_LABELS.values())))
    pair = np.repeat(np.arange(n_pairs), n_labels)
    nth = np.concatenate([np.arange(n) for n in n_labels])
    person = np.asarray(people)[(rng.integers(len(people), size=n_pairs)[pair] + nth) % len(people)]
    code = np.where(rng.random(len(pair)) < ACCURACY, truth[pair], 2 - truth[pair])
    code = np.where(rng.random(len(pair)) < UNSURE, 1, code)
    drawn = pd.DataFrame({"cell_id": pair + 1, "person_id": person, "code": code})
    drawn = drawn.sample(frac=1, random_state=rng).reset_index(drop=True)
    times = pd.Timestamp("2026-03-02T08:00:00+00:00") + pd.to_timedelta(np.arange(len(drawn)) * 12_000, unit="ms")
    drawn["seconds"] = np.round(rng.lognormal(2, 0.5, len(drawn)), 1)
    drawn["at"] = [one.isoformat(timespec="milliseconds") for one in times]
    return drawn


def _open(rng: np.random.Generator, people: list[int]) -> pd.DataFrame:
    """What has still to be labelled: `cell_id`, `person_id`."""
    import numpy as np
    import pandas as pd

    pairs = np.arange(sum(PAIRS_BY_LABELS.values()), N_HS * N_CN) + 1
    once = pd.DataFrame({"cell_id": pairs, "nth": np.arange(len(pairs))})
    again = once[rng.random(len(once)) < TWICE].assign(nth=lambda rows: rows["nth"] + 1)
    both = pd.concat([once, again])
    return both.assign(person_id=np.asarray(people)[both["nth"] % len(people)])[["cell_id", "person_id"]]


def _add_grid(tx: Any) -> None:
    import numpy as np
    import pandas as pd

    from fcpair.store.corpus import cells, sides, texts

    ids_of: dict[str, list[int]] = {}
    words = "of about the length that such texts have, a sentence or two with a dozen words in each of them."
    for kind, n in (("hs", N_HS), ("cn", N_CN)):
        none: dict[str, str] = {}
        rows = ((f"{kind}{at}", f"Text {at} of {kind}, {words}", "en", none) for at in range(n))
        ids_of[kind] = list(texts.add_texts(tx, kind, rows).values())
    sides.set_texts(tx, "row", ids_of["hs"])
    sides.set_texts(tx, "column", ids_of["cn"])
    ids = np.arange(1, N_HS * N_CN + 1)
    cells.add(
        tx, pd.DataFrame({"id": ids, "hs_id": np.repeat(ids_of["hs"], N_CN), "cn_id": np.tile(ids_of["cn"], N_HS)})
    )


def _add_labels(tx: Any, labels: pd.DataFrame, left: pd.DataFrame) -> None:
    import pandas as pd

    from fcpair.records import Origin, Status
    from fcpair.store.answers import judgements
    from fcpair.store.assignment import assignments, rounds

    done = labels[["cell_id", "person_id"]].assign(status=Status.DONE.value)
    given = pd.concat([done, left.assign(status=Status.OPEN.value)], ignore_index=True)
    assignments.add_assignments(
        tx, given.assign(position=given.groupby("person_id").cumcount() + 1), rounds.primary(tx)
    )
    ids = assignments.assignments(tx, rounds.primary(tx))["id"][: len(labels)]
    answers = labels[["code", "seconds", "at"]].assign(assignment_id=ids, skipped=False, note="")
    judgements.add_judgements(tx, answers, Origin.IMPORTED)


def _decide_some(tx: Any, people: list[int]) -> int:
    """Have the adjudicators decide some of the conflicts; returns how many are left."""
    import numpy as np
    import pandas as pd

    from fcpair.records import Rule
    from fcpair.steps.base.context import scheme_of
    from fcpair.store import adjudications, disputes

    waiting = disputes.undecided_pairs(tx, scheme_of(tx).definite)[1]
    pairs = waiting[:: max(len(waiting) // DECIDED, 1)]
    who = np.resize(people, len(pairs))
    rows = {"cell_id": pairs, "rule": Rule.PERSON.value, "code": 2, "person_id": who}
    adjudications.add_adjudications(tx, pd.DataFrame(rows))
    return len(waiting) - len(pairs)


if __name__ == "__main__":  # for whoever looks at one study for longer
    print(prepare(sys.argv[1]))
