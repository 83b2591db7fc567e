"""export: qrels, beir, hf, triplets, pairs, preferences, corpus, decisions, texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from fcpair.cli.given_options import take_effect
from fcpair.cli.meanings import complete_tier, shared_option
from fcpair.cli.options import effective_params, params, round_option, with_grid
from fcpair.cli.output import print_run, status_spinner
from fcpair.cli.warnings import warn_of_changes, warn_of_sampled, warn_of_simulated
from fcpair.files.answers.writings import Layout
from fcpair.params import Export, Partition
from fcpair.records import RunRecord

if TYPE_CHECKING:
    from fcpair.files.release.training import Kind
    from fcpair.grid import Grid

tier_option = shared_option("--tier", required=True, metavar="TIER", shell_complete=complete_tier)
file_option = shared_option("--out", required=True, type=click.Path(path_type=Path), detail="A file.")
folder_option = shared_option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    detail="A new or an empty folder.",
)


def _report_export(grid: Grid, run: RunRecord) -> None:
    print_run(run)
    warn_of_simulated(grid)
    warn_of_sampled(grid)
    warn_of_changes(grid)


@click.group()
def export() -> None:
    """Write files for other tools.

    \b
    Example:
      fcpair export qrels --tier silver --out silver.qrels
      fcpair export hf --out dataset/
    """


@export.command()
@with_grid
@effective_params(Partition, "rules")
@tier_option
@params(Export, only=Export.kinds["qrels"])
@file_option
def qrels(grid: Grid, rules: Partition, tier: str, options: Export, out: Path) -> None:
    """Write a tier as TREC qrels.

    A line is `hs_id 0 cn_id grade`. The grade of an appropriate pair is the rank of its best tier (1 Bronze, 2
    Silver, 3 Gold, 4 Diamond), that of one that was judged and is not appropriate is 0. An unjudged pair has no line.
    With `--binary` the grades are 1 and 0, so that another tool's nDCG is fcpair's. If the labels are grades (two
    or more are positive, all on one side of the scale), the grade is that of the label, 0 for the worst.

    \b
    Example:
      fcpair export qrels --tier silver --out silver.qrels
      fcpair export qrels --tier gold --pool positive --binary --out gold.qrels
    """
    with status_spinner("writing"):
        run = grid.export.qrels(out, tier, options, rules)
    _report_export(grid, run)


@export.command()
@with_grid
@effective_params(Partition, "rules")
@tier_option
@params(Export, only=Export.kinds["beir"])
@folder_option
def beir(grid: Grid, rules: Partition, tier: str, options: Export, out: Path) -> None:
    """Write a tier as a BEIR folder.

    corpus.jsonl is the pool, queries.jsonl the HS of the tier, and qrels/test.tsv has the grades of
    `fcpair export qrels`, with `--binary` 1 and 0.

    \b
    Example:
      fcpair export beir --tier silver --out silver-beir/
    """
    with status_spinner("writing"):
        run = grid.export.beir(out, tier, options, rules)
    _report_export(grid, run)


@export.command()
@with_grid
@effective_params(Partition, "rules")
@folder_option
def hf(grid: Grid, rules: Partition, out: Path) -> None:
    """Write all tiers as a Hugging Face dataset folder.

    `datasets.load_dataset(FOLDER, "gold")` reads one tier. Its card names no licence and no
    citation: add them.

    \b
    Example:
      fcpair export hf --out dataset/
    """
    with status_spinner("writing"):
        run = grid.export.hf(out, rules)
    _report_export(grid, run)


@export.command()
@with_grid
@effective_params(Partition, "rules")
@tier_option
@params(Export, only=Export.kinds["triplets"])
@folder_option
def triplets(**arguments: Any) -> None:
    """Write triplets with judged negatives.

    The columns are `anchor`, `positive`, `negative`, as sentence-transformers has them. Every negative was judged for
    the same HS and is not appropriate. No HS is in both train.jsonl and test.jsonl.

    \b
    Example:
      fcpair export triplets --tier silver --negatives 5 --seed 13 --out triplets/
    """
    _write_training("triplets", **arguments)


@export.command()
@with_grid
@effective_params(Partition, "rules")
@tier_option
@params(Export, only=Export.kinds["pairs"])
@folder_option
def pairs(**arguments: Any) -> None:
    """Write judged pairs with their labels.

    The columns are `sentence1`, `sentence2`, `label`, as sentence-transformers has them. The label is 1 for an
    appropriate pair and 0 for another. No HS is in both train.jsonl and test.jsonl.

    \b
    Example:
      fcpair export pairs --tier silver --test-share 0.25 --seed 13 --out pairs/
    """
    _write_training("pairs", **arguments)


@export.command()
@with_grid
@effective_params(Partition, "rules")
@tier_option
@params(Export, only=Export.kinds["preferences"])
@folder_option
def preferences(**arguments: Any) -> None:
    """Write preference pairs.

    The columns are `prompt`, `chosen`, `rejected`, as TRL has them. The rows are drawn as those of the triplets are:
    the same options and seed give the same ones.

    \b
    Example:
      fcpair export preferences --tier gold --seed 13 --out preferences/
    """
    _write_training("preferences", **arguments)


def _write_training(kind: Kind, grid: Grid, rules: Partition, tier: str, options: Export, out: Path) -> None:
    with status_spinner("writing"):
        run = grid.export.training(kind, out, tier, options, rules)
    _report_export(grid, run)


@export.command()
@take_effect("--pool", "--diamond", only_with="--without")
@with_grid
@effective_params(Partition, "rules")
@click.option(
    "--without", metavar="TIER", help="Leave out every row with an HS of this tier; without it none is left out."
)
@params(Export, only=Export.kinds["corpus"])
@file_option
def corpus(grid: Grid, rules: Partition, without: str | None, options: Export, out: Path) -> None:
    """Write the corpus with its ids, with or without what a tier holds.

    The ids are those by which `fcpair retrieve --run` finds the texts. With `--without`, every row with an HS of the
    tier or a CN of the pool is left out: the rest may be used for training when the tier is the test set. The suffix
    sets the format: .csv, .jsonl or .parquet.

    \b
    Example:
      fcpair export corpus --out corpus.jsonl
      fcpair export corpus --without bronze --pool positive --out train.csv
    """
    with status_spinner("writing"):
        run = grid.export.corpus(out, without, options, rules)
    _report_export(grid, run)


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
    _report_export(grid, run)


@export.command()
@take_effect("--test-share", "--seed", only_with=("--layout training", "--layout hf"))
@with_grid
@round_option
@shared_option(
    "--layout",
    type=click.Choice(get_args(Layout)),
    default="table",
    show_default=True,
    detail="A table, a folder to train on, a Hugging Face folder, the layout of a published dataset, or templates.",
)
@params(Export, only=Export.kinds["texts"])
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
