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
from fcpair.cli.terminal import Cell
from fcpair.errors import InputError
from fcpair.lazy import pd

if TYPE_CHECKING:
    from fcpair.stages.stats.group_differences import GroupComparison

ODDS = ("label", "groups", "odds ratio", "low", "high")
MIXED = ("mixed_odds_ratio", "mixed_odds_low", "mixed_odds_high")
NO_ODDS = (None, None, None)


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
    label: str | None,
    by: tuple[str, ...],
    mixed: bool,
    seed: int,
    figures: FigureFolder | None,
    form: str,
    name: str | None,
    grid: str | None,
    study: Any,
    **columns: str | None,
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
    from fcpair.stages.stats.group_differences import ASSOCIATION, METHODS, compare_annotator_groups

    if file is not None:
        if not (all(columns.values()) and label and by):
            raise InputError("name the columns of the file with `--item`, `--annotator`, `--labels` and `--by`")
        labels = _read_labels(file, by, label=label, **columns)
        with status_spinner("comparing groups"):
            compared = compare_annotator_groups(labels, by, seed=seed, mixed=mixed)
        place, simulated, question, exploratory = str(file), None, label, {}
    else:
        chosen_grid, place = open_grid(study, grid)
        with status_spinner("comparing groups"):
            found = chosen_grid.groups(by, round=name, labels=label, seed=seed, mixed=mixed)
        place, simulated = f"{place}, round {found.round}", found.simulated
        compared, question, exploratory = found.compared, found.question, found.exploratory
    if figures is not None:
        from fcpair.report.figures.forest_plots import of_groups

        write_figures(figures, of_groups(compared, simulated))
    data = {
        "place": place,
        "label": question,
        "groups": [asdict(comparison) for comparison in compared],
        "exploratory": exploratory,
        "methods": METHODS,
        "note": ASSOCIATION,
    }
    tables = [table for one in compared for table in _tables(one, f"{place}: {question}", exploratory.get(one.by))]
    notes = [*(f"{name}: {how}" for name, how in METHODS.items()), f"the result is {ASSOCIATION}"]
    tables[-1] = replace(tables[-1], notes=[*tables[-1].notes, *notes])
    own = ("p", "holm", "exact", "n_drawn", "p_error", "least_p", "odds_ratio", "odds_low", "odds_high")
    rows: list[dict[str, Cell]] = [
        {
            **{"by": one.by, "label": of.label, "group": of.groups[0], "other": of.groups[1]},
            **{"people": of.people[0], "other_people": of.people[1]},
            **{"difference": of.value, "low": of.low, "high": of.high},
            **{name: getattr(of, name) for name in own},
            **dict(zip(MIXED, of.mixed or NO_ODDS, strict=True)),
            **{"undefined": of.undefined or "", "note": of.note},
        }
        for one in compared
        for of in one.differences
    ]
    emit(form, data, tables, rows, simulated=simulated)


def _read_labels(file: Path, by: tuple[str, ...], **columns: Any) -> pd.DataFrame:
    """The labels of a file with what they are about, by whom, and in which line."""
    from fcpair.files.tables.tabular import LINE, place_of, read_table

    table = read_table(file, [*(columns[name] for name in ("item", "annotator", "label")), *by])
    labels = table[list(by)].assign(**{name: table[column] for name, column in columns.items()}, line=table[LINE])
    labels = labels[labels["label"] != ""].reset_index(drop=True)
    labels.attrs["place"] = place_of(table)
    return labels


def _tables(comparison: GroupComparison, heading: str, exploratory: str | None) -> list[Table]:
    without = f", {comparison.n_without:,} more of people for whom it is not known" if comparison.n_without else ""
    title = f"{heading} by {comparison.by}, {comparison.n:,} labels{without}"
    exploratory_notes = [f"{comparison.by} is exploratory: {exploratory}"] if exploratory else []
    shares = [[of.label, of.group, of.people, of.n, of.value] for of in comparison.shares]
    few = dict.fromkeys(
        f"{of.group}: undefined, because there are {of.undefined}" for of in comparison.shares if of.undefined
    )
    differences: list[list[Cell]] = []
    remarks: dict[str, None] = {}
    odds: list[list[Cell]] = []
    mixed: list[list[Cell]] = []
    for of in comparison.differences:
        names = f"{of.groups[0]} - {of.groups[1]}"
        differences.append([of.label, names, of.value, of.low, of.high, of.p, of.holm])
        # Why it is undefined, or what there is to say; and the least p, with what it is made from.
        said = f"undefined, because {of.undefined}" if of.undefined else of.note
        remarks[f"{names}: {'; '.join(filter(None, (said, of.least_p_note)))}"] = None
        odds.append([of.label, names, of.odds_ratio, of.odds_low, of.odds_high])
        mixed += [[of.label, names, *of.mixed]] if of.mixed else []
    together = [[" and ".join(dict.fromkeys(of.groups)), of.n, of.value] for of in comparison.together]
    return [
        Table(title, ("label", "group", "people", "n", "share"), shares, [*exploratory_notes, *few]),
        Table(
            "Differences of shares",
            ("label", "groups", "difference", "low", "high", "p", "Holm"),
            differences,
            list(remarks),
        ),
        Table("Odds, clustered by item and annotator", ODDS, odds),
        *[Table("Odds by one mixed model of all groups", ODDS, mixed)] * bool(mixed),
        Table("How often two people gave an item the same label", ("groups", "n", "agreement"), together),
    ]
