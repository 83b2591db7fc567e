"""What a report cannot say, and why: figures without a value, and stages that are not done yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fcpair.bias import BiasFigure, Scored
from fcpair.evaluate.outcome import Outcome
from fcpair.records import Figure
from fcpair.report.data import (
    AskedPart,
    GridPart,
    GroupFigures,
    MainPart,
    PersonFigures,
    ReportData,
    SurveyFigures,
    TierFigures,
)
from fcpair.report.evaluation_section import without_folders
from fcpair.report.formatting import count, counted
from fcpair.stages.stats.agreement import Agreement, Block
from fcpair.stages.stats.group_differences import LEAST_PEOPLE

NO_TWO = "no cell has two answers or more"


@dataclass(frozen=True)
class Gap:
    """Something that the report lacks, what it would rest on, and why it is not there."""

    what: str
    n: str
    why: str


def gaps(data: ReportData) -> list[Gap]:
    """Everything undefined in the report, in its order."""
    of_evaluation = list(_of_evaluation(without_folders(data.evaluation.outcome))) if data.evaluation else []
    found = [*_of_main(data.main, of_evaluation)] if data.main else []
    for one in data.grids:
        found += [replace(gap, what=f"{one.name}: {gap.what}") for gap in _of_grid(one)]
    return found if data.main else [*found, *of_evaluation]


def _of_main(part: MainPart, of_evaluation: list[Gap]) -> Iterator[Gap]:
    for stage in part.stages:
        if not stage.done:
            yield Gap(f"stage “{stage.name}”", "", f"not done yet: run `{stage.command}`")
    if not part.grid:
        yield Gap("the maps of the grid", "0 pairs", "the study has no grid yet")
    yield from _of_agreement(part.agreement) if part.agreement else [_without_labels("agreement")]
    yield from _of_tiers(part.tiers, "pair") if part.tiers else [_without_labels("the tiers")]
    yield from of_evaluation
    yield from _of_asked(part.asked)
    for people, answer in ((part.annotators, "label"), (part.validators, "verdict")):
        for one in people:
            yield from _of_person(one, answer)


def _of_grid(part: GridPart) -> Iterator[Gap]:
    for one in part.rounds:
        if not one.dealt:
            yield Gap(f"round “{one.name}”", "", "it has not been dealt yet")
        for block in one.agreement:
            yield from _of_block(block, ", ".join(dict.fromkeys(filter(None, [one.name, block.part, block.of]))))
        for person in one.people:
            yield from _of_person(person, "verdict" if one.checks else "answer")
    if part.decided and part.decided.tiers:
        yield from _of_tiers(part.decided.tiers, "cell")
    yield from _of_asked(part.asked)


def _of_asked(part: AskedPart) -> Iterator[Gap]:
    if part.survey:
        yield from _of_survey(part.survey)
    for scored in part.bias:
        yield from _of_bias(scored)
    if part.groups:
        yield from _of_groups(part.groups)


def _of_survey(found: SurveyFigures) -> Iterator[Gap]:
    for row in found.shares[found.shares["n"] == 0].to_dict("records"):
        yield Gap(f"share of yes, {row['question']}, {row['statement']}", "0 answers", "nobody said yes or no")


def _of_bias(found: dict[str, Scored]) -> Iterator[Gap]:
    """A score that is undefined for a model in several categories for one reason is told once."""
    told: dict[tuple[str, str, str], list[BiasFigure]] = {}
    for by, scored in found.items():
        for one in scored.figures:
            if one.undefined:
                told.setdefault((by, one.score, one.undefined), []).append(one)
    for (by, score, why), of in told.items():
        categories = ", ".join(one.category for one in of)
        yield Gap(f"{score}, {by}: {categories}", counted(sum(one.n for one in of), "answer"), why)


def _of_groups(found: GroupFigures) -> Iterator[Gap]:
    if found.undefined:
        yield Gap("groups of people", "", found.undefined)
    for one in found.compared:
        few = {of.group: of.undefined for of in one.shares if of.undefined}
        for name, why in few.items():
            yield Gap(f"{one.by}, {name}", f"fewer than {LEAST_PEOPLE} people", f"there are {why}")
        for of in one.differences:
            if of.undefined and not few.keys() & set(of.groups):
                yield Gap(f"{one.by}, difference of {' and '.join(of.groups)}", counted(one.n, "answer"), of.undefined)


def _of_block(block: Block, name: str) -> Iterator[Gap]:
    """What is undefined about agreement on a part of a round; in one line where no cell has two answers."""
    measured = block.agreement
    if measured is None or not measured.n_overlapped:
        yield Gap(f"agreement, {name}", "0 cells", block.undefined or NO_TWO)
    else:
        found = _of_agreement(measured, "cell")
        yield from (replace(gap, what=f"{gap.what}, {name}") for gap in found)


def _without_labels(what: str) -> Gap:
    return Gap(what, "0 labels", "it rests on labels, and there are none yet")


def _of_agreement(agreement: Agreement, noun: str = "pair") -> Iterator[Gap]:
    for figure in (*agreement.pooled, *agreement.summary):
        if figure.undefined:
            yield _of_figure(figure, figure.name, noun)
    for subset in (*agreement.subsets, *agreement.on_bins):
        if subset.kappa.undefined:
            yield _of_figure(subset.kappa, f"{subset.kappa.name}, {' and '.join(subset.annotators)}", noun)


def _of_figure(figure: Figure, name: str, noun: str) -> Gap:
    return Gap(name, counted(figure.n, noun), figure.undefined or "")


def _of_tiers(tiers: TierFigures, noun: str) -> Iterator[Gap]:
    for tier, n in tiers.tables[0].iloc[:, :2].itertuples(index=False, name=None):
        if not n:
            yield Gap(f"share of positive {noun}s, {str(tier).capitalize()}", f"0 {noun}s", "the tier is empty")


def _of_evaluation(outcome: Outcome) -> Iterator[Gap]:
    """What is undefined for the same reason is told once: a tier without positives has no score of any system."""
    scores = ((one.tier, one.n, one.score is None, one.undefined) for one in outcome.scores if one.undefined)
    for tier, n, no_score, why in dict.fromkeys(scores):
        yield Gap(f"{'scores' if no_score else 'intervals of scores'} on {tier.capitalize()}", f"{n:,} HS", why or "")
    yield from _of_spreads(outcome)
    for one in outcome.concordances if len(outcome.systems) > 1 else ():
        if one.undefined:
            tiers = f"{one.one.capitalize()} and {one.other.capitalize()}"
            yield Gap(f"Kendall's tau of {tiers}, {one.measure}", counted(one.n_systems, "system"), one.undefined)


def _of_spreads(outcome: Outcome) -> Iterator[Gap]:
    systems: dict[tuple[str, str, str], dict[str, None]] = {}
    for row in outcome.spreads:
        if row.undefined:
            what = "spread over tiers" if row.mean is None else "coefficient of variation over tiers"
            systems.setdefault((what, row.measure, row.undefined), {})[row.system] = None
    for (what, measure, why), names in systems.items():
        yield Gap(f"{what}, {measure}: {', '.join(names)}", counted(len(outcome.tiers), "tier"), why)


def _of_person(one: PersonFigures, answer: str) -> Iterator[Gap]:
    n = counted(one.n_answers, answer)
    if one.answers and not one.n_answers:
        yield Gap(f"shares of answers, {one.name}", n, f"they have given no {answer} yet")
    if one.median_s is None:
        why = "no answer has a known time; answers from files and simulated people often have none"
        yield Gap(f"median seconds per answer, {one.name}", f"0 of {count(one.n_answers + one.skipped)} timed", why)
