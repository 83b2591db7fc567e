"""One bit of a study file flips, over and over: does `fcpair doctor` find each flip that changes what was said?

What was said are the answers with the pair and the person that they belong to, the decisions, the texts, guidelines,
rounds with the answers that they have, and pseudonyms. A file in which some of it cannot be read any more counts as
changed.
"""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.measure import SEED, Figure, job
from benchmarks.serving import crossed

REPETITIONS = 400
N_HS, N_CN = 16, 24
SAID = (
    "SELECT j.id, j.skipped, j.answer_id, j.adjudication_id, j.origin, j.seconds, j.note, j.at, j.guideline_id, "
    "j.run_id, j.withdraws, a.person_id, a.cell_id, a.round_id, c.row_id, c.column_id FROM judgement j "
    "LEFT JOIN assignment a ON a.id = j.assignment_id LEFT JOIN cell c ON c.id = a.cell_id ORDER BY j.id",
    "SELECT id, cell_id, rule, answer_id, person_id, note, at, flagged, seen_judgement FROM adjudication ORDER BY id",
    "SELECT id, kind, body, language, meta FROM text ORDER BY id",
    "SELECT id, body, at, person_id FROM guideline ORDER BY id",
    "SELECT id, row_kind, row_name, column_kind, column_name FROM grid ORDER BY id",
    "SELECT id, grid_id, name, role, form, checks, counts, blind, options FROM round ORDER BY id",
    "SELECT id, round_id, value, code, text_id FROM answer ORDER BY id",
    "SELECT id, name FROM person ORDER BY id",
)


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Flip as many bits, one in each copy of a study, and count what is changed and what is found."""
    counts = job("benchmarks.flips:measure", folder, repetitions)
    for what, n in counts.items():
        print(f"  {what}: {n:,.0f}", flush=True)
    return [
        Figure("flips", "flips that change what was said and pass", counts["missed"], "exactly", 0),
        Figure("flips", "flips that change what was said", counts["changed"], "at least", repetitions // 10),
    ]


def measure(folder: str, repetitions: str) -> dict[str, int]:
    """Job: make a study, and flip bits in it."""
    return flip(prepare(Path(folder)), Path(folder) / "flipped.db", int(repetitions), SEED)


def prepare(folder: Path) -> Path:
    """A small study in which much has been said: answers with notes, decisions by rule and by hand, verdicts."""
    from fcpair.params import Adjudicate, Assign, Simulate, Validate
    from fcpair.records import Role

    hs = [f"A mild statement about group {i}, as long as such statements tend to be." for i in range(N_HS)]
    cn = [f"A reply with the number {i}, é, نه, of about the length that replies have." for i in range(N_CN)]
    study = crossed(folder, hs, cn)
    grid = study.grid()
    grid.assign(Assign(annotators=3, overlap={2: 0.4, 3: 0.2}, seed=SEED))
    grid.simulate(Simulate(seed=SEED, accuracy=0.6))
    grid.adjudicate(Adjudicate("majority"))
    for pair in grid.waiting_pairs():
        grid.decide(pair, (0, 2, None)[pair % 3], by="ada", note=f"Read pair {pair} twice.")
    study.add_people(["vera", "walt"], Role.VALIDATOR)
    grid.assign_validation(Validate(seed=SEED))
    grid.simulate(Simulate(seed=SEED + 1))
    study.add_people(["lea"], Role.LEAD)
    study.edit_guidelines("Read both texts. *Then* say whether the second answers the first.\n" * 5, by="lea")
    return Path(study.place)


def flip(made: Path, copy: Path, n: int, seed: int) -> dict[str, int]:
    """Flip `n` bits, one in each copy: how many changed what was said (`changed`), of these how many `doctor`, SQLite's
    `quick_check` and its `integrity_check` found, how many the doctor `missed`; and how many of the others it found.
    """
    whole, before, drawn = made.read_bytes(), said(made), random.Random(seed)
    counts: Counter[str] = Counter(changed=0, doctor=0, quick_check=0, integrity_check=0, missed=0, others_found=0)
    for at in drawn.sample(range(8 * len(whole)), n):
        flipped = bytearray(whole)
        flipped[at // 8] ^= 1 << at % 8
        copy.write_bytes(flipped)
        found = not is_sound(copy)
        if said(copy) == before:
            counts["others_found"] += found
            continue
        counts.update(changed=1, doctor=found, missed=not found)
        counts.update({check: not passes(copy, check) for check in ("quick_check", "integrity_check")})
    return counts


def said(path: Path) -> list[Any] | None:
    """All that was said, as it is in the file; None where it cannot be read."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.text_factory = bytes
            return [connection.execute(query).fetchall() for query in SAID]
    except (sqlite3.Error, UnicodeDecodeError):  # the latter where its message quotes what is no text
        return None


def passes(path: Path, check: str) -> bool:
    """Whether SQLite's own check finds nothing."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            return [row[0] for row in connection.execute(f"PRAGMA {check}")] == ["ok"]
    except (sqlite3.Error, UnicodeDecodeError):  # the latter where its message quotes what is no text
        return False


def is_sound(path: Path) -> bool:
    """Whether `fcpair doctor` would end with 0."""
    from fcpair.errors import FcpairError
    from fcpair.study import Study

    try:
        return Study.doctor(path).is_sound
    except FcpairError:
        return False
