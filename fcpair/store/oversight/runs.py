"""Facts about the study, the record of what was done to it, what came after a run, and its releases."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import and_, exists, insert, or_, select, update

from fcpair.records import Round, RunRecord
from fcpair.store import people
from fcpair.store.corpus import grids
from fcpair.store.database import backends, hash_chain, latest_rows
from fcpair.store.database.statements import is_true
from fcpair.store.database.store import Tx, now
from fcpair.store.database.tables import adjudication, assignment, judgement, release, run, study

OUTCOME = "outcome"
DOWNLOAD = "download"  # in the rule of a release: its file went to whoever asked for it on the pages


def add_study(tx: Tx, title: str, guidelines_: str) -> None:
    """Note what the study is, with new secrets; there is one row."""
    from secrets import token_hex

    secrets = {name: token_hex(people.SECRET_BYTES) for name in ("secret", "session_secret")}
    tx.execute(insert(study), [{"title": title, "created_at": now(), **secrets}])
    people.add_guidelines(tx, guidelines_, None)


def rename_study(tx: Tx, title: str) -> None:
    """Let the study have this title."""
    tx.execute(update(study).values(title=title))


def study_facts(tx: Tx) -> dict[str, str]:
    """Facts about the study: `title`, `guidelines`, `hs_name`, `cn_name`, `created_at`."""
    row, (hs_name, cn_name) = tx.execute(select(study)).one(), grids.side_names(tx)
    facts = {"title": row.title, "hs_name": hs_name, "cn_name": cn_name, "created_at": row.created_at}
    return {**facts, "guidelines": people.current_guidelines(tx)[1]}


def created_at(tx: Tx) -> str:
    """When the study was made."""
    return str(tx.execute(select(study.c.created_at)).scalar_one())


def secret(tx: Tx, name: str = "secret") -> str:
    """Secret from which orders and numbers that must stay are drawn; or `session_secret`, which signs sessions."""
    return str(tx.execute(select(study.c[name])).scalar_one())


def add_run(
    tx: Tx,
    stage: str,
    params: dict[str, Any],
    counts: dict[str, Any],
    version: str,
    model: dict[str, str] | None = None,
    outcome: dict[str, Any] | None = None,
) -> RunRecord:
    """Note one call of a stage; `outcome` is all that it found, where that is more than counts."""
    stored_counts = counts if outcome is None else {**counts, OUTCOME: outcome}
    row = {"stage": stage, "params": params, "counts": stored_counts, "version": version, "model": model, "at": now()}
    added = tx.execute(insert(run).returning(*run.c), [{**row, "id": latest_rows.newest_number(tx, run) + 1}]).one()
    hash_chain.count_one(tx, "run")
    return _run_record(added)


def end_run(tx: Tx, run_id: int, counts: dict[str, Any]) -> RunRecord:
    """Note what a call counted that was noted without counts when it began, so that what it brought can name it."""
    return _run_record(tx.execute(update(run).where(run.c.id == run_id).values(counts=counts).returning(*run.c)).one())


def find_run(tx: Tx, run_id: int) -> RunRecord | None:
    """The run of this number; None when there is none."""
    row = tx.execute(select(run).where(run.c.id == run_id)).first()
    return None if row is None else _run_record(row)


def runs(tx: Tx, stage: str | None = None) -> list[RunRecord]:
    """All runs, oldest first; of one stage, if asked."""
    query = select(run).order_by(run.c.id)
    return [_run_record(row) for row in tx.execute(query if stage is None else query.where(run.c.stage == stage))]


def _run_record(row: Any) -> RunRecord:
    counts = {name: value for name, value in row.counts.items() if name != OUTCOME}
    return RunRecord(row.id, row.stage, row.params, counts, row.version, row.at, row.model)


def outcomes(tx: Tx, stage: str = "evaluate") -> Iterator[tuple[RunRecord, dict[str, Any]]]:
    """The runs of a stage that kept all that they found, and what that is, newest first."""
    for row in tx.execute(select(run).where(run.c.stage == stage).order_by(run.c.id.desc())):
        if OUTCOME in row.counts:
            yield _run_record(row), row.counts[OUTCOME]


def add_release(tx: Tx, tier: str, rule: dict[str, Any], counts: dict[str, Any], file: str, sha256: str) -> None:
    """Note a frozen tier; its file, unless it was downloaded, is noted from the root on or from the study's folder."""
    if not (os.path.isabs(file) or rule.get(DOWNLOAD)):
        file = os.path.relpath(os.path.realpath(file), backends.backend_of(tx).folder(tx))
    row = {"tier": tier, "rule": rule, "counts": counts, "file": file, "sha256": sha256, "at": now()}
    tx.execute(insert(release), [{**row, "id": latest_rows.newest_number(tx, release) + 1}])


def releases(tx: Tx) -> list[dict[str, Any]]:
    """All releases, oldest first: `tier`, `rule`, `counts`, `file`, `sha256`, `at`, `path` (None: downloaded)."""
    columns, folder = release.c["tier", "rule", "counts", "file", "sha256", "at"], backends.backend_of(tx).folder(tx)
    return [
        {**row, "path": None if row["rule"].get(DOWNLOAD) else os.path.normpath(os.path.join(folder, row["file"]))}
        for row in tx.execute(select(*columns).order_by(release.c.id)).mappings()
    ]


def is_answered_since(tx: Tx, run: RunRecord, of: Iterable[Round]) -> bool:
    """Return whether an answer of these rounds came after a run: of a later run, or online at a later time."""
    is_of_rounds = assignment.c.round_id.in_([round_id for item in of for round_id in item.ids])
    is_later = or_(judgement.c.run_id > run.id, and_(judgement.c.run_id.is_(None), judgement.c.at > run.at))
    return is_true(tx, exists().where(assignment.c.id == judgement.c.assignment_id, is_of_rounds, is_later))


def is_decided_since(tx: Tx, run: RunRecord) -> bool:
    """Return whether a pair of the transaction's grid was decided after a run, by a rule or by somebody."""
    return is_true(tx, exists().where(grids.cell_range(tx).holds(adjudication.c.cell_id), adjudication.c.at > run.at))
