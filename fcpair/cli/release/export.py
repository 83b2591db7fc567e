"""export: qrels, beir, hf, triplets, pairs, preferences, corpus, decisions, texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from fcpair.cli.given_options import take_effect
from fcpair.cli.options import (
    PATH,
    complete_tier,
    effective_params,
    option,
    params,
    round_option,
    shared_option,
    with_grid,
)
from fcpair.cli.output import print_run, status_spinner, warn_of_basis, warn_of_simulated
from fcpair.files.answers.writings import Layout
from fcpair.files.release.exports import EXPORTS, ExportKind
from fcpair.params import Export, Partition

if TYPE_CHECKING:
    from fcpair.grid import Grid

tier_option = shared_option("--tier", required=True, metavar="TIER", shell_complete=complete_tier)
file_option = shared_option("--out", required=True, type=PATH, detail="A file.")
folder_option = shared_option("--out", required=True, type=PATH, detail="A new or an empty folder.")
without_option = option(
    "--without", metavar="TIER", help="Leave out every row with an HS of this tier; without it none is left out."
)


@click.group()
def export() -> None:
    """Write files for other tools.

    \b
    Example:
      fcpair export qrels --tier silver --out silver.qrels
      fcpair export hf --out dataset/
    """


def _add_command(kind: ExportKind) -> None:
    """Add the command of an export to the group."""

    def write(grid: Grid, rules: Partition, options: Export, out: Path, **tier: str | None) -> None:
        with status_spinner("writing"):
            run = kind.write(grid.tiers(rules).export, out, tier.get(kind.tier), options)
        print_run(run)
        warn_of_basis(grid)

    write.__doc__ = kind.help
    command = (folder_option if kind.is_folder else file_option)(write)
    command = params(Export, only=kind.params)(command)
    if kind.tier:
        command = (tier_option if kind.tier == "tier" else without_option)(command)
    command = with_grid(effective_params(Partition, "rules")(command))
    if kind.tier == "without":
        command = take_effect("--pool", "--diamond", only_with="--without")(command)
    export.command(kind.name)(command)


for _kind in EXPORTS.values():
    _add_command(_kind)


@export.command()
@with_grid
@file_option
def decisions(grid: Grid, out: Path) -> None:
    """Write the decisions.

    There is a row for each cell with a decision: its number and texts, the decision, by which rule or by whom, how many
    answers the cell has and how many of them are the same. In a planned grid, all metadata of the row are included, so
    that a grid of items can be scored by its decisions. `fcpair adjudicate --import` reads it back.

    \b
    Example:
      fcpair export decisions --grid review --out decisions.csv
      fcpair bias score decisions.csv --reader items --answer decision --as bbq
    """
    with status_spinner("writing"):
        run = grid.export.decisions(out)
    print_run(run)
    warn_of_basis(grid)


@export.command()
@take_effect("--test-share", "--seed", only_with=("--layout training", "--layout hf"))
@with_grid
@round_option
@shared_option(
    "--layout",
    choices=get_args(Layout),
    detail="A table, a folder to train on, a Hugging Face folder, the layout of a published dataset, or templates.",
)
@params(Export, only=("test_share", "seed"))
@file_option
def texts(grid: Grid, name: str | None, layout: Layout, options: Export, out: Path) -> None:
    """Write the texts of a round, with what they answer.

    There is a row for each text: the row's text and the type that was asked for, all types, who wrote it, and what was
    edited. `training` (train.jsonl, test.jsonl) and `hf` split by whole rows of the grid, with every type on both sides
    as evenly as that allows; `crowdcounter` (.json) and `parscn` (.csv) have the columns of these datasets.

    \b
    Example:
      fcpair export texts --grid write --out replies.csv
      fcpair export texts --grid write --layout training --test-share 0.25 --seed 13 --out training/
    """
    with status_spinner("writing"):
        run = grid.export.texts(out, layout, options, name)
    print_run(run)
    warn_of_simulated(grid)
