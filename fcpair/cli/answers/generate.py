"""generate, curation, examples: the answers of models, and what people do with them."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from fcpair.cli.acts import add_acts, examples_round
from fcpair.cli.given_options import take_effect
from fcpair.cli.options import PATH, format_option, option, round_option, shared_option, sheet_option, with_grid
from fcpair.cli.output import (
    Table,
    emit,
    footnotes,
    note_writing,
    print_frame,
    print_rows,
    print_run,
    progress,
    remarks,
    status_spinner,
    warn_of_simulated,
    write_rows,
)
from fcpair.errors import InputError, StageError
from fcpair.lazy import pd
from fcpair.round_options import ROW

if TYPE_CHECKING:
    from fcpair.cli.terminal import Cell
    from fcpair.grid import Grid
    from fcpair.models.answering_models import RequestEstimate

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
        _print_estimates(grid.desk.estimate_generation(name), prices, form)
        return
    note_writing()
    with progress("asking") as report:
        run = grid.generate(name, progress=report)
    print_run(run)


def _print_estimates(estimates: list[tuple[str, RequestEstimate]], prices: list[float], form: str) -> None:
    from fcpair.models.answering_models import LENGTH_UNKNOWN

    rows: list[dict[str, Cell]] = []
    for model, estimate in estimates:
        cost = {"cost": estimate.cost(*prices)} if prices else {}
        rows.append({"model": model, **estimate._asdict(), **cost, "undefined": estimate.undefined})
    columns = [name for name in rows[0] if name != "undefined"]
    unknown = [model for model, estimate in estimates if estimate.undefined]
    notes = [*NOTES, *([f"undefined for {', '.join(unknown)}: {LENGTH_UNKNOWN}."] if unknown else [])]
    print_rows(form, "What models would be asked", rows, columns, notes)


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
    with status_spinner("comparing texts"):
        measured = grid.curation(name)
    all_curated = (*measured.sources, measured.all)
    subject = "the rows" if measured.edits == ROW else f"the texts of round {measured.edits}"
    title = f"Round {measured.round}: what was done with {subject}"
    notes = ["words and characters changed: the mean of the edited ones"]
    notes += footnotes({curated.source: remarks(curated.words_changed) for curated in all_curated})
    if measured.lost:
        notes.append(f"{measured.lost:,} more answers are about a text that was empty, or was withdrawn since")
    rows = [[row[name] for name in CURATION_COLUMNS] for row in measured.rows()]
    tables = [Table(title, [name.replace("_", " ") for name in CURATION_COLUMNS], rows, notes)]
    if measured.all.rejected:
        rejected = [(curated.source, reason, n) for curated in all_curated for reason, n in curated.reasons.items()]
        tables.append(Table("Why texts were rejected", ("source", "reason", "n"), rejected))
    emit(form, measured, tables, simulated=grid.desk.simulated_note)


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
    frame = _load_examples(grid, round)
    print_frame(form, f"Examples of round {round}", frame)
    warn_of_simulated(grid)


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
    warn_of_simulated(grid)
    write_rows(frame, out, "examples")


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
    print_run(grid.review_examples(round, path), path)


def _load_examples(grid: Grid, round: str) -> pd.DataFrame:
    frame = grid.examples(round)
    if frame.empty:
        on = f"--grid {quote(grid.grid.name)} --round {quote(round)}"
        raise StageError(f"round `{round}` has no examples yet; run `fcpair examples find {on}`")
    return frame
