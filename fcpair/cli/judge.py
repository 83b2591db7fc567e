"""agreement, adjudicate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from fcpair.adjudicate import Policy, Ties
from fcpair.agree import AgreementOptions
from fcpair.cli.dialogue import Dialogue, check_terminal
from fcpair.cli.options import format_option, own_params, supersede_option, with_study
from fcpair.cli.output import Table, counted, done, emit, say, working
from fcpair.cli.table import Cell
from fcpair.cli.terminal import show, tell
from fcpair.params import Adjudicate
from fcpair.records import Figure

if TYPE_CHECKING:
    from fcpair.agree import Agreement
    from fcpair.kappa import SubsetAgreement
    from fcpair.study import Study

FIGURE_COLUMNS = ("figure", "n", "value", "low", "high", "note")
SUBSET_COLUMNS = ("annotators", "n", "raw", "kappa", "se", "low", "high")


@click.command()
@with_study
@own_params(AgreementOptions)
@format_option
def agreement(study: Study, options: AgreementOptions, form: str) -> None:
    """Measure how far annotators agree.

    It uses the labels as they were given, before adjudication. Intervals come from leaving out one HS and
    one CN at a time, and one annotator where they are to speak for new annotators too; a figure that is
    undefined says why.

    \b
    Example:
      fcpair agreement --weights linear --not-sure drop
      fcpair agreement --intervals annotators
      fcpair agreement --format json
    """
    with working("measuring agreement"):
        measured = study.agreement(options)
    simulated = study.simulated
    figures = (*measured.pooled, *measured.summary)
    rows = [_figure_row(figure) for figure in figures] + [_subset_as_figure(subset) for subset in measured.subsets]
    subsets = [_subset_row(one) for one in measured.subsets]
    subset_notes = _footnotes({" and ".join(one.annotators): _note(one.kappa) for one in measured.subsets})
    tables = (
        Table(
            _rests_on(measured),
            FIGURE_COLUMNS[:-1],
            [list(_figure_row(figure).values())[:-1] for figure in figures],
            _footnotes({figure.name: _note(figure) for figure in figures}),
        ),
        Table(
            "Cohen's kappa of every two annotators; intervals for new HS and CN, the same two",
            SUBSET_COLUMNS,
            subsets,
            subset_notes,
        ),
    )
    emit(form, data={**measured.as_dict(), "simulated": simulated}, tables=tables, rows=rows, simulated=simulated)


def _footnotes(notes: dict[str, str]) -> list[str]:
    """Each remark once, with the figures that it is about."""
    about: dict[str, list[str]] = {}
    for name, note in notes.items():
        for remark in filter(None, note.split("; ")):
            about.setdefault(remark, []).append(name)
    return [f"{'; '.join(names)}: {remark}" for remark, names in about.items()]


def _rests_on(measured: Agreement) -> str:
    options = measured.options
    return (
        f"Agreement: {measured.n_labels:,} labels on {measured.n_pairs:,} pairs, {measured.n_overlapped:,} with two or "
        f"more\nclasses {', '.join(measured.classes)} · weights {options.weights} · not sure: {options.not_sure}\n"
        f"{100 * options.level:g} % intervals for {measured.spoken_for}"
    )


def _figure_row(figure: Figure) -> dict[str, Cell]:
    values = (figure.name, figure.n, figure.value, figure.low, figure.high, _note(figure))
    return dict(zip(FIGURE_COLUMNS, values, strict=True))


def _note(figure: Figure) -> str:
    return f"undefined, because {figure.undefined}" if figure.undefined else figure.note


def _subset_as_figure(subset: SubsetAgreement) -> dict[str, Cell]:
    return _figure_row(subset.kappa) | {"figure": f"Cohen's kappa, {' and '.join(subset.annotators)}"}


def _subset_row(subset: SubsetAgreement) -> list[Cell]:
    row = _figure_row(subset.kappa)
    names = " and ".join(subset.annotators)
    return [names, subset.n, subset.raw_agreement, row["value"], subset.kappa_se, row["low"], row["high"]]


@click.command()
@click.option("--policy", type=click.Choice(get_args(Policy)), help="Decide by rule, without the dialogue.")
@click.option(
    "--ties",
    type=click.Choice(get_args(Ties)),
    default="wait",
    show_default=True,
    help="With a rule: whether ties and `not sure` alone wait for a person or are discarded.",
)
@click.option("--import", "path", type=click.Path(path_type=Path), help="Take the decisions of a file.")
@click.option(
    "--sheet",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the pairs that wait for `--by` as a sheet to fill in (.csv or .xlsx); `--import` takes it back.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be decided, and whether that is what stands.")
@supersede_option
@click.option("--by", default="adjudicator", show_default=True, help="The pseudonym of the person who decides.")
@with_study
def adjudicate(study: Study, **given: Any) -> None:
    """Turn each pair's labels into one.

    Alone it opens a dialogue, one conflict at a time; `--policy` and `--import FILE` decide without it, and `--sheet
    FILE` writes what waits. A policy holds until another one is given: what it decides follows the labels. A dry run
    ends with exit 1 when what it would decide is not what stands.

    \b
    Example:
      fcpair adjudicate --by ana
      fcpair adjudicate --policy majority
      fcpair adjudicate --policy majority --dry-run
      fcpair adjudicate --import decisions.csv
      fcpair adjudicate --sheet conflicts.xlsx --by ana
    """
    said = [flag for flag, name in (("--policy", "policy"), ("--import", "path"), ("--sheet", "sheet")) if given[name]]
    if len(said) > 1:
        raise click.UsageError(f"give either {' or '.join(said)}, not both")
    if given["sheet"]:
        show(f"{given['sheet']}: {study.write_conflicts(given['sheet'], by=given['by']):,} pairs")
        return
    held = study.policy
    options = Adjudicate(given["policy"], given["ties"]) if given["policy"] else held or Adjudicate()
    if given["dry_run"]:
        _compare(study, options)
    elif given["path"]:
        done(study.import_outcomes(given["path"], supersede=given["supersede"]), given["path"])
    elif given["policy"]:
        _apply(study, options, held)
    else:
        check_terminal()
        study.agenda(given["by"])  # says who cannot decide, before anything is written
        if held is None:
            done(study.adjudicate(options))
        Dialogue(study, given["by"]).hold()


def _apply(study: Study, options: Adjudicate, held: Adjudicate | None) -> None:
    """Decide by a policy; say what that discards, and how to take it back."""
    discards = study.adjudicate_dry_run(options).discards
    done(study.adjudicate(options))
    if discards:
        back = (held or Adjudicate()).command
        were = "1 pair was" if discards == 1 else f"{discards:,} pairs were"
        say(f"{were} discarded; `{back}` takes that back")


def _compare(study: Study, options: Adjudicate) -> None:
    result = study.adjudicate_dry_run(options)
    tell(f"would be: {counted(result.counts)}")
    tell(f"{result.standing:,} decisions stand; {result.same:,} of {result.compared:,} compared are the same")
    for what, pairs in (("different", result.different), ("to be reopened", result.reopened)):
        if pairs:
            say(f"{what}: pairs {', '.join(map(str, pairs[:20]))}{' ...' * (len(pairs) > 20)}")
    if result.different or result.reopened:
        raise SystemExit(1)
