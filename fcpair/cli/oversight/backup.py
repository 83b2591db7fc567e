"""backup, restore, copy."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fcpair.cli.options import StudyPlace, study_option
from fcpair.cli.output import progress
from fcpair.cli.oversight.doctor import FOUND, SHORT, explain
from fcpair.cli.reading import note_trial
from fcpair.cli.receipts import print_receipt
from fcpair.cli.terminal import print_wrapped

if TYPE_CHECKING:
    from fcpair.records import BackupReport
    from fcpair.study import Place

_create = click.option("--create", is_flag=True, help="Make the database, where the server has none of that name.")
_FILE = click.argument("file", type=click.Path(path_type=Path))


@click.command()
@_FILE
@study_option
def backup(study: Place, file: Path) -> None:
    """Write a copy of a study that is in use to a file.

    It holds the study as it is at one moment, whoever answers meanwhile, and every text: only its owner can read it. A
    file that is there is refused. A database is written by PostgreSQL's pg_dump, which is looked for on the PATH or in
    the folder that FCPAIR_PG_BIN names.

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
@_FILE
@click.option(
    "--check", is_flag=True, callback=note_trial, help="Restore nothing; say whether the backup is what was written."
)
@_create
@study_option
def restore(study: Place, file: Path, check: bool, create: bool) -> None:
    """Bring the study of a backup back, and examine it.

    It goes where `--study` says, and no study may be there. A database must be there, without tables, or `--create` has
    it made. A backup that is not, to the last bit, what was written is
    refused. What is restored is examined as by `fcpair doctor`; exits with 1 when something is found.

    \b
    Example:
      fcpair restore study-monday.backup --study again.db
      fcpair restore study-monday.backup --check
    """
    from fcpair.study import Study, display_name

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


def _report_health(restored: BackupReport, place: str, *, check: bool) -> None:
    if restored.health is not None:
        health = restored.health
        print_receipt("", {"health": asdict(health), "sound": health.is_sound}, lambda _: explain(health))
        sys.exit(0 if restored.health.is_sound else FOUND)
    elif check:
        print_wrapped("What is in it was not examined; `fcpair restore` does that.", err=True)
    else:
        print_wrapped(f"It is of an older fcpair: `fcpair upgrade --study {place}` brings it up to date.", err=True)


@click.command()
@click.argument("source", type=StudyPlace())
@click.argument("target", type=StudyPlace())
@_create
def copy(source: Place, target: Place, create: bool) -> None:
    """Copy a study into a file or another database.

    SOURCE and TARGET are what `--study` takes: a file, or the URL of a database. All of the study goes over as it is
    at one moment, and is read back: the digests of all rows must be the same on both sides, or nothing is kept. At
    TARGET there must be nothing, or a database without tables; `--create` makes a database that is not there.

    \b
    Example:
      fcpair copy study.db postgresql+psycopg://ada@db/study --create
      fcpair copy postgresql+psycopg://ada@db/study again.db
    """
    from fcpair.study import Study, display_name

    with progress("copying") as report:
        made = Study.copy(source, target, report, create=create)
    n = sum(made.n_rows.values())
    line = f"{display_name(target)}: {n:,} rows as in {made.source}; digest of all rows on both sides: "
    data = {"study": str(display_name(target)), "source": str(made.source), "rows": made.n_rows, "digest": made.digest}
    print_receipt(line + made.digest[:SHORT], data)
