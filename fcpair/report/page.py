"""The report as one HTML page: nothing is loaded or run, every text is escaped, and what is missing has its reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any

from fcpair.bias import BiasFigure
from fcpair.evaluate.outcome import ALPHA, Outcome, group_by_system
from fcpair.report import formatting
from fcpair.report.data import IN_GRID, GridMap, GridPart, MainPart, PersonFigures, ReportData, SurveysPart, TierFigures
from fcpair.report.figures import grid_map
from fcpair.report.figures.evaluation_figures import significance_cautions
from fcpair.report.figures.forest_markup import forest_markup, page_templates
from fcpair.report.formatting import count, counted
from fcpair.report.sections import build_sections, score_picture, strip_folders, tau_rows
from fcpair.report.table_rows import kappa_map, log_lines, tier_tables
from fcpair.stages.stats.agreement import Agreement
from fcpair.stages.stats.group_differences import LEAST_PEOPLE

LONG_TABLE = 100
MOST_PAIRS = 1_000  # of annotators, whose agreement is shown pair by pair
FILTERS = (
    quote,
    formatting.bounds,
    formatting.count,
    formatting.counted,
    formatting.decimal,
    formatting.file_name,
    formatting.interval,
    formatting.moment,
    formatting.named,
    formatting.settings,
    formatting.share,
)
FUNCTIONS = (kappa_map, tier_tables, group_by_system, score_picture, significance_cautions, grid_map.swatch, tau_rows)


def render(data: ReportData) -> str:
    """The whole page. The same data give the same page, to the byte."""
    environment = page_templates()
    environment.filters.update({of.__name__: of for of in FILTERS})
    environment.globals.update({of.__name__: of for of in FUNCTIONS})
    environment.globals.update(long_table=LONG_TABLE, most_pairs=MOST_PAIRS, no_two=NO_TWO)
    environment.globals.update(sections=build_sections, draw=forest_markup)
    return environment.get_template("page.html.j2").render(
        data=data,
        main=data.main,
        grid=_grid_maps(data.main.grid) if data.main and data.main.grid else None,
        evaluation=strip_folders(data.evaluation.outcome) if data.evaluation else None,
        alpha=ALPHA,
        log=log_lines(data.log),
        gaps=find_gaps(data),
    )


def _grid_maps(grid: GridMap) -> dict[str, Any]:
    """Both maps of a grid and their classes, cell by cell, or in blocks when there are too many cells to show."""
    coverage, decisions = grid_map.coverage(grid), grid_map.decisions(grid)
    rows, columns = grid_map.block_size(grid.shape)
    if rows == columns == 1:
        maps = grid_map.class_map(coverage), grid_map.class_map(decisions)
    else:
        maps = (
            grid_map.block_map(grid_map.coverage_blocks(grid), "mean labels per cell"),
            grid_map.block_map(grid_map.decision_blocks(grid), "share of positive labels"),
        )
    names = ("coverage", "decisions")
    classes = [[one for one in kind.classes if one.n] for kind in (coverage, decisions)]
    sizes = {"rows": rows, "columns": columns, "n_hs": grid.shape[0], "n_cn": grid.shape[1]}
    sizes |= {"n_pairs": int((grid.place == IN_GRID).sum()), "n_labels": int(grid.labels.sum())}
    return {**dict(zip(names, zip(maps, classes, strict=True), strict=True)), **sizes}


NO_TWO = "no cell has two answers or more"


@dataclass(frozen=True)
class Gap:
    """Something that the report lacks, what it would rest on, and why it is not there."""

    what: str
    n: str
    why: str


def find_gaps(data: ReportData) -> list[Gap]:
    """Everything undefined in the report, in its order."""
    evaluation_gaps = list(_evaluation_gaps(strip_folders(data.evaluation.outcome))) if data.evaluation else []
    all_gaps = [*_main_gaps(data.main, evaluation_gaps)] if data.main else []
    for grid in data.grids:
        all_gaps += [replace(gap, what=f"{grid.name}: {gap.what}") for gap in _grid_gaps(grid)]
    return all_gaps if data.main else [*all_gaps, *evaluation_gaps]


def _main_gaps(part: MainPart, evaluation_gaps: list[Gap]) -> Iterator[Gap]:
    for stage in part.stages:
        if not stage.done:
            yield Gap(f"stage “{stage.name}”", "", f"not done yet: run `{stage.command}`")
    if not part.grid:
        yield Gap("the maps of the grid", "0 pairs", "the study has no grid yet")
    yield from _agreement_gaps(part.agreement) if part.agreement else [_no_labels_gap("agreement")]
    yield from _tier_gaps(part.tiers, "pair") if part.tiers else [_no_labels_gap("the tiers")]
    yield from evaluation_gaps
    yield from _surveys_gaps(part.asked)
    for people, answer in ((part.annotators, "label"), (part.validators, "verdict")):
        for person in people:
            yield from _person_gaps(person, answer)


def _grid_gaps(part: GridPart) -> Iterator[Gap]:
    for round_ in part.rounds:
        if not round_.dealt:
            yield Gap(f"round “{round_.name}”", "", "it has not been assigned yet")
        for block in round_.agreement:
            name = ", ".join(dict.fromkeys(filter(None, [round_.name, block.part, block.of])))
            agreement = block.agreement
            if agreement is None or not agreement.n_overlapped:
                yield Gap(f"agreement, {name}", "0 cells", block.undefined or NO_TWO)
            else:
                block_gaps = _agreement_gaps(agreement, "cell")
                yield from (replace(gap, what=f"{gap.what}, {name}") for gap in block_gaps)
        for person in round_.people:
            yield from _person_gaps(person, "verdict" if round_.checks else "answer")
    if part.decided and part.decided.tiers:
        yield from _tier_gaps(part.decided.tiers, "cell")
    yield from _surveys_gaps(part.asked)


def _surveys_gaps(part: SurveysPart) -> Iterator[Gap]:
    if part.survey:
        for row in part.survey.shares[part.survey.shares["n"] == 0].to_dict("records"):
            yield Gap(f"share of yes, {row['question']}, {row['statement']}", "0 answers", "nobody said yes or no")
    # A score that is undefined for a model in several categories for one reason is reported once.
    undefined: dict[tuple[int, str, str, str], list[BiasFigure]] = {}
    for at, scored_by_name in enumerate(part.bias):
        for name, scored in scored_by_name.items():
            for figure in scored.figures:
                if figure.undefined:
                    undefined.setdefault((at, name, figure.score, figure.undefined), []).append(figure)
    for (_, name, score, why), same_reason in undefined.items():
        categories = ", ".join(figure.category for figure in same_reason)
        yield Gap(f"{score}, {name}: {categories}", counted(sum(figure.n for figure in same_reason), "answer"), why)
    if part.groups:
        if part.groups.undefined:
            yield Gap("groups of people", "", part.groups.undefined)
        for comparison in part.groups.compared:
            few = {figure.group: figure.undefined for figure in comparison.shares if figure.undefined}
            n = counted(comparison.n, "answer")
            yield from (
                Gap(f"{comparison.by}, {name}", f"fewer than {LEAST_PEOPLE} people", f"there are {why}")
                for name, why in few.items()
            )
            yield from (
                Gap(f"{comparison.by}, difference of {' and '.join(test.groups)}", n, test.undefined)
                for test in comparison.differences
                if test.undefined and not few.keys() & set(test.groups)
            )


def _no_labels_gap(what: str) -> Gap:
    return Gap(what, "0 labels", "it rests on labels, and there are none yet")


def _agreement_gaps(agreement: Agreement, noun: str = "pair") -> Iterator[Gap]:
    figures = [(figure.name, figure) for figure in (*agreement.pooled, *agreement.summary)]
    for subset in (*agreement.subsets, *agreement.on_bins):
        figures.append((f"{subset.kappa.name}, {' and '.join(subset.annotators)}", subset.kappa))
    for name, figure in figures:
        if figure.undefined:
            yield Gap(name, counted(figure.n, noun), figure.undefined)


def _tier_gaps(tiers: TierFigures, noun: str) -> Iterator[Gap]:
    for tier, n, *_ in (row.values() for row in tiers.tables[0]):
        if not n:
            yield Gap(f"share of positive {noun}s, {str(tier).capitalize()}", f"0 {noun}s", "the tier is empty")


def _evaluation_gaps(outcome: Outcome) -> Iterator[Gap]:
    """Yield once what is undefined for the same reason: a tier without positives has no score of any system."""
    scores = (
        (record.tier, record.n, record.score is None, record.undefined) for record in outcome.scores if record.undefined
    )
    for tier, n, no_score, why in dict.fromkeys(scores):
        yield Gap(f"{'scores' if no_score else 'intervals of scores'} on {tier.capitalize()}", f"{n:,} HS", why or "")
    systems: dict[tuple[str, str, str], dict[str, None]] = {}
    for row in outcome.spreads:
        if row.undefined:
            what = "spread over tiers" if row.mean is None else "coefficient of variation over tiers"
            systems.setdefault((what, row.measure, row.undefined), {})[row.system] = None
    for (what, measure, why), names in systems.items():
        yield Gap(f"{what}, {measure}: {', '.join(names)}", counted(len(outcome.tiers), "tier"), why)
    for record in outcome.concordances if len(outcome.systems) > 1 else ():
        if record.undefined:
            tiers = f"{record.one.capitalize()} and {record.other.capitalize()}"
            yield Gap(
                f"Kendall's tau of {tiers}, {record.measure}", counted(record.n_systems, "system"), record.undefined
            )


def _person_gaps(person: PersonFigures, answer: str) -> Iterator[Gap]:
    n = counted(person.n_answers, answer)
    if person.answers and not person.n_answers:
        yield Gap(f"shares of answers, {person.name}", n, f"they have given no {answer} yet")
    if person.median_s is None:
        why = "no answer has a known time; answers from files and simulated people often have none"
        yield Gap(
            f"median seconds per answer, {person.name}", f"0 of {count(person.n_answers + person.skipped)} timed", why
        )
