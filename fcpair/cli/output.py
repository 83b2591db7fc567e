"""Results on standard output as table, CSV or JSON; messages and progress on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from fcpair.cli.machine_output import print_csv, print_json
from fcpair.cli.receipts import print_receipt
from fcpair.cli.table import Cell, format_cell, format_table
from fcpair.cli.terminal import print_footnote, print_headline, print_raw, print_wrapped, screen_width
from fcpair.errors import InputError
from fcpair.records import RunRecord, SampleSize

LOGGED_ALONE = ("intervals", "undefined")  # counts that `fcpair log` shows, and the line of the stage does not
LONGEST_TABLE = 1000  # rows that are printed for people
OBSERVED_S = 3.0  # after which it can be said how long the rest takes
LONG_S = 30.0  # so long that it is said


@dataclass(frozen=True)
class Table:
    """A titled table: every row has a cell for each column. `notes` stand below it, each once.

    `n` says how many rows there are, where not all are given, and `all_rows` how to get them all.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    n: int | None = None
    all_rows: str = "`--format csv` prints all"


def emit(
    form: str,
    *,
    data: Any,
    tables: Sequence[Table],
    rows: Iterable[Mapping[str, Cell]],
    simulated: str | None = None,
    sampled: SampleSize | None = None,
    columns: Sequence[str] = (),
) -> None:
    """Print a result: `tables` for people, `rows` as one CSV, `data` as JSON.

    A CSV without any row has these `columns`.

    `data` and `rows` may be iterators, whose rows all have the same keys: they are printed as they come. `simulated`
    says that the result rests on simulated people, and `sampled` that cells were drawn: `data` must hold both itself;
    they stand below tables, and beside a CSV on standard error, where they cannot break the file.
    """
    if form == "json":
        print_json(data)
    elif form == "csv":
        print_csv(rows, columns)
    else:
        for table in tables:
            _print_table(table)
    for note in filter(None, (simulated, sampled)) if form != "json" else ():
        print_wrapped(f"Note: {note}.", err=form == "csv")


def sampled_field(sampled: SampleSize | None) -> dict[str, Any]:
    """JSON field that says how many cells of a grid were drawn; empty where the grid is whole."""
    return {"sampled": asdict(sampled)} if sampled else {}


def _print_table(table: Table) -> None:
    rows = table.rows[:LONGEST_TABLE]
    lines = format_table(table.columns, rows, screen_width())
    print_headline(table.title)
    print_raw("", *lines, "")
    n = len(table.rows) if table.n is None else table.n
    notes = [f"the first {len(rows):,} of {n:,} rows; {table.all_rows}"] if n > len(rows) else []
    for note in [*notes, *table.notes]:
        print_footnote(note)
    if notes or table.notes:
        print_raw()


def print_run(run: RunRecord, of: Path | None = None, *, numbered: bool = False) -> None:
    """Print what a stage did, in a line, and with which file where it took one; its notes go to standard error.

    `numbered`: with the number by which the run can be named.
    """
    shown_counts = {name: value for name, value in run.counts.items() if name not in LOGGED_ALONE}
    counts = format_counts({**shown_counts, "run": str(run.id)} if numbered else shown_counts)
    line = f"{run.stage}: {counts}" if counts else run.stage
    data = {"stage": run.stage, "run": run.id, "counts": run.counts, "notes": [*run.notes]}
    if of is None:
        print_receipt(line, data, print_wrapped)
    else:
        print_receipt(f"{line} ({of})", {**data, "file": str(of)}, print_wrapped)
    for note in run.notes:
        print_message(f"Note: {note}.")


def for_each_file(paths: Sequence[Path], take: Callable[[Path], RunRecord]) -> None:
    """Take files in, one after the other, and print what came of each; one that is refused does not stop the others.

    Raises InputError with what is wrong with the files that were refused.
    """
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
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return format_cell(value)


def print_message(message: str) -> None:
    """Tell the user something that is not the result."""
    print_wrapped(message, err=True)


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
    first: tuple[float, int, int] | None = None
    is_told = False

    def advance(so_far: int, total: int) -> None:
        nonlocal first, is_told
        if first is None or total != first[2] or so_far <= first[1]:
            first, is_told = (clock(), so_far, total), False
            return
        spent_s = clock() - first[0]
        if is_told or spent_s < OBSERVED_S:
            return
        is_told = True
        rest_s = spent_s / (so_far - first[1]) * (total - so_far)
        if rest_s >= LONG_S:
            about = f"{rest_s / 60:.0f} minutes" if rest_s > 90 else f"{rest_s:.0f} seconds"
            print_message(f"{what}: {so_far:,} of {total:,} are done; at this pace the others take {about}.")

    return advance


@contextmanager
def progress(what: str, *, at_once: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on a terminal; the block calls what it gets with the done and the total.

    It is shown from the first call to the last, or, `at_once`, as long as the block runs. Elsewhere what takes long
    says once about how long (`remaining_time_reporter`).
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
        bar.start()  # only now: where there is nothing to do, nothing is shown
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
