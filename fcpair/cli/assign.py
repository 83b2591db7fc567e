"""assign, calibrate, validate and plan: who answers what, and how much overlap that takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.acts import add_acts
from fcpair.cli.given_options import take_effect
from fcpair.cli.options import (
    FILE,
    FOLDER,
    PATH,
    FigureFolder,
    close_at_end,
    figures_option,
    format_option,
    grid_option,
    ids_option,
    option,
    params,
    recipe_params,
    redo_option,
    shared_option,
    sheet_option,
    study_option,
    supersede_option,
    with_grid,
    write_figures,
)
from fcpair.cli.output import (
    Table,
    answer_files,
    emit,
    footnotes,
    for_each_file,
    plots,
    print_message,
    print_run,
    status_spinner,
    studies,
)
from fcpair.cli.terminal import Cell
from fcpair.errors import InputError, StageError
from fcpair.files.answers.sheets import SHEET_FORMATS, SheetFormat
from fcpair.pair_filter import FilterState, parse_query
from fcpair.param_values import flag_of
from fcpair.params import DEFAULT_SCHEME, Assign, Ids, Plan, Power

if TYPE_CHECKING:
    from fcpair.grid import Grid
    from fcpair.stages.assignment.overlap_plan import OverlapPlan
    from fcpair.stages.assignment.width_sources import PredictedWidth


@click.command()
@recipe_params(Assign)
@redo_option
@shared_option(
    "--more",
    is_flag=True,
    detail="Assign what is not yet assigned, raise the overlap to `--overlap`, and give late joiners their share.",
)
@option(
    "--pairs-file",
    type=FILE,
    help="With `--more`: ask for one label more of each pair whose number is in the column `pair` of this table.",
)
@option(
    "--cells",
    metavar="FILE|QUERY",
    help="Assign these pairs alone, which nobody was given yet, in their order: those in the column `pair` of a table, "
    "or what a query of the lead's Grid finds, such as `hs.topic=cats`.",
)
@option("--batch", type=click.IntRange(1), help="With `--cells`: so many pairs at a time, each with its own overlap.")
@option(
    "--close", is_flag=True, help="End open assignment: remove what nobody has; what people hold stays theirs for good."
)
@shared_option("--round", "round_", metavar="NAME", detail="In a planned grid, it is assigned by its own options.")
@with_grid
def assign(
    grid: Grid,
    said: dict[str, Any],
    redo: bool,
    more: bool,
    cells: str | None,
    batch: int | None,
    close: bool,
    round_: str | None,
    pairs_file: Path | None,
) -> None:
    """Assign the pairs to annotators.

    `--overlap` gives some pairs to two or more annotators. `--more` adds to what is assigned: answers and open work
    stay, but people who joined since take over an even share of what is open. With `--open`, nobody has a shard: people
    who ask in the browser are given the next pairs that they may have, and what they leave goes to others after
    `--lease-minutes`. In a planned grid, `--round` is assigned to those who answer it, as its plan says.

    \b
    Example:
      fcpair assign --annotators 9 --overlap 2:0.126 --overlap 3:0.05 --seed 13
      fcpair assign --more --overlap 2:0.3
      fcpair assign --more --pairs-file pairs.csv
      fcpair assign --cells pairs.csv --batch 500 --overlap 2:0.2
      fcpair assign --open --overlap 2:0.126
      fcpair assign --grid rate --round rate
    """
    if more and redo:
        raise click.UsageError("give either --more or --redo, not both")
    if round_ is not None and (more or said):
        raise click.UsageError("a round is assigned as planned; with --round, give only --redo or nothing")
    if pairs_file and (not more or said):
        raise click.UsageError("give --pairs-file with --more alone")
    if cells and (more or redo or close or round_ is not None or pairs_file):
        raise click.UsageError("give --cells without --more, --redo, --close, --round and --pairs-file")
    if cells and said.keys() & {"annotator_groups", "order"}:
        raise click.UsageError("pairs of --cells keep their order, and have no groups; omit --order, --annotator-group")
    if close and (more or redo or round_ is not None or said):
        raise click.UsageError("give --close alone")
    with status_spinner("assigning pairs"):
        if close:
            run = grid.desk.close_open_assignment()
        elif round_:
            run = grid.assign_round(round_, redo=redo)
        else:
            pairs = answer_files.read_pair_numbers(pairs_file) if pairs_file else None
            chosen = _chosen_pairs(grid, cells) if cells else None
            options = grid.recipe_options(Assign, more=more, **said)
            run = grid.assign(options, redo=redo, more=more, pairs=pairs, cells=chosen, batch=batch)
    print_run(run)


def _chosen_pairs(grid: Grid, said: str) -> Path | list[int]:
    """The list that a file has, or the pairs that nobody was given of those that a query finds."""
    if "=" not in said or Path(said).exists():
        return Path(said)
    wanted = parse_query(said)
    found = grid.find_pairs(**replace(wanted, state=wanted.state or FilterState.UNASSIGNED.value).chosen)
    if not found.total:
        raise StageError("no pair that matches is left to be given to anybody")
    return found.to_frame()["pair"].tolist()


CALIBRATED = ("name", "answered", "open", "again", "again open")


@click.group()
def calibrate() -> None:
    """A first batch that everybody answers, discusses, and answers again.

    \b
    Example:
      fcpair calibrate start --pairs 20 --annotators 3
      fcpair calibrate discuss
      fcpair calibrate close
      fcpair calibrate show
    """


add_acts(calibrate)


@calibrate.command()
@format_option
@with_grid
def show(grid: Grid, form: str) -> None:
    """Show who has answered, and agreement before and after the discussion.

    \b
    Example:
      fcpair calibrate show
      fcpair calibrate show --format json
    """
    with status_spinner("measuring agreement"):
        result, simulated = grid.calibration.measure(), grid.calibration.simulated_note
    after = "" if result.n_differing_after is None else f", after the discussion on {result.n_differing_after:,}"
    title = (
        f"Calibration of round {result.round}: {result.n_pairs:,} pairs, {result.phase}; counts: {result.counts}\n"
        f"people differ on {result.n_differing:,}{after}"
    )
    tables = [Table(title, CALIBRATED, [[*vars(person).values()] for person in result.people])]
    interval = f"{100 * result.level:g} % interval"
    columns = ("figure", "before", interval, "n", "after", f"{interval} ", "n ")
    parts = dict.fromkeys(change.part for change in result.figures)
    for part in parts:
        rows = [row for row in result.rows() if row["part"] == part]
        notes = {row["figure"]: f"undefined, because {row['undefined']}" for row in rows if row["undefined"]}
        of_part = f" on {part}" if len(parts) > 1 else ""
        title = f"Agreement{of_part} before and after the discussion, over all pairs of the batch"
        cells = [[row["figure"], *_figure_cells(row, "before"), *_figure_cells(row, "after")] for row in rows]
        tables.append(Table(title, columns, cells, footnotes(notes)))
    emit(form, result, tables, simulated=simulated)


def _figure_cells(row: dict[str, Any], when: str) -> list[Cell]:
    low, high = row[f"{when}_low"], row[f"{when}_high"]
    return [row[when], None if low is None else f"{low:.3f} to {high:.3f}", row[f"{when}_n"]]


@click.group()
def validate() -> None:
    """Check labels: assign, sheets, import, withdraw.

    \b
    Example:
      fcpair validate assign --validators 4 --pairs 4000 --seed 13
    """


add_acts(validate)


@validate.command()
@click.argument("folder", type=FOLDER)
@shared_option(
    "--sheet-format",
    "form",
    choices=SHEET_FORMATS,
    detail="A CSV, or an Excel workbook with the answers to choose from and the guidelines.",
)
@ids_option
@with_grid
def sheets(grid: Grid, folder: Path, form: SheetFormat, ids: Ids | None) -> None:
    """Write each validator's open pairs as a sheet to fill in.

    The column `verdict` takes `agree`, `disagree` or `skip`; in a blind round `own_label` takes a label instead.
    A file with answers in it is never overwritten.

    \b
    Example:
      fcpair validate sheets verdicts/
      fcpair validate sheets verdicts/ --sheet-format xlsx
    """
    from fcpair.cli.answers import report_sheets

    written = grid.sheets.write_verdicts(folder, form, ids=ids)
    report_sheets(folder, form, "pairs", written, grid.sheets.old(folder, checks=True), "fcpair validate import")


@validate.command("import")
@click.argument("paths", nargs=-1, required=True, type=PATH)
@supersede_option
@sheet_option
@with_grid
def import_(grid: Grid, paths: tuple[Path, ...], supersede: bool) -> None:
    """Record verdicts from files, each file whole or not at all.

    They have the columns `pair` (or `hs` and `cn`), `validator`, `verdict` and, if known, `seconds`, `time`, `note`.

    \b
    Example:
      fcpair validate import verdicts.csv
    """
    for_each_file(paths, lambda path: grid.import_verdicts(path, supersede=supersede))


COSTS = ("overlap", "labels", "hours", "pairs each", "h each", "conflicts", "diamond", "gold")
SHORT_NAMES = {
    **{"Krippendorff's ": "", "Cohen's kappa of two": "kappa of two"},
    **{f"Fleiss' kappa, {n} labels": f"Fleiss {n}" for n in (2, 3)},
}


@click.command()
@take_effect("--difference", "--sd", "--system", "--comparisons", only_with="--power")
@take_effect(*map(flag_of, fields(Plan)), "--scheme", "--save", "--figures", not_with="--power")
@params(Plan)
@option(
    "--power",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Plan the number of HS instead, so that a difference of two systems is found with this probability.",
)
@params(Power, without=("power",), name="power_options")
@option("--scheme", help=f"The question that the labels answer, without a study.  [default: {DEFAULT_SCHEME}]")
@option("--save", is_flag=True, help="Write the recommended overlap into the study's recipe.")
@figures_option
@format_option
@grid_option
@study_option
def plan(
    options: Plan,
    power: float | None,
    power_options: Power,
    scheme: str | None,
    save: bool,
    figures: FigureFolder | None,
    form: str,
    grid: str | None,
    study: Any,
) -> None:
    """Plan how much overlap is needed, and what it costs.

    For a ladder of overlaps it prints labels, hours, conflicts, tiers, and how wide the intervals will be that
    `agreement` prints. With --width it recommends the least overlap that is enough. Texts, people, seconds and the
    labels of a pilot are the study's; without a study, give --hs, --cn and --annotators. With --power it says how many
    HS tell two systems apart.

    \b
    Example:
      fcpair plan --hs 45 --cn 129 --annotators 9 --hs-effect 0.2 --cn-effect 0.3 --width 0.2
      fcpair plan --pilot pilot.csv --width 0.3 --save
      fcpair plan --power 0.8 --difference 0.05 --sd 0.2
    """
    opened = None
    if studies.Study.exists(study):
        opened = close_at_end(studies.Study(study)).grid(grid)
    elif grid is not None:
        raise click.UsageError(f"--grid {grid} names a grid of a study, but there is none at {study}")
    if power is not None:
        _plan_power(opened, replace(power_options, power=power), form)
        return
    if save and (opened is None or options.width is None):
        raise click.UsageError("--save needs a study, and --width, for which an overlap is recommended")
    if scheme is not None and opened is not None:
        raise click.UsageError("--scheme is for a plan without a study; this one has its question")
    with status_spinner("planning"):
        found = opened.plan(options) if opened else _plan_new(options, scheme or DEFAULT_SCHEME)
    if save and opened:
        run = opened.save.overlap(found)
        if form == "table":
            print_run(run)
    if figures is not None:
        write_figures(figures, plots.plan_figures(found))
    emit(form, found, _tables(found), simulated=opened.desk.simulated_note if opened else None)
    if form == "table" and found.next_step:
        print_message(f"{found.next_step[:1].upper()}{found.next_step[1:]}.")
    elif form == "table" and found.recommended:
        shares = ", ".join(f"{n} = {share:g}" for n, share in found.recommended.items())
        print_message(f"In the recipe:\n[assign]\noverlap = {{ {shares} }}")


def _plan_new(options: Plan, scheme: str) -> OverlapPlan:
    from fcpair.stages.assignment.overlap_plan import plan_grid
    from fcpair.stages.questions.labels import read_labels

    if None in (options.hs, options.cn, options.annotators):
        raise click.UsageError("there is no study here: give --hs, --cn and --annotators, or name a study with --study")
    question = read_labels(scheme)
    return plan_grid(
        options, question, answer_files.read_pilot_labels(options.pilot, question) if options.pilot else None
    )


def _plan_power(grid: Grid | None, options: Power, form: str) -> None:
    from fcpair.evaluate.outcome import ALPHA
    from fcpair.stages.stats.paired_tests import describe_assumed, plan_hs

    if grid is not None:
        with status_spinner("planning"):
            found = grid.plan_power(options)
    elif options.sd is None:
        raise InputError("there is no study whose systems could be compared; give the standard deviation as `sd`")
    else:
        found = plan_hs(options, ALPHA, options.sd, describe_assumed(options.sd))
    options = found.options
    corrected = f", corrected for {options.comparisons:,} comparisons by Holm" if options.comparisons > 1 else ""
    notes = [f"paired randomisation test, two-sided, p below {found.alpha:g}{corrected}", *found.basis]
    if known := found.known:
        notes.append(f"the {known.hs:,} HS of the study find {known.difference:g} with power {known.power:.2f}")
    aim = f"find a difference of {found.needed.difference:g} in NDCG@10 with power {options.power:g}"
    rows = [[*row.values()] for row in found.rows()]
    emit(form, found, [Table(f"{found.needed.hs:,} HS {aim}", ("difference", "HS", "power"), rows, notes)])


def _tables(found: OverlapPlan) -> Iterator[Table]:
    of_all, figure = found.rungs[0].expected, _short(found.figure)
    shares: list[str] = []
    costs: list[list[Cell]] = []
    for rung in found.rungs:
        of, is_assigned = rung.expected, bool(found.assigned) and rung.overlap == found.assigned
        shares.append(f"{rung.share:.4g}{' *' * (rung is found.recommended_rung)}{' =' * is_assigned}")
        hours = (f"{of.hours:.1f}", round(of.pairs_each), f"{of.hours_each:.1f}")
        costs.append([shares[-1], of.labels, *hours, *map(round, (of.conflicts, of.diamond, of.gold))])
    notes = [
        "overlap: share of the pairs with several labels; pairs each, h each: pairs and hours of a person",
        f"at any overlap, silver has {of_all.silver:,.0f} pairs and bronze {of_all.bronze:,.0f}",
    ]
    if found.assigned:
        notes.append("=: what is assigned already, which can only be raised")
    if found.recommended:
        notes.append(f"*: the least overlap at which {figure} is as narrow as wished")
    title = f"{found.grid.n_hs:,} HS x {found.grid.n_cn:,} CN, {found.grid.n_annotators} annotators: costs and yields"
    yield Table(title, COSTS, costs, notes)
    widths = [{of.name: of for of in rung.widths} for rung in found.rungs]
    names = [name for name in widths[0] if any(of[name].width is not None for of in widths)]
    rows = [[share, *(_cell(of[name]) for name in names)] for share, of in zip(shares, widths, strict=True)]
    reasons: dict[str, dict[str, None]] = {}  # why figures have no width at some overlaps
    for width in (width for rung in found.rungs for width in rung.widths if width.undefined):
        reasons.setdefault(str(width.undefined), {})[_short(width.name)] = None
    undefined = [f"{', '.join(of)}: no width where {reason}" for reason, of in reasons.items()]
    notes = [*undefined, *found.basis, *_range_notes(found, figure), *found.advice]
    title = f"Expected widths of the {100 * found.options.level:g} % intervals that `agreement` prints"
    yield Table(title, ("overlap", *map(_short, names)), rows, notes)


def _short(name: str) -> str:
    for long, short in SHORT_NAMES.items():
        name = name.replace(long, short)
    return name


def _cell(width: PredictedWidth) -> Cell:
    """The width, or its range where a pilot leaves one open."""
    if width.width is None:
        return None
    return f"{width.width:.3f}" if width.low is None else f"{width.low:.2f} to {width.high:.2f}"


def _range_notes(found: OverlapPlan, figure: str) -> Iterator[str]:
    """Yield what ranges are, and which pilot would halve that of the figure wished for."""
    if not any(width.low is not None for rung in found.rungs for width in rung.widths):
        return
    yield "widths are ranges that the pilot leaves open, which hold the width in 8 of 10 studies"
    if found.recommended:
        yield (
            "* rests on the high end of the range, so that the interval is rarely wider than wished; the likeliest "
            f"width is as wished from {found.likeliest_share:.4g} on"
        )
    pilot = "no pilot on this grid"
    if found.halving is not None:
        n_pairs, n_hs, n_cn = found.halving
        pilot = f"a pilot of {n_pairs:,} pairs with several labels, on {n_hs:,} HS and {n_cn:,} CN,"
    yield f"{pilot} would halve the range of {figure}"
