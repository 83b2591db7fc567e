"""doctor, backup, restore, copy, upgrade: a study is examined, and kept."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fcpair.cli.given_options import take_effect
from fcpair.cli.options import PATH, StudyPlace, format_option, option, study_option
from fcpair.cli.output import (
    Row,
    Table,
    emit,
    note_trial,
    note_writing,
    print_message,
    print_receipt,
    progress,
    studies,
)
from fcpair.cli.terminal import print_wrapped

if TYPE_CHECKING:
    from fcpair.study import Place
    from fcpair.work_records import Health

FOUND = 1
LINES_SHOWN = 5
SHORT = 16  # hexadecimal digits of the digest that are shown
_create = option("--create", is_flag=True, help="Create the database, if the server has none of that name.")
_FILE = click.argument("file", type=PATH)


@click.command()
@option("--as-it-is", is_flag=True, help="First accept a file without its log, or with missing rows, as it is.")
@format_option
@study_option
def doctor(study: Place, form: str, as_it_is: bool) -> None:
    """Find what was changed or lost in a study file.

    It checks every answer and decision against the one before it, texts and guidelines against their checksums, the
    file against itself, and what the study promises against its content. Nothing is changed, and the study may be
    served meanwhile. Exits with 1 if an error is found.

    A file that every command refuses, because it was being served and its log is missing, or because it was combined
    from two, can be used again after `--as-it-is`: its content is then taken as complete.

    \b
    Example:
      fcpair doctor --study study.db
      fcpair doctor --format json
    """
    if as_it_is:
        note_writing()
        missing, summary = studies.Study.accept(study), "complete; there is nothing to accept"
        if missing is not None:
            lost = ", ".join(f"{n:,} of {table}" for table, n in missing.items()) or "none"
            summary = f"accepted as it is; rows known to be missing: {lost} (a lost log may have held more)"
        print_message(f"{studies.display_name(study)} is {summary}")
    with progress("examining") as report:
        health = studies.Study.doctor(study, progress=report)
    title = f"{health.file}, schema {health.schema}" if health.schema else str(health.file)
    cells = [[check.name, check.asks, check.n, check.of, len(check.found) or None] for check in health.checks]
    table = Table(title, ("check", "what should be true", "n", "of", "found"), cells)
    rows: list[Row] = [
        {
            **{"check": check.name, "asks": check.asks, "n": check.n, "of": check.of, "found": len(check.found)},
            **{"first": next(iter(check.found), ""), "advice": check.advice if check.found else "", "note": check.note},
        }
        for check in health.checks
    ]
    emit(form, {**asdict(health), "sound": health.is_sound}, [table], rows)
    if form == "table":
        explain(health)
    sys.exit(0 if health.is_sound else FOUND)


def explain(health: Health) -> None:
    """Print what was found and what to do, or that all is well."""
    names_by_advice: dict[str, list[str]] = {}
    for check in health.checks:
        for sentence in check.found[:LINES_SHOWN]:
            print_wrapped(f"{check.name}: {sentence}.")
        if (more := len(check.found) - LINES_SHOWN) > 0:
            print_wrapped(f"{check.name}: ... and {more:,} more; `--format json` has them all.")
        if check.found:
            names_by_advice.setdefault(check.advice, []).append(check.name)
    for advice, names in names_by_advice.items():
        print_wrapped(f"\nWhat to do ({', '.join(names)}): {advice}.")
    for note in (*(f"{check.name}: {check.note}" for check in health.checks if check.note), *health.notes):
        print_wrapped(f"Note: {note}.")
    if health.is_sound:
        print_wrapped(f"All is well. Digest of answers, decisions and texts: {health.digest[:SHORT]}")
        digests = f"{health.settings_digest[:SHORT]}, of the run log: {health.log_digest[:SHORT]}"
        print_wrapped(f"Digest of the settings: {digests}")


@click.command()
@_FILE
@study_option
def backup(study: Place, file: Path) -> None:
    """Write a copy of a study that is in use to a file.

    It holds the study as it is at one moment, even while people answer, and every text: only its owner can read it. An
    existing file is refused. A database is written by PostgreSQL's pg_dump, which must be on the PATH or in the folder
    that FCPAIR_PG_BIN names.

    \b
    Example:
      fcpair backup study-monday.backup
      fcpair backup /backups/study.backup --study postgresql+psycopg://ada@db/study
    """
    studies.Study.back_up(study, file)
    name = str(studies.display_name(study))
    print_receipt(f"{name}: backed up to {file}", {"study": name, "file": str(file)})


@click.command()
@take_effect("--create", "--study", not_with="--check")
@_FILE
@option(
    "--check", is_flag=True, callback=note_trial, help="Restore nothing; check that the backup is as it was written."
)
@_create
@study_option
def restore(study: Place, file: Path, check: bool, create: bool) -> None:
    """Restore a study from a backup, and examine it.

    It is restored to `--study`, where no study may exist. A database must exist without tables, unless `--create`
    creates it. A backup that differs in any bit from what was written is refused. The restored study is examined as by
    `fcpair doctor`; exits with 1 if an error is found.

    \b
    Example:
      fcpair restore study-monday.backup --study again.db
      fcpair restore study-monday.backup --check
    """
    _check_create(study, create=create)
    with progress("examining") as report:
        if check:
            restored = studies.Study.check_backup(file, progress=report)
        else:
            restored = studies.Study.restore(file, study, create=create, progress=report)
    written = {name: getattr(restored, name) for name in ("at", "fcpair", "schema", "kind")}
    line = f"{file}: as it was written {restored.at} by fcpair {restored.fcpair} (schema {restored.schema}, "
    print_receipt(f"{line}{restored.kind})", {"file": str(file), **written})
    place, health = studies.display_name(study), restored.health
    if not check:
        print_receipt(f"{place}: restored", {"study": str(place), "restored": True})
    if health is not None:
        print_receipt("", {"health": asdict(health), "sound": health.is_sound}, lambda _: explain(health))
        sys.exit(0 if health.is_sound else FOUND)
    elif check:
        print_wrapped("Its content was not examined; `fcpair restore` does that.", err=True)
    else:
        print_wrapped(f"It is of an older fcpair: `fcpair upgrade --study {place}` upgrades it.", err=True)


def _check_create(place: Place, *, create: bool) -> None:
    if create and "://" not in str(place):
        raise click.UsageError(f"--create is for a database on a server; {place} is a file, so omit it")


@click.command()
@click.argument("source", type=StudyPlace())
@click.argument("target", type=StudyPlace())
@_create
def copy(source: Place, target: Place, create: bool) -> None:
    """Copy a study into a file or another database.

    SOURCE and TARGET are what `--study` takes: a file, or the URL of a database. The whole study is copied as it is at
    one moment, and read back: the digests of all rows must be the same on both sides, or nothing is kept. TARGET must
    not exist, or be a database without tables; `--create` creates a database that does not exist.

    \b
    Example:
      fcpair copy study.db postgresql+psycopg://ada@db/study --create
      fcpair copy postgresql+psycopg://ada@db/study again.db
    """
    _check_create(target, create=create)
    with progress("copying") as report:
        made = studies.Study.copy(source, target, report, create=create)
    n = sum(made.n_rows.values())
    line = f"{studies.display_name(target)}: {n:,} rows as in {made.source}; digest of all rows on both sides: "
    data = {
        "study": str(studies.display_name(target)),
        "source": str(made.source),
        "rows": made.n_rows,
        "digest": made.digest,
    }
    print_receipt(line + made.digest[:SHORT], data)


@click.command()
@study_option
def upgrade(study: Place) -> None:
    """Upgrade a study of an older fcpair.

    A backup of the study before the upgrade is kept: beside its file, or for a database in the working folder.

    \b
    Example:
      fcpair upgrade --study study.db
    """
    backup = studies.Study.upgrade(study)
    name = studies.display_name(study)
    state = "up to date already" if backup is None else f"upgraded; a backup from before is {backup}"
    print_receipt(f"{name}: {state}", {"study": str(name), "backup": None if backup is None else str(backup)})
