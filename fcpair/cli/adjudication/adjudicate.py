"""agreement, adjudicate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from fcpair.cli.adjudication.dialogue import Dialogue, check_terminal
from fcpair.cli.options import supersede_option, with_grid
from fcpair.cli.output import counted, done, say
from fcpair.cli.terminal import show, tell
from fcpair.errors import SettingError
from fcpair.params import Adjudicate, Policy, Ties

if TYPE_CHECKING:
    from fcpair.grid import Grid


FIGURE_COLUMNS = ("figure", "n", "value", "low", "high", "note")
SUBSET_COLUMNS = ("annotators", "n", "raw", "kappa", "se", "low", "high")


@click.command()
@click.option("--policy", type=click.Choice(get_args(Policy)), help="Decide by rule, without the dialogue.")
@click.option(
    "--ties",
    type=click.Choice(get_args(Ties)),
    help="With a rule: whether ties and `not sure` alone wait for a person or are discarded.  "
    "[default: the recipe's, else wait]",
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
@with_grid
def adjudicate(grid: Grid, **given: Any) -> None:
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
        show(f"{given['sheet']}: {grid.write_conflicts(given['sheet'], by=given['by']):,} pairs")
        return
    held = _held(grid, anew=bool(given["policy"]))
    policy = {name: given[name] for name in ("policy", "ties") if given[name]}
    options = grid.by_recipe(Adjudicate, **policy) if given["policy"] else held or grid.own(Adjudicate)
    if given["dry_run"]:
        _compare(grid, options)
    elif given["path"]:
        done(grid.import_outcomes(given["path"], supersede=given["supersede"]), given["path"])
    elif given["policy"]:
        _apply(grid, options, held)
    else:
        check_terminal()
        grid.agenda(given["by"])  # says who cannot decide, before anything is written
        if held is None:
            done(grid.adjudicate(options))
        Dialogue(grid, given["by"]).hold()


def _held(grid: Grid, *, anew: bool) -> Adjudicate | None:
    """The policy that holds; None where it cannot be used and another one is set `anew`."""
    try:
        return grid.policy
    except SettingError:
        if anew:
            return None
        raise


def _apply(grid: Grid, options: Adjudicate, held: Adjudicate | None) -> None:
    """Decide by a policy; say what that discards, and how to take it back."""
    discards = grid.adjudicate_dry_run(options).discards
    done(grid.adjudicate(options))
    if discards:
        back = (held or Adjudicate()).command
        were = "1 pair was" if discards == 1 else f"{discards:,} pairs were"
        say(f"{were} discarded; `{back}` takes that back")


def _compare(grid: Grid, options: Adjudicate) -> None:
    result = grid.adjudicate_dry_run(options)
    tell(f"would be: {counted(result.counts)}")
    tell(f"{result.standing:,} decisions stand; {result.same:,} of {result.compared:,} compared are the same")
    for what, pairs in (("different", result.different), ("to be reopened", result.reopened)):
        if pairs:
            say(f"{what}: pairs {', '.join(map(str, pairs[:20]))}{' ...' * (len(pairs) > 20)}")
    if result.different or result.reopened:
        raise SystemExit(1)
