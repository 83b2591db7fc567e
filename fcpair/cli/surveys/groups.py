"""groups."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fcpair.cli.given_options import take_effect
from fcpair.cli.options import (
    PATH,
    FigureFolder,
    figures_option,
    format_option,
    grid_option,
    open_grid,
    option,
    round_option,
    shared_option,
    sheet_option,
    study_option,
    write_figures,
)
from fcpair.cli.output import Table, emit, status_spinner
from fcpair.cli.table import Cell
from fcpair.errors import InputError

if TYPE_CHECKING:
    from fcpair.grid import GroupsFound
    from fcpair.stages.stats.group_differences import Difference, GroupComparison

SHARES = ("label", "group", "people", "n", "share")
DIFFERENCES = ("label", "groups", "difference", "low", "high", "p", "Holm")
ODDS = ("label", "groups", "odds ratio", "low", "high")
MIXED = ("mixed_odds_ratio", "mixed_odds_low", "mixed_odds_high")
TOGETHER = ("groups", "n", "agreement")


@click.command()
@take_effect("--item", "--annotator", only_with="FILE")
@take_effect("--round", "--grid", "--study", not_with="FILE")
@click.argument("file", required=False, type=PATH)
@option("--item", metavar="COLUMN", help="The column of the labelled items.")
@option("--annotator", metavar="COLUMN", help="The column of the annotators.")
@shared_option("--labels", "label", metavar="COLUMN", detail="In a study, a question of the round.")
@shared_option("--by", multiple=True, metavar="COLUMN", detail="In a study, a question about people. May be repeated.")
@option("--mixed", is_flag=True, help="Also fit one mixed model of all groups (extra `mixed`).")
@shared_option("--seed", type=click.IntRange(min=0), default=13)
@figures_option
@format_option
@round_option
@grid_option
@sheet_option
@study_option
def groups(
    file: Path | None,
    item: str | None,
    annotator: str | None,
    label: str | None,
    by: tuple[str, ...],
    mixed: bool,
    seed: int,
    figures: FigureFolder | None,
    form: str,
    name: str | None,
    grid: str | None,
    study: Any,
) -> None:
    """Test whether groups of annotators label differently.

    Shares of each label in each group, their differences with intervals that respect items and annotators, permutation
    tests, odds, and agreement within and across groups. Without FILE, it compares those who answered a round, by what
    they said about themselves; without --by, by what was declared beforehand. Fewer than five people are not a group.
    The result is an association among these annotators, never a cause.

    \b
    Example:
      fcpair groups labels.csv --item pair --annotator by --labels label --by gender
      fcpair groups --grid survey --by Gender --format json
    """
    from fcpair.stages.stats.group_differences import ASSOCIATION, METHODS

    if file is not None:
        found = _compare_file(file, item, annotator, label, by, seed, mixed=mixed)
        place, simulated = str(file), None
    else:
        chosen_grid, place = open_grid(study, grid)
        with status_spinner("comparing groups"):
            found = chosen_grid.groups(by, round=name, labels=label, seed=seed, mixed=mixed)
        place, simulated = f"{place}, round {found.round}", found.simulated
    if figures is not None:
        from fcpair.report.figures.forest_plots import of_groups

        write_figures(figures, of_groups(found.compared, simulated))
    data = {
        "place": place,
        "label": found.question,
        "groups": [asdict(comparison) for comparison in found.compared],
        "exploratory": found.exploratory,
        "methods": METHODS,
        "note": ASSOCIATION,
    }
    tables = [table for one in found.compared for table in _tables(one, place, found)]
    notes = [*(f"{name}: {how}" for name, how in METHODS.items()), f"the result is {ASSOCIATION}"]
    tables[-1] = replace(tables[-1], notes=[*tables[-1].notes, *notes])
    rows = [_row(one.by, of) for one in found.compared for of in one.differences]
    emit(form, data, tables, rows, simulated=simulated)


def _compare_file(
    file: Path,
    item: str | None,
    annotator: str | None,
    label: str | None,
    by: tuple[str, ...],
    seed: int,
    *,
    mixed: bool,
) -> GroupsFound:
    from fcpair.files.tables.tabular import LINE, place_of, read_table
    from fcpair.grid import GroupsFound
    from fcpair.stages.stats.group_differences import compare_annotator_groups

    if not (item and annotator and label and by):
        raise InputError("name the columns of the file with `--item`, `--annotator`, `--labels` and `--by`")
    table = read_table(file, [item, annotator, label, *by])
    columns = {"item": table[item], "annotator": table[annotator], "label": table[label], "line": table[LINE]}
    labels = table[list(by)].assign(**columns)
    labels.attrs["place"] = place_of(table)
    with status_spinner("comparing groups"):
        known = labels[labels["label"] != ""].reset_index(drop=True)
        return GroupsFound("", label, compare_annotator_groups(known, by, seed=seed, mixed=mixed), {})


def _tables(comparison: GroupComparison, place: str, found: GroupsFound) -> list[Table]:
    without = f", {comparison.n_without:,} more of people for whom it is not known" if comparison.n_without else ""
    title = f"{place}: {found.question} by {comparison.by}, {comparison.n:,} labels{without}"
    exploratory = found.exploratory.get(comparison.by)
    exploratory_notes = [f"{comparison.by} is exploratory: {exploratory}"] if exploratory else []
    shares: list[list[Cell]] = [[of.label, of.group, of.people, of.n, of.value] for of in comparison.shares]
    few = dict.fromkeys(
        f"{of.group}: undefined, because there are {of.undefined}" for of in comparison.shares if of.undefined
    )
    rows: list[list[Cell]] = [
        [of.label, _group_names(of), of.value, of.low, of.high, of.p, of.holm] for of in comparison.differences
    ]
    odds: list[list[Cell]] = [
        [of.label, _group_names(of), of.odds_ratio, of.odds_low, of.odds_high] for of in comparison.differences
    ]
    mixed: list[list[Cell]] = [
        [of.label, _group_names(of), *(of.mixed or (None, None, None))] for of in comparison.differences if of.mixed
    ]
    together: list[list[Cell]] = [
        [" and ".join(dict.fromkeys(of.groups)), of.n, of.value] for of in comparison.together
    ]
    tables = [
        Table(title, SHARES, shares, [*exploratory_notes, *few]),
        Table("Differences of shares", DIFFERENCES, rows, list(dict.fromkeys(map(_remark, comparison.differences)))),
        Table("Odds, clustered by item and annotator", ODDS, odds),
        Table("How often two people gave an item the same label", TOGETHER, together),
    ]
    return [*tables[:3], *[Table("Odds by one mixed model of all groups", ODDS, mixed)] * bool(mixed), tables[3]]


def _group_names(of: Difference) -> str:
    return f"{of.groups[0]} - {of.groups[1]}"


def _remark(of: Difference) -> str:
    """Why a difference is undefined, or what there is to say; and the least p, with what it is made from."""
    said = f"undefined, because {of.undefined}" if of.undefined else of.note
    return f"{_group_names(of)}: {'; '.join(filter(None, (said, of.least_p_note)))}"


def _row(by: str, of: Difference) -> dict[str, Cell]:
    own = ("p", "holm", "exact", "n_drawn", "p_error", "least_p", "odds_ratio", "odds_low", "odds_high")
    return {
        **{"by": by, "label": of.label, "group": of.groups[0], "other": of.groups[1]},
        **{"people": of.people[0], "other_people": of.people[1]},
        **{"difference": of.value, "low": of.low, "high": of.high},
        **{name: getattr(of, name) for name in own},
        **dict(zip(MIXED, of.mixed or (None, None, None), strict=True)),
        **{"undefined": of.undefined or "", "note": of.note},
    }
