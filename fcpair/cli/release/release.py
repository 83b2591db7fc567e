"""release, verify, diff."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fcpair.cli.options import (
    PATH,
    StudyPlace,
    close_at_end,
    format_option,
    option,
    seed_option,
    shared_option,
    with_study,
)
from fcpair.cli.output import emit, print_message, print_receipt, print_run, status_spinner, table_of
from fcpair.cli.terminal import print_raw, print_wrapped
from fcpair.files.release.release_facts import FORM_FILE, read_form, template_text

if TYPE_CHECKING:
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
@option(
    "--template",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_template,
    help="Print an empty form with an explanation of every key, and exit.",
)
def release(study: Study, name: str, out: Path, form: Path, draft: bool, no_texts: bool, seed: int) -> None:
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
    with status_spinner("releasing"):
        run = study.release(name, out, form, seed=seed, texts=not no_texts, draft=draft)
    print_run(run)
    if missing := read_form(form).missing:
        print_message(f"Note: this is a draft; {form} lacks {', '.join(missing)}.")


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
    from fcpair.study import Study

    opened = close_at_end(Study(study)) if study is not None else None
    with status_spinner("verifying"):
        found = Study.verify(folder, opened)
    lines = [f"{folder}: {line}" for line in (*found.faults, *found.differences)]
    for line in lines[:LINES_SHOWN]:
        print_wrapped(line, err=True)
    if len(lines) > LINES_SHOWN:
        print_wrapped(f"... and {len(lines) - LINES_SHOWN:,} more; `--format json` has them all.", err=True)
    summary = "as it was written" if not found.faults else "not as it was written"
    if opened is not None and not found.faults:
        summary += ", and the study gives the same" if found.is_sound else ", but the study gives another one now"
    line = f"{folder}: {found.n_files:,} files, {summary}\ndigest: {found.digest or 'none'}"
    print_receipt(line, {"folder": str(folder), "sound": found.is_sound, **asdict(found)})
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
    from fcpair.study import Study

    changes = Study.diff(before, after)
    rows = list(changes.rows())
    counted = ", ".join(f"{n:,} {kind}" for kind, n in changes.counts().items())
    shown = []
    for row in rows:
        tier, label = (
            list(dict.fromkeys(row[f"{of}_{at}"] or "none" for at in ("before", "after"))) for of in ("tier", "label")
        )
        shown.append({**row, "tier": " -> ".join(tier), "label": " -> ".join(label)})
    several = len({change.grid for change in changes}) > 1
    columns = [*["grid"] * several, "pair", "change", "tier", "label", "because"]
    title = f"{before} to {after}: {counted}"
    if not rows and form == "table":
        print_wrapped(title)
    else:
        tables = [table_of(title, shown, columns)]
        emit(form, [asdict(change) for change in changes], tables, rows, columns=changes.columns)
