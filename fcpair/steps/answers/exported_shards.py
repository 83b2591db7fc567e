"""What an export of an annotation tool has of each person's shard: what is missing, and what must not count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fcpair.files.answers.answer_files import ImportedAnswers
from fcpair.records import Origin, Round, Status
from fcpair.steps.answers import answer_import
from fcpair.steps.answers.dismissal import DISMISS
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.oversight import runs
from fcpair.store.people import people

if TYPE_CHECKING:
    import pandas as pd


def describe_missing(tx: Tx, incoming: ImportedAnswers, round_: Round, *, is_shared: bool) -> Iterator[str]:
    """Yield a sentence on each person of whose shard something is neither in the study nor in the export.

    They are those in the export, and where it `is_shared` all who have work in the round.
    """
    names, unit = {one.id: one.name for one in people.people(tx)}, f"{incoming.of.number}s"
    shards = assignments.assignments(tx, rounds.with_known_pairs(tx, round_))
    is_skip = incoming.rows.groupby("assignment_id")["answer"].agg(lambda answers: answers.iloc[-1] is None)
    brought = is_skip.map({True: Status.SKIPPED.value, False: Status.DONE.value})
    statuses = shards["id"].map(brought).fillna(shards["status"])
    n_by_person = statuses.groupby(shards["person_id"]).value_counts().to_dict()
    exporters = incoming.rows["person_id"].tolist()
    for person_id in shards["person_id"].unique().tolist() if is_shared else dict.fromkeys(exporters):
        n_done, n_skipped, n_open = (
            n_by_person.get((person_id, status.value), 0) for status in (Status.DONE, Status.SKIPPED, Status.OPEN)
        )
        if n_open:
            yield (
                f"{names[person_id]}: of {n_done + n_skipped + n_open:,} {unit} {n_done:,} are answered, {n_skipped:,} "
                f"skipped and {n_open:,} missing; unless {names[person_id]} is still at work, or was assigned them "
                "after the project was written, the export was cut off"
            )


def leave_out_dismissed(tx: Tx, incoming: ImportedAnswers, round_: Round) -> Iterator[str]:
    """Leave out the answers of people who were dismissed, where work passes on; yields a sentence on each."""
    dismissed = {run.params["person"] for run in runs.runs(tx, DISMISS)} if round_.reassigns_skipped else set()
    is_dismissed = incoming.rows["person"].isin(dismissed)
    for name, rows in incoming.rows[is_dismissed].groupby("person", sort=False):
        yield f"{name} was dismissed, so the answers of {name} are left out ({len(rows):,})"
    _keep(incoming, ~is_dismissed)


def leave_out_older(tx: Tx, incoming: ImportedAnswers, round_: Round) -> Iterator[str]:
    """Leave out answers from before another one that the same person has given on the cell; yields a sentence on each
    person.

    Simulated answers are nobody's, and where the export has no times nothing says which is the older.
    """
    import pandas as pd

    rows = incoming.rows
    current = judgements.current_codes(tx, rounds.with_known_pairs(tx, round_)).set_index("assignment_id")
    current = current[current["origin"] != Origin.SIMULATED.value]
    times = pd.to_datetime(rows["at"], utc=True, format="ISO8601", errors="coerce")
    current_times = pd.to_datetime(
        rows["assignment_id"].map(current["at"]), utc=True, format="ISO8601", errors="coerce"
    )
    is_older = (times < current_times) & answer_import.differing_rows(rows, current)
    for name, older in rows[is_older].groupby("person", sort=False):
        numbers = ", ".join(map(str, older["pair"].tolist()[:5])) + ", ..." * (len(older) > 5)
        left_out = f"{len(older):,} ({incoming.of.number}s {numbers})"
        yield f"{name} has answered differently since; older answers left out: {left_out}"
    _keep(incoming, ~is_older)


def _keep(incoming: ImportedAnswers, is_kept: pd.Series[bool]) -> None:
    """Keep some of the rows, and the earlier answers of these."""
    incoming.rows = incoming.rows[is_kept]
    if incoming.earlier is not None:
        incoming.earlier = incoming.earlier[incoming.earlier["later_row"].isin(incoming.rows.index)]
