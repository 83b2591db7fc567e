"""How surely a qualification sorts people, and whether the time of a reply tells a control pair from another."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.measure import Figure, show
from fcpair.known_pairs import Controls, Qualification
from fcpair.params import Adjudicate, Annotate, Assign, Import, Pair, Retrieve, Select, Setup, Simulate
from fcpair.records import Known, Role
from fcpair.stages.questions import SKIP
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells
from fcpair.study import Study
from fcpair.work_records import Submission

N_PEOPLE, N_KNOWN, PASS_MARK = 100, 40, 0.75
N_HS, N_CN = 30, 40
ACCURACIES = {0.9: "passed", 0.55: "waits"}
REPETITIONS = 1
SORTED, TOLD_APART = 95, 0.55
STUDIES = 4  # in one alone, chance is 0.03 (standard error)


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
        areas = defaultdict[str, list[float]](list)
        for n in range(STUDIES):
            study = _study(folder / f"online-{policy}-{n}.db", folder)
            for kind, seconds in _reply_seconds(study, folder, policy).items():
                areas[f"{kind}, {'with' if policy else 'without'} a policy"].append(_area(seconds))
        for kind, values in areas.items():
            what = f"{kind}: how surely the time of a reply tells a control pair (0.5: not at all)"
            show(what, values)
            figures.append(Figure("controls", what, 0.5 + abs(float(np.mean(values)) - 0.5), "at most", TOLD_APART))
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
    grid.save.qualification(Qualification(table, pass_mark=PASS_MARK, known_pairs=N_KNOWN))
    grid.assign(Assign(annotators=N_PEOPLE))
    grid.simulate(Simulate(accuracy=accuracy, not_sure=not_sure, skips=skips))
    return [row["standing"] for row in grid.desk.known_scores()]


def _reply_seconds(study: Study, folder: Path, policy: str) -> dict[str, dict[bool, list[float]]]:
    """How long replies take to somebody who answers or skips online, and then changes each answer and takes each skip
    back: on control pairs (True), and on others.
    """
    grid = study.grid()
    grid.save.controls(Controls(_known_table(study, folder / "controls.csv", 1_000), rate=0.3))
    study.add_people(["ana", "ben", "cem"], Role.ANNOTATOR)
    grid.assign(Assign(overlap={2: 0.3}))
    with study._store.read() as tx:
        (control_round,) = rounds.of_known_pairs(tx, use=Known.CONTROLS)
        ids = {one.name: one.id for one in study.people}
        known = {(one.row_id, one.column_id) for one in assignments.known_answers(tx, control_round, ids["ana"])}
        cell_ids = set(assignments.known_cell_ids(tx, sorted(known)).values())
    sheets = folder / f"sheets-{Path(study.place).stem}"
    grid.sheets.write_labels(sheets)
    with (sheets / "ben.csv").open(encoding="utf-8-sig", newline="") as file:
        answers = [(row["pair"], "ben", "appropriate") for row in csv.DictReader(file)]
    grid.import_labels(_write(folder / "ben.csv", ("pair", "annotator", "label"), answers))
    if policy:
        grid.adjudicate(Adjudicate("majority"))
    token = study.access.invite("ana")
    study.access.consent(ids["ana"], {})
    desk, visitor = study.work_queue(Annotate()), study.access.by_token(token)
    assert visitor is not None
    is_control: dict[int, bool] = {}  # by assignment
    seconds = defaultdict[str, dict[bool, list[float]]](lambda: {True: [], False: []})

    def submit(kind: str, assignment_id: int, answer: str) -> None:
        start = process_time()  # not of the clock, which a busy machine hides it behind
        desk.submit(visitor, Submission(f"{kind}-{assignment_id}", assignment_id, answer))
        seconds[kind][is_control[assignment_id]].append(process_time() - start)

    while tasks := desk.tasks(visitor, 50):
        for task in tasks:
            is_control[task.assignment_id] = task.cell_id in cell_ids
            if len(is_control) % 2:
                submit("first answers", task.assignment_id, "appropriate")
            else:
                submit("skips", task.assignment_id, SKIP)
    for at, assignment_id in enumerate(is_control, 1):
        submit("changed answers" if at % 2 else "skips taken back", assignment_id, "not_appropriate")
    return seconds


def _area(seconds: dict[bool, list[float]]) -> float:
    """The area under the curve by which the time of a reply tells control pairs: above 0.5 where they are slower."""
    return float(np.mean(np.array(seconds[True])[:, None] > np.array(seconds[False])[None, :]))
