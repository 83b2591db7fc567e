"""doctor."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from fcpair.cli.options import format_option, study_option
from fcpair.cli.output import Table, emit, print_message, progress
from fcpair.cli.reading import note_writing
from fcpair.cli.table import Cell
from fcpair.cli.terminal import print_wrapped

if TYPE_CHECKING:
    from fcpair.examination_records import Health
    from fcpair.study import Place

FOUND = 1
LINES_SHOWN = 5
SHORT = 16  # hexadecimal digits of the digest that are shown


@click.command()
@click.option("--as-it-is", is_flag=True, help="First accept a file without its log, or with missing rows, as it is.")
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
    from fcpair.study import Study

    if as_it_is:
        note_writing()
        _accept_as_is(study)
    with progress("examining") as report:
        health = Study.doctor(study, progress=report)
    title = f"{health.file}, schema {health.schema}" if health.schema else str(health.file)
    table = Table(title, ("check", "what should be true", "n", "of", "found"), _table_rows(health))
    emit(form, data={**asdict(health), "sound": health.is_sound}, tables=[table], rows=_csv_rows(health))
    if form == "table":
        explain(health)
    sys.exit(0 if health.is_sound else FOUND)


def _accept_as_is(study: Place) -> None:
    from fcpair.study import Study, display_name

    missing = Study.accept(study)
    if missing is None:
        print_message(f"{display_name(study)} is complete; there is nothing to accept")
        return
    rows = ", ".join(f"{n:,} of {name}" for name, n in missing.items())
    summary = f"rows known to be missing: {rows or 'none'} (a lost log may have held more)"
    print_message(f"{display_name(study)} is accepted as it is; {summary}")


def _table_rows(health: Health) -> list[list[Cell]]:
    return [[one.name, one.asks, one.n, one.of, len(one.found) or None] for one in health.checks]


def _csv_rows(health: Health) -> list[dict[str, Cell]]:
    return [
        {
            **{"check": one.name, "asks": one.asks, "n": one.n, "of": one.of, "found": len(one.found)},
            **{"first": next(iter(one.found), ""), "advice": one.advice if one.found else "", "note": one.note},
        }
        for one in health.checks
    ]


def explain(health: Health) -> None:
    """Print what was found and what to do, or that all is well."""
    for check in health.checks:
        for sentence in check.found[:LINES_SHOWN]:
            print_wrapped(f"{check.name}: {sentence}.")
        if len(check.found) > LINES_SHOWN:
            print_wrapped(
                f"{check.name}: ... and {len(check.found) - LINES_SHOWN:,} more; `--format json` has them all."
            )
    for advice in dict.fromkeys(check.advice for check in health.checks if check.found):
        which = ", ".join(check.name for check in health.checks if check.found and check.advice == advice)
        print_wrapped(f"\nWhat to do ({which}): {advice}.")
    for check in health.checks:
        if check.note:
            print_wrapped(f"Note: {check.name}: {check.note}.")
    for note in health.notes:
        print_wrapped(f"Note: {note}.")
    if health.is_sound:
        print_wrapped(f"All is well. Digest of answers, decisions and texts: {health.digest[:SHORT]}")
        digests = f"{health.settings_digest[:SHORT]}, of the run log: {health.log_digest[:SHORT]}"
        print_wrapped(f"Digest of the settings: {digests}")
