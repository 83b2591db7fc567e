"""release, verify, diff; export qrels, beir, hf, triplets, pairs, preferences, corpus, decisions, texts."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from fcpair.cli import output
from fcpair.cli.given_options import take_effect
from fcpair.cli.options import (
    PATH,
    StudyPlace,
    close_at_end,
    complete_tier,
    effective_params,
    format_option,
    ids_option,
    option,
    params,
    round_option,
    seed_option,
    shared_option,
    with_grid,
    with_study,
)
from fcpair.cli.output import studies
from fcpair.cli.terminal import print_raw, print_wrapped
from fcpair.errors import InputError
from fcpair.files.answers.writings import Layout
from fcpair.files.release.exports import EXPORTS, ExportKind
from fcpair.files.release.release_facts import FORM_FILE, read_form, template_text
from fcpair.params import Export, Ids, Partition

if TYPE_CHECKING:
    from fcpair.grid import Grid
    from fcpair.study import Place, Study

FOUND = 1
LINES_SHOWN = 20


def _print_template(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        print_raw(template_text().rstrip("\n"))
        ctx.exit()


@click.command()
@click.argument("name")
@with_study
@shared_option("--out", required=True, type=PATH, detail="A new or an empty folder.")
@option("--form", default=FORM_FILE, type=PATH, help="The form with facts that only people know, such as licences.")
@option("--draft", is_flag=True, help="Release even if keys of the form are missing; the card lists them.")
@option("--no-texts", is_flag=True, help="Write ids and digests instead of texts, and a script that joins them.")
@seed_option
@ids_option
@option(
    "--template",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_template,
    help="Print an empty form with an explanation of every key, and exit.",
)
def release(
    study: Study, name: str, out: Path, form: Path, draft: bool, no_texts: bool, seed: int, ids: Ids | None
) -> None:
    """Freeze the study as a folder that others can cite, load and check.

    It holds each tier as Parquet and CSV, labels, decisions and verdicts under fresh pseudonyms (drawn by `--seed`),
    the answers of planned grids, guidelines, recipe, run log, agreement, a card, a datasheet, a data statement,
    croissant.json and SHA256SUMS. What only people know is read from release.toml, which `--template` prints for you to
    fill in. The same study, form, seed and versions give the same bytes.

    \b
    Example:
      fcpair release v1 --out v1/
      fcpair release v1-ids --out v1-ids/ --no-texts
    """
    with output.status_spinner("releasing"):
        run = study.release(name, out, form, seed=seed, texts=not no_texts, draft=draft, ids=ids)
    output.print_run(run)
    if missing := read_form(form).missing:
        output.print_message(f"Note: this is a draft; {form} lacks {', '.join(missing)}.")


@click.command()
@click.argument("folder", type=PATH)
@option(
    "--study",
    type=StudyPlace(),
    help="The study: a file, or a database as postgresql+psycopg://USER@HOST/NAME. "
    "Compares the release with what the study gives now.",
)
def verify(folder: Path, study: Place | None) -> None:
    """Check that a release is what was written.

    It finds each byte that was changed, each file added or missing, and each link, and prints the release's digest: the
    SHA-256 of its SHA256SUMS. With `--study`, it also says what the study gives otherwise now. Exits with 1 if
    anything was found.

    \b
    Example:
      fcpair verify v1/
      fcpair verify v1/ --study study.db
    """
    opened = close_at_end(studies.Study(study)) if study is not None else None
    with output.status_spinner("verifying"):
        found = studies.Study.verify(folder, opened)
    lines = [f"{folder}: {line}" for line in (*found.faults, *found.differences)]
    for line in lines[:LINES_SHOWN]:
        output.print_message(line)
    if len(lines) > LINES_SHOWN:
        output.print_message(f"... and {len(lines) - LINES_SHOWN:,} more; `--format json` has them all.")
    summary = "as it was written" if not found.faults else "not as it was written"
    if opened is not None and not found.faults:
        summary += ", and the study gives the same" if found.is_sound else ", but the study gives another one now"
    line = f"{folder}: {found.n_files:,} files, {summary}\ndigest: {found.digest or 'none'}"
    output.print_receipt(line, {"folder": str(folder), "sound": found.is_sound, **asdict(found)})
    sys.exit(0 if found.is_sound else FOUND)


@click.command()
@click.argument("before", type=PATH)
@click.argument("after", type=PATH)
@format_option
def diff(before: Path, after: Path, form: str) -> None:
    """List the pairs that differ between two releases, and why.

    A pair entered a tier, left all of them, or changed its tiers or its label. The last column says by which
    answer, decision or verdict, and by which rule of a tier that it came into or left. Who answered is named where both
    releases have the same pseudonyms, that is, the same study and `--seed`.

    \b
    Example:
      fcpair diff v1/ v2/
      fcpair diff v1/ v2/ --format csv
    """
    changes = studies.Study.diff(before, after)
    rows, shown = list(changes.rows()), []
    for row in rows:
        ends = ([row[f"{of}_{at}"] or "none" for at in ("before", "after")] for of in ("tier", "label"))
        tier, label = (" -> ".join(dict.fromkeys(of)) for of in ends)
        shown.append({**row, "tier": tier, "label": label})
    several = len({change.grid for change in changes}) > 1
    columns = [*["grid"] * several, "pair", "change", "tier", "label", "because"]
    title = f"{before} to {after}: {', '.join(f'{n:,} {kind}' for kind, n in changes.counts().items())}"
    if not rows and form == "table":
        print_wrapped(title)
    else:
        tables = [output.table_of(title, shown, columns)]
        output.emit(form, [asdict(change) for change in changes], tables, rows, columns=changes.columns)
    output.print_note(*changes.relabelled)


TIER_OPTIONS = {
    "tier": shared_option("--tier", required=True, metavar="TIER", shell_complete=complete_tier),
    "given": shared_option(
        "--tier",
        metavar="TIER",
        shell_complete=complete_tier,
        detail="Without it, answers of a grid of comparisons are written as given.",
    ),
    "without": option(
        "--without", metavar="TIER", help="Leave out every row with an HS of this tier; without it none is left out."
    ),
}
file_option = shared_option("--out", required=True, type=PATH, detail="A file.")
folder_option = shared_option("--out", required=True, type=PATH, detail="A new or an empty folder.")


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
        with output.status_spinner("writing"):
            if kind.given and tier[kind.tier] is None and not grid.desk.has_comparisons:
                raise InputError("name the tier (`--tier`); only a grid of comparisons has preferences without one")
            run = kind.write(grid.tiers(rules).export, out, tier.get(kind.tier), options)
        output.print_run(run)
        output.warn_of_basis(grid)

    write.__doc__ = kind.help
    command = params(Export, only=kind.params)((folder_option if kind.is_folder else file_option)(write))
    if kind.tier:
        command = TIER_OPTIONS["given" if kind.given else kind.tier](command)
    command = with_grid(effective_params(Partition, "rules")(command))
    if kind.given:
        command = take_effect(
            *(f"--{name.replace('_', '-')}" for name in kind.params), "--diamond", only_with="--tier"
        )(command)
    if kind.tier == "without":
        command = take_effect("--pool", "--diamond", only_with="--without")(command)
    export.command(kind.name)(command)


for _kind in EXPORTS.values():
    _add_command(_kind)


@export.command()
@with_grid
@file_option
@ids_option
def decisions(grid: Grid, out: Path, ids: Ids | None) -> None:
    """Write the decisions.

    There is a row for each cell with a decision: its number and texts, the decision, by which rule or by whom, how many
    answers the cell has and how many of them are the same. In a planned grid, all metadata of the row are included, so
    that a grid of items can be scored by its decisions. `fcpair adjudicate --import` reads it back.

    \b
    Example:
      fcpair export decisions --grid review --out decisions.csv
      fcpair bias score decisions.csv --reader items --answer decision --as bbq
    """
    with output.status_spinner("writing"):
        run = grid.export.decisions(out, ids=ids)
    output.print_run(run)
    output.warn_of_basis(grid)


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
    with output.status_spinner("writing"):
        run = grid.export.texts(out, layout, options, name)
    output.print_run(run)
    output.print_note(grid.desk.simulated_note)
