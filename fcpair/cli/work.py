"""assign, labels, simulate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fcpair.cli.options import params, redo_option, sheet_format_option, supersede_option, with_study
from fcpair.cli.output import done, each, say, working
from fcpair.cli.terminal import show
from fcpair.errors import StageError
from fcpair.params import Assign, Simulate
from fcpair.records import Kept

if TYPE_CHECKING:
    from fcpair.records import OldSheet, RunRecord
    from fcpair.sheets import Form
    from fcpair.study import Study


@click.command()
@params(Assign)
@redo_option
@click.option(
    "--more",
    is_flag=True,
    help="Deal what has not been dealt, raise the overlap to `--overlap`, and give late joiners their share.",
)
@with_study
def assign(study: Study, options: Assign, redo: bool, more: bool) -> None:
    """Deal the pairs to annotators.

    `--overlap` gives some pairs to two of them or more. `--more` adds to what has been dealt: answers and open work
    stay, but somebody who has joined since takes over an even share of what is open.

    \b
    Example:
      fcpair assign --annotators 9 --overlap 2:0.126 --overlap 3:0.05 --seed 13
      fcpair assign --more --overlap 2:0.3
    """
    if more and redo:
        raise click.UsageError("give either --more or --redo, not both")
    with working("dealing pairs"):
        run = study.assign(options, redo=redo, more=more)
    done(run)


@click.group()
def labels() -> None:
    """What was answered: sheets, import, withdraw, export.

    \b
    Example:
      fcpair labels sheets sheets/
      fcpair labels import sheets/a1.csv
    """


@labels.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@sheet_format_option
@with_study
def sheets(study: Study, folder: Path, form: Form) -> None:
    """Write each annotator's open shard, in its order, as a sheet to fill in.

    The column `label` takes a code or a name of the label scheme, or `skip`. A file with answers in it is never
    overwritten.

    \b
    Example:
      fcpair labels sheets sheets/
      fcpair labels sheets sheets/ --format xlsx
    """
    written = study.write_sheets(folder, form)
    for name, rows in written.items():
        show(f"{folder / name}.{form}: {rows:,} pairs")
    tell_of_old_sheets(study.old_sheets(folder), written, "labels")


@labels.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["long", "fc-conan"]),
    default="long",
    show_default=True,
    help="A long table (a filled-in sheet is one), or a published FC-CONAN partition.",
)
@supersede_option
@with_study
def import_(study: Study, paths: tuple[Path, ...], form: str, supersede: bool) -> None:
    """Record labels from files, each of them whole or not at all.

    A long table has the columns `pair` (or `hs` and `cn`), `annotator`, `label` and, if known, `seconds`, `time`,
    `note`. Rows without a label are left out.

    \b
    Example:
      fcpair labels import labels.csv
      fcpair labels import sheets/*.csv
      fcpair labels import bronze_partition_df.csv --format fc-conan
    """

    def record(path: Path) -> RunRecord:
        with working(f"recording {path}"):
            if form == "fc-conan":
                return study.import_published(path)
            return study.import_labels(path, supersede=supersede)

    each(paths, record)


@labels.command()
@click.argument("run", type=int)
@with_study
def withdraw(study: Study, run: int) -> None:
    """Take a file back that was imported by mistake, as a whole.

    RUN is the number that the import printed; `fcpair log` has it too. Its labels stay on record as withdrawn, and
    their pairs wait again, so that the right file can be imported. Simulated labels can be taken back in the same way.

    \b
    Example:
      fcpair labels withdraw 7
    """
    done(study.withdraw_labels(run))


@labels.command()
@click.option("--out", required=True, type=click.Path(path_type=Path), help="A .csv, .jsonl or .parquet file.")
@with_study
def export(study: Study, out: Path) -> None:
    """Write every annotator's current answer, with its origin.

    \b
    Example:
      fcpair labels export --out labels.csv
    """
    from fcpair.tabular import write_table

    rows = study.labels()
    if rows.empty:
        raise StageError("there are no labels yet; run `fcpair labels import` or `fcpair simulate`")
    write_table(rows, out)
    warn_of_simulated(study)
    show(f"{out}: {len(rows):,} answers")


@click.command()
@params(Simulate)
@with_study
def simulate(study: Study, options: Simulate) -> None:
    """Let simulated people answer what is open.

    This is for planning or demonstrating a study; every figure that rests on it says so.

    \b
    Example:
      fcpair simulate --accuracy 0.9 --not-sure 0.05 --seed 13
    """
    with working("simulating"):
        run = study.simulate(options)
    done(run)
    warn_of_simulated(study)


def tell_of_old_sheets(sheets: list[OldSheet], written: dict[str, int], command: str) -> None:
    """Say on standard error which sheets were kept, and why, and which are of somebody who left."""
    for sheet in sheets:
        if sheet.left:
            say(f"{sheet.path}: {sheet.person} has left; what was open on this sheet has gone to others")
        elif sheet.open:
            missing = "" if sheet.person in written else f"; {sheet.open:,} open pairs would have stood in a new one"
            first = _what_to_do(sheet, f"`fcpair {command} import {sheet.path}`")
            say(f"{sheet.path}: kept, because {sheet.kept}{missing}. {first}, or write to another folder")


def _what_to_do(sheet: OldSheet, import_: str) -> str:
    if sheet.kept is Kept.ANSWERS:
        return f"Take them in with {import_}, then move it away"
    return f"{import_} says why; move it away" if sheet.kept is Kept.UNREADABLE else "Move it away"


def warn_of_changes(study: Study) -> None:
    """Say on standard error which decisions and verdicts are older than the labels that they are about."""
    for note in study.look_again:
        say(f"Note: {note}.")


def warn_of_simulated(study: Study) -> None:
    """Say on standard error that answers were made up, when any were."""
    if note := study.simulated:
        say(f"Note: {note}.")
