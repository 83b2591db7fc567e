"""answers and labels: sheets, import, export; answers refusals and replies; and acts.

`answers` has files of what people answer in any round, with cells in them; `labels` has the same for the labels of
pairs, which are the answers of the round that counts. They differ in what `--layout` and `--reader` are where they are
not given.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from fcpair.cli.acts import add_acts
from fcpair.cli.given_options import take_effect
from fcpair.cli.options import (
    FOLDER,
    PATH,
    Command,
    format_option,
    option,
    round_option,
    shared_option,
    sheet_option,
    supersede_option,
    with_grid,
)
from fcpair.cli.output import (
    for_each_file,
    print_frame,
    print_message,
    print_note,
    print_receipt,
    status_spinner,
    warn_of_simulated,
    write_rows,
)
from fcpair.errors import InputError, StageError
from fcpair.files.answers.sheets import SHEET_FORMATS
from fcpair.files.exchange.catalogue import TOOLS
from fcpair.work_records import KeepReason, OldSheet

if TYPE_CHECKING:
    from collections.abc import Callable

    from fcpair.grid import Grid
    from fcpair.records import RunRecord

CELLS, PAIRS, PUBLISHED = "cells", "pairs", "fc-conan"


@click.group()
def labels() -> None:
    """Labels of annotators: sheets, import, withdraw, export.

    They are the answers of the round that counts: `fcpair answers` does the same for any round.

    \b
    Example:
      fcpair labels sheets sheets/
      fcpair labels import sheets/a1.csv
    """


@click.group()
def answers() -> None:
    """Answers of any round: export, sheets, import, replies, withdraw.

    \b
    Example:
      fcpair answers export --grid write --out replies.csv
      fcpair answers sheets sheets/ --grid write
      fcpair answers import sheets/*.csv --grid write
    """


class _Door(NamedTuple):
    """A group of these commands: its name, its layout, and how its examples name a round."""

    group: str
    layout: str
    example: str


def _layout_option(door: _Door) -> Callable[[Command], Command]:
    return shared_option(
        "--layout",
        choices=(CELLS, PAIRS),
        default=door.layout,
        detail="Cells, with a column for each question, or pairs, with the labels of the round that counts.",
    )


def _check_round(layout: str, name: str | None) -> None:
    if layout != CELLS and name is not None:
        raise InputError(f"labels of pairs are those of the round that counts; omit --round, or choose `{CELLS}`")


def _sheets(door: _Door) -> click.Command:
    @click.argument("folder", type=FOLDER)
    @round_option
    @_layout_option(door)
    @shared_option(
        "--sheet-format",
        "form",
        choices=(*SHEET_FORMATS, *TOOLS),
        detail="A CSV, an Excel workbook with the answers to choose from, or a project of an annotation tool.",
    )
    @with_grid
    def sheets(grid: Grid, folder: Path, name: str | None, layout: str, form: Any) -> None:
        _check_round(layout, name)
        if form in TOOLS:
            for person, n in grid.write_project(folder, form, name).items():
                print_receipt(
                    f"{folder}: {n:,} {layout} of {person}", {"file": str(folder), "person": person, layout: n}
                )
            print_message(f"{folder / 'README.md'} says how to start {TOOLS[form].title} with it.")
            return
        is_cells = layout == CELLS
        written = grid.sheets.write_answers(folder, name, form) if is_cells else grid.sheets.write_labels(folder, form)
        old = grid.sheets.old_answers(folder, name) if is_cells else grid.sheets.old(folder)
        options = f" --grid {grid.grid.name}{f' --round {name}' if name else ''}" if is_cells else ""
        command = f"fcpair {'answers' if is_cells else 'labels'} import"
        report_sheets(folder, form, layout, written, old, command, options)

    help_text = f"""Write what each person has open in a round as a sheet to fill in.

    Each row is about one cell, with an empty column for each question of the round (`answer` where it has one), which
    takes what a person would write there; `skip` skips the cell. For pairs, the column `label` takes a code or a name
    of the label scheme, or `skip`. A round that edits shows the text in the column `original`. A file with answers in
    it is never overwritten.

    For an annotation tool, the new folder has the items of each person, a configuration, and a README.md that says how
    to start the tool.

    \b
    Example:
      fcpair {door.group} sheets sheets/{door.example}
      fcpair {door.group} sheets sheets/{door.example} --sheet-format xlsx
      fcpair {door.group} sheets project/{door.example} --sheet-format label-studio
    """
    return click.command("sheets", help=help_text)(sheets)


def _import(door: _Door) -> click.Command:
    @take_effect("--people", only_with=tuple(f"--reader {tool}" for tool in TOOLS))
    @take_effect("--supersede", not_with=f"--reader {PUBLISHED}")
    @click.argument("paths", nargs=-1, required=True, type=PATH)
    @round_option
    @shared_option(
        "--reader",
        choices=(CELLS, PAIRS, PUBLISHED, *TOOLS),
        default=door.layout,
        detail="A table of cells or of pairs (a filled-in sheet is one), a published FC-CONAN partition, or what an "
        "annotation tool exports.",
    )
    @option(
        "--people",
        type=PATH,
        help="Users of the annotation tool and the people they are: a table of the columns `user` and `annotator`. By "
        "default users have the names of people.",
    )
    @supersede_option
    @sheet_option
    @with_grid
    def import_(
        grid: Grid, paths: tuple[Path, ...], name: str | None, reader: str, people: Path | None, supersede: bool
    ) -> None:
        _check_round(CELLS if reader in TOOLS else reader, name)

        def record(path: Path) -> RunRecord:
            with status_spinner(f"recording {path}"):
                if reader in TOOLS:
                    more: dict[str, Any] = {"people": people, "announce": print_note}
                    return grid.import_export(path, reader, name, supersede=supersede, **more)
                if reader == PUBLISHED:
                    return grid.import_published(path)
                if reader == PAIRS:
                    return grid.import_labels(path, supersede=supersede)
                return grid.import_answers(path, name, supersede=supersede)

        for_each_file(paths, record)

    help_text = f"""Record the answers of files in a round, each file whole or not at all.

    A table of cells has the columns `cell` (or `row` and `column`), `by` and one for each question; one of pairs has
    `pair` (or `hs` and `cn`), `annotator` and `label`. `skipped` (of cells), `seconds`, `time` and `note` are optional.
    Rows without an answer are left out.

    An export of an annotation tool is a file, a zip file or a folder. What it lacks, such as skips, is printed first.

    \b
    Example:
      fcpair {door.group} import sheets/*.csv{door.example}
      fcpair {door.group} import corrected.csv{door.example} --supersede
      fcpair {door.group} import bronze_partition_df.csv --reader fc-conan
      fcpair {door.group} import project-1.json{door.example} --reader label-studio --people people.csv
    """
    return click.command("import", help=help_text)(import_)


def _export(door: _Door) -> click.Command:
    @round_option
    @_layout_option(door)
    @option("--known", is_flag=True, help="Also write answers to known pairs, marked in a column `known`.")
    @shared_option("--out", required=True, type=PATH, detail="A .csv, .jsonl or .parquet file.")
    @with_grid
    def export(grid: Grid, name: str | None, layout: str, known: bool, out: Path) -> None:
        _check_round(layout, name)
        rows = grid.answers(name, known=known) if layout == CELLS else grid.labels(known=known)
        if rows.empty and layout == PAIRS:
            raise StageError("there are no labels yet; run `fcpair labels import` or `fcpair simulate`")
        if rows.empty:
            raise StageError("nothing has been answered in this round yet")
        warn_of_simulated(grid)
        write_rows(rows, out, "answers")

    help_text = f"""Write the answers of a round.

    There is a row for each person's current answer on each cell, and a column for each question, with the answer as
    people read it; a skipped cell has none. For pairs, there is a row for each person's current label, skips included,
    with its origin.

    \b
    Example:
      fcpair {door.group} export{door.example} --out {door.group}.csv
      fcpair {door.group} export{door.example} --out {door.group}.jsonl
    """
    return click.command("export", help=help_text)(export)


def report_sheets(
    folder: Path, form: str, unit: str, written: dict[str, int], old: list[OldSheet], command: str, options: str = ""
) -> None:
    """Print which sheets were written; on standard error which were kept, and why, and which are of somebody who left.

    `command` takes sheets in, with these `options`.
    """
    for person, rows in written.items():
        path = f"{folder / person}.{form}"
        print_receipt(f"{path}: {rows:,} {unit}", {"file": path, "person": person, unit: rows})
    for sheet in old:
        import_ = f"`{command} {sheet.path}{options}`"
        advice: dict[KeepReason | None, str] = {
            KeepReason.ANSWERS: f"Import them with {import_} if that is not done, then move it away",
            KeepReason.UNREADABLE: f"{import_} says why; move it away",
        }
        if sheet.left:
            print_message(
                f"{sheet.path}: {sheet.person} has left; the open work on this sheet was reassigned to others"
            )
        elif sheet.passed_on:
            print_message(
                f"{sheet.path}: {sheet.person} has nothing open any more; what was taken back was reassigned to others"
            )
        elif sheet.open:
            missing = "" if sheet.person in written else f"; a new one would have {sheet.open:,} open {unit}"
            first = advice.get(sheet.kept, "Move it away")
            print_message(f"{sheet.path}: kept, because {sheet.kept}{missing}. {first}, or write to another folder")


@answers.command()
@round_option
@format_option
@with_grid
def refusals(grid: Grid, name: str | None, form: str) -> None:
    """List what checks refused while people wrote: which rule, which version of it, and with which score.

    The text itself is listed only if its writer agreed to keep it.

    \b
    Example:
      fcpair answers refusals --grid write --format csv
    """
    print_frame(form, "Refused texts", grid.refusals(name))


@answers.command()
@shared_option("--round", "name", required=True, metavar="NAME", detail="Models answer it.")
@shared_option("--out", required=True, type=PATH, detail="A .csv, .jsonl or .parquet file.")
@with_grid
def replies(grid: Grid, name: str, out: Path) -> None:
    """Write every reply that models gave in a round, verbatim, with its marks and its run.

    A prompt that was sent again has several replies, the oldest first.

    \b
    Example:
      fcpair answers replies --grid replies --round propose --out raw.csv
    """
    rows = grid.replies(name)
    if rows.empty:
        raise StageError(f"no model has replied in round `{name}`; `fcpair generate` asks them")
    write_rows(rows, out, "replies")


for _group, _door in ((labels, _Door("labels", PAIRS, "")), (answers, _Door("answers", CELLS, " --grid write"))):
    add_acts(_group)
    for _make in (_sheets, _import, _export):
        _group.add_command(_make(_door))
