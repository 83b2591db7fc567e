"""generate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fcpair.cli.given_options import take_effect
from fcpair.cli.meanings import shared_option
from fcpair.cli.options import format_option, with_grid
from fcpair.cli.output import Table, emit, print_run, progress
from fcpair.cli.reading import note_writing
from fcpair.errors import InputError

if TYPE_CHECKING:
    from fcpair.cli.table import Cell
    from fcpair.grid import Grid
    from fcpair.models.answering_models import RequestEstimate

NOTES = (
    "requests: all different prompts; cached: those already answered.",
    "tokens: an estimate, four characters each; out: as many per prompt as the cached replies have on average.",
)


@click.command()
@take_effect("--price-in", "--price-out", only_with="--dry-run")
@shared_option("--round", "name", required=True, metavar="NAME", detail="Models answer it.")
@shared_option("--dry-run", is_flag=True, detail="It counts what models would be asked.")
@click.option("--price-in", type=float, help="With `--dry-run`: the price of a million tokens that a model reads.")
@click.option("--price-out", type=float, help="With `--dry-run`: the price of a million tokens that it writes.")
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
    _check_prices(price_in, price_out)
    if dry_run:
        _print_estimates(grid.estimate_generation(name), price_in, price_out, form)
        return
    note_writing()
    with progress("asking") as report:
        run = grid.generate(name, progress=report)
    print_run(run)


def _check_prices(*prices: float | None) -> None:
    known_prices = [price for price in prices if price is not None]
    if len(known_prices) == 1:
        raise InputError("--price-in and --price-out go together; give both (0 if there is no charge)")
    if not all(0 <= price < float("inf") for price in known_prices):
        raise InputError("a price must be 0 or more for a million tokens")


def _print_estimates(
    estimates: list[tuple[str, RequestEstimate]], price_in: float | None, price_out: float | None, form: str
) -> None:
    from fcpair.models.answering_models import LENGTH_UNKNOWN

    rows: list[dict[str, Cell]] = []
    for model, estimate in estimates:
        row: dict[str, Cell] = {"model": model, **estimate._asdict()}
        if price_in is not None and price_out is not None:
            row["cost"] = estimate.cost(price_in, price_out)
        rows.append({**row, "undefined": estimate.undefined})
    columns = [name for name in rows[0] if name != "undefined"]
    unknown = [model for model, estimate in estimates if estimate.undefined]
    notes = [*NOTES, *([f"undefined for {', '.join(unknown)}: {LENGTH_UNKNOWN}."] if unknown else [])]
    table = Table("What models would be asked", columns, [[row[name] for name in columns] for row in rows], notes)
    emit(form, data=rows, tables=[table], rows=rows)
