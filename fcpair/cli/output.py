"""Results on standard output as table, CSV or JSON; messages and progress on standard error.

What a command has done is a receipt: a line for people or, with `--format json`, an entry of one list for programs.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

import click

from fcpair.cli import terminal
from fcpair.errors import InputError
from fcpair.lazy import Lazy, pd
from fcpair.notebook import Result
from fcpair.records import Figure, RunRecord, SampleSize
from fcpair.sentences import Id, join, say

if TYPE_CHECKING:
    from fcpair import study as studies
    from fcpair.files.answers import answer_files
    from fcpair.files.tables import tabular
    from fcpair.grid import Grid
    from fcpair.report.figures import plots
else:  # each loaded when a command first uses something of it: help comes without them
    studies, tabular = Lazy("fcpair.study"), Lazy("fcpair.files.tables.tabular")
    answer_files, plots = Lazy("fcpair.files.answers.answer_files"), Lazy("fcpair.report.figures.plots")

__all__ = ["answer_files", "plots", "studies", "tabular"]  # beside what is defined here

LONGEST_TABLE = 1000  # rows that are printed for people
ROWS_AT_ONCE = 1000
OBSERVED_S = 3.0  # after which it can be said how long the rest takes
LONG_S = 30.0  # so long that it is said
TEXT, JSON, CSV = "text", "json", "csv"
Row = Mapping[str, terminal.Cell]
_RECEIPTS, _FORM, _READS = "fcpair.cli.receipts", "fcpair.cli.form", "fcpair.cli.reads"


@dataclass(frozen=True)
class Table:
    """A titled table: every row has a cell for each column. `notes` stand below it, each once.

    `n` says how many rows there are, where not all are given, and `all_rows` how to get them all.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[terminal.Cell]]
    notes: Sequence[str] = ()
    n: int | None = None
    all_rows: str = "`--format csv` prints all"


def emit(
    form: str,
    data: Any,
    tables: Iterable[Table],
    rows: Iterable[Row] | None = None,
    *,
    simulated: str | Literal[False] | None = False,
    sampled: SampleSize | None = None,
    columns: Sequence[str] = (),
) -> None:
    """Print a result: `tables` for people, `rows` as one CSV, which has `columns` without any row too, `data` as JSON.

    `data` that is a Result has rows and columns of its own, unless others are given. Other `data`, and `rows`, may be
    iterators of rows with the same keys. `simulated` says how the result rests on simulated people, False where it
    rests on no answers, `sampled` that cells were drawn; beside a CSV both go to standard error.
    """
    if form == CSV:
        rows = [*data.rows()] if rows is None else rows
        print_csv(rows, columns or getattr(data, "columns", ()))
    elif form == JSON:
        plain = data.as_dict() if isinstance(data, Result) else data
        if isinstance(plain, dict) and simulated is not False:
            plain = plain | {"simulated": simulated} | ({"sampled": asdict(sampled)} if sampled else {})
        print_json(plain)
    else:
        for table in tables:
            shown = table.rows[:LONGEST_TABLE]
            lines = terminal.format_table(table.columns, shown, terminal.screen_width())
            terminal.print_headline(table.title)
            terminal.print_raw("", *lines, "")
            n = len(table.rows) if table.n is None else table.n
            notes = [f"the first {len(shown):,} of {n:,} rows; {table.all_rows}"] if n > len(shown) else []
            for footnote in (*notes, *table.notes):
                terminal.print_footnote(footnote)
            if notes or table.notes:
                terminal.print_raw()
    for note in filter(None, (simulated, sampled)) if form != JSON else ():
        terminal.print_wrapped(f"Note: {note}.", err=form == CSV)


def print_rows(
    form: str, title: str, rows: Sequence[Row], columns: Sequence[str], notes: Sequence[str] = (), data: Any = None
) -> None:
    """Print rows: for people as one table of these columns; for programs whole, or other `data` as JSON."""
    emit(form, rows if data is None else data, [table_of(title, rows, columns, notes)], rows, columns=columns)


def print_frame(form: str, title: str, frame: pd.DataFrame) -> None:
    """Print the rows of a frame."""
    print_rows(form, title, [*tabular.plain_rows(frame)], [*map(str, frame.columns)])


def table_of(title: str, rows: Iterable[Mapping[str, Any]], columns: Sequence[str], notes: Sequence[str] = ()) -> Table:
    """A table of these columns of the rows."""
    return Table(title, columns, [[row[name] for name in columns] for row in rows], notes)


def print_json(data: Any) -> None:
    """Print data as JSON; rows that an iterator gives as a list of them, without holding them all.

    Signs that the encoding lacks are escaped.
    """
    if not isinstance(data, Iterator):
        text = json.dumps(data, ensure_ascii=False, indent=2)
        terminal.print_machine(text if terminal.can_encode(text) else json.dumps(data, indent=2))
        return
    between = "[\n"
    for part in _row_chunks(data):
        # Flat rows, as `json.dumps` prints a list of them.
        for dump in (json.JSONEncoder(ensure_ascii=is_ascii).encode for is_ascii in (False, True)):
            cells = (",\n".join(f"    {dump(key)}: {dump(cell)}" for key, cell in row.items()) for row in part)
            objects = ",\n".join(f"  {{\n{cell}\n  }}" for cell in cells)
            if terminal.can_encode(objects):
                break
        terminal.print_machine(between + objects, end="")
        between = ",\n"
    terminal.print_machine("[]" if between == "[\n" else "\n]")


def print_csv(rows: Iterable[Row], otherwise: Sequence[str] = ()) -> None:
    """Print rows as one CSV; those of an iterator all have the columns of its first, no row at all those given."""
    columns = list(dict.fromkeys(key for row in rows for key in row)) if isinstance(rows, Sequence) else []
    header, lost = True, False
    for part in _row_chunks(iter(rows)):
        text = _format_csv(part, columns or list(part[0]), header=header)
        terminal.print_machine(text, end="")
        header, lost = False, lost or not terminal.can_encode(text)
    if header and otherwise:
        terminal.print_machine(_format_csv([], otherwise, header=True), end="")
    if lost:
        print_note("this encoding lacks some characters, which are escaped here; PYTHONIOENCODING=utf-8 keeps them")


def _format_csv(rows: Sequence[Row], columns: Sequence[str], *, header: bool) -> str:
    cells = ((row.get(name) for name in columns) for row in rows)
    lines = ([0.0 if isinstance(cell, float) and cell == 0 else cell for cell in line] for line in cells)  # 0 for -0
    return tabular.format_csv([*([columns] if header else []), *lines])


def _row_chunks(rows: Iterator[Row]) -> Iterator[list[Row]]:
    return iter(lambda: list(islice(rows, ROWS_AT_ONCE)), [])


def collect_receipts(ctx: click.Context, param: click.Parameter, form: str) -> str:
    """Have receipts kept, where the form is JSON, until the command ends, and then printed: the callback of `--format`.

    A command with tables to print, which takes the form, is taken to only read. One that has nothing but receipts
    prints an empty list if there are none, unless it ends with an error.
    """
    if param.expose_value:
        ctx.meta[_READS] = True
    if form == JSON and not ctx.resilient_parsing:
        receipts: list[dict[str, Any]] = []
        ctx.meta[_RECEIPTS] = receipts

        def print_receipts() -> None:
            if receipts or not (param.expose_value or sys.exc_info()[0]):
                print_json(receipts)

        ctx.call_on_close(print_receipts)
    ctx.meta[_FORM] = form
    return form


def print_receipt(line: str, data: dict[str, Any], show: Callable[[str], None] = terminal.print_raw) -> None:
    """Print a line about what was done, by `show`; for programs, its `data` instead."""
    ctx = click.get_current_context(silent=True)
    receipts = ctx.meta.get(_RECEIPTS) if ctx else None
    if ctx and ctx.meta.get(_FORM) == CSV:
        terminal.print_wrapped(line, err=True)
    elif receipts is None:
        show(line)
    else:
        receipts.append(data)


def write_rows(frame: pd.DataFrame, out: Path, what: str) -> None:
    """Write the rows of a frame to a file, and print how many there are of what."""
    tabular.write_table(frame, out)
    print_receipt(f"{out}: {len(frame):,} {what}", {"file": str(out), what: len(frame)})


def note_trial(ctx: click.Context, _param: click.Parameter, is_trial: bool) -> bool:
    """Note that a command that would write only reads this time: the callback of flags such as `--dry-run`."""
    if is_trial:
        ctx.meta[_READS] = True
    return is_trial


def note_writing() -> None:
    """Note that the command that is under way writes this time, although others of its kind only read."""
    terminal.end_looks()
    click.get_current_context().meta[_READS] = False


def word_error(ctx: click.Context, message: str) -> str:
    """The message of an error as it is for a command that writes, and without that clause for one that only reads."""
    return re.sub(r"(?i)[;.] nothing was changed\b", "", message) if ctx.meta.get(_READS) else message


def print_run(run: RunRecord, of: Path | None = None, *, numbered: bool = False) -> None:
    """Print what a stage did, `of` which file, by which number if it is `numbered`; and its notes."""
    told = join([run.told, say("run %(number)s", number=Id(run.id))], "; ") if numbered else run.told
    line = f"{run.stage}: {told}{'' if of is None else f' ({of})'}"
    data = {"stage": run.stage, "run": run.id, "counts": run.counts, "notes": [*run.notes]}
    print_receipt(line, data if of is None else {**data, "file": str(of)}, terminal.print_wrapped)
    print_note(*run.notes)


def for_each_file(paths: Sequence[Path], take: Callable[[Path], RunRecord]) -> None:
    """Take files in, print what came of each, and raise InputError with what is wrong with those that were refused."""
    refused = []
    for path in paths:
        try:
            run = take(path)
        except InputError as error:
            refused.append(error)
        else:
            print_run(run, path, numbered=run.params.get("format") != "fc-conan")
    if len(paths) > 1 and refused:
        n = f"{len(refused):,} of {len(paths):,} files {'was' if len(refused) == 1 else 'were'} not imported"
        raise InputError("\n".join([n, *map(str, refused)]))
    if refused:
        raise refused[0]


def format_counts(counts: Mapping[str, Any]) -> str:
    """Format counts as one line."""
    return " · ".join(f"{name.replace('_', ' ')} {_format_count(value)}" for name, value in counts.items())


def _format_count(value: Any) -> str:
    if isinstance(value, Mapping):
        return " / ".join(f"{key}: {_format_count(item)}" for key, item in value.items()) or "none"
    return (" ".join(map(str, value)) or "none") if isinstance(value, list) else terminal.format_cell(value)


def print_message(message: str) -> None:
    """Tell the user something that is not the result."""
    terminal.print_wrapped(message, err=True)


def print_note(*notes: Any) -> None:
    """Tell the user what a result rests on, or what there is to say of it: each of these notes that there is."""
    for note in filter(None, notes):
        print_message(f"Note: {note}.")


@contextmanager
def status_spinner(what: str) -> Iterator[None]:
    """Show on a terminal that something goes on."""
    from rich.console import Console

    console = Console(stderr=True)
    with console.status(what, spinner="dots" if console.encoding.startswith("utf") else "line"):
        yield


def remaining_time_reporter(what: str, clock: Callable[[], float] = monotonic) -> Callable[[int, int], None]:
    """Return a callback, given the done and the total, that reports once how long the rest takes, if that is long.

    It goes by the pace until then; an encoder reads long texts first, and is faster after them.
    """
    begun_s, first_done, first_total, is_told = 0.0, -1, -1, False

    def advance(so_far: int, total: int) -> None:
        nonlocal begun_s, first_done, first_total, is_told
        if total != first_total or so_far <= first_done:
            begun_s, first_done, first_total, is_told = clock(), so_far, total, False
        elif (spent_s := clock() - begun_s) >= OBSERVED_S and not is_told:
            is_told = True
            rest_s = spent_s / (so_far - first_done) * (total - so_far)
            if rest_s >= LONG_S:
                about = f"{rest_s / 60:.0f} minutes" if rest_s > 90 else f"{rest_s:.0f} seconds"
                print_message(f"{what}: {so_far:,} of {total:,} are done; at this pace the others take {about}.")

    return advance


@contextmanager
def progress(what: str, *, at_once: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on a terminal, from the first call of what the block gets to the last, or `at_once` throughout.

    That is called with the done and the total. Elsewhere what takes long says once about how long.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    if not console.is_interactive:
        yield remaining_time_reporter(what)
        return
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task(what, total=None)

    def advance(so_far: int, total: int) -> None:
        bar.start()  # only now: if there is nothing to do, nothing is shown
        bar.update(task, completed=so_far, total=total)
        if so_far == total and at_once:
            bar.reset(task, total=None)
        elif so_far == total:
            bar.stop()

    try:
        if at_once:
            bar.start()
        yield advance
    finally:
        bar.stop()


FIGURE_COLUMNS = ("figure", "n", "value", "low", "high", "note")


def figure_row(figure: Figure) -> dict[str, terminal.Cell]:
    """A figure as a row of a CSV."""
    values = (figure.name, figure.n, figure.value, figure.low, figure.high, remarks(figure))
    return dict(zip(FIGURE_COLUMNS, values, strict=True))


def remarks(figure: Figure) -> str:
    """Remarks on a figure, or the reason why it is undefined."""
    return f"undefined, because {figure.undefined}" if figure.undefined else figure.note


def footnotes(notes: dict[str, str]) -> list[str]:
    """Each remark once, with the figures that it is about."""
    names_by_remark: dict[str, list[str]] = {}
    for name, remark in ((name, remark) for name, note in notes.items() for remark in note.split("; ") if remark):
        names_by_remark.setdefault(remark, []).append(name)
    return [f"{'; '.join(names)}: {remark}" for remark, names in names_by_remark.items()]


def figure_table(title: str, figures: Sequence[Figure]) -> Table:
    """A table of figures, with their remarks below it."""
    notes = footnotes({figure.name: remarks(figure) for figure in figures})
    return table_of(title, map(figure_row, figures), FIGURE_COLUMNS[:-1], notes)


def warn_of_basis(grid: Grid) -> None:
    """Say on standard error where answers were made up, only some cells were drawn, or labels are newer."""
    print_note(grid.desk.simulated_note, grid.sample_size, *grid.desk.basis_notes)


def other_options_notes(grid: Grid, options: Any) -> list[str]:
    """A sentence where options are not the grid's own, by which other commands measure."""
    if options == grid.effective_options(type(options)):
        return []
    return [
        "these options hold for this call alone; `fcpair methods` and `fcpair report` go by the study's own. "
        f"To make them its own, write them into the section [{options.stage}] of its recipe (`fcpair recipe > "
        "study.toml`), and run that (`fcpair run study.toml`)"
    ]
