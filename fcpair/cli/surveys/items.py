"""items expand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fcpair.cli.given_options import take_effect
from fcpair.cli.meanings import shared_option
from fcpair.cli.options import format_option, sheet_option
from fcpair.cli.output import Table, emit, print_message
from fcpair.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from fcpair.bias.items import Template
    from fcpair.cli.table import Cell

COLUMNS = ("category", "templates", "items")
LIMIT = 100_000  # that of fcpair.bias.items.expand
LAYOUTS = ("table", "hf", "lm-eval")  # a table, and FOLDERS of fcpair.files.surveys.item_folders, as a test checks
READERS = ("fcpair", "bbq", "kobbq")  # those of fcpair.files.surveys.templates, which a test holds against these


@click.group()
def items() -> None:
    """Questions about two groups, made from templates: expand.

    \b
    Example:
      fcpair items expand templates.toml --out items.jsonl
    """


@items.command()
@take_effect("--layout", "--seed", "--limit", only_with="--out")
@click.argument("file", type=click.Path(path_type=Path))
@shared_option(
    "--reader",
    type=click.Choice(READERS),
    default=READERS[0],
    show_default=True,
    detail="Our own TOML, or templates as BBQ or KoBBQ released them.",
)
@click.option("--count", is_flag=True, help="Count the items of each category, and write none.")
@shared_option("--out", type=click.Path(path_type=Path), detail="The items: a CSV, JSONL or Parquet, or a folder.")
@shared_option(
    "--layout",
    type=click.Choice(LAYOUTS),
    default=LAYOUTS[0],
    show_default=True,
    detail="A table, or a folder for Hugging Face or lm-evaluation-harness.",
)
@shared_option("--seed", type=click.IntRange(min=0), default=13, show_default=True, detail="It orders the options.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    default=LIMIT,
    show_default=True,
    help="Write nothing if one template makes more items than this.",
)
@sheet_option
@format_option
def expand(
    file: Path, reader: str, count: bool, out: Path | None, layout: str, seed: int, limit: int, form: str
) -> None:
    """Expand templates into items.

    Every filling of the slots makes four items: an ambiguous and a disambiguated context, each with a negative question
    and one that is not. A slot that is used twice is filled the same. `--count` multiplies, and makes no items.

    \b
    Example:
      fcpair items expand templates.toml --out items.jsonl
      fcpair items expand KoBBQ_templates.tsv --reader kobbq --count --format json
      fcpair items expand templates.toml --layout lm-eval --out task
    """
    from fcpair.bias.items import coinciding_options, n_items
    from fcpair.bias.items import expand as expanded
    from fcpair.errors import reject
    from fcpair.files.surveys.templates import read_templates
    from fcpair.files.tables.folders import check_new_folder
    from fcpair.files.tables.tabular import check_suffix

    if count == (out is not None):
        raise InputError("give `--out` with a file or a folder to write the items, or `--count` to count them")
    if out is not None:
        (check_suffix if layout == LAYOUTS[0] else check_new_folder)(out)
    templates, remarks = read_templates(file, reader)
    if count:
        reject(file, list(coinciding_options((one for one in templates if n_items(one) <= limit), str(file))))
    if out is not None:
        expansion = expanded(templates, str(file), seed, limit)
        reject(file, list(expansion.findings))
        _write(expansion.frame, out, layout, str(file), seed)
        print_message(f"{out}: {len(expansion.frame):,} items")
    for remark in remarks:
        print_message(f"Note: {remark}")
    _emit(file, templates, form, seed)


def _write(frame: pd.DataFrame, out: Path, layout: str, templates: str, seed: int) -> None:
    from importlib.metadata import version

    from fcpair.files.surveys.item_folders import FOLDERS, ItemSource
    from fcpair.files.tables.folders import new_folder
    from fcpair.files.tables.tabular import write_table

    if layout == LAYOUTS[0]:
        write_table(frame, out)
        return
    with new_folder(out) as folder:
        for name, content in FOLDERS[layout](frame, ItemSource(templates, seed, version("fcpair"))).items():
            (folder / name).parent.mkdir(exist_ok=True)
            if isinstance(content, str):
                (folder / name).write_text(content, "utf-8")
            else:
                write_table(content, folder / name)


def _emit(file: Path, templates: list[Template], form: str, seed: int) -> None:
    from fcpair.bias.items import n_items, n_templates

    n_of = n_templates(templates)
    counts: Counter[str] = Counter()
    for template in templates:
        counts[template.category] += n_items(template)
    rows: list[list[Cell]] = [[name, n_of[name], n] for name, n in counts.items()]
    data = {
        "place": str(file),
        "seed": seed,
        "templates": n_of.total(),
        "items": counts.total(),
        "categories": {name: {"templates": n_of[name], "items": n} for name, n in counts.items()},
    }
    title = f"{file}: {n_of.total():,} templates, {counts.total():,} items"
    named = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    emit(form, data=data, tables=[Table(title, COLUMNS, rows)], rows=named)
