"""answers, labels, generate, curation, examples: answers of people and models, and what people do with them.

`answers` and `labels` have the same commands: they differ in what `--layout` and `--reader` are where not given.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from fcpair.cli import output
from fcpair.cli.acts import add_acts, examples_round
from fcpair.cli.given_options import take_effect
from fcpair.cli.options import (
    FOLDER,
    PATH,
    format_option,
    ids_option,
    option,
    round_option,
    shared_option,
    sheet_option,
    supersede_option,
    with_grid,
)
from fcpair.errors import InputError, StageError
from fcpair.files.answers.sheets import SHEET_FORMATS
from fcpair.files.exchange.catalogue import TOOLS
from fcpair.lazy import pd
from fcpair.params import Ids
from fcpair.round_options import ROW
from fcpair.work_records import KeepReason, OldSheet

if TYPE_CHECKING:
    from fcpair.grid import Grid
    from fcpair.records import RunRecord

CELLS, PAIRS, PUBLISHED = "cells", "pairs", "fc-conan"


@click.group()
def labels() -> None:
    """Labels of annotators: sheets, import, withdraw, export; rename, merge, split, add.

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


def _check_round(layout: str, name: str | None) -> None:
    if layout != CELLS and name is not None:
        raise InputError(f"labels of pairs are those of the round that counts; omit --round, or choose `{CELLS}`")


def _add_commands(group: click.Group, usual: str, example: str) -> None:
    """Give a group the commands of both, with its `usual` layout, and how its examples name a round."""
    layout_option = shared_option(
        "--layout",
        choices=(CELLS, PAIRS),
        default=usual,
        detail="Cells, with a column for each question, or pairs, with the labels of the round that counts.",
    )
    add_acts(group)

    @group.command(
        help=f"""Write what each person has open in a round as a sheet to fill in.

    Each row is about one cell, with an empty column for each question of the round (`answer` where it has one), which
    takes what a person would write there; `skip` skips the cell. For pairs, the column `label` takes a code or a name
    of the label scheme, or `skip`. A round that edits shows the text in the column `original`. A file with answers in
    it is never overwritten.

    For an annotation tool, the new folder has the items of each person, a configuration, and a README.md that says how
    to start the tool.

    \b
    Example:
      fcpair {group.name} sheets sheets/{example}
      fcpair {group.name} sheets sheets/{example} --sheet-format xlsx
      fcpair {group.name} sheets project/{example} --sheet-format label-studio
    """
    )
    @click.argument("folder", type=FOLDER)
    @round_option
    @layout_option
    @shared_option(
        "--sheet-format",
        "form",
        choices=(*SHEET_FORMATS, *TOOLS),
        detail="A CSV, an Excel workbook with the answers to choose from, or a project of an annotation tool.",
    )
    @ids_option
    @with_grid
    def sheets(grid: Grid, folder: Path, name: str | None, layout: str, form: Any, ids: Ids | None) -> None:
        _check_round(layout, name)
        if form in TOOLS and ids is not None:
            raise InputError(f"a project of {TOOLS[form].title} has no ids of texts; omit --ids")
        if form in TOOLS:
            for person, n in grid.write_project(folder, form, name).items():
                data = {"file": str(folder), "person": person, layout: n}
                output.print_receipt(f"{folder}: {n:,} {layout} of {person}", data)
            output.print_message(f"{folder / 'README.md'} says how to start {TOOLS[form].title} with it.")
        elif layout == CELLS:
            written = grid.sheets.write_answers(folder, name, form, ids=ids)
            options = f" --grid {grid.grid.name}{f' --round {name}' if name else ''}"
            old = grid.sheets.old_answers(folder, name)
            report_sheets(folder, form, layout, written, old, "fcpair answers import", options)
        else:
            written = grid.sheets.write_labels(folder, form, ids=ids)
            report_sheets(folder, form, layout, written, grid.sheets.old(folder), "fcpair labels import")

    @group.command(
        "import",
        help=f"""Record the answers of files in a round, each file whole or not at all.

    A table of cells has the columns `cell` (or `row` and `column`), `by` and one for each question; one of pairs has
    `pair` (or `hs` and `cn`), `annotator` and `label`. `skipped` (of cells), `seconds`, `time` and `note` are optional.
    Rows without an answer are left out.

    An export of an annotation tool is a file, a zip file or a folder. What it lacks, such as skips, is printed first.

    \b
    Example:
      fcpair {group.name} import sheets/*.csv{example}
      fcpair {group.name} import corrected.csv{example} --supersede
      fcpair {group.name} import bronze_partition_df.csv --reader fc-conan
      fcpair {group.name} import project-1.json{example} --reader label-studio --people people.csv
    """,
    )
    @take_effect("--people", only_with=tuple(f"--reader {tool}" for tool in TOOLS))
    @take_effect("--supersede", not_with=f"--reader {PUBLISHED}")
    @click.argument("paths", nargs=-1, required=True, type=PATH)
    @round_option
    @shared_option(
        "--reader",
        choices=(CELLS, PAIRS, PUBLISHED, *TOOLS),
        default=usual,
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
            with output.status_spinner(f"recording {path}"):
                if reader == PUBLISHED:
                    return grid.import_published(path)
                more: dict[str, Any] = {"people": people, "announce": output.print_note}
                return grid.desk.import_file(path, reader, name, supersede=supersede, **more)

        output.for_each_file(paths, record)

    @group.command(
        help=f"""Write the answers of a round.

    There is a row for each person's current answer on each cell, and a column for each question, with the answer as
    people read it; a skipped cell has none. For pairs, there is a row for each person's current label, skips included,
    with its origin.

    \b
    Example:
      fcpair {group.name} export{example} --out {group.name}.csv
      fcpair {group.name} export{example} --out {group.name}.jsonl
    """
    )
    @round_option
    @layout_option
    @option("--known", is_flag=True, help="Also write answers to known pairs, marked in a column `known`.")
    @shared_option("--out", required=True, type=PATH, detail="A .csv, .jsonl or .parquet file.")
    @ids_option
    @with_grid
    def export(grid: Grid, name: str | None, layout: str, known: bool, out: Path, ids: Ids | None) -> None:
        _check_round(layout, name)
        rows = grid.answers(name, known=known, ids=ids) if layout == CELLS else grid.labels(known=known, ids=ids)
        if rows.empty and layout == PAIRS:
            raise StageError("there are no labels yet; run `fcpair labels import` or `fcpair simulate`")
        if rows.empty:
            raise StageError("nothing has been answered in this round yet")
        output.print_note(grid.desk.simulated_note)
        output.write_rows(rows, out, "answers")


def report_sheets(
    folder: Path, form: str, unit: str, written: dict[str, int], old: list[OldSheet], command: str, options: str = ""
) -> None:
    """Print which sheets were written, and which were kept, or are not needed; `command` takes them in."""
    for person, rows in written.items():
        path = f"{folder / person}.{form}"
        output.print_receipt(f"{path}: {rows:,} {unit}", {"file": path, "person": person, unit: rows})
    for sheet in old:
        import_ = f"`{command} {sheet.path}{options}`"
        advice: dict[KeepReason | None, str] = {
            KeepReason.ANSWERS: f"Import them with {import_} if that is not done, then move it away",
            KeepReason.UNREADABLE: f"{import_} says why; move it away",
        }
        about = f"{sheet.path}: {sheet.person} has"
        if sheet.left:
            output.print_message(f"{about} left; the open work on this sheet was reassigned to others")
        elif sheet.passed_on:
            output.print_message(f"{about} nothing open any more; what was taken back was reassigned to others")
        elif sheet.open:
            missing = "" if sheet.person in written else f"; a new one would have {sheet.open:,} open {unit}"
            first = advice.get(sheet.kept, "Move it away")
            output.print_message(
                f"{sheet.path}: kept, because {sheet.kept}{missing}. {first}, or write to another folder"
            )


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
    output.print_frame(form, "Refused texts", grid.refusals(name))


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
    output.write_rows(rows, out, "replies")


_add_commands(labels, PAIRS, "")
_add_commands(answers, CELLS, " --grid write")


CURATION_COLUMNS = ("source", "n", "accepted", "edited", "rejected", "words_changed", "characters_changed")
NOTES = (
    "requests: all different prompts; cached: those already answered.",
    "tokens: an estimate, four characters each; out: as many per prompt as the cached replies have on average.",
)


@click.command()
@take_effect("--price-in", "--price-out", only_with="--dry-run")
@shared_option("--round", "name", required=True, metavar="NAME", detail="Models answer it.")
@shared_option("--dry-run", is_flag=True, detail="It counts what models would be asked.")
@option("--price-in", type=float, help="With `--dry-run`: the price of a million tokens that a model reads.")
@option("--price-out", type=float, help="With `--dry-run`: the price of a million tokens that it writes.")
@with_grid
@format_option
def generate(grid: Grid, name: str, dry_run: bool, price_in: float | None, price_out: float | None, form: str) -> None:
    """Ask the models of a round for their answers.

    Models of a service are asked over the network, at OPENAI_BASE_URL; local ones run on this machine. Replies are
    kept, so that an interrupted run continues where it stopped. Every reply is kept unchanged; one that is empty, too
    long, a refusal, several at once or in another language is marked, and stays, for those who curate it.

    \b
    Example:
      fcpair generate --grid replies --round propose --dry-run --price-in 0.15 --price-out 0.6
      fcpair generate --grid replies --round propose
    """
    prices = [price for price in (price_in, price_out) if price is not None]
    if len(prices) == 1:
        raise InputError("--price-in and --price-out go together; give both (0 if there is no charge)")
    if not all(0 <= price < float("inf") for price in prices):
        raise InputError("a price must be 0 or more for a million tokens")
    if dry_run:
        from fcpair.models.answering_models import LENGTH_UNKNOWN

        estimates, rows = grid.desk.estimate_generation(name), []
        for model, estimate in estimates:
            cost = {"cost": estimate.cost(*prices)} if prices else {}
            rows.append({"model": model, **estimate._asdict(), **cost, "undefined": estimate.undefined})
        columns = [column for column in rows[0] if column != "undefined"]
        unknown = [model for model, estimate in estimates if estimate.undefined]
        notes = [*NOTES, *([f"undefined for {', '.join(unknown)}: {LENGTH_UNKNOWN}."] if unknown else [])]
        output.print_rows(form, "What models would be asked", rows, columns, notes)
        return
    output.note_writing()
    with output.progress("asking") as report:
        run = grid.generate(name, progress=report)
    output.print_run(run)


@click.command()
@round_option
@format_option
@with_grid
def curation(grid: Grid, name: str | None, form: str) -> None:
    """Count accepted, edited and rejected texts.

    For a round that edits or curates: how many answers did which, by the person or model that wrote the text, and in
    all; and how many words and characters were changed in edited texts on average.

    \b
    Example:
      fcpair curation --grid replies
      fcpair curation --grid replies --round curate --format csv
    """
    with output.status_spinner("comparing texts"):
        measured = grid.curation(name)
    all_curated = (*measured.sources, measured.all)
    subject = "the rows" if measured.edits == ROW else f"the texts of round {measured.edits}"
    title = f"Round {measured.round}: what was done with {subject}"
    notes = ["words and characters changed: the mean of the edited ones"]
    notes += output.footnotes({curated.source: output.remarks(curated.words_changed) for curated in all_curated})
    if measured.lost:
        notes.append(f"{measured.lost:,} more answers are about a text that was empty, or was withdrawn since")
    rows = [[row[name] for name in CURATION_COLUMNS] for row in measured.rows()]
    tables = [output.Table(title, [name.replace("_", " ") for name in CURATION_COLUMNS], rows, notes)]
    if measured.all.rejected:
        rejected = [(curated.source, reason, n) for curated in all_curated for reason, n in curated.reasons.items()]
        tables.append(output.Table("Why texts were rejected", ("source", "reason", "n"), rejected))
    output.emit(form, measured, tables, simulated=grid.desk.simulated_note)


@click.group()
def examples() -> None:
    """Examples that models are shown: find, list, sheet, review.

    They are texts that were written in an earlier grid, on the rows nearest to those of the round.

    \b
    Example:
      fcpair examples find --grid replies --round propose
      fcpair examples sheet examples.csv --grid replies --round propose
      fcpair examples review examples.csv --grid replies --round propose
    """


add_acts(examples)


@examples.command("list")
@examples_round
@format_option
@with_grid
def list_(grid: Grid, round: str, form: str) -> None:
    """List the examples of a round, row by row, each with its review.

    \b
    Example:
      fcpair examples list --grid replies --round propose --format csv
    """
    output.print_frame(form, f"Examples of round {round}", _load_examples(grid, round))
    output.print_note(grid.desk.simulated_note)


@examples.command()
@click.argument("out", type=PATH)
@examples_round
@with_grid
def sheet(grid: Grid, out: Path, round: str) -> None:
    """Write the examples of a round as a sheet to be reviewed.

    Its column `used` has the reviews so far; fill in yes or no. OUT is a .csv, .jsonl or .parquet file that is not
    there yet.

    \b
    Example:
      fcpair examples sheet examples.csv --grid replies --round propose
    """
    frame = _load_examples(grid, round)
    if out.exists():
        raise InputError(f"{out}: exists already and may hold reviews; move it away, or name another file")
    output.print_note(grid.desk.simulated_note)
    output.write_rows(frame, out, "examples")


@examples.command()
@click.argument("path", type=PATH)
@examples_round
@sheet_option
@with_grid
def review(grid: Grid, path: Path, round: str) -> None:
    """Import a sheet in which `used` was filled in: yes or no.

    Rows in which it is empty are left out, and the newest review of an example counts.

    \b
    Example:
      fcpair examples review examples.csv --grid replies --round propose
    """
    output.print_run(grid.examples.review(round, path), path)


def _load_examples(grid: Grid, round: str) -> pd.DataFrame:
    frame = grid.examples.table(round)
    if frame.empty:
        on = f"--grid {quote(grid.grid.name)} --round {quote(round)}"
        raise StageError(f"round `{round}` has no examples yet; run `fcpair examples find {on}`")
    return frame
