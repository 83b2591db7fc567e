"""status, report, log."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.corpus.grids import COLUMNS as GRID_COLUMNS
from fcpair.cli.corpus.grids import COUNTS as GRID_COUNTS
from fcpair.cli.corpus.grids import grid_rows
from fcpair.cli.meanings import shared_option
from fcpair.cli.options import format_option, with_study
from fcpair.cli.output import LONGEST_TABLE, Table, emit, print_message, status_spinner
from fcpair.cli.people.known_scores import COLUMNS as SCORE_COLUMNS
from fcpair.cli.people.known_scores import score_table
from fcpair.cli.receipts import print_receipt
from fcpair.cli.table import Cell, wrap_text
from fcpair.cli.terminal import (
    as_displayed,
    break_line,
    print_footnote,
    print_headline,
    print_raw,
    print_wrapped,
    screen_width,
)
from fcpair.cli.warnings import warn_of_changes, warn_of_sampled, warn_of_simulated

if TYPE_CHECKING:
    from fcpair.records import RunRecord
    from fcpair.study import Study

DIGEST_SHOWN = 16  # characters of a SHA-256
_DIGEST = re.compile("[0-9a-f]{64}")
LONGEST_VALUE = 48  # of a parameter or count in the log
PERSON_COLUMNS = ("name", "role", "retired", "open", "done", "skipped", "withdrawn", "decided")
PAIRS_ARE = {
    "no_label": "no label yet",
    "wait_for_person": "labelled, wait for a person",
    "wait_for_policy": "labelled, wait for a policy",
    "discarded": "discarded",
    "no_verdict": "decided, no verdict yet",
    "valid": "decided, valid",
    "not_valid": "decided, not valid",
}


@click.command()
@format_option
@with_study
def status(study: Study, form: str) -> None:
    """Show the state of the study and what is next.

    \b
    Example:
      fcpair status --format json
    """
    study.examine()
    state = study.status()
    people = state["people"]
    title = state["study"]["title"] or state["study"]["file"]
    tables = []
    if state["stages"]:
        tables.append(Table(f"{title}: what each stage made", ("stage", "rows"), list(state["stages"].items())))
    if state["grids"]:
        rows = [[row[name] for name in GRID_COLUMNS] for item in state["grids"] for row in grid_rows(item)]
        tables.append(Table("Grids" if state["stages"] else f"{title}: grids", GRID_COLUMNS, rows))
    if people:
        tables.append(Table("People", PERSON_COLUMNS, [[row[name] for name in PERSON_COLUMNS] for row in people]))
    if known_rows := state.get("known_pairs"):
        tables.append(score_table(known_rows, ("grid", *SCORE_COLUMNS)))
    if state["rounds"]:
        columns = list({item: None for counts in state["rounds"].values() for item in counts})
        rounds = [[name, *(counts.get(item, 0) for item in columns)] for name, counts in state["rounds"].items()]
        tables.append(Table("Rounds", ("round", *columns), rounds))
    if state["adjudications"]:
        tables.append(Table("Adjudications", ("rule", "pairs"), list(state["adjudications"].items())))
    if sum(state["pairs"].values()):
        tables.append(
            Table("Pairs", ("each pair once", "pairs"), [[PAIRS_ARE[at], n] for at, n in state["pairs"].items()])
        )
    emit(form, data=state, tables=tables, rows=_facts(state), simulated=state["simulated"])
    if study.exposure_warning:
        print_message(f"Note: {study.exposure_warning}.")
    if form == "table":
        if (folding := state["study"]["folding"]) != "none":
            print_wrapped(f"Folding: {folding}.")
        for note in state["notes"]:
            print_wrapped(f"Note: {note}.")
        print_wrapped(f"Next: {state['next']}")
        for step in state["also"]:
            print_wrapped(f"Also: {step}")


def _facts(state: dict[str, Any]) -> list[dict[str, Cell]]:
    """The status as one long table of what is counted."""
    facts: list[dict[str, Cell]] = []
    for part in ("stages", "overlap", "adjudications", "pairs", "judgements"):
        facts += [{"part": part, "of": "", "what": name, "n": n} for name, n in state[part].items()]
    facts += [{"part": "sampled", "of": "", "what": name, "n": n} for name, n in state.get("sampled", {}).items()]
    for name, counts in state["rounds"].items():
        facts += [{"part": "rounds", "of": name, "what": what, "n": n} for what, n in counts.items()]
    for what in ("lost_verdicts", "verdicts_not_due"):
        name = what.removeprefix("verdicts_").removesuffix("_verdicts")
        facts.append({"part": "verdicts", "of": "", "what": name, "n": state[what]})
    for grid in state["grids"]:
        facts += [
            {"part": "grids", "of": f"{grid['name']} / {of['name']}", "what": what, "n": of[what]}
            for of in grid["rounds"]
            for what in GRID_COUNTS
        ]
    for row in state["people"]:
        facts += [{"part": "people", "of": row["name"], "what": what, "n": row[what]} for what in PERSON_COLUMNS[3:]]
    for row in state.get("known_pairs", ()):
        of = f"{row['grid']} / {row['name']} / {row['use']}"
        facts += [{"part": "known_pairs", "of": of, "what": what, "n": row[what]} for what in SCORE_COLUMNS[2:-1]]
    return facts


@click.command()
@shared_option("--out", required=True, type=click.Path(path_type=Path), detail="An HTML file.")
@with_study
def report(study: Study, out: Path) -> None:
    """Write a self-contained HTML report.

    \b
    Example:
      fcpair report --out report.html
    """
    with status_spinner("writing the report"):
        study.report(out)
    first_grid = study.grid(study.grids[0])
    warn_of_simulated(first_grid)
    warn_of_sampled(first_grid)
    warn_of_changes(first_grid)
    print_receipt(f"{out}: written", {"file": str(out)})


@click.command()
@format_option
@with_study
def log(study: Study, form: str) -> None:
    """List every run of every stage.

    With its parameters, seeds, counts, model and version.

    \b
    Example:
      fcpair log --format json
    """
    runs = study.log()
    if form == "table":
        _print_runs(runs)
        return
    data = [{name: value for name, value in vars(run).items() if name != "notes"} for run in runs]
    emit(form, data=data, tables=(), rows=[_log_row(run) for run in runs])


def _print_runs(runs: Sequence[RunRecord]) -> None:
    """Print each run in a line, and its parameters and counts below it."""
    print_headline("Runs")
    print_raw()
    width = len(str(runs[-1].id)) if runs else 0
    for run in runs[:LONGEST_TABLE]:
        head = f"  {run.id:>{width}}   {run.at[:16].replace('T', ' ')}   {run.stage}"
        print_raw(*break_line(as_displayed(head), screen_width()))
        for name, values in (("parameters", run.params), ("counts", run.counts)):
            if text := _format_values(values):
                _print_indented(as_displayed(f"{name}: {text}"), width + 5)
    if len(runs) > LONGEST_TABLE:
        print_footnote(f"the first {LONGEST_TABLE:,} of {len(runs):,} rows; `--format csv` prints all")


def _print_indented(text: str, indent: int) -> None:
    """Print a text that far in, and what does not fit into its first line two places further."""
    first, *more = wrap_text(text, screen_width() - indent - 2)
    print_raw(" " * indent + first, *(" " * (indent + 2) + line for line in more))


def _format_values(values: dict[str, Any]) -> str:
    """The values that were given, in a line; a scheme, paths and digests in short."""
    given_values = {
        name: value for name, value in values.items() if value not in (None, "", [], {}) and name != "scheme"
    }
    return " · ".join(f"{name} {_shorten(value)}" for name, value in given_values.items())


def _shorten(value: Any) -> str:
    """A value in short: the beginning of a text in whole words, or of a digest; the end of a path."""
    if isinstance(value, float):
        return f"{value:.4g}"
    text = " ".join((value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).split())
    if len(text) <= LONGEST_VALUE:
        return text
    if _DIGEST.fullmatch(text):
        return f"{text[:DIGEST_SHOWN]}…"
    beginning, space, _ = text[:LONGEST_VALUE].rpartition(" ")
    return f"{beginning} …" if space else f"…{text[-LONGEST_VALUE + 1 :]}"


def _log_row(run: RunRecord) -> dict[str, Cell]:
    plain = {
        name: json.dumps(value, ensure_ascii=False) for name, value in (("params", run.params), ("counts", run.counts))
    }
    model = json.dumps(run.model) if run.model else None
    return {"id": run.id, "at": run.at, "stage": run.stage, **plain, "model": model, "version": run.version}
