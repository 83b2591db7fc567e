"""init, run RECIPE, recipe, status, grids, log, note, report, methods."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from fcpair.cli import output, terminal
from fcpair.cli.options import (
    PATH,
    close_at_end,
    format_option,
    look_at_study,
    option,
    params,
    shared_option,
    study_option,
    with_grid,
    with_study,
)
from fcpair.cli.output import studies
from fcpair.cli.people import PERSON_COLUMNS, SCORE_COLUMNS, SCORE_NOTE
from fcpair.errors import RecipeEndError
from fcpair.params import MethodsFormat, Note, Setup

if TYPE_CHECKING:
    from fcpair.grid import Grid
    from fcpair.study import Place, Study

DIGEST_SHOWN = 16  # characters of a SHA-256
_DIGEST = re.compile("[0-9a-f]{64}")
LONGEST_VALUE = 48  # of a parameter or count in the log
GRID_COLUMNS = ("grid", "rows", "columns", "cells", "round", "role", "open", "done", "vacant")
GRID_COUNTS = GRID_COLUMNS[6:]
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
@look_at_study
def status(study: Study, form: str) -> None:
    """Show the state of the study and what is next.

    \b
    Example:
      fcpair status --format json
    """
    study.examine()
    state = study.status()
    title = state["study"]["title"] or state["study"]["file"]
    grid_rows = [row for item in state["grids"] for row in _grid_rows(item)]
    columns = list({item: None for counts in state["rounds"].values() for item in counts})
    rounds = [[name, *(counts.get(item, 0) for item in columns)] for name, counts in state["rounds"].items()]
    pairs = [[PAIRS_ARE[at], n] for at, n in state["pairs"].items()] if any(state["pairs"].values()) else []
    all_tables = (
        output.Table(f"{title}: what each stage made", ("stage", "rows"), list(state["stages"].items())),
        output.table_of("Grids" if state["stages"] else f"{title}: grids", grid_rows, GRID_COLUMNS),
        output.table_of("People", state["people"], PERSON_COLUMNS),
        output.table_of("Known pairs", state.get("known_pairs", ()), ("grid", *SCORE_COLUMNS), [SCORE_NOTE]),
        output.Table("Rounds", ("round", *columns), rounds),
        output.Table("Adjudications", ("rule", "pairs"), list(state["adjudications"].items())),
        output.Table("Pairs", ("each pair once", "pairs"), pairs),
    )
    tables = [table for table in all_tables if table.rows]
    output.emit(form, state, tables, _facts(state), simulated=state["simulated"])
    output.print_note(study.exposure_warning)
    if form == "table":
        if (folding := state["study"]["folding"]) != "none":
            terminal.print_wrapped(f"Folding: {folding}.")
        for note in state["notes"]:
            terminal.print_wrapped(f"Note: {note}.")
        terminal.print_wrapped(f"Next: {state['next']}")
        for step in state["also"]:
            terminal.print_wrapped(f"Also: {step}")


def _facts(state: dict[str, Any]) -> list[output.Row]:
    """The status as one long table of what is counted."""
    rounds = [(f"{grid['name']} / {of['name']}", of) for grid in state["grids"] for of in grid["rounds"]]
    known = [(f"{row['grid']} / {row['name']} / {row['use']}", row) for row in state.get("known_pairs", ())]
    parts = (
        *((part, "", state[part]) for part in ("stages", "overlap", "adjudications", "pairs", "judgements")),
        ("sampled", "", state.get("sampled", {})),
        *(("rounds", name, counts) for name, counts in state["rounds"].items()),
        ("verdicts", "", {"lost": state["lost_verdicts"], "not_due": state["verdicts_not_due"]}),
        *(("grids", name, {at: of[at] for at in GRID_COUNTS}) for name, of in rounds),
        *(("people", row["name"], {at: row[at] for at in PERSON_COLUMNS[3:]}) for row in state["people"]),
        *(("known_pairs", name, {at: row[at] for at in SCORE_COLUMNS[2:-1]}) for name, row in known),
    )
    return [{"part": part, "of": of, "what": what, "n": n} for part, of, counts in parts for what, n in counts.items()]


@click.command()
@format_option
@look_at_study
def grids(study: Study, form: str) -> None:
    """List the grids, their sides and rounds.

    A round that is not yet assigned shows `-` in place of counts.

    \b
    Example:
      fcpair grids
      fcpair grids --format json
    """
    listed = study.grid_overview()
    output.print_rows(form, "Grids", [row for item in listed for row in _grid_rows(item)], GRID_COLUMNS, data=listed)


def _grid_rows(grid: dict[str, Any]) -> list[dict[str, terminal.Cell]]:
    """A grid as rows of a table, one for each of its rounds."""
    sides = {"grid": grid["name"], **{name: grid[name] for name in ("rows", "columns", "cells")}}
    return [
        {**sides, "round": round_["name"], "role": round_["role"]}
        | {name: round_[name] if round_["dealt"] else "-" for name in GRID_COUNTS}
        for round_ in grid["rounds"]
    ]


@click.command()
@shared_option("--out", required=True, type=PATH, detail="An HTML file.")
@with_study
def report(study: Study, out: Path) -> None:
    """Write a self-contained HTML report.

    \b
    Example:
      fcpair report --out report.html
    """
    with output.status_spinner("writing the report"):
        study.report(out)
    output.warn_of_basis(study.grid(study.grids[0]))
    output.print_receipt(f"{out}: written", {"file": str(out)})


@click.command()
@format_option
@look_at_study
def log(study: Study, form: str) -> None:
    """List every run of every stage.

    With its parameters, seeds, counts, model and version.

    \b
    Example:
      fcpair log --format json
    """
    runs = study.log()
    if form == "table":  # each run in a line, and its parameters and what it did below it
        terminal.print_headline("Runs")
        terminal.print_raw()
        width = len(str(runs[-1].id)) if runs else 0
        for run in runs[: output.LONGEST_TABLE]:
            head = f"  {run.id:>{width}}   {run.at[:16].replace('T', ' ')}   {run.stage}"
            terminal.print_raw(*terminal.break_line(terminal.as_displayed(head), terminal.screen_width()))
            # Those that were given; a scheme, paths and digests in short.
            values = {name: value for name, value in run.params.items() if value not in (None, "", [], {})}
            given = " · ".join(f"{name} {_shorten(value)}" for name, value in values.items() if name != "scheme")
            told = _DIGEST.sub(lambda digest: f"{digest[0][:DIGEST_SHOWN]}…", run.told)
            for text in filter(None, (given and f"parameters: {given}", told)):
                first, *more = terminal.wrap_text(terminal.as_displayed(text), terminal.screen_width() - width - 7)
                terminal.print_raw(" " * (width + 5) + first, *(" " * (width + 7) + line for line in more))
        if len(runs) > output.LONGEST_TABLE:
            terminal.print_footnote(
                f"the first {output.LONGEST_TABLE:,} of {len(runs):,} rows; `--format csv` prints all"
            )
        return
    data = [{name: value for name, value in vars(run).items() if name != "notes"} for run in runs]
    rows: list[output.Row] = [
        {
            **{"id": run.id, "at": run.at, "stage": run.stage},
            **{name: json.dumps(getattr(run, name), ensure_ascii=False) for name in ("params", "counts")},
            **{"model": json.dumps(run.model) if run.model else None, "version": run.version},
        }
        for run in runs
    ]
    output.emit(form, data, (), rows)


def _shorten(value: Any) -> str:
    """A value in short: the beginning of a text in whole words, or of a digest; the end of a path."""
    if isinstance(value, float):
        return f"{value:.4g}"
    text = " ".join((value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).split())
    if len(text) <= LONGEST_VALUE:
        return text
    if _DIGEST.fullmatch(text):
        return f"{text[:DIGEST_SHOWN]}…"
    return terminal.shorten(text, LONGEST_VALUE) if " " in text[:LONGEST_VALUE] else f"…{text[-LONGEST_VALUE + 1 :]}"


@click.command()
@click.argument("text")
@params(Note, without=("text",))
@with_grid
def note(grid: Grid, text: str, options: Note) -> None:
    """Note in the log what happened outside of the program.

    For what a paper will have to mention, such as two annotators who talked. It changes nothing else but the flag of a
    pair, and no release publishes it.

    \b
    Example:
      fcpair note "Two annotators talked about it on Tuesday." --pair 5
      fcpair note "Is irony appropriate?" --pair 5 --flag set
    """
    output.print_run(grid.desk.add_note(replace(options, text=text)))


@click.command()
@option(
    "--markup",
    "form",
    type=click.Choice(get_args(MethodsFormat)),
    help="The markup of the text (default: as the file of --out, or markdown).",
)
@shared_option("--out", type=PATH, detail="A .md or .tex file, or an output folder (default: print).")
@option("--evaluation", type=int, metavar="RUN", help="The evaluation to describe, by its number in the log.")
@with_study
def methods(study: Study, form: MethodsFormat | None, out: Path | None, evaluation: int | None) -> None:
    """Write the methods section of a paper.

    It says what was drawn, retrieved, assigned, labelled, agreed, adjudicated, validated and graded, as it stands now,
    with the seeds and models of the log, and cites the source of each statistic. With `--out`, the references are
    written beside it, in a `.bib` file. Of several evaluations, the newest by the study's own rules of tiers is
    described; standard error says which, and whether answers are newer.

    \b
    Example:
      fcpair methods
      fcpair methods --out paper/methods.tex
      fcpair methods --evaluation 12
    """
    section = study.methods(evaluation=evaluation)
    output.print_note(*section.notes)
    if out is None:
        text = section.text(form or "markdown")
        receipt = {"markup": form or "markdown", "text": text, "references": section.bib, "notes": list(section.notes)}
        output.print_receipt(text, receipt, partial(terminal.print_machine, end=""))
        return
    for path in section.write(out, form):
        output.print_receipt(f"methods: {path}", {"path": str(path)})


@click.command()
@params(Setup, without=("scheme",))
@study_option
def init(study: Place, options: Setup) -> None:
    """Create a new, empty study.

    A label scheme of your own comes from a recipe: see `fcpair run`.

    \b
    Example:
      fcpair init --title "Cyclists and night owls" --guidelines guidelines.md
    """
    made = studies.Study.create(study, options)
    made.close()
    output.print_receipt(f"{made.place}: a new study", {"study": str(made.place), "made": True})


@click.command()
@click.argument("recipe", type=PATH)
@shared_option("--loosen", is_flag=True, detail="The recipe may do so.")
@study_option
def run(study: Place, recipe: Path, loosen: bool) -> None:
    """Run a recipe as far as it goes.

    It goes grid by grid, starts at the first stage that is not done, and ends where people have to answer, or where the
    recipe has no section for the next stage. The study is created if it does not exist; one whose first run fails is
    not kept. Run it again when labels or verdicts have come in. A study that differs from the recipe is refused with
    the differences.

    \b
    Example:
      fcpair run examples/recipe.toml --study demo.db
    """
    from fcpair.recipe import load_recipe

    loaded = load_recipe(recipe)
    first = not studies.Study.exists(study)
    create_study = partial(studies.Study.create, study, loaded.setup, grids=() if loaded.has_main else loaded.grids)
    opened = close_at_end(create_study() if first else studies.Study(study))
    try:
        with output.progress("encoding") as report:
            for step in opened.walk(loaded, progress=report, loosen=loosen):
                output.print_run(step)
    except BrokenPipeError:
        raise  # nobody reads on, but what was done stands
    except RecipeEndError as end:
        output.print_note(end)
    except BaseException as error:
        if not first:
            raise
        opened.remove()
        output.print_message(f"{opened.place} was not kept, because its first run failed")
        if isinstance(error, KeyboardInterrupt):
            raise SystemExit(terminal.STOPPED) from None
        raise
    state = opened.status()
    lines = [f"next: {state['next']}", *(f"also: {step}" for step in state["also"])]
    output.print_receipt("\n".join(lines), {"next": state["next"], "also": state["also"]}, terminal.print_wrapped)
    if loaded.extend[len(opened.recipe().extend) :]:
        output.print_note("the recipe extends the grid when all is done: release what there is, then run it again")
    desk = opened.grid(opened.grids[0]).desk
    output.print_note(desk.simulated_note, *desk.basis_notes)


@click.command()
@shared_option("--format", "form", choices=("toml", "json"), callback=output.collect_receipts)
@with_study
def recipe(study: Study, form: str) -> None:
    """Print the current recipe of the study.

    It is the recipe that was run first, with all that was changed since, on a page or by a command. `fcpair run` runs
    what is printed, and changes nothing that is done. For a study that was made without a recipe, it is made from the
    study's settings.

    \b
    Example:
      fcpair recipe
    """
    import tomllib

    text = study.recipe_text()
    if form == "json":
        output.print_json(tomllib.loads(text))
    else:
        terminal.print_machine(text, end="")
