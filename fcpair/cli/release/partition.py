"""partition, explain."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fcpair.cli import output
from fcpair.cli.given_options import take_effect
from fcpair.cli.options import (
    PATH,
    complete_tier,
    effective_params,
    format_option,
    ids_option,
    look_at_grid,
    option,
    shared_option,
)
from fcpair.cli.output import tabular
from fcpair.cli.terminal import print_wrapped, shorten
from fcpair.params import Ids, Partition
from fcpair.records import TIERS, Origin

if TYPE_CHECKING:
    from fcpair.grid import Grid

CAPTIONS = (
    "Table 1. The tiers: their {cells}, and the rule that each follows",
    "Table 2. {positive} and {other} {cells}",
    "Table 3. How many labels the {cells} rest on",
    "Table 4. Verdicts by number of labels; the share is of those not valid",
)
BRIEF = 32  # characters of a text that fit beside another one on a terminal


@click.command()
@take_effect("--out", "--layout", "--ids", only_with="--tier")
@take_effect("--diamond", not_with=("--as-of",))
@look_at_grid
@effective_params(Partition)
@shared_option("--tier", metavar="TIER", shell_complete=complete_tier, detail="Its pairs are written.")
@shared_option("--out", type=PATH, detail="A .csv, .jsonl or .parquet file.")
@shared_option(
    "--layout",
    "columns",
    choices=("fcpair", "fc-conan"),
    detail="The names of the columns: ours, or those of the published FC-CONAN.",
)
@option("--as-of", type=int, metavar="VERSION", help="The tiers as they were when the labels had this version.")
@ids_option
@format_option
def partition(
    grid: Grid,
    options: Partition,
    tier: str | None,
    out: Path | None,
    columns: str,
    as_of: int | None,
    ids: Ids | None,
    form: str,
) -> None:
    """Grade the pairs, or write one tier.

    Without `--tier` it prints the tables about Diamond, Gold, Silver and Bronze, and the tiers of the
    study's own. With `--tier` and no
    `--out`, the tier's pairs are printed.

    \b
    Example:
      fcpair partition --diamond majority
      fcpair partition --tier gold --out gold.csv
      fcpair partition --tier gold --out gold-of-then.csv --as-of 1
    """
    rated = grid.tiers(options) if as_of is None else grid.tiers(as_of=as_of)
    if tier is None:
        tiers = rated.table()
        names = [[str(name) for name in table.columns] for table in tiers.tables]
        rows = [list(tabular.plain_rows(table)) for table in tiers.tables]
        heads = {"cells": names[1][1], "positive": names[1][2].capitalize(), "other": names[1][3].replace("_", " ")}
        shown = [*map(output.table_of, (caption.format(**heads) for caption in CAPTIONS), rows, names)]
        merged, rules = list(tiers.rows()), {rule.tier: str(rule) for rule in tiers.rules}
        data = {"tiers": merged, "verdicts": rows[-1], "rules": rules, "second_look": tiers.n_second_look}
        notes = [] if as_of is not None else [*grid.desk.basis_notes, *output.other_options_notes(grid, options)]
        output.emit(form, data, shown, merged, simulated=grid.desk.simulated_note, sampled=grid.sample_size)
        output.print_note(*notes)
        return
    basis = [] if as_of is not None else grid.desk.basis_notes
    published = columns == "fc-conan"
    if out is not None:
        output.note_writing()
        with output.status_spinner("writing"):
            run = rated.release(tier, out, published=published, ids=ids)
        output.print_run(run)
        output.print_note(grid.desk.simulated_note, grid.sample_size, *basis)
        return
    first = output.LONGEST_TABLE if form == "table" else None
    frame, n = rated.head(tier, first, published=published, ids=ids)
    own_columns = [str(name) for name in frame.columns]
    parts = (frame.iloc[start : start + output.ROWS_AT_ONCE] for start in range(0, len(frame), output.ROWS_AT_ONCE))
    tier_rows = (row for part in parts for row in tabular.plain_rows(part))
    printed = own_columns[:5] if published else ["pair", "label", "verdict", "n_labels", "hs", "cn"]
    cells = ([row[name] for name in printed] for row in (tier_rows if form == "table" else ()))
    brief = [[shorten(cell, BRIEF) if isinstance(cell, str) else cell for cell in line] for line in cells]
    title, headings = f"{tier.strip().lower()}: {n:,} pairs", [shorten(name, 14) for name in printed]
    table = output.Table(title, headings, brief, n=n, all_rows="`--format csv` prints all, `--out FILE` writes them")
    simulated, sampled = grid.desk.simulated_note, grid.sample_size
    output.emit(form, tier_rows, [table], tier_rows, simulated=simulated, sampled=sampled, columns=own_columns)
    output.print_note(*basis)


@click.command()
@click.argument("pair", type=int)
@look_at_grid
@effective_params(Partition)
@format_option
def explain(grid: Grid, pair: int, options: Partition, form: str) -> None:
    """Explain why a pair is in its tiers, or in none.

    It shows the texts, every answer and decision, and what each tier requires.

    \b
    Example:
      fcpair explain 17
    """
    explanation, facts = grid.tiers(options).explain(pair), grid.facts
    if form != "table":
        rows: list[output.Row] = [
            {"tier": check.tier, "in": check.passed, "why": "; ".join(check.reasons)} for check in explanation.checks
        ]
        output.emit(form, asdict(explanation), (), rows)
        return
    tiers = ", ".join(filter(None, (explanation.tier, *explanation.own_tiers)))
    print_wrapped(f"pair {explanation.cell_id}: {tiers or ('discarded' if explanation.discarded else 'in no tier')}\n")
    others = (about.get("spellings") for about in (explanation.hs_metadata, explanation.cn_metadata))
    hs, cn = (f" (other spellings: {bodies})" if bodies else "" for bodies in others)
    print_wrapped(f"{facts['hs_name']}: {explanation.hs}{hs}\n{facts['cn_name']}: {explanation.cn}{cn}\n")
    for source in explanation.brought_in_by:
        where = f"neighbour {source['rank']} of source CN {source['source_id']}, cosine {source['score']:z.4f}"
        if source["run"]:
            place = f"for HS {source['source_id']} in the run {source['run']}"
            where = f"rank {source['rank']} {place}, score {source['score']:z.4f}"
        print_wrapped(f"brought in: {where}")
    for row in sorted((*explanation.answers, *explanation.decisions), key=lambda row: str(row["at"])):
        if row.get("withdrawn"):
            event = f"{row['round']}: the answer of {row['person']} was withdrawn (run {row['run']})"
        elif "round" in row:
            made_up = " SIMULATED" if row["origin"] == Origin.SIMULATED.value else ""
            given = f" (given as {row['given']})" if row["given"] else ""
            event = f"{row['round']}: {row['person']} answered {row['answer']}{given}{made_up}"
        else:
            by = f" by {row['person']}" if row["person"] else ""
            event = f"adjudicated ({row['rule']}{by}): {row['answer']}"
        note = f" ({row['note']})" if row["note"] else ""
        own = row.get("answered_at", row.get("decided_at"))
        when, given = ((at or "")[:19].replace("T", " ") for at in (row["at"], own))
        print_wrapped(f"{when}  {event}{note}{f'; given at {given}, sent later' if own else ''}")
    if explanation.second_look:
        print_wrapped(
            "It was decided before its labels changed, and waits for a second look; the decision counts until then."
        )
    print_wrapped()
    checks, n_four = explanation.checks, len(TIERS)
    width = max(len(check.tier) for check in checks) + 2
    for check in (*reversed(checks[:n_four]), *checks[n_four:]):
        why = "yes" if check.passed else f"no, because {' and '.join(check.reasons)}"
        print_wrapped(f"{check.tier:{width}}{why}\n{'':{width}}requires {check.rule}")
