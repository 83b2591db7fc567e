"""backup, restore, copy."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fcpair.cli.given_options import take_effect
from fcpair.cli.options import StudyPlace, study_option
from fcpair.cli.output import progress
from fcpair.cli.oversight.doctor import FOUND, SHORT, explain
from fcpair.cli.reading import note_trial
from fcpair.cli.receipts import print_receipt
from fcpair.cli.terminal import print_wrapped

if TYPE_CHECKING:
    from fcpair.examination_records import BackupReport
    from fcpair.study import Place

_create = click.option("--create", is_flag=True, help="Create the database, if the server has none of that name.")
_FILE = click.argument("file", type=click.Path(path_type=Path))


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
    from fcpair.study import Study, display_name

    Study.back_up(study, file)
    name = display_name(study)
    print_receipt(f"{name}: backed up to {file}", {"study": str(name), "file": str(file)})


@click.command()
@take_effect("--create", "--study", not_with="--check")
@_FILE
@click.option(
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
    from fcpair.study import Study, display_name

    _check_create(study, create=create)
    with progress("examining") as report:
        if check:
            restored = Study.check_backup(file, progress=report)
        else:
            restored = Study.restore(file, study, create=create, progress=report)
    written = {name: getattr(restored, name) for name in ("at", "fcpair", "schema", "kind")}
    line = f"{file}: as it was written {restored.at} by fcpair {restored.fcpair} (schema {restored.schema}, "
    print_receipt(f"{line}{restored.kind})", {"file": str(file), **written})
    if not check:
        print_receipt(f"{display_name(study)}: restored", {"study": str(display_name(study)), "restored": True})
    _report_health(restored, display_name(study), check=check)


def _check_create(place: Place, *, create: bool) -> None:
    if create and "://" not in str(place):
        raise click.UsageError(f"--create is for a database on a server; {place} is a file, so omit it")


def _report_health(restored: BackupReport, place: str, *, check: bool) -> None:
    if restored.health is not None:
        health = restored.health
        print_receipt("", {"health": asdict(health), "sound": health.is_sound}, lambda _: explain(health))
        sys.exit(0 if restored.health.is_sound else FOUND)
    elif check:
        print_wrapped("Its content was not examined; `fcpair restore` does that.", err=True)
    else:
        print_wrapped(f"It is of an older fcpair: `fcpair upgrade --study {place}` upgrades it.", err=True)


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
    from fcpair.study import Study, display_name

    _check_create(target, create=create)
    with progress("copying") as report:
        made = Study.copy(source, target, report, create=create)
    n = sum(made.n_rows.values())
    line = f"{display_name(target)}: {n:,} rows as in {made.source}; digest of all rows on both sides: "
    data = {"study": str(display_name(target)), "source": str(made.source), "rows": made.n_rows, "digest": made.digest}
    print_receipt(line + made.digest[:SHORT], data)
