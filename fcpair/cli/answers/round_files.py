"""Commands on files of what people answer in a round: sheets, import, withdraw, export.

`answers` has them for every round, with cells in its files; `labels` has the same for the labels of pairs, which are
the answers of the round that counts. They differ in what `--layout` and `--reader` are where they are not given.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from fcpair.cli.answers.old_sheets import warn_of_old_sheets
from fcpair.cli.given_options import take_effect
from fcpair.cli.meanings import Command, shared_option
from fcpair.cli.old_spellings import with_old_values
from fcpair.cli.options import round_option, sheet_option, supersede_option, with_grid
from fcpair.cli.output import for_each_file, print_message, print_run, status_spinner
from fcpair.cli.receipts import print_receipt
from fcpair.cli.warnings import warn_of_simulated
from fcpair.errors import InputError, StageError
from fcpair.files.answers.sheets import SHEET_FORMATS
from fcpair.files.exchange.catalogue import TOOLS

if TYPE_CHECKING:
    from fcpair.grid import Grid
    from fcpair.records import RunRecord

CELLS, PAIRS, PUBLISHED = "cells", "pairs", "fc-conan"
OLD_READERS = {"long": PAIRS, PUBLISHED: PUBLISHED}


class _Door(NamedTuple):
    """A group of these commands: its name, its layout, and how its examples name a round."""

    group: str
    layout: str
    example: str


DOORS = {"labels": _Door("labels", PAIRS, ""), "answers": _Door("answers", CELLS, " --grid write")}


def add_round_files(group: click.Group) -> None:
    """Give the group the commands, as its name has them."""
    door = DOORS[str(group.name)]
    for make in (_sheets, _import, _withdraw, _export):
        group.add_command(make(door))


def _layout_option(door: _Door) -> Callable[[Command], Command]:
    return shared_option(
        "--layout",
        type=click.Choice([CELLS, PAIRS]),
        default=door.layout,
        show_default=True,
        detail="Cells, with a column for each question, or pairs, with the labels of the round that counts.",
    )


def _check_round(layout: str, name: str | None) -> None:
    if layout != CELLS and name is not None:
        raise InputError(f"labels of pairs are those of the round that counts; omit --round, or choose `{CELLS}`")


def _sheets(door: _Door) -> click.Command:
    @click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
    @round_option
    @_layout_option(door)
    @shared_option(
        "--sheet-format",
        "form",
        type=click.Choice([*SHEET_FORMATS, *TOOLS]),
        default="csv",
        show_default=True,
        detail="A CSV, an Excel workbook with the answers to choose from, or a project of an annotation tool.",
    )
    @with_grid
    def sheets(grid: Grid, folder: Path, name: str | None, layout: str, form: Any) -> None:
        _check_round(layout, name)
        if form in TOOLS:
            _write_project(grid, folder, name, form, layout)
            return
        is_cells = layout == CELLS
        written = grid.write_answer_sheets(folder, name, form) if is_cells else grid.write_sheets(folder, form)
        for person, rows in written.items():
            path = f"{folder / person}.{form}"
            print_receipt(f"{path}: {rows:,} {layout}", {"file": path, "person": person, layout: rows})
        if is_cells:
            options = f" --grid {grid.grid.name}{f' --round {name}' if name else ''}"
            warn_of_old_sheets(grid.old_answer_sheets(folder, name), written, "answers", options)
        else:
            warn_of_old_sheets(grid.old_sheets(folder), written, "labels")

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
    command = click.command("sheets", help=help_text)(sheets)
    return with_old_values("--sheet-format", **{form: form for form in (*SHEET_FORMATS, *TOOLS)})(command)


def _write_project(grid: Grid, folder: Path, name: str | None, tool: str, layout: str) -> None:
    for person, n in grid.write_project(folder, tool, name).items():
        print_receipt(f"{folder}: {n:,} {layout} of {person}", {"file": str(folder), "person": person, layout: n})
    print_message(f"{folder / 'README.md'} says how to start {TOOLS[tool].title} with it.")


def _import(door: _Door) -> click.Command:
    @take_effect("--people", only_with=tuple(f"--reader {tool}" for tool in TOOLS))
    @take_effect("--supersede", not_with=f"--reader {PUBLISHED}")
    @click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
    @round_option
    @shared_option(
        "--reader",
        type=click.Choice([CELLS, PAIRS, PUBLISHED, *TOOLS]),
        default=door.layout,
        show_default=True,
        detail="A table of cells or of pairs (a filled-in sheet is one), a published FC-CONAN partition, or what an "
        "annotation tool exports.",
    )
    @click.option(
        "--people",
        type=click.Path(path_type=Path),
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
                    return grid.import_export(
                        path, reader, name, people=people, supersede=supersede, announce=_announce_lack
                    )
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
    old_values = OLD_READERS | {tool: tool for tool in TOOLS}
    return with_old_values("--reader", **old_values)(click.command("import", help=help_text)(import_))


def _announce_lack(sentence: str) -> None:
    print_message(f"Note: {sentence}.")


def _withdraw(door: _Door) -> click.Command:
    @click.argument("run", type=int)
    @with_grid
    def withdraw(grid: Grid, run: int) -> None:
        print_run(grid.withdraw_labels(run) if door.layout == PAIRS else grid.withdraw_answers(run))

    help_text = f"""Withdraw all answers of a file that was imported by mistake.

    RUN is the number that the import printed; `fcpair log` has it too. Its answers stay on record as withdrawn, and
    what was answered is open again, so that the right file can be imported. Simulated answers can be withdrawn in the
    same way.

    \b
    Example:
      fcpair {door.group} withdraw 12{door.example}
    """
    return click.command("withdraw", help=help_text)(withdraw)


def _export(door: _Door) -> click.Command:
    @round_option
    @_layout_option(door)
    @click.option("--known", is_flag=True, help="Also write answers to known pairs, marked in a column `known`.")
    @shared_option("--out", required=True, type=click.Path(path_type=Path), detail="A .csv, .jsonl or .parquet file.")
    @with_grid
    def export(grid: Grid, name: str | None, layout: str, known: bool, out: Path) -> None:
        from fcpair.files.tables.tabular import write_table

        _check_round(layout, name)
        rows = grid.answers(name, known=known) if layout == CELLS else grid.labels(known=known)
        if rows.empty and layout == PAIRS:
            raise StageError("there are no labels yet; run `fcpair labels import` or `fcpair simulate`")
        if rows.empty:
            raise StageError("nothing has been answered in this round yet")
        write_table(rows, out)
        warn_of_simulated(grid)
        print_receipt(f"{out}: {len(rows):,} answers", {"file": str(out), "answers": len(rows)})

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
