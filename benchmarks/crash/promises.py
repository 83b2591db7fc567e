"""The ten promises of a study, and how each is checked after a crash: by `fcpair doctor`, and by code of its own here.

A check of its own gets the study as it was before, as it is now, and the open study, and says what is broken.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.crash.places import Rows

KEPT = ("judgement", "adjudication")
SHOWN_WORK = 50
SHOWN_PAIRS = 4  # pairs for which it is asked why they are where they are


@dataclass(frozen=True)
class Left:
    """What a crash has left: rows before and now, the study, and what was acknowledged."""

    before: Rows
    now: Rows
    study: Any


Own = Callable[[Left], Iterator[str]]


def only_added(left: Left) -> Iterator[str]:
    """Every answer and decision of before is there, unchanged."""
    for table in KEPT:
        if gone := set(left.before.get(table, ())) - set(left.now.get(table, ())):
            yield f"{len(gone)} rows of {table} were changed or deleted"


def own_work(left: Left) -> Iterator[str]:
    """What a person is handed is their own open work; who checks gets no cell that somebody has still to label."""
    from sqlalchemy import select

    from fcpair.records import Status
    from fcpair.store.answers import task_queries
    from fcpair.store.assignment import rounds
    from fcpair.store.database.tables import assignment, round_
    from fcpair.store.people import people

    open_ = assignment.c.status == Status.OPEN.value
    labelling = select(round_.c.id).where(round_.c.counts)
    with left.study._store.read() as tx:
        given = dict(tx.execute(select(assignment.c.id, assignment.c.person_id).where(open_)).all())
        waits = select(assignment.c.cell_id).where(open_, assignment.c.round_id.in_(labelling))
        unready = set(tx.execute(waits).scalars())
        for one in people(tx, active=True):
            for asked in rounds.of_role(tx, one.role):
                for row in task_queries.open_tasks(tx, one.id, asked, SHOWN_WORK):
                    if given.get(row["id"]) != one.id:
                        yield f"{one.name} is handed work of somebody else"
                    if asked.checks is not None and row["cell_id"] in unready:
                        yield f"{one.name} is handed a label to check that is still being given"


def no_slot_used_up(left: Left) -> Iterator[str]:
    """What replaces a slot that was given up replaces one that was, and each such slot is replaced once."""
    from sqlalchemy import select

    from fcpair.records import Status
    from fcpair.store.database.tables import assignment, metadata

    with left.study._store.read() as tx:
        status = dict(tx.execute(select(assignment.c.id, assignment.c.status)).all())
        ways = [one for one in metadata.sorted_tables if "replaces" in one.c]
        replaced = [row[0] for one in ways for row in tx.execute(select(one.c.replaces)) if row[0] is not None]
    yield from (f"{one} is replaced twice" for one in {one for one in replaced if replaced.count(one) > 1})
    held = {Status.DONE.value, Status.OPEN.value}
    yield from (f"{one} is replaced and {status[one]}" for one in replaced if status[one] in held)


def explained(left: Left) -> Iterator[str]:
    """The tier of a pair, derived again, is the one that is given as the reason for its place."""
    from fcpair.errors import FcpairError
    from fcpair.records import TIERS

    for name in left.study.grids:
        grid = left.study.grid(name)
        try:
            pairs = grid.tiers().table().pairs
        except FcpairError:  # no labels yet, or none that make tiers
            continue
        for pair, tier in list(zip(pairs["cell_id"].tolist(), pairs["tier"].tolist(), strict=True))[:SHOWN_PAIRS]:
            checks = grid.explain(pair).checks
            if sum(check.passed for check in checks[: len(TIERS)]) != tier:
                yield f"pair {pair} is in tier {tier}, and explained otherwise"


def nothing_loosened(left: Left) -> Iterator[str]:
    """Every setting is as it was before, or was set by a run that came since; so are consents and opt-outs.

    An upgrade gives some settings new names, and must keep their values and runs.
    """
    gone = set(left.before.get("setting", ())) - set(left.now.get("setting", ()))
    if left.before.get("alembic_version") != left.now.get("alembic_version"):
        gone = {_by_new_name(row) for row in gone} - set(left.now["setting"])
    if gone and len(left.now["run"]) <= len(left.before["run"]):
        yield f"{len(gone)} settings are others, and no run says why"
    if len(left.now.get("person", ())) < len(left.before.get("person", ())):
        yield "people are missing"


def _by_new_name(row: str) -> str:
    """A row of the settings of a study from before 0011, as it is after."""
    from importlib import import_module

    grid, key, *rest = literal_eval(row)
    place, name = key.rsplit(".", 1)
    names = import_module("fcpair._migrations.versions.0011_option_names").NEW_NAMES
    return repr((grid, f"{place}.{names.get(place.removeprefix('recipe.'), {}).get(name, name)}", *rest))


@dataclass(frozen=True)
class Promise:
    """One promise of section 4 of the design: the checks of `fcpair doctor` that hold it, and what is done here."""

    says: str
    doctor: tuple[str, ...]
    own: Own | None = None
    how: str = ""


PROMISES = (
    Promise("no answer or decision is updated or deleted", ("protection", "answers", "decisions", "numbering"),
            only_added),
    Promise("what was acknowledged survives, and once", ("receipts", "extent"),
            how="rows are those of a commit, the last that the process had, or, in a commit, the one after it"),
    Promise("nobody sees another's answer too early", ("work",), own_work),
    Promise("who checks did not answer or decide", ("roles",)),
    Promise("no pair of the corpus, no cell twice", ("pairs", "references")),
    Promise("a skip gives its slot back", ("work",), no_slot_used_up),
    Promise("not sure, skipped and not seen stay apart", ("codes", "work", "rounds")),
    Promise("tiers can be derived again, and explained", ("tiers", "rules"), explained),
    Promise("no tier rests on what a rule would not do today", ("rules", "releases")),
    Promise("limits, opt-outs and consents hold", ("consent", "opt-outs"), nothing_loosened),
)  # fmt: skip


def broken(place: str, before: Rows, now: Rows) -> list[str]:
    """What of the ten promises, and of all else that `fcpair doctor` looks at, does not hold in a study."""
    from fcpair.study import Study

    study = Study(place)  # as any command would: what was left half done is undone
    try:
        found = [
            f"promise {number}: {fault}"
            for number, promise in enumerate(PROMISES, 1)
            if promise.own
            for fault in promise.own(Left(before, now, study))
        ]
    finally:
        study.close()
    held = {name: f"promise {number}" for number, one in enumerate(PROMISES, 1) for name in one.doctor}
    health = Study.doctor(place)
    return found + [
        f"{held.get(one.name, 'doctor')}: {one.name}: {fault}" for one in health.checks for fault in one.found
    ]
