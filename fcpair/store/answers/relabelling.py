"""Changes of labels, which are only ever added; what older answers read as since; and the study as it was before one.

Answers and decisions stay as they were given. A label that was renamed or merged reads as another answer of its round
(`rounds.reading`), so that a change costs as much as there are labels, however often they were given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Row, insert, select, update

from fcpair.records import Round
from fcpair.store.assignment import rounds
from fcpair.store.assignment.rounds import Answer
from fcpair.store.corpus.grids import current_grid_id
from fcpair.store.database import checksums, latest_rows
from fcpair.store.database.store import Tx, now
from fcpair.store.database.tables import adjudication, answer, assignment, judgement, relabelling, round_

QUOTE = "'"  # of a text in SQL


def history(tx: Tx) -> Sequence[Row[Any]]:
    """The changes of the labels of the grid, oldest first."""
    is_own = relabelling.c.grid_id == current_grid_id(tx)
    return tx.execute(select(relabelling).where(is_own).order_by(relabelling.c.id)).all()


def labelled_rounds(tx: Tx) -> list[Round]:
    """The rounds of the grid that ask for its labels: the one that counts, its known pairs and calibration, and where
    validators answer blind.
    """
    counting, every = rounds.primary(tx), rounds.all_of_grid(tx)
    related = ([of.id, of.checks, of.options.known_for, of.options.calibrates] for of in every)
    return [of for of, names in zip(every, related, strict=True) if {counting.id, counting.name} & {*names}]


class ChangedRound(NamedTuple):
    """A round with other labels: its form, its possible answers, and as which of them, by digests, others read."""

    form: str
    answers: Sequence[Answer]
    moved: Mapping[str, str]


def change(
    tx: Tx, params: Mapping[str, Any], changed: Mapping[int, ChangedRound], rules: Mapping[str, Any], run_id: int
) -> None:
    """Change the labels of rounds, by their id, and note what there was before, and by which `rules` tiers were
    derived.
    """
    rows = tx.execute(select(*round_.c[checksums.SAYS[round_]]).where(round_.c.id.in_(list(changed)))).mappings().all()
    kept = select(*answer.c["id", "reads_as"]).where(answer.c.round_id.in_(list(changed)))
    reads_as = {row.id: row.reads_as for row in tx.execute(kept) if row.reads_as is not None}
    before = {"forms": {row["id"]: row["form"] for row in rows}, "reads_as": reads_as, "rules": dict(rules)}
    newest = {f"{of.name}_id": tx.scalar(latest_rows.select_newest_id(of)) for of in (answer, judgement, adjudication)}
    for row in rows:
        form, answers, moved = changed[row["id"]]
        values = {"form": form, "checksum": checksums.checksum_of(round_, {**row, "form": form})}
        tx.execute(update(round_).where(round_.c.id == row["id"]).values(values))
        rounds.get_or_add_answers(tx, row["id"], answers)
        of_round = select(*answer.c[checksums.SAYS[answer]]).where(answer.c.round_id == row["id"])
        known = tx.execute(of_round).mappings().all()
        ids_by_digest, reads = {of["digest"]: of["id"] for of in known}, {of["id"]: of["reads_as"] for of in known}
        for old_id, new_id in ((ids_by_digest[old], ids_by_digest[new]) for old, new in moved.items()):
            reads = {id_: new_id if old_id in (id_, other) else other for id_, other in reads.items()} | {new_id: None}
        for of in (of for of in known if reads[of["id"]] != of["reads_as"]):
            new_values = {"reads_as": reads[of["id"]]}
            new_values["checksum"] = checksums.checksum_of(answer, {**of, **new_values})
            tx.execute(update(answer).where(answer.c.id == of["id"]).values(new_values))
    noted = {"grid_id": current_grid_id(tx), "change": dict(params), "before": before, **newest}
    tx.execute(insert(relabelling).values(**noted, run_id=run_id, at=now()))


def past_views(past: Row[Any], schema: str) -> Iterator[str]:
    """Yield what hides the tables of a schema from one connection behind views of the study as it was before a change:
    with the judgements, decisions and verdicts that there were, and labels as they were read.
    """
    reads_as = " ".join(f"WHEN {id_} THEN {other}" for id_, other in {0: 0, **past.before["reads_as"]}.items())
    quoted = {id_: form.replace(QUOTE, 2 * QUOTE) for id_, form in past.before["forms"].items()}
    forms = " ".join(f"WHEN {id_} THEN '{form}'" for id_, form in quoted.items())
    newest = f"SELECT max(id) FROM {schema}.judgement WHERE assignment_id = t.id AND id <= {past.judgement_id}"
    current = f"CASE WHEN t.judgement_id <= {past.judgement_id} THEN t.judgement_id ELSE ({newest}) END"
    for table, condition, changed in (
        (answer, f"id <= {past.answer_id}", {"reads_as": f"CASE t.id {reads_as} END"}),
        (judgement, f"id <= {past.judgement_id}", {}),
        (adjudication, f"id <= {past.adjudication_id}", {}),
        (assignment, "true", {"judgement_id": current}),
        (round_, "true", {"form": f"CASE t.id {forms} ELSE t.form END"}),
    ):
        columns = ", ".join(f'{changed.get(column.name, f"t.{column.name}")} AS "{column.name}"' for column in table.c)
        yield f"CREATE TEMP VIEW {table.name} AS SELECT {columns} FROM {schema}.{table.name} AS t WHERE {condition}"
