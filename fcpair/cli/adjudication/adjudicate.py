"""adjudicate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from fcpair.cli.adjudication.dialogue import Dialogue, check_terminal
from fcpair.cli.given_options import take_effect
from fcpair.cli.meanings import shared_option
from fcpair.cli.old_spellings import with_old_spellings
from fcpair.cli.options import sheet_option, supersede_option, with_grid
from fcpair.cli.output import format_counts, print_message, print_run
from fcpair.cli.reading import note_trial
from fcpair.cli.receipts import print_receipt
from fcpair.cli.terminal import print_wrapped
from fcpair.errors import SettingError
from fcpair.params import Adjudicate, CaseRanking, Policy, Ties

if TYPE_CHECKING:
    from fcpair.grid import Grid


@with_old_spellings(by="--adjudicator")
@click.command()
@take_effect("--ties", only_with="--policy")
@take_effect("--supersede", only_with="--import")
@take_effect("--dry-run", not_with=("--import", "--sheet"))
@take_effect("--order", "--adjudicator", not_with=("--policy", "--import", "--request", "--dry-run"))
@click.option("--policy", type=click.Choice(get_args(Policy)), help="Decide by rule, without the dialogue.")
@click.option(
    "--ties",
    type=click.Choice(get_args(Ties)),
    help="With a rule: whether ties, and pairs with only `not sure`, wait for a person or are discarded.  "
    "[default: the recipe's, else wait]",
)
@click.option("--import", "path", type=click.Path(path_type=Path), help="Import the decisions in a file.")
@click.option(
    "--sheet",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the pairs that wait for the adjudicator as a sheet to fill in (.csv or .xlsx), for `--import`.",
)
@click.option(
    "--request",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Have a person decide the pairs numbered in the column `pair` of this table, even if their labels "
    "agree or a rule has decided them.",
)
@shared_option(
    "--dry-run", is_flag=True, callback=note_trial, detail="Also show whether the current decisions are the same."
)
@supersede_option
@shared_option(
    "--order",
    type=click.Choice(get_args(CaseRanking)),
    default="row",
    show_default=True,
    detail="In the dialogue and on a sheet: row by row, or the pair in most doubt first, by Dawid and Skene's model.",
)
@click.option(
    "--adjudicator",
    "by",
    metavar="NAME",
    default="adjudicator",
    show_default=True,
    help="The pseudonym of the person who decides.",
)
@sheet_option
@with_grid
def adjudicate(grid: Grid, **arguments: Any) -> None:
    """Turn each pair's labels into one.

    Without options, it opens a dialogue, one conflict at a time; `--policy` and `--import FILE` decide without it, and
    `--sheet FILE` writes the pairs that wait. A policy applies until another one is given: its decisions follow the
    labels. A dry run exits with 1 if its decisions differ from the current ones.

    \b
    Example:
      fcpair adjudicate --adjudicator ana
      fcpair adjudicate --adjudicator ana --order doubt
      fcpair adjudicate --policy majority
      fcpair adjudicate --policy majority --dry-run
      fcpair adjudicate --import decisions.csv
      fcpair adjudicate --sheet conflicts.xlsx --adjudicator ana
      fcpair adjudicate --request pairs.csv
    """
    given_flags = [
        flag
        for flag, name in (
            ("--policy", "policy"),
            ("--import", "path"),
            ("--sheet", "sheet"),
            ("--request", "request"),
        )
        if arguments[name]
    ]
    if len(given_flags) > 1:
        raise click.UsageError(f"give either {' or '.join(given_flags)}, not both")
    if arguments["sheet"]:
        n = grid.write_conflicts(arguments["sheet"], by=arguments["by"], order=arguments["order"])
        print_receipt(f"{arguments['sheet']}: {n:,} pairs", {"file": str(arguments["sheet"]), "pairs": n})
        return
    if arguments["request"]:
        _request_decisions(grid, arguments["request"], dry_run=arguments["dry_run"])
        return
    current = _current_policy(grid, anew=bool(arguments["policy"]))
    policy = {name: arguments[name] for name in ("policy", "ties") if arguments[name]}
    options = (
        grid.recipe_options(Adjudicate, **policy)
        if arguments["policy"]
        else current or grid.effective_options(Adjudicate)
    )
    if arguments["dry_run"]:
        _compare_policy(grid, options)
    elif arguments["path"]:
        print_run(grid.import_outcomes(arguments["path"], supersede=arguments["supersede"]), arguments["path"])
    elif arguments["policy"]:
        _apply_policy(grid, options, current)
    else:
        check_terminal()
        grid.agenda(arguments["by"], order=arguments["order"])  # says who cannot decide, before anything is written
        if current is None:
            print_run(grid.adjudicate(options))
        Dialogue(grid, arguments["by"], arguments["order"]).hold()


def _request_decisions(grid: Grid, path: Path, *, dry_run: bool) -> None:
    from fcpair.files.answers.pair_files import read_pair_numbers

    pairs = read_pair_numbers(path)
    if dry_run:
        counts = grid.forecast_decision_requests(pairs).counts
        print_receipt(f"would be: {format_counts(counts)}", counts)
        return
    print_run(grid.request_decisions(pairs), path)


def _current_policy(grid: Grid, *, anew: bool) -> Adjudicate | None:
    """The policy that holds; None where it cannot be used and another one is set `anew`."""
    try:
        return grid.policy
    except SettingError:
        if anew:
            return None
        raise


def _apply_policy(grid: Grid, options: Adjudicate, previous: Adjudicate | None) -> None:
    """Decide by a policy; say what that discards, and how to take it back."""
    discards = grid.adjudicate_dry_run(options).discards
    print_run(grid.adjudicate(options))
    if discards:
        back = (previous or Adjudicate()).command
        discarded = "1 pair was" if discards == 1 else f"{discards:,} pairs were"
        print_message(f"{discarded} discarded; `{back}` undoes that")


def _compare_policy(grid: Grid, options: Adjudicate) -> None:
    result = grid.adjudicate_dry_run(options)
    lines = (
        f"would be: {format_counts(result.counts)}",
        f"{result.standing:,} current decisions; {result.n_same:,} of {result.compared:,} compared are the same",
    )
    data = {
        "would_be": result.counts,
        **{name: getattr(result, name) for name in ("standing", "compared")},
        "same": result.n_same,
        **{name: list(getattr(result, name)) for name in ("different", "reopened")},
    }
    print_receipt("\n".join(lines), data, print_wrapped)
    for what, pairs in (("different", result.different), ("to be reopened", result.reopened)):
        if pairs:
            print_message(f"{what}: pairs {', '.join(map(str, pairs[:20]))}{' ...' * (len(pairs) > 20)}")
    if result.different or result.reopened:
        raise SystemExit(1)
