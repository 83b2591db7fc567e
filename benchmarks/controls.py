"""How surely a qualification sorts people, and whether the time of a reply tells a control pair from another."""

from __future__ import annotations

import csv
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.measure import Figure, show
from fcpair.known_pairs import Controls, Qualification
from fcpair.params import Adjudicate, Annotate, Assign, Import, Pair, Retrieve, Select, Setup, Simulate
from fcpair.records import Known, Role
from fcpair.store.assignment import known_work, rounds
from fcpair.store.corpus import cells
from fcpair.study import Study
from fcpair.work_records import Submission

N_PEOPLE, N_KNOWN, PASS_MARK = 100, 40, 0.75
N_HS, N_CN = 30, 40
ACCURACIES = {0.9: "passed", 0.55: "waits"}
REPETITIONS = 1
SORTED, TOLD_APART = 95, 0.55


def run(folder: Path, _repetitions: int) -> list[Figure]:
    """Let simulated people qualify; then answer pairs online, among them controls, and time the replies."""
    figures = []
    for accuracy, expected in ACCURACIES.items():
        for habits, (not_sure, skips) in {"": (0.0, 0.0), ", not sure and skipping at times": (0.05, 0.01)}.items():
            study = _study(folder / f"{accuracy}-{not_sure}.db", folder)
            standings = _qualify(study, folder, accuracy, not_sure, skips)
            n_right = standings.count(expected)
            what = f"of {N_PEOPLE} people with accuracy {accuracy:g}{habits}, sorted rightly"
            show(what, [n_right])
            figures.append(Figure("controls", what, n_right, "at least", SORTED))
    for policy in ("", "majority"):
        study = _study(folder / f"online-{policy}.db", folder)
        for kind, seconds in _reply_seconds(study, folder, policy).items():
            what = f"{kind}, {'with' if policy else 'without'} a policy"
            show(f"{what}: a reply to a control pair", [median(seconds[True]) * 1000], " ms")
            show(f"{what}: a reply to another", [median(seconds[False]) * 1000], " ms")
            what = f"{what}: how surely the time of a reply tells a control pair (0.5: not at all)"
            figures.append(Figure("controls", what, _told_apart(seconds), "at most", TOLD_APART))
    return figures


def _study(path: Path, folder: Path) -> Study:
    """A grid of 30 HS by 40 CNs, less the pairs of its corpus."""
    corpus = folder / "corpus.csv"
    pairs = [(f"HS number {at % N_HS}", f"CN number {at}") for at in range(N_CN)]
    _write(corpus, ("hs", "cn"), pairs)
    study = Study.create(path, Setup(title="Controls"))
    study.import_corpus(Import(corpus))
    grid = study.grid()
    grid.select(Select(hs=N_HS))
    grid.retrieve(Retrieve(every_cn=True))
    grid.pair(Pair())
    return study


def _write(path: Path, columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    return path


def _known_table(study: Study, path: Path, n: int) -> Path:
    """So many pairs of the grid by the ids of their texts, half of them appropriate."""
    with study._store.read() as tx:
        pairs = cells.cells(tx)[["hs_id", "cn_id"]].to_numpy().tolist()
    drawn = np.random.default_rng(n).choice(len(pairs), n, replace=False)
    known = [(*pairs[at], ("appropriate", "not_appropriate")[place % 2], "A reason.") for place, at in enumerate(drawn)]
    return _write(path, ("row", "column", "answer", "explanation"), known)


def _qualify(study: Study, folder: Path, accuracy: float, not_sure: float, skips: float) -> list[str]:
    """Where each simulated person stands at the end."""
    grid = study.grid()
    table = _known_table(study, folder / "known.csv", N_KNOWN + 10)
    grid.save_qualification(Qualification(table, pass_mark=PASS_MARK, pairs=N_KNOWN))
    grid.assign(Assign(annotators=N_PEOPLE))
    grid.simulate(Simulate(accuracy=accuracy, not_sure=not_sure, skips=skips))
    return [row["standing"] for row in grid.known_scores()]


def _reply_seconds(study: Study, folder: Path, policy: str) -> dict[str, dict[bool, list[float]]]:
    """How long replies take to somebody who answers online, and then changes each answer: on control pairs (True), and
    on others.
    """
    grid = study.grid()
    grid.save_controls(Controls(_known_table(study, folder / "controls.csv", 1_000), rate=0.3))
    study.add_people(["ana", "ben"], Role.ANNOTATOR)
    grid.assign(Assign(overlap={2: 0.3}))
    with study._store.read() as tx:
        (control_round,) = rounds.of_known_pairs(tx, use=Known.CONTROLS)
        ids = {one.name: one.id for one in study.people}
        known = {(one.row_id, one.column_id) for one in known_work.answers(tx, control_round, ids["ana"])}
        cell_ids = set(known_work.cell_ids(tx, sorted(known)).values())
    grid.write_sheets(folder / "sheets")
    with (folder / "sheets" / "ben.csv").open(encoding="utf-8-sig", newline="") as file:
        answers = [(row["pair"], "ben", "appropriate") for row in csv.DictReader(file)]
    grid.import_labels(_write(folder / "ben.csv", ("pair", "annotator", "label"), answers))
    if policy:
        grid.adjudicate(Adjudicate("majority"))
    token = study.access.invite("ana")
    study.access.consent(ids["ana"], {})
    desk, visitor = study.work_queue(Annotate()), study.access.by_token(token)
    assert visitor is not None
    answered: dict[int, bool] = {}  # whether it is on a control pair, by assignment
    first, again = {True: list[float](), False: list[float]()}, {True: list[float](), False: list[float]()}
    while tasks := desk.tasks(visitor, 50):
        for task in tasks:
            answered[task.assignment_id] = is_control = task.cell_id in cell_ids
            start = perf_counter()
            desk.submit(visitor, Submission(f"first-{task.assignment_id}", task.assignment_id, "appropriate"))
            first[is_control].append(perf_counter() - start)
    for assignment_id, is_control in answered.items():
        start = perf_counter()
        desk.submit(visitor, Submission(f"again-{assignment_id}", assignment_id, "not_appropriate"))
        again[is_control].append(perf_counter() - start)
    return {"first answers": first, "changed answers": again}


def _told_apart(seconds: dict[bool, list[float]]) -> float:
    """The area under the curve by which the time of a reply tells control pairs, in the better direction."""
    slower = np.mean(np.array(seconds[True])[:, None] > np.array(seconds[False])[None, :])
    return float(max(slower, 1 - slower))
